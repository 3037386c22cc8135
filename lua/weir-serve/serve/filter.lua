--- filter.lua - filters sent by clients as Lua source: {prune =, evaluate =, fields =}, as in a policy. A filter
-- runs in a sandbox of its own, with a budget of time and memory for the whole walk.

local core = require "weir.core"

local M = { SECONDS = 0.010, MEMORY = 1 << 20, SOURCE = 64 << 10 }

-- CHECK wraps the source of the client inside the sandbox and takes over nothing but the fields of a filter. An order,
-- for instance, would be kept as an index.
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

--- Loads a filter from source. Returns the policy, with the rest of `seconds` as its time budget; or nil, message,
-- code.
function M.load(source, seconds)
  if type(source) ~= "string" then return nil, "filter: expected Lua source, a text", "invalid" end
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

--- Returns the message of an exhausted budget in terms of the whole budget `seconds` instead of the rest left after
-- loading.
function M.said(why, seconds)
  return (why:gsub("more than its [%d.e-]+ seconds", ("more than its %g seconds"):format(seconds)))
end

--- Walks a graph with a filter. Returns a list of {vertex =, score =} in descending score; or nil, message, code. opts:
--- start, subsystem, type, best.
function M.walk(graph, policy, opts) return core.filter_walk(policy, graph, opts) end

return M
