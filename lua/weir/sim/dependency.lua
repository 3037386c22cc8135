--- dependency.lua - dependencies of jobs, as in RFC 26. A job with a dependency is not in the queue until its
--- conditions are met:
---
---   after: a job started   afterany: a job ended   afterok: a job succeeded   afternotok: a job failed
---   begin-time: a time has come   singleton: no active job has an equal user and name, later singletons excepted
---   turn: fewer than a number of elements of the job's array are in the queue or run
---
--- A job with a condition that can never be met is cancelled, with code "dependency".

local core = require "weir.core"
local instant = require "weir.sim.instant"
local tables = require "weir.tables"

local M = {}

--- CONDITIONS: the conditions on a job, in the order of messages.
M.CONDITIONS = { "after", "afterany", "afterok", "afternotok" }

local OVER = { done = true, failed = true, cancelled = true, rejected = true }

local function ended_well(job) return job.state == "done" and not job.killed end

local function is_held(job)
  return tables.any(job.waits or {}, function(entry) return entry[1] == "singleton" end)
end

-- ---- conditions -----------------------------------------------------------------------------------------------------

local function by_id(a, b) return a.id < b.id end

-- Returns the active jobs that a singleton waits for.
local function others_like(sim, job)
  local list = {}
  for _, other in pairs(sim.jobs) do
    local active = other.state == "pending" or other.state == "running"
    if other ~= job and active and other.user == job.user and other.name == job.name and (other.id < job.id or not is_held(other)) then
      list[#list + 1] = other
    end
  end
  table.sort(list, by_id)
  return list
end

local function follow(leader, job)
  leader.followers = leader.followers or {}
  leader.followers[job] = true
end

-- MET: for each condition a check of the job named: true if met, false if never to be met, nil if open.
local MET = {
  after = function(job) return job.start ~= nil or job.preempted ~= nil or job.requeued ~= nil end,
  afterany = function(job) return OVER[job.state] end,
  afterok = function(job) return job.start and OVER[job.state] and ended_well(job) end,
  afternotok = function(job) return job.start and OVER[job.state] and not ended_well(job) end,
}

local JUDGE = {}

for name, met in pairs(MET) do
  JUDGE[name] = function(_, job, leader)
    if met(leader) then return true end
    if OVER[leader.state] then return false end
    follow(leader, job)
  end
end

JUDGE["begin-time"] = function(sim, job, t)
  if sim.now >= t then return true end
  if not job.alarm then
    job.alarm = true
    sim:at(t, function() sim:look_again(job) end)
  end
end

function JUDGE.singleton(sim, job)
  local list = others_like(sim, job)
  for _, other in ipairs(list) do follow(other, job) end
  if #list == 0 then return true end
end

-- Lets a job take a turn of its array. group: {limit =, active =, held = {...}}
function JUDGE.turn(_, job, group)
  if not job.turn and group.active < group.limit then
    group.active, job.turn = group.active + 1, true
  end
  if job.turn then return true end
  if not group.held[job] then
    group.held[job] = true
    group.held[#group.held + 1] = job
  end
end

--- Ends the turn of a finished job; the next element of its array takes the turn.
function M.leave(sim, job)
  local group = job.group
  if not job.turn then return end
  job.turn, group.active = nil, group.active - 1
  while group.held[1] do
    local other = table.remove(group.held, 1)
    if other.state == "pending" then return sim:at(sim.now, function() sim:look_again(other) end) end
  end
end

-- ---- reading --------------------------------------------------------------------------------------------------------

local function list_of(x, name)
  if type(x) ~= "table" then error(("a job's %s: expected a job or a list of jobs"):format(name), 4) end
  return x.state and { x } or x
end

local function add(waits, ...)
  waits = waits or {}
  waits[#waits + 1] = { ... }
  return waits
end

--- Returns the conditions in the fields of a submitted job; nil for none.
function M.read(spec)
  local waits
  for _, name in ipairs(M.CONDITIONS) do
    for _, leader in ipairs(spec[name] and list_of(spec[name], name) or {}) do waits = add(waits, name, leader) end
  end
  if spec.singleton then waits = add(waits, "singleton") end
  if spec.group then waits = add(waits, "turn", spec.group) end
  return waits
end

--- Returns the dependencies of a jobspec, a list of {scheme =, value =}, or nil. `x`: a request, or a text.
function M.of_jobspec(x)
  if type(x) == "userdata" then x = x:format "json" end
  if type(x) ~= "string" or not x:find('"dependencies"', 1, true) then return nil end
  local system = core.json_decode(x)
  for _, key in ipairs { "attributes", "system", "dependencies" } do system = type(system) == "table" and system[key] or nil end
  return type(system) == "table" and #system > 0 and system or nil
end

local function find(sim, value)
  return sim.known and (sim.known[value] or sim.known[math.tointeger(tonumber(value))])
end

-- Returns the condition for a dependency; or nil and a message.
local function entry_of(sim, scheme, value)
  if MET[scheme] then
    local leader = find(sim, value)
    if not leader then return nil, ('it depends on job "%s", which is not there'):format(value) end
    return { scheme, leader }
  elseif scheme == "begin-time" then
    local t = tonumber(value)
    if not t then return nil, ('begin-time: expected a time, not "%s"'):format(value) end
    return { scheme, instant.of(t) }
  elseif scheme == "singleton" then
    return { scheme }
  end
  return nil, ('a dependency of scheme "%s": %s, begin-time or singleton is known'):format(scheme, table.concat(M.CONDITIONS, ", "))
end

--- Adds the dependencies of a jobspec to a job. Jobs are named by number or name. Returns true; or nil, message.
function M.add(sim, job, list)
  for _, dependency in ipairs(list) do
    local entry, why = entry_of(sim, tostring(dependency.scheme), tostring(dependency.value))
    if not entry then return nil, why end
    if entry[1] == "singleton" and not job.name then return nil, "a singleton needs a name" end
    job.waits = job.waits or {}
    table.insert(job.waits, entry)
  end
  return true
end

-- ---- looking --------------------------------------------------------------------------------------------------------

local WANTED = { after = "to start", afterany = "to end", afterok = "to end well", afternotok = "to end badly" }

-- Returns a condition in words, such as "a to end well".
local function text_of(entry)
  local what = entry[2]
  if WANTED[entry[1]] then return ("%s %s"):format(what.name or "job " .. what.id, WANTED[entry[1]]) end
  if entry[1] == "turn" then return ("its turn: no more than %d of its array run at a time"):format(what.limit) end
  if entry[1] == "begin-time" then return ("%.14g s"):format(what) end
  return "others of its name to end"
end

--- Checks the conditions of a job. Returns true if all are met, false if any can never be met (job.why says why);
-- otherwise nil.
function M.look(sim, job)
  local left, texts = {}, {}
  for _, entry in ipairs(job.waits) do
    local met
    if #left == 0 or entry[1] ~= "turn" then met = JUDGE[entry[1]](sim, job, entry[2]) end -- a turn is taken last
    if met == false then
      job.why, job.code = ("it was to wait for %s, which can never be"):format(text_of(entry)), "dependency"
      return false
    elseif not met then
      left[#left + 1], texts[#texts + 1] = entry, text_of(entry)
    end
  end
  job.waits = #left > 0 and left or nil
  if not job.waits then
    job.why, job.code = nil, nil
    return true
  end
  job.why, job.code = "it waits for " .. table.concat(texts, ", "), "dependency"
end

--- Returns the pending jobs with a condition on `job`, by ascending number.
function M.followers(job)
  local list = {}
  for other in pairs(job.followers or {}) do
    if other.state == "pending" and other.waits then list[#list + 1] = other end
  end
  table.sort(list, by_id)
  return list
end

return M
