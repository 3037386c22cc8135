-- weir.hostlist: lists of host names as a type of their own (RFC 29).
local cases = require "spec.support.cases"
local missing = require "spec.support.missing"
local tables = require "spec.support.tables"
local weir = require "weir"

local function hosts(...) return assert(weir.hostlist(...)) end

local function names(h)
  local out = {}
  for name, i in h:names() do out[i] = name end
  return out
end

local function joined(h) return table.concat(names(h), ",") end

describe("hostlists", function()
  describe("as texts", function()
    local rows = { -- text, names, compact
      { "", "", "" },
      { "node[1-3,007]", "node1,node2,node3,node007", "node[1-3,007]" },
      { "b,a,b", "b,a,b", "b,a,b" },
      { "n[3,1,1-2]", "n3,n1,n1,n2", "n[3,1,1-2]" },
      { "[00-2]", "00,01,02", "[00-02]" },
      { "a[005,4,11]", "a005,a004,a011", "a[005,004,011]" },
      { "n[8-11]", "n8,n9,n10,n11", "n[8-11]" },
      { "foo[1-2]-eth0,foo3-eth0", "foo1-eth0,foo2-eth0,foo3-eth0", "foo1-eth0,foo2-eth0,foo3-eth0" },
      { "foo[1,3]-bar", "foo1-bar,foo3-bar", "foo1-bar,foo3-bar" },
      { "a[1-2]-b7,a2-b8", "a1-b7,a2-b7,a2-b8", "a1-b7,a2-b[7-8]" },
      { "n1[08-12]", "n108,n109,n110,n111,n112", "n[108-112]" },
      { " a1 , a2\n", "a1,a2", "a[1-2]" },
      { ",,a,,", "a", "a" },
    }
    for _, row in ipairs(rows) do
      it(("[H1] are read and written: %q"):format(row[1]), function()
        local h = hosts(row[1])
        assert.equal(row[2], joined(h))
        assert.equal(row[3], tostring(h))
        assert.equal(row[3], h:format())
        assert.equal(h, hosts(row[2]))
        assert.equal(h, hosts(row[3]))
      end)
    end

    local refused = { -- text, code, column
      { "[]", "parse", 2 }, { "foo[", "parse", 5 }, { "foo[1,3", "parse", 8 }, { "foo]", "parse", 4 },
      { "foo[5-1]", "parse", 7 }, { "foo[1,]", "parse", 7 }, { "foo[1, 2]", "parse", 7 }, { "a b", "parse", 3 },
      { "r[1-2]n[3-4]", "parse", 8 }, { "a1,\x01", "parse", 4 }, { "h\xc3\xa9", "parse", 2 }, { "a\0", "parse", 2 },
      { "h[1-1234567890123456789]", "limit", 5 }, { ("x"):rep(70000), "limit" },
    }
    for _, row in ipairs(refused) do
      it(("[H1] are refused with the column: %q"):format(row[1]:sub(1, 30)), function()
        local h, why, code = weir.hostlist(row[1])
        assert.is_nil(h)
        assert.equal(row[2], code)
        assert.truthy(not row[3] or why:find("column " .. row[3], 1, true), why)
      end)
    end
  end)

  describe("are made", function()
    it("[H1] from nothing, a list of texts, another list", function()
      assert.equal("", tostring(hosts()))
      assert.equal("a[1-3],b", tostring(hosts { "a1", "a[2-3],b" }))
      assert.equal("", tostring(hosts {}))
      local h = hosts "a"
      hosts(h):append "b"
      assert.equal("a", tostring(h))
      local none, why, code = weir.hostlist { "a", "b[" }
      assert.same({ nil, "parse" }, { none, code })
      assert.truthy(why:find("entry 2: hostlist: ends at column 3", 1, true), why)
    end)

    local wrong = {
      ["nil"] = function() return weir.hostlist(nil) end,
      ["a number"] = function() return weir.hostlist(7) end,
      ["a function"] = function() return weir.hostlist(print) end,
      ["a number in a list"] = function() return weir.hostlist { "a", 7 } end,
      ["a table that is no list"] = function() return weir.hostlist { hosts = "a" } end,
      ["a list with holes"] = function() return weir.hostlist { "a", nil, "b", [7] = "c" } end,
      ["an idset"] = function() return weir.hostlist(weir.idset "1") end,
    }
    for what, f in pairs(wrong) do
      it("[H1] not from " .. what, function() assert.has_error(f) end)
    end
  end)

  it("[H1] have positions from 1 on", function()
    local h = hosts "node[1-3,007]"
    assert.same({ 4, 4 }, { #h, h:count() })
    assert.same({ "node1", "node007", nil, nil, nil, nil }, { h[1], h[4], h[5], h[0], h[-1], h[1.5] })
    local seen = {}
    for i, name in ipairs(h) do seen[i] = name end
    assert.same(names(h), seen)
    assert.has_error(function() return h.cuont end, 'a hostlist has no method \'cuont\' (did you mean "count"?)')
    assert.has_error(function() return h[nil] end)
    assert.has_error(function() h[1] = "x" end)
  end)

  it("[H1] know where a name is, and whether", function()
    local h = hosts "b[1-3],a,b2,x[1-100000]y"
    for _ = 1, 20 do -- the index comes in between
      assert.same({ 2, 4, 6, 100005, nil, nil, nil }, { h:find "b2", h:find "a", h:find "x1y", h:find "x100000y", h:find "b02",
        h:find "x0y", h:find "" })
      assert.is_true(h:has "b3" and not h:has "b4")
    end
    h:delete "b2"
    assert.same({ 4 }, { h:find "b2" })
    for _, f in ipairs { function() h:find() end, function() h:find(7) end, function() h:has(nil) end } do
      assert.has_error(f)
    end
  end)

  it("[H1] grow at their end", function()
    local h = hosts "a1"
    assert.equal(h, h:append "a2,b")
    assert.equal("a[1-2],b,c,d", tostring(h:append { "c", "d" }))
    assert.equal("a[1-2],b,c,d,a[1-2],b,c,d", tostring(h:append(h)))
    assert.same({ nil, "parse" }, { (h:append "x,y["), (select(3, h:append "x,y[")) })
    assert.equal(10, #h)
    for _, f in ipairs { function() h:append() end, function() h:append(nil) end, function() h:append(7) end } do
      assert.has_error(f)
    end
  end)

  it("[H1] lose the first of each name that is deleted", function()
    local h = hosts "a[1-5],a[1-5]"
    assert.equal(2, h:delete "a3,zz,a3")
    assert.equal("a[1-2,4-5,1-2,4-5]", tostring(h))
    assert.equal(0, h:delete "a3")
    assert.equal(3, h:delete { "a1", "a1,a2" })
    assert.equal("a[4-5,2,4-5]", tostring(h))
    assert.equal("a5", h:delete_at(2))
    assert.equal("a[4,2,4-5]", tostring(h))
    assert.same({ nil, "unknown" }, { (h:delete_at(5)), (select(3, h:delete_at(5))) })
    assert.same({ nil, "unknown" }, { (h:delete_at(0)), (select(3, h:delete_at(-1))) })
    assert.equal("parse", select(3, h:delete "["))
    assert.equal(4, h:delete(h))
    assert.equal("", tostring(h))
    for _, f in ipairs { function() h:delete() end, function() h:delete(1) end, function() h:delete_at() end,
      function() h:delete_at "x" end, function() h:delete_at(1.5) end } do
      assert.has_error(f)
    end
  end)

  it("[H1] are sorted, and rid of what comes twice", function()
    local h = hosts "n10,n9,m,n010,n9,a2x,a10x"
    local copy = h:copy()
    assert.equal(h, h:sort())
    assert.equal("a10x,a2x,m,n9,n9,n10,n010", joined(h))
    assert.equal("a10x,a2x,m,n9,n10,n010", joined(copy:uniq()))
    assert.equal("n10,n9,m,n010,n9,a2x,a10x", joined(hosts "n10,n9,m,n010,n9,a2x,a10x"))
  end)

  it("[H1] compare by what is in them and in what order", function()
    assert.is_true(hosts "a[1-2]" == hosts "a1,a2")
    assert.is_true(hosts "a[1-2]-b" == hosts "a1-b,a2-b")
    assert.is_false(hosts "a[1-2]" == hosts "a2,a1")
    assert.is_false(hosts "a" == hosts "a,a")
    assert.is_false(hosts "1" == weir.idset "1")
    local h = hosts "a"
    assert.same({ 1, nil, 2 }, { ({ [h] = 1 })[h], ({ [h] = 1 })[hosts "a"], ({ a = 2 })[tostring(h)] })
  end)

  it("[H1] may change under a loop, which goes over what was there", function()
    local h, seen = hosts "a[1-4]", {}
    for name, i in h:names() do
      seen[#seen + 1] = i .. name
      h:delete(name)
      h:append "z"
    end
    assert.same({ "1a1", "2a2", "3a3", "4a4" }, seen)
    assert.equal("z,z,z,z", tostring(h))
  end)

  it("[H1] of hostile size cost what their text costs", function()
    local h = hosts "a[0-99999999],b[0-4294967295]-eth0"
    assert.equal(4394967296, #h)
    assert.same({ "a7", "b100-eth0", nil }, { h[8], h[100000101], h[4394967297] })
    assert.same({ 100000001, 4394967296 }, { h:find "b0-eth0", h:find "b4294967295-eth0" })
    assert.equal("a[0-99999999],b[0-4294967295]-eth0", tostring(h))
    assert.equal(h, h:copy())
    assert.equal("limit", select(3, h:sort()))
    assert.equal("limit", select(3, h:uniq()))
    assert.equal("limit", select(3, h:delete "a7"))
    assert.equal("a7", h:delete_at(8))
    assert.equal("a8", h[8])
    for name in h:names() do
      if name == "a1000" then break end
    end
    assert.equal("limit", select(3, h:append { "x[0-999999999999999999]", ("x[0-999999999999999999],"):rep(9) }))
    assert.equal("a[0-6,8-99999999],b[0-4294967295]-eth0", tostring(h))
  end)

  it("[H1] that are dead or foreign raise", function()
    local class = debug.getregistry()["weir.hostlist"]
    local h = hosts "a[1-3]"
    local f, s = h:names()
    class.__gc(h)
    class.__gc(h)
    for name, method in pairs(class.methods) do
      assert.is_false(pcall(method, h, "a"), name)
      assert.is_false(pcall(method, weir.idset "1", "a"), name)
    end
    for _, use in ipairs { function() return h[1] end, function() return h:count() end, function() return #h end,
      function() return tostring(h) end, function() return h == hosts "a" end, function() return weir.hostlist(h) end,
      function() return hosts("a"):append(h) end } do
      assert.has_error(use)
    end
    assert.equal("a1", (f(s))) -- a loop has a list of its own
    assert.equal("weir.hostlist", getmetatable(hosts "a"))
  end)

  -- ---- tables ----

  describe("of the tables", function()
    local data = tables.load "codec/libhostlist_hostlist.json"
    if not data then
      pending("[H1] " .. missing.data "codec/libhostlist_hostlist.json")
      return
    end

    for _, row in ipairs(data.input) do
      it("[H1] refused: " .. row[1], function()
        local h, _, code = weir.hostlist(row[1])
        assert.same({ nil, "parse" }, { h, code })
      end)
    end

    for _, row in ipairs(data.codec_tests) do
      it("[H1] codec: " .. row[1], function()
        local h = hosts(row[1])
        assert.same({ row[2], row[3] }, { tostring(h), #h })
        assert.same({ row[2], row[3] }, { tostring(h:copy()), #names(h) })
      end)
    end

    for _, row in ipairs(data.find_tests) do
      it(("[H1] find: %s in %s"):format(row[2], row[1]), function()
        local at = row[3] >= 0 and row[3] + 1 or nil
        local h = hosts(row[1])
        for _ = 1, 10 do assert.equal(at, h:find(row[2])) end
      end)
    end

    for _, row in ipairs(data.delete_tests) do
      it(("[H1] delete: %s from %s"):format(row[2], row[1]), function()
        local h = hosts(row[1])
        assert.same({ row[3], row[4] }, { h:delete(row[2]), tostring(h) })
      end)
    end

    for _, row in ipairs(data.sortuniq_tests) do
      it("[H1] sort and uniq: " .. row[1], function()
        assert.equal(row[2], tostring(hosts(row[1]):sort()))
        assert.equal(row[3], tostring(hosts(row[1]):uniq()))
      end)
    end

    for _, row in ipairs(data.iterator_inputs) do
      it("[H1] iterate: " .. row[1], function()
        local again = hosts()
        for name in hosts(row[1]):names() do again:append(name) end
        assert.equal(row[1], tostring(again))
      end)
    end

    for _, row in ipairs(data.next_delete_tests) do
      it("[H1] " .. row[1], function()
        local h = hosts(row[2])
        local following
        for name, i in h:names() do
          if i == row[3] + 1 then assert.equal(1, h:delete(row[4] or name)) end
          if i == row[3] + 2 then following = name end
        end
        assert.equal(row[5], following)
      end)
    end
  end)

  local vectors = tables.read "codec/spec_29_test_vectors.rst"
  if not vectors then pending("[H1] " .. missing.data "codec/spec_29_test_vectors.rst") end
  for compact, spelled in (vectors or ""):gmatch '``"([^"]*)"`` = ``"([^"]*)"``' do
    it("[H1] vector: " .. compact, function()
      assert.equal(spelled, joined(hosts(compact)))
      assert.equal(hosts(compact), hosts(spelled))
    end)
  end

  -- ---- random lists against tables of names ----

  local HEADS, TAILS = { "a", "a0", "b12", "", "foo-" }, { "", "", "", "-e", "0", "7x", "-b8" }

  -- A random expression, and the names in it.
  local function expression(rnd)
    local head, tail = rnd:pick(HEADS), rnd:pick(TAILS)
    local ranges, out, padding = {}, {}, 0
    for k = 1, rnd:between(1, 3) do
      local lo = rnd:chance(50) and rnd:between(0, 12) or rnd:between(95, 105)
      local hi = rnd:chance(50) and lo or lo + rnd:between(0, 8)
      local first = rnd:chance(30) and ("%03d"):format(lo) or tostring(lo)
      local width = #first > #tostring(lo) and 3 or 0
      if k == 1 then padding = width end
      ranges[k] = hi > lo and first .. "-" .. hi or first
      for n = lo, hi do out[#out + 1] = head .. ("%0" .. math.max(width, padding) .. "d"):format(n) .. tail end
    end
    return ("%s[%s]%s"):format(head, table.concat(ranges, ","), tail), out
  end

  local function position(list, name)
    for i, other in ipairs(list) do
      if other == name then return i end
    end
  end

  local function sort_key(name)
    local prefix, number = name:match "^(.-)(%d*)$"
    return ("%s\0%06d%s"):format(prefix, #number, number)
  end

  local function in_order(a, b) return sort_key(a) < sort_key(b) end

  local ACTIONS = {
    function(h, model, text, more)
      assert(h:append(text))
      table.move(more, 1, #more, #model + 1, model)
    end,
    function(h, model, text, more)
      local gone = 0
      for _, name in ipairs(more) do
        local at = position(model, name)
        if at then
          table.remove(model, at)
          gone = gone + 1
        end
      end
      assert.equal(gone, h:delete(text))
    end,
    function(h, model, _, _, rnd)
      local at = rnd:between(0, #model + 1)
      assert.equal(model[at] and table.remove(model, at), h:delete_at(at) or nil)
    end,
    function(h, model)
      assert(h:sort())
      table.sort(model, in_order)
    end,
    function(h, model)
      assert(h:uniq())
      table.sort(model, in_order)
      for i = #model, 2, -1 do
        if model[i] == model[i - 1] then table.remove(model, i) end
      end
    end,
  }
  local WEIGHTS = { 1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 5 }

  local function check(h, model, rnd, what)
    assert.same(model, names(h), what)
    assert.equal(h, hosts(tostring(h)), what)
    assert.equal(h, hosts(model), what)
    assert.equal(tostring(h), tostring(hosts(model)), what)
    for _ = 1, rnd:between(0, 3) do
      local _, wanted = expression(rnd)
      for _, name in ipairs(wanted) do assert.equal(position(model, name), h:find(name), what) end
    end
  end

  it("[H1] are what tables of names are, after anything", function()
    cases.each_seed(40, function(rnd, seed)
      local h, model = hosts(), {}
      for i = 1, 30 do
        local what = ("WEIR_SPEC_SEED=%d, step %d"):format(seed, i)
        local text, more = expression(rnd)
        ACTIONS[rnd:pick(WEIGHTS)](h, model, text, more, rnd)
        check(h, model, rnd, what)
      end
    end)
  end)
end)
