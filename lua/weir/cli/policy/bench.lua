--- weir policy bench.

local core = require "weir.core"
local out = require "weir.cli.output"
local policy = require "weir.policy"
local trial = require "weir.trial"

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

return function(opts)
  local status, all = 0, core.array {}
  local cells = { { "policy", "request", "visited", "calls", "us" } }
  for _, name in ipairs(names_of(opts)) do
    local rows, why = trial.bench(name, opts.rounds or 200)
    if rows then
      add_cells(cells, name, rows)
      all[#all + 1] = { policy = name, requests = rows }
    else
      status = 1
      out.warn(("%s: %s"):format(name, why))
    end
  end
  if opts.json then
    out.json(all)
  elseif #all > 0 then
    out.table(cells, { false, false, true, true, true })
  end
  return status
end
