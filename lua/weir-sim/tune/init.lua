--- tune - looks for the options of policies under which a trace would have waited least.
---
---   local report = tune.run { resources = "cluster:1 core:100", trace = "KTH-SP2.swf.gz", queue = "priority", policy = "low",
---     objectives = assert(tune.objectives "mean_wait"), budget = 50 }
---   print(report.found[1].queue, report.found[1].first[1], report.found[1].second[1])
---
--- The first part of the trace is searched; the result is then tested on the second part, of which the search knows
--- nothing. Values of the second part are those of its jobs when the whole trace is replayed.
---
--- Equal input and an equal seed give an equal report, however many trials run at once.

local core = require "weir.core"
local failure = require "weir.failure"
local jobs = require "weir.tune.jobs"
local objective = require "weir.tune.objective"
local rank = require "weir.tune.rank"
local search = require "weir.tune.search"
local space = require "weir.tune.space"
local tables = require "weir.tables"
local trace = require "weir.trace"
local trial = require "weir.tune.trial"
local weir = require "weir"
local workers = require "weir.replay.workers"

local M = {}

local SHARES = { 0.1, 0.3 } -- of the jobs, in the samples
local FRONT = 6               -- settings of a Pareto front that are tested on the second part
local MIN_JOBS = 20              -- jobs of a trace

M.objectives = objective.read

local must = failure.must

-- ---- the jobs -----------------------------------------------------------------------------------------------

local function read_jobs(run)
  local t, kept = run.trace, jobs.new()
  while true do
    local job, why = t.next()
    if not job then
      if why then must(nil, why) end
      return kept
    end
    kept:add(job)
    if t.spare then t.spare[#t.spare + 1] = job end
  end
end

-- Drops the jobs that were refused under the policies in force.
local function keep_started(run, was)
  local n = run.jobs.n
  run.jobs:keep(was.start)
  run.refused = n - run.jobs.n
end

-- ---- trials side by side ------------------------------------------------------------------------------------

local function setting_of(run, values)
  local policy, queue = run.space:policies_of(values)
  return { policy = policy, queue = queue }
end

-- Returns the list of the values of workers.map; raises a failure with the code of the task that failed.
local function all(list, why, _, code) return must(list, why, code) end

-- Returns how a search tries settings. Raises the error of a policy, unless the search is to go on past it.
local function trier(run)
  return function(list)
    local worst = {}
    for i = 1, #run.objectives do worst[i] = math.huge end
    local results = all(workers.map(list, function(one)
      local setting = setting_of(run, one.values)
      local values, why, code
      if one.sample > 0 then
        values, why, code = run.trial:sampled_values(setting, one.sample)
      else
        values, why, code = run.trial:whole(setting, 1, run.cut)
      end
      if code == "failed" and not run.opts.keep_going then return nil, ("%s: %s"):format(space.paste(setting), why), code end
      return { values = values and core.array(values), failed = not values and ("%s: %s"):format(space.paste(setting), why) or nil }
    end, { workers = run.opts.workers, done = function(i) run.tell(list[i]) end }))
    for i, result in ipairs(results) do
      if result.failed then run.failed, run.failure = run.failed + 1, run.failure or result.failed end
      results[i] = result.values or worst
    end
    return results
  end
end

-- Replays settings on the whole trace. Returns by setting {values = of the objectives on the second part}, or {missing = why a
-- setting is not comparable there}.
local function tell_parts(run, settings)
  return all(workers.map(settings, function(setting)
    local was, why, code = run.trial:play(setting, run.jobs.n)
    if code == "incomparable" or code == "failed" and run.opts.keep_going then return { missing = why } end
    if not was then return nil, ("%s: %s"):format(space.paste(setting), why), code end
    return { values = core.array(run.trial:values_of(was, run.cut + 1, run.jobs.n)) }
  end, { workers = run.opts.workers }))
end

-- ---- what matters -------------------------------------------------------------------------------------------

local QUARTERS = 4

-- The rank of each value in a list, from 0 to 1.
local function ranks_of(list)
  local places, ranks = {}, {}
  for i = 1, #list do places[i] = i end
  tables.sort(places, function(i) return list[i] end, tables.itself)
  local i = 1
  while i <= #places do
    local k = i
    while k < #places and list[places[k + 1]] == list[places[i]] do k = k + 1 end
    for n = i, k do ranks[places[n]] = ((i + k) / 2 - 1) / math.max(1, #list - 1) end
    i = k + 1
  end
  return ranks
end

-- The share of the variance of the ranks that is between the quarters of an option, less what chance would give; and the
-- mean rank of each quarter.
local function explained(coordinates, ranks, bins)
  local n, sums, counts, mean, total, between = #ranks, {}, {}, 0, 0, 0
  for b = 1, bins do sums[b], counts[b] = 0, 0 end
  for i, u in ipairs(coordinates) do
    local b = math.min(bins, math.floor(u * bins) + 1)
    sums[b], counts[b], mean = sums[b] + ranks[i], counts[b] + 1, mean + ranks[i] / n
  end
  for _, r in ipairs(ranks) do total = total + (r - mean) ^ 2 end
  local means = core.array {}
  for b = 1, bins do
    means[b] = counts[b] > 0 and sums[b] / counts[b] or core.null
    if counts[b] > 0 then between = between + counts[b] * (sums[b] / counts[b] - mean) ^ 2 end
  end
  if total == 0 or n <= bins then return 0, means end
  local chance = (bins - 1) * (total - between) / (n - bins)
  return math.max(0, (between - chance) / total), means
end

-- Returns for each option how much it matters to the first objective, by the trials with the most settings.
local function importance(run, found)
  local list = run.space:described()
  local results, points = {}, {}
  for _, one in ipairs(found) do
    if one.result and one.result[1] < math.huge then results[#results + 1], points[#points + 1] = one.result[1], one.point end
  end
  local ranks = ranks_of(results)
  for k, option in ipairs(list) do
    local coordinates = tables.column(points, k)
    local bins = run.space[k].choices and #run.space[k].choices or QUARTERS
    option.matters, option.quarters = explained(coordinates, ranks, bins)
    local at = core.array {}
    for b = 0, bins do
      local point = run.space:defaults()
      point[k] = math.min(b / bins, 0.999999)
      at[b + 1] = run.space:values(point)[k]
    end
    option.bounds = at
  end
  return list, #results
end

-- ---- the report ---------------------------------------------------------------------------------------------

local function entry(run, one)
  local setting = setting_of(run, one.values)
  return { policy = setting.policy, queue = setting.queue, values = core.array(one.values), first = core.array(one.result) }
end

-- Returns the entries of the settings to report, the best one or those of the front, and the settings themselves.
local function choose(run, found)
  local results, chosen, of = tables.column(found, "result"), core.array {}, {}
  if #run.objectives == 1 then return core.array { entry(run, found[1]) }, { found[1] } end
  local front = rank.front(results)
  local most = math.min(#front, FRONT)
  for i = 1, most do -- evenly along the front, with both ends
    local place = most == 1 and 1 or math.floor((i - 1) * (#front - 1) / (most - 1) + 0.5) + 1
    of[i] = found[front[place]]
    chosen[i] = entry(run, of[i])
  end
  return chosen, of
end

-- Adds the values on the second part to the entry of the present setting and to those of the settings to report. A setting under
-- which jobs are missing there is dropped, and the next best takes its place. Returns the entries, and the dropped settings:
-- {policy, queue, missing}.
local function found_on_both(run, found, now)
  local dropped, out = core.array {}, {}
  while true do
    local chosen, of = choose(run, tables.filter(found, function(one) return not out[one] end))
    local results, again = tell_parts(run, { now, table.unpack(chosen) }), false
    now.second = must(results[1].values, results[1].missing, "failed")
    for i, one in ipairs(chosen) do
      one.second = results[i + 1].values
      if not one.second then
        dropped[#dropped + 1] = { policy = one.policy, queue = one.queue, missing = results[i + 1].missing }
        out[of[i]], again = true, true
      end
    end
    if not again then return chosen, dropped end
  end
end

-- All settings tried on the whole of the first part, for a picture.
local function tried(run, found)
  local list = core.array {}
  for i, one in ipairs(found) do
    local setting = setting_of(run, one.values)
    if one.result[1] < math.huge then
      list[#list + 1] = { policy = setting.policy, queue = setting.queue, first = core.array(one.result), place = i }
    end
  end
  return list
end

local function report_of(run, interrupted)
  local found, looked = run.search:found(), run.search
  local widest = looked.known[looked.stages[1]].list
  local options, n = importance(run, widest)
  local report = {
    version = 1, trace = run.trace.path, interrupted = interrupted or nil, seed = run.opts.seed or 1, budget = run.opts.budget,
    spent = looked.spent, search = run.opts.search or "halving",
    jobs = { first = run.cut, second = run.jobs.n - run.cut, refused = run.refused },
    objectives = core.array {}, options = options, fixed = core.array(run.space.fixed), samples = core.array {},
    failed = run.failed, failure = run.failure, now = entry(run, { values = run.space:present(), result = run.present }),
    found = (choose(run, found)), tried = tried(run, found), looked_at = n,
  }
  for i, one in ipairs(run.objectives) do report.objectives[i] = { name = one.name, label = one.label, unit = one.unit } end
  for k, cost in ipairs(looked.costs) do report.samples[k] = { share = cost, settings = #looked.known[k].list } end
  report.whole = #looked.known[0].list
  if interrupted then return report end
  run.phase "second part"
  report.found, report.dropped = found_on_both(run, found, report.now)
  return report
end

-- ---- running ------------------------------------------------------------------------------------------------

local function prepare(run)
  local opts = run.opts
  run.space = must(space.new(opts.policy, opts.queue, opts.vary))
  run.trace = type(opts.trace) == "table" and opts.trace
    or must(trace.open(opts.trace, { format = opts.format, malformed = opts.malformed }))
  run.jobs = read_jobs(run)
  if run.jobs.n < MIN_JOBS then must(nil, ("%d jobs are too few to learn from; expected at least %d"):format(run.jobs.n, MIN_JOBS)) end
  local graph = must(weir.resources(opts.resources))
  local function trials()
    return trial.new { graph = graph, granularity = opts.granularity, map = opts.map, overrun = opts.overrun, tau = opts.tau,
      jobs = run.jobs, objectives = run.objectives, format = run.trace.format }
  end
  run.trial = trials()
  run.phase "now"
  local now = setting_of(run, run.space:present())
  local was, why, code = run.trial:play(now, run.jobs.n, true)
  if code == "incomparable" then
    why = ("%s under the policies in force (%s): nothing can be compared with them"):format(why, space.paste(now))
  end
  keep_started(run, must(was, why, code))
  run.trial, run.cut = trials(), math.floor(run.jobs.n * (opts.train or 0.5))
  if run.cut < MIN_JOBS // 4 then
    must(nil, ("%d of %d jobs fit into the machine, too few to learn from; --map says what a processor is"):format(run.jobs.n,
      run.jobs.n + run.refused))
  end
  local first = must(run.trial:play(now, run.cut))
  run.present = objective.values(run.objectives, first)
  return run.trial:sample(first, run.cut, opts.search == "random" and {} or SHARES)
end

local function go(run)
  local opts = run.opts
  local costs = prepare(run)
  run.search = search.new { space = run.space, seed = opts.seed or 1, budget = opts.budget, costs = costs, try = trier(run) }
  run.tell = function(one)
    run.done = run.done + run.search:cost(one.sample)
    if opts.progress then opts.progress(run.done / opts.budget, run.search:found()[1].result[1], run.present[1]) end
  end
  run.phase "search"
  local way = opts.search == "random" and run.search.draw or run.search.halve
  local ok, raised = pcall(way, run.search, run.space:defaults(), run.present)
  if not ok and raised ~= "interrupted" then error(raised, 0) end
  return report_of(run, not ok)
end

--- Looks for settings. Returns the report, a table for programs; or nil, message, code, which is "failed" for an error of a policy
--- during a replay. opts:
---   resources, trace, map, format, malformed, overrun, granularity, tau   as for weir.replay.run
---   policy, queue   with options that stay as given
---   objectives      as M.objectives reads them; several give a Pareto front
---   budget          replays of the first part that the search may cost
---   vary            texts NAME=MIN..MAX, which narrow the ranges of options
---   train           share of the jobs in the first part (0.5)
---   seed (1), workers
---   keep_going      settings under which a policy fails are counted, and lose; else the first one ends the search
---   search          "halving", or "random": plain random search, to compare with
---   progress(share, best, now)   called after each trial; phase(name) before each phase
--- After an interrupt during the search the report has what is known by then, with interrupted = true.
function M.run(opts)
  local run = { opts = opts, objectives = opts.objectives, failed = 0, done = 1, phase = opts.phase or function() end }
  return failure.caught(nil, go, run)
end

return M
