-- UUIDs of graphs and pools (P2): frozen when made, unique, kept by everything that carries a pool.
local weir = require "weir"
local files = require "spec.support.shell"

local MACHINE = "cluster:1 rack:2 node:2 core:4"
local GIVEN = "01234567-89ab-4def-8123-456789abcdef"

local function uuids(g)
  local seen = {}
  for v in g:walk {} do
    assert(v.uuid:match "^%x+%-%x%x%x%x%-[48]%x%x%x%-[89ab]%x%x%x%-%x+$", v.uuid)
    assert(not seen[v.uuid], "twice: " .. v.uuid)
    seen[v.uuid] = v.path
  end
  return seen
end

local function machine(uuid)
  local g = assert(weir.synthetic(MACHINE))
  if uuid then assert(g:uuid(uuid)) end
  return g
end

describe("UUIDs", function()
  after_each(function() files.clean() end)

  it("[P2] of machines described alike differ, and are equal where the graphs have one UUID", function()
    local a, b, c = machine(), machine "12345678-9abc-4def-8123-456789abcdef", machine "12345678-9abc-4def-8123-456789abcdef"
    local of_a = uuids(a)
    for uuid in pairs(uuids(b)) do assert.is_nil(of_a[uuid]) end
    assert.same(uuids(b), uuids(c))
    assert.equal("12345678-9abc-4def-8123-456789abcdef", b:uuid())
  end)

  it("[P2] are random without WEIR_UUID in the environment", function()
    local script = files.path(files.directory(), "uuid.lua", 'print(require("weir").synthetic("cluster:1"):uuid())')
    local function run()
      local p <close> = assert(io.popen(("env -u WEIR_UUID %s run %s"):format(os.getenv "WEIR_BIN", script)))
      return p:read "l"
    end
    assert.not_equal(run(), run())
  end)

  it("[P2] stay when a template, a sibling or the parent changes", function()
    local g = machine()
    local v = assert(g:add(g:root(), { type = "node", id = 9, name = "n-${x}", properties = { x = "1" } }))
    local core = assert(g:add(v, { type = "core", id = 0 }))
    local before = { v.uuid, core.uuid }
    v.properties.x = "2"
    assert(g:unlink(g "/cluster0/rack0"))
    assert.same(before, { v.uuid, core.uuid })
    uuids(g)
  end)

  it("[P2] are not given again after a removal, not even over a save", function()
    local g, path = machine(), files.path(files.directory(), "g.sqlite")
    local gone = {}
    for round = 1, 4 do
      local v = g "/cluster0/rack0/node0"
      assert.is_nil(gone[v.uuid])
      gone[v.uuid] = round
      assert(g:unlink(v))
      if round == 3 then
        assert(g:save(path))
        g = assert(weir.load(path))
      end
      assert(g:add(g "/cluster0/rack0", { type = "node", id = 0 }))
      uuids(g)
    end
  end)

  it("[P2] equal to one that is there are refused, given or derived", function()
    local g = machine()
    local v = g "/cluster0/rack0/node0"
    local x, why, code = g:add(g:root(), { type = "node", id = 9, uuid = v.uuid })
    assert.is_nil(x)
    assert.equal("exists", code)
    assert.truthy(why:find(v.uuid, 1, true))
    assert(g:add(g:root(), { type = "node", id = 9, uuid = GIVEN }))
    assert.equal("exists", select(3, g:add(g:root(), { type = "node", id = 10, uuid = GIVEN })))
    assert.equal(v, g:find("uuid=" .. v.uuid)[1])
    assert(g:check())
  end)

  it("[P2][M1][M3] are kept by duplicates, extracts, copies, formats and stores", function()
    local g, dir = machine(), files.directory()
    assert(g:unlink(g "/cluster0/rack0/node0"))
    assert(g:add(g "/cluster0/rack0", { type = "node", id = 0, uuid = GIVEN }))
    assert(g:add(g "/cluster0/rack0", { type = "node", id = 7 }))
    local all = uuids(g)
    local sqlite, json = files.path(dir, "g.sqlite"), files.path(dir, "g.json")
    assert(g:save(sqlite) and g:save(json))
    local again = assert(weir.load(sqlite))
    for name, h in pairs { dup = g:dup(), extract = g:extract(g:find "id>=0"), copy = g:copy(g:root()), jgf = weir.parse((g:format "jgf")),
      rv1 = weir.parse((g:format "rv1")), sqlite = again, json = weir.load(json), pieces = g:pieces():graph() } do
      assert.same(all, uuids(h), name)
      local v = assert(h:add(h:root(), { type = "node", id = 99 }))
      assert.is_nil(all[v.uuid], name)
      assert(h:check())
    end
    assert.equal(g:uuid(), again:uuid())
  end)

  it("[P2][R9] of a job's nodes are those of the machine, in R and in the child", function()
    local g = machine()
    local R = assert(weir.engine { resources = g }:match "slot=1/node"):format "rv1"
    local child = assert(weir.parse(R))
    for v in child:walk {} do assert.equal(v.uuid, g(v.path).uuid) end
    assert.not_equal(g:uuid(), assert(child:uuid()) .. "x")
  end)

  it("[P2][M4] are kept by a merge, at another path too, and one that another pool has is refused", function()
    local center = weir.new()
    local top = assert(center:add(nil, { type = "center", id = 0 }))
    local cluster = assert(center:add(top, { type = "cluster", id = 5 }))
    local other = machine "12345678-9abc-4def-8123-456789abcdef"
    assert(center:merge(other, "/center0/cluster5"))
    for _, path in ipairs { "/rack0", "/rack1/node3", "/rack1/node3/core2" } do
      assert.equal(other("/cluster0" .. path).uuid, center(cluster.path .. path).uuid)
    end
    local a, b = weir.new(), weir.new()
    assert(a:add(assert(a:add(nil, { type = "c", id = 0 })), { type = "n", id = 0, uuid = GIVEN }))
    assert(b:add(assert(b:add(nil, { type = "c", id = 0 })), { type = "m", id = 0, uuid = GIVEN }))
    local before = a:format "jgf"
    assert.equal("exists", select(3, a:merge(b)))
    assert.equal(before, a:format "jgf")
  end)
end)
