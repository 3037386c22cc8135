--- weir find: the vertices satisfying an expression, as a list or as a graph.

local absent = require "weir.view.absent"
local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local pool = require "weir.cli.vertex_report"
local texts = require "weir.texts"
local view = require "weir.view"

local M = {
  name = "find",
  doc = "List the vertices that match an expression.",
  usage = "[-r] RESOURCES [OPTION...] EXPRESSION",
  operand = "EXPRESSION", min = 1,
  machine = true,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "F", "format", "FORMAT", "paths (the default), names, JSON or a count", choices = { "paths", "names", "json", "count" } },
    { "g", "graph", "FORMAT", "as a graph, with descendants and ancestors",
      choices = { "tree", "jgf", "dot" } },
    { "s", "start", "URI", "search only at and below this vertex" },
    { "S", "subsystem", "HIERARCHY", "search this hierarchy, such as power; --start and the order refer to it" },
    { nil, "flow", "NAME[=UNITS]", "how many units of a subsystem can reach all vertices found "
      .. "at the same time (UNITS each), and which vertices limit them" },
    inputs.job_options[1], inputs.job_options[2],
  },
  notes = [[
An EXPRESSION is made of tests, "and", "or", "not" and parentheses:

  type=node and state=up and not tag=maintenance and (property=bigmem or name=n[1-16])

  type basename unit uuid path                = !=               type: a list such as core,gpu; path: with * and ?
  name                                        = !=               a list such as n[1-16,20],m1, or with * and ?
  state                                       = !=               up, down, degraded, failing, unknown, null, draining
  id rank                                     = != < <= > >=     also sets, such as id=1-3,7
  size free allocated                         = != < <= > >=     units: in all, available now, in use; alone: any
  property=KEY  tag=KEY  data=KEY             whether the key exists; property.KEY alone does the same
  property.KEY  tag.KEY  data.KEY             = != < <= > >=     its value
  idle                                        no job has any part of it or of its descendants
  job=ID                                      that job has a part of it
  exclusive  leaf                             only ever allocated as a whole; nothing is below it

Quote values that contain blanks or parentheses.

  weir find -r tiny.graphml -j slot=2/node "type=core and job=1"
  weir find -r switched.json --flow network=40 "type=node and path=*/rack3/*"
  weir find -r tiny.graphml --graph dot "type=gpu and free>=1"

Exit status: 0 something was found (and --flow UNITS reach each), 1 otherwise, 2 wrong usage or unreadable input.]],
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
end

-- ---- flows --------------------------------------------------------------------------------------------------

-- Reads NAME or NAME=UNITS.
local function read_flow(text)
  local name, units = text:match "^([^=]+)=(%d+)$"
  units = math.tointeger(tonumber(units))
  if name and (not units or units == 0) or not name and (text == "" or text:find("=", 1, true)) then
    out.fail(2, "find: --flow %s: expected a subsystem such as network, or network=40 for 40 units each", text)
  end
  return name or text, units
end

local function flow_json(found, flow)
  local t = { amount = flow.amount, all = flow.all, served = core.array {}, cut = core.array {} }
  for i, v in ipairs(found) do t.served[i] = { path = v.path, amount = flow.served[i] } end
  for i, limit in ipairs(flow.cut) do t.cut[i] = { path = limit.unit.path, left = limit.left, size = limit.size } end
  out.json(t)
end

-- The units of a cut that have equally much left, in groups: a list of {names =, left =, size =}.
local function alike(cut)
  local groups, by = {}, {}
  for _, limit in ipairs(cut) do
    local key = ("%d of %d"):format(limit.left, limit.size)
    if not by[key] then
      by[key] = { names = {}, left = limit.left, size = limit.size }
      groups[#groups + 1] = by[key]
    end
    table.insert(by[key].names, limit.unit.name)
  end
  return groups
end

local function folded(names)
  local list = core.hostlist(names)
  return list and tostring(list) or table.concat(names, ",")
end

local function flow_text(found, flow, name, units)
  local amount = texts.number(flow.amount)
  if units then amount = amount .. " of " .. texts.number(units * #found) end
  out.line(("%s units of %s reach %d %s"):format(amount, name, #found, #found == 1 and "vertex" or "vertices"))
  for _, group in ipairs(alike(flow.cut)) do
    local left, size = texts.number(group.left), texts.number(group.size)
    out.line(("%s %s %s %s%s"):format(folded(group.names), #group.names == 1 and "has" or "have", left,
      group.left == group.size and "in all" or ("of %s left"):format(size), #group.names == 1 and "" or " each"))
  end
  if #flow.cut == 0 and not flow.all then out.line "no further way leads there from a source" end
end

local function show_flow(g, found, opts)
  local name, units = read_flow(opts.flow)
  if #found == 0 then return 1 end
  local flow = out.check(g:flow { subsystem = name, to = found, units = units })
  if opts.format == "json" then flow_json(found, flow) else flow_text(found, flow, name, units) end
  return (units and flow.all or not units and flow.amount > 0) and 0 or 1
end

-- ---- the command --------------------------------------------------------------------------------------------

-- Words that are no fields, and the expressions for them.
local MEANT = {
  partition = "property=NAME finds the nodes of a partition", feature = "property=NAME finds what has a feature",
  features = "property=NAME finds what has a feature", host = "name=node[0-3] finds nodes", hostname = "name=node[0-3] finds nodes",
  node = "name=node[0-3] finds nodes, type=node all of them", nodes = "type=node finds them",
}

-- Returns ": " and what an expression that cannot be read was to say, perhaps; or "".
local function meant(why, expression)
  local field = why:match 'unknown field "([%w_]+)"'
  if field and MEANT[field] then return "; " .. MEANT[field] end
  if field and expression == field and field:find "%d$" then return ("; name=%s finds a vertex by its name"):format(field) end
  return ""
end

local function compile(expression)
  local query, why = core.query(expression)
  if not query then out.fail(2, "find: %s, in: %s%s", why, expression, meant(why, expression)) end
  return query
end

function M.run(opts)
  if opts.graph and opts.format then out.fail(2, "find: --graph and -F %s cannot be combined", opts.format) end
  if opts.flow and (opts.graph or opts.format and opts.format ~= "json") then
    out.fail(2, "find: --flow prints a few lines, or JSON with -F json")
  end
  local query = compile(table.concat(opts, " "))
  local g <close> = inputs.booked(opts)
  local where = { start = opts.start and out.check(g:vertex(opts.start)) or nil, subsystem = opts.subsystem }
  if opts.graph then return find_graph(g, query, where, opts.graph) end
  local found = out.check(g:find(query, where))
  if opts.flow then return show_flow(g, found, opts) end
  SHOW[opts.format or "paths"](found)
  if #found > 0 then return 0 end
  local words, strange = absent.vertex(g, table.concat(opts, " "))
  if strange and not opts.format then out.warn("find: " .. words) end
  return 1
end

return M
