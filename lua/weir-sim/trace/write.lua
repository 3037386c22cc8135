--- write.lua - jobs of a trace for trace.open, with all their fields: as a CSV, or as JSON lines where jobs have requests of their own.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

local COLUMNS = { { "job_id", "number" }, { "submit", "submit" }, { "runtime", "runtime" }, { "estimate", "estimate" },
  { "procs", "procs" }, { "node_count", "nodes" }, { "spread", "spread" }, { "memory_kb", "memory" }, { "memory_mb", "megabytes" },
  { "gres", "gres" }, { "user", "user" }, { "bank", "bank" }, { "queue", "queue" }, { "qos", "qos" }, { "features", "features" },
  { "priority", "priority" }, { "recorded_start", "recorded" } }

local function text_of(value)
  if value == nil then return "" end
  if value == true then return "1" end
  if type(value) == "table" then
    return table.concat(tables.map(tables.keys(value), function(key) return ("%s=%d"):format(key, value[key]) end), " ")
  end
  if type(value) == "number" then return math.tointeger(value) and ("%d"):format(value) or ("%.6f"):format(value):gsub("0+$", "") end
  return value:find '[",\r\n]' and '"' .. value:gsub('"', '""') .. '"' or value
end

--- The line with the names of the columns.
function M.head()
  return table.concat(tables.column(COLUMNS, 1), ",") .. "\n"
end

--- Returns the line of a job. A guessed estimate is left out.
function M.line(job)
  local cells = {}
  for i, column in ipairs(COLUMNS) do
    local value = job[column[2]]
    if column[2] == "estimate" and job.guessed then value = nil end
    cells[i] = text_of(value)
  end
  return table.concat(cells, ",") .. "\n"
end

--- Returns a job as a line of JSON, with a request, a jobspec as a table.
function M.json(job, request)
  local own = { jobspec = request }
  for _, column in ipairs(COLUMNS) do
    local value = job[column[2]]
    if not (column[2] == "estimate" and job.guessed) and type(value) ~= "table" then own[column[1]] = value end
  end
  return core.json_encode(own, { sort = true }) .. "\n"
end

return M
