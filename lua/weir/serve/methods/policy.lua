--- policy.lua - methods about the policy: which one, which there are, load, reload.

local core = require "weir.core"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local policies = require "weir.policy"

local M = {}

needs.reader("policy", "policy.list")

params.takes("policy", "", {})
params.takes("policy.list", "", {})
params.takes("policy.load", "policy", { name = "name", source = "source" })
params.takes("policy.reload", "policy", {})

local function about(policy)
  return { name = policy.name, doc = policy.doc, version = policy.version, label = policy.label, hooks = core.array(policy.hooks) }
end

--- {"id":1,"method":"policy"}: the one in use; "retired": the one that was taken out of service before, and why
function M.policy(self, call)
  local _, policy = self.engine:policy()
  local answer = about(policy)
  answer.retired = self.engine:retired()
  call.answer(answer)
end

--- {"id":2,"method":"policy.list"}: what there is by name
M["policy.list"] = function(_, call)
  local list = core.array {}
  for i, entry in ipairs(policies.list()) do list[i] = entry.name end
  call.answer { policies = list }
end

-- By name, with options as in "classes:mode=strict", or the source itself; never a path, which would be one of the service's files.
local function load(p)
  local name, source = p.name, p.source
  if (name ~= nil) == (source ~= nil) then params.fail("invalid", "one of name and source is wanted") end
  if source then return params.check_field("source", core.policy_source(source, "policy")), nil end
  if name:find("/", 1, true) or name:find "%.lua" then
    params.fail("invalid", "field 'name': a policy by its name is wanted, or its source")
  end
  return params.check_field("name", policies.load(name)), name
end

--- {"id":3,"method":"policy.load","params":{"name":"spread"}}; or {"source":"return {...}"}. What does not load leaves the old one
M["policy.load"] = function(self, call, p)
  local policy, name = load(p)
  call.answer(about(params.check(self:use(policy, name))))
end

--- {"id":4,"method":"policy.reload"}: the file of the policy in use, as it is now
M["policy.reload"] = function(self, call)
  call.answer(about(params.check(self:reload())))
end

return M
