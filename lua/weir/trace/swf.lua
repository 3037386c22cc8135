--- swf.lua - Standard Workload Format: a line a job of 18 numbers, -1 where one is not known; comments begin with ';'.

local M = {}

-- number submit wait run procs cpu used_memory asked_procs asked_time asked_memory status user group app queue partition before think
local LINE = "^%s*(%S+)%s+(%S+)%s+%S+%s+(%S+)%s+(%S+)%s+%S+%s+%S+%s+(%S+)%s+(%S+)%s+(%S+)%s+%S+%s+(%S+)%s+(%S+)%s+%S+%s+(%S+)"
  .. "%s+%S+%s+%S+%s+%S+%s*$"

local function number(text)
  local n = tonumber(text)
  return n and (math.tointeger(n) or n)
end

-- nil where it is not known.
local function known(text)
  local n = text ~= "-1" and number(text)
  return n and n >= 0 and n or nil
end

local function wrong_line(line)
  local n = 0
  for word in line:gmatch "%S+" do
    n = n + 1
    if not tonumber(word) then return ('"%s" is no number'):format(word:sub(1, 40)) end
  end
  return n ~= 18 and ("18 numbers are expected, there are %d"):format(n) or "it cannot be read"
end

local function read_job(line)
  local id, submit, run, procs, asked, time, memory, user, group, queue = line:match(LINE)
  id, submit, run, procs, asked, time = number(id), number(submit), number(run), number(procs), number(asked), number(time)
  if not (id and submit and run and procs and asked and time) then return nil end
  return { number = id, submit = submit, runtime = run, estimate = time, procs = asked > 0 and asked or procs, memory = known(memory),
    user = known(user), group = known(group), qos = known(queue) }
end

local function read_comment(header, line)
  local key, value = line:match "^%s*;%s*(%w+):%s*(.-)%s*$"
  if key and header[key] == nil then header[key] = value end
end

--- next() returns a job and the number of its line; or nil, the number, and what is wrong; or nothing.
function M.reader(trace, lines)
  return function()
    while true do
      local line, n = lines()
      if not line then return end
      if line:find "^%s*;" then
        read_comment(trace.header, line)
      elseif line:find "%S" then
        local job = read_job(line)
        if job then return job, n end
        return nil, n, wrong_line(line)
      end
    end
  end
end

return M
