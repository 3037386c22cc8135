--- owners.lua - the owner of each job: the user of the match. A job matched by an administrator has no owner.
--
-- Invariant: an owner belongs to a single job, from the match until nothing of the job is left. A later job with an
-- equal id is a different job; the match of the later job sets the owner again, to nil for an administrator.

local core = require "weir.core"

local M = {}

local Owners = {}
Owners.__index = Owners

M.LONGEST = 255 -- bytes of a name
local FEW = 256 -- owners kept before ended jobs are looked for

--- Returns true if `name` can be the name of an owner: UTF-8 without blanks and control characters.
function M.is_name(name)
  return type(name) == "string" and #name <= M.LONGEST and utf8.len(name) ~= nil and name:find "^[^%s%c]+$" ~= nil
end

--- Returns the owner of a job; nil if the job is gone or was matched by an administrator.
function Owners:of(job)
  local name = self.names[job]
  return name and self.there(job) and name or nil
end

-- Forgets the owners of ended jobs. The next tidying comes after the number of owners has doubled, so the cost a match
-- is constant.
local function tidy(self)
  for job in pairs(self.names) do
    if not self.there(job) then self:forget(job) end
  end
  self.most = math.max(FEW, 2 * self.n)
end

--- Sets the owner of a new job; nil for an administrator. Returns true if the owner differs from before.
function Owners:set(job, name)
  local was = self.names[job]
  self.names[job] = name
  self.n = self.n + (name and 1 or 0) - (was and 1 or 0)
  if self.n > self.most then tidy(self) end
  return was ~= name
end

--- Forgets the owner of a job of which nothing is left. Returns true if an owner was forgotten.
function Owners:forget(job)
  if self.names[job] == nil or self.there(job) then return false end
  self.names[job], self.n = nil, self.n - 1
  return true
end

--- Returns {[name] = {job, ...}} as plain data, for M.new.
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

--- Makes owners from the result of `save`, or none from nil. there(job) returns true while anything is left of a job.
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
