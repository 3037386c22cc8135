--- weir show: a machine as a tree, as totals by type, or as a picture for Graphviz.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local view = require "weir.view"

local M = {
  name = "show",
  doc = "Show a machine, or what is below one vertex of it.",
  usage = "[-r RESOURCES] [OPTION...] [URI]",
  operand = "URI", max = 1,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help .. " (the default)" },
    { nil, "tree", nil, "a tree (the default); pools that are alike share a line" },
    { "d", "depth", "N", "only so many levels of the tree", kind = "count" },
    { "a", "all", nil, "do not shorten long lists of siblings in the tree" },
    { "t", "totals", nil, "a table by type: in all, free now, and in pools that nobody uses" },
    { nil, "dot", nil, "the graph in Graphviz's language, all of it" },
    { nil, "json", nil, "the tree or the totals as JSON" },
  },
  notes = [[
A URI is a path, or a path with its hierarchy: /cluster0/rack0 or containment:/cluster0/rack0.

  weir show                         this machine
  weir show -r tiny.graphml --totals /tiny0/rack0]],
}

-- More runs than this below one vertex are cut, unless --all is given.
local SIBLINGS = 40

-- The vertices to start from: the one that is asked for, or the roots.
local function tops(g, uri)
  if not uri then return g:roots() end
  return { (out.check(g:vertex(uri))) }
end

-- ---- tree ---------------------------------------------------------------------------------------------------

local function show_tree(g, opts)
  for _, v in ipairs(tops(g, opts[1])) do
    out.tree(view.vertex(v, { depth = opts.depth, limit = not opts.all and SIBLINGS or nil }))
  end
end

local function map_of(view_of_map)
  local t = {}
  for k, v in pairs(view_of_map) do t[k] = v end
  return next(t) and t or nil
end

local function as_json(v, depth)
  local unit = v.unit ~= "" and v.unit or nil
  local t = {
    path = v.path, type = v.type, name = v.name, id = v.id, size = v.size, unit = unit, free = v.free,
    state = v.state, rank = v.rank, properties = map_of(v.properties), tags = map_of(v.tags),
  }
  if depth <= 1 or v:nchildren() == 0 then return t end
  t.children = core.array {}
  for child in v:children() do t.children[#t.children + 1] = as_json(child, depth - 1) end
  return t
end

local function tree_json(g, opts)
  for _, v in ipairs(tops(g, opts[1])) do out.json(as_json(v, opts.depth or math.huge)) end
end

-- ---- totals -------------------------------------------------------------------------------------------------

-- The unit of a type is that of its first pool.
local function unit_of(g, type)
  local step, walk = g:walk { type = type }
  local unit = step(walk).unit
  return unit ~= "" and unit or nil
end

local function totals(g, uri)
  local rows, sums = {}, g:aggregate(uri and tops(g, uri)[1])
  for _, type in ipairs(g:types()) do
    local row = sums[type]
    if row and row.total > 0 then
      rows[#rows + 1] = { type = type, total = row.total, free = row.free, idle = row.idle, unit = unit_of(g, type) }
    end
  end
  return rows
end

local function show_totals(g, opts)
  local rows = { { "type", "total", "free", "idle", "unit" } }
  for _, row in ipairs(totals(g, opts[1])) do
    rows[#rows + 1] = { row.type, tostring(row.total), tostring(row.free), tostring(row.idle), row.unit or "" }
  end
  out.table(rows, { false, true, true, true })
end

local function totals_json(g, opts)
  local by_type = {}
  for _, row in ipairs(totals(g, opts[1])) do
    by_type[row.type] = { total = row.total, free = row.free, idle = row.idle, unit = row.unit }
  end
  out.json(by_type)
end

-- ---- the command --------------------------------------------------------------------------------------------

local function show_dot(g, opts)
  if opts[1] then out.fail(2, "show: --dot draws the whole graph: leave out %s", opts[1]) end
  out.write((out.check(g:format "dot")))
end

local function check_options(opts)
  local chosen = {}
  for _, name in ipairs { "tree", "totals", "dot" } do
    if opts[name] then chosen[#chosen + 1] = "--" .. name end
  end
  if #chosen > 1 then out.fail(2, "show: %s: one of them is wanted", table.concat(chosen, " and ")) end
  if opts.dot and opts.json then out.fail(2, "show: --json is for trees and totals, not for --dot") end
  if opts.depth == 0 then out.fail(2, "show: --depth: there is always one level") end
end

function M.run(opts)
  check_options(opts)
  local g <close> = inputs.resources(opts)
  if opts.dot then
    show_dot(g, opts)
  elseif opts.totals then
    (opts.json and totals_json or show_totals)(g, opts)
  else
    (opts.json and tree_json or show_tree)(g, opts)
  end
  return 0
end

return M
