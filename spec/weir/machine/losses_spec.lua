-- What a format cannot hold is told, by g:losses() and on the standard error of weir convert.
local shell = require "spec.support.shell"
local weir = require "weir"

after_each(shell.clean)

local function machine()
  local g = weir.synthetic "cluster:1 node:2 core:2"
  local pdu = g:add(nil, { type = "pdu", size = 5 })
  g:add_edge(pdu, g "/cluster0/node0", { subsystem = "power" })
  local e = weir.engine { resources = g }
  assert(e:match("slot=1/node", { duration = 10 }))
  assert(e:match("slot=1/core", { duration = 10 }))
  assert(e:match("slot=2/node", { mode = "reserve", duration = 10 }))
  assert(e:advance(5))
  g("/cluster0/node1").state = "down"
  g("/cluster0/node1").tags.why = "fan"
  g("/cluster0/node0").data.n = 1
  g("/cluster0/node1").data.n = 1
  return g
end

local JOBS = "2 jobs, 1 reservation, the clock"
local LOSSES = {
  document = "", sqlite = "", jgf = JOBS, rv1 = JOBS,
  csv = JOBS .. ", the subsystem power",
  recipe = JOBS,
  rlite = JOBS .. ", the subsystem power, 1 state, the tags of 1 vertex, the extended data of 2 vertices",
}

describe("what a format cannot hold", function()
  for format, text in pairs(LOSSES) do
    it("[A161] is listed for " .. format, function()
      assert.equal(text, table.concat(assert(machine():losses(format)), ", "))
      assert.same({}, weir.synthetic("node:2 core:2"):losses(format))
    end)
  end

  it("[RFC20:168b][R4] names the properties that an R cannot have, and what it says less of", function()
    local g = weir.synthetic "cluster:1 node:2 core:2"
    local p = g("/cluster0/node0").properties
    p["a|b"], p["speed"], p.fast = "x", "3", true
    g("/cluster0/node0/core1").properties.slow = true
    assert.same({ "the property a|b outside of the graph, a name that R cannot have" }, g:losses "rv1")
    assert.same({ "the property a|b, a name that R cannot have", "the values of the properties of 1 node",
      "the properties of 1 vertex that are no nodes" }, g:losses "rv1_nosched")
    assert.same({}, g:losses "jgf")
  end)

  it("is not listed for pictures, which nobody loads", function()
    local list, why, code = machine():losses "svg"
    assert.same({ nil, "invalid" }, { list, code })
    assert.matches('"svg" is not a format that can be loaded again: expected one of csv, document,', why, 1, true)
    assert.has_error(function() machine():losses() end)
  end)

  it("[A161] is told by weir convert, which loses nothing in a document", function()
    local dir = shell.directory()
    local from = shell.path(dir, "m.weir")
    assert(machine():save(from))
    local r = shell.weir { "convert", from, shell.path(dir, "m.json") }
    assert.same({ 0, "" }, { r.status, r.out })
    assert.matches("^weir: .*m.json: left out, as a jgf cannot say it: " .. JOBS .. "\n$", r.err)
    local again = shell.path(dir, "n.weir")
    assert.equal("", shell.weir({ "convert", from, again }).err)
    assert.equal(shell.slurp(from), shell.slurp(again))
  end)
end)
