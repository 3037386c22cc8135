-- Pools that leave containment while another subsystem holds them are detached: never matched, counted or found, and
-- brought back as the same vertex.
local weir = require "weir"
local targets = require "weir.acquire.targets"
local files = require "spec.support.shell"

local MACHINE = "cluster:1 rack:2 node:2 core:2"

-- A machine with four nodes, ranks 0 to 3, under a power unit; `warm`: indices and tables are made before the change.
local function machine(warm)
  local g = assert(weir.synthetic(MACHINE))
  local pdu = assert(g:add(nil, { type = "pdu", id = 0, size = 10 }))
  for _, node in ipairs(g:find "type=node") do
    if not node.rank then node.rank = node.id end
    assert(g:add_edge(pdu, node, { subsystem = "power", type = "supplies" }))
  end
  if warm then
    local e = weir.engine { resources = g, policy = "low" }
    for _, request in ipairs { "slot=4/node", "slot=1/node{-x}/core=1", "slot=1/rack" } do
      local a = assert(e:match(request, { duration = 5 }))
      assert(e:match(request, { mode = "reserve", duration = 5 }))
      assert(e:match(request, { mode = "feasible" }))
      for _, job in ipairs(e:jobs()) do assert(e:release(job.id)) end
      assert(a)
    end
    assert(g:check())
  end
  return g
end

local function node0(g) return g "/cluster0/rack0/node0" end

-- Ways in which node0 leaves; each returns the graph to ask.
local function unlinked(g) assert(g:unlink(node0(g))) return g end

local LEAVES = {
  unlink = unlinked,
  ["unlink with a job on it"] = function(g)
    assert(node0(g):allocate { job = 1000 })
    assert(g:unlink(node0(g), { force = true }))
    return g
  end,
  ["a target that is taken"] = function(g) targets.of(g):unlink(0) return g end,
  ["its rack goes and comes again without it"] = function(g)
    local other = assert(weir.synthetic(MACHINE))
    for _, v in ipairs(other:find "type=node") do v.rank = v.id end
    assert(other:unlink(node0(other)))
    assert(g:unlink(g "/cluster0/rack0"))
    assert(g "power:/pdu0/node1".detached)
    assert(g:merge(other))
    return g
  end,
  ["a duplicate"] = function(g) return unlinked(g):dup() end,
  ["a JSON graph, read again"] = function(g) return assert(weir.parse((unlinked(g):format "jgf"))) end,
  ["an R, read again"] = function(g) return assert(weir.parse((unlinked(g):format "rv1"))) end,
  ["a database, read again"] = function(g, dir)
    assert(unlinked(g):save(files.path(dir, "g.sqlite")))
    return assert(weir.load(files.path(dir, "g.sqlite")))
  end,
  ["a database, saved by changes"] = function(g, dir)
    assert(g:save(files.path(dir, "g.sqlite")))
    assert(unlinked(g):save(files.path(dir, "g.sqlite"), { changed = true }))
    return assert(weir.load(files.path(dir, "g.sqlite")))
  end,
  ["a merge into an empty graph"] = function(g)
    local other = weir.new()
    assert(other:merge(unlinked(g)))
    return other
  end,
}

local function ids(list)
  local found = {}
  for _, v in ipairs(list) do found[#found + 1] = v.name end
  table.sort(found)
  return table.concat(found, " ")
end

local function picked(a)
  local list = {}
  for _, pick in ipairs(a:vertices()) do list[#list + 1] = pick.vertex end
  return ids(list)
end

-- Ways to ask; each raises where node0 is seen.
local ASKS = {
  ["a match"] = function(g)
    local e = weir.engine { resources = g, policy = "low" }
    local a = assert(e:match "slot=3/node")
    assert.equal("node1 node2 node3", picked(a))
    local _, _, code = e:match("slot=4/node", { mode = "reserve" })
    assert.equal("infeasible", code)
  end,
  ["a policy in Lua"] = function(g)
    local seen = {}
    local e = weir.engine { resources = g, policy = { evaluate = function(v) seen[v.name] = true return v.id end } }
    assert(e:match "slot=1/node")
    assert.is_nil(seen.node0)
  end,
  ["a choice in groups"] = function(g)
    local e = weir.engine { resources = g, policy = { order = { "id" }, select = { "each", group = "rack" } } }
    assert.equal("node1", picked(assert(e:match "slot=1/node")))
  end,
  ["feasible"] = function(g)
    local e = weir.engine { resources = g }
    assert(e:match("slot=3/node", { mode = "feasible" }))
    assert.is_nil((e:match("slot=4/node", { mode = "feasible" })))
    assert.is_nil((e:match({ version = 9999, resources = { { type = "slot", count = 1, label = "a",
      with = { { type = "node", count = 1 } } } }, tasks = { { command = { "x" }, slot = "a", count = { per_slot = 1 } } },
      attributes = { system = { duration = 1, constraints = { ranks = { "0" } } } } }, { mode = "feasible" })))
  end,
  ["find and walk"] = function(g)
    assert.equal("node1 node2 node3", ids(g:find "type=node"))
    assert.equal(0, #g:find "rank=0")
    local n = 0
    for v in g:walk { type = "node" } do n = n + (v.name == "node0" and 1 or 0) end
    assert.equal(0, n)
    for v in g:walk { order = "breadth" } do assert.not_equal("node0", v.name) end
  end,
  aggregates = function(g)
    assert.same({ total = 3, free = 3, idle = 3 }, g:aggregate().node)
    assert.equal(6, g:aggregate().core.total)
  end,
  ["a path"] = function(g)
    assert.is_nil((g "/node0"))
    assert.is_nil((g "/cluster0/rack0/node0"))
    for _, root in ipairs(g:roots()) do assert.not_equal("node0", root.name) end
  end,
  ["an R"] = function(g)
    local R = assert(weir.rset(assert(g:format "rv1")))
    assert.equal("1-3", tostring(R:ranks()))
    assert.equal("1-3", tostring(assert(weir.rset(assert(g:format "rv1_nosched"))):ranks()))
  end,
  ["pictures and tables"] = function(g)
    for _, format in ipairs { "csv", "dot", "svg" } do assert.is_nil(g:format(format):find("node0", 1, true)) end
  end,
  ["an explanation"] = function(g)
    local e = weir.engine { resources = g }
    local x = assert(e:explain "slot=4/node")
    assert.equal(3, x.shortage.have)
    assert.equal(3, x.shortage.total)
  end,
  ["units of its own"] = function(g)
    local v = g "power:/pdu0/node0"
    if not v then return end -- an R has no power
    assert.is_true(v.detached)
    assert.equal(0, v.free)
    assert.equal(0, v:available())
    local ok, why = v:allocate { job = 77 }
    assert.is_nil(ok)
    assert.truthy(why:find "containment", why)
  end,
}

describe("a pool taken out of containment that another subsystem holds", function()
  local dir
  before_each(function() dir = files.directory() end)
  after_each(function() files.clean() end)

  for leave, take in pairs(LEAVES) do
    it("[M5][G3] is detached: " .. leave, function()
      for _, warm in ipairs { false, true } do
        local asked = take(machine(warm), dir)
        assert(asked:check())
        for ask, question in pairs(ASKS) do
          local g = asked:dup()
          local ok, why = pcall(question, g)
          assert(ok, ask .. ": " .. tostring(why))
          assert(g:check())
        end
      end
    end)
  end

  it("[M4] comes back as one vertex by attach, with all that it had", function()
    local g = machine(true)
    local v = node0(g)
    v.tags.owner = "a"
    unlinked(g)
    assert.equal("unknown", select(3, g:unlink(v)))
    assert.is_nil((g:add(v, { type = "core", id = 0 })))
    assert(g:attach(v, g "/cluster0/rack0"))
    assert.equal("exists", select(3, g:attach(v, g "/cluster0/rack0")))
    assert(g:check())
    assert.equal("a", node0(g).tags.owner)
    assert.equal(v, node0(g))
    assert.equal(0, v.rank)
    assert.equal(v, g "power:/pdu0/node0")
    assert.equal(0, v:nchildren())
    assert(g:add(v, { type = "core", id = 0 }, 2))
    assert(weir.engine { resources = g }:match "slot=4/node/core=2")
    assert(g:check())
  end)

  it("[M4] comes back as one vertex by a merge, children included", function()
    local g = machine(true)
    local other = g:dup()
    local v = node0(g)
    unlinked(g)
    assert(g:merge(other))
    assert(g:check())
    assert.equal(v, node0(g))
    assert.equal(2, v:nchildren())
    assert.equal(1, #g:find "rank=0 and type=node")
    assert(g:compare(other) or true)
    assert(weir.engine { resources = g }:match "slot=4/node")
  end)

  it("[M4] is detached again where the merge fails", function()
    local g = machine(false)
    local other = g:dup()
    other "/cluster0/rack1/node3".properties.year = "1"
    g "/cluster0/rack1/node3".properties.year = "2"
    unlinked(g)
    local before = g:format "jgf"
    assert.is_nil((g:merge(other)))
    assert.equal(before, g:format "jgf")
    assert(g:check())
  end)

  it("[M5] is reclaimed with its last edge", function()
    local g = machine(false)
    local v, n = node0(g), g:count()
    unlinked(g)
    assert.equal(n - 2, g:count())
    assert(g:unlink(v, "power"))
    assert.equal(n - 3, g:count())
    assert(g:check())
    assert.has_error(function() return v.name end)
  end)

  it("[M1] is refused by readers below a parent", function()
    local document = weir.json.decode((unlinked(machine(false)):format "jgf"))
    for _, node in ipairs(document.graph.nodes) do node.metadata.detached = true end
    local _, why = weir.parse(weir.json.encode(document))
    assert.truthy(why:find "detached", why)
  end)
end)
