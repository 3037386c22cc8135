--- swf.lua - Standard Workload Format: a line of 18 numbers per job, -1 for unknown; comments begin with ';'. Logs of
--- some machines have more columns behind the 18, which may be anything and are not read.

local numbers = require("weir.core").numbers

local M = {}

local HEADER_MAX = 1000 -- comments stored, at most

local function wrong_line(line)
  local n = 0
  for word in line:gmatch "%S+" do
    n = n + 1
    if n <= 18 and not tonumber(word) then return ('"%s" is no number'):format(word:sub(1, 40)) end
  end
  return n < 18 and ("expected 18 numbers, found %d"):format(n) or "it cannot be read"
end

-- Fields: number submit wait run procs cpu used_memory asked_procs asked_time asked_memory status user group app queue
-- partition before think.
local function read_job(line, spare)
  local n, id, submit, wait, run, procs, _, _, asked, time, memory, _, user, group, _, queue = numbers(line)
  if n < 18 or not (id and submit and run and procs and asked and time) then return nil end
  queue = queue and queue >= 0 and queue or nil
  procs, memory = asked > 0 and asked or procs, memory and memory >= 0 and memory or nil
  user, group = user and user >= 0 and user or nil, group and group >= 0 and group or nil
  wait = wait and wait >= 0 and submit + wait or nil
  local job = spare[#spare]
  if not job then
    return { number = id, submit = submit, runtime = run, estimate = time, procs = procs, memory = memory, user = user, bank = group,
      queue = queue, recorded = wait }
  end
  spare[#spare] = nil
  job.number, job.submit, job.runtime, job.estimate, job.procs, job.memory = id, submit, run, time, procs, memory
  job.user, job.bank, job.queue, job.recorded, job.qos, job.priority = user, group, queue, wait, nil, nil
  return job
end

local function comment_reader(header)
  local left = HEADER_MAX
  return function(line)
    if left == 0 then return end
    local key, value = line:match "^%s*;%s*(%w+):%s*(.-)%s*$"
    if key and header[key] == nil then header[key], left = value, left - 1 end
  end
end

--- Sets trace.spare, a list for tables of jobs that the reader of the trace no longer needs, with no fields added but qos and
--- priority: such a table becomes the next job, which saves half of the cost of reading. Returns next(), which returns a job and
--- a line number; or nil, the line number, and a message; or nothing at the end.
function M.reader(trace, lines)
  local read_comment, spare = comment_reader(trace.header), {}
  trace.spare = spare
  return function()
    while true do
      local line, n = lines()
      if not line then return end
      local job = read_job(line, spare)
      if job then return job, n end
      if line:find "^%s*;" then
        read_comment(line)
      elseif line:find "%S" then
        return nil, n, wrong_line(line)
      end
    end
  end
end

return M
