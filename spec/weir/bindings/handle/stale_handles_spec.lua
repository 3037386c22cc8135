-- Handles that are dead, of a different graph, or no handles at all: every method of every metatable, and every
-- function of the module, raises. The methods are read from the live metatables; a method missing below fails a test
-- here, and has to be added with the handles it takes.
local core = require "weir.core"
local operations = require "spec.support.operations"
local queue_policy = require "weir.sim.queue_policy"
require "weir" -- adds methods

local registry = debug.getregistry()

-- ---- all methods and functions ----

-- The functions of a class by name: methods, where __index is a function too, and metamethods.
local function functions_of(class)
  local metatable, list = registry["weir." .. class], {}
  local function add(from)
    for name, f in pairs(from) do
      if type(f) == "function" then list[name] = f end
    end
  end
  add(metatable)
  local index = metatable.__index
  if type(index) == "function" then
    local _, methods = debug.getupvalue(index, 2)
    index = methods
  end
  if type(index) == "table" then add(index) end
  if type(index) == "function" then list.profile = index end -- of a policy, whose remaining members are fields
  return list
end

local function classes()
  local list = {}
  for name, metatable in pairs(registry) do
    local class = type(name) == "string" and type(metatable) == "table" and metatable.__name == name and name:match "^weir%.(.+)$"
    if class and next(functions_of(class)) then list[#list + 1] = class end
  end
  table.sort(list)
  return list
end

-- Methods that do nothing to a dead handle, or describe the handle.
local HARMLESS = { __gc = true, __close = true, close = true, __tostring = true }

-- ---- dead handles ----

local function finish(class, handle)
  registry["weir." .. class].__gc(handle)
  return handle
end

local function finished(class, make) return function(w) return finish(class, make(w)) end end

local function closed_graph(w)
  w.g:close()
  return w.g
end

local function with_closed_graph(make)
  return function(w)
    local handle = make(w)
    w.g:close()
    return handle
  end
end

local function without_its_vertex(make)
  return function(w)
    local handle = make(w)
    assert(w.e:release(1))
    assert(w.e:release(2))
    assert(w.e:release(3))
    assert(w.g:unlink(w.v, "power"))
    assert(w.g:unlink(w.v))
    return handle
  end
end

local function live(text) return 'local bridge = ... return function() return { f = bridge } end', text end

-- By class: how a handle dies, and the methods still at work without the dead object.
local DEAD = {
  accumulator = { { finished("accumulator", function(w) return w.g:accumulator() end) },
    { with_closed_graph(function(w) return w.g:accumulator(3):add(w.v, 1) end) },
    { without_its_vertex(function(w) return w.g:accumulator():add(w.v, 1) end) } },
  allocation = { { with_closed_graph(function(w) return w.a end), "vertices __index" },
    { without_its_vertex(function(w) return w.a end), "vertices __index" } },
  owner = {}, -- no script has an owner
  constraint = { { finished("constraint", function() return assert(core.constraint { ranks = { "1" } }) end) } },
  draft = { { finished("draft", function() return assert(core.draft "/dev/null") end), "drop" } },
  editor = { { finished("editor", function() return core.editor {} end) } },
  engine = { { function(w) w.e:close() return w.e end }, { with_closed_graph(function(w) return w.e end) },
    { function(w) finish("graph", w.g) return w.e end } },
  flat = { { finished("flat", function() return core.flat { units = 4, queue = queue_policy.open("easy", print) } end) } },
  graph = { { closed_graph }, { finished("graph", function(w) return w.g end) } },
  hostlist = { { finished("hostlist", function() return core.hostlist "a" end) } },
  idset = { { finished("idset", function() return core.idset "1" end) } },
  detached = { { finished("detached", function(w) return assert(w.e:detach(1)) end) } },
  job = { { function(w)
    local kept
    local e = assert(core.engine { resources = w.g, policy = { prune = function(_, request) kept = request.job return true end } })
    assert(e:match("slot=1/core=1", { mode = "feasible" }))
    return kept
  end } },
  map = { { with_closed_graph(function(w) return (select(2, assert(w.g:coarsen { keep = { "rack" } }))) end), "graph" },
    { finished("map", function(w) return (select(2, assert(w.g:coarsen { keep = { "rack" } }))) end), "graph" } },
  pieces = { { finished("pieces", function(w) return assert(w.g:pieces()) end) } },
  policy = { { finished("policy", function(w) return assert(core.policy_table(w.hooked)) end) },
    { finished("policy", function(w) return assert(core.policy_source(w.hooks)) end) } },
  query = { { finished("query", function() return assert(core.query "id=1") end) } },
  request = { { finished("request", function() return assert(core.request "slot=1/node") end) } },
  rset = { { finished("rset", function() return core.rset() end) } },
  sandbox = { { finished("sandbox", function()
    return assert(core.sandbox_open("return {}", "text", { prelude = live "", bridge = print }))
  end) } },
  ["sandbox.run"] = {}, -- no script has a run
  snapshot = { { finished("snapshot", function()
    return assert(core.snapshot(print, { seconds = 9, memory = 1 << 30, answer = 1 }))
  end) } },
  vertex = { { with_closed_graph(function(w) return w.v end) }, { without_its_vertex(function(w) return w.v end) },
    { with_closed_graph(function(w) return w.v.tags end) }, { without_its_vertex(function(w) return w.v.data end) } },
  walk = { { finished("walk", function(w) return (select(4, w.g:walk {})) end) } },
}

-- ---- handles as arguments ------------

-- A text for each: X stands for the handle. Of a text that gives nil and why instead of raising: "?" in front.
local TAKES = {
  vertex = [[
    graph.add g:add(X, { type = "node" }, 1)
    graph.add_edge g:add_edge(X, v, { subsystem = "net" })
    graph.add_edge g:add_edge(v, X, { subsystem = "net" })
    graph.aggregate g:aggregate(X, 1)
    graph.copy g:copy(X)
    graph.extract g:extract { X, v }
    graph.find g:find("id=1", { start = X })
    graph.flow g:flow { subsystem = "power", to = X }
    graph.flow g:flow { subsystem = "power", to = { v, X } }
    graph.flow g:flow { subsystem = "power", to = v, from = X }
    graph.fold g:fold { X }
    graph.fold g:fold { v, X }
    graph.find g:find("id=1", { start = X, as = "graph" })
    graph.attach g:attach(X, v)
    graph.remove_edge g:remove_edge(X, v, { subsystem = "power" })
    graph.remove_edge g:remove_edge(v, X, { subsystem = "power" })
    graph.attach g:attach(v, X)
    graph.split g:split(X, 1)
    graph.join g:join(X, v)
    graph.join g:join(v, X)
    graph.refine g:refine(X, 2)
    graph.unlink g:unlink(X)
    graph.unlink g:unlink(X, { force = true })
    graph.unlink g:unlink(X, "power")
    graph.walk g:walk { start = X }
    accumulator.add g:accumulator():add(X, 1)
    graph.walk g:walk { start = X, evaluate = print }
    graph.walk g:walk { start = X, order_children = print }
    engine.shrink e:shrink(1, X)
    engine.shrink e:shrink(1, { X })
    engine.allocate e:allocate(X)
    engine.allocate e:allocate { v, { vertex = X, amount = 1 } }
    core.allocate core.allocate(e, { X }, nil, 0, 0, 1)
    engine.shrink e:shrink(1, { vertex = X, amount = 1 })
    vertex.within v:within(X)
    map.__call map(X)
    core.filter_walk core.filter_walk(policy, g, { start = X })
    engine.explain e:explain("slot=99/node", { where = X })
    engine.match e:match("slot=1/core", { within = X })
    engine.levels e:levels("slot=1/core", { within = X })
  ]],
  ["vertex of any graph"] = [[
    graph.twin g:twin(X)
    query.match query:match(X)
    constraint.match constraint:match(X)
  ]],
  graph = [[
    graph.compare g:compare(X)
    graph.diff g:diff(X)
    graph.merge g:merge(X)
    pieces.stored pieces:stored(X)
    core.engine core.engine { resources = X }
    core.obstacles core.obstacles(X)
    request.format_for request:format_for(X)
    core.filter_walk core.filter_walk(policy, X)
  ]],
  engine = [[
    core.plain core.plain(X, false)
  ]],
  job = [[
    engine.commit e:commit(X)
    engine.drop e:drop(X)
    engine.grow e:grow(X, "slot=1/core")
    engine.release e:release(X)
    engine.placed e:placed(X, "slot=1/core=1")
    engine.shrink e:shrink(X, v)
    engine.detach e:detach(X)
    engine.record e:record(X)
    vertex.release v:release(X)
  ]],
  request = [[
    ? engine.match e:match(X)
    ? engine.stage e:stage(X)
    ? engine.match e:match(X, { policy = policy })
    ? engine.explain e:explain(X)
    ? engine.grow e:grow(1, X)
    ? engine.place e:place(X, 9, 0, 1)
    ? engine.placed core.engine { resources = g, policy = { state = {}, placed = print } }:placed(1, X)
    ? engine.soonest e:soonest(X, 9, 0, 1)
    ? engine.admitted e:admitted(X)
    ? engine.levels e:levels(X)
  ]],
  policy = [[
    ? engine.use e:use(X)
    ? core.engine core.engine { resources = g, policy = X }
    ? engine.match e:match("slot=1/core", { policy = X })
    core.filter_walk core.filter_walk(X, g)
    core.filter_limit core.filter_limit(X, 1)
  ]],
  detached = [[
    engine.attach e:attach(X)
    engine.finished e:finished(X)
  ]],
  query = "graph.find g:find(X)",
  constraint = "rset.where rset:where(X)",
  rset = [[
    rset.union rset:union(X)
    rset.intersect rset:intersect(X)
    rset.diff rset:diff(X)
    rset.append rset:append(X)
    rset.__add _ = rset + X
    rset.__bor _ = rset | X
    rset.__mul _ = rset * X
    rset.__band _ = rset & X
    rset.__sub _ = rset - X
    rset.__le _ = rset <= X
    core.rset must(core.rset(X))
  ]],
  idset = [[
    idset.add must(idset:add(X))
    idset.remove must(idset:remove(X))
    idset.union must(idset:union(X))
    idset.intersect must(idset:intersect(X))
    idset.difference must(idset:difference(X))
    idset.overlaps must(idset:overlaps(X))
    idset.contains must(idset:contains(X))
    idset.__add _ = idset + X
    idset.__bor _ = idset | X
    idset.__mul _ = idset * X
    idset.__band _ = idset & X
    idset.__sub _ = idset - X
    idset.__le _ = idset <= X
    idset.__lt _ = idset < X
    core.idset must(core.idset(X))
    rset.on_ranks must(rset:on_ranks(X))
    rset.with must(rset:with { properties = { fast = X } })
  ]],
  hostlist = [[
    hostlist.append must(hostlist:append(X))
    hostlist.delete must(hostlist:delete(X))
    core.hostlist must(core.hostlist(X))
    rset.on_hosts must(rset:on_hosts(X))
    rset.remap must(rset:remap { hosts = X })
  ]],
  file = [[
    graph.write g:write(X, "jgf")
    allocation.write a:write(X, "jgf")
    core.read_line core.read_line(X, 100)
    core.next_byte core.next_byte(X)
  ]],
}

-- Methods without handles as arguments, or with plain values only.
local NONE = [[
  accumulator: __len get list
  allocation: __index format rset vertices
  constraint: map: graph
  editor: read remember
  engine: advance book free hierarchy job jobs now personal policy reload resources retire retired stages state stats visits watched
  flat: figures lines pop resume run series submit waits
  graph: __call accumulator advance apply begin bytes changed check coarsen count dup edges expand finish follow format hierarchy
    losses now pieces resolve resolve_flows rewind root roots rset save set_validity subsystems types uuid validity vertex
  hostlist: __eq __index __len copy count delete_at find format has names sort uniq
  job: __index __newindex
  idset: __eq __len copy count empty first format has ids last next prev ranges take
  draft: drop keep write
  pieces: at graph put stamp
  policy: __index profile
  request: alternatives attribute constrained duration format resources
  rset: __eq __len children count entries expiration format get graph hosts nslots properties ranks starttime subset table validate
    writer
  sandbox: call profile slice traceback
  snapshot: input kill read reap take
  vertex: __index __len __newindex __pairs aggregate allocate ancestor available below child children edges graph jobs nchildren
    parent shared uri uses
  core: any_ready array calls check_R clock discover document draft editor file_mode flat guarded guess hung_up
    in_group inherited is_terminal json_decode
    json_encode json_line keep_memory limited list_directory load lock_file make_directory
    match_once methods members new notify numbers open_files open_own parse peer
    pieces nearest policy_load policy_origin policy_print policy_source policy_stamp policy_table constraint processors query read_file
    release_memory request same sandbox_open sandbox_run secret snapshot synthetic
    umask unlock_file uptime user watch
    vertices_limit worker write_file write_private
]]

-- {kind =, name =, text =, telling =}
local calls, named = {}, {}
for kind, texts in pairs(TAKES) do
  for line in texts:gmatch "[^\n]+" do
    local telling, name, text = line:match "^%s*(%??)%s*(%S+) (.*)$"
    if name then
      calls[#calls + 1], named[name] = { kind = kind, name = name, text = text, telling = telling ~= "" }, true
    end
  end
end
do
  local class
  for word in NONE:gmatch "%S+" do
    local head = word:match "^(.*):$"
    class = head or class
    if not head then named[class .. "." .. word] = true end
  end
end

-- ---- wrong handles ----

local function world()
  local w = operations.world "."
  w.copy, w.request, w.query = assert(w.g:dup()), assert(core.request "slot=1/core"), assert(core.query "id=1")
  w.constraint, w.policy = assert(core.constraint { ranks = { "1" } }), assert(core.policy_source(w.hooks))
  w.rset, w.idset, w.hostlist, w.pieces = assert(core.rset(assert(w.a:format "rv1"))), core.idset "1-3", core.hostlist "a,b", w.g:pieces()
  local view, map = assert(w.g:coarsen { keep = { "rack" } })
  w.view, w.map = view, map
  return setmetatable(w, { __index = _G })
end

-- Values refused by every method in the place of a handle.
local NEVER = { function() end, true, 1.5, io.stdout, core.null, coroutine.create(print) }

local function closed_file()
  local file = assert(io.open "spec/weir/bindings/handle/stale_handles_spec.lua")
  file:close()
  return file
end

-- By kind: wrong handles of the kind, for a world and a second world.
local WRONG = {
  vertex = function(w, other)
    local gone = assert(w.g:add(w.g:root(), { type = "rack", id = 77 }))
    assert(w.g:unlink(gone))
    local closed = operations.world "."
    closed.g:close()
    return { gone, other.v, closed.v, w.v.tags, w.g, w.a, 7, finish("graph", operations.world(".").g) }
  end,
  ["vertex of any graph"] = function(w)
    local gone = assert(w.g:add(w.g:root(), { type = "rack", id = 77 }))
    assert(w.g:unlink(gone))
    return { gone, with_closed_graph(function(x) return x.v end)(operations.world "."), w.v.tags, w.g, w.a, 7 }
  end,
  graph = function(w) return { closed_graph(operations.world "."), finish("graph", operations.world(".").g), w.v, w.e, "text", 7, {} } end,
  job = function(w, other) return { other.a, w.v, w.g, "text", {} } end,
  request = function(w) return { finish("request", core.request "slot=1/core"), w.query, w.v, 7, {} } end,
  policy = function(w) return { finish("policy", core.policy_table {}), w.query, w.v, 7, "no such policy" } end,
  detached = function(w, other)
    local l = assert(w.e:detach(2))
    assert(w.e:attach(l))
    return { l, other.e:detach(2), w.a, 7, {}, "text" }
  end,
  engine = function(w) return { w.g, w.v, w.a, 7, {}, "text" } end,
  query = function(w) return { finish("query", core.query "id=1"), w.constraint, w.v, 7, {} } end,
  constraint = function(w) return { finish("constraint", core.constraint { ranks = { "1" } }), w.query, w.v, 7, {}, "text" } end,
  rset = function(w) return { finish("rset", core.rset()), w.idset, w.v, 7 } end,
  idset = function(w) return { finish("idset", core.idset "1"), w.hostlist, w.v, -7 } end,
  hostlist = function(w) return { finish("hostlist", core.hostlist "a"), w.idset, w.v, 7 } end,
  file = function(w) return { closed_file(), w.v, w.g, "text", {} } end,
}

-- A closed set has no text.
local function show(x)
  local ok, text = pcall(tostring, x)
  return ok and text or "dead handle"
end

-- ---- the tests ----

describe("every method", function()
  it("is named in this file", function()
    local missing = {}
    for _, class in ipairs(classes()) do
      for name in pairs(functions_of(class)) do
        local word = class .. "." .. name
        if class ~= "owner" and class ~= "sandbox.run" and not HARMLESS[name] and not named[word] then missing[#missing + 1] = word end
      end
    end
    for name, f in pairs(core) do
      if type(f) == "function" and not named["core." .. name] then missing[#missing + 1] = "core." .. name end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "), "say here which handles they take")
  end)

  it("belongs to a class whose handles can die here", function()
    for _, class in ipairs(classes()) do assert(DEAD[class], "say here how a handle of class " .. class .. " dies") end
  end)
end)

describe("a dead handle", function()
  for _, class in ipairs(classes()) do
    for i, death in ipairs(DEAD[class] or {}) do
      it(("of class %s, in way %d, raises in all of its methods"):format(class, i), function()
        local able = {}
        for name in (death[2] or ""):gmatch "%S+" do able[name] = true end
        local w = operations.world "."
        local handle, count = death[1](w), 0
        for name, f in pairs(functions_of(class)) do
          for _, more in ipairs { {}, { "x", "y" }, { handle }, { 1, 2 }, { w.v }, { {}, {} } } do
            local ok = pcall(f, handle, table.unpack(more))
            assert(not ok or HARMLESS[name] or able[name], ("%s.%s took it"):format(class, name))
          end
          count = count + 1
        end
        assert.is_true(count > 0)
      end)
    end
  end
end)

describe("a wrong handle", function()
  local harmless = { vertex = { __tostring = true } }

  for _, class in ipairs(classes()) do
    it("as what a method of " .. class .. " belongs to raises", function()
      local w = world()
      local wrong = { 7, "text", {}, w.g, w.e, w.v, w.a, w.rset, w.idset, w.hostlist, w.query, w.request, w.policy }
      for _, x in ipairs(NEVER) do wrong[#wrong + 1] = x end
      for name, f in pairs(functions_of(class)) do
        assert.is_false(pcall(f), name)
        for _, x in ipairs(wrong) do
          local own = type(x) == "userdata" and (getmetatable(x) == "weir." .. class
            or class == "vertex" and x == core.null and (harmless.vertex[name] or name == "__tostring"))
          local ok = own or pcall(f, x, "x", "y")
          local set = (class == "idset" or class == "rset") and name:find "^__" -- numbers and texts stand for sets here
          assert(own or set or not ok, ("%s.%s took a %s: %s"):format(class, name, type(x), show(x)))
        end
      end
    end)
  end

  for _, call in ipairs(calls) do
    it(("where a %s is expected raises: %s"):format(call.kind, call.text), function()
      local w, other = world(), operations.world "."
      local list = WRONG[call.kind](w, other)
      for _, x in ipairs(NEVER) do list[#list + 1] = x end
      for i, x in ipairs(list) do
        if not (call.kind == "file" and x == io.stdout) then
          w.X = x
          local ok, result, why = pcall(assert(load("local must = must return " .. call.text:gsub("^_ = ", ""), "=call", "t", w)))
          assert(not ok or (call.telling and result == nil and type(why) == "string"),
            ("number %d, a %s, was taken: %s"):format(i, type(x), show(x)))
        end
      end
      assert(w.g:check())
    end)
  end
end)

describe("a walk", function()
  -- Ways to lose a graph in the middle of a call.
  local LOSSES = {
    { "changed", function(w) w.g:add(w.g:root(), { type = "rack" }) end, "the graph changed while it was walked" },
    { "closed", function(w) w.g:close() end, "the graph was closed while it was walked" },
    { "collected", function(w) finish("graph", w.g) end, "the graph was closed while it was walked" },
  }
  for _, loss in ipairs(LOSSES) do
    it("of a graph that was " .. loss[1] .. " raises", function()
      local w = operations.world "."
      local step, walk, first = w.g:walk {}
      step(walk, first)
      loss[2](w)
      assert.error_matches(step, loss[3], 1, true)
    end)

    it("of edges or children of a graph that was " .. loss[1] .. " raises", function()
      local w = operations.world "."
      local edges, children = w.g:edges(), w.g:root():children()
      loss[2](w)
      assert.has_error(edges)
      if loss[1] ~= "changed" then assert.has_error(children) end
    end)
  end
end)
