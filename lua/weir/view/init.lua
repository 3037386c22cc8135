--- view - graphs and allocations as trees: {label=, note=, used=, kids={...}}, drawn by lines.lua.
--
-- Identical siblings share a line: "core[0-39]  12 of 40 free". Where whole subtrees are identical except for ids, the ids
-- are left out below the line: "node[0-31]" has "2 socket" below.
--
-- An item is a vertex or a run of vertices:
--   key: equal for the siblings of a run
--   n, ids, free, size: count, ids, free units and total units
--   below: of a vertex of a graph with others below, {[type] = {total, free}} in units
--   stem: the part before the ids in names; pad: the digits to which ids are filled with zeros, 0 for none, and min_digits: the
--         digits of the shortest id, for names of vertices' own, such as thin001

local fold = require "weir.view.fold"
local lines = require "weir.view.lines"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

-- ---- runs ---------------------------------------------------------------------------------------------------

-- Formats a list of ids: {3, 1, 2, 7} gives "1-3,7"; with pad = 3 "001-003,007".
local function ranges(ids, pad)
  table.sort(ids)
  local out, first, form = {}, ids[1], ("%%0%dd"):format(math.max(1, pad or 0))
  for i, id in ipairs(ids) do
    if ids[i + 1] ~= id + 1 then
      out[#out + 1] = first == id and form:format(id) or form:format(first) .. "-" .. form:format(id)
      first = ids[i + 1]
    end
  end
  return table.concat(out, ",")
end

-- Returns whether the names of a run and of an item can be written by ids filled with zeros to one number of digits.
local function share_digits(run, item)
  if run.pad == item.pad then return true end
  if run.pad == 0 then return run.min_digits >= item.pad end
  return item.pad == 0 and item.min_digits >= run.pad
end

-- Adds the units below an item to those of a run.
local function add_below(run, item)
  for type, row in pairs(run.below and item.below or {}) do
    local sums = run.below[type]
    sums[1], sums[2] = sums[1] + row[1], sums[2] + row[2]
  end
end

-- Appends an item to a list of runs, or extends the last run if the keys are equal.
local function append(runs, item)
  local run = runs[#runs]
  if not run or run.key ~= item.key or not share_digits(run, item) then
    runs[#runs + 1] = item
    return
  end
  run.pad, run.min_digits = math.max(run.pad, item.pad), math.min(run.min_digits, item.min_digits)
  run.n, run.free, run.size = run.n + item.n, run.free + item.free, run.size + item.size
  add_below(run, item)
  table.move(item.ids, 1, #item.ids, #run.ids + 1, run.ids)
end

local DIGITS = 15 -- of an id in a name, at most

-- Returns stem and digits of a name that ends in a number; nil for other names.
local function numbered(name)
  local stem, digits = name:match "^(.-)(%d+)$"
  if stem and stem ~= "" and #digits <= DIGITS then return stem, digits end
end

-- Returns the basic attributes of a vertex for the key, and the parts of its name: {id, stem, pad, min_digits}. Of a name other than
-- basename and id the key has the part before the number.
local function basics(v)
  local id, name, basename = v.id, v.name, v.basename
  local words = { v.type, basename, v.unit or "", v.size, v.state, "" }
  if id ~= nil and name == basename .. id then return words, { id = id, stem = basename, pad = 0, min_digits = 1 } end
  local stem, digits = numbered(name)
  words[6] = stem and stem .. "#" or name
  if not stem then return words, { pad = 0, min_digits = 1 } end
  return words, { id = math.tointeger(tonumber(digits)), stem = stem, pad = digits:find "^0." and #digits or 0, min_digits = #digits }
end

--- Returns whether jobs can have a vertex in a state.
function M.is_available(state) return state == "up" or state == "degraded" end

local is_available = M.is_available

-- Returns the names of the stages that hold units of a vertex, such as "stage 1"; nil for none.
local function stages_of(v)
  local names
  for _, use in ipairs(v:uses()) do
    if use.job < 0 and use.active then names = (names and names .. ", " or "") .. texts.holder(use.job) end
  end
  return names
end

-- `out`: a vertex above is not available. Whether a pool below is in use is not shown then, as nothing below is free.
local function new_item(v, out)
  local words, parts = basics(v)
  local free = out and v.size or v.free
  local staged = free < v.size and stages_of(v) or nil
  words[7] = staged
  return {
    words = words, staged = staged, ids = { parts.id }, stem = parts.stem, pad = parts.pad, min_digits = parts.min_digits, name = v.name,
    basename = v.basename, type = v.type, unit = v.unit or "",
    state = v.state, each = v.size, size = v.size, free = free, n = 1,
  }
end

-- ---- labels -------------------------------------------------------------------------------------------------

local function exact_label(item)
  if item.n == 1 then return item.name end
  return #item.ids == item.n and ("%s[%s]"):format(item.stem, ranges(item.ids, item.pad)) or item.n .. " " .. item.name
end

local function loose_label(item)
  return item.n .. " " .. (item.basename == item.type and item.type or item.basename)
end

local function with_unit(amount, unit) return unit ~= "" and amount .. " " .. unit or tostring(amount) end

-- Returns the note about amounts, such as "12 of 40 free", "12 of 40 free, stage 3", "16 GB each" or "used".
local function amount_note(item)
  if not is_available(item.state) then return "" end
  local used = item.size - item.free
  if used > 0 and item.size == 1 then return item.staged or "used" end
  if used > 0 and item.kids and item.each == 1 and item.free == 0 then return item.staged or "used" end
  if used > 0 then
    return ("%s of %s free%s"):format(item.free, with_unit(item.size, item.unit), item.staged and ", " .. item.staged or "")
  end
  if item.each == 1 and item.unit == "" then return "" end
  return with_unit(item.each, item.unit) .. (item.n > 1 and " each" or "")
end

local function note(item)
  local parts = {}
  if item.state ~= "up" then parts[1] = item.state end
  local summary = item.summary and item.n > 1 and "each: " .. item.summary or item.summary or ""
  for _, text in ipairs { amount_note(item), summary } do
    if text ~= "" then parts[#parts + 1] = text end
  end
  return table.concat(parts, ", ")
end

-- Returns the label for the runs beyond the limit: "... and 980 more: node[24-1003]".
local function rest_label(runs, from)
  local n = 0
  for i = from, #runs do n = n + runs[i].n end
  return ("... %d more"):format(n)
end

-- Returns the used part of the units of an item, from 0 to 1: of its own or, where that is more, of a type below, as in
-- pictures. nil without units to measure.
local function used_part(item)
  local countable = item.n > 1 or item.each > 1 or item.below
  if item.exact or not countable or item.size == 0 or not is_available(item.state) then return nil end
  local used = (item.size - item.free) / item.size
  for _, row in pairs(item.below or {}) do used = math.max(used, row[1] > 0 and (row[1] - row[2]) / row[1] or 0) end
  return used
end

-- Converts an item to a node of lines.lua. Below a run of several vertices the ids are left out, since only the first
-- vertex has these ids.
local function to_tree(item, label, limit)
  local node = { label = label(item), note = (item.note or note)(item), kids = {}, used = used_part(item) }
  local below = item.n > 1 and not item.exact and loose_label or label
  for i, kid in ipairs(item.kids or {}) do
    if i > limit then
      node.kids[i] = { label = rest_label(item.kids, i) }
      break
    end
    node.kids[i] = to_tree(kid, below, limit)
  end
  return node
end

-- ---- graphs -------------------------------------------------------------------------------------------------

-- Returns the summary of a vertex with hidden children: "16 core, 1 of 2 gpu free". `totals` and `free` are units by
-- type; without `free`, or with all units free: "16 core, 2 gpu".
local function summarize(types, totals, free)
  local parts = {}
  for _, type in ipairs(types) do
    local total = totals[type] or 0
    if free and free[type] and free[type] < total then
      parts[#parts + 1] = ("%d of %d %s free"):format(free[type], total, type)
    elseif total > 0 then
      parts[#parts + 1] = ("%d %s"):format(total, type)
    end
  end
  return table.concat(parts, ", ")
end

-- Returns the units below a vertex by type: all, and free.
local function units_below(v)
  local totals, free = {}, {}
  for type, row in pairs(v:aggregate { all = true }) do totals[type], free[type] = row.total, row.free end
  return totals, free
end

--- Returns an iterator factory over the children of a vertex in a subsystem. Outside of containment only the first
--- visit of a vertex yields children, so that cycles end and shared subtrees appear once.
function M.kids(subsystem)
  if subsystem == nil or subsystem == "containment" then return function(v) return v:children() end end
  local met = {}
  return function(v)
    local edges, i = met[v] and {} or v:edges(subsystem), 0
    met[v] = true
    return function()
      repeat i = i + 1 until not edges[i] or edges[i].source == v
      return edges[i] and edges[i].target
    end
  end
end

-- A walker calls f(vertex, count) for the children of a vertex: for {handle =} alone, or for `count` identical vertices of a
-- fold.

-- Returns the walker over the vertices of a subsystem.
local function walk_handles(kids)
  return function(v, f)
    for child in kids(v.handle) do f({ handle = child }, 1) end
  end
end

-- Replaces a key by a short number, so that the size of keys does not grow with the depth of subtrees.
local function intern(marks, text)
  local known = marks.known
  if not known[text] then
    marks.n = marks.n + 1
    known[text] = "#" .. marks.n
  end
  return known[text]
end

-- Returns the item of `n` identical vertices of a fold. Such vertices are up, and free unless a job holds a vertex above.
local function alike_item(v, n, marks)
  local kind, ids = v.kind, {}
  for k = 1, n do ids[k] = v.run.id + (v.i + k - 1) * v.run.step end
  local free = (marks.out or not marks.held) and kind.size or 0
  return {
    words = { kind.type, kind.basename, kind.unit, kind.size, "up", "" }, ids = ids, stem = kind.basename, pad = 0, min_digits = 1,
    name = kind.basename .. ids[1],
    basename = kind.basename, type = kind.type, unit = kind.unit, state = "up", each = kind.size, size = n * kind.size,
    free = n * free, n = n,
  }
end

-- Returns whether a job now has a vertex as a whole.
local function is_held(v)
  return tables.any(v:uses(), function(use) return use.active and use.exclusive end)
end

local scan

-- Returns the units below each of the `n` vertices of an item, taken together: {[type] = {total, free}}. What is out of
-- service counts as free, as no job has it.
local function sum_below(item, n)
  local below = {}
  local function add_row(type, total, free)
    below[type] = below[type] or { 0, 0 }
    local row = below[type]
    row[1], row[2] = row[1] + n * total, row[2] + n * free
  end
  for _, kid in ipairs(item.kids) do
    add_row(kid.type, kid.size, is_available(kid.state) and kid.free or kid.size)
    for type, row in pairs(kid.below or {}) do add_row(type, row[1], row[2]) end
  end
  return below
end

-- Returns the items of the children of a vertex, nil for none, and the summary and the units of each type ({total, free}) if the
-- children are beyond the depth.
local function look_below(v, depth, marks)
  if v.handle and not marks.elsewhere and v.handle:nchildren() == 0 then return nil end
  if depth > 1 then
    local runs = {}
    marks.walk(v, function(child, n) append(runs, scan(child, n, depth - 1, marks)) end)
    return #runs > 0 and runs or nil
  end
  if marks.elsewhere then return nil end
  local totals, free = units_below(v.handle)
  local below = {}
  for type, total in pairs(totals) do below[type] = { total, marks.out and total or free[type] } end
  return nil, summarize(marks.types, totals, not marks.out and free or nil), below
end

-- Returns the items below identical vertices, made once for each shape.
local function look_below_alike(v, marks)
  local known = marks.shapes[marks.out and "out" or marks.held and "held" or "free"]
  if v.shape.count == 0 then return nil end
  known[v.shape] = known[v.shape] or look_below(v, math.huge, marks)
  return known[v.shape]
end

-- Returns the item of a vertex, or of `n` identical vertices. Identical leaves form a run, free or used; inner vertices only if
-- the whole subtrees are equal.
function scan(v, n, depth, marks)
  local item = v.handle and new_item(v.handle, marks.out) or alike_item(v, n, marks)
  local out, held, free = marks.out, marks.held, item.free // n
  marks.out = out or not is_available(item.state)
  marks.held = held or v.run and v.handle and v.shape.count > 0 and is_held(v.handle)
  if v.handle then item.kids, item.summary, item.below = look_below(v, depth, marks) else item.kids = look_below_alike(v, marks) end
  item.below = item.kids and not marks.elsewhere and sum_below(item, n) or item.below
  marks.out, marks.held = out, held
  if not item.kids and not item.summary then
    item.key = table.concat(item.words, "\0")
    return item
  end
  local words = { free, item.summary or "" }
  for _, kid in ipairs(item.kids or {}) do words[#words + 1] = ("%s*%d/%d"):format(kid.key, kid.n, kid.free) end
  words[#words + 1] = table.concat(item.words, "\0")
  item.key = intern(marks, table.concat(words, "\1"))
  return item
end

-- Returns whether a predicate is true for a vertex or for a vertex above.
local function any_above(v, f) return v ~= nil and (f(v) or any_above(v:parent(), f)) end

local function is_out(v) return not is_available(v.state) end

local LEVELS = 200 -- levels of the deepest machine

--- Returns the tree of a vertex. opts: depth (levels shown), limit (runs shown below a vertex), subsystem.
function M.vertex(v, opts)
  opts = opts or {}
  local elsewhere = opts.subsystem ~= nil and opts.subsystem ~= "containment"
  local marks = { n = 0, known = {}, shapes = { out = {}, held = {}, free = {} }, types = v:graph():types(),
    elsewhere = elsewhere, out = any_above(v:parent(), is_out), held = any_above(v:parent(), is_held) }
  local depth, item = opts.depth or math.huge, nil
  if elsewhere then
    marks.walk = walk_handles(M.kids(opts.subsystem))
    item = scan({ handle = v }, 1, depth, marks)
  else
    local f = fold.of(v:graph(), { v }, depth <= LEVELS and math.max(1, math.ceil(depth)) or nil)
    marks.walk = function(above, each) f:each_alike(above, each) end
    f:each_alike(nil, function(top) item = scan(top, 1, depth, marks) end)
  end
  return to_tree(item, exact_label, opts.limit or math.huge)
end

-- ---- allocations --------------------------------------------------------------------------------------------

-- Returns the note about a pick: "24 of 64 GB", "16 GB each", "whole: 16 core, 2 gpu", "shared".
local function pick_note(item)
  local pick = item.pick
  if not pick then return "" end
  if pick.amount == 0 and not pick.exclusive then return "shared" end
  if item.each > 1 and pick.amount < item.each then
    return ("%d of %s%s"):format(pick.amount, with_unit(item.each, item.unit), item.n > 1 and " each" or "")
  end
  if item.each > 1 then return with_unit(item.each, item.unit) .. (item.n > 1 and " each" or "") end
  if not (pick.exclusive and item.inner) then return "" end
  return (item.n > 1 and "each whole: " or "whole: ") .. item.summary
end

-- Returns the item of a vertex in the tree so far; creates the item, and items of ancestors, on the first call.
local function place(items, tops, v)
  if items[v] then return items[v] end
  local item, parent = new_item(v), v:parent()
  item.vertex, item.exact, item.note, item.inner, item.children = v, true, pick_note, v:nchildren() > 0, {}
  items[v] = item
  local siblings = parent and place(items, tops, parent).children or tops
  siblings[#siblings + 1] = item
  return item
end

local function in_graph_order(a, b) return a.vertex.index < b.vertex.index end

-- Sets the key of an item, children first. Unlike in graphs the ids of descendants are part of the key, as
-- allocations are shown in full, unless identical subtrees are folded.
local function settle(item, label)
  local words = { table.concat(item.words, "\0"), pick_note(item) }
  table.sort(item.children, in_graph_order)
  for _, child in ipairs(item.children) do settle(child, label) end
  if #item.children > 0 then item.kids = {} end
  for _, child in ipairs(item.children) do append(item.kids, child) end
  for _, kid in ipairs(item.kids or {}) do words[#words + 1] = label(kid) .. pick_note(kid) .. kid.key end
  item.key, item.exact = table.concat(words, "\1"), label == exact_label
end

--- Returns the trees of an allocation: the picks below the ancestors of the picks. opts: limit (runs shown below a
--- vertex), fold (subtrees that differ only in ids share a line).
function M.allocation(allocation, opts)
  local items, tops, trees = {}, {}, {}
  local picks = allocation:vertices()
  local types = picks[1] and picks[1].vertex:graph():types()
  for _, pick in ipairs(picks) do
    local item = place(items, tops, pick.vertex)
    item.pick = pick
    if pick.exclusive and item.inner then item.summary = summarize(types, (units_below(pick.vertex))) end
  end
  table.sort(tops, in_graph_order)
  local label = opts and opts.fold and loose_label or exact_label
  for i, item in ipairs(tops) do
    settle(item, label)
    trees[i] = to_tree(item, exact_label, opts and opts.limit or math.huge)
  end
  return trees
end

--- Returns trees as text, a line each.
function M.text(trees)
  local text = {}
  for _, tree in ipairs(trees) do
    lines.draw(tree, function(line) text[#text + 1] = line .. "\n" end)
  end
  return table.concat(text)
end

return M
