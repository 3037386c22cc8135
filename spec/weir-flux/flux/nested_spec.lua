-- The ranks and ids of a graph in the R of an instance inside another one.
local flux = require "spec.support.flux"
local nested = require "weir.flux.nested"
local weir = require "weir"

local submit, settle = flux.submit, flux.settle

-- The R of an instance with the nodes `names`, whose graph has the ranks that the outer instance gave them.
local function R_of(names, outer, more)
  local nodes = { { id = "0", metadata = { type = "cluster", basename = "cluster", id = 0, paths = { containment = "/cluster0" } } } }
  local edges = {}
  for i, name in ipairs(names) do
    local path = "/cluster0/" .. name
    local rank, n = outer[i], tostring(2 * i)
    nodes[#nodes + 1] = { id = n, metadata = { type = "node", basename = name, name = name, id = i, rank = rank,
      paths = { containment = path } } }
    nodes[#nodes + 1] = { id = n .. "1", metadata = { type = "core", basename = "core", name = "core5", id = 5, rank = rank,
      paths = { containment = path .. "/core5" } } }
    edges[#edges + 1] = { source = "0", target = n }
    edges[#edges + 1] = { source = n, target = n .. "1" }
  end
  local R_lite = { { rank = ("0-%d"):format(#names - 1), children = { core = "5" } } }
  return { version = 1, scheduling = { graph = { nodes = nodes, edges = edges } },
    execution = { R_lite = R_lite, nodelist = more or names, starttime = 0, expiration = 0 } }
end

local function ranks_in(R)
  local list = {}
  for _, node in ipairs(R.scheduling.graph.nodes) do
    if node.metadata.type == "node" then list[#list + 1] = node.metadata.rank end
  end
  return list
end

describe("the graph in an R", function()
  for what, row in pairs {
    ["by the names of hosts"] = { { "b7", "b6" }, { 7, 6 }, { 0, 1 } },
    ["by the names of hosts, in another order"] = { { "b6", "b7" }, { 7, 6 }, { 1, 0 }, { "b7", "b6" } },
    ["in order where a host is there twice"] = { { "b", "b" }, { 3, 2 }, { 1, 0 } },
    ["in order where hosts have other names"] = { { "x", "y" }, { 2, 3 }, { 0, 1 }, { "b[2-3]" } },
  } do
    it("gets the ranks of R_lite, " .. what, function()
      local R = R_of(row[1], row[2], row[4])
      assert.is_true(nested.follow(R))
      assert.same(row[3], ranks_in(R))
    end)
  end

  it("keeps ranks that are those of R_lite, or of which there are more", function()
    assert.is_false(nested.follow(R_of({ "a", "b" }, { 0, 1 })))
    assert.is_false(nested.follow(R_of({ "a", "b" }, { 5, 5 })))
  end)

  for what, row in pairs {
    ["those of their hosts where it has none"] = { { "a", "b" }, { -1, -1 }, { 1, 0 }, { "b", "a" } },
    ["none where a host has another name"] = { { "a", "b" }, { -1, -1 }, { -1, -1 }, { "b", "c" } },
    ["none where some are there"] = { { "a", "b" }, { 4, -1 }, { 4, -1 } },
  } do
    it("gets ranks of R_lite: " .. what, function()
      local R = R_of(row[1], row[2], row[4])
      nested.give_ranks(R)
      assert.same(row[3], ranks_in(R))
      assert.equal(row[3][1], R.scheduling.graph.nodes[3].metadata.rank)
    end)
  end

  for what, R in pairs { nothing = 7, ["no execution"] = { scheduling = { graph = { nodes = {} } } }, ["odd nodes"] =
    { execution = {}, scheduling = { graph = { nodes = { 7, { metadata = 8 }, { metadata = { type = "node" } } } } } },
    ["a text"] = { execution = {}, scheduling = "x" } } do
    it("may be " .. what, function() assert.is_false(nested.follow(R)) end)
  end

  for what, row in pairs {
    ["ids of R_lite"] = { "0", 0, "/cluster0/a/core0" }, ["ids that they have"] = { "5", 5, "/cluster0/a/core5" },
    ["their ids where R_lite has another number"] = { "0-1", 5, "/cluster0/a/core5" },
  } do
    it("gets " .. what, function()
      local R = R_of({ "a", "b" }, { 0, 1 })
      R.execution.R_lite[1].children.core = row[1]
      nested.follow(R)
      local data = R.scheduling.graph.nodes[3].metadata
      assert.same({ row[2], "core" .. row[2], row[3] }, { data.id, data.name, data.paths.containment })
    end)
  end

  it("gets the paths of what is below a renamed vertex", function()
    local R = R_of({ "a" }, { 0 })
    R.execution.R_lite[1].children.core = "2"
    table.insert(R.scheduling.graph.nodes, { id = "99", metadata = { type = "pu", id = 0, rank = 0, name = "pu0",
      paths = { containment = "/cluster0/a/core5/pu0" } } })
    assert.is_true(nested.follow(R))
    assert.equal("/cluster0/a/core2/pu0", R.scheduling.graph.nodes[4].metadata.paths.containment)
  end)

  for what, change in pairs {
    ["is no graph"] = function(R) R.scheduling = 42 end, ["is a text"] = function(R) R.scheduling = "nonsense" end,
    ["has a graph that is none"] = function(R) R.scheduling.graph.edges = { { source = "0", target = "77" } } end,
    ["lacks cores of a node"] = function(R)
      table.remove(R.scheduling.graph.nodes, 3)
      table.remove(R.scheduling.graph.edges, 2)
    end,
  } do
    it("is left out, and said so, where the key scheduling " .. what, function()
      local s = assert(flux.open())
      local R = R_of({ "a", "b" }, { 0, 1 })
      change(R)
      assert(s.service:acquire(weir.json.encode { resources = R, up = "0-1" }))
      assert.matches("the key scheduling in the R of the instance is not used", s.logged[1], 1, true)
      submit(s, 1, 2)
      settle(s)
      assert.same({ { rank = "0-1", children = { core = "5" } } }, weir.json.decode(flux.R_of(s, 1)).execution.R_lite)
    end)
  end

  -- R of two whole nodes of a rack as Fluxion's rv1_shorthand has it: nothing below the nodes.
  local function shorthand()
    local R = R_of({ "a", "b" }, { 0, 1 })
    local graph = R.scheduling.graph
    R.scheduling.writer = "fluxion:jgf_shorthand"
    graph.nodes, graph.edges = { graph.nodes[1], graph.nodes[2], graph.nodes[4] }, { graph.edges[1], graph.edges[3] }
    table.insert(graph.nodes, { id = "9", metadata = { type = "ssd", basename = "ssd", name = "ssd0", id = 0, size = 100,
      paths = { containment = "/cluster0/ssd0" } } })
    table.insert(graph.edges, { source = "0", target = "9" })
    return R
  end

  it("of an instance in shorthand is completed by R_lite", function()
    local s = assert(flux.open())
    assert(s.service:acquire(weir.json.encode { resources = shorthand(), up = "0-1" }))
    assert.same({}, s.logged)
    assert.equal(100, s.service.scheduler.graph:vertex("/cluster0/ssd0").size)
    submit(s, 1, 2)
    settle(s)
    assert.same({ { rank = "0-1", children = { core = "5" } } }, weir.json.decode(flux.R_of(s, 1)).execution.R_lite)
  end)

  it("of a job in shorthand is written and read again, with what R_lite has no word for", function()
    local s = assert(flux.open { "R-format=rv1_shorthand" })
    local message = weir.json.encode { resources = shorthand(), up = "0-1" }
    assert(s.service:acquire(message))
    local spec = flux.spec_of(1, {})
    spec.resources = { { type = "slot", count = 1, label = "task", with = { { type = "node", count = 1 }, { type = "ssd", count = 30 } } } }
    assert(s.service:alloc(weir.json.encode { id = 1, priority = 16, userid = 1, t_submit = flux.T0, jobspec = spec }))
    settle(s)
    local R = flux.R_of(s, 1)
    local scheduling = weir.json.decode(R).scheduling
    assert.equal(nested.SHORTHAND, scheduling.writer)
    assert.is_nil(weir.json.encode(scheduling):find("core", 1, true))
    local again = assert(flux.open { "R-format=rv1_shorthand" })
    assert(again.service:acquire(message))
    assert(again.service:hello(weir.json.encode { id = 1, priority = 16, userid = 1, t_submit = flux.T0 }, R))
    local graph = again.service.scheduler.graph
    assert.same({ 70, 0 }, { graph:vertex("/cluster0/ssd0").free, graph:vertex("/cluster0/a").free })
  end)

  for what, scheduling in pairs { nonsense = 42, shorthand = { writer = "fluxion:jgf_shorthand", graph = { nodes = {}, edges = {} } } } do
    it("of a running job is left out where it is " .. what, function()
      local s = flux.started()
      local R = flux.machine(2, 4).resources
      R.scheduling = scheduling
      assert(s.service:hello(weir.json.encode { id = 1, priority = 16, userid = 1, t_submit = flux.T0 }, weir.json.encode(R)))
      submit(s, 2, 2)
      settle(s)
      assert.equal("2-3", flux.ranks_of(s, 2))
    end)
  end

  it("is what an inner instance gives out, under its own ranks and ids", function()
    local s = assert(flux.open())
    local R = R_of({ "b2", "b3" }, { 2, 3 })
    R.execution.R_lite[1].children.core = "0"
    assert(s.service:acquire(weir.json.encode { resources = R, up = "0-1" }))
    submit(s, 1, 2)
    settle(s)
    local execution = weir.json.decode(flux.R_of(s, 1)).execution
    assert.same({ { rank = "0-1", children = { core = "0" } } }, execution.R_lite)
  end)
end)
