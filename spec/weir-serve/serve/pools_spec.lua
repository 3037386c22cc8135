-- Methods of the service on pools and edges: set, data, edges, copy, save, merge, unlink.
local state = require "spec.support.state"
local weir = require "weir"

describe("the service, on pools,", function()
  local w, admin
  before_each(function()
    w = state.new("cluster:1 rack:2 node:2 core:2", {})
    admin = w:client "administrator"
  end)
  after_each(function()
    assert(w.service.graph:check())
    w:close()
  end)

  local function ask(method, p) return assert(w:ask(admin, method, p)) end

  it("[RFC4b:175][W8] sets properties and data of a rack, and removes them", function()
    ask("set", { uri = "/cluster0/rack0", properties = { row = "3", lent = true } })
    ask("data", { uri = "/cluster0/rack0", set = { serial = { "a1", 7 } } })
    local shown = ask("show", { uri = "/cluster0/rack0", as = "pool" })
    assert.same({ "3", { "a1", 7 } }, { shown.properties.row, shown.data.serial })
    ask("set", { uri = "/cluster0/rack0", properties = { row = weir.null } })
    ask("data", { uri = "/cluster0/rack0", set = { serial = weir.null } })
    shown = ask("show", { uri = "/cluster0/rack0", as = "pool" })
    assert.same({}, { shown.properties.row, shown.data and shown.data.serial })
  end)

  it("[P9] [P10] [A5] sets size, unit and exclusive, all or none", function()
    local uri = "/cluster0/rack0/node0/core0"
    ask("set", { uri = uri, size = 3, unit = "x", exclusive = true })
    local shown = ask("show", { uri = uri, as = "pool" })
    assert.same({ 3, "x", true }, { shown.size, shown.unit, shown.exclusive })
    ask("match", { request = "slot=1/core" })
    local result, why = w:ask(admin, "set", { uri = uri, size = 1, exclusive = false })
    assert.is_nil(result)
    assert.matches("as a whole", why)
    assert.equal(3, ask("show", { uri = uri, as = "pool" }).size)
  end)

  it("[RFC4b:33] splits a pool, and joins the parts", function()
    local uri = "/cluster0/rack0/node0/core0"
    ask("set", { uri = uri, size = 8 })
    local part = ask("split", { uri = uri, units = 3 })
    assert.equal(3, ask("show", { uri = part.path, as = "pool" }).size)
    assert.equal(5, ask("show", { uri = uri, as = "pool" }).size)
    ask("join", { uri = uri, part = part.path })
    assert.equal(8, ask("show", { uri = uri, as = "pool" }).size)
  end)

  it("[RFC4b:33][G10] refines a pool into equal parts", function()
    local uri = "/cluster0/rack0/node0/core1"
    ask("set", { uri = uri, size = 8 })
    local list = ask("refine", { uri = uri, parts = 4 }).pools
    assert.equal(4, #list)
    assert.equal(uri, list[1].path)
    for _, part in ipairs(list) do assert.equal(2, ask("show", { uri = part.path, as = "pool" }).size) end
    local result, why = w:ask(admin, "refine", { uri = uri, parts = 3 })
    assert.is_nil(result)
    assert.matches("parts", why)
  end)

  it("[G4] adds edges, lists and removes them", function()
    local edge = { source = "/cluster0/rack0", target = "/cluster0/rack0/node0", subsystem = "cooling", type = "cools",
      back = "is cooled by" }
    ask("edge.add", edge)
    assert.same({ edge }, ask("edges", { uri = edge.target }).edges)
    assert.same({ edge }, ask("edges", { subsystem = "cooling" }).edges)
    ask("edge.remove", { source = edge.source, target = edge.target, subsystem = "cooling" })
    assert.same({}, ask("edges", {}).edges)
  end)

  it("[M2] copies what is available, without what belongs to the service", function()
    ask("match", { request = "slot=1/node" })
    ask("data", { uri = "/cluster0", set = { mine = 1 } })
    local g <close> = assert(weir.parse(ask("copy", { uri = "/cluster0/rack0", format = "jgf" }).text))
    assert.equal(2, g:aggregate().core.total)
    for key in pairs(g:root().data) do assert.equal("mine", key) end
  end)

  it("[M1] saves the machine as a document with its jobs", function()
    ask("match", { request = "slot=1/node" })
    local g <close> = assert(weir.parse(ask("save", { format = "document" }).text))
    assert.equal(1, #weir.engine { resources = g }:jobs())
  end)

  it("[M4] merges pools that are no targets, [M5] and takes one away", function()
    assert.equal(1, ask("merge", { machine = "cluster:1 burst:1(size=5,unit=GB)", format = "synthetic" }).added)
    assert.equal(5, ask("show", { as = "totals" }).totals.burst.free)
    assert(ask("match", { request = "slot=1/burst=3" }))
    assert.equal(1, ask("unlink", { uri = "/cluster0/rack1/node3/core1" }).removed)
    assert.equal(7, ask("show", { as = "totals" }).totals.core.total)
  end)

  for _, case in ipairs {
    { "unlink", { uri = "/cluster0/rack0" }, "resource.remove is for targets" },
    { "set", { uri = "/cluster0/rack0/node0", properties = { a = true } }, "resource.property is for targets" },
    { "merge", { machine = "node:1", format = "synthetic" }, "targets are added with resource.add" },
    { "data", { uri = "/cluster0", set = { ["weir.service.jobs.1"] = "x" } }, "belongs to the service" },
    { "edge.add", { source = "/cluster0", target = "/cluster0/rack0", subsystem = "containment" }, "containment is changed with" },
    { "data", { uri = "/cluster0", set = { a = ("x"):rep(70000) } }, "at most 65535" },
  } do
    it(("refuses %s: %s"):format(case[1], case[3]), function()
      local result, why = w:ask(admin, case[1], case[2])
      assert.is_nil(result)
      assert.matches(case[3], why, 1, true)
    end)
  end
end)
