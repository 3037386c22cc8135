--- failing_saves.lua - run by weir with build/test/faults.so: saves in which system calls fail, each in turn, in pairs and at
-- random. weir run failing_saves.lua DIR PLAN SCALE SEED prints a line for each kind of save, "ok SAVES NAME" or the fault.
-- Calls on files in DIR/at/ can fail. A save that succeeds is in the file; a save that fails is not; after "unsure" it is
-- there as a whole or not at all. Then a save without failures succeeds.
local weir = require "weir"

local DIR, PLAN, SCALE, SEED = arg[1], arg[2], tonumber(arg[3]), tonumber(arg[4])
local AT = DIR .. "/at/"
local MACHINE = "cluster:1 node:3 core:2 memory:1(size=8)"
local CODES = { io = true, busy = true, parse = true, exists = true, unsure = true }

local function slurp(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a"
end

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

-- Sets the calls that fail from now on.
local function plan(text)
  os.remove(PLAN .. ".log")
  write(PLAN, text)
end

-- Returns how many calls have failed.
local function failed() return select(2, (slurp(PLAN .. ".log") or ""):gsub("\n", "")) end

local SUFFIXES = { "", "-wal", "-journal" } -- the files of a database that a restart finds

local function remove(path)
  for _, suffix in ipairs { "", "-wal", "-shm", "-journal", ".new", ".new1" } do os.remove(path .. suffix) end
end

local function files_of(path)
  local texts = {}
  for _, suffix in ipairs(SUFFIXES) do texts[suffix] = slurp(path .. suffix) end
  return texts
end

local function put_files(path, texts)
  remove(path)
  for suffix, text in pairs(texts) do write(path .. suffix, text) end
end

local function changed(g, n)
  local e = weir.engine { resources = g }
  assert(e:match("slot=1/node", { duration = 10, job = 10 + n }))
  if e:job(9 + n) then assert(e:release(9 + n)) end
  g:vertex("/cluster0/node2").tags["tag" .. n] = ("x"):rep(5000)
  g:vertex("/cluster0/node1").state = n % 2 == 0 and "down" or "up"
  e:close()
  return g
end

-- The files of a database with a graph, saved once more where `more` is a plan for the second save.
local function stored(more)
  local path = AT .. "m.db"
  remove(path)
  local g <close> = changed(assert(weir.synthetic(MACHINE)), 1)
  assert(g:save(path))
  if more then
    changed(g, 2)
    plan(more)
    assert(g:save(path, { changed = true }))
    assert(failed() > 0, "nothing failed")
    plan ""
  end
  local texts = files_of(path)
  assert(not more or texts["-wal"], "the log does not stay")
  remove(path)
  return texts
end

-- {name, file, options, the files before, whether the graph comes from them}
local KINDS = {
  { "a first save", "m.db", nil, function() return {} end },
  { "changes", "m.db", { changed = true }, stored, true },
  { "changes on a log that stays", "m.db", { changed = true }, function() return stored "fdatasync:-wal:3" end, true },
  { "another graph over it", "m.db", nil, stored },
  { "a first text", "m.json", nil, function() return {} end },
  { "a text over another", "m.json", nil, function() return { [""] = assert(weir.synthetic(MACHINE)):format "jgf" } end },
}

-- Plans with more failures than a pair: a file that can neither be examined nor opened is there all the same.
local PLANS = { "stat:.db:1 lstat64:.db:1 stat:.db:2 stat:-wal:1", "stat:.db:1 open64:.db:1 stat:.db:2 stat:-wal:1" }

local function same(a, b, books)
  if not a or not b then return a == b, "there is none" end
  return a:compare(b, books)
end

-- What is wrong after a save that ended so; nil: nothing.
local function judge(g, path, before, ok, code, opts, books)
  local now = weir.load(path)
  local is_old, is_new = (same(now, before, books)), (same(now, g, books))
  if now then now:close() end
  if not ok and not CODES[code] then return "code " .. tostring(code) end
  if ok and not is_new then return "said done, and is not" end
  if not ok and code ~= "unsure" and not is_old then return ("said %s, and is %s"):format(code, is_new and "done" or "damaged") end
  if not is_old and not is_new then return "is neither the old nor the new state" end
  local again, why = g:save(path, opts)
  if not again then return "cannot be saved after that: " .. why end
  local last <close> = assert(weir.load(path))
  return not same(last, g, books) and "is different after a save that succeeded" or nil
end

-- Saves once while the calls of a plan fail. Returns the number of calls that failed, and the fault.
local function try(kind, texts, calls)
  local _, name, opts, _, continues = table.unpack(kind)
  local path, books = AT .. name, name:find "%.db$" ~= nil
  put_files(path, texts)
  local before = texts[""] and assert(weir.load(path))
  local g = changed(continues and assert(weir.load(path)) or assert(weir.synthetic(MACHINE)), 3)
  plan(calls)
  local ok, _, code = g:save(path, opts)
  local n = failed()
  plan ""
  local fault = judge(g, path, before, ok, code, opts, books)
  g:close()
  if before then before:close() end
  return n, fault
end

local dice = SEED
local function random(n)
  dice = (dice * 1103515245 + 12345) % 2147483648
  return dice // 65536 % n + 1
end

-- Each call in turn, pairs, and calls at random. Returns the number of saves, and the first fault.
local function all(kind)
  local texts, calls, saves = kind[4](), 0, 0
  local function one(text)
    saves = saves + 1
    local n, fault = try(kind, texts, text)
    return n, fault and ("%s, with the plan %q (seed %d): %s"):format(kind[1], text, SEED, fault)
  end
  repeat
    local n, fault = one(tostring(calls + 1))
    if fault then return saves, fault end
    calls = calls + n
  until n == 0
  for _, text in ipairs(PLANS) do
    local _, fault = one(text)
    if fault then return saves, fault end
  end
  for i = 1, calls do
    for j = i + 1, 2 * calls do
      if random(1000) <= 10 * SCALE then
        local _, fault = one(i .. " " .. j)
        if fault then return saves, fault end
      end
    end
  end
  for i = 1, math.ceil(100 * SCALE) do
    local _, fault = one(("random %d %d"):format(SEED + i, ({ 5, 20, 50, 200, 1000 })[i % 5 + 1]))
    if fault then return saves, fault end
  end
  return saves
end

for _, kind in ipairs(KINDS) do
  local saves, fault = all(kind)
  print(fault and "FAULT " .. fault or ("ok %d %s"):format(saves, kind[1]))
end
