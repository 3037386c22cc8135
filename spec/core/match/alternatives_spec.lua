-- Requests with xor_slots: of the slots beside each other one alone serves.
local weir = require "weir"
local core = require "weir.core"

local function slot(count, ...)
  return { type = "xor_slot", label = "task", count = count, with = { ... } }
end
local function some(type, count, ...)
  return { type = type, count = count, with = select("#", ...) > 0 and { ... } or nil }
end
local function asking(...) return { resources = { ... } } end

local function machine() return assert(weir.synthetic "cluster:1 node:2 socket:2 [core:4 gpu:1 memory:1(size=8)]") end

local function shapes(request)
  local out = {}
  for i, one in ipairs(assert(assert(weir.request(request)):alternatives())) do out[i] = one:format "resources" end
  return out
end

-- "socket0: core 2, gpu 1" for the picks of an allocation, by parent.
local function show(a)
  local out = {}
  for _, p in ipairs(a:vertices()) do
    local at = p.vertex:parent().name .. ": " .. p.vertex.type
    out[at] = (out[at] or 0) + p.amount
  end
  local lines = {}
  for at, n in pairs(out) do lines[#lines + 1] = at .. " " .. n end
  table.sort(lines)
  return table.concat(lines, ", ")
end

describe("xor_slots", function()
  local GPU, WIDE, NONE = slot(1, some("core", 2), some("gpu", 1)), slot(1, some("core", 4)), slot(1, some("fpga", 1))

  -- {title, request, the alternatives as shapes}
  local READ = {
    { "one each", asking(GPU, WIDE), { "slot{task}/[core=2;gpu]", "slot{task}/core=4" } },
    { "behind what stands beside them", asking(slot(2, some("core", 1)), some("memory", 3), WIDE),
      { "[memory=3;slot=2{task}/core]", "[memory=3;slot{task}/core=4]" } },
    { "alike in all instances", asking(some("node", 2, GPU, WIDE)), { "node=2/slot{task}/[core=2;gpu]", "node=2/slot{task}/core=4" } },
    { "in several places, each with each", asking(some("node", 1, slot(1, some("core", 1)), slot(1, some("gpu", 1))),
      some("rack", 1, { type = "xor_slot", label = "b", count = 1, with = { some("core", 2) } },
        { type = "xor_slot", label = "b", count = 1, with = { some("core", 3) } })),
      { "[node/slot{task}/core;rack/slot{b}/core=2]", "[node/slot{task}/core;rack/slot{b}/core=3]",
        "[node/slot{task}/gpu;rack/slot{b}/core=2]", "[node/slot{task}/gpu;rack/slot{b}/core=3]" } },
    { "within each other", asking(slot(1, some("socket", 1, { type = "xor_slot", label = "a", count = 2, with = { some("core", 1) } },
      { type = "xor_slot", label = "b", count = 1, with = { some("gpu", 1) } })), slot(1, some("memory", 1))),
      { "slot{task}/socket/core=2", "slot{task}/socket/gpu", "slot{task}/memory" } },
    { "a single one", asking(some("node", 1, GPU)), { "node/slot{task}/[core=2;gpu]" } },
  }
  for _, case in ipairs(READ) do
    it("[J4] are read as alternatives: " .. case[1], function() assert.same(case[3], shapes(case[2])) end)
  end

  -- {title, request, options, picks of the jobs in turn}
  local MATCHED = {
    { "the first that fits, while it does", asking(some("node", 1, some("socket", 1, GPU, WIDE))), {},
      { "socket0: core 2, socket0: gpu 1", "socket1: core 2, socket1: gpu 1" } },
    { "the next where the first can never be", asking(NONE, WIDE), {}, { "socket0: core 4", "socket1: core 4" } },
    { "of several sizes", asking(slot(9, some("gpu", 1)), slot(3, some("gpu", 1)), slot(1, some("gpu", 1))), {},
      { "socket0: gpu 2, socket1: gpu 1", "socket1: gpu 1" } },
    { "in a preview", asking(NONE, GPU), { mode = "preview" }, { "socket0: core 2, socket0: gpu 1" } },
  }
  for _, case in ipairs(MATCHED) do
    it("[A14] get " .. case[1], function()
      local g = machine()
      local e = weir.engine { resources = g, policy = "low" }
      for _, picks in ipairs(case[4]) do assert.equal(picks, show(assert(e:match(case[2], case[3])))) end
      assert(g:check())
    end)
  end

  -- {title, shape of a job that runs for 100 s, shape of one for 50 s, request, code}
  local REFUSED = {
    { "busy where one would do later", "slot=4/gpu", asking(GPU, NONE), "busy" },
    { "infeasible where none ever does", "slot=1/core", asking(NONE, slot(5, some("gpu", 1))), "infeasible" },
  }
  for _, case in ipairs(REFUSED) do
    it("are " .. case[1], function()
      local e = weir.engine { resources = machine(), policy = "low" }
      assert(e:match(case[2]))
      assert.equal(case[4], select(3, e:match(case[3])))
      assert.equal(case[4] == "busy", e:match(case[3], { mode = "feasible" }) == true)
    end)
  end

  it("[A8] are reserved at the earliest start of any", function()
    local e = weir.engine { resources = machine(), policy = "low" }
    local function busy(shape, seconds) assert(e:match { resources = core.request(shape):resources(),
      attributes = { system = { duration = seconds } } }) end
    busy("slot=4/gpu", 100)
    busy("slot=14/core", 50)
    local a = assert(e:match(asking(GPU, WIDE), { mode = "reserve", duration = 10 }))
    assert.same({ 50, "reserved", "socket0: core 4" }, { a.at, a.state, show(a) })
    assert.equal(50, e:soonest(asking(slot(1, some("gpu", 1)), WIDE), 99, 0, 10))
  end)

  it("[A9] let a job grow by the first that fits", function()
    local e = weir.engine { resources = machine(), policy = "low" }
    local a = assert(e:match "slot=4/gpu")
    assert(e:grow(a.id, asking(GPU, WIDE)))
    assert.matches("socket0: core 4", show(e:job(a.id)))
  end)

  it("[K1] tell a policy of the alternative at hand", function()
    local seen = {}
    local e = weir.engine { resources = machine(), policy = { name = "watch", evaluate = function(v, request)
      seen[request.type .. request.index] = true
      return -v.id
    end } }
    assert(e:match(asking(some("node", 1, { type = "xor_slot", label = "few", count = 1, with = { some("gpu", 3) } }, -- numbers 0 to 2
      { type = "xor_slot", label = "many", count = 1, with = { some("core", 3) } }))))
    assert.same({ true, nil }, { seen.core5, seen.core2 })
  end)

  it("write and read back as they are, with the duration set", function()
    local system = { duration = 7 }
    local r = assert(weir.request { resources = { some("node", "1-2", GPU, WIDE) }, attributes = { system = system } })
    local again = assert(weir.request(r:format "yaml"))
    assert.same({ r:format "json", 7, 7 }, { again:format "json", again:duration(), again:alternatives()[2]:duration() })
    assert.matches('"type":"xor_slot"', r:format "json")
  end)

  for _, shape in ipairs { "[xor_slot{a}/core=9;xor_slot=5{a}/node]", "[memory=3;node=2{x}/[xor_slot{a}/[core=2;gpu];xor_slot{b}/core=4]]",
    "[or_slot{a}/gpu;or_slot=4{a}/core=2]", "[xor_slot{a}/slot=2/core;xor_slot{a}/gpu]" } do
    it("are said by a shape: " .. shape, function() assert.equal(shape, assert(weir.request(shape)):format "shape") end)
  end

  -- {title, request, message, code}
  local WRONG = {
    { "without a label", asking({ type = "xor_slot", count = 1, with = { some("core", 1) } }), "an xor_slot must have a label", "invalid" },
    { "without contents", asking({ type = "xor_slot", label = "a", count = 1 }), "must have resources in it", "invalid" },
    { "with a mistake in one", asking(GPU, slot(1, some("core", -1))), "resources", "invalid" },
    { "of too many alternatives", asking(some("a", 1, GPU, WIDE), some("b", 1, GPU, WIDE), some("c", 1, GPU, WIDE),
      some("d", 1, GPU, WIDE), some("e", 1, GPU, WIDE), some("f", 1, GPU, WIDE), some("g", 1, GPU, WIDE), some("h", 1, GPU, WIDE),
      some("i", 1, GPU, WIDE)), "expand to more than 256 alternatives", "limit" },
  }
  local large = {}
  for i = 1, 3000 do large[i] = some("t" .. i, 1) end
  local many = {}
  for i = 1, 6 do many[i] = slot(1, table.unpack(large)) end
  WRONG[#WRONG + 1] = { "with too many resources in all", asking(table.unpack(many)), "or 16384 resources in these", "limit" }
  for _, case in ipairs(WRONG) do
    it("are refused " .. case[1], function()
      case[2].version, case[2].attributes = 9999, core.object and core.object {} or { system = {} }
      case[2].tasks = { { command = { "x" }, slot = "a", count = { per_slot = 1 } } }
      local _, why, code = weir.request(case[2])
      assert.matches(case[3], why, 1, true)
      assert.equal(case[4], code)
    end)
  end

  it("read back where version 1 has dropped a gpu of count 0", function()
    local given = asking(some("node", 1, slot(1, some("core", 1), some("gpu", 0)), slot(1, some("socket", 1, some("gpu", 0)))))
    given.version, given.attributes = 1, { system = { duration = 1 } }
    given.tasks = { { command = { "x" }, slot = "task", count = { per_slot = 1 } } }
    local r = assert(weir.request(given))
    assert.equal(r:format "json", assert(weir.request(r:format "json")):format "json")
    assert.same({ "node/slot{task}/core", "node/slot{task}/socket" }, shapes(r:format "json"))
  end)

  it("are refused in a shape without a label, with the place", function()
    local _, why = weir.request "[xor_slot{a}/core=9;xor_slot/node]"
    assert.matches(":1:21: an xor_slot must have a label", why, 1, true)
  end)

  it("[J1] are told with their place in the text", function()
    local _, why = weir.request "resources:\n- type: xor_slot\n  count: 1\n  label: a\n  with:\n  - {type: core, count: no}\n"
    assert.matches("^<request>:6:", why)
  end)

  it("are explained by the alternative that comes nearest", function()
    local e = weir.engine { resources = machine(), policy = "low" }
    local report = e:explain(asking(NONE, slot(1, some("gpu", 9)), slot(5, some("gpu", 1)), GPU))
    assert.same({ true, 4, 4 }, { report.fits, report.alternative.number, report.alternative.of })
    assert(e:match "slot=4/gpu")
    report = e:explain(asking(NONE, GPU))
    assert.same({ "busy", 2, "slot{task}/[core=2;gpu]" }, { report.verdict, report.alternative.number, report.alternative.text })
    assert.matches("alternative 2 of 2", require "weir.explain".text(report))
    assert.same({ "infeasible", 1 }, { e:explain(asking(NONE, NONE)).verdict, e:explain(asking(NONE, NONE)).alternative.number })
  end)
end)
