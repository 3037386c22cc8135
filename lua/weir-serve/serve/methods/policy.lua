--- policy.lua - methods about the policy: show, list, load, reload.

local core = require "weir.core"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local policies = require "weir.policy"

local M = {}

needs.reader("policy", "policy.list")

params.takes("policy", "", {})
params.takes("policy.list", "", {})
params.takes("policy.load", "policy", { name = "name", source = "source", file = "text" })
params.takes("policy.reload", "policy", {})

local function about(policy)
  return { name = policy.name, doc = policy.doc, version = policy.version, label = policy.label, hooks = core.array(policy.hooks) }
end

--- {"id":1,"method":"policy"}: the policy in use; "retired": a policy taken out of service earlier, and why;
-- "state": what the policy keeps
function M.policy(self, call)
  local _, policy = self.engine:policy()
  local answer = about(policy)
  answer.retired, answer.state = self.engine:retired(), self.engine:state()
  call.answer(answer)
end

--- {"id":2,"method":"policy.list"}: the policies available by name
M["policy.list"] = function(_, call)
  local list = core.array {}
  for i, entry in ipairs(policies.list()) do list[i] = entry.name end
  call.answer { policies = list }
end

-- Loads a policy by name, with options as in "classes:mode=strict", or from source. Never by path: the path would name
-- a file of the service's host.
local function load(self, p)
  local name, source = p.name, p.source
  if (name ~= nil) == (source ~= nil) then params.fail("invalid", "expected one of name and source") end
  if source then return params.check_field("source", policies.of_text(source, nil, self.policy, p.file and p.file:sub(-200))), nil end
  if name:find("/", 1, true) or name:find "%.lua" then
    params.fail("invalid", "field 'name': expected the name of a policy, or its source")
  end
  return params.check_field("name", policies.load(name)), name
end

--- {"id":3,"method":"policy.load","params":{"name":"spread"}}; or {"source":"return {...}"}, with "file", the
-- name of the source in errors. A policy that fails to load leaves the old policy in use
M["policy.load"] = function(self, call, p)
  local policy, name = load(self, p)
  call.answer(about(params.check(self:use(policy, name))))
end

--- {"id":4,"method":"policy.reload"}: loads the policy in use again from its file
M["policy.reload"] = function(self, call)
  call.answer(about(params.check(self:reload())))
end

return M
