-- Resource sets (RFC 20, R version 1) as values: reading, keeping and writing; the algebra; parts that add up;
-- engines made from an R alone.

local core = require "weir.core"
local missing = require "spec.support.missing"
local shell = require "spec.support.shell"
local tables = require "spec.support.tables"
local weir = require "weir"

local function entry(ranks, cores, gpus) return { rank = ranks, children = { core = cores, gpu = gpus } } end

-- An R as a table; `execution` has its further keys, `document` the keys of the document.
local function R(entries, execution, document)
  local all, doc = { R_lite = weir.array(entries) }, { version = 1 }
  for key, value in pairs(execution or {}) do all[key] = value end
  doc.execution = all
  for key, value in pairs(document or {}) do doc[key] = value end
  return doc
end

local function set(...) return assert(weir.R(R(...))) end

-- 4 nodes of 4 cores and 2 gpus; two have a property, one has gpus of a kind.
local FLEET = R({ entry("0-3", "0-3", "0-1") }, { nodelist = { "fleet[10-13]" }, nslots = 8, starttime = 1000.25, expiration = 2000,
  properties = { big = "0-1", ["mi50@gpu"] = "3" } })

local function fleet() return assert(weir.R(FLEET)) end

-- Equal ranks in two racks, with a graph.
local function with_graph()
  local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:2 socket:2 core:2 gpu:1 memory:1(size=8,unit=GB)")
  g:vertex("/cluster0/rack1/node2").properties.big = ""
  return assert(g:rset { scheduling = true }), g:format "jgf"
end

local function list(ids) return ids and tostring(ids) end

describe("an R", function()
  -- {title, R, pattern of the error, its code unless "invalid"}
  local REFUSED = {
    { "[R1] without a version", { execution = { R_lite = weir.array {} } }, "^version: expected 1$" },
    { "[R1] of another version", { version = 2, execution = { R_lite = weir.array {} } }, "^version: expected 1$" },
    { "[R1] of a version that is no integer", { version = "1", execution = { R_lite = weir.array {} } }, "^version: expected 1$" },
    { "[R1] without execution and scheduling", { version = 1, attributes = {} }, "^neither execution nor scheduling" },
    { "[R1] whose execution is no object", { version = 1, execution = "x" }, "^execution: expected an object" },
    { "[R2] without R_lite", { version = 1, execution = { nodelist = { "a" } } }, "^execution%.R_lite: expected an array" },
    { "[R2] with an entry that is none", R { "0-3" }, "^execution%.R_lite%[0%]: expected an object with rank and children" },
    { "[R2] with a rank that is a number", R { { rank = 0, children = { core = "0" } } },
      "^execution%.R_lite%[0%]%.rank: expected a string" },
    { "[R2] with no rank in an entry", R { entry("", "0") }, "^execution%.R_lite%[0%]%.rank: is empty" },
    { "[R2] with a rank below 0", R { entry("0", "0"), entry("-1", "0") }, '^execution%.R_lite%[1%]%.rank: "%-1": ', "parse" },
    { "[R2] with a rank in two entries", R { entry("0-3", "0"), entry("3-4", "1") }, "a rank that an earlier entry has" },
    { "[R2] with ids that are none", R { entry("0", "a-b") }, '^execution%.R_lite%[0%]%.children%.core: "a%-b": ', "parse" },
    { "[R3] with fewer hosts than ranks", R({ entry("0-3", "0") }, { nodelist = { "a[0-2]" } }),
      "^execution%.nodelist: names 3 hosts, but R_lite has 4 ranks$" },
    { "[R3] with more hosts than ranks", R({ entry("0", "0") }, { nodelist = { "a", "b" } }), "names 2 hosts, but R_lite has 1 ranks$" },
    { "[R3] with a list of hosts that is a text", R({ entry("0", "0") }, { nodelist = "a" }), "^execution%.nodelist: expected an array" },
    { "[R3] with a list that cannot be read",
      R({ entry("0", "0") }, { nodelist = { "a", "b[1-" } }), '^execution%.nodelist%[1%]: "b%[1%-": ', "parse" },
    { "[R4] with a property on a rank that is not there", R({ entry("0", "0") }, { properties = { big = "0-1" } }),
      '^execution%.properties%.big: "0%-1" has a rank that R_lite does not have$' },
    { "[R4] with a property without ranks' text", R({ entry("0", "0") }, { properties = { big = true } }),
      "^execution%.properties%.big: expected a string" },
    { "[R5] that ends before it starts", R({ entry("0", "0") }, { starttime = 20, expiration = 10 }),
      "^execution%.expiration: .* not after" },
    { "[R5] that ends when it starts", R({ entry("0", "0") }, { starttime = 10.5, expiration = 10.5 }),
      "^execution%.expiration: .* not after" },
    { "[R5] with a time that is a text", R({ entry("0", "0") }, { starttime = "now" }), "^execution%.starttime: expected" },
    { "[R5] with a time past all clocks", R({ entry("0", "0") }, { expiration = 1e13 }), "^execution%.expiration: .* more than 9e12" },
    { "with a number of slots below 1", R({ entry("0", "0") }, { nslots = 0 }), "^execution%.nslots: " },
    { "[R6] whose scheduling is no object", R({}, {}, { scheduling = "x" }), "^scheduling: expected an object" },
  }
  for _, case in ipairs(REFUSED) do
    it(case[1] .. " is refused, with the key", function()
      local r, why, code = weir.R(case[2])
      assert.is_nil(r)
      assert.matches(case[3], why)
      assert.equal(case[4] or "invalid", code)
    end)
  end

  for c in ("!&'\"^`|()"):gmatch "." do
    it("[R4] with a property that has " .. c .. " in it is refused", function()
      local r, why = weir.R(R({ entry("0", "0") }, { properties = { ["a" .. c .. "b"] = "0" } }))
      assert.is_nil(r)
      assert.matches("has a '" .. c .. "' in it", why, 1, true)
    end)
  end

  it("[R1] may have only scheduling: the graph tells the ranks", function()
    local r = with_graph()
    local alone = assert(weir.R { version = 1, scheduling = r:get "scheduling" })
    assert.equal(tostring(r), tostring(alone))
    assert.equal(tostring(r:hosts()), tostring(alone:hosts()))
  end)

  it("[R2] has ranks and their children, in any number of entries", function()
    local r = set { entry("7,9", "0-3"), entry("2", "4,6", "1"), { rank = "3", children = { core = "0", fpga = "0-1" } } }
    assert.same({ "2-3,7,9", 4, 4 }, { list(r:ranks()), #r, r:count() })
    assert.same({ 11, 1, 2, 0 }, { r:count "core", r:count "gpu", r:count "fpga", r:count "memory" })
    assert.same({ "0-3", "4,6", "1", "0-1" }, { list(r:children(9, "core")), list(r:children(2, "core")), list(r:children(2, "gpu")),
      list(r:children(3).fpga) })
    assert.same({}, { r:children(1, "core"), r:children(-1), (r:children(7, "gpu")) })
  end)

  it("[R2] compacts ranks with the same children into one entry", function()
    local r = set { entry("5", "0,1"), entry("2-3", "0-3", "0"), entry("0-1,4", "0-1"), entry("7", "0-3", "0") }
    assert.same({ entry("0-1,4-5", "0-1"), entry("2-3,7", "0-3", "0") }, r:table "rlite")
    assert.equal(2, #r:entries())
    assert.equal("0-3", list(r:entries()[2].children.core))
  end)

  it("[R3] gives hosts to ranks in ascending order, not in that of the entries", function()
    local r = set({ entry("8", "0"), entry("1-2", "0-1") }, { nodelist = { "b", "a[7-8]" } })
    assert.equal("b,a[7-8]", tostring(r:hosts()))
    assert.equal("1", list(r:on_hosts("b"):ranks()))
    assert.equal("8", list(r:on_hosts("a8"):ranks()))
  end)

  it("[R3] may have one host for several ranks, and no hosts at all", function()
    assert.equal("0-1", list(set({ entry("0-1", "0") }, { nodelist = { "a,a" } }):on_hosts("a"):ranks()))
    assert.is_nil((set { entry("0-1", "0") }:hosts()))
  end)

  it("[R4] has properties, in UTF-8 and with + and @ as they stand", function()
    local r = set({ entry("0-3", "0") }, { properties = { ["größe"] = "0-1", ["+batch"] = "2", ["mi50@gpu"] = "3", none = "" } })
    local p = r:properties()
    table.sort(p)
    assert.same({ "+batch", "größe", "mi50@gpu" }, { table.unpack(p) })
    assert.equal("0-1", list(p["größe"]))
    for name in pairs { ["größe"] = 1, ["+batch"] = 1, ["mi50@gpu"] = 1 } do
      assert.equal(list(p[name]), list(r:subset { property = name }:ranks()))
    end
  end)

  it("[R4] @gpu means the node, and the gpus on it", function()
    local g <close> = assert(fleet():graph())
    assert.same({ "fleet13" }, { g:find("type=node and property=mi50@gpu")[1].name })
    assert.equal(2, #g:find "type=gpu and property=mi50")
    assert.equal(0, #g:find "type=core and property=mi50")
    local e = assert(weir.engine { resources = fleet() })
    assert(e:advance(1001)) -- the R is valid from 1000.25 s on
    local slot = { type = "slot", label = "s", count = 1, with = { { type = "gpu", count = 1 } } }
    local request = { resources = { { type = "node", count = 1, with = { slot } } },
      attributes = { system = { constraints = { properties = { "mi50@gpu" } } } } }
    assert.equal("rank3/gpu0", tostring(assert(e:match(request)):rset()))
  end)

  for _, suffix in ipairs { "", "@core" } do
    it(("[R4] gives 30000 properties such as p1%s to 4 nodes"):format(suffix), function()
      local properties = {}
      for i = 1, 30000 do properties["p" .. i .. suffix] = "0-3" end
      local r = set({ entry("0-3", "0-3") }, { properties = properties })
      local begin = os.clock()
      local g <close> = assert(r:graph())
      assert.is_true(os.clock() - begin < 10)
      for _, name in ipairs { "p1", "p30000" } do
        assert.equal(4, #g:find(("type=node and property=%s%s"):format(name, suffix)))
        assert.equal(suffix == "" and 0 or 16, #g:find(("type=core and property=%s"):format(name)))
      end
    end)
  end

  it("[R5] keeps times to the microsecond", function()
    local r = set({ entry("0", "0") }, { starttime = 1676560542.123456, expiration = 1676562342.000001 })
    assert.same({ 1676560542.123456, 1676562342.000001 }, { r:starttime(), r:expiration() })
    assert.matches('"starttime":1676560542.123456,"expiration":1676562342.000001', r:format(), 1, true)
  end)

  it("[R5] a time of 0 is not set", function()
    local r = set({ entry("0", "0") }, { starttime = 10, expiration = 0 })
    assert.same({ 10 }, { r:starttime(), r:expiration() })
    assert.same({}, { set { entry("0", "0") }:starttime(), (set { entry("0", "0") }:expiration()) })
  end)

  it("[R6] keeps its graph without loss, to the last byte", function()
    local r, graph = with_graph()
    local text = r:format()
    assert.equal(text, assert(weir.R(text)):format())
    assert.same(weir.json.decode(graph).graph, r:get "scheduling".graph)
  end)

  it("[R6] gives the machine of its graph, as it was written", function()
    local r, graph = with_graph()
    local g <close> = assert(r:graph())
    assert.equal(graph, g:format "jgf")
    assert.equal("fluxion", r:writer())
  end)

  it("[R6] keeps what a scheduler wrote that is not known", function()
    local scheduling = { writer = "fancy:v2?x=1", deep = { b = weir.array {}, a = { 1, 2.5, weir.null, false, "é" } } }
    local r = set({ entry("0-1", "0-1") }, nil, { scheduling = scheduling })
    assert.equal("fancy:v2?x=1", r:writer())
    assert.same(scheduling, weir.json.decode(r:on_ranks("1"):format()).scheduling)
    local g <close> = assert(r:graph())
    assert.equal(4, #g:find "type=core")
  end)

  it("[R7] keeps attributes and keys that nobody knows as they came", function()
    local text = '{"zeta":[1,{}],"version":1,"execution":{"R_lite":[],"my":{"z":1,"a":null}},'
      .. '"attributes":{"system":{"scheduler":{"z":1,"queue":"batch","a":[0.5]},"b":2}}}'
    local r = assert(weir.R(text))
    assert.equal('{"version":1,"execution":{"R_lite":[],"nodelist":[],"my":{"z":1,"a":null}},'
      .. '"attributes":{"system":{"scheduler":{"z":1,"queue":"batch","a":[0.5]},"b":2}},"zeta":[1,{}]}', r:format())
    assert.same({ queue = "batch", z = 1, a = { 0.5 } }, r:get "attributes".system.scheduler)
    assert.same({ 1, {} }, r:get "zeta")
    assert.same({ z = 1, a = weir.null }, r:get "execution.my")
    assert.equal("unknown", select(3, r:get "eta"))
  end)
end)

describe("a resource set is written", function()
  local WRITTEN = { -- format, text of the fleet
    { "rlite", '[{"rank":"0-3","children":{"core":"0-3","gpu":"0-1"}}]' },
    { "rlist", "rank[0-3]/core[0-3],gpu[0-1]" },
    { "rv1_nosched", '{"version":1,"execution":{"R_lite":[{"rank":"0-3","children":{"core":"0-3","gpu":"0-1"}}],'
      .. '"nodelist":["fleet[10-13]"],"nslots":8,"properties":{"big":"0-1","mi50@gpu":"3"},"starttime":1000.25,"expiration":2000}}' },
  }
  for _, case in ipairs(WRITTEN) do
    it("as " .. case[1], function() assert.equal(case[2], fleet():format(case[1])) end)
  end

  it("as rv1 with its scheduling, as rv1_nosched without", function()
    local r = with_graph()
    assert.is_table(r:table().scheduling.graph)
    assert.is_nil(r:table("rv1_nosched").scheduling)
    assert.same(r:table().execution, r:table("rv1_nosched").execution)
  end)

  it("as rlist where it is made a string", function() assert.equal(fleet():format "rlist", tostring(fleet())) end)

  it("the same where it is the same, however it was written before", function()
    local r = set({ entry("3", "0-2,3", "0-1"), entry("0", "[0-3]", "0,1"), entry("1-2", "0-3", "0-1") },
      { nodelist = { "fleet10", "fleet[11,12]", "fleet13" } })
    assert.equal(fleet():format "rlite", r:format "rlite")
    assert.is_true(r == fleet())
  end)

  it("in no format that there is not", function()
    local text, why, code = fleet():format "rv2"
    assert.same({ code = "invalid" }, { text = text, code = code })
    assert.matches('"rv2": expected one of rv1, rv1_nosched, rlite, rlist', why, 1, true)
  end)
end)

describe("the algebra of sets", function()
  -- {a, b, union, intersection, difference}
  local ROWS = {
    { "0-3 0-3", "0-3 0-3", "rank[0-3]/core[0-3]", "rank[0-3]/core[0-3]", "" },
    { "0-3 0-3", "2-5 0-3", "rank[0-5]/core[0-3]", "rank[2-3]/core[0-3]", "rank[0-1]/core[0-3]" },
    { "0-3 0-3", "1,3 2-5", "rank[0,2]/core[0-3] rank[1,3]/core[0-5]", "rank[1,3]/core[2-3]", "rank[0,2]/core[0-3] rank[1,3]/core[0-1]" },
    { "0-3 0-3", "4 0", "rank[0-3]/core[0-3] rank4/core0", "", "rank[0-3]/core[0-3]" },
    { "0-3 0-3", "", "rank[0-3]/core[0-3]", "", "rank[0-3]/core[0-3]" },
    { "", "1 0", "rank1/core0", "", "" },
  }
  local function made(words)
    local ranks, cores = words:match "(%S+) (%S+)"
    return ranks and set { entry(ranks, cores) } or weir.R()
  end
  for _, row in ipairs(ROWS) do
    it(("on (%s) and (%s)"):format(row[1], row[2]), function()
      local a, b = made(row[1]), made(row[2])
      assert.same({ row[3], row[4], row[5] }, { tostring(a + b), tostring(a * b), tostring(a - b) })
      assert.same({ row[3], row[4], row[5] }, { tostring(a:union(b)), tostring(a:intersect(b)), tostring(a:diff(b)) })
      assert.same({ a + b == a | b, a * b == a & b, a * b <= a, a <= a + b }, { true, true, true, true })
      assert.equal(row[1] == row[2], a == b)
    end)
  end

  it("takes an R as text or table on either side", function()
    local one = R { entry("1", "0") }
    assert.equal("rank[0,2-3]/core[0-3],gpu[0-1] rank1/core[1-3],gpu[0-1]", tostring(fleet() - one))
    assert.equal("rank1/core0", tostring(weir.json.encode(one) & fleet()))
  end)

  it("changes nothing that is there", function()
    local a, b = fleet(), set { entry("1", "0") }
    local before = { a:format(), b:format() }
    local _ = { a - b, a * b, a:remap {}, a:with { starttime = 5 }, a:subset { ranks = "0" } }
    assert.same(before, { a:format(), b:format() })
  end)

  it("keeps sets apart whose ranks are other hosts", function()
    local a, b = set({ entry("0-1", "0") }, { nodelist = { "a[0-1]" } }), set({ entry("1-2", "1") }, { nodelist = { "b[1-2]" } })
    local sum, why, code = a:union(b)
    assert.same({ code = "invalid" }, { sum = sum, code = code })
    assert.matches("rank 1 is a1 in one set and b1 in the other", why, 1, true)
    assert.has_error(function() return a + b end)
    assert.is_false(a == b)
  end)

  it("appends only what is not there", function()
    local a, b = set { entry("0-1", "0-1") }, set { entry("1-2", "1-2") }
    assert.equal("exists", select(3, a:append(b)))
    assert.equal("rank0/core[0-1] rank1/core[0-2] rank2/core[1-2]", tostring(a:append(b - a)))
  end)

  it("is false for what is no set, and wrong use raises", function()
    assert.is_false(fleet() == weir.idset "0-3")
    assert.is_false(weir.idset "0-3" == fleet())
    assert.is_false(fleet() == "rank0")
    for _, wrong in ipairs { 5, true, print, weir.idset "0", io.stdout } do
      assert.has_error(function() return fleet() - wrong end)
      assert.has_error(function() return fleet():union(wrong) end)
      assert.has_error(function() return weir.R(wrong) end)
    end
    assert.has_error(function() return fleet() + "{" end)
    assert.equal("parse", select(3, fleet():union "{"))
  end)
end)

describe("a part of a set", function()
  -- {title, options of subset, ranks}
  local PARTS = {
    { "some ranks, and none that are not there", { ranks = "1-2,9" }, "1-2" },
    { "ranks as an idset", { ranks = weir.idset "3" }, "3" },
    { "some hosts, and none that are not there", { hosts = "fleet[11,13],other" }, "1,3" },
    { "hosts as a hostlist", { hosts = weir.hostlist "fleet12" }, "2" },
    { "a property", { property = "big" }, "0-1" },
    { "a property with a suffix", { property = "mi50@gpu" }, "3" },
    { "what has a property not", { property = "^big" }, "2-3" },
    { "a property that is none", { property = "small" }, "" },
    { "a constraint", { constraint = { ["or"] = { { ranks = { "0" } }, { properties = { "mi50@gpu" } } } } }, "0,3" },
    { "a constraint, compiled", { constraint = weir.constraint { hostlist = { "fleet10" } } }, "0" },
    { "all of several", { ranks = "1-3", property = "big" }, "1" },
    { "all, where nothing is asked", {}, "0-3" },
  }
  for _, case in ipairs(PARTS) do
    it("is " .. case[1], function()
      local part = assert(fleet():subset(case[2]))
      assert.equal(case[3], list(part:ranks()))
      assert.is_true(part <= fleet())
    end)
  end

  -- {title, wrong option of subset, part of the message}
  local WRONG = {
    { "ranks", { ranks = "x" }, "idset: " }, { "hosts", { hosts = "a[" }, "hostlist: " },
    { "a property", { property = "a|b" }, "a|b" }, { "a constraint", { constraint = { never = {} } }, "never" },
  }
  for _, case in ipairs(WRONG) do
    it("is refused for " .. case[1] .. " that cannot be read", function()
      local part, why = fleet():subset(case[2])
      assert.is_nil(part)
      assert.matches(case[3], why, 1, true)
    end)
  end

  it("raises for an option that there is not", function()
    assert.error_matches(function() fleet():subset { rank = "0" } end, "no option 'rank'")
    assert.error_matches(function() fleet():subset "0" end, "a table expected")
  end)

  it("keeps its hosts, properties, times and slots", function()
    assert.equal('{"version":1,"execution":{"R_lite":[{"rank":"1,3","children":{"core":"0-3","gpu":"0-1"}}],"nodelist":["fleet[11,13]"],'
      .. '"nslots":8,"properties":{"big":"1","mi50@gpu":"3"},"starttime":1000.25,"expiration":2000}}', fleet():on_ranks("1,3"):format())
  end)

  it("has other ranks in a child instance", function()
    local part = fleet():on_ranks "1,3"
    assert.equal("rank[0-1]/core[0-3],gpu[0-1]", tostring(part:remap()))
    assert.equal("fleet[11,13]", tostring(part:remap():hosts()))
    assert.equal("fleet[13,11]", tostring(part:remap({ hosts = "fleet13,fleet11" }):hosts()))
    assert.equal("rank0/core[0-1],gpu1", tostring(set({ entry("4", "2-3", "1") }):remap { ids = true }))
    assert.equal("unknown", select(3, part:remap { hosts = "fleet11,other" }))
    assert.has_error(function() part:remap { id = true } end)
  end)

  it("has other times and more properties", function()
    local r = assert(fleet():with { starttime = 0, expiration = 3000.5, properties = { z = "3", a = "0", big = weir.idset "2" } })
    assert.same({ expiration = 3000.5 }, { starttime = r:starttime(), expiration = r:expiration() })
    assert.same({ "big", "mi50@gpu", "a", "z" }, { table.unpack(r:properties()) })
    assert.equal("0-2", list(r:properties().big))
    assert.same({ 1000.25, 2000 }, { fleet():with({}):starttime(), fleet():with({}):expiration() })
  end)

  it("has no times and properties that RFC 20 does not allow", function()
    assert.equal("invalid", select(3, fleet():with { expiration = 10 }))
    assert.equal("invalid", select(3, fleet():with { properties = { ["a|b"] = "0" } }))
    assert.equal("unknown", select(3, fleet():with { properties = { a = "0-9" } }))
    assert.equal("parse", select(3, fleet():with { properties = { a = "x" } }))
    assert.has_error(function() fleet():with { properties = { "a" } } end)
    assert.has_error(function() fleet():with { properties = "a" } end)
    assert.has_error(function() fleet():with { hosts = "a" } end)
  end)
end)

describe("the parts of a set", function()
  local function sum(parts)
    local all = parts[1]
    for i = 2, #parts do all = assert(all:union(parts[i])) end
    return all
  end

  -- {title, function that cuts a set into parts}
  local WAYS = {
    { "by rank", function(r) return { r:on_ranks "2", r:on_ranks "0", r:on_ranks "1,3" } end },
    { "by host", function(r)
      local hosts = r:hosts()
      return { r:on_hosts(hosts[1]), r - r:on_hosts(hosts[1]) }
    end },
    { "by property", function(r) return { r:subset { property = "^big" }, r:subset { property = "big" } } end },
    { "core by core", function(r)
      local parts, rest = {}, r
      for id = 0, 3 do
        local part = rest & R { entry("0-3", tostring(id)) }
        parts[#parts + 1], rest = part, rest - part
      end
      return { rest, table.unpack(parts) }
    end },
    { "gpus here, cores there", function(r)
      local gpus = r & R { { rank = "0-3", children = { gpu = "0-1" } } }
      return { gpus, r - gpus }
    end },
    { "nothing and all", function(r) return { r - r, r } end },
  }
  for _, source in ipairs { { "an R", fleet }, { "an R with a graph", with_graph } } do
    for _, way in ipairs(WAYS) do
      it(("[R8] add up to %s: %s"):format(source[1], way[1]), function()
        local r = source[2]()
        local parts = way[2](r)
        local again = sum(parts)
        assert.is_true(again == r)
        assert.equal(r:format "rlite", again:format "rlite")
        if #parts[1] > 0 then assert.equal(r:format(), again:format()) end
        for _, part in ipairs(parts) do r = r - part end
        assert.equal(0, #r)
      end)

      it(("[R8] add up to %s also as documents: %s"):format(source[1], way[1]), function()
        local r, parts = source[2](), {}
        for i, part in ipairs(way[2](r)) do parts[i] = assert(weir.R(part:format())) end
        local again = sum(parts)
        assert.is_true(again == r)
        if #parts[1] > 0 then assert.equal(r:format(), again:format()) end
      end)
    end
  end

  it("[R8] keep of the graph what belongs to them", function()
    local r = with_graph()
    local part = r:on_ranks "2"
    local g <close> = assert(part:graph())
    assert.same({ 1, 1, 4, 2, 16 }, { g:aggregate().rack.total, g:aggregate().node.total, g:aggregate().core.total,
      g:aggregate().gpu.total, g:aggregate().memory.total })
    assert.equal("/cluster0/rack1/node2", g:find("type=node")[1].path)
    assert(part:validate())
  end)

  it("[R8] can be released one by one, and what is left is the R without them", function()
    local e = assert(weir.engine { resources = fleet() })
    assert(e:advance(1001))
    local a = assert(e:match "slot=3/node")
    local whole = a:rset()
    local part = whole:on_hosts "fleet10"
    assert.is_true(assert(e:shrink(a.id, part)):rset() == whole - part)
    assert.is_true(e:resources():rset { state = "allocated" } == whole - part)
    assert.is_true(e:shrink(a.id, whole - part))
    assert.equal(0, #e:resources():rset { state = "allocated" })
    assert.equal(0, #e:jobs())
  end)

  it("[R8] can be released also where a job has neither cores nor gpus", function()
    local e = assert(weir.engine { resources = "node:2 core:2 memory:1(size=8)" })
    local a = assert(e:match "slot=2/memory=8")
    local r = a:rset()
    assert.same({ 2, 0 }, { #r, r:count "core" })
    assert.equal("1", list(assert(e:shrink(a.id, r:on_ranks "0")):rset():ranks()))
    assert.is_true(e:shrink(a.id, r:on_ranks("1"):format "rv1_nosched"))
  end)

  it("[R8] hold for sets by chance", function()
    local random, scale = 12345, tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
    local function draw(n)
      random = (random * 1103515245 + 12345) & 0x7fffffff
      return (random >> 8) % n
    end
    local function ids(n)
      local s = weir.idset()
      for _ = 0, draw(4) do s:add(("%d-%d"):format(0, draw(n))) s:remove(tostring(draw(n))) end
      return tostring(s)
    end
    local function chance()
      local entries = {}
      for rank = 0, 5 do
        if draw(3) > 0 then entries[#entries + 1] = entry(tostring(rank), ids(6), ids(3)) end
      end
      return set(entries)
    end
    for _ = 1, math.ceil(100 * scale) do
      local a, b = chance(), chance()
      local common, rest = a & b, a - b
      assert.equal(a:format(), (common + rest):format())
      assert.equal((a + b):format(), (rest + b):format())
      assert.equal(a:count "core" + b:count "core", (a + b):count "core" + common:count "core")
      assert.equal(0, (rest & common):count "core")
      assert.is_true((a + b) - a <= b)
    end
  end)
end)

describe("a set is valid", function()
  -- {title, R, pattern of the reason; nil: valid}
  local CASES = {
    { "with all that RFC 20 asks for", FLEET },
    { "not without a rank", R {}, "^execution%.R_lite: is empty" },
    { "not without a nodelist", R { entry("0", "0") }, "^execution%.nodelist: is missing" },
    { "not without cores", R({ entry("0", "0"), entry("1", nil, "0") }, { nodelist = { "a,b" } }),
      "^execution%.R_lite: rank 1 has no core$" },
    { "not with attributes that are none", R({ entry("0", "0") }, { nodelist = { "a" } }, { attributes = "x" }), "^attributes: expected" },
    { "not with a graph that is none", R({ entry("0", "0") }, { nodelist = { "a" } }, { scheduling = { graph = {} } }),
      "^scheduling%.graph" },
  }
  for _, case in ipairs(CASES) do
    it(case[1], function()
      local ok, why, code = assert(weir.R(case[2])):validate()
      if not case[3] then
        assert.is_true(ok)
      else
        assert.same({ code = "invalid" }, { ok = ok, code = code })
        assert.matches(case[3], why)
      end
    end)
  end

  it("not where its graph has not what R_lite names", function()
    local r = with_graph():table()
    r.execution.R_lite[1].children.core = "0-9"
    assert.equal("scheduling.graph: rank 0 has no core 4, which R_lite names", select(2, assert(weir.R(r)):validate()))
  end)
end)

describe("an engine for an R", function()
  it("[R9] allocates from it alone", function()
    local parent = assert(weir.engine { resources = "cluster:1 rack:2 node:4 core:8 gpu:2" })
    local a = assert(parent:match "node=3/slot=1/core=4")
    local child = assert(weir.engine { resources = a:rset { scheduling = true } })
    local mine = a:rset()
    local jobs = 0
    while true do
      local b, _, code = child:match "slot=1/core=1"
      if not b then
        assert.is_true(code == "busy" or code == "infeasible")
        break
      end
      assert.is_true(b:rset() <= mine)
      jobs = jobs + 1
    end
    assert.equal(12, jobs)
    assert.is_nil((child:match "slot=1/gpu=1"))
    assert.is_true(child:resources():rset { state = "allocated" } == mine)
  end)

  it("[R9] works from the R alone, without a graph, and from a text", function()
    local child = assert(weir.engine { resources = fleet():on_ranks "1-2" })
    assert(child:advance(1001))
    assert.equal("rank[1-2]/core[0-3],gpu[0-1]", tostring(assert(child:match "slot=2/node"):rset()))
    assert.equal("infeasible", select(3, child:match "slot=3/node"))
    local dir = shell.directory()
    local path = shell.path(dir, "R.json", fleet():on_ranks("3"):format())
    local other = assert(weir.engine { resources = path })
    assert(other:advance(1001))
    assert.equal("rank3/core[0-3],gpu[0-1]", tostring(assert(other:match "slot=1/node"):rset()))
    shell.clean()
  end)

  it("[R9] may be a child of a child, with ranks of its own", function()
    local r = with_graph()
    local child = assert(weir.engine { resources = r:on_ranks("1-3"):remap() })
    local a = assert(child:match "slot=2/node")
    local grandchild = assert(weir.engine { resources = a:rset({ scheduling = true }):remap() })
    assert.equal("rank[0-1]/core[0-3],gpu[0-1]", tostring(grandchild:resources():rset()))
    assert.is_true(tostring(grandchild:resources():rset():hosts()) == tostring(a:rset():hosts()))
    assert.equal("infeasible", select(3, grandchild:match "slot=3/node"))
  end)

  it("[R9] has nothing of other subsystems that leads to its nodes no more", function()
    local g <close> = weir.synthetic "cluster:1 node:3 core:1"
    local feeds, nodes = {}, g:find "type=node"
    for i = 0, 1 do feeds[i] = assert(g:add(nil, { type = "feed", id = i, size = 9 })) end
    local function supply(from, to) assert(g:add_edge(from, to, { subsystem = "power", type = "supplies" })) end
    for i, node in ipairs(nodes) do
      node.rank = i - 1
      local pdu = assert(g:add(nil, { type = "pdu", id = i - 1, size = 5 }))
      supply(feeds[i // 3], pdu)
      supply(pdu, node)
    end
    supply(g "/cluster0/node2/core0", nodes[1]) -- leaves from below a node that goes
    local r = weir.json.decode(assert(weir.engine({ resources = g }):match "slot=3/node"):format "rv1")
    r.scheduling = { graph = weir.json.decode(g:format "jgf").graph }
    r.execution.R_lite, r.execution.nodelist = { { rank = "0-1", children = { core = "0" } } }, { "node[0-1]" }
    local own <close> = assert(weir.parse(weir.json.encode(r)))
    local uris = {}
    for v in own:walk { subsystem = "power" } do uris[#uris + 1] = v:uri "power" end
    assert.same({ "power:/feed0", "power:/feed0/pdu0", "power:/feed0/pdu0/node0", "power:/feed0/pdu1",
      "power:/feed0/pdu1/node1" }, uris)
    assert.same({ 1, 2, 2, 2 }, { #own:find "type=feed", #own:find "type=pdu", #own:find "type=node", #own:find "type=core" })
    assert(own:check())
  end)

  it("cannot be made of a set without ranks", function()
    local e, why, code = weir.engine { resources = weir.R() }
    assert.same({ code = "invalid" }, { e = e, code = code })
    assert.matches("R_lite: is empty", why, 1, true)
  end)
end)

describe("the set of a graph", function()
  it("is what it has, what is down, what jobs have", function()
    local e = assert(weir.engine { resources = "cluster:1 node:4 core:4" })
    local g = e:resources()
    g:vertex("/cluster0/node3").state = "down"
    assert(e:match "slot=1/node")
    assert(e:match "slot=1/core=2")
    assert.same({ "rank[0-3]/core[0-3]", "rank3/core[0-3]" }, { tostring(g:rset()), tostring(g:rset { state = "down" }) })
    assert.equal(6, g:rset({ state = "allocated" }):count "core")
    assert.has_error(function() g:rset { state = "free" } end)
    assert.equal("invalid", select(3, g:rset { state = "down", scheduling = true }))
  end)

  it("of an allocation has no properties of the instance", function()
    local r = set({ entry("0", "0") }, { nodelist = { "a" }, properties = { ["+batch"] = "0", fast = "0" } })
    local e = assert(weir.engine { resources = r })
    assert.same({ "fast" }, { table.unpack(assert(e:match "slot=1/core"):rset():properties()) })
  end)
end)

describe("a set", function()
  it("is read from a file, whose name is in errors", function()
    local dir = shell.directory()
    local good, bad = shell.path(dir, "good.R", fleet():format()), shell.path(dir, "bad.R", '{"version":1,\n"execution":}')
    assert.is_true(assert(weir.R(good)) == fleet())
    local r, why, code = weir.R(bad)
    assert.same({ code = "parse" }, { r = r, code = code })
    assert.matches("bad%.R:2:%d+: JSON: ", why)
    assert.equal("io", select(3, weir.R(dir .. "/none.R")))
    assert.matches("^mine: version: expected 1", (select(2, weir.R("{}", "mine"))))
    shell.clean()
  end)

  it("is small however large what it stands for", function()
    local r = set({ entry("0-4194303", "0-1023") }, { nodelist = { "n[0-4194303]" } })
    assert.equal(4194304 * 1024, r:count "core")
    assert.equal("rank[0-99,101-4194303]/core[0-1023] rank100/core[0-4,6-1023]", tostring(r - R { entry("100", "5") }))
    assert.equal("limit", select(3, weir.R(R { entry("0-4194304", "0") })))
  end)

  it("may have a topology of RFC 49", function()
    local r = set({ entry("0-1", "0-3", "0-1") }, { nodelist = { "a[0-1]" } }, { scheduling = { writer = "TreePool", children = {
      { ranks = "0-1", topo = { numa = { { cores = "0-1", gpus = "0" }, { cores = "2-3", gpus = "1" } } } } } } })
    assert.equal("TreePool", r:writer())
    local g <close> = assert(r:on_ranks("1"):graph())
    assert.equal("/cluster0/a1/numa1/core3", g:find("type=core and id=3")[1].path)
    assert.equal("1", weir.json.decode(r:on_ranks("1"):format()).scheduling.children[1].ranks)
  end)

  it("stands for itself in no finalizer's way", function()
    local kept = {}
    for i = 1, 200 do kept[i % 7 + 1] = with_graph():on_ranks "1" end
    collectgarbage()
    collectgarbage()
    for _, part in ipairs(kept) do assert.equal("rank1/core[0-3],gpu[0-1]", tostring(part)) end
  end)

  it("that is gone raises, whatever is asked of it", function()
    local r = fleet()
    local methods = core.methods "rset"
    debug.getregistry()["weir.rset"].__gc(r)
    for name, method in pairs(methods) do
      assert.is_false(pcall(method, r, "0"), name)
      assert.is_false(pcall(method, r, {}), name)
    end
    assert.has_error(function() return r == fleet() end)
    assert.has_error(function() return fleet() - r end)
  end)
end)

describe("real Rs", function()
  local FILES = { -- file, description
    { "rfc/example1.json", "rank[19-22]/core[0-47],gpu[0-7]" },
    { "flux-core-list/fluke.R", "rank[0-100]/core[0-3]" },
    { "flux-core-list/fluxion.R", "rank[0-3]/core[0-3]" },
    { "flux-core-list/missing.R", "rank[0-3]/core[0-3]" },
    { "flux-core-list/normal-input.R", "rank[0-3]/core[0-3]" },
    { "flux-core-list/normal-new.R", "rank[0-4]/core[0-3]" },
    { "flux-core-list/null.R", "rank[0-3]/core[0-3]" },
    { "flux-sched-rv1exec/tiny_rv1exec.json" }, { "flux-sched-rv1exec/tiny_rv1exec_2-1.json" },
    { "flux-sched-rv1exec/tiny_rv1exec_2-1_split.json" }, { "flux-sched-rv1exec/cancel/rank0_cancel-jgfgraph.json" },
    { "flux-sched-rv1exec/cancel/rank0_cancel_nonexcl.json" }, { "flux-sched-rv1exec/cancel/rank1_cancel.json" },
    { "flux-sched-rv1exec/cancel/rank1_cancel_nonexcl.json" }, { "flux-sched-rv1exec/cancel/ranks_cancel_crossracks.json" },
    { "flux-sched-rv1exec/cancel/ranks_cancel_crossracks_simple.json" },
  }
  for _, file in ipairs(FILES) do
    local text = tables.read("r/" .. file[1])
    local test = missing.it_with(text, missing.data("r/" .. file[1]), it, pending)
    test(file[1] .. " is read, and read again as it was written", function()
      local r = assert(weir.R(text, file[1]))
      if file[2] then assert.equal(file[2], tostring(r)) end
      assert.equal(r:format(), assert(weir.R(r:format())):format())
      local scheduling = weir.json.decode(text).scheduling
      if scheduling then assert.same(scheduling, r:get "scheduling") end
    end)

    test("[R8] the parts of " .. file[1] .. " add up to it", function()
      local r = assert(weir.R(text))
      local lowest = weir.idset { r:ranks():first() }
      local one = r:on_ranks(lowest) - R { entry(tostring(lowest), "0") }
      assert.equal(r:format(), ((r - one) + (r & one)):format())
      assert.equal(0, #(r - one - (r - one)))
    end)
  end

  local NAME = "r/flux-sched-rv1exec/cancel/rank1_cancel_invalid.json"
  local invalid = tables.read(NAME)
  missing.it_with(invalid, missing.data(NAME), it, pending)("one with a rank below 0 is refused", function()
    local r, why = weir.R(invalid, "invalid.json")
    assert.is_nil(r)
    assert.matches('^invalid%.json: execution%.R_lite%[0%]%.rank: "%-1": ', why)
  end)
end)

describe("hosts without ranks", function()
  local function machine(shape)
    local g = assert(weir.synthetic(shape))
    for v in g:walk { type = "node" } do v.rank = nil end
    return g
  end

  it("have ranks of their own in a duplicate", function()
    local g = machine "cluster:1 node:3 core:2"
    assert.equal("rank[0-2]/core[0-1]", tostring(assert(g:rset())))
    local copy = assert(g:dup())
    g:close()
    assert(copy:unlink(copy:vertex "/cluster0/node0"))
    assert.equal("rank[0-1]/core[0-1]", tostring(assert(copy:rset())))
    assert(copy:check())
    copy:close()
  end)

  it("have those of the graph as it is now", function()
    local g = machine "cluster:1 rack:2 node:2 core:2"
    local e = assert(weir.engine { resources = g })
    local function sound() return assert(g:check()) and tostring(assert(g:rset())) end
    assert.equal("rank[0-3]/core[0-1]", sound())
    local a = assert(e:match "slot=1/node")
    assert.equal("rank0/core[0-1]", tostring(a:rset()))
    assert(e:release(a.id))
    assert(g:unlink(g:vertex "/cluster0/rack0/node0"))
    assert.equal("rank[0-2]/core[0-1]", sound())
    assert.equal("rank0/core[0-1]", tostring(assert(e:match "slot=1/node"):rset()))
    assert.equal("rank[0-2]/core[0-1]", tostring(g:dup():rset()))
    g:vertex("/cluster0/rack1/node2").rank = 7
    local none, why = g:rset()
    assert.is_nil(none)
    assert.matches("R wants a rank for every node", why, 1, true)
    for rank, name in pairs { [3] = "/cluster0/rack0/node1", [9] = "/cluster0/rack1/node3" } do g:vertex(name).rank = rank end
    assert.equal("rank[3,7,9]/core[0-1]", sound())
  end)

  it("are the root, where cores are beside the nodes", function()
    local g = machine "cluster:1 node:2[core:2] gpu:2 core:3"
    assert.equal("rank[0-1]/core[0-1] rank2/core[0-2],gpu[0-1]", tostring(g:rset()))
    assert(g:check())
  end)
end)
