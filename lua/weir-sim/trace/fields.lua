--- fields.lua - the names of a job's fields in columns of CSV and keys of JSON lines.

local M = {}

local NAMES = {
  number = { "job_id", "id", "number", "jobid", "job" },
  submit = { "submit", "submit_time", "submission_time", "subtime", "arrival" },
  runtime = { "runtime", "run_time", "execution_time", "elapsed", "duration" },
  estimate = { "estimate", "requested_time", "walltime", "time_limit", "limit" },
  procs = { "procs", "processors", "cores", "nodes", "size", "requested_number_of_resources" },
  memory = { "memory", "memory_kb" },
  user = { "user", "user_id", "uid" }, bank = { "bank", "account", "group", "group_id" }, project = { "project" },
  queue = { "queue" }, qos = { "qos" }, urgency = { "urgency" }, priority = { "priority" },
  preemptible = { "preemptible", "preemptible_after" },
  nodes = { "node_count", "nnodes" }, recorded = { "recorded_start" }, megabytes = { "memory_mb" }, spread = { "spread" },
  gres = { "gres" }, features = { "features" }, name = { "name" }, request = { "request", "shape", "jobspec" },
}

local KIND = { number = true, name = true, request = true, user = true, bank = true, project = true, queue = true, qos = true,
  features = true }
--- The fields, sorted.
M.list = {}

local field_of, place_of = {}, {}
for field, names in pairs(NAMES) do
  M.list[#M.list + 1] = field
  for i, name in ipairs(names) do field_of[name], place_of[name] = field, i end
end

table.sort(M.list)

--- The field of a column or key, and the place of the name among the names of the field. nil for an irrelevant name.
function M.field(name)
  local known = name:lower():gsub("%s+", "_"):gsub("-", "_")
  return field_of[known], place_of[known]
end

--- The possible names of a field, as text.
function M.names(field) return table.concat(NAMES[field], ", ") end

-- Reads counts of generic resources, such as "gpu=4 nvme=1".
local function counts(x, name)
  local found = {}
  for word in tostring(x):gmatch "%S+" do
    local key, n = word:match "^([^=]+)=(%d+)$"
    if not key then return nil, ('%s: expected counts such as "gpu=4", not "%s"'):format(name, word:sub(1, 40)) end
    found[key] = math.tointeger(tonumber(n))
  end
  return next(found) and found or nil
end

--- Converts a value of a field, to a number where needed. Returns nil for an absent value; nil, message for an invalid
--- value, where `name` is the name of the field in the trace.
function M.value(field, x, name)
  if x == nil or x == "" or x == "-1" then return nil end
  if KIND[field] and type(x) ~= "string" and type(x) ~= "number" then
    return nil, ("%s: expected a text or a number, not a %s"):format(name, type(x))
  end
  if field == "gres" then return counts(x, name) end
  if field == "spread" then return x == "1" or x == 1 or x == true or nil end
  local n = tonumber(x)
  n = n and (math.tointeger(n) or n)
  if KIND[field] then return field ~= "name" and field ~= "request" and n or x end
  if not n or n ~= n then return nil, ('%s: expected a number, not "%s"'):format(name, tostring(x):sub(1, 40)) end
  if n < 0 and field ~= "priority" and field ~= "submit" then return nil end
  return n
end

return M
