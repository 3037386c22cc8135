-- Differences of graphs: apply(diff(a, b), a) is b, byte for byte, whatever a and b; a difference is applied as a whole
-- or not at all, and only to the graph that it was made of.
local dice = require "spec.support.dice"
local documents = require "spec.support.documents"
local shell = require "spec.support.shell"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

after_each(shell.clean)

local function document(g) return assert(g:format "document") end

-- Checks that a becomes b, and returns the difference.
local function lead(a, b, what)
  local before = document(a)
  local text = assert(a:diff(b))
  local made <close> = assert(a:apply(text, what))
  assert.is_true(document(made) == document(b), what)
  assert(made:check())
  assert.is_true(document(a) == before, what)
  return text
end

describe("a difference", function()
  it("leads from a random machine to what became of the machine, and back", function()
    for seed = 1, math.ceil(20 * SCALE) do
      local w = documents.machine(seed, 25)
      local before = assert(w.g:dup())
      documents.steps(w, dice(seed + 99), 1 + seed % 20)
      lead(before, w.g, "seed " .. seed)
      lead(w.g, before, "back, seed " .. seed)
      before:close()
      w.g:close()
    end
  end)

  it("leads between random machines that have nothing to do with each other", function()
    for seed = 1, math.ceil(10 * SCALE) do
      local a, b = documents.machine(seed, 20), documents.machine(seed + 1000, 20)
      lead(a.g, b.g, "seed " .. seed)
      a.g:close()
      b.g:close()
    end
  end)

  it("says what has changed, and no more", function()
    local a = weir.synthetic "cluster:1 rack:4 node:16 core:8"
    assert(weir.engine({ resources = a }):match "slot=3/node")
    local b = assert(a:dup())
    b("/cluster0/rack2/node40").state = "down"
    assert(b:unlink(b "/cluster0/rack0/node5"))
    assert(b:add(b "/cluster0/rack3", { type = "node", id = 99 }))
    assert(weir.engine({ resources = b }):match "slot=1/core")
    local d = weir.json.decode(lead(a, b, "a day")).weir_difference
    assert.same({ "keep", "drop", "keep", "set", "keep", "add" }, (function()
      local list = {}
      for i, step in ipairs(d.nodes) do list[i] = next(step) end
      return list
    end)())
    assert.equal(9, d.nodes[2].drop)
    assert.equal("down", d.nodes[4].set[1].metadata.state)
    assert.same({ 2, {}, 0 }, { d.jobs.set[1].id, d.jobs.drop, #d.edges })
    assert.equal(1, #d.jobs.set)
    assert.is_true(#lead(a, a, "nothing") < 400)
  end)

  it("carries the words of containment, where they are not the usual ones", function()
    local plain = weir.synthetic "cluster:1 node:2 core:2"
    for _, words in ipairs { '"has"', '"has","back":"within"' } do
      local other = assert(weir.parse((assert(plain:format "jgf"):gsub('"contains"', words))))
      local later = assert(other:dup())
      later("/cluster0/node1").state = "down"
      lead(plain, other, "to " .. words)
      lead(other, plain, "from " .. words)
      lead(other, later, "within " .. words)
    end
  end)

  -- A graph with keys that weir does not know at some edges, vertices, and the graph.
  local function with_foreign(g, roll)
    local d = weir.json.decode(assert(g:format "document"))
    local function put(place)
      for _ = 1, roll(3) == 1 and roll(3) or 0 do place["x" .. roll(4)] = roll(2) == 1 and roll(9) or { deep = { roll(9), "a" } } end
    end
    put(d.graph)
    put(d.graph.metadata)
    for _, node in ipairs(d.graph.nodes) do put(node.metadata) end
    for _, e in ipairs(d.graph.edges) do put(e.metadata) end
    return assert(weir.parse(weir.json.encode(d, { sort = true })))
  end

  it("carries keys of edges and of the graph that weir does not know", function()
    for seed = 1, math.ceil(20 * SCALE) do
      local roll = dice(seed)
      local w = documents.machine(seed, 15)
      local a <close> = with_foreign(w.g, roll)
      local b <close> = with_foreign(w.g, roll)
      lead(a, b, "seed " .. seed)
      lead(w.g, b, "from none, seed " .. seed)
      lead(b, w.g, "to none, seed " .. seed)
      w.g:close()
      w = documents.machine(seed, 15)
      w.g = assert(a:dup())
      documents.steps(w, dice(seed + 7), 10)
      lead(a, w.g, "with changes, seed " .. seed)
      lead(w.g, a, "and back, seed " .. seed)
      w.g:close()
    end
  end)

  it("tells such keys in a line each", function()
    local paths = {}
    for i, text in ipairs { "", ',"label":"east","metadata":{"by":1}' } do
      paths[i] = shell.path(shell.directory(), "m.json")
      local f = assert(io.open(paths[i], "w"))
      f:write('{"graph":{"nodes":[{"id":"0","metadata":{"type":"cluster","id":0}},{"id":"1","metadata":{"type":"node","id":0}},',
        '{"id":"2","metadata":{"type":"pdu","id":0}}],"edges":[',
        ('{"source":"0","target":"1","metadata":{"cable":%d}},'):format(i),
        ('{"source":"2","target":"1","metadata":{"subsystem":"power","relationship":"supplies","volts":%d}}]'):format(i), text, "}}")
      f:close()
    end
    local result = shell.weir { "diff", "-s", paths[1], paths[2] }
    assert.equal(1, result.status, result.err)
    assert.equal([[
~ metadata of the graph  by: none -> 1
~ the graph  label: none -> "east"
~ containment: the edge to containment:/cluster0/node0  cable: 1 -> 2
~ power: an edge to containment:/cluster0/node0  volts: 1 -> 2
]], (result.out:gsub("~ [^\n]*uuid: [^\n]*\n", "")))
  end)

  for name, text in pairs {
    ["without a vertex"] = '[{"data":{"jgf.graph.x":"1"}}]', ["of a vertex that is not there"] = '[{"vertex":99,"data":{}}]',
    ["with a number"] = '[{"vertex":0,"data":{"jgf.graph.x":1}}]', ["that are no list"] = "{}", ["of an unknown field"] = '[{"x":1}]',
    ["that lead elsewhere"] = '[{"vertex":0,"data":{"jgf.graph.x":"2"}}]',
  } do
    it("is refused with foreign keys " .. name, function()
      local a, roll = weir.synthetic "cluster:1 node:1", dice(1)
      local b = with_foreign(a, roll)
      local d = assert(a:diff(b))
      local wrong, n = d:gsub('"foreign":%b[]', function() return '"foreign":' .. text end)
      if n == 0 then wrong = d:gsub('"jobs":', function() return '"foreign":' .. text .. ',"jobs":' end) end
      local made, why, code = a:apply(wrong)
      assert.is_nil(made)
      assert.equal("invalid", code)
      assert.truthy(why:find("weir_difference", 1, true), why)
    end)
  end

  it("keeps what is moved among the others in order", function()
    local a, b = weir.recipe { type = "cluster", id = 0, { type = "node", count = 6 } },
      weir.recipe { type = "cluster", id = 0, { type = "node", count = 6 } }
    b:unlink(b "/cluster0/node0")
    b:add(b:root(), { type = "node", id = 0 })
    local d = weir.json.decode(lead(a, b, "moved")).weir_difference
    assert.same({ 1, 1 }, { d.nodes[2].drop, #d.nodes[4].add })
  end)

  it("is refused by a graph in another state, and changes nothing", function()
    local a = weir.synthetic "cluster:1 node:2 core:2"
    local b = assert(a:dup())
    b("/cluster0/node1").tags.x = "1"
    local text = assert(a:diff(b))
    a("/cluster0/node0").tags.y = "2"
    local before = document(a)
    local made, why, code = a:apply(text, "day.diff")
    assert.is_nil(made)
    assert.equal("invalid", code)
    assert.equal("day.diff: the difference is for a different graph, or for another state of the graph", why)
    assert.equal(before, document(a))
  end)

  local base = weir.synthetic "cluster:1 node:2 core:2"
  base:add_edge(base "/cluster0/node0", base "/cluster0/node1", { subsystem = "net" })
  assert(weir.engine({ resources = base }):match "slot=1/core")
  local other = assert(base:dup())
  other("/cluster0/node1").tags.x = "1"
  local good = assert(base:diff(other))

  -- The difference with one place replaced.
  local function with(pattern, text)
    local made, n = good:gsub(pattern, function() return text end)
    assert.equal(1, n, pattern)
    return made
  end

  local FAULTS = {
    { "{}", "is not a difference" }, { "[]", "is an array, expected an object" }, { "", "JSON" },
    { '{"graph":{}}', 'is not a difference: expected "weir_difference"' },
    { with('"version":1,"from"', '"version":2,"from"'), "version: expected an integer from 1 to 1" },
    { with('"version":1,"from":', '"from":'), "must begin with version and from" },
    { with('"nodes":', '"nodez":'), "nodez: is unknown" },
    { with('"nodes":%b[]', '"nodes":[]'), "nodes: the steps end at 0 of 7" },
    { with('"nodes":%b[]', '"nodes":[{"keep":9}]'), "nodes: the steps go through more than 7 vertices" },
    { with('"nodes":%b[]', '"nodes":[{"keep":0}]'), "nodes: keep or drop: expected an integer from 1" },
    { with('"nodes":%b[]', '"nodes":[{"drop":7}]'), "edges: an edge stays, but a vertex at its end is removed" },
    { with('"nodes":%b[]', '"nodes":[{"keep":7},{"add":[{"depth":9,"metadata":{}}]}]'), "at depth 9 follows" },
    { with('"nodes":%b[]', '"nodes":[{"keep":7},{"add":[{"depth":1}]}]'), "a vertex needs depth and metadata" },
    { with('"nodes":%b[]', '"nodes":[{"keep":7},{"add":[{"depth":1,"metadata":{"type":""}}]}]'), "type: is missing or empty" },
    { with('"nodes":%b[]', '"nodes":[{"swap":7}]'), "none of keep, drop, set, add" },
    { with('"nodes":%b[]', '"nodes":[{"keep":6},{"set":[{"depth":2,"metadata":{}},{"depth":2,"metadata":{}}]}]'), "more than 7" },
    { with('"edges":%b[]', '"edges":[]'), "edges: the steps end at 0 of 1" },
    { with('"edges":%b[]', '"edges":[{"keep":1},{"add":[{"source":1}]}]'), "an edge needs source and target" },
    { with('"edges":%b[]', '"edges":[{"keep":1},{"add":[{"source":1,"target":99,"subsystem":"a"}]}]'), 'there is no vertex "99"' },
    { with('"edges":%b[]', '"edges":[{"drop":1}]'), "to: the steps lead to another graph" },
    { with('"jobs":%b{}', '"jobs":{"drop":["x"]}'), "jobs.drop: expected an integer" },
    { with('"jobs":%b{}', '"jobs":{"set":[{"id":3}]}'), "jobs.set: expected id and job" },
    { with('"jobs":%b{}', '"jobs":{"set":[{"id":3,"job":{"id":1,"start":0,"picks":[]}}]}'), "job 1 is there already" },
    { with('"jobs":%b{}', '"jobs":{"drop":[1]}'), "to: the steps lead to another graph" },
    { with('"nodes":%b[]', '"nodes":[{"keep":7},{"add":[{"depth":1,"metadata":{},"colour":1}]}]'), '"colour" is unknown, or given twice' },
    { with('"nodes":%b[]', '"nodes":[{"keep":7},{"add":[{"metadata":{},"metadata":{}}]}]'), '"metadata" is unknown, or given twice' },
    { with('"edges":%b[]', '"edges":[{"keep":2}]'), "edges: the steps go through more than 1 edges" },
    { with('"edges":%b[]', '"edges":[{"keep":1},{"add":[{"weight":1}]}]'), 'edges: "weight" is unknown' },
    { with('"edges":%b[]', '"edges":[{"keep":1},{"add":[{"source":"1"}]}]'), "edges: source or target: is a string, expected an integer" },
    { with('"edges":%b[]', '"edges":[{"set":[]}]'), 'edges: "set" is none of keep, drop, add' },
    { with('"jobs":%b{}', '"jobs":{"set":[{"id":1,"state":"x"}]}'), 'jobs.set: "state" is unknown, or given twice' },
    { with('"jobs":%b{}', '"jobs":{"set":[{"id":0}]}'), "jobs.set: id: expected an integer from 1" },
    { with('"jobs":%b{}', '"jobs":{"set":[{"id":1,}]}'), "JSON" },
    { with('"jobs":%b{}', '"jobs":{"add":[]}'), 'jobs: "add" is none of drop, set' },
    { with('"nodes":%b[]', '"nodes":[{"keep":2},{"drop":1},{"keep":4}]'), "jobs: job 1 stays, but a vertex of it is removed" },
    { with('"nodes":', '"in":"a","in":"b","nodes":'), "in: is given twice, or behind nodes" },
    { with('"nodes":', '"contains":1,"nodes":'), "contains: expected a text" },
    { with('"edges":', '"nodes":[],"edges":'), "nodes: is given twice, or before nodes" },
    { with('"nodes":', '"edges":[],"nodes":'), "edges: is given twice, or before nodes" },
    { with('"state":%b{}', '"state":{}'), "state: expected an object with fields" },
    { with('"to":"%x+"', '"to":""'), "is missing" },
    { good .. "x", "JSON" },
  }
  for i, fault in ipairs(FAULTS) do
    it(("(%d) is refused: %s"):format(i, fault[2]), function()
      local made, why = base:apply(fault[1], "d")
      assert.is_nil(made)
      assert.matches(fault[2], why, 1, true)
    end)
  end
end)

describe("a difference with flows", function()
  it("is refused where a vertex goes that a job has units of a flow for", function()
    local g <close> = weir.synthetic "cluster:1 node:2 core:1"
    local switch = assert(g:add(nil, { type = "switch", size = 4 }))
    assert(g:add_edge(switch, g "/cluster0/node1", { subsystem = "net", type = "link" }))
    assert(weir.engine({ resources = g }):match "node=1/slot=1/[core=1;net=2]")
    local text = assert(g:diff(g))
    local function nodes(steps) return (text:gsub('"nodes":%b[]', '"nodes":' .. steps, 1)) end
    local whole = assert(g:apply(nodes '[{"keep":6}]'))
    assert.is_true(document(whole) == document(g))
    -- node1 goes, and its core is moved below node0
    local made, why = g:apply(nodes('[{"keep":3},{"drop":1},{"keep":2}]'):gsub('"edges":%b[]', '"edges":[{"drop":1}]'))
    assert.is_nil(made)
    assert.matches("jobs: job 1 stays, but a vertex of it is removed", why, 1, true)
  end)
end)

describe("weir diff and weir convert --apply", function()
  it("make one machine of another", function()
    local dir = shell.directory()
    local a, b, d, c = shell.path(dir, "a.weir"), shell.path(dir, "b.weir"), dir .. "/d.diff", shell.path(dir, "c.weir")
    local g = weir.synthetic "cluster:1 node:3 core:2"
    assert(g:save(a))
    assert(weir.engine({ resources = g }):match "slot=1/node")
    g("/cluster0/node2").state = "down"
    g("/cluster0/node2").tags.why = "fan"
    g:unlink(g "/cluster0/node1/core1")
    assert(g:save(b))
    local r = shell.weir { "diff", a, b }
    assert.same({ 1, "" }, { r.status, r.err })
    shell.path(dir, "d.diff", r.out)
    assert.same({ "", "", 0 }, (function(x) return { x.out, x.err, x.status } end)(shell.weir { "convert", "--apply", d, a, c }))
    assert.equal(shell.slurp(b), shell.slurp(c))
    assert.same({ 0, "" }, { shell.weir({ "diff", "-s", b, c }).status, shell.weir({ "diff", "-s", b, c }).out })
    assert.equal([[
- containment:/cluster0/node1/core1
~ containment:/cluster0/node2  state: up -> down, tags.why: none -> fan
+ job 1
]], shell.weir({ "diff", "--summary", a, b }).out)
    assert.same({ 1, "" }, { shell.weir({ "diff", "-q", a, b }).status, shell.weir({ "diff", "-q", a, b }).out })
    r = shell.weir { "convert", "--apply", d, b, c }
    assert.equal(2, r.status)
    assert.matches("the difference is for a different graph", r.err, 1, true)
    assert.equal(shell.slurp(b), shell.slurp(c))
  end)
end)
