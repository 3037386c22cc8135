-- weir -s SOCKET COMMAND and weir top: output and exit status.
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local s

local function run(...) return shell.weir { "-s", s.path, ... } end

-- Runs the first command; returns the output of the second.
local function after(first, ...)
  assert.equal(0, run(table.unpack(first)).status)
  return run(...)
end

describe("weir -s", function()
  before_each(function() s = service.start(shell.directory(), { "-r", "cluster:1 rack:2 node:2 core:4", "--clock", "manual" }) end)
  after_each(service.clean)

  local SHOWN = {
    { "match prints what jobs got, as weir match does", { "match", "slot=1/node", "slot=1/core=2" }, [[
job 1: slot=1/node  allocated  start 0 s  no end
cluster0
`-- rack0
    `-- node0  whole: 4 core
job 2: slot=1/core=2  allocated  start 0 s  no end
cluster0
`-- rack0
    `-- node1
        `-- core[0-1]
]] },
    { "match reserves by durations", { "match", "-m", "reserve", "--duration", "1m", "slot=4/node", "slot=1{duration:5}/node" },
      "reserved  start 60 s  for 60 s\n", pattern = true },
    { "match writes R", { "match", "-F", "rlite", "slot=1/node" }, '[{"children":{"core":"0-3"},"rank":"0"}]\n' },
    { "match tells what could be", { "match", "-m", "feasible", "slot=4/node" }, "slot=4/node: feasible\n" },
    { "find lists paths", { "find", "type=rack" }, "/cluster0/rack0\n/cluster0/rack1\n" },
    { "find counts", { "find", "-F", "count", "type=core", "-s", "/cluster0/rack1" }, "8\n" },
    { "show draws the machine", { "show", "-d", "2" }, "cluster0\n`-- rack[0-1]  each: 2 node, 8 core\n" },
    { "show totals", { "show", "--totals" }, [[
type     total  free  idle  unit
cluster      1     1     1
rack         2     2     2
node         4     4     4
core        16    16    16
]] },
    { "jobs prints nothing where there is none", { "jobs" }, "" },
    { "policy tells which", { "policy", "load", "spread" },
      "spread@[0-9a-f]+  The emptiest parent first[^\n]*\n", pattern = true },
    { "resource shows the groups", { "resource", "drain", "3", "disk" }, [[
group    targets  online  offline  acquired  leaving
default  0-3      0-2     3        yes
drained: 3  disk
]] },
    { "call asks anything", { "call", "advance", '{"to":5}' }, '{"now":5}\n' },
    { "explain says that it fits", { "explain", "slot=1/node" }, "^slot=1/node: fits", pattern = true },
  }
  for _, case in ipairs(SHOWN) do
    it(case[1], function()
      local result = run(table.unpack(case[2]))
      assert.equal("", result.err)
      if case.pattern then assert.matches(case[3], result.out) else assert.equal(case[3], result.out) end
      assert.equal(0, result.status)
    end)
  end

  it("jobs, job and release follow what was matched", function()
    local jobs = after({ "match", "-q", "slot=1/node" }, "jobs")
    assert.equal("job  state      start  duration  policy\n  1  allocated    0 s    no end  low\n", jobs.out)
    assert.equal('[{"children":{"core":"0-3"},"rank":"0"}]\n', run("job", "-F", "rlite", "1").out)
    assert.equal(1, #weir.json.decode(run("jobs", "--json").out))
    assert.equal("", after({ "release", "1" }, "jobs").out)
  end)

  it("times of the wall's clock are dates", function()
    local jobs = after({ "match", "-q", "--at", "1700000000", "slot=1/node" }, "jobs")
    assert.truthy(jobs.out:find(os.date(" %Y-%m-%d %H:%M:%S ", 1700000000), 1, true), jobs.out)
  end)

  it("explain takes a duration", function()
    local short = after({ "match", "-q", "--at", "100", "slot=4/node" }, "explain", "--duration", "1m", "slot=1/node")
    assert.matches("^slot=1/node: fits", short.out)
    assert.matches("1 node is needed; .* reserved too soon", (run("explain", "--duration", "2m", "slot=1/node").out:gsub("\n", " ")))
  end)

  it("show draws the state of the service as weir show draws a file", function()
    assert.equal(0, run("call", "advance", '{"to":1795000000}').status)
    assert.equal(0, run("match", "-q", "-m", "reserve", "--duration", "1h", "slot=3/node", "slot=2/node").status)
    assert.equal(0, run("resource", "drain", "3").status)
    local saved = weir.json.decode(run("call", "save", '{"format":"document"}').out)
    local file = shell.path(shell.directory(), "now.weir", saved.text)
    for _, words in ipairs { { "--svg" }, { "--html" }, { "--timeline", "--by", "rack" }, { "--totals" }, { "--totals", "--json", "rack1" },
      { "--full", "node1" }, { "--full", "--json", "node1" }, { "--csv" }, { "--dot" }, { "--json" }, { "-d", "3" },
      { "--svg", "--colour", "state", "/cluster0/rack1" } } do
      local drawn, wanted = run("show", table.unpack(words)), shell.weir { "show", "-r", file, table.unpack(words) }
      assert.same({ wanted.out, "", 0 }, { drawn.out, drawn.err, drawn.status }, table.concat(words, " "))
    end
    assert.matches(os.date("at %Y%%-%m%%-%d %H:%M:%S", 1795000000), run("show", "--svg").out)
    local path = shell.path(shell.directory(), "now.svg")
    assert.equal("", run("show", "--svg", "-o", path).out)
    assert.equal(run("show", "--svg").out, shell.slurp(path))
  end)

  it("match takes a filter from a file", function()
    local file = shell.path(shell.directory(), "f.lua", "return {evaluate = function(v) return v.id end}")
    assert.equal('[{"children":{"core":"0-3"},"rank":"3"}]\n', run("match", "--filter", file, "-F", "rlite", "slot=1/node").out)
  end)

  it("policy load takes a file of the one who asks, as source", function()
    local file = shell.path(shell.directory(), "mine.lua", "return {name = 'mine', doc = 'Mine.', order = '-id'}")
    assert.matches("^mine@", run("policy", "load", file).out)
    assert.equal('[{"children":{"core":"0-3"},"rank":"3"}]\n', run("match", "-F", "rlite", "slot=1/node").out)
  end)

  it("policy load names the file and the line of a mistake", function()
    local file = shell.path(shell.directory(), "wrong.lua", "return {\n  order = '-id' x\n}")
    local result = run("policy", "load", file)
    assert.not_equal(0, result.status)
    assert.matches(file .. ":2: ", result.err, 1, true)
  end)

  local FAILS = {
    { { "match", "slot=9/node" }, 1, "can never be met" },
    { { "find", "type=nope" }, 1, nil },
    { { "find", "type=" }, 2, "expected a value" },
    { { "release", "7" }, 1, "job 7" },
    { { "release", "x" }, 2, "the id of a job" },
    { { "explain", "slot=9/node" }, 1, nil },
    { { "nope" }, 2, 'no command "nope"' },
    { { "serve" }, 2, 'no command "serve"' },
    { { "match" }, 2, "JOB is missing" },
    { {}, 2, "missing command" },
    { { "call", "nope" }, 1, "no method" },
    { { "call", "match", "{" }, 2, "PARAMS is a JSON object" },
    { { "resource", "nope" }, 2, 'no "nope"' },
    { { "resource", "drain" }, 2, "expected ranks, 0-3,7, or names, node[0-3]" },
    { { "resource", "drain", "node[3-9]" }, 1, 'resource: there is no vertex "node4" here' },
    { { "resource", "drain", "cluster0" }, 1, "/cluster0 is no target: it has no rank" },
    { { "cancel", "1" }, 2, 'a service has no command "cancel": weir -s SOCKET release JOB' },
    { { "drain", "node1" }, 2, "weir -s SOCKET resource drain TARGETS" },
    { { "show", "node9" }, 1, "there is no vertex 'node9' here" },
    { { "resource", "drain", "99" }, 1, "no target 99" },
    { { "policy", "load", "nope" }, 1, "no policy" },
    { { "show", "--html", "--svg" }, 2, "show: --svg and --html cannot be combined" },
    { { "show", "--html", "node9" }, 2, "there is no vertex 'node9' here" },
    { { "show", "-j", "slot=1/node" }, 2, "unknown option -j" },
  }
  for _, case in ipairs(FAILS) do
    it(("%s ends with %d"):format(table.concat(case[1], " "), case[2]), function()
      local result = run(table.unpack(case[1]))
      assert.equal(case[2], result.status)
      if case[3] then assert.matches(case[3], result.err, 1, true) end
    end)
  end

  it("resource takes names of nodes for their targets", function()
    assert.matches("drained: 1\ndrained: 3\n", run("resource", "drain", "node[1,3]").out, 1, true)
    assert.is_nil(run("resource", "undrain", "node[1,3]").out:find "drained")
  end)

  it("says that over the net an address has a kind", function()
    assert.matches("head:4747: no service answers there (ENOENT); over the net it is tls:head:4747, or tcp:head:4747 on this machine",
      shell.weir({ "-s", "head:4747", "jobs" }).err, 1, true)
  end)

  it("says that no service is there", function()
    local result = shell.weir { "-s", "/nope/s", "jobs" }
    assert.equal(2, result.status)
    assert.matches("no service answers there", result.err)
  end)

  it("explains itself without a service", function()
    assert.matches("usage: weir %-s SOCKET COMMAND", shell.weir({ "-s", "x", "--help" }).out)
    assert.matches("usage: weir %-s SOCKET match", shell.weir({ "-s", "x", "match", "--help" }).out)
    assert.matches("usage: weir serve", shell.weir({ "serve", "--help" }).out)
  end)

  it("top shows use, jobs, rates and who waits", function()
    run("match", "-q", "slot=1/node")
    local result = shell.weir { "top", "-s", s.path, "-n", "2", "-i", "0.01" }
    assert.equal(0, result.status)
    assert.matches("1 allocated, 0 reserved", result.out)
    assert.matches("matches 1 %(0/s%), refused 0", result.out)
    assert.matches("core +16 +4 ", result.out)
    assert.equal(1, weir.json.decode(run("top", "--json").out).allocated)
  end)
end)
