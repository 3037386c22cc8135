--- parent.lua - methods about the parent of the service (weir serve --parent).

local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local weir = require "weir"

local M = {}

needs.reader "parent.status"

params.takes("parent.status", "", {})
params.takes("parent.grow", "parent machine targets", { request = "request!" })
params.takes("parent.shrink", "parent machine targets jobs owners children", { targets = "targets!", force = "flag", pass = "flag" })

local function parent(self)
  if not self.parent then params.fail("unavailable", "this service has no parent; weir serve --parent makes it a child of one") end
  return self.parent
end

--- {"id":1,"method":"parent.status"}: the parent's address, the state of the connection, the targets acquired from it
M["parent.status"] = function(self, call)
  call.answer(parent(self):status())
end

--- {"id":2,"method":"parent.grow","params":{"request":"slot=2/node"}}: requests more resources from the parent, and answers
--- once the resources are usable. A parent without enough requests from its own parent
M["parent.grow"] = function(self, call, p)
  local request = type(p.request) == "table" and params.table_request(p.request) or params.check(weir.request(p.request, "request"))
  parent(self):grow(request, function(result, why, code)
    if not result then return call.fail(why, code) end
    call.answer(self.parent:status())
  end)
end

--- {"id":3,"method":"parent.shrink","params":{"targets":"4-5","force":false,"pass":false}}: gives targets back. Targets
--- with jobs are given back with force only: the jobs get a fatal exception, and the targets go when the jobs have
--- ended. With pass, the targets go on to the parent's parent
M["parent.shrink"] = function(self, call, p)
  params.check(parent(self):shrink(p.targets, { force = p.force, pass = p.pass }, function(result, why, code)
    if not result then return call.fail(why, code) end
    call.answer(self.parent:status())
  end))
end

return M
