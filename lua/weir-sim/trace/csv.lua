--- csv.lua - CSV with a header and a line per job, quoted as in RFC 4180.

local failure = require "weir.failure"
local fields = require "weir.trace.fields"

local M = {}

-- Returns the cells of a line; or nil, message.
local function split(line)
  local cells, at = {}, 1
  line = line:gsub("\r$", "")
  if not line:find('"', 1, true) then
    for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
    return cells
  end
  while at <= #line + 1 do
    local cell, stop
    if line:sub(at, at) == '"' then
      stop = at
      repeat stop = line:find('"', stop + 1, true) until not stop or line:sub(stop + 1, stop + 1) ~= '"' or (function()
        stop = stop + 1
      end)()
      if not stop then return nil, "a quote is not closed" end
      cell, stop = line:sub(at + 1, stop - 1):gsub('""', '"'), stop + 1
    else
      stop = line:find(",", at, true) or #line + 1
      cell = line:sub(at, stop - 1)
    end
    if stop <= #line and line:sub(stop, stop) ~= "," then return nil, "expected a comma behind a quote" end
    cells[#cells + 1], at = cell, stop + 1
  end
  return cells
end

local function read_header(trace, lines)
  local line = lines() or ""
  local columns, seen = {}, {}
  for i, name in ipairs(split(line:gsub("^\xef\xbb\xbf", "")) or {}) do
    name = name:match "^%s*(.-)%s*$"
    local field = fields.field(name)
    if field and not seen[field] then columns[i], seen[field] = { field = field, name = name }, true end
  end
  for _, field in ipairs { "submit", "runtime" } do
    if not seen[field] then failure.raise(("%s:1: no column is the %s (%s)"):format(trace.path, field, fields.names(field))) end
  end
  if not seen.procs and not seen.request then
    failure.raise(("%s:1: no column says what jobs ask for (%s, %s)"):format(trace.path, fields.names "procs", fields.names "request"))
  end
  trace.detailed = seen.nodes
  return columns
end

local function read_job(columns, cells)
  local job = {}
  for i, column in pairs(columns) do
    local value, wrong = fields.value(column.field, cells[i], column.name)
    if wrong then return nil, wrong end
    job[column.field] = value
  end
  return job
end

--- Returns a source of jobs, as swf.reader does.
function M.reader(trace, lines)
  local columns = read_header(trace, lines)
  for _, column in pairs(columns) do trace.requests = trace.requests or column.field == "request" end
  return function()
    local line, n = lines()
    while line and not line:find "%S" do line, n = lines() end
    if not line then return end
    local cells, wrong = split(line)
    local job
    if cells then job, wrong = read_job(columns, cells) end
    return job, n, wrong
  end
end

return M
