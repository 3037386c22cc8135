--- matching.lua - between the commands of the shell and weir.placing.match: what a match gives, as parts that can be shown.

local match = require "weir.placing.match"

local M = {}

--- Whether -P names a policy: true; or nil and why.
M.check_policy = match.check_policy

-- books: what is found becomes the job's. asks: whether it could ever be is told.
local OPERATIONS = {
  allocate = { books = true }, allocate_orelse_reserve = { books = true },
  allocate_with_satisfiability = { books = true, asks = true }, satisfiability = { asks = true },
  without_allocating = {}, without_allocating_future = {},
}

--- {books, asks} of an operation; nil: there is no such one.
function M.operation(name) return OPERATIONS[name] end

-- What is shared goes without saying, but for its label.
local function add(parts, picks, inside)
  for _, pick in ipairs(picks) do
    local label = inside.labels and inside.labels[pick.resource]
    if pick.amount > 0 then
      local whole = inside.whole and inside.whole[pick.vertex.type] or false
      parts[#parts + 1] = { vertex = pick.vertex, amount = pick.amount, exclusive = true, label = label, whole = whole }
    elseif label then
      parts.labels[pick.vertex] = label
    end
  end
end

--- Matches a jobspec: {at, duration, queue, parts}; or nil, why, code. how: {operation, job, policy, traverser}.
function M.run(engine, text, how)
  local inside = {}
  local found, why, code = match.match(engine, text, {
    mode = how.operation, at = 0, policy = how.policy, traverser = how.traverser, jobid = how.job, inside = inside,
  })
  if not found then return nil, why, code end
  if found == true then return { at = 0, duration = 0, parts = {} } end
  local parts = { labels = {} }
  add(parts, found:vertices(), inside)
  add(parts, inside, inside)
  return { at = found.at, duration = found.duration, queue = inside.queue, parts = parts }
end

return M
