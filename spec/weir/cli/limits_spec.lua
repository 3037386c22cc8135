-- Limits: every documented limit is reached and refused clearly beyond; and no operation takes quadratic time.

local growth = require "spec.support.growth"
local shell = require "spec.support.shell"
local weir = require "weir"

local NAME = ("n"):rep(65536) -- the longest allowed name
local LONGER = NAME .. "n"
local MOST = math.maxinteger

-- Under sanitizers sizes are small, and so are times.
local SCALE = math.min(1, tonumber(os.getenv "WEIR_SPEC_SCALE") or 1)

-- A vertex, and its graph to keep alive.
local function node()
  local g = assert(weir.synthetic "node:1")
  return g:find "type=node"[1], g
end

describe("a name of 64 KB", function()
  for _, case in ipairs {
    { "a type", function(text) return { type = text } end, "type" },
    { "a basename", function(text) return { type = "core", basename = text } end, "basename" },
    { "a name", function(text) return { type = "core", name = text } end, "name" },
    { "a unit", function(text) return { type = "core", unit = text } end, "unit" },
  } do
    it("can be " .. case[1] .. ", and survives JGF and a database", function()
      local g = assert(weir.synthetic "node:1")
      local v = assert(g:add(g:find "type=node"[1], case[2](NAME)))
      assert.equal(NAME, v[case[3]])
      local again = assert(weir.parse(assert(g:format "jgf")))
      assert.is_true(again:compare(g))
      local path = os.tmpname() .. ".db"
      assert(g:save(path))
      assert.is_true(assert(weir.load(path)):compare(g))
      os.remove(path)
    end)

    it("is the longest that " .. case[1] .. " can have", function()
      local g = assert(weir.synthetic "node:1")
      local v, why, code = g:add(g:find "type=node"[1], case[2](LONGER))
      assert.same({ nil, "limit" }, { v, code })
      assert.matches("longer than 65536 bytes", why)
      assert.equal(1, g:count())
    end)
  end

  for _, map in ipairs { "properties", "tags" } do
    it("can be a key and a value of " .. map .. ", and no longer", function()
      local v <const>, g <close> = node()
      v[map][NAME] = NAME
      assert.equal(NAME, v[map][NAME])
      assert.has_error(function() v[map][LONGER] = "x" end)
      assert.has_error(function() v[map].x = LONGER end)
      assert.is_nil(v[map].x)
      assert.equal(1, g:count())
    end)
  end
end)

describe("the number", function()
  -- One node, and below the node a pool of each of n types.
  local function with_types(n)
    local list = { '{"id":"0","metadata":{"type":"node","id":0,"paths":{"containment":"/node0"}}}' }
    for i = 1, n - 1 do
      list[i + 1] = ('{"id":"%d","metadata":{"type":"t%d","id":0,"paths":{"containment":"/node0/t%d0"}}}'):format(i, i, i)
    end
    return weir.parse('{"graph":{"nodes":[' .. table.concat(list, ",") .. '],"edges":[]}}')
  end

  it("of types has an end, which is said", function()
    local few = SCALE < 1 and 400 or 4096 -- the loop below is quadratic
    local g = assert(with_types(few))
    assert.equal(few, #g:types())
    local none, why, code = with_types(4097)
    assert.same({ nil, "limit" }, { none, code })
    assert.matches("more than 4096 types", why)
  end)

  it("of properties of a vertex may be 100,000", function()
    local v <const>, g <close> = node()
    for i = 1, 100000 do v.properties["key" .. i] = tostring(i) end
    for i = 1, 100000, 997 do assert.equal(tostring(i), v.properties["key" .. i]) end
    v.properties.key1 = nil
    assert.equal(99999, #v.properties)
    assert.same({ nil, "2" }, { v.properties.key1, v.properties.key2 })
    assert.equal(1, g:count())
  end)

  it("of levels of a machine may be 200", function()
    local g = assert(weir.synthetic "node:1")
    local v, depth, why, code = g:roots()[1], 1, nil, nil
    while v do
      local below
      below, why, code = g:add(v, { type = "box", id = 0 })
      if not below then break end
      v, depth = below, depth + 1
    end
    assert.same({ 200, "limit" }, { depth, code })
    assert.matches("200", why)
    assert.equal(v, g:vertex(v.path))
    local again = assert(weir.parse(assert(g:format "jgf")))
    assert.is_true(again:compare(g))
    local e = weir.engine { resources = g }
    assert.truthy(e:match "slot=1/box")
  end)
end)

describe("a size or a count near 2^63", function()
  for _, count in ipairs { MOST, MOST - 1, 1 << 62 } do
    it(("%d is infeasible, not negative"):format(count), function()
      local e = weir.engine { resources = "node:2 core:4" }
      local cores = { type = "core", count = count }
      local _, _, code = e:match { resources = { { type = "slot", count = count, label = "x", with = { cores } } } }
      assert.truthy(code == "infeasible" or code == "limit" or code == "invalid", code)
      assert.truthy(e:match "slot=8/core")
    end)
  end

  it("is refused where the sum of all sizes would not fit", function()
    local g = assert(weir.synthetic "node:1")
    local top = g:find "type=node"[1]
    assert(g:add(top, { type = "memory", size = MOST // 4 - 10 }))
    local v, why, code = g:add(top, { type = "memory", id = 1, size = 100 })
    assert.same({ nil, "limit" }, { v, code })
    assert.matches("add up to more than", why)
    assert.equal(MOST // 4 - 10, g:aggregate(top).memory.total)
  end)
end)

describe("a time", function()
  local function job(seconds) return { resources = { { type = "node", count = 1 } }, attributes = { system = { duration = seconds } } } end

  it("of 9e12 seconds is exact", function()
    local e = weir.engine { resources = "node:1" }
    local a = assert(e:match(job(1), { at = 9e12 }))
    assert.same({ 9e12, 1 }, { a.at, a.duration })
  end)

  for _, at in ipairs { 2 ^ 53, 1e300, math.huge, 0 / 0 } do
    it(("%g is no start, and it is said which are"):format(at), function()
      local e = weir.engine { resources = "node:1" }
      local ok, why = pcall(e.match, e, job(1), { at = at })
      assert.is_false(ok)
      assert.matches("'at'", why)
      assert.equal(0, #e:jobs())
    end)
  end

  for _, seconds in ipairs { 2 ^ 53, 1e300 } do
    it(("%g is as good as no end, or refused"):format(seconds), function()
      local e = weir.engine { resources = "node:1" }
      local a, why, code = e:match(job(seconds))
      if a then return assert.equal(math.huge, a.duration) end
      assert.truthy(code == "limit" or code == "invalid", code)
      assert.matches("duration", why)
    end)
  end
end)

-- ---- growth -------------------------------------------------------------------------------------------------

-- Growth of time at four times the size: 4 is linear, 16 is quadratic. Caches make large linear work somewhat slower.
local MOST_GROWTH, TRIES = 9, 3

-- The occupancy of a machine is searched from now on, in linear time for each job: known, see spec/bench/limits.lua.
local EXCUSED = { ["jobs are reserved one after the other"] = true }

-- The seconds of a row, in a process that keeps the memory it has: large blocks from the system cost more by the byte.
local KEEPS = "MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=4000000000 MALLOC_TOP_PAD_=67108864 "
local MEASURE = "local g = require 'spec.support.growth'; print(g.measure(g.list[%d], %d))"
local function measured(i, n)
  local script = shell.path(shell.directory(), "measure.lua", MEASURE:format(i, n))
  local pipe <close> = assert(io.popen(KEEPS .. (os.getenv "WEIR_HOST" or "lua5.4") .. " " .. script))
  return assert(tonumber(pipe:read "a"), "the measurement failed")
end

describe("no surprise:", function()
  teardown(shell.clean)

  for i, row in ipairs(growth.list) do
    if not EXCUSED[row[1]] then
      it(row[1] .. ", in time that grows with their number", function()
        local n = math.max(100, row[2] * SCALE // 1 | 0)
        local grown = math.huge
        for _ = 1, TRIES do -- load of the machine may disturb one try, not all
          local small, large = measured(i, n // 4), measured(i, n)
          if large < 0.004 then grown = 0 end -- too little to be told
          grown = math.min(grown, large / small)
          if grown <= MOST_GROWTH then break end
        end
        assert.is_true(grown <= MOST_GROWTH, ("four times as many take %.1f times as long"):format(grown))
      end)
    end
  end
end)
