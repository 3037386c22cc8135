--- weir policy bench.

local core = require "weir.core"
local out = require "weir.cli.output"
local policy = require "weir.policy"
local trial = require "weir.policy.bench"
local weir = require "weir"

local function names_of(opts)
  if opts[1] then return opts end
  local names = {}
  for i, entry in ipairs(policy.list()) do names[i] = entry.name end
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

return function(opts)
  local status, all = 0, core.array {}
  local cells = { { "policy", "request", "visited", "calls", "us" } }
  for _, name in ipairs(names_of(opts)) do
    local rows, why, failed = measure(name, opts.rounds or 200)
    if rows then
      add_cells(cells, name, rows)
      all[#all + 1] = { policy = name, requests = rows }
    else
      status = math.max(status, failed)
      out.warn(why)
    end
  end
  if opts.json then
    out.json(all)
  elseif #all > 0 then
    out.table(cells, { false, false, true, true, true })
  end
  return status
end
