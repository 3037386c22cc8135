--- jobs.lua - files with a line per job, written at the job's end. Two kinds of CSV, both with a header:
---
---   jobs     job_id,submit,start,end,wait,resources             resources in short form: rank[0-1]/core[0-3]
---   evalys   job_id,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,
---            finish_time,waiting_time,turnaround_time,stretch,allocated_resources, as written by Batsim and read by
---            evalys.jobset.JobSet.from_csv. Evalys needs job_id, submission_time, starting_time, finish_time (or
---            execution and waiting time), requested_number_of_resources for the length of the queue, and
---            allocated_resources: ranges with blanks between, 0-3 8, of the number
---            rank * (largest number of units on a rank) + id. Times are seconds on the clock of the trace.

local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"
local instant = require "weir.sim.instant"

local M = {}

-- A time as text: whole seconds without a fraction, otherwise with microseconds.
local function time(t)
  if math.type(t) == "integer" then return t end
  local n = math.tointeger(t)
  return n or (("%.6f"):format(t):gsub("%.?0+$", ""))
end

local function quoted(x)
  return type(x) == "string" and x:find '[",\r\n]' and '"' .. x:gsub('"', '""') .. '"' or x
end

-- Returns the ranks of a set without cores and gpus, which the short form of a set leaves out.
local function bare_ranks(set, text)
  local left = core.idset(tostring(set:ranks()))
  for ranks in text:gmatch "rank(%[?[%d,-]+%]?)" do left = left - core.idset(ranks) end
  return left
end

--- The resources of a job in short form: rank[0-1]/core[0-3], and rank[0-1] for nodes that have neither cores nor gpus;
--- "" for resources outside of ranks.
function M.resources(sim, job)
  local a = sim.engine:job(job.id)
  local set = a and a:rset { scheduling = false }
  local text = set and set:format "rlist" or ""
  if not set or sim.type == "core" and text ~= "" then return text end
  local bare = bare_ranks(set, text)
  if bare:empty() then return text end
  local ranks = tostring(bare)
  ranks = ranks:find "%D" and not ranks:find "^%[" and "[" .. ranks .. "]" or ranks
  return (text == "" and "" or text .. " ") .. "rank" .. ranks
end

-- ---- numbered through ---------------------------------------------------------------------------------------

local function each_part(text, type, f)
  for ranks, children in text:gmatch "rank(%[?[%d,-]+%]?)(%S*)" do
    local ids = children:match(type .. "(%[[%d,-]+%])") or children:match(type .. "(%d+)")
    f(ranks, ids)
  end
end

-- Returns the number of the first unit of each rank.
local function offsets_of(sim)
  local first, width = {}, 1
  local text = sim.graph:rset { scheduling = false }
  text = text and text:format "rlist" or ""
  each_part(text, sim.type, function(_, ids)
    local last = ids and core.idset(ids):last()
    if last and last + 1 > width then width = last + 1 end
  end)
  first.width = width
  return first
end

local function through(offsets, type, text)
  local set = core.idset ""
  each_part(text, type, function(ranks, ids)
    for rank in core.idset(ranks):ids() do
      if ids then
        for id in core.idset(ids):ids() do set:add(rank * offsets.width + id) end
      else
        set:add(rank)
      end
    end
  end)
  return (tostring(set):gsub("[%[%]]", ""):gsub(",", " "))
end

-- ---- writers ------------------------------------------------------------------------------------------------

local KINDS = {}

KINDS.jobs = {
  head = "job_id,submit,start,end,wait,resources\n",
  line = function(job, resources)
    return table.concat({ quoted(job.number), time(job.submit), time(job.start), time(job.finish),
      time(instant.after(job.start, -job.submit)), quoted(resources) }, ",")
  end,
}

KINDS.evalys = {
  head = "job_id,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,"
    .. "waiting_time,turnaround_time,stretch,allocated_resources\n",
  line = function(job, resources, self)
    self.offsets = self.offsets or offsets_of(self.sim)
    local run, flow = job.finish - job.start, job.finish - job.submit
    return table.concat({ quoted(job.number), time(job.submit), job.units, time(job.estimate),
      job.state == "done" and not job.killed and 1 or 0, time(job.start), time(run), time(job.finish),
      time(instant.after(job.start, -job.submit)), time(flow), run > 0 and ("%.6g"):format(flow / run) or 0,
      through(self.offsets, self.sim.type, resources) }, ",")
  end,
}

-- Standard output with the methods of a draft. Raises {replay, code} when the reader is gone.
local Out = {}
Out.__index = Out

function Out.write(_, ...)
  if not io.stdout:write(...) then failure.raise("standard output cannot be written", "output") end
end

function Out:keep()
  if not io.stdout:flush() then self:write "" end
  return true
end

function Out.drop() end

--- Returns a writer; or nil, message. kind: jobs or evalys; path: a file, made as a whole or not at all, or "-",
--- standard output.
function M.new(kind, path)
  local file, why = setmetatable({}, Out), nil
  if path ~= "-" then file, why = files.draft(path) end
  if not file then return nil, why end
  file:write(KINDS[kind].head)
  return setmetatable({ kind = KINDS[kind], file = file }, { __index = M })
end

--- Writes the line of an ended job.
function M:write(job, resources) return self.file:write(self.kind.line(job, resources, self), "\n") end

--- Writes lines of kind `jobs` that are made already.
function M:write_lines(text) return self.file:write(text) end

--- Completes the file. Returns true; or nil, message, and no file is left.
function M:close() return self.file:keep() end

--- Discards the file.
function M:drop() self.file:drop() end

return M
