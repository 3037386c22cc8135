--- data.lua - the results of a replay as JSON, for programs and for the report.
---
--- summary (weir replay --json): {"version": 1, "queue", "policy", "trace", "name"?, "machine": {"type", "total"},
---   "read", "malformed", "left_out", "outcome": {"jobs" that came, "unfinished", "failed", "refused": "2,5-7" in the order of
---   submission, "cancelled" likewise, "excluded": of those refused, how many the placement policy
---   excludes}, "incomparable": why a run of --compare is not comparable, "starts": {"counting", "engine", "why"?}, see weir.replay,
---   "metrics": {...}}.
---   "metrics" is from weir.replay.metrics: jobs, rejected,
---   killed, failed, cancelled,
---   preempted, unfinished, first_submit, last_end, makespan, utilisation, whole and touched {type: share}, shown [the types
---   that tables tell], wait {mean, median, p95, max}, mean_flow, bounded_slowdown {mean, max, tau}, queue {mean, max}, idle_while_waiting,
---   fragmentation,
---   backfilled, fairness {users, index, worst_user, worst_user_bounded_slowdown}, users [{user, jobs, mean_wait,
---   mean_bounded_slowdown, unit_seconds}], decisions, passes, decisions_per_job, visits_per_job.
---
--- report (DIR/replay.json): the summary, and
---   "series": {"start", "step", "used": [...], "queued": [...]}: means over steps of `step` seconds from `start` on,
---     of units in use and of waiting jobs
---   "ranks": [{"rank", "units", "first", "name", "rack"}]: the lanes of a Gantt chart, units numbered through from 0;
---     "name" of the node, "rack" of the parent of the node, if any
---   "epoch": the date of time 0 in seconds since 1970, where the trace has it
---   "spread": how waits and slowdowns are spread over all jobs, see weir.html.report.distribution
---   "jobs": an array per field, all in the order of the jobs' ends: {"id", "user", "submit", "start", "end", "units",
---     "backfilled" (0 or 1), "killed", "resources" ("rank[0-1]/core[0-3]")}; of many jobs those with the largest areas
---   "jobs_left": the number of jobs that are not among "jobs"
--- A report's directory also has jobs.csv, as written by --jobs, with all jobs, and index.html, a page (see html/report).

local core = require "weir.core"
local files = require "weir.files"
local pages = require "weir.html.report"
local outcome = require "weir.sim.outcome"
local tables = require "weir.tables"
local run_of = require("weir.html.report.replay").run

local M = {}

local function as_array(list)
  local array = core.array {}
  for i, x in ipairs(list) do array[i] = x end
  return array
end

local OF_JOBS = { "wait", "mean_flow", "bounded_slowdown", "fairness", "users", "backfilled" }

--- Marks the runs that are not comparable, of a list of summaries or reports, with a field incomparable, the reason, and takes the
--- figures of jobs from them. Returns the reasons (see weir.sim.outcome).
function M.judge(list)
  local reasons = outcome.judge(tables.column(list, "outcome"))
  for i, reason in ipairs(reasons) do
    if reason then
      list[i].incomparable = reason
      for _, name in ipairs(OF_JOBS) do list[i].metrics[name] = nil end
    end
  end
  return reasons
end

--- Returns the summary of a result.
function M.summary(result)
  local t = result.trace
  local users = core.array {}
  for i, user in ipairs(result.metrics.users) do users[i] = user end
  result.metrics.users = users
  return {
    version = 1, name = result.name, queue = result.queue, policy = result.policy, trace = t.path, read = t.read, malformed = t.malformed,
    left_out = t.left_out, reasons = t.reasons and as_array(t.reasons), against_actual = result.against,
    machine = { type = result.sim.type, total = result.sim:total() }, metrics = result.metrics, outcome = result.outcome,
    starts = result.starts,
  }
end

local FLAGS = { backfilled = true, killed = true }
local FIELDS = { "id", "user", "submit", "start", "end", "units", "resources", "backfilled", "killed" }

local function columns_of(kept)
  local columns = {}
  for _, field in ipairs(FIELDS) do
    local list = core.array {}
    for i, job in ipairs(kept) do
      local value = job[field]
      if FLAGS[field] then value = value and 1 or 0 end
      list[i] = value == nil and core.null or value
    end
    columns[field] = list
  end
  return columns
end

-- By rank {name of the node, name of its parent, or nil where that is the whole machine}.
local function places_of(graph)
  local places = {}
  for v in graph:walk { type = "node" } do
    local parent = v.rank and v:parent()
    if v.rank then places[v.rank] = { v.name, parent and parent:parent() and parent.name or nil } end
  end
  return places
end

local function lanes_of(sim)
  local lanes, first, places = core.array {}, 0, places_of(sim.graph)
  local set = sim.graph:rset { scheduling = false }
  if not set then return lanes end
  for rank in set:ranks():ids() do
    local ids, place = set:children(rank, sim.type), places[rank] or {}
    local n = ids and ids:count() or 1
    lanes[#lanes + 1] = { rank = rank, units = n, first = first, name = place[1], rack = place[2] }
    first = first + n
  end
  return lanes
end

-- The date of a trace's time 0, as in SWF; nil where there is none.
local function epoch_of(trace)
  local start = trace.header and tonumber(trace.header.UnixStartTime)
  return start and start > 0 and start or nil
end

--- Returns all data of the report as a table.
function M.report(result)
  local report = M.summary(result)
  local s = result.series
  report.series = { start = s.start, step = s.step, used = as_array(s.used), queued = as_array(s.queued) }
  report.ranks, report.jobs = lanes_of(result.sim), columns_of(result.kept or {})
  report.jobs_left, report.spread, report.epoch = result.left, result.spread, epoch_of(result.trace)
  return report
end

-- The missing directories of a path, the deepest first.
local function missing(dir)
  local list = {}
  dir = dir:gsub("(.)/+$", "%1")
  while dir and dir ~= "" and not files.exists(dir) do
    list[#list + 1] = dir
    dir = dir:match "^(.*[^/])/+[^/]+$"
  end
  return list
end

-- Removes directories made earlier, as far as empty.
local function unmake(made)
  for _, dir in ipairs(made) do os.remove(dir) end
end

--- Makes the directory of a report. Returns a value to be closed, which removes the directories made as far as empty;
--- or nil, message, "io".
function M.make(dir)
  local directories = missing(dir)
  local unfinished <close> = setmetatable({}, { __close = function(self)
    if not self.done then unmake(directories) end
  end })
  local ok, why, code = files.make_directory(dir)
  if not ok then return nil, why, code end
  unfinished.done = true
  return setmetatable(directories, { __close = unmake })
end

--- Writes replay.json and index.html into a directory, made if missing; jobs.csv is written while a replay runs, see
--- weir.replay. Returns the path of the page; or nil, message, "io".
function M.write(dir, result)
  local made, reason = M.make(dir)
  if not made then return nil, reason, "io" end
  local all = M.report(result)
  local ok, why, code = files.write(dir .. "/replay.json", core.json_encode(all, { sort = true }) .. "\n")
  if not ok then return nil, why, code end
  return pages.write(dir, { run_of(all) })
end

--- Writes DIR/index.html, a page comparing several replays, given as M.report returns them. Returns the path; or nil,
--- message, "io".
function M.compare(dir, reports) return pages.write(dir, tables.map(reports, run_of)) end

return M
