-- weir.idset: sets of ids as a type of their own (RFC 22).
local cases = require "spec.support.cases"
local missing = require "spec.support.missing"
local tables = require "spec.support.tables"
local weir = require "weir"

local RANGE = { IDSET_FLAG_RANGE = true, ["IDSET_FLAG_RANGE|IDSET_FLAG_BRACKETS"] = true }
local BRACKETS = { ["IDSET_FLAG_RANGE|IDSET_FLAG_BRACKETS"] = true }

local function set(...) return assert(weir.idset(...)) end

local function list(s)
  local out = {}
  for id in s:ids() do out[#out + 1] = id end
  return out
end

-- Resident bytes of the process; nil without /proc.
local function resident()
  local file = io.open "/proc/self/statm"
  if not file then return nil end
  local pages = file:read("a"):match "^%d+ (%d+)"
  file:close()
  return tonumber(pages) * 4096
end

describe("idsets", function()
  describe("as texts", function()
    local rows = { -- text, with ranges, with brackets, every id
      { "", "", "", "" },
      { "[]", "", "", "" },
      { "0", "0", "0", "0" },
      { "[7]", "7", "7", "7" },
      { "1-3", "1-3", "[1-3]", "1,2,3" },
      { "1-3,4", "1-4", "[1-4]", "1,2,3,4" },
      { "[1,3,5-5]", "1,3,5", "[1,3,5]", "1,3,5" },
      { "0-1,4294967294-4294967295", "0-1,4294967294-4294967295", "[0-1,4294967294-4294967295]",
        "0,1,4294967294,4294967295" },
    }
    for _, row in ipairs(rows) do
      it(('[I1] are read and written: "%s"'):format(row[1]), function()
        local s = set(row[1])
        assert.equal(row[2], tostring(s))
        assert.equal(row[2], s:format())
        assert.equal(row[3], s:format { brackets = true })
        assert.equal(row[4], s:format { ranges = false })
        assert.equal(s, set(row[3]))
      end)
    end

    local refused = { -- text, code, column
      { "x", "parse", 1 }, { "1,,2", "parse", 3 }, { "1,", "parse", 3 }, { "1 ", "parse", 2 }, { "1-02", "parse", 3 },
      { "3-1", "parse", 3 }, { "5,3", "parse", 3 }, { "1-5,5", "parse", 5 }, { "[1", "parse", 3 }, { "1]", "parse", 2 },
      { "[1]2", "parse", 4 }, { "-5", "parse", 1 }, { "1\0", "parse", 2 }, { "\xff", "parse", 1 },
      { "4294967296", "limit", 1 }, { "1-99999999999999999999", "limit", 3 },
    }
    for _, row in ipairs(refused) do
      it(("[I1] are refused with the column: %q"):format(row[1]), function()
        local s, why, code = weir.idset(row[1])
        assert.is_nil(s)
        assert.equal(row[2], code)
        assert.truthy(why:find("column " .. row[3], 1, true), why)
      end)
    end
  end)

  describe("are made", function()
    it("[I1] from nothing, an id, a list in any order, another set", function()
      assert.equal("", tostring(weir.idset()))
      assert.equal("7", tostring(set(7)))
      assert.equal("1-3,9", tostring(set { 9, 3, 1, 2, 3 }))
      assert.equal("0,4294967295", tostring(set { 4294967295, 0.0 }))
      assert.equal("", tostring(set {}))
      local s = set "1-3"
      local copy = set(s)
      copy:add(9)
      assert.equal("1-3", tostring(s))
    end)

    local wrong = {
      ["nil"] = function() return weir.idset(nil) end,
      ["true"] = function() return weir.idset(true) end,
      ["a function"] = function() return weir.idset(print) end,
      ["a negative id"] = function() return weir.idset(-1) end,
      ["a fraction"] = function() return weir.idset(1.5) end,
      ["too high an id"] = function() return weir.idset(4294967296) end,
      ["a negative id in a list"] = function() return weir.idset { 1, -1 } end,
      ["a text in a list"] = function() return weir.idset { "1" } end,
      ["a table that is no list"] = function() return weir.idset { ranks = "1" } end,
      ["a list of hosts"] = function() return weir.idset(weir.hostlist "a") end,
      ["nan"] = function() return weir.idset(0 / 0) end,
    }
    for what, f in pairs(wrong) do
      it("[I1] not from " .. what, function() assert.has_error(f) end)
    end
  end)

  describe("are combined", function()
    local rows = { -- a, b, union, intersection, difference
      { "1-3,7", "2-8", "1-8", "2-3,7", "1" },
      { "", "", "", "", "" },
      { "0-9", "", "0-9", "", "0-9" },
      { "0-9", "3-4", "0-9", "3-4", "0-2,5-9" },
      { "1,3,5", "2,4", "1-5", "", "1,3,5" },
      { "0-4294967295", "5", "0-4294967295", "5", "0-4,6-4294967295" },
    }
    for _, row in ipairs(rows) do
      it(("[I1] with operators and methods: %s and %s"):format(row[1], row[2]), function()
        local a, b = set(row[1]), set(row[2])
        assert.same({ row[3], row[3], row[3] }, { tostring(a + b), tostring(a | b), tostring(a:union(b)) })
        assert.same({ row[4], row[4], row[4] }, { tostring(a * b), tostring(a & b), tostring(a:intersect(b)) })
        assert.same({ row[5], row[5] }, { tostring(a - b), tostring(a:difference(b)) })
        assert.same({ row[1], row[2] }, { tostring(a), tostring(b) })
        assert.equal(row[3], tostring(a:copy():add(b)))
        assert.equal(row[5], tostring(a:copy():remove(b)))
        assert.equal(#set(row[4]) > 0, a:overlaps(b))
      end)
    end

    it("[I1] with what stands for a set", function()
      local s = set "1-3"
      assert.equal("1-3,9", tostring(s + 9))
      assert.equal("1-5", tostring({ 5, 4 } + s))
      assert.equal("0-3", tostring("0" + s))
      assert.equal("2", tostring(s & "2,7"))
      assert.equal("7", tostring("2,7" - s))
      assert.equal("1-3", tostring(s:union()))
      assert.equal("1-3", tostring(s:difference()))
      assert.has_error(function() return s:intersect() end)
      assert.has_error(function() return s:union(nil) end)
      assert.has_error(function() return s + nil end)
      assert.has_error(function() return s + print end)
      assert.has_error(function() return s + "1-" end, "idset: ends at column 3: expected an id (decimal digits)")
      assert.same({ nil, "parse" }, { (s:union "3-1"), (select(3, s:union "3-1")) })
      assert.equal("parse", select(3, s:contains "x"))
      assert.equal("parse", select(3, s:overlaps "x"))
    end)

    it("[I1] compare by what is in them", function()
      assert.is_true(set "1-3" == set { 3, 2, 1 })
      assert.is_false(set "1-3" == set "1-4")
      assert.is_false(set "1" == weir.hostlist "1")
      assert.is_false(set "1" == "1")
      assert.is_true(set "1-2" <= set "1-3" and set "1-3" <= set "1-3" and set "1-2" < set "1-3")
      assert.is_false(set "1-4" <= set "1-3" or set "1-3" < set "1-3")
      assert.is_true(set "1-3" >= set "2" and set "1-3" > "2")
      assert.is_false(set "1" <= set "2" or set "2" <= set "1")
      assert.is_true(set "1-9":contains "2-3" and set "1":contains {} and not set "1":contains "1-2")
    end)

    it("[I1] are keys of tables by themselves, their texts by what is in them", function()
      local a, b = set "1-3", set "1-3"
      local seen = { [a] = "a", [tostring(a)] = "text" }
      assert.same({ "a", nil, "text" }, { seen[a], seen[b], seen[tostring(b)] })
    end)
  end)

  describe("change", function()
    it("[I1] by ids, ranges, lists, texts and sets", function()
      local s = set()
      assert.equal(s, s:add(5))
      assert.equal("5", tostring(s))
      assert.equal("5,7-9", tostring(s:add(7, 9)))
      assert.equal("1-2,5,7-9", tostring(s:add { 2, 1 }))
      assert.equal("1-5,7-9", tostring(s:add "3-4"))
      assert.equal("1-9", tostring(s:add(set "6")))
      assert.equal("1-9", tostring(s:add(s)))
      assert.equal("1-9", tostring(s:add()))
      assert.equal("1-3,5-9", tostring(s:remove(4)))
      assert.equal("1-2,9", tostring(s:remove(3, 8)))
      assert.equal("1-2,9", tostring(s:remove(77)))
      assert.equal("2", tostring(s:remove "1,9"))
      assert.equal("2", tostring(s:remove()))
      assert.equal("", tostring(s:remove(s)))
    end)

    it("[I1] not at all where something is wrong", function()
      local s = set "1-3"
      assert.same({ nil, "parse" }, { (s:add "5,4"), (select(3, s:add "5,4")) })
      for _, f in ipairs {
        function() s:add(nil) end, function() s:add(-1) end, function() s:add(9, 8) end, function() s:add("9", 10) end,
        function() s:add(1.5) end, function() s:add(1, 4294967296) end, function() s:remove(print) end,
        function() s:add { 7, "8" } end, function() s:take(-1) end, function() s:take() end,
      } do
        assert.has_error(f)
      end
      assert.equal("1-3", tostring(s))
    end)

    it("[I1] give their lowest ids away", function()
      local s = set "1-3,7-9"
      local low = s:take(4)
      assert.same({ "1-3,7", "8-9" }, { tostring(low), tostring(s) })
      assert.same({ "8-9", "" }, { tostring(s:take(100)), tostring(s) })
      assert.same({ "", 0 }, { tostring(s:take(5)), #s })
    end)
  end)

  describe("tell", function()
    it("[I1] how many, which is first, last, next", function()
      local s = set "1-3,7"
      assert.same({ 4, 4, 1, 7, false }, { #s, s:count(), s:first(), s:last(), s:empty() })
      assert.same({ 2, 7, 7, nil }, { s:next(1), s:next(3), s:next(6), s:next(7) })
      assert.same({ 3, 1, 7, nil }, { s:prev(7), s:prev(2), s:prev(4294967295), s:prev(1) })
      assert.is_true(s:has(3) and not s:has(4))
      local none = set()
      assert.same({ 0, true }, { #none, none:empty() })
      assert.same({}, { none:first(), none:last(), none:next(0) })
      for _, f in ipairs { function() s:has "3" end, function() s:has(-1) end, function() s:next() end,
        function() s:prev(1.5) end, function() s:has() end } do
        assert.has_error(f)
      end
    end)

    it("[I1] each id and each run, ascending", function()
      assert.same({ 1, 2, 3, 7, 4294967295 }, list(set "1-3,7,4294967295"))
      assert.same({}, list(set()))
      local runs = {}
      for lo, hi in set("0-2,5,4294967290-4294967295"):ranges() do runs[#runs + 1] = lo .. ".." .. hi end
      assert.same({ "0..2", "5..5", "4294967290..4294967295" }, runs)
    end)

    it("[I1] and go on where a loop changes them", function()
      local s, seen = set "1-9", {}
      for id in s:ids() do
        seen[#seen + 1] = id
        s:remove(id, id + 2)
      end
      assert.same({ 1, 4, 7 }, seen)
      local runs = {}
      s = set "1-3,7-9"
      for lo, hi in s:ranges() do
        runs[#runs + 1] = lo .. "-" .. hi
        if lo == 1 then s:add(5) end
      end
      assert.same({ "1-3", "5-5", "7-9" }, runs)
    end)

    it("[I1] without garbage for each step", function()
      local s = set "0-99999"
      local n = 0
      local function all()
        for _ in s:ids() do n = n + 1 end
        for _ in s:ranges() do n = n + 1 end
      end
      all()
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      all()
      local made = collectgarbage "count" - before
      collectgarbage "restart"
      assert.equal(200002, n)
      assert.is_true(made < 2, made .. " KB")
    end)
  end)

  describe("of hostile size", function()
    it("[I1] cost what their text costs", function()
      local s = set "0-4294967295"
      assert.same({ 4294967296, 4294967295, 4294967295 }, { #s, s:last(), s:next(4294967294) })
      assert.equal("1-4294967295", tostring(s - 0))
      local text, why, code = s:format { ranges = false }
      assert.same({ nil, "limit" }, { text, code })
      assert.truthy(why:find "4294967296")
      for id in s:ids() do
        if id == 1000 then break end
      end
    end)

    it("[I1] and as many runs as are in it", function()
      local parts = {}
      for i = 1, 100000 do parts[i] = tostring(i * 2) end
      local text = table.concat(parts, ",")
      local before = resident()
      local s = set(text)
      assert.equal(100000, #s)
      assert.equal(text, tostring(s))
      assert.is_true(not before or resident() - before < 100 * #text)
    end)

    it("[I1] are collected in time, though Lua does not see what they hold", function()
      local s = set()
      for i = 0, 20000 do s:add(i * 2) end
      local before = resident()
      if not before then return pending "no /proc/self/statm, which tells the memory of a process: mount proc" end
      for i = 1, 2000 do assert(#(s + (i * 2 + 1)) == #s + 1) end -- 520 MB in all
      assert.is_true(resident() - before < 4.2e8, (resident() - before) // 1000000 .. " MB")
    end)
  end)

  describe("that are dead or foreign", function()
    it("[I1] raise", function()
      local class = debug.getregistry()["weir.idset"]
      local s = set "1-3"
      local ids, ranges = s:ids(), s:ranges()
      class.__gc(s)
      class.__gc(s)
      for name, f in pairs(class.__index) do assert.is_false(pcall(f, s, 1), name) end
      for _, f in ipairs { function() return s + set "1" end, function() return set "1" + s end, function() return s == set "1" end,
        function() return s <= set "1" end, function() return #s end, function() return tostring(s) end,
        function() return ids(nil, nil) end, ranges, function() return weir.idset(s) end, function() return set("1"):union(s) end } do
        assert.has_error(f)
      end
      for name, f in pairs(class.__index) do assert.is_false(pcall(f, weir.hostlist "a", 1), name) end
      assert.equal("weir.idset", getmetatable(set "1"))
    end)
  end)

  -- ---- tables ----

  describe("of the tables", function()
    local data = tables.load "codec/libidset_idset.json"
    if not data then
      pending("[I1] " .. missing.data "codec/libidset_idset.json")
      return
    end

    for i, row in ipairs(data.test_inputs) do
      local text, flags, want = row[1], row[2], row[3]
      it(("[I1] codec %d: %s, flags %s, is %s"):format(i, text, flags, want), function()
        if text == nil then return assert.has_error(function() weir.idset(text) end) end
        local s, _, code = weir.idset(text)
        if want == nil then return assert.same({ nil, "parse" }, { s, code }) end
        assert.equal(want, s:format { ranges = RANGE[flags] or false, brackets = BRACKETS[flags] or false })
      end)
    end

    local METHODS = { OP_UNION = "union", OP_DIFF = "difference", OP_INTER = "intersect", OP_ADD = "add", OP_SUB = "remove" }
    for i, row in ipairs(data.optab) do
      local a, op, b, want = row[1], row[2], row[3], row[4]
      it(("[I1] algebra %d: %s %s %s is %s"):format(i, a, op, b, want), function()
        local function run()
          local s = a and set(a)
          if b == nil then return s[METHODS[op]](s) end
          return s[METHODS[op]](s, set(b))
        end
        if want == nil then return assert.has_error(run) end
        assert.equal(set(want), run())
      end)
    end

    for i, row in ipairs(data.idset_decode_empty) do
      local text, err, count, last = row[1], row[2], row[3], row[4]
      it(("[I1] count %d: %s has %s"):format(i, text, count), function()
        if text == nil then return assert.has_error(function() weir.idset(text) end) end
        local s, _, code = weir.idset(text)
        if err ~= 0 then return assert.same({ nil, "parse" }, { s, code }) end
        assert.equal(count, #s)
        assert.equal(last ~= "IDSET_INVALID_ID" and last or nil, s:last())
      end)
    end
  end)

  -- ---- random sets against tables ----

  local LIMIT = 90

  -- A model is a table of id -> true.
  local function ascending(model)
    local out = {}
    for id in pairs(model) do out[#out + 1] = id end
    table.sort(out)
    return out
  end

  local function written(ids)
    local parts, i = {}, 1
    while i <= #ids do
      local k = i
      while ids[k + 1] == ids[k] + 1 do k = k + 1 end
      parts[#parts + 1] = k > i and ids[i] .. "-" .. ids[k] or tostring(ids[i])
      i = k + 1
    end
    return table.concat(parts, ",")
  end

  local function filter(keep)
    local out = {}
    for id = 0, LIMIT do
      if keep(id) then out[id] = true end
    end
    return out
  end

  local function check(s, model, what)
    local ids = ascending(model)
    assert.same(ids, list(s), what)
    assert.equal(written(ids), tostring(s), what)
    assert.same({ #ids, ids[1], ids[#ids] }, { #s, s:first(), s:last() }, what)
    for id = 0, LIMIT, 7 do assert.equal(model[id] == true, s:has(id), what) end
    assert.equal(s, set(tostring(s)), what)
  end

  local function random_operand(rnd)
    local model = filter(function() return rnd:chance(30) end)
    local kind = rnd:between(1, 3)
    if kind == 1 then return model, set(rnd:chance(50) and ascending(model) or written(ascending(model))) end
    if kind == 2 then return model, written(ascending(model)) end
    local ids = ascending(model)
    for i = #ids, 2, -1 do
      local k = rnd:between(1, i)
      ids[i], ids[k] = ids[k], ids[i]
    end
    return model, ids
  end

  local function step(rnd, s, model, what)
    local other, x = random_operand(rnd)
    local lo = rnd:between(0, LIMIT)
    local hi = rnd:between(lo, LIMIT)
    local kind = rnd:between(1, 8)
    local function inside(id) return id >= lo and id <= hi end
    if kind == 1 then return s:add(x), filter(function(id) return model[id] or other[id] end) end
    if kind == 2 then return s:remove(x), filter(function(id) return model[id] and not other[id] end) end
    if kind == 3 then return s:add(lo, hi), filter(function(id) return model[id] or inside(id) end) end
    if kind == 4 then return s:remove(lo, hi), filter(function(id) return model[id] and not inside(id) end) end
    if kind == 5 then return s + x, filter(function(id) return model[id] or other[id] end) end
    if kind == 6 then return s * x, filter(function(id) return model[id] and other[id] end) end
    if kind == 7 then return x - s, filter(function(id) return other[id] and not model[id] end) end
    local ids = ascending(model)
    local n = rnd:between(0, #ids + 1)
    local low = s:take(n)
    check(low, filter(function(id) return ids[1] and n > 0 and id <= (ids[n] or LIMIT) and model[id] end), what)
    return s, filter(function(id) return model[id] and not low:has(id) end)
  end

  it("[I1] are what tables of ids are, after anything", function()
    cases.each_seed(40, function(rnd, seed)
      local s, model = set(), {}
      for i = 1, 30 do
        local what = ("WEIR_SPEC_SEED=%d, step %d"):format(seed, i)
        s, model = step(rnd, s, model, what)
        check(s, model, what)
      end
    end)
  end)
end)
