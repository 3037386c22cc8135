--- alloc_log.lua - a log of allocations, kept from the events of the simulator and independent of the schedules of the
--- engine, so that the two can be compared.
---
--- A record is {job =, from =, to = (nil while the job has the picks), picks =}; a pick is {path =, label =, amount =,
--- units = {type = n}}.

local tables = require "weir.tables"
local where = require "weir.machine.vertex_names"

local M = {}
M.__index = M

--- Makes the log of a machine. title(job) returns the name of a job for messages.
function M.new(graph, now, title)
  local self = setmetatable({ graph = graph, began = now, title = title, records = {}, open = {}, promised = {}, voided = {},
    broken = {}, late = {},
    faults = {}, lines = {}, sizes = {}, holders = {}, whole = {}, beneath = {} }, M)
  self:measure(now)
  return self
end

local function number(t) return ("%.14g"):format(t) end

-- ---- is anything given twice? -------------------------------------------------------------------------------

local function fault(self, ...) self.faults[#self.faults + 1] = string.format(...) end

local function add(counts, path, job, n)
  local by_job = counts[path] or {}
  counts[path] = by_job
  by_job[job] = (by_job[job] or 0) + n
  if by_job[job] == 0 then by_job[job] = nil end
end

-- Returns the holder with the lowest number other than `job`, or nil. A job about to end at the present time (released)
-- holds nothing any more.
local function other_than(by_job, job)
  local found
  for other in pairs(by_job or {}) do
    if other ~= job and not other.released and not (found and found.id < other.id) then found = other end
  end
  return found
end

local function check_amount(self, pick, now)
  local sum = 0
  for job, n in pairs(self.holders[pick.path]) do sum = sum + (job.released and 0 or n) end
  if sum > pick.size then fault(self, "%s s: %d of the %d of %s are given away", number(now), sum, pick.size, pick.label) end
end

local function check_alone(self, job, pick, now)
  local other = pick.whole and other_than(self.beneath[pick.path], job)
  for _, path in ipairs(pick.around) do other = other or other_than(self.whole[path], job) end
  if other then
    fault(self, "%s s: %s is given to %s, though %s has it, or what is around or in it", number(now), pick.label, self.title(job),
      self.title(other))
  end
end

local function book(self, job, pick, sign, now)
  add(self.holders, pick.path, job, sign * pick.amount)
  if pick.whole then add(self.whole, pick.path, job, sign) end
  for _, path in ipairs(pick.around) do add(self.beneath, path, job, sign) end
  if sign < 0 then return end
  check_amount(self, pick, now)
  check_alone(self, job, pick, now)
end

-- ---- records ------------------------------------------------------------------------------------------------

local CLOSED = { down = true, draining = true }

local function units_of(v, amount, whole)
  local units = { [v.type] = amount }
  for type, row in pairs(whole and v:aggregate { all = true } or {}) do units[type] = (units[type] or 0) + row.total end
  return units
end

local function pick_of(p)
  local v = p.vertex
  local whole = p.exclusive and v:nchildren() > 0
  local pick = { path = v.path, label = where.name(v), amount = p.amount, size = v.size, whole = whole, around = {}, state = v.state,
    units = units_of(v, p.amount, whole) }
  local up = v:parent()
  while up do
    pick.around[#pick.around + 1] = up.path
    if CLOSED[up.state] then pick.state = up.state end
    up = up:parent()
  end
  return pick
end

local function open(self, job, allocation, now)
  local record, had = { job = job, from = now, picks = {} }, self.open[job]
  for i, p in ipairs(allocation:vertices()) do
    local pick = pick_of(p)
    record.picks[i] = pick
    if CLOSED[pick.state] and not (had and had.paths[pick.path]) then
      fault(self, "%s s: %s gets %s, which is %s", number(now), self.title(job), pick.label, pick.state)
    end
  end
  record.paths = {}
  for _, pick in ipairs(record.picks) do record.paths[pick.path] = true end
  return record
end

local function close(self, job, now)
  local record = self.open[job]
  if not record then return end
  record.to, self.open[job] = now, nil
  for _, pick in ipairs(record.picks) do book(self, job, pick, -1, now) end
end

local function begin(self, job, allocation, now)
  local record = open(self, job, allocation, now)
  close(self, job, now)
  self.open[job] = record
  self.records[#self.records + 1] = record
  for _, pick in ipairs(record.picks) do book(self, job, pick, 1, now) end
end

-- ---- events of the simulator --------------------------------------------------------------------------------

local ON = {}

function ON.start(self, job, now, engine)
  begin(self, job, engine:job(job.id), now)
  local promised = self.promised[job]
  if promised and now > promised then
    self.broken[#self.broken + 1] = ("%s was promised %s s and started at %s s"):format(self.title(job), number(promised), number(now))
  end
  local voided = self.voided[job]
  if voided and now > voided then
    self.late[#self.late + 1] = ("%s was promised %s s before the machine changed, and started at %s s"):format(self.title(job),
      number(voided), number(now))
  end
  if job.start < job.submit then fault(self, "%s started before it was submitted", self.title(job)) end
end

function ON.change(self, job, now, engine) begin(self, job, engine:job(job.id), now) end

function ON.reserve(self, job) self.promised[job] = self.promised[job] or job.reserved end

function ON.preempt(self, job, now)
  close(self, job, now)
  self.promised[job], self.voided[job] = nil, nil
end

ON.requeue = ON.preempt

function ON.finish(self, job, now) close(self, job, now) end

--- Returns the labels of a record's picks, folded: "node[0-3]".
function M.place(record)
  local labels = {}
  for i, pick in ipairs(record.picks) do
    labels[i] = pick.label .. (pick.amount < pick.size and (":%d"):format(pick.amount) or "")
  end
  return where.fold(labels)
end

local function line_of(self, event, job, now)
  local text = ("%s %s %s"):format(number(now), event == "finish" and job.state or event, self.title(job))
  if event == "reserve" then return text .. " " .. number(job.reserved) end
  local record = (event == "start" or event == "change") and self.open[job]
  return record and text .. " " .. M.place(record) or text
end

--- Logs an event of the simulator.
function M:note(event, job, sim)
  if event == "pass" then return end
  if ON[event] then ON[event](self, job, sim.now, sim.engine) end
  self.lines[#self.lines + 1] = line_of(self, event, job, sim.now)
end

--- Logs a change of the machine: "20 down node3".
function M:note_machine(now, event, list)
  local labels = tables.map(list, where.name)
  self.lines[#self.lines + 1] = ("%s %s %s"):format(number(now), event, where.fold(labels))
end

--- Declares void the first reservations of waiting jobs, after a change of the machine: "20 void wide (job 3) 100".
function M:void_promises(now)
  for _, job in ipairs(tables.sort(tables.collect(pairs(self.promised)), "id")) do
    local promised = self.promised[job]
    if job.state == "pending" then
      self.voided[job] = self.voided[job] or promised
      self.lines[#self.lines + 1] = ("%s void %s %s"):format(number(now), self.title(job), number(promised))
    end
  end
  self.promised = {}
end

--- Logs the units of each type in the machine, from now on.
function M:measure(now)
  local totals = {}
  for type, row in pairs(self.graph:aggregate(nil, { all = true })) do totals[type] = row.total end
  self.sizes[#self.sizes + 1] = { now, totals }
end

-- ---- sums over time -----------------------------------------------------------------------------------------

-- Returns true if a pick is at or below a path of `paths`; nil: always.
local function is_within(pick, paths)
  if not paths then return true end
  return tables.any(paths, function(path) return pick.path == path or pick.path:sub(1, #path + 1) == path .. "/" end)
end

-- Returns the units of a type in a record; for "job", 1.
local function units_in(record, type, paths)
  local sum = 0
  for _, pick in ipairs(record.picks) do
    if is_within(pick, paths) then
      if type == "job" then return 1 end
      sum = sum + (pick.units[type] or 0)
    end
  end
  return sum
end

--- Returns the share of the units of a type allocated to jobs between two times.
function M:utilisation(type, from, to)
  local used, there = 0, 0
  for _, record in ipairs(self.records) do
    local span = math.min(record.to or to, to) - math.max(record.from, from)
    if span > 0 then used = used + units_in(record, type) * span end
  end
  for i, size in ipairs(self.sizes) do
    local stop = self.sizes[i + 1] and self.sizes[i + 1][1] or to
    local span = math.min(stop, to) - math.max(size[1], from)
    if span > 0 then there = there + (size[2][type] or 0) * span end
  end
  return there > 0 and used / there or 0
end

-- Returns a list of {time, change, record}; at equal times, releases come before allocations.
local function changes(self, type, filter)
  local list = {}
  for i, record in ipairs(self.records) do
    local n = filter.job(record.job) and units_in(record, type, filter.paths) or 0
    if n > 0 then
      list[#list + 1] = { record.from, n, i }
      if record.to then list[#list + 1] = { record.to, -n, i } end
    end
  end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    if a[2] * b[2] < 0 then return a[2] < 0 end
    return a[3] < b[3]
  end)
  return list
end

--- Returns the most units of a type (or jobs, for type "job") in use at a time, and the time. filter: job, a function;
--- paths, a list or nil. An allocation with equal start and end does not count.
function M:peak(type, filter)
  local now, most, at = 0, 0, self.began
  local list = changes(self, type, filter)
  for i, change in ipairs(list) do
    now = now + change[2]
    local last = not list[i + 1] or list[i + 1][1] > change[1]
    if last and now > most then most, at = now, change[1] end
  end
  return most, at
end

-- ---- comparison with the schedules --------------------------------------------------------------------------

local function image(picks, path_of)
  local list = {}
  for i, p in ipairs(picks) do list[i] = ("%s:%d"):format(path_of(p), p.amount) end
  table.sort(list)
  return table.concat(list, " ")
end

local function compare(self, sim, found)
  local seen = {}
  for _, a in ipairs(sim.engine:jobs()) do
    local job = sim.jobs[a.id]
    seen[a.id] = true
    if not job then
      found[#found + 1] = ("the engine still has job %d, which is over"):format(a.id)
    elseif job.state == "running" then
      local record = self.open[job]
      local is = image(a:vertices(), function(p) return p.vertex.path end)
      local was = record and image(record.picks, function(p) return p.path end)
      if is ~= was then found[#found + 1] = ("%s has %s, and got %s"):format(self.title(job), is, was or "nothing") end
    elseif job.reserved ~= a.at then
      found[#found + 1] = ("%s is %s, and has resources from %s s on"):format(self.title(job), job.state, number(a.at))
    end
  end
  for _, record in ipairs(self.records) do
    local job = record.job
    if self.open[job] == record and not seen[job.id] and not job.released then
      found[#found + 1] = self.title(job) .. " runs, and the engine has nothing of it"
    end
  end
end

--- Returns a list of faults found in log and schedules, empty if both are sound and agree.
function M:check(sim)
  local found = table.move(self.faults, 1, #self.faults, 1, {})
  local sound, why = self.graph:check()
  if not sound then found[#found + 1] = why end
  compare(self, sim, found)
  return found
end

return M
