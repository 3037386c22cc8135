-- weir policy: the steps of a policy writer, from nothing to a tested policy.
local core = require "weir.core"
local library = require "weir"
local weir_bin = os.getenv("WEIR_BIN") or "build/weir"

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

-- Output (both kinds) and exit status.
local function weir(arguments)
  local pipe = assert(io.popen(("%s %s 2>&1"):format(quote(weir_bin), arguments)))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

describe("weir policy", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. quote(dir)))
  end)

  after_each(function() os.execute("rm -rf " .. quote(dir)) end)

  it("new writes a policy and its spec, which hold", function()
    local text, status = weir("policy new mine -o " .. dir)
    assert.equal(0, status)
    assert.equal(("%s/mine.lua\n%s/mine_spec.lua\n%s/.luarc.json\n"):format(dir, dir, dir), text)
    text, status = weir("policy check " .. dir .. "/mine.lua")
    assert.equal(0, status)
    assert.is_truthy(text:find("mine.lua: ok", 1, true), text)
    text, status = weir(("run /usr/bin/busted --ignore-lua -o plainTerminal %s/mine_spec.lua"):format(dir))
    assert.equal(0, status, text)
    assert.is_truthy(text:find "2 successes / 0 failures / 0 errors", text)
  end)

  it("new writes over nothing, and wants a name", function()
    write(dir .. "/mine_spec.lua", "")
    local text, status = weir("policy new mine -o " .. dir)
    assert.equal(2, status)
    assert.is_truthy(text:find "mine_spec.lua is there already")
    assert.is_nil(io.open(dir .. "/mine.lua"))
    text, status = weir("policy new 'a b' -o " .. dir)
    assert.equal(2, status)
    assert.is_truthy(text:find "letters, digits")
  end)

  it("check tells the state that a policy keeps", function()
    local text, status = weir "policy check round_robin"
    assert.equal(0, status, text)
    assert.is_truthy(text:find '    state  {"next":%d+} afterwards, %d+ bytes of 16384\n')
    assert.is_truthy(text:find "placed %d+ calls")
  end)

  it("check tells what is wrong, with file and line", function()
    write(dir .. "/broken.lua", "return {\n  order = 'id',\n  evaluate =\n}\n")
    local text, status = weir("policy check " .. dir .. "/broken.lua")
    assert.equal(1, status)
    assert.is_truthy(text:find("broken.lua:4:", 1, true), text)
  end)

  it("check notes an admit that rejects everything", function()
    write(dir .. "/none.lua", "return { admit = function() return false, 'no' end }")
    local text, status = weir("policy check " .. dir .. "/none.lua")
    assert.equal(0, status)
    assert.is_truthy(text:find("note   admit rejects all 24 requests", 1, true), text)
    write(dir .. "/most.lua", "return { admit = function(request) return request.units.node == 1, 'no' end }")
    assert.is_nil(weir("policy check " .. dir .. "/most.lua"):find("admit rejects all", 1, true))
  end)

  it("check finds a hook that fails, an answer that changes and a job that no longer fits", function()
    write(dir .. "/fails.lua", "return { evaluate = function(v) return v.size .. '' end }")
    write(dir .. "/picky.lua", "return { prune = function(v) return v.type ~= 'node' or v.id > 3 end }")
    local text, status = weir(("policy check %s/fails.lua %s/picky.lua"):format(dir, dir))
    assert.equal(1, status)
    assert.is_truthy(text:find "fails.lua: FAILED")
    assert.is_truthy(text:find "must return a number")
    assert.is_truthy(text:find "picky.lua: ok")
    assert.is_truthy(text:find("slot=12/node could run here but for this policy", 1, true))
  end)

  -- {how order reads a job, the field that check says no job has; nil: check says ok}
  for _, case in ipairs {
    { "return job.cores", "cores" }, { "return -(job.nodes or 0)", "nodes" }, { "return -job.cores", "cores" },
    { "return -job.units" }, { "job.mine = job.mine or 3 return job.mine" },
  } do
    it("check tells a field that jobs of a queue policy do not have: " .. case[1], function()
      write(dir .. "/q.lua", ("return { name = 'q', order = function(job, now) %s end, schedule = function(queue)\n"
        .. "for job in queue:pending() do queue:start(job) end end }"):format(case[1]))
      local text, status = weir("policy check " .. dir .. "/q.lua")
      local told = text:match "a job has no field '(%w+)', and the policy gives it none; a job has id, number, "
      assert.same({ case[2], case[2] and 1 or 0 }, { told, status })
    end)
  end

  -- {what evaluate returns, part of what check says}
  for _, case in ipairs {
    { 'v:below("cores")', "it names the type 'cores', of which the machine has no vertex (did you mean \"core\"?)" },
    { '(v:ancestor "rak") and 1 or 0', "it names the type 'rak', of which the machine has no vertex (did you mean \"rack\"?)" },
    { 'r.user == "ada" and 1 or 0', "a request has no field 'user': it is request.job.user" },
  } do
    it("check tells what was meant by " .. case[1], function()
      write(dir .. "/p.lua", ("return { name = 'p', evaluate = function(v, r) return %s end }"):format(case[1]))
      assert.is_truthy((weir("policy check " .. dir .. "/p.lua")):find(case[2], 1, true))
    end)
  end

  -- {select, what check notes on the small machines, and on one of two racks}
  for _, case in ipairs {
    { '{ "fewest", group = "rak" }', "the type 'rak', of which the machine has no vertex (did you mean \"rack\"?)",
      "the type 'rak', of which the machine has no vertex (did you mean \"rack\"?)" },
    { '{ "one", group = "chassis" }', nil, "the type 'chassis', of which the machine has no vertex" },
    { '{ "each", group = "racks.properties.row" }', "the type 'racks', of which the machine has no vertex (did you mean \"rack\"?)",
      "the property 'row', which no vertex of the machine has (did you mean \"rows\"?)" },
    { '{ "shortest", group = { property = "line" }, position = "place" }', nil,
      "the property 'place', which no vertex of the machine has" },
    { '{ "beside", domain = "numanode+sockt" }', "the type 'sockt', of which the machine has no vertex (did you mean \"socket\"?)",
      "the type 'numanode', of which the machine has no vertex" },
    { '{ "fewest", group = "rack" }' }, { '{ "one", group = "rack.properties.rows" }' },
    { '{ "fewest", group = { subsystem = "network", type = "switch" } }', nil, "the type 'switch', of which the machine has no vertex" },
  } do
    it("check notes an unknown group: " .. case[1], function()
      local path, machine = dir .. "/p.lua", dir .. "/rows.json"
      write(path, ("return { select = %s }"):format(case[1]))
      local g = assert(library.synthetic "cluster:1 rack:2 node:2 socket:1 core:4")
      for rack in g:root():children() do rack.properties.rows = "1" end
      assert(g:save(machine))
      local text, own = weir("policy check " .. path), weir(("policy check -r %s %s"):format(machine, path))
      assert.equal(case[2] and true, case[2] and text:find("note   it names " .. case[2], 1, true) and true, text)
      assert.equal(case[3] and true, case[3] and own:find("note   it names " .. case[3], 1, true) and true, own)
      if not case[2] then assert.is_nil(text:find("it names", 1, true)) end
      if not case[3] then assert.is_nil(own:find("it names", 1, true)) end
    end)
  end

  it("check tells an error once, with its count and the way to it", function()
    write(dir .. "/deep.lua", "local function inner(v)\n  return v.x\nend\n"
      .. "return { evaluate = function(v)\n  local s = inner(v)\n  return s end }")
    local text, status = weir("policy check " .. dir .. "/deep.lua")
    assert.equal(1, status)
    assert.equal(1, select(2, text:gsub("error ", "")))
    assert.is_truthy(text:find "deep.lua:2: a vertex has no field or method 'x' %(%d%d times in all%)\n", text)
    assert.is_truthy(text:find "deep.lua:2: in 'inner'\n *[^\n]*deep.lua:5: in evaluate, for /cluster0/rack0/node0\n", text)
  end)

  it("check ends a loop after a tenth of the instructions of a match, and leaves the other requests", function()
    write(dir .. "/loop.lua", "return { evaluate = function(v) while true do end end }")
    local text, status = weir("policy check --json " .. dir .. "/loop.lua")
    assert.equal(1, status)
    local report = assert(core.json_decode(text))
    assert.equal(2, report.refused + report.matched) -- one on each machine
    assert.is_truthy(report.errors[1]:find("its budget of 5000000 instructions (2 times in all)", 1, true))
  end)

  it("bench -r has figures of machines that hold one job at a time, and of machines without nodes", function()
    for machine, fits in pairs { ["cluster:1 node:1 core:4"] = { true, false, true }, ["cluster:1 core:8"] = { false, false, true } } do
      local rows = assert(core.json_decode((weir(("policy bench --json -r '%s' best_fit"):format(machine)))))
      assert.equal(4 * 2 * 3, #rows)
      for i = 1, 6 do assert.equal(fits[(i - 1) % 3 + 1], rows[i].us ~= nil, machine .. " " .. rows[i].request) end
    end
  end)

  it("check tells misspelt types, and on a machine of the user's all that the machine lacks", function()
    local path = dir .. "/types.lua"
    write(path, 'return { order = { "nod.id", "id" }, exclusive = "node", locality = { "numa", "sokcet" } }')
    local text, status = weir("policy check " .. path)
    assert.equal(0, status, text)
    assert.equal(2, select(2, text:gsub("note   it names the type", "")), text)
    assert.matches("it names the type 'nod', of which the machine has no vertex (did you mean \"node\"?)", text, 1, true)
    assert.matches("'sokcet', of which the machine has no vertex (did you mean \"socket\"?)", text, 1, true)
    text = weir(("policy check -r 'cluster:1 node:2 core:4' %s"):format(path))
    assert.matches("it names the type 'numa', of which the machine has no vertex\n", text, 1, true)
    assert.is_nil((weir "policy check low best_fit treepool emptiest"):find("it names the type", 1, true))
  end)

  it("check tells equal choices of random numbers as such, and no error twice", function()
    local random, wrong = dir .. "/random.lua", dir .. "/wrong.lua"
    write(random, "return { evaluate = function() return math.random() end }")
    local text, status = weir("policy check " .. random)
    assert.equal(0, status, text)
    assert.matches("scores are not remembered: it reads math.random()", text, 1, true)
    write(wrong, "return { evaluate = function(v) return v.x end }")
    text = weir("policy check " .. wrong)
    assert.equal(1, select(2, text:gsub("no field or method 'x'", "")), text)
    assert.is_nil(text:find("remembered", 1, true), text)
  end)

  it("check fails a policy that leaves nothing", function()
    write(dir .. "/none.lua", "return { prune = function(v) return v.type == 'rack' end }")
    local text, status = weir("policy check " .. dir .. "/none.lua")
    assert.equal(1, status)
    assert.is_truthy(text:find("it leaves nothing: no request can run that could run without this policy", 1, true), text)
  end)

  it("check tries policies on what they are about, and on a machine that is given", function()
    write(dir .. "/about.lua", [[return { evaluate = function(v)
      local seen = {}
      for _, name in ipairs { "network", "power", "io" } do
        for _, s in ipairs(v:graph():subsystems()) do seen[name] = seen[name] or s == name end
      end
      local nodes = 0
      for _ in v:graph():walk { type = "node" } do nodes = nodes + 1 end
      if seen.network and seen.power and seen.io then error("all three: " .. nodes) end
      if nodes == 5 then error "five nodes" end
      return 1
    end }]])
    local text = weir("policy check " .. dir .. "/about.lua")
    assert.is_truthy(text:find("all three: 12", 1, true), text)
    local status
    text, status = weir("policy check -r 'node:5 core:4' " .. dir .. "/about.lua")
    assert.equal(1, status)
    assert.is_truthy(text:find("five nodes", 1, true), text)
    text, status = weir "policy check -r 'node:5 core:4' low power"
    assert.equal(0, status, text)
    local all = {}
    for name in io.popen("ls policies"):lines() do all[#all + 1] = name:match "^(%w[%w_]*)%.lua$" end
    text, status = weir("policy check " .. table.concat(all, " "))
    assert.equal(0, status, text)
    assert.equal(#all, select(2, text:gsub(": ok  ", "")))
  end)

  it("match says what it did not try after an error", function()
    write(dir .. "/fails.lua", "return { evaluate = function(v) return v.x end }")
    local text, status = weir(("match -r node:9 -p %s/fails.lua slot=1/node slot=2/node slot=3/node"):format(dir))
    assert.equal(2, status)
    assert.is_truthy(text:find("; not tried: slot=2/node, slot=3/node\n", 1, true), text)
    text = weir(("match -r node:9 -p %s/fails.lua%s"):format(dir, (" slot=1/node"):rep(9)))
    assert.is_truthy(text:find("slot=1/node, slot=1/node, and 3 more\n", 1, true), text)
  end)

  it("check reports what is read and what it costs, as JSON too", function()
    local text, status = weir "policy check best_fit --json"
    assert.equal(0, status)
    local report = assert(core.json_decode(text))
    assert.is_true(report.ok)
    assert.is_true(report.reads.below > 0)
    assert.is_true(report.hooks.evaluate.calls > 0 and report.hooks.evaluate.seconds > 0)
  end)

  it("bench counts visits and calls", function()
    local text, status = weir "policy bench low best_fit -n 3 --json"
    assert.equal(0, status)
    local rows = assert(core.json_decode(text))
    assert.equal(2, #rows)
    assert.is_true(rows[1].requests[1].visited < 10)
    assert.equal(0, rows[1].requests[1].callbacks)
    assert.is_true(rows[2].requests[1].callbacks > 1)
    assert.equal(2, select(2, weir "policy bench low no_such_policy -n 1"))
  end)

  it("bench -r tells what a match costs on a machine, each policy on a duplicate of its own", function()
    local text, status = weir "policy bench -r 'cluster:1 rack:4 node:10 core:4' best_fit low --json"
    assert.equal(0, status, text)
    local rows, by = assert(core.json_decode(text)), {}
    for _, row in ipairs(rows) do by[("%s %d %s"):format(row.policy, row.fill, row.request)] = row end
    assert.equal(2 * 4 * 3, #rows)
    assert.equal(0, by["low 0 one node"].calls)
    assert.equal(1, by["low 50 4 nodes"].ratio)
    assert.is_true(by["best_fit 50 four cores"].ratio > 0 and by["best_fit 50 four cores"].visits > 0)
    assert.is_nil(by["best_fit 99 4 nodes"].us)
    assert.equal(by["low 50 one node"].visits, assert(core.json_decode((weir
      "policy bench -r 'cluster:1 rack:4 node:10 core:4' --json low")))[4].visits)
    text, status = weir "policy bench -r 'cluster:1 node:10 core:4' high"
    assert.equal(0, status, text)
    assert.is_truthy(text:find("90 %% full +one node +calls +visited +2 nodes +calls +visited +four cores"), text)
    assert.is_truthy(text:find "low +[%d.]+ us +0 +%d+", text)
    assert.is_truthy(text:find "high +[%d.]+ +0 +%d+", text)
    text, status = weir "policy bench -r node:3 no_such_policy"
    assert.equal(2, status)
    assert.is_truthy(text:find "no policy", text)
  end)

  it("profile tells the hooks and the hottest lines", function()
    write(dir .. "/hot.lua", "return { evaluate = function(v)\n  local s = 0\n  for i = 1, 300 do s = s + i end\n  return s\nend }")
    local text, status = weir(("policy profile -r 'rack:4 node:9 core:4' -p %s/hot.lua slot=1/node slot=2/node"):format(dir))
    assert.equal(0, status, text)
    assert.is_truthy(text:find "2 matches in")
    assert.is_truthy(text:find "evaluate +36 ", text)
    assert.is_truthy(text:find "%% +3    for i = 1, 300", text)
  end)

  it("list shows options, and takes a name from WEIR_POLICY_PATH first", function()
    local text, status = weir "policy list -v"
    assert.equal(0, status)
    assert.is_truthy(text:find("pack = 1", 1, true), text)
    write(dir .. "/low.lua", "return { doc = 'Mine, and not the other one.' }")
    local pipe = assert(io.popen(("WEIR_POLICY_PATH=%s %s policy list"):format(quote(dir), quote(weir_bin))))
    assert.is_truthy(pipe:read("a"):find "low +Mine, and not")
    pipe:close()
  end)

  local wrong = {
    { "policy", 2, "ACTION" }, { "policy lst", 2, "list" }, { "policy check", 2, "expected a POLICY" },
    { "policy list low", 2, "takes no low" }, { "policy list -r local", 2, "is for weir policy check, bench and profile" },
    { "policy bench -r node:9 easy", 2, "is for placement policies: easy is none" },
    { "policy profile -p low slot=1/node", 2, "expected" }, { "policy check no_such", 2, "no policy" },
    { "match -r node:2 -p low:k=1 slot=1/node", 2, "there is no option 'k'" },
    { "match -r node:2 -p weighted:pack slot=1/node", 2, "NAME=VALUE" },
    { "match -r node:2 -p weighted:pack=much slot=1/node", 2, "number expected" },
  }
  for _, case in ipairs(wrong) do
    it("refuses: weir " .. case[1], function()
      local text, status = weir(case[1])
      assert.equal(case[2], status, text)
      assert.is_truthy(text:find(case[3], 1, true), text)
    end)
  end

  it("takes options on the command line of match", function()
    local text, status = weir "match -r 'node:4 core:2' -p weighted:pack=0,low=-1 -F rlite slot=1/node"
    assert.equal(0, status)
    assert.is_truthy(text:find('"rank":"3"', 1, true), text)
  end)

  it("traces a match on the command line, and lets jobs choose", function()
    local text, status = weir "match -r 'cluster:1 node:2 core:2' -p best_fit --trace slot=1/node"
    assert.equal(0, status)
    assert.is_truthy(text:find("scored     /cluster0/node1: -2\n", 1, true), text)
    assert.is_truthy(text:find("chosen     /cluster0/node0\n", 1, true), text)
    text, status = weir "match -r 'cluster:1 node:2 core:2' --json --trace slot=3/node"
    assert.equal(1, status)
    assert.is_truthy(text:find '"need":3', text)
    local job = dir .. "/job.json"
    write(job, core.json_encode {
      version = 9999, attributes = { system = { policy = "high" } },
      resources = { { type = "slot", count = 1, label = "t", with = { { type = "node", count = 1 } } } },
      tasks = { { command = { "x" }, slot = "t", count = { per_slot = 1 } } },
    })
    text = weir("match -r node:3 --policies 'high spread' -F rlite " .. job)
    assert.is_truthy(text:find('"rank":"2"', 1, true), text)
    assert.equal(1, select(2, weir("match -r node:3 --policies low -F rlite " .. job)))
  end)
end)
