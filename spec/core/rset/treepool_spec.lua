-- RFC 49: an R with writer "TreePool" tells the grouping of a node's resources; and the policy for such an R.

local missing = require "spec.support.missing"
local weir = require "weir"

local DATA = os.getenv "WEIR_DATA" or "../shared/data"

-- An R of nodes alike: {ranks=, core=, gpu=, hosts=, children = of scheduling}.
local function R(t)
  return weir.json.encode { version = 1,
    execution = { R_lite = { { rank = t.ranks, children = { core = t.core, gpu = t.gpu, fpga = t.fpga } } },
      nodelist = t.hosts and { t.hosts } or nil, properties = t.properties },
    scheduling = { writer = t.writer or "TreePool", children = t.children } }
end

-- 6 nodes of 2 sockets of 2 domains of 4 cores and a gpu.
local FLEET = R { ranks = "0-5", core = "0-15", gpu = "0-3", hosts = "fleet[10-15]", children = {
  { ranks = "0-5", topo = {
    storage = { { path = "/scratch", capacity = 1.5, unit = "TiB" } },
    socket = { { memory = 96, numa = { { cores = "0-3", gpus = "0" }, { cores = "4-7", gpus = "1" } } },
      { memory = 95, numa = { { cores = "8-11", gpus = "2" }, { cores = "12-15", gpus = "3" } } } } } } } }

local function machine(text)
  local g, why = weir.parse(text)
  assert(g, why)
  return g
end

local function count(g, query) return #g:find(query) end

-- The descendants of a vertex, in a line: "socket0(numa0(core0 core1))".
local function outline(v)
  local words = {}
  for child in v:children() do
    local size = child.size ~= 1 and (":%d%s"):format(child.size, child.unit) or ""
    words[#words + 1] = child.name .. size .. (child:nchildren() > 0 and "(" .. outline(child) .. ")" or "")
  end
  return table.concat(words, " ")
end

describe("the topology of an R", function()
  it("groups what a node has", function()
    local g <close> = machine(FLEET)
    assert.equal("/cluster0/fleet10/socket1/numa3/core12", g:find("type=core and id=12")[1].path)
    for type, n in pairs { node = 6, socket = 12, numa = 24, core = 96, gpu = 24, memory = 12, storage = 6 } do
      assert.equal(n, count(g, "type=" .. type))
    end
    local node = g:vertex "/cluster0/fleet10"
    assert.equal(0, node.rank)
    assert.equal("storage0:1536GiB socket0(memory0:96GiB numa0(core0 core1 core2 core3 gpu0) numa1(core4 core5 core6 core7 gpu1)) "
      .. "socket1(memory1:95GiB numa2(core8 core9 core10 core11 gpu2) numa3(core12 core13 core14 core15 gpu3))", outline(node))
    assert.equal("/scratch", g:find("type=storage")[1].properties.path)
    assert(g:check())
  end)

  local BUILT = { -- name, R, descendants of the first node
    { "keeps to what R_lite has", R { ranks = "0", core = "2,5", gpu = "1", children = { { ranks = "0", topo = { numa = {
      { cores = "0-1", gpus = "0" }, { cores = "2-3" }, { cores = "4-5", gpus = "1" } } } } } }, "numa1(core2) numa2(core5 gpu1)" },
    { "leaves what it does not name in the node", R { ranks = "0", core = "0-3", gpu = "0", fpga = "0", children = { { ranks = "0", topo = {
      numa = { { cores = "0-1" } } } } } }, "fpga0 numa0(core0 core1) core2 core3 gpu0" },
    { "is for its ranks only", R { ranks = "0-1", core = "0", children = { { ranks = "1", topo = {
      numa = { { cores = "0" } } } } } }, "core0" },
    { "can have domains of a site's own", R { ranks = "0", core = "0-1", children = { { ranks = "0", topo = { tile = { { l3 = {
      { cores = "0" }, { cores = "1" } } } } } } } }, "tile0(l30(core0) l31(core1))" },
    { "keeps domains that are about memory", R { ranks = "0", core = "0", children = { { ranks = "0", topo = {
      cores = "0", numa = { { memory = 16 }, { memory = 0 } } } } } }, "core0 numa0(memory0:16GiB) numa1" },
    { "tells capacities with a fraction in smaller units", R { ranks = "0", core = "0", children = { { ranks = "0", topo = {
      storage = { { path = "a", capacity = 0.5, unit = "TB" }, { path = "b", capacity = 0.3, unit = "KiB" },
        { path = "c", capacity = 7 } } } } } },
      "storage0:500GB storage1:307B storage2:7GiB core0" },
    { "may be left out", R { ranks = "0", core = "0-1" }, "core0 core1" },
    { "of another writer is not looked at", R { ranks = "0", core = "0", writer = "other", children = { { ranks = 5 } } }, "core0" },
  }
  for _, case in ipairs(BUILT) do
    it(case[1], function()
      local g <close> = machine(case[2])
      assert.equal(case[3], outline(g:find("type=node")[1]))
      assert(g:check())
    end)
  end

  it("is each rank's own, in whatever order the entries come", function()
    local g <close> = machine(R { ranks = "0-9", core = "0-1", children = {
      { ranks = "2,7-8", topo = { numa = { { cores = "0" }, { cores = "1" } } } }, { ranks = "4", topo = { tile = { { cores = "0-1" } } } },
      { ranks = "0,5-6", topo = { numa = { { cores = "0-1" } } } } } })
    local got = {}
    for i, node in ipairs(g:find("type=node")) do got[i] = outline(node) end
    local plain, two, one, tile = "core0 core1", "numa0(core0) numa1(core1)", "numa0(core0 core1)", "tile0(core0 core1)"
    assert.same({ one, plain, two, plain, tile, one, one, two, two, plain }, got)
    assert(g:check())
  end)

  it("reaches properties of one type", function()
    local g <close> = machine(R { ranks = "0", core = "0-1", gpu = "0", properties = { ["fast@core"] = "0" },
      children = { { ranks = "0", topo = { numa = { { cores = "0-1", gpus = "0" } } } } } })
    assert.same({ 2, 0 }, { count(g, "type=core and property=fast"), count(g, "type=gpu and property=fast") })
  end)

  local function topo(t) return { { ranks = "0", topo = t } } end
  local REFUSED = { -- children, message
    { 3, "scheduling.children: must be an array of" },
    { { 3 }, "scheduling.children[0]: must be an object with ranks and topo" },
    { { { topo = {} } }, 'scheduling.children[0]: ranks must be a string such as "0-14"' },
    { { { ranks = "1,0", topo = {} } }, 'scheduling.children[0]: ranks: "1,0":' },
    { { { ranks = "0-2", topo = {} }, { ranks = "2", topo = {} } },
      'scheduling.children[1]: ranks: "2" has a rank that an earlier entry has' },
    { { { ranks = "0" } }, "scheduling.children[0].topo: must be an object such as" },
    { topo { core = "0-3" }, "scheduling.children[0].topo: core must be an array of domains; other keys: cores, gpus, memory, storage" },
    { topo { socket = { { numa = { { cores = 4 } } } } },
      'scheduling.children[0].topo.socket[0].numa[0]: cores must be a string such as "0-14"' },
    { topo { numa = { { cores = "0-3" }, { cores = "3" } } },
      'scheduling.children[0].topo.numa[1]: cores: "3" has some that another domain has' },
    { topo { numa = { { memory = -1 } } }, "scheduling.children[0].topo.numa[0]: memory must be a number of GiB" },
    { topo { storage = { { capacity = 1 } } }, "scheduling.children[0].topo.storage[0]: must be an object with path" },
    { topo { storage = { { path = "a", capacity = 0.5, unit = "bricks" } } }, 'has a fraction; the unit "bricks" has no smaller one' },
    { topo { storage = { { path = "a", capacity = 1e300 } } }, "capacity must be a number from 0 to 2^53" },
    { topo { storage = "/a" }, "scheduling.children[0].topo: storage must be an array of" },
    { topo { storage = { { path = "a", capacity = 1, unit = 5 } } }, "topo.storage[0]: unit must be a string such as" },
    { topo { storage = { { path = "a", capacity = 1, unit = "" } } }, "topo.storage[0]: unit is empty" },
    { topo { storage = { { path = "a", capacity = 2 ^ 50 + 0.5, unit = "TB" } } }, "capacity must be a number from 0 to 2^53" },
    { topo { storage = { { path = ("a"):rep(70000), capacity = 1 } } }, "path must have at most 65536 bytes" },
    { topo { ["a/b"] = { {} } }, 'scheduling.children[0].topo: the type of domains "a/b"' },
  }
  for _, case in ipairs(REFUSED) do
    it("is refused: " .. case[2], function()
      local g, why = weir.parse(R { ranks = "0-2", core = "0-3", children = case[1] })
      assert.is_nil(g)
      assert.is_truthy(why:find(case[2], 1, true), why)
    end)
  end

  it("has limits", function()
    local deep = { cores = "0" }
    for _ = 1, 18 do deep = { box = { deep } } end
    local g, why, code = weir.parse(R { ranks = "0", core = "0", children = topo(deep) })
    assert.same({ nil, "limit" }, { g, code })
    assert.is_truthy(why:find("domains are nested more than 16 deep", 1, true), why)
  end)
end)

describe("unions of sets with topologies", function()
  local TWO = { socket = { { cores = "0-1" }, { cores = "2-3" } } }
  local ONE = { socket = { { cores = "0-3" } } }

  local function set(ranks, children) return assert(weir.rset(R { ranks = ranks, core = "0-3", children = children })) end

  -- {what, sets, children of the union}
  for _, case in ipairs {
    { "name equal topologies once",
      { set("0-1", { { ranks = "0-1", topo = TWO } }), set("2-3", { { ranks = "2", topo = TWO }, { ranks = "3", topo = ONE } }) },
      { { ranks = "0-2", topo = TWO }, { ranks = "3", topo = ONE } } },
    { "of parts have what belongs to the parts",
      { set("0-3", { { ranks = "0-3", topo = TWO } }) - set("0-1", { { ranks = "0-1", topo = TWO } }),
      set("7", { { ranks = "7", topo = ONE } }) }, { { ranks = "2-3", topo = TWO }, { ranks = "7", topo = ONE } } },
  } do
    it(case[1], function()
      local both = weir.json.decode((case[2][1] | case[2][2]):format "rv1")
      assert.equal("TreePool", both.scheduling.writer)
      assert.same(case[3], both.scheduling.children)
    end)
  end
end)

-- ---- the policy ---------------------------------------------------------------------------------------------

-- The picks of each shape on a machine, match after match: R_lite, shortly "0: core 0-7 gpu 0".
local function played(g, rows)
  local e = assert(weir.engine { resources = g, policy = "treepool" })
  local got, wanted = {}, {}
  for i, row in ipairs(rows) do
    local a, _, code = e:match(row[1], { mode = row.mode })
    local words = { row[1], "->", code }
    for _, entry in ipairs(a and a ~= true and weir.json.decode(a:format "rlite") or {}) do
      words[#words + 1] = entry.rank .. ":"
      for _, type in ipairs { "core", "gpu" } do
        if entry.children[type] then words[#words + 1] = type .. " " .. entry.children[type] end
      end
    end
    got[i], wanted[i] = table.concat(words, " "), row[1] .. " -> " .. row[2]
    assert(g:check())
  end
  return table.concat(got, "\n"), table.concat(wanted, "\n")
end

describe("the policy treepool", function()
  local PLAYS = {
    { "keeps a slot in the domain that could hold it", {
      { "slot/node/[core=2;gpu]", "0: core 0-1 gpu 0" }, { "slot/node/[core=2;gpu]", "0: core 4-5 gpu 1" },
      { "slot/node/core=3", "0: core 8-10" }, { "slot/node/[core=4;gpu]", "0: core 12-15 gpu 3" },
      { "slot/node/[core=4;gpu]", "1: core 0-3 gpu 0" } } },
    { "goes to sockets and nodes for more", {
      { "slot/node/[core=8;gpu=2]", "0: core 0-7 gpu 0-1" }, { "slot/node/core=5", "0: core 8-12" }, { "slot/node/core=9", "1: core 0-8" },
      { "slot/node/core=17", "infeasible" } } },
    { "puts several slots into one domain", {
      { "node/slot=3/[core=2]", "0: core 0-5" }, { "slot=5/[core=2]", "0: core 6-15" } } },
    { "prefers the fullest node that fits", {
      { "slot/node/core=4", "0: core 0-3" }, { "slot=2/node/core=16", "1-2: core 0-15" }, { "slot/node/core=12", "0: core 4-15" },
      { "slot/node{x}", "3: core 0-15 gpu 0-3" } } },
    { "gives whole domains when they are asked for", {
      { "slot/core", "0: core 0" }, { "slot/numa{x}", "0: core 4-7 gpu 1" }, { "slot/socket{x}", "0: core 8-15 gpu 2-3" },
      { "slot/socket{x}", "1: core 0-7 gpu 0-1" } } },
    { "takes a node for each slot that has one", { { "slot=3/node/core=2", "0-2: core 0-1" }, { "slot=7/node/core=2", "infeasible" } } },
    { "takes memory and storage by the unit", { { "node/slot/[core;memory=90{unit:GiB};storage=1000{unit:GiB}]", "0: core 0" },
      { "node/slot/[core;storage=600{unit:GiB}]", "1: core 0" } } },
    { "leaves no job out that has no such slots", { { "slot=6/node", "0-5: core 0-15 gpu 0-3" }, { "slot/core", "busy" } } },
  }
  for _, play in ipairs(PLAYS) do
    it(play[1], function()
      local g <close> = machine(FLEET)
      local got, wanted = played(g, play[2])
      assert.equal(wanted, got)
    end)
  end

  it("leaves locality to policies that ask for it", function()
    local got = {}
    for i, types in ipairs { {}, { "numa" }, { "socket", "numa" }, { "tray", "numa" } } do
      local g <close> = machine(FLEET)
      local e = weir.engine { resources = g, policy = { order = "id", locality = types } }
      assert(e:match "slot/core")
      got[i] = assert(e:match "node/slot/core=4"):vertices()[1].vertex.path
    end
    assert.same({ "/cluster0/fleet10/socket0/numa0/core1", "/cluster0/fleet10/socket0/numa1/core4",
      "/cluster0/fleet10/socket0/numa0/core1", "/cluster0/fleet10/socket0/numa1/core4" }, got)
  end)

  it("says what a locality is", function()
    local g <close> = machine(FLEET)
    local e, why = weir.engine { resources = g, policy = { locality = 3 } }
    assert.is_nil(e)
    assert.is_truthy(why:find("field 'locality': string or list of strings expected, got number", 1, true), why)
  end)

  it("says what it cannot do", function()
    local g <close> = machine(FLEET)
    local a, why, code = weir.engine { resources = g, policy = "treepool" }:match("slot=1-2/node=1-2/core")
    assert.same({ nil, "rejected" }, { a, code })
    assert.is_truthy(why:find("slots and the nodes in them both have counts that may vary", 1, true), why)
  end)

  it("is no longer than 80 lines", function()
    local n = 0
    for _ in io.lines "policies/treepool.lua" do n = n + 1 end
    assert.is_true(n <= 80)
  end)

  local file = io.open(DATA .. "/codec/treepool_cluster_a.json")
  if not file then return pending(missing.data "codec/treepool_cluster_a.json") end
  local cluster = assert(weir.json.decode(file:read "a"))
  file:close()
  it("gives cluster A of RFC 49 what the RFC says, row by row", function()
    local g <close> = machine(weir.json.encode { version = 1, scheduling = cluster.scheduling,
      execution = { R_lite = { { rank = "0-15", children = { core = "0-119", gpu = "0-7" } } } } })
    local e = assert(weir.engine { resources = g, policy = "treepool" })
    for _, row in ipairs(cluster.rows) do
      local a, why = e:match(row.shape)
      assert(a, why)
      assert.same({ row.id, { row.R_lite } }, { row.id, weir.json.decode(a:format "rlite") })
      assert(g:check())
    end
  end)
end)
