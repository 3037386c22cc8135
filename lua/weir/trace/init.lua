--- trace - logs of what jobs a machine was given, read one job at a time: Standard Workload Format, CSV with a header, JSON lines;
--- compressed with gzip or not.
---
---   local t = trace.open("KTH-SP2.swf.gz", { malformed = "skip" })
---   for job in t.next do print(job.submit, job.procs, job.estimate, job.runtime) end
---
--- A job: number, submit, runtime, estimate (seconds), and as far as they are known procs, memory (kB for each processor), user,
--- group, qos, priority, preemptible, name, request (a jobspec or a shape). They come in the order of submission; what stands
--- further out of order than LOOKAHEAD jobs counts as malformed.

local M = {}

local READERS = { swf = "weir.trace.swf", csv = "weir.trace.csv", jsonl = "weir.trace.jsonl" }
local LOOKAHEAD, PROBLEMS, TIME_MAX, PROCS_MAX = 10000, 1000, 9e12, 1 << 22
M.formats = { "swf", "csv", "jsonl" }

-- ---- opening ------------------------------------------------------------------------------------------------

local function is_gzip(path)
  local file <close> = io.open(path, "rb")
  return file and file:read(2) == "\x1f\x8b"
end

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function open_lines(path)
  if path == "-" then return io.stdin end
  local file, why = io.open(path, "rb")
  if not file or not file:read(0) and file:seek "end" ~= 0 then return nil, why or path .. ": cannot be read", "io" end
  if not is_gzip(path) then
    file:seek "set"
    return file
  end
  file:close()
  return assert(io.popen("gzip -dc -- " .. quote(path)))
end

local function by_name(path)
  local name = path:gsub("%.gz$", "")
  local ending = name:match "%.(%a+)$"
  return ({ swf = "swf", csv = "csv", json = "jsonl", jsonl = "jsonl", ndjson = "jsonl" })[ending]
end

local function by_content(line)
  if line:find "^%s*{" then return "jsonl" end
  if line:find "^%s*;" or line:find "^%s*%-?%d+%s" then return "swf" end
  return line:find "," and "csv" or nil
end

-- ---- what is wrong ------------------------------------------------------------------------------------------

-- Keeps the first of them, and counts all.
local function note(self, line, text, malformed)
  local counter = malformed and "malformed" or "left_out"
  self[counter] = self[counter] + 1
  if #self.problems < PROBLEMS then self.problems[#self.problems + 1] = { line = line, text = text, malformed = malformed or nil } end
  if malformed and self.policy == "stop" then error { trace = ("%s:%d: %s"):format(self.path, line, text) } end
end

local function check_time(job, key)
  local t = job[key]
  if t and t > TIME_MAX then return ("%s %g is more than %g seconds"):format(key, t, TIME_MAX) end
end

-- Fills in what is missing. What must be left out: why; what makes no sense: why, true.
local function complete(job)
  local wrong = check_time(job, "submit") or check_time(job, "runtime") or check_time(job, "estimate")
  if wrong then return wrong, true end
  if not job.submit or job.submit < 0 then return "it has no submit time", true end
  if not job.runtime or job.runtime < 0 then return "it has no run time" end
  if not job.estimate or job.estimate <= 0 then job.estimate = math.max(job.runtime, 1) end
  if job.request then return nil end
  if not job.procs or job.procs <= 0 then return "it asks for no processors" end
  job.procs = math.ceil(job.procs)
  if job.procs > PROCS_MAX then return ("it asks for %.14g processors"):format(job.procs) end
end

-- ---- in order -----------------------------------------------------------------------------------------------

-- Puts a job into a list sorted by submission, behind those of the same time.
local function insert(list, job)
  local i = list.last
  while i >= list.first and list[i].submit > job.submit do
    list[i + 1] = list[i]
    i = i - 1
  end
  list[i + 1], list.last = job, list.last + 1
end

-- next() returns a job, or nil; and the line it stood in.
local function in_order(self, next)
  local list, ended, time = { first = 1, last = 0 }, false, 0
  return function()
    while not ended and list.last - list.first < self.lookahead do
      local job, line = next()
      if not job then
        ended = true
      elseif job.submit < time then
        note(self, line, ("submitted at %.14g, when jobs submitted at %.14g have gone already"):format(job.submit, time), true)
      else
        insert(list, job)
      end
    end
    local job = list[list.first]
    if not job then return nil end
    list[list.first], list.first, time = nil, list.first + 1, job.submit
    return job
  end
end

-- ---- reading ------------------------------------------------------------------------------------------------

local function numbered(file)
  local n = 0
  return function()
    n = n + 1
    return file:read "l", n
  end
end

-- Gives the first line of a text once more.
local function again(lines, line, n)
  return function()
    if not line then return lines() end
    local first = line
    line = nil
    return first, n
  end
end

local function told(self, lines, format)
  local line, n = lines()
  while line and line:find "^%s*$" do line, n = lines() end
  format = format or by_name(self.path) or line and by_content(line)
  if not format then error { trace = self.path .. ": not a trace: neither SWF, nor CSV with a header, nor JSON lines" } end
  return format, again(lines, line, n)
end

-- The jobs that are whole, and their lines.
local function whole(self, next)
  return function()
    while true do
      local job, line, wrong = next()
      if not line then return nil end
      local malformed = wrong ~= nil
      if not wrong then wrong, malformed = complete(job) end
      if not wrong then
        self.read = self.read + 1
        return job, line
      end
      note(self, line, wrong, malformed)
    end
  end
end

-- Turns an error that `note` raised into nil, message, code.
local function caught(f)
  local ok, result = pcall(f)
  if ok then return result end
  if type(result) ~= "table" or not result.trace then error(result, 0) end
  return nil, result.trace, "parse"
end

local function close_file(self)
  if not self.file then return true end
  local ok = self.file == io.stdin or self.file:close()
  self.file = nil
  if not ok then error { trace = self.path .. ": gzip could not read all of it" } end
  return true
end

--- A trace. opts: format (told by name and content if not given), malformed ("skip", the default, or "stop": what a line does that
--- makes no sense), lookahead. Fields: next(), which returns a job, or nil at the end, or nil, message, code; header, a table of
--- what a SWF says of itself; format; read, malformed and left_out, how many; problems, the first of those: {line, text}.
--- Or nil, message, code.
function M.open(path, opts)
  opts = opts or {}
  local file, why, code = open_lines(path)
  if not file then return nil, why, code end
  local self = { path = path, file = file, header = {}, policy = opts.malformed or "skip", read = 0, malformed = 0, left_out = 0,
    problems = {}, lookahead = opts.lookahead or LOOKAHEAD }
  return caught(function()
    local format, lines = told(self, numbered(file), opts.format)
    self.format = format
    local next = in_order(self, whole(self, require(READERS[format]).reader(self, lines)))
    function self.next()
      return caught(function()
        local job = next()
        if not job then close_file(self) end
        return job
      end)
    end
    function self.close() return pcall(close_file, self) end
    return self
  end)
end

return M
