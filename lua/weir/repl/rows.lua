--- rows.lua - lists of vertices, picks, allocations or flat tables as rows of texts with headings.

local kinds = require "weir.repl.kinds"
local out = require "weir.cli.output"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

--- Returns whether a vertex handle is a view of properties, tags or data of a vertex.
function M.is_view(x) return tostring(x):find " %(%a+%)$" ~= nil end

local function number(x)
  if x == math.huge then return "" end
  return math.type(x) == "float" and x == math.floor(x) and ("%d"):format(x) or tostring(x)
end

-- Formats a point in time: the date and time if the clock is that of the wall, else a number of seconds.
local function moment(t)
  if type(t) ~= "number" then return tostring(t) end
  return (t < texts.WALL or t == math.huge) and number(t) or texts.date(t)
end

local MOMENTS = { at = true, start = true, ["end"] = true, expires = true, time = true }

--- Formats a map on a line: keys, each with the value unless empty.
function M.words(map)
  local list = {}
  for key, value in pairs(map) do list[#list + 1] = value == true and key or key .. "=" .. tostring(value) end
  table.sort(list)
  return table.concat(list, " ")
end

local COLUMNS = {
  vertex = {
    { "path", function(v) return v.path end },
    { "type", function(v) return v.type end },
    { "state", function(v) return v.state end },
    { "free", function(v) return number(v.free) end },
    { "size", function(v) return number(v.size) end },
    { "unit", function(v) return v.unit or "" end },
    { "properties", function(v) return M.words(v.properties) end },
    { "tags", function(v) return M.words(v.tags) end },
  },
  pick = {
    { "path", function(p) return p.vertex.path end },
    { "amount", function(p) return number(p.amount) end },
    { "unit", function(p) return p.vertex.unit or "" end },
    { "whole", function(p) return p.exclusive and "yes" or "" end },
  },
  allocation = {
    { "id", function(a) return number(a.id) end },
    { "state", function(a) return a.state end },
    { "at", function(a) return moment(a.at) end },
    { "duration", function(a) return number(a.duration) end },
    { "policy", function(a) return a.policy and a.policy:match "^%S+" or "" end },
    { "has", function(a)
      local picks = a:vertices()
      local first = picks[1] and picks[1].vertex.path or ""
      return #picks > 1 and ("%s and %d more"):format(first, #picks - 1) or first
    end },
  },
}

local NUMBERS = { free = true, size = true, amount = true, id = true, at = true, duration = true, total = true, used = true }

--- Returns whether a column holds numbers.
function M.is_number(head) return NUMBERS[head] == true end

-- ---- lists of handles ---------------------------------------------------------------------------------------

local function filled(columns, list, most)
  local heads, cells, wanted = {}, {}, {}
  for i = 1, math.min(#list, most) do
    cells[i] = {}
    for c, column in ipairs(columns) do
      cells[i][c] = column[2](list[i])
      wanted[c] = wanted[c] or cells[i][c] ~= ""
    end
  end
  for c = #columns, 1, -1 do -- empty columns are left out
    if wanted[c] then
      table.insert(heads, 1, columns[c][1])
    else
      for _, row in ipairs(cells) do table.remove(row, c) end
    end
  end
  return heads, cells, #list
end

-- ---- lists of flat tables -----------------------------------------------------------------------------------

local function is_flat(row)
  for _, value in pairs(row) do
    if type(value) == "table" or type(value) == "function" then return false end
  end
  return next(row) ~= nil and #row == 0
end

local FIRST = { job = 1, id = 2, path = 3, name = 4, type = 5, state = 6, at = 7, start = 8, ["end"] = 9 }

local function in_order(a, b)
  local m, n = FIRST[a[1]] or 99, FIRST[b[1]] or 99
  if m ~= n then return m < n end
  return a[1] < b[1]
end

local function flat_columns(list)
  local columns, known = {}, {}
  for _, row in ipairs(list) do
    if not is_flat(row) then return nil end
    for key in pairs(row) do
      if type(key) ~= "string" then return nil end
      if not known[key] then
        known[key] = true
        columns[#columns + 1] = { key, function(r) return r[key] == nil and "" or MOMENTS[key] and moment(r[key]) or tostring(r[key]) end }
      end
    end
  end
  table.sort(columns, in_order)
  return #columns <= 10 and columns or nil
end

--- Returns headings, at most `most` rows, and the total number of rows; nil if the value has no form as rows.
function M.of(t, most)
  local kind, n = kinds.of_list(t)
  if kind == "vertex" and M.is_view(t[1]) then return nil end
  if COLUMNS[kind] then return filled(COLUMNS[kind], t, most) end
  if kind ~= "table" or n > 100000 then return nil end
  if kinds.of(t[1].vertex) == "vertex" and t[1].amount then return filled(COLUMNS.pick, t, most) end
  local columns = flat_columns(t)
  if columns then return filled(columns, t, most) end
end

-- ---- as documents -------------------------------------------------------------------------------------------

local function csv_cell(text) return text:find '[",\n]' and '"' .. text:gsub('"', '""') .. '"' or text end

local function csv_line(cells)
  out.line(table.concat(tables.map(cells, csv_cell), ","))
end

--- Prints a value as CSV: rows, or a single cell.
function M.csv(x)
  local list = kinds.of(x) == "table" and x or { x }
  local heads, cells = M.of(list, math.huge)
  if not heads then return csv_line { tostring(x) } end
  csv_line(heads)
  for _, row in ipairs(cells) do csv_line(row) end
end

return M
