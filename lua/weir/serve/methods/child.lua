--- child.lua - methods for services within this one (weir serve --parent): a job's allocation is the child's machine.

local nested = require "weir.serve.nested"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"

local M = {}

needs.own "child.open"
needs.reader "child.list"

params.takes("child.open", "children", { job = "job!" })
params.takes("child.list", "", {})

--- {"id":1,"method":"child.open","params":{"job":7}}: what job 7 has is for a child to acquire, as group "job.7" of resource.acquire.
--- "leaving" are targets that it was to give back when it was here last. Opened again it is the same
M["child.open"] = function(self, call, p)
  call.answer(nested.describe(params.check(self.nested:open(p.job))))
end

--- {"id":2,"method":"child.list"}: all that were opened, and whether their child is there
M["child.list"] = function(self, call)
  call.answer { children = self.nested:list() }
end

return M
