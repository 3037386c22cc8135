--- dependency.lua - jobs that wait for others, as RFC 26 has it: after (it started), afterany (it is over), afterok (it ended
--- well), afternotok (it ended badly). A job whose condition can never be met any more is cancelled, code "dependency".

local M = {}

--- The conditions, in the order in which they are told.
M.CONDITIONS = { "after", "afterany", "afterok", "afternotok" }

local OVER = { done = true, failed = true, cancelled = true, rejected = true }

local function ended_well(job) return job.state == "done" and not job.killed end

local MET = {
  after = function(job) return job.start ~= nil end,
  afterany = function(job) return OVER[job.state] end,
  afterok = function(job) return job.start and OVER[job.state] and ended_well(job) end,
  afternotok = function(job) return job.start and OVER[job.state] and not ended_well(job) end,
}

-- Of {condition, job}: true, it is met; false, it never will be; nil, not yet.
local function judge(entry)
  if MET[entry[1]](entry[2]) then return true end
  if OVER[entry[2].state] then return false end
end

local function list_of(x, name)
  if type(x) ~= "table" then error(("a job's %s: a job or a list of jobs is expected"):format(name), 4) end
  return x.state and { x } or x
end

--- What a job is to wait for, by the fields of what was submitted; nil: for nothing.
function M.read(spec)
  local waits
  for _, name in ipairs(M.CONDITIONS) do
    for _, leader in ipairs(spec[name] and list_of(spec[name], name) or {}) do
      waits = waits or {}
      waits[#waits + 1] = { name, leader }
    end
  end
  return waits
end

local WANTED = { after = "to start", afterany = "to end", afterok = "to end well", afternotok = "to end badly" }

-- "a to end well"
local function text_of(entry)
  return ("%s %s"):format(entry[2].name or "job " .. entry[2].id, WANTED[entry[1]])
end

--- Looks at what a job waits for: true when nothing is left, false when it can never be met (then job.why says so).
function M.look(job)
  local left, texts = {}, {}
  for _, entry in ipairs(job.waits) do
    local met = judge(entry)
    if met == false then
      job.why, job.code = ("it was to wait for %s, which can never be"):format(text_of(entry)), "dependency"
      return false
    elseif met == nil then
      left[#left + 1], texts[#texts + 1] = entry, text_of(entry)
      entry[2].followers = entry[2].followers or {}
      entry[2].followers[job] = true
    end
  end
  job.waits = #left > 0 and left or nil
  if not job.waits then
    job.why, job.code = nil, nil
    return true
  end
  job.why, job.code = "it waits for " .. table.concat(texts, ", "), "dependency"
end

--- The jobs that wait for this one and stand in the queue by now, in the order of their numbers.
function M.followers(job)
  local list = {}
  for other in pairs(job.followers or {}) do
    if other.state == "pending" and other.waits then list[#list + 1] = other end
  end
  table.sort(list, function(a, b) return a.id < b.id end)
  return list
end

return M
