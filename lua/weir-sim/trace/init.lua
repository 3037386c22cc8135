--- trace - reads logs of the jobs submitted to a machine, job by job: Standard Workload Format, CSV with a header, JSON
--- lines; also compressed with gzip.
---
---   local t = trace.open("KTH-SP2.swf.gz", { malformed = "skip" })
---   for job in t.next do print(job.submit, job.procs, job.estimate, job.runtime) end
---
--- A job has number, submit, runtime, estimate (seconds), and where known procs, memory (kB for each processor), user,
--- bank, project, queue, qos (by default the queue), urgency, priority, preemptible, name, request (a jobspec or a
--- shape). Jobs come in the order of submission; a job out of order by more than LOOKAHEAD jobs is malformed.
---
--- Accountings of schedulers have more: nodes, spread (true where the number of nodes was left to the scheduler),
--- megabytes (memory of the whole job), gres (a table of counts, such as {gpu = 4}), features, recorded (the start that
--- was recorded), state, line. weir.trace.needs makes requests of that.

local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"

local M = {}

local READERS = { swf = "weir.trace.swf", csv = "weir.trace.csv", jsonl = "weir.trace.jsonl",
  sacct = "weir.trace.sacct", flux = "weir.trace.flux" }
local DETAILED = { sacct = true, flux = true } -- formats whose jobs have nodes, memory and gpus
local LOOKAHEAD, PROBLEMS, TIME_MAX, PROCS_MAX = 10000, 1000, 9e12, 1 << 22
local IDLE_MAX = 1000000 -- comments and blank lines; a few bytes of gzip may be as many as one likes
M.formats = { "swf", "csv", "jsonl", "sacct", "flux" }

-- ---- opening ------------------------------------------------------------------------------------------------

-- Whether a seekable file is gzip. A pipe can be read only once, so it is never inspected.
local function is_gzip(file)
  return file:seek() ~= nil and file:read(2) == "\x1f\x8b"
end

local function open_lines(path)
  local file, why, code = files.open(path)
  if not file or file == io.stdin then return file, why, code end
  if not is_gzip(file) then
    file:seek "set"
    return file
  end
  file:close()
  return assert(io.popen("gzip -dc -- " .. files.quoted(path) .. " 2>/dev/null")) -- close_file says what went wrong
end

local function by_name(path)
  local name = path:gsub("%.gz$", "")
  local ending = name:match "%.(%a+)$"
  return ({ swf = "swf", csv = "csv", json = "jsonl", jsonl = "jsonl", ndjson = "jsonl" })[ending]
end

--- The format of a trace by the name of its file: "swf", "csv", "jsonl"; nil for other names.
M.format_of = by_name

local function by_content(line)
  if line:find "^%s*{" then return "jsonl" end
  if line:find "^%s*;" or line:find "^%s*%-?%d+%s" then return "swf" end
  if line:find "|" and line:find "Job_?ID" then return "sacct" end
  return line:find "," and "csv" or nil
end

-- ---- what is wrong ------------------------------------------------------------------------------------------

-- Raises an error if no line so far was readable: the file is no trace of the format, or has no job.
local function check_sense(self)
  local first = self.problems[1]
  if self.read > 0 or self.left_out > 0 then return end
  if not first and (self.steps or 0) > 0 then failure.raise(self.path .. ": there are steps of jobs in it, and no job") end
  if not first then failure.raise(self.path .. ": there is no job in it") end
  failure.raise(("%s: no line of it makes sense as %s; line %d: %s"):format(self.path, self.format, first.line, first.text))
end

-- Counts a problem, and stores the first PROBLEMS problems. An unreadable file is given up after PROBLEMS malformed
-- lines, as a pipe may be endless.
local function note(self, line, text, malformed)
  local counter = malformed and "malformed" or "left_out"
  self[counter] = self[counter] + 1
  if #self.problems < PROBLEMS then self.problems[#self.problems + 1] = { line = line, text = text, malformed = malformed or nil } end
  if self.malformed == PROBLEMS then check_sense(self) end
  if malformed and self.policy == "stop" then failure.raise(("%s:%d: %s"):format(self.path, line, text)) end
end

-- Counts a job that is left out for a reason that many have, with the line of the first.
local function leave(self, line, reason)
  local known = self.reasons[reason]
  if not known then
    known = { text = reason, count = 0, line = line }
    self.reasons[reason], self.reasons[#self.reasons + 1] = known, known
  end
  known.count, self.left_out = known.count + 1, self.left_out + 1
end

local function too_long(job)
  for _, key in ipairs { "submit", "runtime", "estimate" } do
    if job[key] and job[key] > TIME_MAX then return ("%s %g is more than %g seconds"):format(key, job[key], TIME_MAX) end
  end
  return ("it ends after %g seconds, the end of the clock"):format(TIME_MAX)
end

-- Returns whether a job that starts at once ends by the end of the clock. The sum is one of floats: a sum of integers
-- would wrap around.
local function ends_in_time(submit, runtime, estimate)
  runtime, estimate = runtime or 0, estimate or 0
  return 0.0 + (submit or 0) + (runtime > estimate and runtime or estimate) <= TIME_MAX
end

-- Returns the reason why a request is malformed, else nil. `known`: the last request found good, as logs repeat requests.
local function request_fault(request, known)
  if request == known.request then return nil end
  if type(request) ~= "string" then return "request: expected a jobspec or a shape, not a " .. type(request) end
  local ok, why = core.request(request)
  if not ok then return why end
  known.request = request
end

-- Fills in missing fields. Returns nil for a usable job; a reason for a job to leave out; a reason and true for a
-- malformed job.
local function complete(job, known)
  local submit, runtime, estimate, procs = job.submit, job.runtime, job.estimate, job.procs
  if not ends_in_time(submit, runtime, estimate) then return too_long(job), true end
  if not submit or submit == -1 then return "it has no submit time", true end
  if submit < 0 then return ("submitted at %.14g: expected a time from 0 on"):format(submit), true end
  if not runtime or runtime < 0 then return "it has no run time" end
  if not estimate or estimate <= 0 then job.estimate = math.max(runtime, 1) end
  job.qos = job.qos or job.queue
  if job.request ~= nil then
    local wrong = request_fault(job.request, known)
    return wrong, wrong ~= nil
  end
  if not procs or procs <= 0 then return "it requests no processors" end
  if procs > PROCS_MAX then return ("it requests %.14g processors"):format(procs) end
  if procs % 1 ~= 0 then return ("it requests %.14g processors: expected a whole number"):format(procs), true end
end

-- Whether nothing is to be filled in or left out of a job: complete(), for what nearly all jobs of a log are.
local function is_plain(job)
  local submit, runtime, estimate, procs = job.submit, job.runtime, job.estimate, job.procs
  return submit and runtime and estimate and procs and submit >= 0 and runtime >= 0 and estimate > 0 and procs > 0
    and procs <= PROCS_MAX and procs % 1 == 0 and 0.0 + submit + runtime + estimate <= TIME_MAX
    and job.request == nil
end

-- ---- in order -----------------------------------------------------------------------------------------------

-- Sorts jobs by submission, within the lookahead; sorting is stable. Returns a function fill(), which reads jobs, and a
-- function next(), which returns a job; nil where none is left; nil, fill where fill() has to be called first. The jobs
-- read in advance, from `first` to `last`, are in a ring, so that no table grows.
local function in_order(self, next)
  local ring, first, last, ended, time, ahead = {}, 1, 0, false, 0, self.lookahead
  local more = ahead // 4 -- read at once
  local size = ahead + more + 1
  local function fill()
    while not ended and last - first < ahead + more do
      local job, line = next()
      if not job then
        ended = true
      elseif job.submit < time then
        note(self, line, ("submitted at %.14g, when jobs submitted at %.14g have gone already"):format(job.submit, time), true)
      else
        local i, submit = last, job.submit
        while i >= first and ring[i % size + 1].submit > submit do
          ring[(i + 1) % size + 1] = ring[i % size + 1]
          i = i - 1
        end
        last, ring[(i + 1) % size + 1] = last + 1, job
      end
    end
    return true
  end
  return fill, function()
    if not ended and last - first < ahead then return nil, fill end
    if first > last then return nil end
    local job = ring[first % size + 1]
    first, time = first + 1, job.submit
    return job
  end
end

-- ---- reading ------------------------------------------------------------------------------------------------

local read_line = files.line

local function numbered(self)
  local n, most = 0, IDLE_MAX -- no earlier line can be one idle line too many
  return function()
    n = n + 1
    local line, why = read_line(self.file)
    if why then failure.raise(("%s:%d: %s"):format(self.path, n, why)) end
    if n > most and line then
      most = IDLE_MAX + self.read + self.malformed + self.left_out + self.steps
      if n > most then failure.raise(("%s:%d: more than %d lines have no job"):format(self.path, n, IDLE_MAX)) end
    end
    return line and n == 1 and files.unmarked(line) or line, n
  end
end

-- Puts a line back before the remaining lines.
local function again(lines, line, n)
  return function()
    if not line then return lines() end
    local first = line
    line = nil
    return first, n
  end
end

local function recognize(self, lines, format)
  local line, n = lines()
  while line and line:find "^%s*$" do line, n = lines() end
  if not line then failure.raise(self.path .. ": is empty, expected a trace") end
  format = format or line:find "^%s*{" and require("weir.trace.flux").is(line) and "flux" or by_name(self.path) or by_content(line)
  if not format then
    failure.raise(self.path .. ": not a trace: neither SWF, nor CSV with a header, nor JSON lines, nor what sacct -P or flux jobs "
      .. "--json prints")
  end
  return format, again(lines, line, n)
end

-- Returns a source of usable jobs with line numbers; notes all problems.
local function whole(self, next)
  local known = {}
  return function()
    while true do
      local job, line, wrong = next()
      if not line then return nil end
      if job and not wrong and not self.detailed and is_plain(job) then
        job.qos, self.read = job.qos or job.queue, self.read + 1
        return job, line
      end
      local malformed, estimate = wrong ~= nil, job and job.estimate
      local left = job and not wrong and job.left
      if not wrong and not left then wrong, malformed = complete(job, known) end
      if left then
        leave(self, line, left)
      elseif wrong then
        note(self, line, wrong, malformed)
      else
        local guessed = not estimate or estimate <= 0
        self.read, self.guessed = self.read + 1, self.guessed + (guessed and 1 or 0)
        if self.detailed then job.line, job.guessed = line, guessed or nil end
        return job, line
      end
    end
  end
end

local function caught(f) return failure.caught("parse", f) end

local function close_file(self)
  if not self.file then return true end
  local ok = self.file == io.stdin or self.file:close()
  self.file = nil
  if not ok then failure.raise(self.path .. ": gzip could not read all of it") end
  return true
end

--- Opens a trace; or returns nil, message, code. opts: format (by default detected from name and content), malformed
--- ("skip", the default, or "stop": the treatment of malformed lines), lookahead. Fields of a trace: next(), which
--- returns a job, or nil at the end, or nil, message, code; header, a table of the header comments of SWF; format;
--- requests, whether jobs may have a request of their own in place of processors (of CSV);
--- read, malformed and left_out, counts; guessed, how many of the jobs read have no estimate and got their run time for
--- one; problems, a list of the first problems: {line, text}; reasons, a list of {text, count, line} of jobs left out for
--- reasons that many have; remarks, a list of {text, count} on jobs that were taken; steps, lines that are no jobs;
--- detailed, whether jobs have nodes, memory and gpus. leave(line, reason) leaves out a job after all.
function M.open(path, opts)
  opts = opts or {}
  local file, why, code = open_lines(path)
  if not file then return nil, why, code end
  local self = { path = path, file = file, header = {}, policy = opts.malformed or "skip", read = 0, malformed = 0, left_out = 0,
    guessed = 0, problems = {}, reasons = {}, remarks = {}, steps = 0, lookahead = opts.lookahead or LOOKAHEAD }
  function self.remark(trace, text)
    local known = trace.remarks[text]
    if not known then
      known = { text = text, count = 0 }
      trace.remarks[text], trace.remarks[#trace.remarks + 1] = known, known
    end
    known.count = known.count + 1
  end
  function self.leave(line, reason)
    self.read = self.read - 1
    leave(self, line, reason)
  end
  return caught(function()
    local format, lines = recognize(self, numbered(self), opts.format)
    self.format, self.detailed = format, DETAILED[format] -- of a CSV, the reader says so
    local fill, next = in_order(self, whole(self, require(READERS[format]).reader(self, lines)))
    local function finish()
      close_file(self)
      check_sense(self)
    end
    local function next_job()
      local job, wanting = next()
      if job then return job end
      if not wanting then return caught(finish) end
      local ok, wrong, kind = caught(fill)
      if not ok then return nil, wrong, kind end
      return next_job()
    end
    self.next = next_job
    function self.close() return pcall(close_file, self) end
    return self
  end)
end

return M
