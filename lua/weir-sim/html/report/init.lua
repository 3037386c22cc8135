--- report - an HTML page about replays: what happened in three sentences; utilisation, queue and waits over time; metrics
--- side by side; Gantt charts; how waits and slowdowns are spread; the worst jobs; what differs from the first run; search.
--- The page is self-contained: a browser suffices.
---
---   report.write("out", { run, ... })     -- out/index.html; several runs are compared with the first
---
--- A run is a table as follows. Times are seconds on a common clock:
---   title     the name of the run          subtitle  further text
---   machine   {type = "core", total = number of units, per_rank = units on each rank (where resources are
---             "RANKS/IDS"), names = names of the ranks, or of the units of a machine without ranks,
---             nodes and racks = {first = the first unit of each, in order, names = their names}: what rows fold to}
---   epoch     the date of time 0 in seconds since 1970, where known. Times above 3e8 are taken for dates anyway
---   jobs      list of {id =, submit =, start =, finish =, resources =, size =, user =, name =, estimate =, state =}.
---             start and finish are nil for a job that did not start or end. resources: "0-1/0-15 7/3", ids on ranks,
---             or "0-3,7",
---             units counted from 0; a job without resources is counted, but not drawn. size: number of units, by
---             default
---             counted from resources.
---   metrics   list of {name =, value =, unit = "s" or "%" (0 to 1) or any, better = "less" or "more", doc =}, or
---             {name = value}; an entry {group =} is a heading
---   series    {utilisation = {t, part, t, part, ...}, queue = {t, jobs, ...}, any name = ...}: step functions.
---             Utilisation and queue are computed from the jobs where missing. units = {any name = "s" or "%"}
---   spread    from weir.html.report.distribution, computed from the jobs where missing
---   facts     the facts in the sentences (see weir.html.report.sentences), computed from the jobs where missing
---   outcome   what became of the jobs (see weir.sim.outcome), from the facts where missing. A run that is not comparable is named
---             first, and shows neither waits nor what is better or worse than in the first run
---   left      number of jobs that are in spread and facts, but not in the list
---
--- A page has at most JOBS_MAX jobs of a run, so that its size is bounded: those with the largest areas (units times time).

local core = require "weir.core"
local colours = require "weir.html.picture.html".colours
local difference = require "weir.html.report.difference"
local distribution = require "weir.html.report.distribution"
local facts_of = require "weir.html.report.facts"
local failure = require "weir.failure"
local files = require "weir.files"
local markup = require "weir.html.picture.markup"
local is_number = require "weir.plain".is_finite
local outcome = require "weir.sim.outcome"
local sentences = require "weir.html.report.sentences"
local tables = require "weir.tables"

local M = {}

M.JOBS_MAX = 50000 -- jobs drawn of a run, at most

local fail = failure.fail -- caught in M.html

-- ---- resources ----------------------------------------------------------------------------------------------------

-- Calls f(lo, hi) for each range of an idset. Returns whether the text is an idset.
local function each_range(text, f)
  text = text:match "^%[(.*)%]$" or text
  for part in text:gmatch "[^,]+" do
    local lo, hi = part:match "^%s*(%d+)%-?(%d*)%s*$"
    lo, hi = math.tointeger(tonumber(lo)), math.tointeger(tonumber(hi ~= "" and hi or lo))
    if not lo or not hi or hi < lo then return false end
    f(lo, hi)
  end
  return true
end

-- Appends units lo to hi to a flat list of {first, count}. Returns false for units outside of the machine.
local function add_units(list, lo, hi, total)
  if hi >= total then return false end
  local n = #list
  if n > 0 and list[n - 1] + list[n] == lo then
    list[n] = list[n] + hi - lo + 1
  else
    list[n + 1], list[n + 2] = lo, hi - lo + 1
  end
  return true
end

local function add_ranks(list, ranks, ids, machine)
  local per, total, ok = machine.per_rank, machine.total, true
  local good = each_range(ranks, function(r0, r1)
    if (r1 + 1) * per > total + per - 1 then ok = false end
    if not ok then return end
    if ids == "0-" .. per - 1 or per == 1 and ids == "0" then
      ok = add_units(list, r0 * per, math.min((r1 + 1) * per, total) - 1, total)
      return
    end
    for rank = r0, r1 do
      ok = each_range(ids, function(lo, hi) ok = ok and hi < per and add_units(list, rank * per + lo, rank * per + hi, total) end) and ok
      if not ok then return end
    end
  end)
  return good and ok
end

-- Parses "0-1/0-15 7/3" or "0-3,7" into a flat list of {first unit, count}; nil where invalid.
local function units_of(text, machine)
  local list, ok = {}, true
  for part in text:gmatch "%S+" do
    local ranks, ids = part:match "^([^/]*)/([^/]*)$"
    if ranks then
      ok = ok and machine.per_rank and add_ranks(list, ranks, ids, machine)
    else
      ok = ok and each_range(part, function(lo, hi) ok = ok and add_units(list, lo, hi, machine.total) end) and ok
    end
  end
  return ok and list or nil
end

local function count_units(list)
  local n = 0
  for i = 2, #list, 2 do n = n + list[i] end
  return n
end

-- ---- jobs ---------------------------------------------------------------------------------------------------------

local function check_job(run, i, job)
  if type(job) ~= "table" or job.id == nil then fail("%s: job %d of the list has no id", run.title, i) end
  if not is_number(job.submit) then fail("%s: job %s: submit: expected a time in seconds", run.title, job.id) end
  for _, name in ipairs { "start", "finish" } do
    if job[name] ~= nil and not is_number(job[name]) then fail("%s: job %s: %s: no time in seconds", run.title, job.id, name) end
  end
  if job.finish and (job.start == nil or job.finish < job.start) then fail("%s: job %s: it ends before it starts", run.title, job.id) end
end

-- Returns {offset in all.flat, number of ranges, number of units} for a job's resources; nil for none. Each distinct
-- text is parsed and stored once.
local function note_units(all, run, job)
  local text = job.resources
  if text == nil or text == "" then return nil end
  text = tostring(text)
  local known = all.known[text]
  if not known then
    local list = units_of(text, run.machine)
    if not list then
      fail('%s: job %s: resources "%s": expected idsets of units below %d, or RANKS/IDS with ids below %s', run.title, job.id,
        text:sub(1, 80), run.machine.total, run.machine.per_rank or "machine.per_rank")
    end
    known = { #all.flat // 2, #list // 2, count_units(list) }
    table.move(list, 1, #list, #all.flat + 1, all.flat)
    all.known[text] = known
  end
  return known
end

local function area(job) return (job.size or 1) * ((job.finish or job.start or 0) - (job.start or 0)) end

-- Returns the jobs to draw, sorted by start, and the number of jobs left out.
local function choose(jobs)
  local list, left = table.move(jobs, 1, #jobs, 1, {}), math.max(0, #jobs - M.JOBS_MAX)
  if left > 0 then
    tables.sort(list, function(job) return -area(job) end, function(job) return tostring(job.id) end)
    list = tables.first(list, M.JOBS_MAX)
  end
  local at = {}
  for i, job in ipairs(list) do at[job] = i end
  tables.sort(list, function(job) return job.start or math.huge end, function(job) return at[job] end)
  return list, left
end

local function intern(list, known, value)
  if value == nil then return -1 end
  value = tostring(value)
  if not known[value] then
    known[value] = #list
    list[#list + 1] = value
  end
  return known[value]
end

local function array() return core.array {} end

-- Jobs as columns; repeated texts (users, states) are indices into lists.
local function columns(run)
  local jobs, left = choose(run.jobs)
  local out = { id = array(), submit = array(), start = array(), finish = array(), size = array(), first = array(), ranges = array(),
    user = array(), state = array(), estimate = array(), users = array(), states = array(), left = left + (run.left or 0),
    total = #run.jobs + (run.left or 0) }
  local units, users, states = { known = {}, flat = array() }, {}, {}
  for i, job in ipairs(jobs) do
    local where = note_units(units, run, job)
    out.id[i], out.submit[i], out.start[i], out.finish[i] = job.id, job.submit, job.start or core.null, job.finish or core.null
    out.size[i] = job.size or where and where[3] or 0
    out.first[i], out.ranges[i] = where and where[1] or 0, where and where[2] or 0
    out.user[i], out.state[i] = intern(out.users, users, job.user), intern(out.states, states, job.state)
    out.estimate[i] = job.estimate or core.null
    if job.name ~= nil then
      out.names = out.names or {}
      out.names[tostring(i - 1)] = tostring(job.name)
    end
  end
  out.units = units.flat
  return out
end

-- ---- metrics and series -------------------------------------------------------------------------------------------

local function metrics_of(given)
  local list = array()
  for _, row in ipairs(given or {}) do
    local finite = is_number(row.value) or type(row.value) == "string"
    list[#list + 1] = { name = row.name, value = finite and row.value or nil, unit = row.unit, better = row.better, doc = row.doc,
      group = row.group }
  end
  if #list > 0 then return list end
  for name, value in pairs(given or {}) do
    if is_number(value) or type(value) == "string" then list[#list + 1] = { name = name, value = value } end
  end
  return tables.sort(list, "name")
end

local function series_of(run)
  local list = array()
  for i, name in ipairs(tables.keys(run.series)) do
    local points = array()
    for k, x in ipairs(run.series[name]) do
      if not is_number(x) then fail("%s: series %s: place %d: no number", run.title, name, k) end
      points[k] = x == math.floor(x) and x or tonumber(("%.6g"):format(x)) or x
    end
    list[i] = { name = name, points = points, unit = run.units and run.units[name] }
  end
  return list
end

-- {first =, names =} of the nodes or racks, or nil where there are fewer than two.
local function bands_of(given)
  if not given or #given.first < 2 then return nil end
  local first, names = array(), array()
  for i, unit in ipairs(given.first) do first[i], names[i] = unit, tostring(given.names and given.names[i] or i - 1) end
  return { first = first, names = names }
end

local function check_run(i, run)
  local m = run.machine
  if type(run.title) ~= "string" then fail("run %d: expected a title", i) end
  if type(m) ~= "table" or math.type(m.total) ~= "integer" or m.total < 1 then
    fail("%s: expected machine = {type =, total =}, with a whole number of units from 1 on", run.title)
  end
  for k, job in ipairs(run.jobs or {}) do check_job(run, k, job) end
end

-- Lists of the spread as arrays, as an empty table would be an object.
local function arrays_of(spread)
  local out = {}
  for name, value in pairs(spread) do
    out[name] = value
    if type(value) == "table" then out[name] = table.move(value, 1, #value, 1, array()) end
  end
  return out
end

local function data_of(run)
  local m = run.machine
  return { title = run.title, subtitle = run.subtitle, incomparable = run.incomparable,
    type = m.type or "unit", total = m.total, per = m.per_rank,
    names = core.array(tables.map(m.names or {}, tostring)),
    nodes = bands_of(m.nodes), racks = bands_of(m.racks), epoch = run.epoch, spread = arrays_of(run.spread),
    jobs = columns { title = run.title, machine = m, jobs = run.jobs, left = run.left }, metrics = metrics_of(run.metrics),
    series = series_of(run) }
end

-- ---- the page -----------------------------------------------------------------------------------------------------

local DATED = 3e8 -- times from here on are seconds since 1970

-- The jobs of a run, with sizes counted from resources where they are missing.
local function sized(run)
  return tables.map(run.jobs or {}, function(job)
    local units = not job.size and job.resources and units_of(tostring(job.resources), run.machine)
    return units and setmetatable({ size = count_units(units) }, { __index = job }) or job
  end)
end

-- A copy of a run with the parts that are computed from its jobs where they are missing.
local function completed(run)
  local full = setmetatable({ jobs = sized(run) }, { __index = run })
  full.spread = run.spread or distribution.of(full.jobs)
  full.facts = run.facts or facts_of(full)
  full.outcome = run.outcome or { unfinished = full.facts.unfinished, failed = full.facts.failed }
  full.epoch = run.epoch or full.facts.jobs > 0 and full.facts.first > DATED and 0 or nil
  return full
end

-- Takes the waits from the runs that are not comparable, and gives the others their waits over time. Returns the reasons.
local function judge(full)
  local reasons = outcome.judge(tables.column(full, "outcome"))
  for i, run in ipairs(full) do
    run.incomparable = #full > 1 and reasons[i] or nil
    if run.incomparable then run.spread = distribution.new(run.spread.tau):result() end
  end
  return reasons
end

-- Adds the mean waits over time to the series of a run.
local function add_waits(full, run)
  if #full.spread.over_time > 0 then
    full.series, full.units = { [M.WAITS] = full.spread.over_time }, { [M.WAITS] = "s" }
    for name, points in pairs(run.series or {}) do full.series[name] = points end
    for name, unit in pairs(run.units or {}) do full.units[name] = unit end
  end
end

--- The name of the series of mean waits.
M.WAITS = "mean wait, by time of submission"

local function page(runs, opts)
  local list, titles, facts, differences, full = array(), {}, {}, array(), {}
  for i, run in ipairs(runs) do
    check_run(i, run)
    full[i] = completed(run)
  end
  local reasons = judge(full)
  for i, run in ipairs(runs) do
    add_waits(full[i], run)
    list[i], titles[i], facts[i] = data_of(full[i]), run.title, full[i].facts
    differences[i] = i > 1 and outcome.comparable(reasons, i) and arrays_of(difference.of(full[1].jobs, full[i].jobs)) or core.null
  end
  local title = opts and opts.title or table.concat(titles, " / ")
  local limits = { waits = table.move(distribution.WAITS, 1, #distribution.WAITS - 1, 1, array()),
    slowdowns = table.move(distribution.SLOWDOWNS, 1, #distribution.SLOWDOWNS - 1, 1, array()) }
  local said = sentences.of(full, facts, differences, reasons)
  return markup.page { title = title,
    data = colours { title = title, runs = list, differences = differences, limits = limits, waits = M.WAITS,
      sentences = table.move(said, 1, #said, 1, array()) },
    css = { "weir.html.picture.common", "weir.html.report.report" },
    js = { "weir.html.picture.common", "weir.html.report.clock", "weir.html.report.runs", "weir.html.report.chart",
      "weir.html.report.gantt", "weir.html.report.bands", "weir.html.report.panels", "weir.html.report.report" } }
end

--- Returns the page about one or several runs as text; or nil, message, "invalid". opts.title. Time is linear in the
--- jobs.
function M.html(runs, opts)
  if #runs == 0 then return nil, "a report needs a run", "invalid" end
  return failure.caught("invalid", page, runs, opts)
end

--- Writes DIR/index.html and makes a missing DIR. Returns the path; or nil, message, "io" or "invalid".
function M.write(dir, runs, opts)
  local html, why, code = M.html(runs, opts)
  if not html then return nil, why, code end
  files.make_directory(dir)
  local path = dir:gsub("/*$", "") .. "/index.html"
  local ok
  ok, why, code = files.write(path, html)
  if not ok then return nil, why, code end
  return path
end

return M
