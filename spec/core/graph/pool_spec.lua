-- Pools: base data, names and templates, properties, tags, states, extended data, and their costs.
local weir = require "weir"

local function new_cluster()
  local g = weir.new()
  return g, assert(g:add(nil, { type = "cluster", id = 0 }))
end

-- Saves a graph as JGF and loads the text.
local function reloaded(g) return assert(weir.parse(assert(g:format "jgf"))) end

local function table_of(map)
  local t = {}
  for k, v in pairs(map) do t[k] = v end
  return t
end

describe("pools", function()
  local g, cluster

  before_each(function() g, cluster = new_cluster() end)
  after_each(function()
    assert(g:check())
    g:close()
  end)

  -- A pool as added, and the values of its fields afterwards.
  local FIELDS = {
    { "[P1] any type will do", { type = "qpu" }, { type = "qpu", name = "qpu" } },
    { "[P1] a type in other letters, with a blank", { type = "Quantenzähler 2" }, { type = "Quantenzähler 2" } },
    { "[P3] the basename is the type", { type = "node", id = 3 }, { basename = "node" } },
    { "[P3] another basename", { type = "node", basename = "tux", id = 3 }, { basename = "tux", name = "tux3" } },
    { "[P4] the name is basename and id", { type = "node", id = 3 }, { name = "node3" } },
    { "[P4] the name is the basename without an id", { type = "switch" }, { name = "switch" } },
    { "[P4] the name is one of its own", { type = "node", id = 3, name = "login" }, { name = "login", id = 3 } },
    { "[P6] an id is a number, also one below 0", { type = "gpu", id = -1 }, { id = -1, name = "gpu-1" } },
    { "[P9] a size of 1 when none is given", { type = "memory" }, { size = 1 } },
    { "[P9] a size", { type = "memory", size = 64 }, { size = 64, free = 64 } },
    { "[P9] a pool of nothing", { type = "memory", size = 0 }, { size = 0, free = 0 } },
    { "[P10] no unit", { type = "memory" }, { unit = "" } },
    { "[P10] a unit", { type = "memory", size = 64, unit = "GiB" }, { unit = "GiB" } },
    { "[P2] a UUID that is given", { type = "node", uuid = "6BA7B810-9DAD-11D1-80B4-00C04FD430C8" },
      { uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8" } },
    { "[P11] a new pool is up", { type = "node" }, { state = "up" } },
    { "[A5] the demand to be allocated as a whole", { type = "node", exclusive = true }, { exclusive = true } },
  }

  for _, case in ipairs(FIELDS) do
    it(case[1], function()
      local v = assert(g:add(cluster, case[2]))
      for field, value in pairs(case[3]) do assert.equal(value, v[field]) end
    end)
  end

  it("[P6] an id is optional", function() assert.is_nil(g:add(cluster, { type = "switch" }).id) end)

  -- {template, the pool's further fields, its name}
  local TEMPLATES = {
    { "node-${frameid}-${rack}", { properties = { frameid = "3", rack = "b12" } }, "node-3-b12" },
    { "${basename}_${id}", { id = 7, basename = "tux" }, "tux_7" },
    { "${type}${id}x${size}", { id = 7, size = 2 }, "node7x2" },
    { "${frameid}${frameid}", { properties = { frameid = "3" } }, "33" },
    { "plain", { id = 7 }, "plain" },
    { "node-${frameid}-${rack}", { properties = { frameid = "3" } }, "node-3-${rack}" }, -- rack: shown as missing
    { "x${", {}, "x${" },
    { "x${}y", {}, "x${}y" },
  }

  for _, case in ipairs(TEMPLATES) do
    it(("[P5] the template %s gives %s"):format(case[1], case[3]), function()
      local pool = { type = "node", name = case[1] }
      for k, v in pairs(case[2]) do pool[k] = v end
      assert.equal(case[3], g:add(cluster, pool).name)
    end)
  end

  it("[P5] a template follows the properties, and is looked up by what it gives", function()
    local v = assert(g:add(cluster, { type = "node", name = "n-${slot}" }))
    v.properties.slot = "9"
    assert.equal("n-9", v.name)
    assert.equal(v, g:vertex "/cluster0/n-9")
  end)

  it("[P2] every pool has a UUID of its own", function()
    local seen, n = {}, 0
    assert(g:add(cluster, { type = "node", id = 0 }, 1000))
    for v in g:walk {} do
      assert.matches("^%x+%-%x+%-%x+%-%x+%-%x+$", v.uuid)
      assert.is_nil(seen[v.uuid])
      seen[v.uuid], n = true, n + 1
    end
    assert.equal(1001, n)
  end)

  it("[P2] a UUID that another pool has is refused", function()
    local uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    local v = assert(g:add(cluster, { type = "node", id = 0, uuid = uuid }))
    local w, why, code = g:add(cluster, { type = "node", id = 1, uuid = uuid:upper() })
    assert.same({ code = "exists" }, { w = w, code = code })
    assert.matches("another pool has the UUID", why)
    assert(g:unlink(v))
    assert.equal(uuid, assert(g:add(cluster, { type = "node", id = 1, uuid = uuid })).uuid)
  end)

  it("[P2] a UUID stays through save and load, and through duplication", function()
    local v = assert(g:add(cluster, { type = "node", id = 4 }))
    local again <close> = reloaded(g)
    local twin <close> = assert(g:dup())
    assert.same({ v.uuid, v.uuid }, { again:vertex("/cluster0/node4").uuid, twin:vertex("/cluster0/node4").uuid })
  end)

  it("[P7] properties are several, with or without a value", function()
    local v = assert(g:add(cluster, { type = "node", properties = { bigmem = true, perf = 3, vendor = "acme" } }))
    assert.same({ bigmem = true, perf = "3", vendor = "acme" }, table_of(v.properties))
  end)

  it("[P8] tags are added, overwritten and removed", function()
    local tags = cluster.tags
    tags.owner, tags.spare = "ops", true
    assert.same({ owner = "ops", spare = true }, table_of(tags))
    tags.owner = "dev"
    tags.spare = nil
    assert.same({ owner = "dev" }, table_of(tags))
  end)

  -- Odd keys and values: kept unchanged through save and load.
  local ODD = { "a b", "a=b", "a\nb", '"quoted"', "é", "__index", "[x]", "${id}", "/path/to", ("k"):rep(65536) }

  for _, key in ipairs(ODD) do
    it(("[P8] [P12] an odd name is a name: %q"):format(key:sub(1, 20)), function()
      cluster.tags[key], cluster.properties[key], cluster.data[key] = key, true, { key }
      local again <close> = reloaded(g)
      local v = again:root()
      assert.same({ key, true, { key } }, { v.tags[key], v.properties[key], v.data[key] })
    end)
  end

  -- {change, the error text}
  local REFUSED = {
    { "an empty name of a tag", function(v) v.tags[""] = true end, "a key must not be empty" },
    { "an empty name of a property", function(v) v.properties[""] = true end, "a key must not be empty" },
    { "a name with a zero byte", function(v) v.tags["a\0b"] = 1 end, "the key contains a zero byte" },
    { "a value with a zero byte", function(v) v.tags.a = "x\0y" end, "the value contains a zero byte" },
    { "a name of 65,537 bytes", function(v) v.tags[("k"):rep(65537)] = true end, "longer than 65536 bytes" },
    { "a value of 65,537 bytes", function(v) v.tags.a = ("k"):rep(65537) end, "longer than 65536 bytes" },
    { "a tag that is a table", function(v) v.tags.a = {} end, "set to true, a string or a number" },
    { "a tag that is false", function(v) v.tags.a = false end, "got false" },
    { "a name that is a number", function(v) v.tags[1] = true end, "have string keys, not number" },
    { "data that are a function", function(v) v.data.a = print end, "function" },
    { "a state that is none", function(v) v.state = "tired" end, "there is no state 'tired'" },
    { "another type", function(v) v.type = "rack" end, "field 'type' of a vertex cannot be set" },
    { "a field that is none", function(v) v.sise = 3 end, "field 'sise' of a vertex cannot be set" },
  }

  for _, case in ipairs(REFUSED) do
    it("refuse " .. case[1], function()
      assert.error_matches(function() case[2](cluster) end, case[3], 1, true)
      assert.same({ 0, 0, 0 }, { #cluster.tags, #cluster.properties, #cluster.data })
    end)
  end

  -- {pool, the error text, code}
  local NOT_ADDED = {
    { { type = "" }, "a pool needs a type" },
    { { type = "x", size = -1 }, "a pool of type x has size -1; sizes are not negative" },
    { { type = "x", uuid = "abc" }, "'abc' is not a UUID" },
    { { type = "x", rank = -5 }, "rank -5 is out of range" },
  }

  for _, case in ipairs(NOT_ADDED) do
    it("are not added: " .. case[2], function()
      local v, why, code = g:add(cluster, case[1])
      assert.is_nil(v)
      assert.equal("invalid", code)
      assert.matches(case[2], why, 1, true)
      assert.equal(1, g:count())
    end)
  end

  it("[P11] a state is set and asked for, and survives save and load", function()
    for _, state in ipairs { "up", "down", "degraded", "failing", "unknown", "null" } do
      cluster.state = state
      assert.equal(state, cluster.state)
      local again <close> = reloaded(g)
      assert.equal(state, again:root().state)
    end
  end)

  it("[P12] users' own data survive save and load", function()
    cluster.data.plan = { steps = { 1, 2.5, "three" }, done = false, next = weir.null }
    cluster.data.empty = weir.array {}
    local again <close> = reloaded(g)
    assert.same(cluster.data.plan, again:root().data.plan)
    assert.equal("[]", weir.json.encode(again:root().data.empty))
  end)

  it("[P13] a pool of one and a pool of many take the same calls", function()
    for _, size in ipairs { 1, 64 } do
      local v = assert(g:add(cluster, { type = "memory", id = size, size = size }))
      assert(v:allocate { job = 1, amount = 1 })
      assert.same({ size, size - 1, 1 }, { v.size, v.free, v:uses()[1].amount })
      assert(v:release(1, 1))
      assert.equal(size, v.free)
    end
  end)
end)

describe("the memory of pools", function()
  -- {machine, bytes per vertex at most}
  local LIMITS = {
    { "cluster:1 rack:10 node:100 socket:2 core:48", 80 },
    { "cluster:1 rack:10 node:1000 memory:4(size=16,unit=GB)", 130 },
  }

  for _, case in ipairs(LIMITS) do
    it(("[P14] at most %d bytes a vertex: %s"):format(case[2], case[1]), function()
      local g <close> = assert(weir.synthetic(case[1]))
      assert.is_true(g:bytes() <= case[2] * g:count(), ("%.1f bytes"):format(g:bytes() / g:count()))
    end)
  end

  it("[P14] is counted in a graph that lost some", function()
    local g <close> = assert(weir.synthetic "cluster:1 rack:2 node:100 core:10")
    local before = g:bytes()
    g:unlink(g:find("type=rack")[1])
    assert.is_true(g:bytes() <= before)
  end)

  it("[P14] what a pool has to say is paid for by that pool alone", function()
    local g <close> = assert(weir.synthetic "cluster:1 node:1000 core:10")
    local before = g:bytes()
    g("/cluster0/node7").tags.note = "x"
    assert.is_true(g:bytes() - before < 8192)
  end)

  -- What a graph keeps for matches: {what, its match}
  local KEPT = {
    { "an order of its own", "slot=1/core", {}, { name = "mine", order = { "id" } } },
    { "scores", "slot=1/core", {}, { name = "mine", evaluate = function(v) return v.free end } },
    { "groups by rack", "slot=2/node", {}, { name = "mine", select = { "fewest", group = { type = "rack" } } } },
    { "flows", "slot=1/[core=1;pdu=1]", {}, {} },
    { "a hierarchy", "slot=1/core", { subsystem = "power" }, {} },
    { "the occupancy of times to come", "slot=1/node", { mode = "reserve", at = 100, duration = 10 }, {} },
  }

  for _, case in ipairs(KEPT) do
    it("[P14] is told with " .. case[1] .. " in it", function()
      local g <close> = assert(weir.synthetic "cluster:1 rack:4 node:8 core:4")
      local pdu = assert(g:add(nil, { type = "pdu", size = 100 }))
      for _, node in ipairs(g:find "type=node") do assert(g:add_edge(pdu, node, { subsystem = "power", type = "supplies" })) end
      local e, before = assert(weir.engine { resources = g, policy = case[4] }), g:bytes()
      assert(e:match(case[2], case[3]))
      assert.is_true(g:bytes() > before + 64, g:bytes() - before)
    end)
  end
end)
