--- weir find: the vertices that an expression holds for.

local core = require "weir.core"
local find = require "weir.find"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"

local M = {
  name = "find",
  doc = "List the vertices that an expression holds for.",
  usage = "-r RESOURCES [OPTION...] EXPRESSION",
  operand = "EXPRESSION", min = 1,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "F", "format", "FORMAT", "paths (the default), or one a line", choices = { "paths", "names", "json", "count" } },
  },
  notes = [[
An EXPRESSION is made of tests, "and", "or", "not" and parentheses:

  type=node and state=up and not tag=maintenance and (property=bigmem or name=n[1-16])

  type basename name unit state path uuid     = !=               name takes a list such as n[1-16,20],m1
  id rank size free                           = != < <= > >=     free: units that are available now
  property=KEY  tag=KEY                       whether the key is there
  property.KEY  tag.KEY                       = != < <= > >= with its value, or alone: whether it is there
  exclusive                                   only ever allocated as a whole

Exit status: 0 something was found, 1 nothing was, 2 wrong use or unreadable input.]],
}

local function as_json(v)
  local unit = v.unit ~= "" and v.unit or nil
  return { path = v.path, type = v.type, name = v.name, id = v.id, size = v.size, unit = unit, free = v.free,
    state = v.state, rank = v.rank }
end

local SHOW = {}

function SHOW.paths(found)
  for _, v in ipairs(found) do out.line(v.path) end
end

function SHOW.names(found)
  for _, v in ipairs(found) do out.line(v.name) end
end

function SHOW.count(found) out.line(tostring(#found)) end

function SHOW.json(found)
  local list = core.array {}
  for i, v in ipairs(found) do list[i] = as_json(v) end
  out.json(list)
end

function M.run(opts)
  local expression = table.concat(opts, " ")
  local test, why = find.compile(expression)
  if not test then out.fail(2, "find: %s, in: %s", why, expression) end
  local g <close> = inputs.resources(opts)
  local found = out.check(find.vertices(g, expression))
  SHOW[opts.format or "paths"](found)
  return #found > 0 and 0 or 1
end

return M
