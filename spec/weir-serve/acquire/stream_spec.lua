-- Recorded streams of the acquisition protocol, as services write streams, played in scenarios.
local providers = require "weir.acquire.provider"
local scheduler_client = require "weir.acquire.scheduler_client"
local recordings = require "weir.acquire.recording"
local scenario = require "weir.scenario"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

-- Records `acts`, each {seconds, f(provider)}, on the targets of MACHINE; returns the file.
local function recording(style, acts)
  local set, lines, now, f = weir.synthetic(MACHINE):rset { scheduling = true }, {}, 0, nil
  local p = providers.new {
    targets = set:ranks(), up = "0-6", resources = function(targets) return set:on_ranks(targets):table "rv1" end,
    send = function(_, response) f:receive("default", response) end,
  }
  f = scheduler_client.new {
    style = style, policy = "low", record = recordings.writer(function(text) lines[#lines + 1] = text end, function() return now end),
    send = function(method, payload)
      if method == "resource.acquire" then assert(p:acquire("s", payload)) else assert(p:release("s", payload)) end
    end,
  }
  f:start()
  for _, act in ipairs(acts) do
    now = act[1]
    act[2](p)
  end
  return shell.path(shell.directory(), "stream.jsonl", table.concat(lines))
end

local function free(s) return #s.graph:find "type=node and idle and state=up" end

describe("a recorded stream in a scenario", function()
  after_each(service.clean)

  it("[Q2][Q3][Q4][Q5][Q13] brings, takes, and turns off and on when it did; only what is taken ends jobs", function()
    local s = scenario { queue = "fcfs", stream = recording("typed", {
      { 10, function(p) p:offline "0" end }, { 20, function(p) p:exclude "1" end }, { 30, function(p) p:online "0,7" end },
      { 40, function(p) p:include "1" end },
    }) }
    local a, b = s:submit { "slot=1/node", lasts = 100, name = "a" }, s:submit { "slot=1/node", lasts = 100, name = "b" }
    s:to(5)
    assert.equal(5, free(s))
    s:to(15)
    assert.running(a, b)
    s:to(25)
    assert.running(a)
    assert.failed(b)
    assert.equal(7, s.graph:aggregate().node.total)
    s:to(35)
    assert.equal(6, free(s))
    s:to(45)
    assert.equal(8, s.graph:aggregate().node.total)
    assert.equal(7, free(s))
  end)

  it("[Q13] of the newer wording ends no job: what is taken goes when they have ended", function()
    local s = scenario { queue = "fcfs", stream = recording("keyed", {
      { 10, function(p) p:exclude "0-1" end }, { 20, function(p) p:property_add("fast", "3") end }, { 30, function(p) p:online "7" end },
    }) }
    local a = s:submit { "slot=1/node", lasts = 50, name = "a" }
    s:to(15)
    assert.running(a)
    assert.equal(7, s.graph:aggregate().node.total)
    s:to(55)
    assert.done(a)
    assert.equal(6, s.graph:aggregate().node.total)
    assert.equal(1, #s.graph:find "type=node and property=fast")
    assert.equal(6, free(s))
  end)

  it("is what a service writes with --record", function()
    local dir = shell.directory()
    local file = shell.path(dir, "stream.jsonl")
    local served = service.start(dir, { "-r", MACHINE, "-g", "exclude=7", "--record", file })
    local c = served:connect()
    assert(c:ask("resource.drain", { targets = "0" }))
    assert(c:ask("resource.exclude", { targets = "1" }))
    c:close()
    assert.equal(0, served:stop())
    local s = scenario { stream = file }
    s:run()
    assert.equal(6, s.graph:aggregate().node.total)
    assert.equal(2, s.graph:aggregate().rack.total)
    assert.equal(5, free(s))
  end)

  for _, case in ipairs {
    { "nothing that is a recording", "x\n", "line 1" },
    { "nothing", "", "does not begin with resources" },
    { "no machine at its beginning", '{"group":"default","response":{"type":"online","targets":"1"}}\n', "does not begin with resources" },
    { "resources that are none", '{"group":"default","response":{"type":"grow","resources":{"version":7}}}\n', "version" },
  } do
    it("is refused with " .. case[1] .. " in it", function()
      local file = shell.path(shell.directory(), "stream.jsonl", case[2])
      local ok, why = pcall(scenario, { stream = file })
      assert.is_false(ok)
      assert.matches(case[3], why, 1, true)
    end)
  end

  it("has a machine of its own", function()
    assert.has_error(function() scenario { stream = recording("typed", {}), machine = MACHINE } end)
  end)
end)
