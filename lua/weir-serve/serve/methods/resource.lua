--- resource.lua - the acquisition protocol (RFC 28) for schedulers, and the commands of administrators on targets.

local core = require "weir.core"
local child_instances = require "weir.serve.child_instances"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local rset = require "weir.rset"

local M = {}

local ADD = 1000000 -- vertices added by a request at most, without a limit of the server

-- Returns the job of a group "job.N", or nil: the owner of a job may acquire its targets (see child.open).
local function job_of(p)
  local job = type(p.group) == "string" and p.group:match "^job%.(%d+)$"
  return job and math.tointeger(tonumber(job)) or nil
end

local function by_job(p) return job_of(p) and "owner" or "administrator" end

needs.reader "resource.status"
needs.by("resource.acquire", by_job, job_of)
needs.by("resource.release", by_job, job_of)

local TAKES = "targets machine jobs owners children stages" -- effects of methods moving targets

params.takes("resource.acquire", "targets streams stages", { group = "name", expiration = "flag" })
params.takes("resource.release", TAKES, { group = "name!", targets = "targets!" })
params.takes("resource.status", "", {})
params.takes("resource.drain", TAKES, { targets = "targets!", reason = "words" })
params.takes("resource.move", TAKES, { targets = "targets!", group = "name!" })
params.takes("resource.property", "machine", { name = "name!", targets = "targets!", remove = "flag" })
params.takes("resource.expiration", "machine jobs owners children", { expiration = "seconds!" })
params.takes("resource.add", TAKES, { R = "table!" })
for _, name in ipairs { "undrain", "online", "offline", "exclude", "include", "remove" } do
  params.takes("resource." .. name, TAKES, { targets = "targets!" })
end

-- ---- schedulers -----------------------------------------------------------------------------------------------------

--- {"id":1,"method":"resource.acquire","params":{"group":"debug"}}: a stream; without a group in the newer wording of
--- RFC 28, with "expiration":true next to the group a stream that also gets {"type":"expiration","expiration":T} for a
--- new end of the resources. "cancel", or the end of the connection, gives all targets back.
M["resource.acquire"] = function(self, call, p)
  call.stream()
  local child = self.child_instances:of_group(p.group)
  if child then return params.check(child_instances.acquire(child, call, p)) end
  params.check(self.provider:acquire(call, p))
  self:settle()
end

--- {"id":2,"method":"resource.release","params":{"group":"debug","targets":"1-3,5"}}
M["resource.release"] = function(self, call, p)
  local function mine(key) return type(key) == "table" and key.client == call.client end
  local child = self.child_instances:of_group(p.group)
  if child then
    call.answer(params.check(self.child_instances:release(child, mine, p.targets)))
    return self:settle()
  end
  call.answer(params.check(self.provider:release(mine, p)))
  self:settle()
end

-- ---- administrators -------------------------------------------------------------------------------------------------

local function done(self, call)
  self:settle()
  call.answer(self.provider:status())
end

--- {"id":3,"method":"resource.status"}
M["resource.status"] = function(self, call)
  call.answer(self.provider:status())
end

-- Defines a command with targets as its only parameter.
local function plain(name)
  M["resource." .. name] = function(self, call, p)
    params.check(self.provider[name](self.provider, p.targets))
    done(self, call)
  end
end

--- {"id":4,"method":"resource.undrain","params":{"targets":"3"}}
plain "undrain"

--- {"id":4,"method":"resource.online","params":{"targets":"3"}}: as reported by a monitor of nodes
plain "online"

--- {"id":4,"method":"resource.offline","params":{"targets":"3"}}
plain "offline"

--- {"id":5,"method":"resource.drain","params":{"targets":"3-4","reason":"disk"}}
M["resource.drain"] = function(self, call, p)
  params.check(self.provider:drain(p.targets, p.reason))
  done(self, call)
end

-- Returns the targets of a command, all known to the provider; an unknown target ends the call before any effect.
local function targets_of(self, text)
  local set = params.check(core.idset(text))
  if set:empty() then params.fail("invalid", "targets: expected at least one") end
  local missing = set - self.provider.targets
  if not missing:empty() then params.fail("unknown", "there is no target %s here", tostring(missing)) end
  return set
end

-- Ends the call if a target of `set` is a root: at least a root has to stay in a graph.
local function check_roots(self, set)
  for v, target in self.follower.targets:each(set & self.follower.targets.all) do
    if not v:parent() then params.fail("invalid", "target %d is the whole machine; it cannot be taken out of it", target) end
  end
end

local function move(self, call, targets, group)
  local set = targets_of(self, targets)
  check_roots(self, set)
  params.check(self.provider:may_move(targets, group))
  self:stash(set)
  params.check(self.provider:move(targets, group))
  done(self, call)
end

--- {"id":6,"method":"resource.move","params":{"targets":"0-1","group":"debug"}}; "default" is no group
M["resource.move"] = function(self, call, p)
  move(self, call, p.targets, p.group)
end

--- {"id":7,"method":"resource.exclude","params":{"targets":"0"}}
M["resource.exclude"] = function(self, call, p)
  move(self, call, p.targets, "exclude")
end

--- {"id":8,"method":"resource.include","params":{"targets":"0"}}
M["resource.include"] = function(self, call, p)
  move(self, call, p.targets, "default")
end

-- Ends the call in a child service: only the parent adds to and removes from the machine of a child.
local function from_parent(self, instead)
  if self.parent then params.fail("invalid", "the machine is what the parent gives: %s is for this", instead) end
end

--- {"id":9,"method":"resource.remove","params":{"targets":"7"}}: removes targets from the machine
M["resource.remove"] = function(self, call, p)
  from_parent(self, "parent.shrink")
  local set = targets_of(self, p.targets)
  check_roots(self, set)
  self:withdraw(set)
  call.answer(self.provider:status())
end

-- Ends the call if R describes too many vertices: a short text may describe a machine that takes minutes to make.
local function check_size(self, set, ids)
  local n, most, types = ids:count(), self.opts.limits and self.opts.limits.add or ADD, {}
  for _, entry in ipairs(set:table "rlite") do
    for type in pairs(entry.children or {}) do types[type] = true end
  end
  for type in pairs(types) do n = n + set:count(type) end
  if n > most then params.fail("limit", "R: %d vertices; one request may add %d (--limit add=N allows more)", n, most) end
end

--- {"id":10,"method":"resource.add","params":{"R":{"version":1,"execution":{"R_lite":[{"rank":"8","children":{"core":"0-3"}}]}}}}:
--- adds the targets of R to the machine, up
M["resource.add"] = function(self, call, p)
  from_parent(self, "parent.grow")
  local set = params.check_field("R", rset.new(p.R, "R"))
  local ids, known = core.idset(set:ranks()), self.provider.targets | self.provider:taken()
  if ids:empty() then params.fail("invalid", "R: there are no ranks in it") end
  check_size(self, set, ids)
  if ids:overlaps(known) then params.fail("exists", "R: target %s is there already", tostring(ids & known)) end
  params.check_field("R", set:graph()):close() -- R must describe a machine
  self:adopt(set, ids, ids)
  done(self, call)
end

--- {"id":11,"method":"resource.property","params":{"name":"fast","targets":"0-3","remove":false}}
M["resource.property"] = function(self, call, p)
  local name, targets, remove = p.name, p.targets, p.remove
  params.check(self.provider[remove and "property_remove" or "property_add"](self.provider, name, targets))
  for v in self.follower.targets:each(core.idset(targets) & self.follower.targets.all) do
    if remove then v.properties[name] = nil else v.properties[name] = true end
  end
  done(self, call)
end

--- {"id":12,"method":"resource.expiration","params":{"expiration":1700000000}}: sets the end of the resources, in seconds
--- since 1970; 0: without an end. Running jobs that would end later are cut, with an event "cut"; reservations without
--- enough time are dropped, with an event "requeue"; schedulers and children hear of it
M["resource.expiration"] = function(self, call, p)
  from_parent(self, "an update of the parent's")
  local start = self.graph:validity()
  if p.expiration > 0 and p.expiration <= (start or 0) then
    params.fail("invalid", "expiration: it is not after the start of the resources, %g", start or 0)
  end
  self:set_validity(start, p.expiration > 0 and p.expiration or nil)
  done(self, call)
end

return M
