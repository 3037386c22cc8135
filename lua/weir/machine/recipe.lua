--- recipe.lua - machines as nested Lua tables.
--
--   { type = "cluster", { type = "rack", count = 4, { type = "node", count = 16, { type = "core", count = 8 } } } }
--
-- Each table describes a kind of pool: named keys are the fields of FIELDS below, the array part holds the children.
-- A table may be kept in a variable and used in several places. Ids count up from `id` as in a synthetic string: per
-- nearest node for pools below a node, per machine for all others, or as `scope` says; `id = false` gives no id.
-- Pools of type "node" without a rank get the ranks 0, 1, ... in preorder; `rank = false` gives no rank.
--
-- The outermost table may also have `beside`, a list of tables of pools outside of its tree, and `edges`, a list of
-- { source = PATH, targets = {PATH, ...}, subsystem = NAME, type = WORD, back = WORD }.

local bounds = require "weir.machine.bounds"
local chunk = require "weir.machine.sandboxed_file"
local core = require "weir.core"
local failure = require "weir.failure"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local DEPTH = 199           -- levels of the containment tree
local POOLS = 0x3ffffff     -- pools of a table, at most
local LIMIT = math.maxinteger // 4

-- ---- checking -----------------------------------------------------------------------------------------------

-- Raises {text, code}, caught in `guarded`.
local function fail(path, ...) failure.raise(path .. ": " .. string.format(...)) end

local function show(value)
  if type(value) == "string" then return (("%q"):format(value:sub(1, 40)):gsub("\n", "n")) end
  return type(value) == "number" and tostring(value) or "a " .. type(value)
end

local function integer(min, max)
  return function(value)
    local n = math.type(value) and math.tointeger(value)
    if n and n >= min and n <= max then return nil end
    return ("an integer from %d to %d"):format(min, max)
  end
end

local function text(value)
  if type(value) ~= "string" or value == "" then return "a text" end
  if #value > 65536 then return "a text of at most 65536 bytes" end
  if value:find "%c" or value:find "\xC2[\x80-\x9F]" or not utf8.len(value) then return "a text in UTF-8 without control characters" end
end

-- A text usable as a component of a path.
local function word(value)
  return text(value) or value:find("/", 1, true) and 'a text without "/"' or nil
end

local function optional_id(value)
  if value ~= false then return integer(0, LIMIT)(value) end
end

local function boolean(value)
  if type(value) ~= "boolean" then return "true or false" end
end

local function scope(value)
  if value ~= "local" and value ~= "global" then return '"local" or "global"' end
end

local function scalar(value)
  local kind = type(value)
  return kind == "string" or kind == "number" or kind == "boolean"
end

-- Whether the core refuses a text as a key or value of a property.
local function unfit(value)
  return type(value) == "string" and (#value > 65536 or value:find("\0", 1, true) or not utf8.len(value))
end

-- Properties or tags: {bigmem=true, speed=3} or {"bigmem", "fast"}.
local function map(value)
  if type(value) ~= "table" then return "a table of keys and values" end
  for k, v in pairs(value) do
    local named = type(k) == "string" and scalar(v)
    local listed = math.type(k) == "integer" and type(v) == "string"
    if not named and not listed then return "a table such as {bigmem=true, speed=3}" end
    if unfit(k) or unfit(v) then return "a table of texts in UTF-8 of at most 65536 bytes, without zero bytes," end
  end
end

local function state(value)
  if tables.has(core.states, value) then return nil end
  return "one of " .. table.concat(core.states, ", ")
end

-- Whether a value can be extended data: texts, numbers, booleans and tables of these, not too deep.
local function is_data(value, deep)
  if type(value) ~= "table" then return scalar(value) and not unfit(value) end
  if deep == 0 then return false end
  for k, v in pairs(value) do
    if not (type(k) == "string" or math.type(k) == "integer") or unfit(k) or not is_data(v, deep - 1) then return false end
  end
  return true
end

-- Returns the number of scalars in a value, for a table those at any depth.
local function leaves(value)
  if type(value) ~= "table" then return 1 end
  local n = 0
  for _, v in pairs(value) do n = n + leaves(v) end
  return n
end

local function data(value)
  if type(value) ~= "table" then return "a table of keys and values" end
  for k, v in pairs(value) do
    if type(k) ~= "string" or unfit(k) or not is_data(v, 100) then return 'a table such as {note={1, "two"}}' end
  end
end

local FIELDS = {
  state = state, data = data,
  type = word, count = integer(1, POOLS), basename = word, name = word, id = optional_id, size = integer(0, LIMIT),
  unit = text, exclusive = boolean, properties = map, tags = map, rank = optional_id, scope = scope,
}

local function check_field(path, key, value)
  local check = FIELDS[key]
  if not check then
    fail(path, "unknown field %s%s", show(key), type(key) == "string" and suggest.hint(key, tables.keys(FIELDS)) or "")
  end
  local wanted = check(value)
  if wanted then fail(path, "%s: expected %s, not %s", key, wanted, show(value)) end
end

local function check_fields(spec, path)
  for key, value in pairs(spec) do
    if math.type(key) ~= "integer" or key < 1 or key > #spec then check_field(path, key, value) end
  end
  if not spec.type then fail(path, 'type is missing, such as type="node"') end
  if spec.name and (spec.count or 1) > 1 and not spec.name:find("${", 1, true) then
    fail(path, "name: %d pools cannot have one name; basename is what they share", spec.count)
  end
end

-- The path of the i-th child for errors: "recipe.rack[2].core", with an index only where siblings exist.
local function child_path(path, spec, i)
  local child = spec[i]
  local name = type(child) == "table" and type(child.type) == "string" and child.type or "child"
  return ("%s.%s%s"):format(path, name, #spec > 1 and ("[%d]"):format(i) or "")
end

-- Checks a table and all tables below. Returns the numbers of pools and of properties, tags and values of data of the whole
-- subtree. `sizes` caches the result of each table, so that a table used in several places is checked once per greater depth only.
local function survey(spec, path, depth, sizes)
  if type(spec) ~= "table" then fail(path, "expected a table, not %s", show(spec)) end
  if depth > DEPTH then fail(path:sub(1, 80) .. "...", "more than %d levels (is a table inside itself?)", DEPTH) end
  if sizes[spec] and sizes[spec].depth >= depth then return sizes[spec].size, sizes[spec].entries end
  check_fields(spec, path)
  local size, entries = 1, tables.size(spec.properties or {}) + tables.size(spec.tags or {}) + leaves(spec.data or {})
  for i = 1, #spec do
    local more, their = survey(spec[i], child_path(path, spec, i), depth + 1, sizes)
    size, entries = size + more, entries + their
  end
  size, entries = size * (spec.count or 1), entries * (spec.count or 1)
  local many = bounds.vertices(size) or bounds.properties(entries)
  if many then fail(path, "%s", many) end
  sizes[spec] = { size = size, entries = entries, depth = depth }
  return size, entries
end

-- ---- the outermost table ------------------------------------------------------------------------------------

local EDGE = { source = true, targets = true, subsystem = true, type = true, back = true }

local function check_edge(path, edge)
  if type(edge) ~= "table" then fail(path, "expected a table such as {source=..., targets={...}, subsystem=...}, not %s", show(edge)) end
  for key in pairs(edge) do
    local hint = type(key) == "string" and suggest.hint(key, tables.keys(EDGE)) or ""
    if not EDGE[key] then fail(path, "unknown field %s%s", show(key), hint) end
  end
  for _, key in ipairs { "source", "subsystem" } do
    local wanted = text(edge[key])
    if wanted then fail(path, "%s: expected %s, not %s", key, wanted, show(edge[key])) end
  end
  for _, key in ipairs { "type", "back" } do
    local wanted = edge[key] ~= nil and text(edge[key])
    if wanted then fail(path, "%s: expected %s, not %s", key, wanted, show(edge[key])) end
  end
  if type(edge.targets) ~= "table" then fail(path, "targets: expected a list of paths, not %s", show(edge.targets)) end
  for i, target in ipairs(edge.targets) do
    local wanted = text(target)
    if wanted then fail(path, "targets[%d]: expected a path, not %s", i, show(target)) end
  end
end

-- Takes `beside` and `edges` off the outermost table. Returns the table without them, and both lists.
local function split_top(spec, path)
  if type(spec) ~= "table" or (spec.beside == nil and spec.edges == nil) then return spec, {}, {} end
  local rest = tables.copy(spec)
  rest.beside, rest.edges = nil, nil
  for _, key in ipairs { "beside", "edges" } do
    local list = spec[key]
    if list ~= nil and type(list) ~= "table" then fail(path, "%s: expected a list, not %s", key, show(list)) end
  end
  for i, edge in ipairs(spec.edges or {}) do check_edge(("%s.edges[%d]"):format(path, i), edge) end
  return rest, spec.beside or {}, spec.edges or {}
end

-- ---- building -----------------------------------------------------------------------------------------------

-- The table of next ids for a pool: of the machine, of the nearest node, or of the parent.
local function counters(build, spec)
  if spec.scope == "local" then return build.parent end
  return spec.scope == nil and build.node or build.machine
end

-- Reserves `count` consecutive ids for pools of a kind. Returns the first; nil where the kind has no ids.
local function take_ids(build, spec, count)
  if spec.id == false then return nil end
  local used, start = counters(build, spec), spec.id or 0
  local key = ("%s\0%d"):format(spec.basename or spec.type, start)
  used[key] = (used[key] or 0) + count
  return start + used[key] - count
end

-- Normalizes properties and tags: {"bigmem", speed=3} -> {bigmem=true, speed=3}.
local function as_map(t)
  local out = {}
  for k, v in pairs(t or {}) do
    if type(k) == "string" then out[k] = v else out[v] = true end
  end
  return out
end

local function describe(spec, id)
  return {
    type = spec.type, basename = spec.basename, name = spec.name, unit = spec.unit, id = id, size = spec.size,
    exclusive = spec.exclusive, properties = as_map(spec.properties), tags = as_map(spec.tags),
  }
end

-- The rank of the i-th pool of a table, or nil. An explicit rank counts up from the table's first pool; `build.rank`
-- is the next rank of nodes without an explicit rank.
local function take_rank(build, spec, i)
  if spec.rank ~= nil then return spec.rank and spec.rank + i or nil end
  if spec.type ~= "node" then return nil end
  build.rank = build.rank + 1
  return build.rank - 1
end

local function add(build, path, parent, pool, count)
  local v, why, code = build.graph:add(parent, pool, count, count and 1)
  if not v then failure.raise(path .. ": " .. why, code) end
  return v
end

local grow

local function grow_one(build, spec, path, parent, pool)
  local v = add(build, path, parent, pool)
  if spec.state then v.state = spec.state end
  for key, value in tables.sorted(spec.data or {}) do v.data[key] = value end
  local node, outer = build.node, build.parent
  build.parent = {}
  if spec.type == "node" then build.node = {} end
  for i = 1, #spec do grow(build, spec[i], child_path(path, spec, i), v) end
  build.node, build.parent = node, outer
end

-- Adds all pools of a table. Leaves without ranks take a single call of the core; pools with ranks or children are
-- added separately.
function grow(build, spec, path, parent)
  local count = spec.count or 1
  local first = take_ids(build, spec, count)
  local pool = describe(spec, first)
  if #spec == 0 and count > 1 and first and spec.type ~= "node" and not (spec.rank or spec.state or spec.data) then
    add(build, path, parent, pool, count)
    return
  end
  for i = 0, count - 1 do
    pool.id = first and first + i
    pool.rank = take_rank(build, spec, i)
    grow_one(build, spec, path, parent, pool)
  end
end

local function vertex_at(graph, path, place)
  local v, why = graph:vertex(place)
  if not v then fail(path, "%s", why) end
  return v
end

-- Adds the edges. All paths are resolved before the first edge is there: with an edge a pool outside of the tree gets a path in
-- the subsystem of the edge.
local function link(graph, edges, path)
  local ends = {}
  for i, edge in ipairs(edges) do
    local at = ("%s.edges[%d]"):format(path, i)
    ends[i] = { source = vertex_at(graph, at, edge.source) }
    for k, target in ipairs(edge.targets) do ends[i][k] = vertex_at(graph, at, target) end
  end
  for i, edge in ipairs(edges) do
    local about = { subsystem = edge.subsystem, type = edge.type, back = edge.back }
    for _, target in ipairs(ends[i]) do
      local ok, why = graph:add_edge(ends[i].source, target, about)
      if not ok then fail(("%s.edges[%d]"):format(path, i), "%s", why) end
    end
  end
end

local function build_graph(spec, path)
  local tree, beside, edges = split_top(spec, path)
  survey(tree, path, 1, {})
  if (tree.count or 1) > 1 then fail(path, "count: one pool is at the top, such as a cluster") end
  for i, other in ipairs(beside) do survey(other, ("%s.beside[%d]"):format(path, i), 1, {}) end
  local graph, why, code = chunk.build(function(graph)
    local build = { graph = graph, machine = {}, parent = {}, rank = 0 }
    grow(build, tree, path, nil)
    for i, other in ipairs(beside) do grow(build, other, ("%s.beside[%d]"):format(path, i), nil) end
  end)
  if graph then link(graph, edges, path) end
  return graph, why, code
end

--- Builds a graph from nested tables. Returns the graph; or nil, a message with the path in the table, and a code.
function M.build(spec)
  if type(spec) ~= "table" then error("a recipe is a table, not " .. show(spec), 2) end
  return failure.caught("invalid", build_graph, spec, "recipe")
end

-- ---- files --------------------------------------------------------------------------------------------------

--- Builds a graph from the text of a recipe file. The file runs in a sandbox: no files, no processes, no endless
--- loops. opts: budgets, see sandboxed_file.lua. Returns the graph; or nil, message, code.
function M.parse(content, name, opts)
  local spec, why, code = chunk.run(content, name, chunk.budgets(opts))
  if why then return nil, why, code end
  if type(spec) ~= "table" then
    return nil, name .. ": returns no table: a recipe file ends in return { type=... }", "invalid"
  end
  return failure.caught("invalid", build_graph, spec, name .. ": recipe")
end

return M
