--- lublin.lua - synthetic jobs of supercomputers, by the model of U. Lublin and D. G. Feitelson, "The workload on
--- parallel supercomputers: modeling the characteristics of rigid jobs", JPDC 63(11), 2003, with the parameters for
--- all jobs together: sizes from a two-stage uniform distribution of the logarithm, many sizes powers of two; run
--- times from a hyper-gamma distribution dependent on the size; arrivals from a gamma distribution, with the cycle of
--- the day.
---
--- Additions to the model: an estimate is the run time over an accuracy between 0.1 and 1, rounded up to a time common
--- among users; users submit unequal numbers of jobs. Arrivals are stretched so that the jobs ask for `load` of the
--- machine.
---
--- Equal seeds give equal jobs: random numbers come from a private generator, and times are whole seconds.

local fractions = require("weir.random").fractions

local M = {}

local SERIAL, POW2, LOW, UNTIL_HIGH, FIRST = 0.244, 0.576, 0.8, 2.5, 0.86
local SHORT_A, SHORT_B, LONG_A, LONG_B, SLOPE, SHARE, TOO_LONG = 4.2, 0.94, 312, 0.03, -0.0054, 0.78, 12
local ARRIVE_A, ARRIVE_B, TOO_LATE = 10.2303 * 1.0225, 0.4871, 13
local DAY_A, DAY_B, BUCKETS, DAY_STARTS = 8.1737, 3.9631, 48, 11
local BUCKET = 86400 // BUCKETS
local USERS, TRIED = 64, 4096
local LIKED = { 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 28800, 36000, 43200, 64800, 86400, 129600, 172800,
  259200, 432000, 604800 }

-- ---- random numbers -----------------------------------------------------------------------------------------

local function normal(random)
  while true do
    local a, b = 2 * random() - 1, 2 * random() - 1
    local s = a * a + b * b
    if s > 0 and s < 1 then return a * math.sqrt(-2 * math.log(s) / s) end
  end
end

-- A gamma-distributed number by the method of Marsaglia and Tsang, 2000; a is at least 1.
local function gamma(random, a, b)
  local d = a - 1 / 3
  local c = 1 / math.sqrt(9 * d)
  while true do
    local x = normal(random)
    local v = (1 + c * x) ^ 3
    if v > 0 and math.log(random()) < 0.5 * x * x + d - d * v + d * math.log(v) then return d * v * b end
  end
end

-- ---- the cycle of the day -----------------------------------------------------------------------------------

-- The unnormalized mass of a gamma distribution in [lo, hi), by Simpson's rule.
local function mass(a, b, lo, hi)
  local function density(x) return x <= 0 and 0 or math.exp((a - 1) * math.log(x) - x / b) end
  local sum, steps = 0, 16
  local h = (hi - lo) / steps
  for i = 0, steps do sum = sum + density(lo + i * h) * (i == 0 and 1 or i == steps and 1 or i % 2 == 1 and 4 or 2) end
  return sum * h / 3
end

-- Returns the relative arrival rate of each half hour from midnight on, with mean 1.
local function day()
  local weights, sum = {}, 0
  for i = DAY_STARTS, BUCKETS + DAY_STARTS - 1 do
    local w = mass(DAY_A, DAY_B, i - 0.5, i + 0.5)
    weights[(i - 1) % BUCKETS] = w
    sum = sum + w
  end
  for i = 0, BUCKETS - 1 do weights[i] = weights[i] * BUCKETS / sum end
  return weights
end

-- ---- one job ------------------------------------------------------------------------------------------------

local function size(random, high)
  local u = random()
  if u <= SERIAL then return 1 end
  local middle = math.max(high - UNTIL_HIGH, LOW)
  local lo, hi = LOW, middle
  if random() > FIRST then lo, hi = middle, high end
  local x = lo + random() * (math.max(hi, lo) - lo)
  if u <= SERIAL + POW2 then x = math.floor(x + 0.5) end
  return math.floor(2 ^ math.min(x, high) + 0.5)
end

local function run_time(random, procs)
  local share = math.max(0, math.min(1, SLOPE * procs + SHARE))
  while true do
    local x
    if random() <= share then x = gamma(random, SHORT_A, SHORT_B) else x = gamma(random, LONG_A, LONG_B) end
    if x <= TOO_LONG then return math.max(1, math.floor(math.exp(x))) end
  end
end

local function estimate(random, runtime)
  local wanted = runtime / (0.1 + 0.9 * random())
  for _, t in ipairs(LIKED) do
    if t >= wanted then return t end
  end
  return math.ceil(wanted / 86400) * 86400
end

-- A user's number; low numbers are the most frequent.
local function user(random) return math.floor(USERS ^ random()) end

local function gap(random)
  while true do
    local x = gamma(random, ARRIVE_A, ARRIVE_B)
    if x <= TOO_LATE then return math.exp(x) end
  end
end

-- ---- all of them --------------------------------------------------------------------------------------------

-- The factor on gaps between arrivals that gives the requested load, estimated from TRIED jobs drawn separately.
local function stretch(seed, units, high, load)
  local random = fractions(~seed)
  local work, gaps = 0, 0
  for _ = 1, TRIED do
    local procs = math.min(size(random, high), math.floor(2 ^ high + 0.5))
    work, gaps = work + procs * run_time(random, procs), gaps + gap(random)
  end
  return work / (units * load) / gaps
end

-- Returns a function next_time() for the times of arrival.
local function arrivals(random, weights, factor)
  local bucket, inside = 0, 0 -- half hours since the first midnight; the elapsed share of the current half hour
  return function()
    local points = gap(random) * factor / BUCKET + inside * weights[bucket % BUCKETS]
    while points >= weights[bucket % BUCKETS] do
      points = points - weights[bucket % BUCKETS]
      bucket = bucket + 1
    end
    inside = points / weights[bucket % BUCKETS]
    return math.floor((bucket + inside) * BUCKET)
  end
end

--- Returns a trace like weir.trace.open; or nil, message, "invalid". opts: jobs (number of jobs), units (processors
--- of the machine), largest (units of a job, at most), seed (1), load (0.7).
function M.new(opts)
  local jobs, units, seed, load = opts.jobs, opts.units, opts.seed or 1, opts.load or 0.7
  if not (math.type(units) == "integer" and units > 0) then return nil, "generated jobs need a machine with processors", "invalid" end
  if load <= 0 then return nil, "expected a load above 0", "invalid" end
  local largest = math.max(1, math.min(opts.largest or units, units))
  local random, high = fractions(seed), math.log(largest, 2)
  local next_time = arrivals(fractions(seed ~ 0x5DEECE66D), day(), stretch(seed, units, high, load))
  local self = { path = ("seed %d"):format(seed), format = "lublin", header = { MaxProcs = units }, read = 0, malformed = 0, left_out = 0,
    problems = {}, jobs = jobs }
  function self.next()
    if self.read >= jobs then return nil end
    self.read = self.read + 1
    local procs = math.min(size(random, high), math.floor(2 ^ high + 0.5))
    local runtime = run_time(random, procs)
    return { number = self.read, submit = next_time(), runtime = runtime, estimate = estimate(random, runtime), procs = procs,
      user = user(random) }
  end
  return self
end

return M
