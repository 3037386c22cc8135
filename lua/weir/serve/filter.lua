--- filter.lua - filters that a client sends as Lua source (W8): {prune =, evaluate =, fields =}, as in a policy, in a sandbox of their
-- own with a budget of time and memory for all they do.

local core = require "weir.core"

local M = { SECONDS = 0.010, MEMORY = 1 << 20, SOURCE = 64 << 10 }

-- What the client's text returns is checked in the sandbox, and nothing else of a policy is taken over: an order, for one, would
-- be kept as an index.
local CHECK = [[
local filter = (...).policy
if type(filter) ~= "table" then error("a filter returns a table, {prune = function, evaluate = function}", 0) end
local known = { prune = true, evaluate = true, fields = true, name = true, doc = true }
for key in pairs(filter) do
  if not known[key] then error(("a filter has prune, evaluate and fields, not '%s'"):format(tostring(key)), 0) end
end
if filter.prune == nil and filter.evaluate == nil then error("a filter has prune, evaluate or both", 0) end
return { name = "filter", prune = filter.prune, evaluate = filter.evaluate, fields = filter.fields }
]]

--- A filter from its source: the policy, whose time is what is left of `seconds`; or nil, message, code.
function M.load(source, seconds)
  if type(source) ~= "string" then return nil, "filter: Lua source, a text, is wanted", "invalid" end
  if #source > M.SOURCE then return nil, ("filter: %d bytes of source are too many; %d are possible"):format(#source, M.SOURCE), "limit" end
  local begin = core.clock()
  local settings = { seconds = seconds, memory = M.MEMORY, parts = { { text = source, name = "filter" } } }
  local policy, why, code = core.policy_source(CHECK, "filter", settings)
  if not policy then return nil, M.said(why, seconds), code end
  local left = seconds - (core.clock() - begin)
  if left <= 0 then return nil, ("filter: it took more than its %g seconds"):format(seconds), "policy" end
  core.filter_limit(policy, left)
  return policy
end

--- What a filter was ended with, in terms of its whole time: what was left of that after it was loaded is nobody's concern.
function M.said(why, seconds)
  return (why:gsub("more than its [%d.e-]+ seconds", ("more than its %g seconds"):format(seconds)))
end

--- Walks with a filter: a list of {vertex =, score =} in descending score; or nil, message, code. opts: start, subsystem, type,
--- best.
function M.walk(graph, policy, opts) return core.filter_walk(policy, graph, opts) end

return M
