--- weir policy list.

local core = require "weir.core"
local out = require "weir.cli.output"
local policy = require "weir.policy"
local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"

-- Describes a policy. For an unreadable policy the reason replaces the doc line.
local function describe(entry)
  local loaded, why = core.policy_load(entry.path)
  local row = { name = entry.name, path = entry.path }
  if not loaded then
    row.error = why
    return row
  end
  row.doc, row.version, row.hash, row.hooks = loaded.doc or "", loaded.version, loaded.hash, loaded.hooks
  row.options = next(loaded.options) and loaded.options or nil
  return row
end

local function describe_queue(entry)
  local sandbox, why = queue_policy.open(entry.path, function() end)
  local row = { name = entry.name, path = entry.path }
  if not sandbox then
    row.error = why
    return row
  end
  local _, _, doc = sandbox:call "about"
  local options = queue_policy.options(sandbox)
  row.doc, row.options = doc or "", next(options) and options or nil
  sandbox:close()
  return row
end

local function default_of(option)
  if option.default == nil then return "" end
  local value = type(option.default) == "table" and core.json_encode(option.default) or tostring(option.default)
  return " = " .. value
end

local function show_options(row)
  for _, key in ipairs(tables.keys(row.options)) do
    local option = row.options[key]
    local choices = option.choices and " (" .. table.concat(option.choices, ", ") .. ")" or ""
    out.line(("    %s%s  %s%s  %s"):format(key, default_of(option), option.type, choices, option.doc or ""))
  end
end

local function show_full(rows)
  for _, row in ipairs(rows) do
    out.line(("%s  %s"):format(out.style().bold(row.name), row.doc or "cannot be read: " .. row.error))
    out.line("    " .. row.path)
    show_options(row)
  end
end

return function(opts)
  local rows = core.array {}
  for i, entry in ipairs(opts.queue and queue_policy.list() or policy.list()) do
    rows[i] = (opts.queue and describe_queue or describe)(entry)
  end
  if opts.json then return out.json(rows) end
  if opts.verbose then return show_full(rows) end
  local cells = { { "name", "what it does" } }
  for _, row in ipairs(rows) do
    cells[#cells + 1] = { row.name, row.doc or "cannot be read: " .. row.error }
  end
  out.table(cells)
end
