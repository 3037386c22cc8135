--- tables.lua - the test data: its files, and the tables of test cases in some of the files, in JSON.

local weir = require "weir"

local M = { root = os.getenv "WEIR_DATA" or "../shared/data" }

--- The text of a file of the test data, or nil.
function M.read(name)
  local file = io.open(M.root .. "/" .. name, "rb")
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

-- A value with null as nil, and constants by name.
local function plain(value)
  if value == weir.null then return nil end
  return type(value) == "table" and value.expr or value
end

--- The tables of a file by name, each a list of rows {n = columns, ...}; nil where the file does not exist. The end
--- marks of tables in C, a row that is null or {0}, are left out.
function M.load(name)
  local text = M.read(name)
  if not text then return nil end
  local out = {}
  for table_name, rows in pairs(assert(weir.json.decode(text)).tables) do
    out[table_name] = {}
    for _, row in ipairs(rows) do
      if type(row) ~= "table" then row = { row } end
      local columns = { n = #row }
      for i = 1, #row do columns[i] = plain(row[i]) end
      if columns.n > 1 or type(columns[1]) == "string" then table.insert(out[table_name], columns) end
    end
  end
  return out
end

return M
