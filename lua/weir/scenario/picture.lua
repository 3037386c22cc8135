--- picture.lua - the machine and the queue at a time as text, for messages of failures.

local ledger = require "weir.scenario.alloc_log"
local reason = require "weir.scenario.expect_explain"
local tables = require "weir.tables"
local where = require "weir.machine.vertex_names"

local M = {}

local MOST = 24 -- lines of each part
local PAST = 4  -- jobs that are done, at most; all that came to another end are of interest

local function name_of(job) return job.name or "job " .. job.id end

local function number(t) return t == math.huge and "ever" or ("%.14g"):format(t) end

-- ---- the machine --------------------------------------------------------------------------------------------

-- Returns the vertices shown, a line each: nodes, or else the vertices right below the root.
local function rows_of(graph)
  local rows = graph:find "type=node"
  if #rows > 0 then return rows end
  for _, root in ipairs(graph:roots()) do
    for v in root:children() do rows[#rows + 1] = v end
    if #rows == 0 then rows[1] = root end
  end
  return rows
end

local function part_of(picks)
  local labels = {}
  for i, pick in ipairs(picks) do
    local name = pick.label:match "[^/]*$"
    labels[i] = name .. (pick.amount < pick.size and (":%d"):format(pick.amount) or "")
  end
  return where.fold(labels)
end

-- Returns path of a row -> the jobs on the row with their parts, in the order of starts.
local function tenants_of(s)
  local at = {}
  for _, record in ipairs(s.ledger.records) do
    if s.ledger.open[record.job] == record then
      local parts = {}
      for _, pick in ipairs(record.picks) do
        for _, path in ipairs { pick.path, table.unpack(pick.around) } do
          parts[path] = parts[path] or {}
          if path ~= pick.path then table.insert(parts[path], pick) end
        end
      end
      for path, picks in pairs(parts) do
        tables.push(at, path, name_of(record.job) .. (#picks > 0 and ": " .. part_of(picks) or ""))
      end
    end
  end
  return at
end

-- Returns the job holding a whole vertex around a row, or nil.
local function around(at, v)
  local up = v:parent()
  while up do
    if at[up.path] then
      for _, text in ipairs(at[up.path]) do
        if not text:find(": ", 1, true) then return text end
      end
    end
    up = up:parent()
  end
end

local function state_of(v)
  local up = v
  while up do
    if up.state ~= "up" then return up.state end
    up = up:parent()
  end
  return "up"
end

-- Adds the lines of the machine; consecutive rows with equal text share a line.
local function machine(s, lines)
  local at, groups = tenants_of(s), {}
  for _, v in ipairs(rows_of(s.graph)) do
    local tenants = at[v.path] and table.concat(at[v.path], "; ") or around(at, v) or "-"
    local look, last = ("%-9s %s"):format(state_of(v), tenants), groups[#groups]
    if not last or last.look ~= look then
      last = { look = look, labels = {} }
      groups[#groups + 1] = last
    end
    table.insert(last.labels, where.name(v))
  end
  for i = 1, math.min(#groups, MOST) do
    lines[#lines + 1] = ("  %-12s %s"):format(where.fold(groups[i].labels), groups[i].look)
  end
  if #groups > MOST then lines[#lines + 1] = ("  ... %d more"):format(#groups - MOST) end
end

-- ---- the queue ----------------------------------------------------------------------------------------------

local TELL = {}

function TELL.running(s, job)
  return ("since %s, until %s, on %s"):format(number(job.start), number(job.due), ledger.place(s.ledger.open[job]))
end

function TELL.pending(s, job)
  local word, text = reason.of(s.sim, job)
  return (job.reserved and ("to start at %s; "):format(number(job.reserved)) or "") .. ("%s: %s"):format(word, text)
end

TELL.submitted = TELL.pending

local function of_the_past(s, job)
  local when = job.start and ("from %s to %s"):format(number(job.start), number(job.finish)) or "at " .. number(job.finish or 0)
  return when .. (job.killed and ", longer than its estimate" or "") .. (job.why and not job.start and "; " .. reason.why(s.sim, job) or "")
end

local function request_of(s, job)
  local text = s.requests[job]
  return type(text) == "string" and #text < 40 and text:gsub("%s+", " ") or "a jobspec"
end

local function one_job(s, job)
  return ("  %-12s %-10s %-16s %s"):format(name_of(job), job.state, request_of(s, job), (TELL[job.state] or of_the_past)(s, job))
end

-- Returns the jobs to be drawn among finished jobs: the last completed jobs, and all failed or cancelled jobs.
local function of_interest(past, limit)
  local list, done = {}, 0
  for i = #past, 1, -1 do
    local is_done = past[i].state == "done" and not past[i].killed
    done = done + (is_done and 1 or 0)
    if #list < limit and (not is_done or done <= PAST) then table.insert(list, 1, past[i]) end
  end
  return list
end

-- Adds the lines of the queue; without enough space, finished jobs are left out first.
local function queue(s, lines)
  local live, past = {}, {}
  for _, job in ipairs(s.sim.list) do table.insert(TELL[job.state] and live or past, job) end
  local shown = of_interest(past, math.max(MOST - #live, 0))
  if #shown < #past then lines[#lines + 1] = ("  ... %d that are over"):format(#past - #shown) end
  for _, job in ipairs(shown) do lines[#lines + 1] = one_job(s, job) end
  for i = 1, math.min(#live, MOST) do lines[#lines + 1] = one_job(s, live[i]) end
  if #live > MOST then lines[#lines + 1] = ("  ... %d more"):format(#live - MOST) end
end

--- Returns the text.
function M.draw(s)
  local lines = { ("at %s s, policy %s, queue %s"):format(number(s.sim.now), (s.engine:policy()), s.sim.queue_name) }
  machine(s, lines)
  queue(s, lines)
  return table.concat(lines, "\n")
end

--- Returns the state of a job in words: "is pending (busy: the resources are in use)".
function M.tell(s, job)
  return ("is %s (%s)"):format(job.state, (TELL[job.state] or of_the_past)(s, job))
end

return M
