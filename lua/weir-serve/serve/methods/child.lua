--- child.lua - methods for child services (weir serve --parent): the allocation of a job is the machine of a child.

local child_instances = require "weir.serve.child_instances"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"

local M = {}

needs.own "child.open"
needs.reader "child.list"

params.takes("child.open", "children", { job = "job!" })
params.takes("child.list", "", {})

--- {"id":1,"method":"child.open","params":{"job":7}}: opens the allocation of job 7 to a child, as group "job.7" of
--- resource.acquire. In the answer, "leaving" are the targets still to be given back from an earlier connection.
--- Opening again changes nothing
M["child.open"] = function(self, call, p)
  call.answer(child_instances.describe(params.check(self.child_instances:open(p.job))))
end

--- {"id":2,"method":"child.list"}: all opened jobs, and whether a child is connected
M["child.list"] = function(self, call)
  call.answer { children = self.child_instances:list() }
end

return M
