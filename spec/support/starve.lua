--- starve.lua - run by lua_host: each operation again and again, with the 1st, 2nd, ... allocation failing, until the
-- operation succeeds. lua_host starve.lua lua|once|c DIR [pattern] prints a line for each operation, "ok N TEXT"
-- or the fault.
local MODE, DIR, PATTERN = arg[1], arg[2], arg[3] or ""
local host = assert(_G.host, "run by lua_host")
host.preload()
local SCALE = math.min(1, tonumber(os.getenv "WEIR_SPEC_SCALE") or 1)
local FEW = 400 * SCALE // 1 -- failures of an operation with very many allocations; beyond FEW each STEP-th allocation is tried
local STEP = 7 / SCALE // 1
local MOST = 60000

local operations = require "spec.support.operations"
local prepare = operations.stage(DIR)

-- ---- one operation -------

-- The fault in how an operation ended; nil: no fault, and whether the operation succeeded.
local function judge(ok, result, why, code)
  if ok and result then return nil, true end
  local said = tostring(ok and why or result)
  if said:find "memory" or code == "nomem" then return nil, false end
  return ("said %q, %s"):format(said, tostring(code))
end

-- The fault in the world; nil: none. The world must be as before, or as the operation would have left it.
local function inspect(w, before, after)
  local fine, why = w.g:check()
  if not fine then return "the graph is broken: " .. why end
  fine, why = w.g:compare(before, true)
  if not fine and not w.g:compare(after, true) then return "half done: " .. why end
  local job
  job, why = w.e:match("slot=1/core=1", { job = 4711, duration = 1 })
  if not job then return "no match afterwards: " .. why end
  fine, why = w.e:release(4711)
  return not fine and "no release afterwards: " .. why or nil
end

local function start(n)
  if MODE == "c" then return host.fail_c(n) end
  host.fail(n, MODE == "once" and 2 or math.maxinteger)
end

-- True when no failure happened.
local function stop()
  if MODE == "c" then
    host.fail_c(0)
    return false
  end
  return host.fail() == 0
end

-- Runs once with one failure: returns the fault, and whether the operation succeeded.
local function once(text, n, before, after)
  local w, f = prepare(text)
  collectgarbage()
  start(n)
  local ok, result, why, code = pcall(f)
  local spared = stop()
  w.files.out:close()
  local wrong, through = judge(ok, result, why, code)
  return wrong or inspect(w, before, after), through and (spared or MODE == "c")
end

local function clear()
  for _, name in ipairs { "g.json", "g.sqlite", "text" } do os.remove(DIR .. "/" .. name) end
end

-- Returns the number of failures until success, and the last fault.
local function starve(text)
  local before = prepare("").g
  local w, f = prepare(text)
  local ok, result, why = pcall(f)
  if not (ok and result) then return 0, "does not even work: " .. tostring(ok and why or result) end
  local n, failures, through = 0, 0, 0
  while through < (MODE == "c" and 3 or 1) do
    n = n + (failures > FEW and STEP or 1)
    clear()
    local wrong, done = once(text, n, before, w.g)
    if wrong then return n, wrong end
    failures, through = failures + (done and 0 or 1), done and through + 1 or 0
    if n > MOST then return n, "never goes through" end
  end
  clear()
  return failures
end

local failed = false
for _, operation in ipairs(operations.list) do
  local text = operation[2]
  if (operation[1] .. " " .. text):find(PATTERN, 1, true) then
    local n, wrong = starve(text)
    failed = failed or wrong ~= nil
    io.stdout:flush()
    print(wrong and ("FAILED %d %s: %s"):format(n, text, wrong) or ("ok %d %s"):format(n, text))
  end
end
if failed then os.exit(1, true) end
