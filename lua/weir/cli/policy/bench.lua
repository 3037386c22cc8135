--- weir policy bench.

local core = require "weir.core"
local out = require "weir.cli.output"
local policy = require "weir.policy"
local queue_policy = require "weir.sim.queue_policy"
local queue_trial = require "weir.sim.trial"
local trial = require "weir.policy.bench"
local weir = require "weir"

local function names_of(opts)
  if opts[1] then return opts end
  local names = {}
  for i, entry in ipairs(opts.queue and queue_policy.list() or policy.list()) do names[i] = entry.name end
  return names
end

local function add_cells(cells, name, rows)
  for i, row in ipairs(rows) do
    cells[#cells + 1] = {
      i == 1 and name or "", row.name, tostring(row.visited), tostring(row.callbacks), ("%.1f"):format(row.us),
    }
  end
end

-- Returns the rows of a policy; or nil, an error message, and the exit status.
local function measure(name, rounds)
  local p, unread = weir.policy(name)
  if not p then return nil, unread, 2 end
  local rows, why = trial.bench(p, rounds)
  if not rows then return nil, name .. ": " .. why, 1 end
  return rows
end

local JOBS = 1000 -- of the history that queue policies are timed with

-- Measures queue policies. Adds to the list `all`; returns the cells and the exit status.
local function measure_queues(names, all)
  local cells, status = { { "queue policy", "jobs", "calls", "tries", "us a call", "mean wait" } }, 0
  for _, name in ipairs(names) do
    local row, why, code = queue_trial.bench(name, JOBS)
    if row then
      cells[#cells + 1] = { name, tostring(row.jobs), tostring(row.passes), tostring(row.matches), ("%.1f"):format(row.us),
        ("%.0f s"):format(row.wait) }
      all[#all + 1] = { policy = name, queue = row }
    else
      status = math.max(status, (code == "unknown" or code == "io") and 2 or 1)
      out.warn(why)
    end
  end
  return cells, status
end

local function measure_placements(names, rounds, all)
  local cells, status = { { "policy", "request", "visited", "calls", "us" } }, 0
  for _, name in ipairs(names) do
    local rows, why, failed = measure(name, rounds)
    if rows then
      add_cells(cells, name, rows)
      all[#all + 1] = { policy = name, requests = rows }
    else
      status = math.max(status, failed)
      out.warn(why)
    end
  end
  return cells, status
end

return function(opts)
  local all, queues, placements = core.array {}, {}, {}
  for _, name in ipairs(names_of(opts)) do
    table.insert((opts.queue or queue_policy.names(name)) and queues or placements, name)
  end
  local cells, status = measure_placements(placements, opts.rounds or 200, all)
  local queue_cells, queue_status = measure_queues(queues, all)
  if opts.json then
    out.json(all)
  else
    if #cells > 1 then out.table(cells, { false, false, true, true, true }) end
    if #queue_cells > 1 then out.table(queue_cells, { false, true, true, true, true, true }) end
  end
  return math.max(status, queue_status)
end
