-- The changes allowed to each method of the service by its row in params.lua: no further changes, whoever calls; none
-- at all where the method only reads, or is refused. Parameters are tried with values of all kinds.
local core = require "weir.core"
local params = require "weir.serve.params"
local service = require "weir.serve.service"
local shell = require "spec.support.shell"
local state = require "spec.support.state"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"
local PAST = (1 << 53) - 1
local TOKENS = { find = function(_, token) return token == "right" and { role = "owner", name = "alice" } or nil end }

local path

-- A path for a state; the files put beside the state by SQLite are removed too.
local function state_path()
  local dir = shell.directory()
  for _, suffix in ipairs { "-wal", "-shm" } do shell.path(dir, "state.sqlite" .. suffix) end
  return shell.path(dir, "state.sqlite")
end

local function clean()
  shell.clean()
  path = nil
end

-- A service with jobs 1 (alice's), 2 (an administrator's), 3 (alice's, reserved), 4 (bob's, opened by a child), a
-- drained target and a group.
local function world()
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
  local w = state.new(MACHINE, { path = path, tokens = TOKENS })
  local admin, alice, bob = w:client "administrator", w:client("owner", "alice"), w:client("owner", "bob")
  assert(w:ask(alice, "match", { request = "slot=2/node" }))
  assert(w:ask(admin, "match", { request = "slot=1/node" }))
  assert(w:ask(alice, "match", { request = "slot=1/node", mode = "reserve", at = 50, duration = 10 }))
  assert(w:ask(bob, "match", { request = "slot=1/node" }))
  assert(w:ask(bob, "child.open", { job = 4 }))
  assert(w:ask(admin, "resource.drain", { targets = "7", reason = "disk" }))
  assert(w:ask(admin, "resource.move", { targets = "6", group = "debug" }))
  assert(w:ask(admin, "stage", { request = "slot=1/core", lease = 1000 }))
  assert(w:ask(admin, "stage", { request = "slot=1/core", lock = false }))
  assert(w:ask(admin, "events"))
  w.roles = { administrator = admin, alice = alice, bob = bob, reader = w:client("reader", "eve"), anyone = w:client("anyone", "tcp") }
  return w
end

local NEW = { version = 1, execution = { R_lite = { { rank = "8", children = { core = "0-3" } } }, nodelist = { "node8" } } }
local LONG = ("x"):rep(70000)
local FILTER = "return {evaluate = function(v) return 1 end}"
local EMPTY = weir.json.decode "[]"

-- A request of each method, answered to an administrator.
local ANSWERED = {
  match = { request = "slot=1/core", name = "a request", mode = "reserve", at = 5, duration = 10, job = 77, format = "rv1",
    filter = FILTER },
  release = { job = 1, targets = "0" }, grow = { job = 1, request = "slot=1/core", name = "a request", format = "tree", pass = true },
  shrink = { job = 1, ranks = "0", format = "none" }, job = { job = 1, format = "rlite" }, jobs = { vertices = true, leaving = true },
  explain = { request = "slot=9/node", name = "a request", at = 1, down = "/cluster0/rack0/node0",
    up = { "/cluster0/rack1/node7" }, release = 1, columns = 80 },
  try = { queue = "fcfs", policy = "high", seconds = 5 },
  ["shadow.start"] = { queue = "fcfs", policy = "high" }, ["shadow.status"] = {}, ["shadow.stop"] = {},
  find = { expression = "type=node", start = "/cluster0", fields = "path" },
  show = { uri = "/cluster0", as = "tree", depth = 2, all = true },
  walk = { filter = FILTER, start = "/cluster0", subsystem = "containment", type = "node", best = 3 },
  state = { uri = "/cluster0/rack0/node0", state = "down" }, tag = { uri = "/cluster0", set = { a = "b", c = true, d = core.null } },
  set = { uri = "/cluster0/rack1/node5/core2", properties = { row = "3", lent = true, old = core.null }, size = 2, unit = "x",
    exclusive = true },
  data = { uri = "/cluster0", set = { a = { 1, "x" }, b = core.null } }, edges = { uri = "/cluster0/rack0", subsystem = "power" },
  ["edge.add"] = { source = "/cluster0/rack0", target = "/cluster0/rack0/node0", subsystem = "power", type = "feeds", back = "drawn" },
  copy = { uri = "/cluster0/rack1", format = "jgf" }, save = { format = "tree" },
  merge = { machine = "cluster:1 burst:1(size=5,unit=GB)", format = "synthetic", at = "/cluster0" },
  unlink = { uri = "/cluster0/rack1/node5/core3", subsystem = "containment" },
  policy = {}, ["policy.list"] = {}, ["policy.load"] = { name = "spread" }, ["policy.reload"] = {},
  ["resource.acquire"] = { group = "debug" }, ["resource.status"] = {},
  ["resource.undrain"] = { targets = "7" }, ["resource.online"] = { targets = "0" }, ["resource.offline"] = { targets = "0" },
  ["resource.drain"] = { targets = "0", reason = "fan" }, ["resource.move"] = { targets = "0", group = "slow" },
  ["resource.exclude"] = { targets = "0" }, ["resource.include"] = { targets = "6" }, ["resource.remove"] = { targets = "5" },
  ["resource.add"] = { R = NEW }, ["resource.property"] = { name = "fast", targets = "0-2", remove = false },
  ["resource.expiration"] = { expiration = 9e9 },
  ["child.open"] = { job = 1 }, ["child.list"] = {},
  ["parent.status"] = {}, ["parent.grow"] = { request = "slot=1/node" }, ["parent.shrink"] = { targets = "0", force = false, pass = false },
  stage = { request = "slot=1/core", name = "a request", mode = "reserve", at = 5, duration = 10, lease = 5, lock = true,
    keep = true, format = "tree" },
  commit = { stage = 1, job = 78, format = "none" }, drop = { stage = 2 }, stages = {},
  allocate = { vertices = { "/cluster0/rack0/node3/core1", { path = "/cluster0/rack0/node3/core2", amount = 1 } }, job = 79, start = 30,
    duration = 5, format = "rlite" },
  hello = {}, login = { token = "right" }, methods = { name = "match" }, stats = {}, metrics = {}, events = {}, advance = { to = 20 },
}

-- Requests of the remaining methods, about objects absent here.
local OTHERS = {
  split = { uri = "/cluster0/rack0/node0/core0", units = 1 },
  refine = { uri = "/cluster0/rack0/node0/core0", parts = 3 },
  join = { uri = "/cluster0/rack0/node0/core0", part = "/cluster0/rack0/node0/core0" },
  ["edge.remove"] = { source = "/cluster0/rack0", target = "/cluster0/rack0/node0", subsystem = "power" },
  ["clock.follow"] = {}, cancel = { id = 5 }, ["resource.release"] = { group = "debug", targets = "6" },
}

-- Valid requests about absent objects or in the wrong state: method, params.
local REFUSED = {
  { "match", { request = "slot=1/core", job = 1 } }, { "match", { request = "slot=9/node", job = PAST } },
  { "match", { request = "slot=9/node" } }, { "match", { request = "slot=7/node" } },
  { "match", { request = "slot=1/core", filter = "return {evaluate = function() error 'no' end}" } },
  { "release", { job = 99 } }, { "release", { job = 1, targets = "7" } }, { "grow", { job = 1, request = "slot=9/node" } },
  { "grow", { job = 99, request = "slot=1/core" } }, { "shrink", { job = 1, ranks = "7" } }, { "shrink", { job = 1 } },
  { "shrink", { job = 1, path = "/cluster0/rack1" } }, { "explain", { request = "slot=1/node", release = { 1, 99 } } },
  { "explain", { request = "slot=1/node", down = { "/cluster0/rack0", "/nowhere" } } }, { "state", { uri = "/x", state = "down" } },
  { "tag", { uri = "/x", set = { a = "b" } } }, { "policy.load", { name = "nope" } }, { "policy.load", { source = "return 5" } },
  { "child.open", { job = 99 } }, { "resource.undrain", { targets = "0" } },
  { "resource.remove", { targets = "0,99" } }, { "resource.move", { targets = "0", group = "job.1" } },
  { "resource.release", { group = "debug", targets = "6" } }, { "resource.acquire", { group = "nope" } }, { "login", { token = "wrong" } },
  { "set", { uri = "/cluster0/rack0/node0", properties = { a = true } } },
  { "data", { uri = "/cluster0", set = { ["weir.service.x.1"] = 1 } } },
  { "edge.add", { source = "/cluster0", target = "/cluster0/rack0", subsystem = "containment" } },
  { "edge.remove", { source = "/cluster0", target = "/cluster0/rack0", subsystem = "power" } },
  { "merge", { machine = "node:1 core:2", format = "synthetic", at = "/cluster0/rack0" } }, { "merge", { machine = "{", format = "jgf" } },
  { "unlink", { uri = "/cluster0" } }, { "unlink", { uri = "/cluster0/rack0/node0" } }, { "copy", { uri = "/nowhere" } },
  { "cancel", { id = 12345 } }, { "resource.property", { name = "a|b", targets = "0" } },
}

-- Answers of a parent.
local PARENT = {
  status = function() return {} end, settle = function() end, flush = function() end, grow = function(_, _, f) f({}) end,
  shrink = function(_, _, _, f)
    f({})
    return true
  end,
}

-- Requests that only read although the method may change.
local LOOKING = {}
for _, mode in ipairs { "preview", "feasible" } do
  for _, job in ipairs { 1, 2, 1000, PAST } do
    LOOKING[#LOOKING + 1] = { "match", { request = "slot=1/core", mode = mode, job = job } }
  end
  LOOKING[#LOOKING + 1] = { "match", { request = "slot=99/core", mode = mode, job = PAST } }
  LOOKING[#LOOKING + 1] = { "match", { request = "slot=1/core", mode = mode, at = 40, duration = 60, filter = FILTER } }
end

local ROLES = { "anyone", "reader", "alice", "bob", "administrator" }

local function subset(list, of)
  local known = { store = #of > 0 or nil }
  for _, part in ipairs(of) do known[part] = true end
  for _, part in ipairs(list) do
    if not known[part] then return false end
  end
  return true
end

describe("the state of the service", function()
  local w

  before_each(function()
    path = path or state_path()
    w = world()
  end)
  after_each(function()
    assert(w.service.graph:check())
    w:close()
  end)
  teardown(clean)

  it("has a row for each method, and a request here that is answered", function()
    for name in pairs(service.methods) do
      assert(params.row(name), name .. " has no row: params.takes(...)")
      assert(ANSWERED[name] or OTHERS[name], name .. ": say here how it is answered")
    end
  end)

  for method in pairs(service.methods) do
    it("changes only what its row says, whoever asks: " .. method, function()
      for _, role in ipairs(ROLES) do
        w.service.parent = method:find "^parent" and PARENT or nil
        local before = w:dump()
        local result, why, code = w:ask(w.roles[role], method, ANSWERED[method] or OTHERS[method])
        local changed = state.differing(before, w:dump())
        local row = result and params.row(method).changes or {}
        assert(subset(changed, row), ("%s by %s changed %s (%s)"):format(method, role, table.concat(changed, " "), why or "answered"))
        assert.not_equal("internal", code)
        if role == "administrator" and ANSWERED[method] then assert(result, why) end
        if changed[1] then
          w:close()
          w = world()
        end
      end
    end)
  end

  local function leaves_all(case)
    for _, role in ipairs(ROLES) do
      local before = w:dump()
      local _, why, code = w:ask(w.roles[role], case[1], case[2])
      assert.not_equal("internal", code, why)
      assert.same({}, state.differing(before, w:dump()), ("%s by %s: %s"):format(case[1], role, tostring(why)))
    end
  end

  for _, case in ipairs(REFUSED) do
    it(("is as before when it refuses %s %s"):format(case[1], weir.json.encode(case[2])), function()
      leaves_all(case)
      local result = w:ask(w.roles.administrator, case[1], case[2])
      assert.is_nil(result)
    end)
  end

  for _, case in ipairs(LOOKING) do
    it(("is as before after a look: %s %s"):format(case[1], weir.json.encode(case[2])), function()
      leaves_all(case)
      assert.equal(5, assert(w:ask(w.roles.administrator, "match", { request = "slot=1/core" })).job)
    end)
  end

  local WRONG = {
    true, false, 0, -1, 1.5, -0.5, 1 << 53, math.maxinteger, math.mininteger, 1e19, 1e308, -1e308, "", "x", "\0", "a\0b", "a\nb", "-1",
    "0-4294967294", LONG, EMPTY, {}, { 1 }, { -1 }, { "\0" }, { EMPTY }, { a = 1 }, { a = "x\0" }, { a = LONG }, { [""] = "x" },
    { { { {} } } }, { type = "\0" }, { { type = "slot", count = 1e308 } },
    { version = 1, execution = 5 }, { { ["and"] = 5 } }, { ["and"] = 5 }, { properties = { 7 } },
  }
  local NAMED = { invalid = true, parse = true, limit = true }

  for method in pairs(service.methods) do
    it("refuses wrong values of each parameter by its name: " .. method, function()
      w.service.parent = method:find "^parent" and PARENT or nil
      local admin, row = w.roles.administrator, params.row(method)
      for field in pairs(row.fields) do
        local before, refused = w:dump(), 0
        for i, value in ipairs(WRONG) do
          local p = {}
          for name, right in pairs(ANSWERED[method] or OTHERS[method]) do p[name] = right end
          p[field] = value
          local about = ("%s %s, value %d"):format(method, field, i)
          local result, why, code = w:ask(admin, method, p)
          if not result then
            refused = refused + 1
            assert.not_equal("internal", code, about .. ": " .. why)
            assert(not NAMED[code] or why:find("%f[%w_]" .. field .. "%f[^%w_]"), about .. ": " .. why)
            assert(#why < 1000, about .. ": " .. #why)
            assert.same({}, state.differing(before, w:dump()), about)
          elseif state.differing(before, w:dump())[1] then
            w:close()
            w = world()
            admin, before = w.roles.administrator, w:dump()
          end
        end
        assert(refused >= 10, ("%s %s: %d refused"):format(method, field, refused))
      end
      assert.same({}, w.logged)
      local _, why = w:ask(admin, method, { nosuch = 1 })
      assert.matches('there is no parameter "nosuch"', why)
    end)
  end

  -- Errors of a policy or a filter, and the text in the answer.
  local SAID = {
    { [[error("\\xff\\xfe", 0)]], "\\xff\\xfe" }, { [[error("a\\0b", 0)]], "a" },
    { [[error({})]], "table" }, { [[error("x\\xc3", 0)]], "x\\xc3" },
    { [[error(("\\xed\\xa0\\x80"):rep(3), 0)]], "\\xed\\xa0\\x80" }, { "return 1/0", "finite number" }, { "return -1/0", "finite number" },
    { [[error()]], "nil" },
  }
  for _, case in ipairs(SAID) do
    it("answers with the id of the request, in UTF-8, when a filter does " .. case[1], function()
      local _, why, code = w:ask(w.roles.reader, "walk", { filter = "return {evaluate = function() " .. case[1] .. " end}" })
      assert.equal("policy", code)
      assert.matches(case[2], why, 1, true)
      assert.is_truthy(utf8.len(why))
      assert.same({}, w.logged)
    end)
  end

  it("takes a key with a zero byte for no JSON, and says so", function()
    local answers = w:send(w.roles.reader, '{"id":"a","method":"show","params":{"uri\\u0000":1}}')
    assert.equal("parse", answers[1].code)
  end)
end)

describe("ids and owners of jobs", function()
  local w, admin, alice, bob

  local function open()
    w = state.new(MACHINE, { path = path })
    admin, alice, bob = w:client "administrator", w:client("owner", "alice"), w:client("owner", "bob")
  end

  local function match(client, job, more)
    local p = { request = "slot=1/core", job = job }
    for key, value in pairs(more or {}) do p[key] = value end
    return w:ask(client, "match", p)
  end

  local function restart()
    w:close()
    open()
  end

  before_each(function()
    path = path or state_path()
    for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
    open()
  end)
  after_each(function()
    assert(w.service.graph:check())
    w:close()
  end)
  teardown(clean)

  it("goes on from the ids that were given, whatever a caller chooses", function()
    for i, job in ipairs { 7, 1000, PAST - 1, PAST } do
      assert.equal(job, assert(match(bob, job)).job)
      assert.equal(i, assert(match(admin)).job)
    end
    for i = 5, 6 do assert.equal(i, assert(match(admin)).job) end
    assert.equal(8, assert(match(admin)).job)
    restart()
    assert.is_true(assert(match(admin)).job < 2000)
    assert.equal("alice", assert(match(alice)).owner)
  end)

  it("refuses ids past the end, and names the range", function()
    for _, job in ipairs { 0, -1, PAST + 1, math.maxinteger, math.mininteger, 1.5, 1e300, "1", true } do
      local _, why, code = match(admin, job)
      assert.equal("invalid", code)
      assert.matches("field 'job': expected an id for a job, a whole number from 1 to 9007199254740991", why, 1, true)
    end
  end)

  it("begins again with 1 after the largest id, past those that are in use", function()
    assert(match(admin))
    w.service.follower.last = PAST - 1
    assert.equal(PAST, assert(match(admin)).job)
    assert.equal(2, assert(match(admin)).job)
    restart()
    assert.is_true(assert(match(admin)).job <= PAST)
  end)

  it("starts where an id past the end was kept", function()
    assert(match(admin))
    w.service.ids, w.service.follower.last = math.mininteger, math.maxinteger
    w.service:keeps()
    assert(w.service.commit(w.service))
    local service_state = require "weir.serve.service_state"
    local known = service_state.get(w.service.graph)
    known.ids = math.maxinteger
    service_state.put(w.service.graph, known)
    assert(w.service.graph:save(path, { format = "sqlite", changed = true }))
    restart()
    assert.equal(2, assert(match(admin)).job)
  end)

  -- Faulty stored values: {part, value, text in the message}.
  for _, case in ipairs {
    { "ids", "x", "ids" }, { "owners", { ["a b"] = { 1 } }, "owners: a b" }, { "owners", { alice = { 0 } }, "owners: alice" },
    { "owners", { alice = { "1" } }, "owners: alice" }, { "owners", { [("a"):rep(256)] = {} }, "owners: aaa" }, { "owners", 5, "owners" },
    { "users", { x = { 1 } }, "users: x" }, { "users", { ["1"] = { -1 } }, "users: 1" }, { "children", { ["0"] = {} }, "children: 0" },
    { "children", { ["1"] = { leaving = "x", passing = "" } }, "children: 1" },
  } do
    it("does not start on a state with " .. weir.json.encode(case[2]):sub(1, 40) .. " as its " .. case[1], function()
      local service_state = require "weir.serve.service_state"
      local known = service_state.get(w.service.graph)
      known[case[1]] = case[2]
      service_state.put(w.service.graph, known)
      local graph <close> = assert(w.service.graph:dup())
      local none, why, code = service.new(graph, { state_loaded = true, clock = "manual", log = print })
      assert.same({ nil, "parse" }, { none, code })
      assert.matches("unexpected " .. case[3], why, 1, true)
    end)
  end

  -- How a job of bob's ends.
  local ENDS = {
    ["he releases it"] = function(job) assert(w:ask(bob, "release", { job = job })) end,
    ["an administrator releases it"] = function(job) assert(w:ask(admin, "release", { job = job })) end,
    ["he shrinks it to nothing"] = function(job) assert(w:ask(bob, "shrink", { job = job, ranks = "0-7" })) end,
    ["it is released target by target"] = function(job)
      for target = 0, 7 do w:ask(bob, "release", { job = job, targets = tostring(target) }) end
    end,
    ["its targets leave, and it is released"] = function(job)
      assert(w:ask(admin, "resource.exclude", { targets = "0-7" }))
      assert(w:ask(bob, "release", { job = job }))
      assert(w:ask(admin, "resource.include", { targets = "0-7" }))
    end,
  }
  for how, finish in pairs(ENDS) do
    for _, again in ipairs { false, true } do
      it(("an owner has nothing of a job any more when %s%s"):format(how, again and ", after a restart too" or ""), function()
        assert.equal("bob", assert(match(bob, 3, { request = "slot=8/node" })).owner)
        finish(3)
        assert.same({}, w.service.owners.names)
        if again then restart() end
        assert.is_nil(assert(match(admin, 3)).owner)
        if again then restart() end
        for _, method in ipairs { "release", "grow", "shrink", "child.open" } do
          local _, _, code = w:ask(bob, method, { job = 3, request = method == "grow" and "slot=1/core" or nil })
          assert.equal("forbidden", code)
        end
        assert.is_nil(assert(w:ask(admin, "job", { job = 3 })).owner)
      end)
    end
  end

  it("forgets the owner of a reservation that is given back", function()
    assert(match(admin, nil, { request = "slot=8/node", duration = 100 }))
    local job = assert(match(bob, nil, { request = "slot=1/node", mode = "reserve" })).job
    assert(w:ask(admin, "resource.offline", { targets = "0-7" }))
    assert.is_nil((w:ask(admin, "job", { job = job })))
    assert.same({}, w.service.owners.names)
  end)

  it("lets nobody else release what was taken away from a job", function()
    local job = assert(match(alice, nil, { request = "slot=1/node" })).job
    assert(w:ask(admin, "resource.exclude", { targets = "0" }))
    for _ = 1, 2 do
      assert.equal("forbidden", select(3, w:ask(bob, "release", { job = job })))
      restart()
    end
    assert(w:ask(alice, "release", { job = job }))
    assert.same({}, w.service.owners.names)
  end)

  it("a child is over with its job, although a job with the same id follows at once", function()
    assert(match(bob, 3, { request = "slot=1/node" }))
    assert(w:ask(bob, "child.open", { job = 3 }))
    local requests = {}
    for i, request in ipairs {
      { id = 1, method = "release", params = { job = 3 } },
      { id = 2, method = "match", params = { job = 3, request = "slot=2/node" } },
    } do requests[i] = request end
    admin.lines:put(weir.json.encode(requests[1]) .. "\n" .. weir.json.encode(requests[2]) .. "\n")
    for _ = 1, 2 do admin:step(function(call) w.service:handle(call) end) end -- a single turn
    assert(w.service:commit())
    assert.same({}, assert(w:ask(admin, "child.list")).children)
  end)

  it("keeps no more owners than twice the jobs that are there", function()
    for _ = 1, 600 do
      local job = assert(match(bob)).job
      w.service.engine:release(job) -- as from somewhere else
    end
    local n = 0
    for _ in pairs(w.service.owners.names) do n = n + 1 end
    assert.is_true(n <= 257, n)
  end)

  it("takes for an owner what has a name of at most 255 bytes of UTF-8", function()
    local owners = require "weir.serve.owners"
    for _, name in ipairs { "alice", "a", "ä", "x@y", "DOM\\a", ("a"):rep(255) } do assert.is_true(owners.is_name(name), name) end
    for _, name in ipairs { "", "a b", "a\n", "\0", "\xff", ("a"):rep(256), 5, {} } do assert.is_false(owners.is_name(name)) end
  end)
end)
