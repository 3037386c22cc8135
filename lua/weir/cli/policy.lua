--- weir policy: the policies that can be given by name.

local core = require "weir.core"
local out = require "weir.cli.output"
local policy = require "weir.policy"
local suggest = require "weir.suggest"

local M = {
  name = "policy",
  doc = "List the placement policies that -p takes by name.",
  usage = "list [--json]",
  operand = "ACTION", min = 1, max = 1,
  options = {
    { nil, "json", nil, "as JSON, with the files" },
  },
  notes = [[
Policies are looked for in the directories of WEIR_POLICY_PATH (separated by colons), then among those that come
with weir. A name with a "/" in it or ending in ".lua" is a file.]],
}

-- A policy that cannot be read is listed with the reason in place of its doc line.
local function describe(entry)
  local loaded, why = core.policy_load(entry.path)
  local row = { name = entry.name, path = entry.path }
  if loaded then row.doc = loaded.doc or "" else row.error = why end
  return row
end

local function list(opts)
  local rows = core.array {}
  for i, entry in ipairs(policy.list()) do rows[i] = describe(entry) end
  if opts.json then return out.json(rows) end
  local cells = { { "name", "what it does" } }
  for _, row in ipairs(rows) do
    cells[#cells + 1] = { row.name, row.doc or "cannot be read: " .. row.error }
  end
  out.table(cells)
end

local ACTIONS = { list = list }

function M.run(opts)
  local action = ACTIONS[opts[1]]
  if not action then
    out.fail(2, 'policy: "%s" is nothing to do%s; list is', opts[1], suggest.hint(opts[1], { "list" }))
  end
  action(opts)
  return 0
end

return M
