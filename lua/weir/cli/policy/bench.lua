--- weir policy bench.

local core = require "weir.core"
local costs = require "weir.policy.costs"
local out = require "weir.cli.output"
local policy = require "weir.policy"
local queue_policy = require "weir.sim.queue_policy"
local queue_bench = require "weir.sim.queue_bench"
local tables = require "weir.tables"
local trial = require "weir.policy.bench"
local weir = require "weir"

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
    local row, why, code = queue_bench.bench(name, JOBS)
    if row then
      cells[#cells + 1] = { name, tostring(row.jobs), tostring(row.passes), tostring(row.matches), ("%.1f"):format(row.us),
        row.wait and ("%.0f s"):format(row.wait) or "-" }
      if row.incomparable then
        status = math.max(status, 1)
        out.warn(("%s: %s: its wait is not comparable"):format(name, row.incomparable))
      end
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

-- The table of costs on a machine of the user: a block for each fill.
local function measure_machine(graph, names, as_json)
  local status, fill, cells = 0, nil, nil
  local align = { false, true, true, true, true, true, true, true, true, true }
  local function show(rows, why, unread)
    if why then
      status = math.max(status, unread and 2 or 1)
      out.warn(why)
    end
    if as_json then return end
    if rows[1].fill ~= fill then
      if cells then out.table(cells, align) end
      fill, cells = rows[1].fill, { { ("%d %% full"):format(rows[1].fill) } }
      for _, row in ipairs(rows) do table.move({ row.request, "calls", "visited" }, 1, 3, #cells[1] + 1, cells[1]) end
    end
    local line = { rows[1].policy }
    for _, row in ipairs(rows) do
      local each = row.us and { rows[1].policy == "low" and ("%.1f us"):format(row.us) or ("%.1f"):format(row.ratio or 0),
        ("%.0f"):format(row.calls), ("%.0f"):format(row.visits) } or { "-", "", "" }
      table.move(each, 1, 3, #line + 1, line)
    end
    cells[#cells + 1] = line
  end
  local all = costs.table(graph, names, nil, show)
  if as_json then out.json(all) elseif cells then out.table(cells, align) end
  return status
end

return function(opts, inputs)
  local all, queues, placements = core.array {}, {}, {}
  for _, name in ipairs(opts[1] and opts or tables.column(opts.queue and queue_policy.list() or policy.list(), "name")) do
    table.insert((opts.queue or queue_policy.names(name)) and queues or placements, name)
  end
  if opts.resources then
    if #queues > 0 then out.fail(2, "policy bench -r is for placement policies: %s is none", queues[1]) end
    return measure_machine(inputs.resources(opts), placements, opts.json)
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
