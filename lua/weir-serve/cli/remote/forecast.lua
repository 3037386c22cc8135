--- weir -s SOCKET try, shadow.

local core = require "weir.core"
local data = require "weir.replay.data"
local files = require "weir.files"
local findings = require "weir.html.report.findings"
local out = require "weir.cli.output"
local policies = require "weir.policy"
local remote = require "weir.cli.remote"
local text = require "weir.shadow.text"

local M = {}

local SHOWN = 20 -- jobs in the table, without --all

M.try = {
  name = "-s SOCKET try", doc = "Forecast the starts of the waiting jobs under other policies; nothing is changed.",
  usage = "[OPTION...]", max = 0,
  options = {
    { "p", "policy", "POLICY", "the placement policy: a name that the service knows, or a file, which is sent; the one in use if not "
      .. "given" },
    { "q", "queue", "QUEUE", "the queue policy: a name that the service knows, or a file, which is sent; easy if not given" },
    { nil, "seconds", "SECONDS", "the time limit; 10 if not given", kind = "number", min = 0.1, max = 60 },
    { nil, "all", nil, ("list all jobs, not only the first %d with another start"):format(SHOWN) },
    { nil, "json", nil, "everything, as one line of JSON" },
  },
  notes = [[
It runs in a copy of the service. Jobs are assumed to last as long as they request, and no further job to arrive. The start in force is
the one that the service promised when the job arrived.

  weir -s unix:/run/weir.sock try -q easy
  weir -s unix:/run/weir.sock try -p ./mine.lua:k=2 -q ./mine_queue.lua --json

Exit status: 0 done, 1 a policy failed, 2 wrong usage, or no service.]],
}

--- Returns the two parameters for a policy on the command line: the name, with options, and the source of a file, or nil.
local function sent(word)
  if not word then return nil, nil end
  local name = word:match "^(.-%.lua)%f[:\0]" or policies.parse(word)
  if not name or not (name:find("/", 1, true) or name:find "%.lua$") then return word, nil end
  return "source" .. word:sub(#name + 1), out.check(files.read(name, "policy"))
end

M.sent = sent

-- Seconds as text, whole ones.
local function span(seconds) return out.seconds(math.floor(seconds + 0.5)) end

local function change(job)
  if not job.start then return "" end
  local d = job.start - job.in_force
  return d == 0 and "the same" or (d < 0 and "-" or "+") .. span(math.abs(d))
end

local function counted(n, what) return n > 0 and ("%d %s"):format(n, what) or nil end

-- The outcome of the jobs, as a sentence.
local function sentence(report)
  local s, parts = report.summary, {}
  parts[1] = counted(s.now, "would start now") or "none would start now"
  for _, row in ipairs { { s.earlier, "earlier than promised" }, { s.later, "later than promised" }, { s.same, "as promised" },
    { s.unknown, "at a time that is not known" } } do
    parts[#parts + 1] = counted(row[1], row[2])
  end
  return ("%d %s, %d %s. With %s and %s: %s."):format(report.running, report.running == 1 and "job runs" or "jobs run",
    s.waiting, s.waiting == 1 and "waits" or "wait", report.policy, report.queue, table.concat(parts, ", "))
end

local function mean_line(report)
  local s = report.summary
  if type(s.wait_tried) ~= "number" then return nil end
  return ("On average a job waits %s from now on, and %s as promised."):format(span(s.wait_tried), span(s.wait_in_force))
end

local function show(report, all)
  local rows, left = { { "job", "in force", "tried", "moved", "why not now" } }, 0
  for _, job in ipairs(report.jobs) do
    local moves = job.start ~= job.in_force
    if all or moves and #rows <= SHOWN then
      local tried = job.refused and "refused" or job.start and out.moment(job.start) or "-"
      rows[#rows + 1] = { tostring(job.job), out.moment(job.in_force), tried, change(job),
        (job.why or ""):match "^[^\n]*" .. (job.derived and " (request not known: as much as it has)" or "") }
    elseif moves then
      left = left + 1
    end
  end
  if #rows > 1 then out.table(rows, { true, true, true, true, false }) end
  if left > 0 then out.line(("and %d more; --all shows them"):format(left)) end
end

function M.try.run(client, opts)
  local asked = { seconds = opts.seconds }
  asked.policy, asked.source = sent(opts.policy)
  asked.queue, asked.queue_source = sent(opts.queue)
  local report = remote.ask(client, "try", asked)
  if opts.json then return out.json(report) end
  out.line(sentence(report))
  local mean = mean_line(report)
  if mean then out.line(mean) end
  if report.incomplete then out.line("It is not complete: " .. report.incomplete .. ".") end
  show(report, opts.all)
end

-- ---- shadow ------------------------------------------------------------------------------------------------

M.shadow = {
  name = "-s SOCKET shadow", doc = "Run other policies next to those in force, on the same jobs, and compare.",
  usage = "start [OPTION...] | status [OPTION...] | stop", operand = "start, status or stop", min = 1, max = 1,
  options = {
    M.try.options[1], M.try.options[2],
    { nil, "report", "DIR", "status: write a report to this directory: index.html and shadow.json" },
    { nil, "json", nil, "status: as one line of JSON" },
  },
  notes = [[
A shadow is a process at the lowest priority with bounded memory. It runs the jobs that the service accepts from then on; a job lasts as
long as it really lasted. The end of a job that it starts earlier than the service becomes known only later, so the shadow may lag,
and reports it. It follows the states of nodes, restarts when the machine grows, and ends with the service.

  weir -s unix:/run/weir.sock shadow start -q easy
  weir -s unix:/run/weir.sock shadow status --report out
  weir -s unix:/run/weir.sock shadow stop

Exit status: 0 done, 1 there is no shadow or a policy failed, 2 wrong usage, or no service.]],
}

local function show_status(report, opts)
  if opts.report then
    local _ <close> = out.check(data.make(opts.report))
    out.check(files.write(opts.report .. "/shadow.json", core.json_encode(report, { sort = true }) .. "\n"))
    out.check(findings.write(opts.report, text.page(report)))
  end
  if opts.json then return out.json(report) end
  for _, line in ipairs(text.sentences(report)) do out.line(line) end
  if report.status and report.status.compared > 0 then out.table(text.rows(report), { [2] = true, [3] = true, [4] = true }) end
end

function M.shadow.run(client, opts)
  local what = opts[1]
  if what ~= "start" and (opts.policy or opts.queue) then out.fail(2, "shadow: -p and -q are for start") end
  if what ~= "status" and (opts.report or opts.json) then out.fail(2, "shadow: --report and --json are for status") end
  if what == "start" then
    local asked = {}
    asked.policy, asked.source = sent(opts.policy)
    asked.queue, asked.queue_source = sent(opts.queue)
    local report = remote.ask(client, "shadow.start", asked)
    out.line(("%s and %s run alongside %s from now on"):format(report.policy, report.queue, report.in_force))
  elseif what == "status" then
    local report = remote.ask(client, "shadow.status")
    if report.running == false and not report.ended then out.fail(1, "there is no shadow; weir -s SOCKET shadow start begins one") end
    show_status(report, opts)
    return report.status and report.status.failure and 1 or 0
  elseif what == "stop" then
    if not remote.ask(client, "shadow.stop").stopped then out.fail(1, "there is no shadow") end
  else
    out.fail(2, 'shadow: expected start, status or stop, not "%s"', what)
  end
end

return M
