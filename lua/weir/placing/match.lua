--- match.lua - the matches that resource-query knows, on weir's engine: policies by the names and options that Fluxion
-- has, its modes, and what of its reading of requests differs from weir's own.

local policy = require "weir.placing.policy"

local M = {}

--- Matches a request (text of a jobspec). opts.mode: now, reserve, feasible, preview; .at: seconds; .policy: Fluxion's
-- policy string; .job: the id to use; .inside: a table to be filled (see e:match). The allocation, true where feasible;
-- or nil, message, code.
function M.match(engine, text, opts)
  local chosen, why, code = policy.get(opts.policy)
  if not chosen then return nil, why, code end
  if engine:policy() ~= chosen.name or not M.using(engine, chosen) then
    local done
    done, why, code = engine:use(chosen)
    if not done then return nil, why, code end
    M.used[engine] = chosen
  end
  return engine:match(text, { mode = opts.mode, at = opts.at, job = opts.job, inside = opts.inside })
end

M.used = setmetatable({}, { __mode = "k" })
function M.using(engine, chosen) return M.used[engine] == chosen end

return M
