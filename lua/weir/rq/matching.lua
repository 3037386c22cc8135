--- matching.lua - between the commands of the shell and weir.placing.match: what a match gives, as parts that can be shown.

local match = require "weir.placing.match"

local M = {}

--- Whether -P names a policy: true; or nil and why.
M.check_policy = match.check_policy

-- Whether what is found becomes the job's.
local BOOKS = {
  allocate = true, allocate_with_satisfiability = true, allocate_orelse_reserve = true, satisfiability = false,
  without_allocating = false, without_allocating_future = false,
}

--- Whether there is an operation of that name.
function M.known(operation) return BOOKS[operation] ~= nil end

--- Whether what it finds becomes the job's.
function M.books(operation) return BOOKS[operation] end

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
