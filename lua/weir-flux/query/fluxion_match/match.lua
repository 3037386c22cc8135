--- match.lua - resource-query's match on weir's engine: policies and operations by resource-query's names, and the
-- differences of Fluxion in reading requests.
--
-- Quirks of Fluxion, kept here or requested from the engine:
--   slots: the contents of a slot are directly below a single vertex; pools are allocated whole.
--   levels: only levels above the first resource of a jobspec may be omitted.
--   types: a type exclusive anywhere in a jobspec includes all descendants of the allocated vertices.
--   siblings: two sibling resources of equal type, or any sibling of a slot, match nothing.
--   nodes up: a job for more nodes than are up is rejected without a look at further needs or at future times, if a
--     pruning filter counts nodes.

local alternatives = require "weir.query.fluxion_match.alternatives"
local core = require "weir.core"
local policy = require "weir.query.fluxion_match.policy"

local M = {}

-- Fields: mode (of the engine), checks (whether jobs that can never run are distinguished from waiting jobs), undo
-- (whether the allocation is released at once).
local OPERATIONS = {
  allocate = { mode = "now" },
  allocate_with_satisfiability = { mode = "now", checks = true, asks = true },
  allocate_orelse_reserve = { mode = "reserve", checks = true },
  satisfiability = { mode = "feasible", checks = true, asks = true },
  without_allocating = { mode = "preview" },
  feasible = { mode = "feasible", checks = true },
  without_allocating_future = { mode = "reserve", checks = true, undo = true },
}

--- Returns options of a match or an explanation, with Fluxion's reading of requests added.
function M.reading(options)
  options.follow, options.strict_levels, options.strict_pools, options.strict_slots = "links", true, true, true
  return options
end

--- Returns true if a text names a policy; or nil and a reason.
function M.check_policy(text)
  local found, why = policy.get(text)
  return found and true, why
end

-- ---- attributes of the jobspec ------------------------------------------------------------------------------

-- Calls f(resource, total count) for each resource, in preorder.
local function each_resource(list, times, f)
  for _, r in ipairs(list) do
    f(r, times * r.count.min)
    each_resource(r.with or {}, times * r.count.min, f)
  end
end

-- Fills `inside` with the attributes for the shell's output: labels by preorder number, types allocated with all
-- descendants, the queue.
local function describe(request, nodex, inside)
  local index = -1
  inside.labels, inside.whole, inside.queue = {}, { node = nodex or nil }, request:attribute "queue"
  each_resource(request:resources(), 1, function(r)
    index = index + 1
    if r.type ~= "slot" and r.type ~= "or_slot" then inside.labels[index] = r.label end
    if r.exclusive then inside.whole[r.type] = true end
  end)
end

-- ---- siblings -----------------------------------------------------------------------------------------------

-- Returns the type of two sibling resources, or "slot" if a slot has siblings, at any depth; nil without a conflict.
local function ambiguous(list)
  local seen = {}
  for _, r in ipairs(list) do
    if r.type ~= "or_slot" and (seen[r.type] or (#list > 1 and r.type == "slot")) then return r.type end
    seen[r.type] = true
    local inner = ambiguous(r.with or {})
    if inner then return inner end
  end
end

-- ---- nodes up -----------------------------------------------------------------------------------------------

local function nodes_wanted(request)
  local n = 0
  each_resource(request:resources(), 1, function(r, times) n = r.type == "node" and n + times or n end)
  return n
end

local function is_up(v)
  while v and (v.state == "up" or v.state == "degraded") do v = v:parent() end
  return v == nil
end

local function nodes_up(graph)
  local n = 0
  for _, v in ipairs(graph:find "type=node") do n = is_up(v) and n + 1 or n end
  return n
end

-- ---- matching -----------------------------------------------------------------------------------------------

local used = setmetatable({}, { __mode = "k" })

local function use(engine, chosen)
  if used[engine] == chosen then return true end
  local done, why, code = engine:use(chosen)
  used[engine] = done and chosen or nil
  return done, why, code
end

local function code_of(engine, request, op, code, counts_nodes)
  if code ~= "busy" and code ~= "infeasible" then return code end
  if counts_nodes and nodes_wanted(request) > nodes_up(engine:resources()) then return op.asks and "infeasible" or "busy" end
  return op.checks and code or "busy"
end

-- Matches a single request; see M.match for the results.
local function try(engine, request, op, opts, inside)
  local twice = ambiguous(request:resources())
  if twice then
    local why = ("test: siblings in jobspec request same resource type : %s.\n"):format(twice)
    return nil, why, code_of(engine, request, op, "infeasible", opts.counts_nodes)
  end
  describe(request, opts.nodex, inside)
  local found, why, code = engine:match(request, M.reading {
    mode = op.mode, at = opts.at, job = op.mode ~= "feasible" and opts.jobid or nil, inside = inside,
  })
  if not found then return nil, why, code_of(engine, request, op, code, opts.counts_nodes) end
  if op.undo then assert(engine:release(found.id)) end
  return found
end

-- Returns the first of several requests that fits now, or else the request with the earliest start; or nil, message,
-- code.
local function try_each(engine, requests, op, opts)
  local first, which, why, code
  for i, request in ipairs(requests) do
    local found, reason, word = try(engine, request, op, opts, {})
    if found and op.mode == "reserve" and not op.undo then assert(engine:release(found.id)) end
    if found and (op.mode ~= "reserve" or found.at == engine:now()) then return request end
    if found and (not first or found.at < first) then first, which = found.at, i end
    why, code = code ~= "busy" and reason or why, code ~= "busy" and word or code
  end
  return requests[which], why, code
end

--- Expands a jobspec. Returns the requests, in order of preference; or nil, message, code.
function M.requests(text, traverser)
  if traverser == "flexible" and type(text) == "string" then return alternatives.requests(text, true) end
  local request, why, code = core.request(text)
  if not request and type(text) == "string" and (why:find("a slot within a slot", 1, true) or why:find("is there twice", 1, true)) then
    return alternatives.requests(text, false)
  end
  return request and { request }, why, code
end

-- Returns the request to match: of several, the request chosen by try_each().
local function choose(engine, requests, op, opts)
  if #requests == 1 then return requests[1] end
  local books = op.mode == "now" and { mode = "preview", checks = op.checks, asks = op.asks } or op
  return try_each(engine, requests, books, opts)
end

--- Matches a jobspec (text). opts.mode: an operation of resource-query, such as "allocate_orelse_reserve"; .at:
-- seconds; .policy: Fluxion's policy string; .traverser: "simple" or "flexible"; .jobid; .inside: a table to fill:
-- the picks inside vertices allocated as a whole (see e:match), labels = {[number of the resource] = text}, whole =
-- {[type] = true} if vertices of the type include all descendants, queue, and the matched request. Returns the
-- allocation, or true for satisfiability; or nil, message, code: "infeasible", "busy", "invalid", ...
function M.match(engine, text, opts)
  local op = OPERATIONS[opts.mode] or error(("there is no operation '%s'"):format(tostring(opts.mode)), 2)
  local chosen, nodex, code = policy.get(opts.policy or "first")
  if not chosen then return nil, nodex, code end
  local requests, why
  requests, why, code = M.requests(text, opts.traverser)
  if not requests then return nil, why, code end
  local done
  done, why, code = use(engine, chosen)
  if not done then return nil, why, code end
  local own, inside = { at = opts.at, jobid = opts.jobid, nodex = nodex, counts_nodes = opts.counts_nodes ~= false }, opts.inside or {}
  local request
  request, why, code = choose(engine, requests, op, own)
  if not request then return nil, why, code end
  inside.request = request
  return try(engine, request, op, own, inside)
end

return M
