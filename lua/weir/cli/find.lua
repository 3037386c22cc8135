--- weir find: the vertices satisfying an expression, as a list or as a graph.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local pool = require "weir.cli.vertex_report"
local view = require "weir.view"

local M = {
  name = "find",
  doc = "List the vertices that an expression holds for.",
  usage = "-r RESOURCES [OPTION...] EXPRESSION",
  operand = "EXPRESSION", min = 1,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "F", "format", "FORMAT", "paths (the default), or one a line", choices = { "paths", "names", "json", "count" } },
    { "g", "graph", "FORMAT", "as a graph of their own, with what is below and above them",
      choices = { "tree", "jgf", "dot" } },
    { "s", "start", "URI", "look only there and below" },
    { "S", "subsystem", "HIERARCHY", "look in this hierarchy, such as power: start and order are those of it" },
    inputs.job_options[1], inputs.job_options[2],
  },
  notes = [[
An EXPRESSION is made of tests, "and", "or", "not" and parentheses:

  type=node and state=up and not tag=maintenance and (property=bigmem or name=n[1-16])

  type basename unit uuid path                = !=               type: a list such as core,gpu; path: * and ? are any
  name                                        = !=               a list such as n[1-16,20],m1, or with * and ?
  state                                       = !=               up, down, degraded, failing, unknown, null, draining
  id rank                                     = != < <= > >=     also sets, such as id=1-3,7
  size free allocated                         = != < <= > >=     units: in all, available now, in use; alone: any
  property=KEY  tag=KEY  data=KEY             whether the key is there; so does property.KEY alone
  property.KEY  tag.KEY  data.KEY             = != < <= > >=     its value
  idle                                        nobody has any of it, nor of what is below it
  job=ID                                      what that job has something of
  exclusive  leaf                             only ever allocated as a whole; nothing is below it

Values with blanks or parentheses in them are put in quotes.

  weir find -r tiny.graphml -j slot=2/node "type=core and job=1"
  weir find -r tiny.graphml --graph dot "type=gpu and free>=1"

Exit status: 0 something was found, 1 nothing was, 2 wrong use or unreadable input.]],
}

-- ---- lists --------------------------------------------------------------------------------------------------

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
  for i, v in ipairs(found) do list[i] = pool.base(v) end
  out.json(list)
end

-- ---- graphs -------------------------------------------------------------------------------------------------

local function show_graph(found, format)
  if format ~= "tree" then return out.write((out.check(found:format(format)):gsub("\n*$", "\n"))) end
  for _, root in ipairs(found:roots()) do out.tree(view.vertex(root)) end
end

local function find_graph(g, query, where, format)
  where.as = "graph"
  local found <close> = out.check(g:find(query, where))
  if found:count() == 0 then return 1 end
  show_graph(found, format)
  return 0
end

-- ---- the command --------------------------------------------------------------------------------------------

local function compile(expression)
  local query, why = core.query(expression)
  if not query then out.fail(2, "find: %s, in: %s", why, expression) end
  return query
end

function M.run(opts)
  if opts.graph and opts.format then out.fail(2, "find: --graph and -F %s: one of them is wanted", opts.format) end
  local query = compile(table.concat(opts, " "))
  local g <close> = inputs.booked(opts)
  local where = { start = opts.start and out.check(g:vertex(opts.start)) or nil, subsystem = opts.subsystem }
  if opts.graph then return find_graph(g, query, where, opts.graph) end
  local found = out.check(g:find(query, where))
  SHOW[opts.format or "paths"](found)
  return #found > 0 and 0 or 1
end

return M
