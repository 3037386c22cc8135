--- show_pool.lua - weir show --full: a single pool with all attributes.

local core = require "weir.core"
local holder = require "weir.texts".holder
local out = require "weir.cli.output"
local pool = require "weir.cli.vertex_report"
local tables = require "weir.tables"

local M = {}

local CELLS, EDGES = 40, 8

local function line(label, text) out.line(("  %-12s%s"):format(label, text)) end

local function amount(n, unit) return unit and ("%d %s"):format(n, unit) or ("%d"):format(n) end

local function show_base(t)
  line("type", t.type)
  if t.basename ~= t.type then line("basename", t.basename) end
  if t.id then line("id", tostring(t.id)) end
  line("uuid", t.uuid)
  line("size", amount(t.size, t.unit) .. (t.exclusive and ", only given as a whole" or ""))
  line("free", amount(t.free, t.unit))
  line("state", t.state .. (t.blocked_by and (", below %s, which is not up"):format(t.blocked_by) or ""))
  if t.rank then line("rank", tostring(t.rank)) end
end

-- Prints a map as sorted lines; the label is on the first line.
local function show_map(label, map, text)
  local keys = tables.keys(map)
  for i, key in ipairs(keys) do line(i == 1 and label or "", text(key, map[key])) end
end

local function plain_entry(key, value) return value == true and key or key .. "=" .. tostring(value) end

local function data_entry(key, value) return key .. " = " .. core.json_encode(value, { sort = true }) end

local function edge_text(e, path)
  local relation = e.type .. (e.back and " (back: " .. e.back .. ")" or "")
  if e.source == path then return relation .. " -> " .. e.target end
  return relation .. " <- " .. e.source
end

-- Groups texts by subsystem. Returns the groups, and the list of subsystems in order.
local function by_subsystem(t)
  local texts, order = {}, {}
  for _, e in ipairs(t.edges) do
    local list = texts[e.subsystem]
    if not list then
      list = {}
      texts[e.subsystem], order[#order + 1] = list, e.subsystem
    end
    list[#list + 1] = edge_text(e, t.path)
  end
  return texts, order
end

local function show_edges(t)
  local texts, order = by_subsystem(t)
  for _, subsystem in ipairs(order) do
    local list = texts[subsystem]
    for i = 1, math.min(#list, EDGES) do line(i == 1 and subsystem or "", list[i]) end
    if #list > EDGES then line("", ("... %d more"):format(#list - EDGES)) end
  end
end

local function show_below(t)
  local types = tables.keys(t.below)
  for i, type in ipairs(types) do
    local row = t.below[type]
    line(i == 1 and "below" or "", ("%s: %d of %d free"):format(type, row.free, row.total))
  end
end

local function until_text(stop) return stop == core.null and ", no end" or " to " .. out.moment(stop) end

local BELOW = 20 -- jobs below a vertex that are listed

local function show_uses(t)
  for i, use in ipairs(t.uses) do
    local what = use.vertex ~= t.path and "has " .. use.vertex .. " as a whole"
      or use.exclusive and "has it as a whole" or use.amount == 0 and "shares it"
      or "has " .. amount(use.amount, t.unit)
    line(i == 1 and "used by" or "", ("%s, from %s%s, %s"):format(holder(use.job), out.moment(use.start),
      until_text(use["end"]), what))
  end
  local below = t.jobs_below or {}
  local names = table.concat(below, ", ", 1, math.min(#below, BELOW)) .. (#below > BELOW and (" and %d more"):format(#below - BELOW) or "")
  if below[1] then line(t.uses[1] and "" or "used by", ("job%s %s, below"):format(#below == 1 and "" or "s", names)) end
end

-- ---- the plan -----------------------------------------------------------------------------------------------

local ASCII = { [0] = ".", "-", "-", "=", "=", "+", "+", "*", "#" }
local BLOCKS = { [0] = "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

-- Returns the level of a cell of the bar, 0 to 8: 0 only if nothing is used, 8 only if all units are used.
local function level(used, size)
  if used <= 0 or size <= 0 then return 0 end
  return used >= size and 8 or math.max(1, math.min(7, used * 8 // size))
end

-- Returns the maximum of used units over [t0, t1).
local function used_in(t, t0, t1)
  local minimum = t.size
  for _, row in ipairs(t.plan) do
    local stop = row["end"] == core.null and math.huge or row["end"]
    if row.start < t1 and stop > t0 then minimum = math.min(minimum, row.available) end
  end
  return t.size - minimum
end

local function show_plan(t)
  local first, last = t.plan[1], t.plan[#t.plan]
  local marks, cells = out.style().blocks and BLOCKS or ASCII, {}
  local step = (last.start - first.start) / CELLS
  if #t.plan > 1 then
    for i = 1, CELLS do
      cells[i] = marks[level(used_in(t, first.start + (i - 1) * step, first.start + i * step), t.size)]
    end
  end
  local after = ("[%s]"):format(marks[level(t.size - last.available, t.size)])
  local bar = #t.plan > 1 and ("%s [%s] %s "):format(out.moment(first.start), table.concat(cells), out.moment(last.start))
    or out.moment(first.start) .. " "
  line("in use", bar .. after .. " no end")
  for _, row in ipairs(t.plan) do
    line("", ("from %s: %s free"):format(out.moment(row.start), amount(row.available, t.unit)))
  end
end

--- Prints the description of a vertex (see vertex_report.lua).
function M.show(v)
  local t = pool.describe(v)
  out.line(out.style().bold(t.path))
  show_base(t)
  show_map("properties", t.properties, plain_entry)
  show_map("tags", t.tags, plain_entry)
  show_map("data", t.data, data_entry)
  show_edges(t)
  show_below(t)
  show_uses(t)
  show_plan(t)
end

function M.json(v) out.json(pool.describe(v)) end

return M
