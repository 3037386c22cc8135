--- sacct.lua - the accounting of Slurm, as `sacct -P` prints it: a header, and a line a job with "|" between the fields.
--- Which fields there are is up to the user: Submit, Start and End are needed, and what jobs had or requested.
---
--- A job arrives when it became eligible, has the processors, nodes, memory and gpus that it was given, and keeps the
--- recorded start as `recorded`. Steps are no jobs. What did not run, or still runs, is left out with the reason.

local duration = require("weir.machine.slurm.lines").duration
local failure = require "weir.failure"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local times = require "weir.trace.times"

local M = {}

-- The fields that are read, by their names in lower case, and the column of each.
local FIELDS = { jobid = "id", jobidraw = "raw", submit = "submit", eligible = "eligible", start = "start", ["end"] = "stop",
  elapsed = "elapsed", elapsedraw = "elapsed_raw", timelimit = "limit", timelimitraw = "limit_raw", nnodes = "nnodes",
  allocnodes = "allocnodes", reqnodes = "reqnodes", ncpus = "ncpus", alloccpus = "alloccpus", reqcpus = "reqcpus",
  reqtres = "reqtres", alloctres = "alloctres", reqmem = "reqmem", partition = "partition", qos = "qos", account = "account",
  user = "user", uid = "uid", state = "state", reason = "reason", jobname = "name", priority = "priority", flags = "flags",
  constraints = "constraints" }

-- Fields in which users may write "|", by their names in lower case.
local FREE = tables.set { "jobname", "submitline", "comment", "admincomment", "systemcomment", "workdir", "extra" }

-- ---- lines --------------------------------------------------------------------------------------------------

-- Returns a pattern that captures all fields of a line of `count` fields; nil for more than a pattern can capture.
local function pattern_of(count, ending)
  if count > 32 then return nil end
  return "^" .. ("([^|]*)|"):rep(count - 1) .. "([^|]*)" .. ending .. "$"
end

-- Returns the layout of a line with some names of fields: {count =, columns = {field = column}, first and last = the first and
-- the last field in which users may write "|", ending = whether a line ends with "|", between = the name of a field that is read
-- and that is between these two}.
local function layout_of(names)
  local layout = { columns = {}, count = #names }
  if names[#names] == "" then layout.count, layout.ending = #names - 1, true end -- of sacct -p
  for i, name in ipairs(names) do
    local word = name:lower():gsub("%s+", "")
    local field = FIELDS[word]
    if field and not layout.columns[field] then layout.columns[field] = i end
    if FREE[word] then layout.first, layout.last = layout.first or i, i end
  end
  for i = (layout.first or 1) + 1, (layout.last or 1) - 1 do
    local word = names[i]:lower():gsub("%s+", "")
    if FIELDS[word] and not FREE[word] then layout.between = layout.between or names[i] end
  end
  layout.names = names
  layout.pattern = pattern_of(layout.count, (layout.ending or not layout.first) and "|?" or "")
  return layout
end

local function header_of(trace, lines)
  local line, n = lines()
  local layout = layout_of(tables.collect(((line or ""):gsub("\r$", "") .. "|"):gmatch "([^|]*)|"))
  local function need(what, ...)
    for _, field in ipairs { ... } do
      if layout.columns[field] then return end
    end
    local hint = suggest.hint(what, layout.names)
    failure.raise(("%s:%d: there is no field %s%s; sacct -a -P -o "):format(trace.path, n or 1, what, hint)
      .. "JobID,Submit,Eligible,Start,End,Timelimit,NNodes,NCPUS,ReqTRES,AllocTRES,Partition,QOS,Account,User,State prints what is read")
  end
  need("JobID", "id")
  need("Submit", "submit")
  need("Start", "start")
  need("End", "stop", "elapsed", "elapsed_raw")
  need("NCPUS", "ncpus", "alloccpus", "alloctres", "reqcpus", "reqtres")
  return layout
end

-- Returns the fields of a line with more "|" than its layout has: the fields before the first one in which users may write "|" are
-- counted from the beginning, those after the last one from the end. What is in between is not read.
local function from_both_ends(cells, n, layout)
  local found, beyond = table.move(cells, 1, layout.first - 1, 1, {}), n - layout.count
  for i = layout.first, layout.last do found[i] = "" end
  return table.move(cells, layout.last + 1 + beyond, n, layout.last + 1, found)
end

-- Returns the fields of a line; or nil, message.
local function split(line, layout)
  local count = layout.count
  if layout.pattern then
    local cells = { line:match(layout.pattern) }
    if cells[1] then return cells end
  end
  local cells = tables.collect((line .. "|"):gmatch "([^|]*)|")
  local n = #cells
  if n > count and cells[n] == "" and (layout.ending or not layout.first) then n = n - 1 end
  if n == count then return cells end
  if n < count then return nil, ("expected %d fields, found %d: the line is cut off"):format(count, n) end
  if not layout.first then return nil, ('expected %d fields, found %d: a name with "|" in it?'):format(count, n) end
  if not layout.between then return from_both_ends(cells, n, layout) end
  return nil, ('expected %d fields, found %d: which of %s and %s contains the "|" is not known, and %s is between them'):format(count, n,
    layout.names[layout.first], layout.names[layout.last], layout.between)
end

-- ---- values -------------------------------------------------------------------------------------------------

local MEGABYTES = { K = 1 / 1024, M = 1, G = 1024, T = 1048576, P = 1073741824, [""] = 1 }

-- Returns megabytes of a text such as "16000M", "3.5G"; nil for another text.
local function megabytes(text)
  local n, unit = text:match "^([%d.]+)(%a?)$"
  return n and MEGABYTES[unit:upper()] and tonumber(n) and tonumber(n) * MEGABYTES[unit:upper()]
end

-- Reads trackable resources, such as "cpu=11,gres/gpu=4,gres/gpu:a100=4,mem=16000M,node=2". The last texts are remembered.
local tres_known, tres_count = {}, 0

local function tres_of(text)
  local found = tres_known[text]
  if found then return found end
  found = { gres = {} }
  for key, value in text:gmatch "([^,=]+)=([^,]*)" do
    local gres = key:match "^gres/(.+)$"
    if key == "cpu" or key == "node" then found[key] = math.tointeger(tonumber(value))
    elseif key == "mem" then found.mem = megabytes(value)
    elseif gres then found.gres[gres] = math.tointeger(tonumber(value))
    end
  end
  if tres_count == 1000 then tres_known, tres_count = {}, 0 end
  tres_known[text], tres_count = found, tres_count + 1
  return found
end

local function count_of(text)
  local n, unit = (text or ""):match "^(%d+%.?%d*)([KM]?)$"
  n = n and tonumber(n) * (unit == "K" and 1000 or unit == "M" and 1000000 or 1)
  return n and n > 0 and math.tointeger(n) or nil
end

-- Returns the memory requested in megabytes in all, from ReqMem: "4000M", "2Gn" a node, "500Mc" a processor.
local function asked_memory(text, nodes, procs)
  local amount, per = (text or ""):match "^([%d.]+%a?)([nc]?)$"
  local mb = amount and megabytes((amount:gsub("[nc]$", "")))
  if not mb then return nil end
  return mb * (per == "n" and nodes or per == "c" and procs or 1)
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

local STATES = { COMPLETED = "ran", FAILED = "ran", TIMEOUT = "ran", CANCELLED = "ran", NODE_FAIL = "ran", OUT_OF_MEMORY = "ran",
  PREEMPTED = "ran", REQUEUED = "ran", BOOT_FAIL = "ran", DEADLINE = "ran", REVOKED = "gone", SPECIAL_EXIT = "ran",
  LAUNCH_FAILED = "ran", RECONFIG_FAIL = "ran", EXPIRED = "ran", RUNNING = "runs", SUSPENDED = "runs", COMPLETING = "runs",
  CONFIGURING = "runs", RESIZING = "runs", STOPPED = "runs", SIGNALING = "runs", STAGE_OUT = "runs", POWER_UP_NODE = "runs",
  PENDING = "waits", REQUEUE_HOLD = "waits", RESV_DEL_HOLD = "waits", REQUEUE_FED = "waits" }

local STATE_NAMES = tables.keys(STATES)

local NEVER = { CANCELLED = "cancelled before they started", DEADLINE = "past their deadline before they started",
  BOOT_FAIL = "of which nodes did not boot", PREEMPTED = "cancelled before they started" }

-- Returns why a job did not run, or nil.
local function why_left(word, kind, start)
  if kind == "runs" then return "still running: how long they run is not known" end
  if kind == "waits" then return "still waiting" end
  if kind == "gone" then return "revoked: they ran on another cluster" end
  if not start then return NEVER[word] or "without a start" end
end

local function read_time(cells, column, name)
  local text = column and cells[column]
  if not text then return nil end
  local t, why = times.parse(text)
  return t, why and name .. ": " .. why
end

-- Returns seconds of Elapsed; nil where there is none.
local function elapsed_of(cells, columns)
  local raw = columns.elapsed_raw and tonumber(cells[columns.elapsed_raw])
  return raw or columns.elapsed and cells[columns.elapsed] ~= "" and duration(cells[columns.elapsed]) or nil
end

local SUMMER = 3600 -- seconds by which a clock without zones jumps

-- Sets when a job arrived, started and how long it ran. Returns what is wrong, or nil.
local function set_times(job, cells, columns, trace)
  local submit, eligible, start, stop, why
  submit, why = read_time(cells, columns.submit, "Submit")
  if why then return why end
  eligible, why = read_time(cells, columns.eligible, "Eligible")
  if why then return why end
  start, why = read_time(cells, columns.start, "Start")
  if why then return why end
  stop, why = read_time(cells, columns.stop, "End")
  if why then return why end
  job.submit, job.recorded = submit, start
  if job.left or not start then return nil end
  if not submit then return "Submit: the time is not known" end
  local elapsed = elapsed_of(cells, columns)
  stop = stop or elapsed and start + elapsed
  if not stop then return "End: the time is not known, and there is no Elapsed" end
  job.runtime = stop - start
  if elapsed and math.abs(math.abs(job.runtime - elapsed) - SUMMER) < 2 then job.runtime = elapsed end
  if job.runtime < 0 then return ("it ends %d s before it starts: a clock went back"):format(-job.runtime) end
  if submit > start then
    trace:remark "jobs started before they were submitted (they arrive at their start)"
    job.submit = start
  elseif eligible and eligible > submit and eligible <= start then
    job.submit = eligible
  end
end

-- Sets what a job had or, where that is unknown, requested.
local function set_size(job, cells, columns)
  local function cell(name) return columns[name] and cells[columns[name]] or nil end
  local had, asked = tres_of(cell "alloctres" or ""), tres_of(cell "reqtres" or "")
  job.nodes = had.node or count_of(cell "allocnodes") or count_of(cell "nnodes") or asked.node or count_of(cell "reqnodes")
  job.procs = had.cpu or count_of(cell "alloccpus") or count_of(cell "ncpus") or asked.cpu or count_of(cell "reqcpus")
  if not job.procs then return end
  if job.nodes and job.nodes > job.procs then job.procs = job.nodes end
  local min = asked.node or count_of(cell "reqnodes")
  job.spread = min and job.nodes and min < job.nodes or nil
  local memory = had.mem or asked.mem or asked_memory(cell "reqmem", job.nodes or 1, job.procs)
  if memory and memory > 0 then job.megabytes = math.ceil(memory) end
  local gres = next(had.gres) and had.gres or asked.gres
  if next(gres) then job.gres = gres end
end

local function set_limit(job, cells, columns)
  local raw = columns.limit_raw and tonumber(cells[columns.limit_raw])
  local limit = raw and raw * 60 or columns.limit and duration(cells[columns.limit]) or nil
  if limit and limit < math.huge then
    job.estimate = limit
  elseif limit then
    job.unlimited = true
  end
end

local function text_of(cells, column)
  local text = column and cells[column]
  return text and text ~= "" and text or nil
end

-- Reads a job. Returns the job; or nil, message for a malformed line.
local function read_job(cells, columns, trace)
  local word = columns.state and cells[columns.state]:match "^[%u_]+" or "COMPLETED"
  local kind = STATES[word]
  if not kind then
    local near = suggest.hint(word, STATE_NAMES)
    return nil, ('State: "%s" is no state of a job%s'):format(cells[columns.state]:sub(1, 40), near)
  end
  local job = { number = cells[columns.id], user = text_of(cells, columns.user) or text_of(cells, columns.uid),
    bank = text_of(cells, columns.account), queue = text_of(cells, columns.partition), qos = text_of(cells, columns.qos),
    state = word, features = text_of(cells, columns.constraints) }
  job.left = kind ~= "ran" and why_left(word, kind) or nil
  local wrong = set_times(job, cells, columns, trace)
  if wrong then return nil, wrong end
  job.left = job.left or why_left(word, kind, job.recorded)
  if job.left then return job end
  set_size(job, cells, columns)
  set_limit(job, cells, columns)
  if word == "NODE_FAIL" then trace:remark "jobs ended as a node failed (they end when they did)" end
  if word == "REQUEUED" then trace:remark "runs ended as the job was requeued (each run is a job)" end
  if job.number:find("+", 1, true) then trace:remark "parts of heterogeneous jobs (each is a job; they may start at different times)" end
  if job.features and not job.features:find "^[%w_.&-]+$" then
    trace:remark "jobs requested features in a way that is not read (they run on any node of their partition)"
    job.features = nil
  end
  local reason = columns.reason and cells[columns.reason] or ""
  if reason:find "^Dependency" then trace:remark "jobs had waited for others (they arrive when they became eligible)" end
  if reason:find "Held" then trace:remark "jobs had been held (they arrive when they became eligible)" end
  return job
end

--- Returns a source of jobs, as swf.reader does.
function M.reader(trace, lines)
  local layout = header_of(trace, lines)
  local columns = layout.columns
  local step = "^" .. ("[^|]*|"):rep(columns.id - 1) .. "[^|]*%."
  if layout.first and layout.first < columns.id then step = nil end -- "|" in a text would shift the column
  return function()
    while true do
      local line, n = lines()
      if not line then return end
      if step and line:find(step) then
        trace.steps = trace.steps + 1
      elseif line:find "%S" then
        local cells, wrong = split((line:gsub("\r$", "")), layout)
        if not cells then return nil, n, wrong end
        if step or not cells[columns.id]:find(".", 1, true) then
          local job
          job, wrong = read_job(cells, columns, trace)
          return job, n, wrong
        end
        trace.steps = trace.steps + 1
      end
    end
  end
end

return M
