--- weir show: a machine as a tree, as totals by type, as a single pool in full, or as a picture or table.

local core = require "weir.core"
local full = require "weir.cli.show_pool"
local guess = require "weir.cli.guess"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local picture = require "weir.cli.picture"
local pool = require "weir.cli.vertex_report"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local totals = require "weir.cli.totals"
local view = require "weir.view"

local M = {
  name = "show",
  doc = "Show a machine, a part of it below one vertex, or one pool in detail.",
  usage = "[-r RESOURCES] [OPTION...] [FILE] [URI]",
  operand = "FILE or URI", max = 2,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help .. "; local if not given" },
    { nil, "tree", nil, "a tree (the default); identical pools share a line" },
    { "d", "depth", "N", "the number of levels of the tree", kind = "count" },
    { "a", "all", nil, "do not shorten long lists of siblings in the tree" },
    { "S", "subsystem", "NAME", "the tree of another hierarchy than containment, such as power" },
    { "t", "totals", nil, "a table by type: total, free, idle, and by state" },
    { "f", "full", nil, "one pool: its data, edges, jobs, and use over time" },
    { nil, "json", nil, "the tree, the totals or the pool as JSON" },
    inputs.job_options[1], inputs.job_options[2],
    { nil, "reserve", nil, "jobs of -j that do not fit now are reserved at the earliest time" },
  },
  notes = [[
A URI is a path, or a path with its hierarchy: /cluster0/rack0, containment:/cluster0/rack0, power:/panel0/pdu1.
A unique name is enough: node3, rack1/core0 (levels may be left out).

  weir show                         this machine
  weir show tiny.graphml            the machine of a file, as with -r
  weir show -r tiny.graphml --totals /tiny0/rack0
  weir show -r tiny.graphml -j slot=2/node --full /tiny0/rack0/node0
  weir show -r tiny.graphml -j slot=1/node -j slot=2/core --svg -o tiny.svg
  weir show -r centre.db --html -o centre.html
  weir show -r centre.db --timeline --by rack -o racks.svg]],
}
table.move(picture.options, 1, #picture.options, #M.options + 1, M.options)

-- Limit of runs of siblings shown below a vertex without --all.
local SIBLINGS = 40

-- Returns the subsystem requested by -S or by the URI.
local function subsystem_of(g, opts)
  local name = opts.subsystem or opts[1] and opts[1]:match "^([^/:]+):/" or "containment"
  if tables.has(g:subsystems(), name) then return name end
  out.fail(2, 'show: there is no subsystem "%s" here%s', name, suggest.among(name, g:subsystems()))
end

-- Returns the vertices to start from: the vertex of the URI, or the roots.
local function tops(g, uri, subsystem)
  if not uri then return g:roots(subsystem) end
  return { (out.check(g:vertex(uri))) }
end

-- ---- tree ---------------------------------------------------------------------------------------------------

local function show_tree(g, opts)
  local subsystem = subsystem_of(g, opts)
  for _, v in ipairs(tops(g, opts[1], subsystem)) do
    out.tree(view.vertex(v, { depth = opts.depth, limit = not opts.all and SIBLINGS or nil, subsystem = subsystem }))
  end
end

local function as_json(v, depth, kids)
  local t, children = pool.base(v), core.array {}
  if depth <= 1 then return t end
  for child in kids(v) do children[#children + 1] = as_json(child, depth - 1, kids) end
  t.children = #children > 0 and children or nil
  return t
end

local function tree_json(g, opts)
  local subsystem = subsystem_of(g, opts)
  local kids = view.kids(subsystem)
  for _, v in ipairs(tops(g, opts[1], subsystem)) do out.json(as_json(v, opts.depth or math.huge, kids)) end
end

-- ---- totals, one pool ---------------------------------------------------------------------------------------

local function show_totals(g, opts)
  local rows = totals.rows(g, opts[1] and tops(g, opts[1])[1])
  if opts.json then totals.json(rows) else totals.show(rows) end
end

local function show_full(g, opts)
  local v = tops(g, opts[1])[1]
  if opts.json then full.json(v) else full.show(v) end
end

-- ---- the command --------------------------------------------------------------------------------------------

local function check_options(opts)
  local chosen = {}
  for _, name in ipairs { "tree", "totals", "full", table.unpack(picture.formats) } do
    if opts[name] then chosen[#chosen + 1] = "--" .. name end
  end
  if #chosen > 1 then out.fail(2, "show: %s cannot be combined", table.concat(chosen, " and ")) end
  picture.check(opts)
  inputs.check_output(opts.output, "show: --output", { opts.resources, opts.policy, table.unpack(opts.job or {}) })
  if opts.reserve and not opts.job then out.fail(2, "show: --reserve is for -j") end
  if opts.full and not opts[1] then out.fail(2, "show: --full shows one pool: expected its URI") end
  if opts.subsystem and chosen[1] and chosen[1] ~= "--tree" then
    out.fail(2, "show: -S %s is for trees, not for %s", opts.subsystem, chosen[1])
  end
  if opts.depth == 0 then out.fail(2, "show: --depth: there is always one level") end
end

--- Shows a machine. graph(): the machine, made once the options are known to be right.
function M.show(opts, graph)
  check_options(opts)
  local g <close> = graph()
  if picture.format(opts) then
    picture.show(g, opts)
  elseif opts.totals then
    show_totals(g, opts)
  elseif opts.full then
    show_full(g, opts)
  else
    (opts.json and tree_json or show_tree)(g, opts)
  end
end

function M.run(opts)
  guess.resources(opts, "show")
  if opts[2] then out.fail(2, "show: one URI too many: %s", opts[2]) end
  M.show(opts, function() return inputs.booked(opts) end)
end

return M
