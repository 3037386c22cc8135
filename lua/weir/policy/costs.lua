--- costs.lua - what matches cost under policies, as multiples of the cost under `low`: on a machine that is as it is, half
--- full, 90 % and 99 % full, in a stream of matches and releases. Behind `weir policy bench -r` and spec/bench/policies.lua.
--- Calls of Lua and visits are exact; times are medians of some matches.

local core = require "weir.core"
local weir = require "weir"

local M = {}

M.FILLS = { 0, 50, 90, 99 } -- of the unused nodes, in percent
local REFERENCE = "low"

-- Numbers from 1 to n in an order without pattern, the same in each run.
local function shuffled(n)
  local list, seed = {}, 12345
  for i = 1, n do list[i] = i end
  for i = n, 2, -1 do
    seed = (seed * 1103515245 + 12345) % 2147483648
    local k = seed // 65536 % i + 1
    list[i], list[k] = list[k], list[i]
  end
  return list
end

-- The type of which a part is taken: nodes, or cores where there are no nodes.
local function filled_type(graph) return graph:aggregate(nil, { all = true }).node and "node" or "core" end

--- A duplicate of the graph, with `percent` of the unused nodes (of a machine without nodes, of the cores) taken, no matter
--- where.
function M.filled(graph, percent)
  local g, unused = assert(graph:dup()), {}
  for v in g:walk { type = filled_type(graph) } do
    if v.state == "up" and #v:uses() == 0 then unused[#unused + 1] = v end
  end
  local order, job = shuffled(#unused), 1 << 40
  for i = 1, #unused * percent // 100 do
    -- a node may be busy in the parts below
    if unused[order[i]]:allocate { job = job } then job = job + 1 end
  end
  return g
end

--- The requests of the table: {title, shape}. On machines of fewer than 640 nodes a tenth of the nodes is used in place of 64.
function M.requests(graph)
  local nodes = graph:aggregate(nil, { all = true }).node
  local many = math.max(2, math.min(64, (nodes and nodes.total or 0) // 10))
  return {
    { "one node", "slot=1/node" }, { many .. " nodes", ("slot=%d/node"):format(many) }, { "four cores", "slot=1/core=4" },
  }
end

local WARM = 3 -- matches before the measured ones

-- Makes room for the next job of a stream: releases the oldest job where `most` jobs have resources.
local function make_room(engine, jobs, most)
  while #jobs >= most do assert(engine:release(table.remove(jobs, 1).id)) end
end

-- Microseconds (median), calls and visits of a match in a stream, in which three jobs have resources, or as many as fit.
local function measure(engine, request, opts)
  local times, jobs, all, first, n, most = {}, {}, 0, nil, 0, WARM
  local calls, visits = 0, 0
  while n < WARM + opts.fewest or all < opts.longest do
    local begin = core.clock()
    local job, why, code = engine:match(request)
    local took = core.clock() - begin
    if job then
      n, first, jobs[#jobs + 1] = n + 1, first or took, job
      if n > WARM then
        local stats = engine:stats()
        times[n - WARM], all = took * 1e6, all + took
        calls, visits = calls + stats.callbacks, visits + stats.visited
      end
    elseif code == "policy" then
      return nil, why, code
    elseif #jobs == 0 then
      return nil, why
    else
      most = #jobs
    end
    make_room(engine, jobs, most)
  end
  for _, job in ipairs(jobs) do assert(engine:release(job.id)) end
  table.sort(times)
  return { us = times[(#times + 1) // 2], calls = calls / #times, visits = visits / #times, first = first * 1e6 }
end

--- Measures a policy on a duplicate of a graph of its own. Returns a list with the cost of each request, {us =, calls =,
--- visits =, first =}, false for a request without a match; or nil, message, also where the policy fails in a match.
function M.of(policy, graph, requests, opts)
  local g <close> = assert(graph:dup())
  local engine, why = core.engine { resources = g, policy = policy }
  if not engine then return nil, why end
  local costs = {}
  for i, request in ipairs(requests) do
    local cost, wrong, code = measure(engine, weir.request(request[2]), opts or { fewest = 5, longest = 0.04 })
    if code == "policy" then return nil, ("%s: %s"):format(request[1], wrong) end
    costs[i] = cost or false
  end
  return costs
end

-- Adds what a policy costs on a filled machine. Returns the costs.
local function add(rows, each, at, low)
  local p, why = weir.policy(at.policy)
  local costs
  if p then costs, why = M.of(p, at.graph, at.requests, at.opts) end
  low = low or costs
  for i, request in ipairs(at.requests) do
    local c = costs and costs[i] or {}
    rows[#rows + 1] = { policy = at.policy, fill = at.fill, request = request[1], us = c.us, calls = c.calls, visits = c.visits,
      first = c.first, ratio = c.us and low and low[i] and c.us / low[i].us }
  end
  each(table.move(rows, #rows - #at.requests + 1, #rows, 1, {}), not costs and why or nil, not p)
  return costs
end

--- Measures policies on a machine. Calls each(rows, message, unread): the rows of one policy, one for each request, on the machine
--- filled so far, {policy =, fill =, request =, us =, calls =, visits =, first =, ratio = to low}; with a message where the
--- policy cannot be used, and whether it could not be read. Returns all rows.
function M.table(graph, policies, opts, each)
  local rows, requests = core.array {}, M.requests(graph)
  for _, fill in ipairs(opts and opts.fills or M.FILLS) do
    local g <close> = M.filled(graph, fill)
    local at = { graph = g, fill = fill, requests = requests, opts = opts, policy = REFERENCE }
    local low = add(rows, each, at)
    for _, name in ipairs(policies) do
      at.policy = name
      if name ~= REFERENCE then add(rows, each, at, low) end
    end
  end
  return rows
end

return M
