--- totals.lua - the table of weir show --totals: units by type, and by state unless all resources are up.

local core = require "weir.core"
local out = require "weir.cli.output"

local M = {}

local function quote(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

-- Returns the unit of a type, taken from the first pool. The expression also finds pools outside of containment,
-- unlike the walk.
local function unit_of(g, type)
  local step, walk = g:walk { type = type }
  local v = step(walk) or g:find("type=" .. quote(type))[1]
  return v and v.unit ~= "" and v.unit or nil
end

-- Returns the nearest ancestor's state other than "up", or nil.
local function state_above(v)
  local up = v and v:parent()
  while up and up.state == "up" do up = up:parent() end
  return up and up.state
end

-- Returns units by type and state, below `top` (nil: everywhere); nil if all vertices are up. The state of a vertex
-- covers all descendants without a state other than "up".
local function by_state(g, top)
  if #g:find "not state=up" == 0 then return nil end
  local sums, state = {}, {}
  for _, v in ipairs(g:find("size>=0", { start = top })) do
    local parent = v:parent()
    local above = v == top and state_above(top) or parent and state[parent]
    state[v] = v.state ~= "up" and v.state or above
    if v ~= top then
      local row = sums[v.type] or {}
      row[state[v] or "up"] = (row[state[v] or "up"] or 0) + v.size
      sums[v.type] = row
    end
  end
  return sums
end

--- Returns rows of {type=, total=, free=, idle=, unit=, states={up=...}}, without types of zero units.
function M.rows(g, top)
  local rows, sums, states = {}, g:aggregate(top, { all = true }), by_state(g, top)
  for _, type in ipairs(g:types()) do
    local row = sums[type]
    if row and row.total > 0 then
      rows[#rows + 1] = { type = type, total = row.total, free = row.free, idle = row.idle, unit = unit_of(g, type),
        states = states and states[type] or nil }
    end
  end
  return rows
end

--- Returns the units of a row that are up or degraded, so that jobs may get them.
function M.up(row)
  if not row.states then return row.total end
  return (row.states.up or 0) + (row.states.degraded or 0)
end

-- Returns the states with units in any row; empty if all vertices are up.
local function states_in(rows)
  local seen, list = {}, {}
  for _, row in ipairs(rows) do
    for state in pairs(row.states or {}) do seen[state] = true end
  end
  for _, state in ipairs(core.states) do
    if seen[state] then list[#list + 1] = state end
  end
  return #list == 1 and list[1] == "up" and {} or list
end

--- Prints rows as a table.
function M.show(rows)
  local states, heads = states_in(rows), { "type", "total", "free", "idle" }
  local lines, right = { table.move(states, 1, #states, 5, heads) }, { false }
  heads[#heads + 1] = "unit"
  for _, row in ipairs(rows) do
    local line = { row.type, tostring(row.total), tostring(row.free), tostring(row.idle) }
    for _, state in ipairs(states) do line[#line + 1] = tostring(row.states and row.states[state] or 0) end
    line[#line + 1] = row.unit or ""
    lines[#lines + 1] = line
  end
  for i = 2, 4 + #states do right[i] = true end
  out.table(lines, right)
end

--- Prints rows as JSON, by type.
function M.json(rows)
  local by_type = {}
  for _, row in ipairs(rows) do
    by_type[row.type] = { total = row.total, free = row.free, idle = row.idle, unit = row.unit, states = row.states }
  end
  out.json(by_type)
end

return M
