--- owners.lua - who has matched which job. An administrator's job has no owner.
--
-- Invariant: an owner belongs to one job, from its match until nothing of the job is left. A later job with the same id is another
-- job: its match sets the owner anew, to nobody where an administrator asked for it.

local core = require "weir.core"

local M = {}

local Owners = {}
Owners.__index = Owners

M.LONGEST = 255 -- bytes of a name
local FEW = 256 -- owners that are kept without looking whether their jobs are there

--- Whether a text can be the name of an owner: UTF-8 without blanks and control characters.
function M.is_name(name)
  return type(name) == "string" and #name <= M.LONGEST and utf8.len(name) ~= nil and name:find "^[^%s%c]+$" ~= nil
end

--- Who has matched a job that is there; nil: an administrator, or there is no such job.
function Owners:of(job)
  local name = self.names[job]
  return name and self.there(job) and name or nil
end

-- Forgets owners of jobs that are over. Each time twice as many may have come as are left, so that a match costs no more for it.
local function tidy(self)
  for job in pairs(self.names) do
    if not self.there(job) then self:forget(job) end
  end
  self.most = math.max(FEW, 2 * self.n)
end

--- A new job has this owner; nil: an administrator has matched it. Whether anything is different now.
function Owners:set(job, name)
  local was = self.names[job]
  self.names[job] = name
  self.n = self.n + (name and 1 or 0) - (was and 1 or 0)
  if self.n > self.most then tidy(self) end
  return was ~= name
end

--- Nothing is left of a job, if it is not there: whether that makes a difference.
function Owners:forget(job)
  if self.names[job] == nil or self.there(job) then return false end
  self.names[job], self.n = nil, self.n - 1
  return true
end

--- {[name] = {job, ...}}, to be kept.
function Owners:save()
  tidy(self)
  local kept = {}
  for job, name in pairs(self.names) do
    kept[name] = kept[name] or core.array {}
    table.insert(kept[name], job)
  end
  for _, jobs in pairs(kept) do table.sort(jobs) end
  return kept
end

--- Owners as `save` gave them, or none. there(job): whether anything is left of a job.
function M.new(there, kept)
  local self = setmetatable({ there = there, names = {}, n = 0, most = FEW }, Owners)
  for name, jobs in pairs(kept or {}) do
    for _, job in ipairs(jobs) do
      if there(job) then self:set(job, name) end
    end
  end
  return self
end

return M
