-- Filters sent by clients (W8): permissions, costs, and the effect on further clients.
local core = require "weir.core"
local filter = require "weir.serve.filter"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local GENEROUS = 60 -- seconds, where time is not the subject

local function walk(g, source, opts, seconds)
  local policy, why, code = filter.load(source, seconds or GENEROUS)
  if not policy then return nil, why, code end
  return filter.walk(g, policy, opts or {})
end

local function listing(found)
  local list = {}
  for i, entry in ipairs(found) do list[i] = ("%s %g"):format(entry.vertex.name, entry.score) end
  return table.concat(list, ", ")
end

after_each(service.clean)

describe("a filter from a client", function()
  local g = weir.synthetic "cluster:1 rack:2 node:4 core:4"

  it("[W8] scores what the walk visits; the best come first, of equals the first one visited", function()
    local source = "return {evaluate = function(v) return v.id % 2 end}"
    local rack = g:vertex "/cluster0/rack0"
    assert.equal("node1 1, node3 1, node0 0, node2 0", listing(assert(walk(g, source, { type = "node", start = rack }))))
    assert.equal("node1 1, node3 1, node5 1", listing(assert(walk(g, source, { type = "node", best = 3 }))))
  end)

  it("[W8] prunes on the way down, and leaves out what has no score", function()
    assert.equal("node5 5, node4 4", listing(assert(walk(g, [[return {
      prune = function(v) return v.name ~= "rack0" and v.name ~= "node7" end,
      evaluate = function(v) if v.name ~= "node6" then return v.id end end,
    }]], { type = "node" }))))
  end)

  it("[W8] gets the fields it declares, the request and the graph to read, base and extended data alike", function()
    local machine = weir.synthetic "cluster:1 node:2 core:2"
    local v = machine:vertex "/cluster0/node1"
    v.tags.fast, v.properties.year, v.data.note = "yes", "2020", { weight = 5 }
    local found = assert(walk(machine, [[return { fields = {"type", "id"},
      evaluate = function(v, request, type, id)
        assert(request.type == "node" and type == "node" and id == v.id)
        return (v.tags.fast == "yes" and 1 or 0) + (tonumber(v.properties.year) or 0) + (v.data.note and v.data.note.weight or 0)
          + v:graph():count() / 100
      end }]], { type = "node" }))
    assert.equal("node1 2026.07, node0 0.07", listing(found))
  end)

  it("[W8] walks another subsystem", function()
    local machine = weir.synthetic "cluster:1 node:3"
    local pdu = assert(machine:add(machine:root(), { type = "pdu" }))
    for _, i in ipairs { 0, 2 } do
      assert(machine:add_edge(pdu, machine:vertex("/cluster0/node" .. i), { subsystem = "power", type = "supplies" }))
    end
    assert.equal("node2 2, node0 0", listing(assert(walk(machine, "return {evaluate = function(v) return v.id end}",
      { subsystem = "power", type = "node" }))))
  end)

  local REFUSED = {
    { "no Lua", "return {", "filter:1:", "policy" },
    { "bytecode", "\27Lua", "binary", "policy" },
    { "no table", "return 3", "a filter returns a table", "policy" },
    { "nothing in it", "return {}", "prune, evaluate or both", "policy" },
    { "an order, which would be kept", "return {order = 'id', evaluate = function() end}", "not 'order'", "policy" },
    { "no function", "return {evaluate = 3}", "function expected", "policy" },
    { "a file", "return {evaluate = io.open('/etc/passwd')}", "io", "policy" },
    { "a module", "return {evaluate = require 'luv'}", "require", "policy" },
    { "a text too long", ("-"):rep(70000), "too many", "limit" },
  }
  for _, case in ipairs(REFUSED) do
    it("[W8] is refused: " .. case[1], function()
      local ok, why, code = walk(g, case[2])
      assert.is_nil(ok)
      assert.matches(case[3], why, 1, true)
      assert.equal(case[4], code)
    end)
  end

  local FAILS = {
    { "it raises", "error 'oh'", "oh" },
    { "its score is no number", "return {}", "must return a number" },
    { "its score is NaN", "return 0/0", "must return a number" },
    { "it changes the machine", "v.state = 'down'", "" },
    { "it books", "v:allocate{job = 1}", "" },
    { "it needs more memory than it may have", "local t = {} for i = 1, 1e7 do t[i] = i end", "memory" },
  }
  for _, case in ipairs(FAILS) do
    it("[W8] ends the walk, and nothing has changed, where " .. case[1], function()
      local before = g:dup()
      local ok, why, code = walk(g, ("return {evaluate = function(v) %s end}"):format(case[2]), { type = "node" })
      assert.is_nil(ok)
      assert.matches(case[3], why, 1, true)
      assert.equal("policy", code)
      assert(g:compare(before, true))
      assert.is_truthy((walk(g, "return {prune = function() return true end}")))
    end)
  end

  -- Filters that run for seconds or for ever without the budget. 500 times the budget of processor time is allowed, for
  -- sanitizers and a busy machine.
  local HOSTILE = {
    { "an endless loop when it is loaded", "while true do end" },
    { "an endless loop", "return {evaluate = function() while true do end end}" },
    { "one behind pcall", "return {evaluate = function() while true do pcall(function() while true do end end) end end}" },
    { "a pattern that tries everything", "return {evaluate = function() for i = 1, 1e9 do (('a'):rep(60)):find('.-.-b') end end}" },
    { "long strings", "local s = ('a'):rep(300000) return {evaluate = function() for i = 1, 1e9 do utf8.len(s) end end}" },
    { "sorting", [[local t = {} for i = 1, 10000 do t[i] = i % 97 end
      return {evaluate = function() for i = 1, 1e9 do table.sort(t) end end}]] },
    { "walks of its own", "return {evaluate = function(v) for i = 1, 1e9 do for w in v:graph():walk{} do end end end}" },
    { "recursion", "local function f(n) return f(n + 1) + 1 end return {evaluate = function() while true do pcall(f, 1) end end}" },
    { "coming back for each vertex", "return {evaluate = function(v) for i = 1, 1000 do local x = v.path end return 1 end}" },
  }
  local large = weir.synthetic "cluster:1 rack:20 node:50 core:8"
  for _, case in ipairs(HOSTILE) do
    it("[W8] is ended when its time is over: " .. case[1], function()
      local begin = os.clock()
      local ok, _, code = walk(large, case[2], { type = "core" }, 0.010)
      assert.is_nil(ok)
      assert.is_truthy(code == "policy" or code == "limit")
      local took = os.clock() - begin
      assert.is_true(took < 5, ("%.0f ms"):format(took * 1000))
    end)
  end

  it("[W8] with a match decides among what fits, and cannot book twice", function()
    local e = weir.engine { resources = weir.synthetic "cluster:1 node:4" }
    local source = "return {prune = function(v) return v.id ~= 3 end, evaluate = function(v) return v.id end}"
    local policy = assert(filter.load(source, GENEROUS))
    for _, id in ipairs { 2, 1, 0 } do
      assert.equal(id, e:match("slot=1/node", { policy = policy }):vertices()[1].vertex.id)
    end
    local ok, _, code = e:match("slot=1/node", { policy = policy })
    assert.is_nil(ok)
    assert.equal("busy", code)
  end)
end)

describe("a service with filters", function()
  it("[W8] runs them with walk and match, and streams the vertices in descending score", function()
    local s = service.start(shell.directory(), { "-r", "cluster:1 rack:4 node:200", "--filter-ms", "20000" })
    local c = s:connect()
    local found = assert(c:ask("walk", { type = "node", best = 500, filter = "return {evaluate = function(v) return v.id end}" })).vertices
    assert.equal(500, #found)
    for i, v in ipairs(found) do assert.equal(800 - i, v.score) end
    assert.equal("/cluster0/rack3/node799", found[1].path)
    local near = "return {evaluate = function(v) return -math.abs(v.id - 333) end}"
    local a = assert(c:ask("match", { request = "slot=1/node", filter = near }))
    assert.equal("/cluster0/rack1/node333", a.vertices[1].path)
    assert.equal("limit", select(3, c:ask("walk", { best = 20000, filter = "return {}" })))
  end)

  it("[W8] gives a hostile one's sender an error, and goes on answering the others", function()
    local s = service.start(shell.directory(), { "-r", "cluster:1 rack:4 node:50", "--filter-ms", "10",
      "--limit", "filters=1000000" })
    local hostile, c = s:raw(), s:connect()
    local n = math.max(5, math.floor(20 * service.scale))
    for i = 1, n do
      local source = i % 2 == 0 and "while true do end" or "return {evaluate = function() while true do end end}"
      hostile.send(weir.json.encode { id = i, method = i % 3 == 0 and "match" or "walk",
        params = i % 3 == 0 and { request = "slot=1/node", filter = source } or { type = "node", filter = source } } .. "\n")
    end
    local worst = 0
    while #hostile.lines < n do
      local begin = core.clock()
      local a = assert(c:ask("match", { request = "slot=1/node" }))
      assert(c:ask("release", { job = a.job }))
      worst = math.max(worst, core.clock() - begin)
    end
    for _, answer in ipairs(hostile.lines) do
      assert.equal("policy", answer.code)
      assert.matches("0.01 seconds", answer.error, 1, true)
    end
    assert.equal(0, c:ask("stats").allocated)
    assert.is_true(worst < 30, ("an answer took %.0f ms"):format(worst * 1000))
  end)
end)
