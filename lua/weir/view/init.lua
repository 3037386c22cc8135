--- view - graphs and allocations as trees: {label=, note=, used=, kids={...}}, drawn by lines.lua.
--
-- Alike siblings share a line: "core[0-39]  12 of 40 free". Where whole subtrees are alike except for ids, the ids
-- are left out below the line: "node[0-31]" has "2 socket" below.
--
-- An item stands for a vertex or a run of vertices:
--   key: equal for the siblings of a run
--   mark: the contribution to the key of the parent
--   n, ids, free, size: count, ids, free units and total units

local lines = require "weir.view.lines"

local M = {}

-- ---- runs ---------------------------------------------------------------------------------------------------

-- Formats a list of ids: {3, 1, 2, 7} gives "1-3,7".
local function ranges(ids)
  table.sort(ids)
  local out, first = {}, ids[1]
  for i, id in ipairs(ids) do
    if ids[i + 1] ~= id + 1 then
      out[#out + 1] = first == id and tostring(id) or first .. "-" .. id
      first = ids[i + 1]
    end
  end
  return table.concat(out, ",")
end

local function join(run, free, size, id)
  run.n, run.free, run.size = run.n + 1, run.free + free, run.size + size
  run.ids[#run.ids + 1] = id
end

-- Appends an item to a list of runs, or extends the last run if the keys are equal.
local function append(runs, item)
  local run = runs[#runs]
  if run and run.key == item.key then
    join(run, item.free, item.size, item.ids[1])
  else
    runs[#runs + 1] = item
  end
end

-- Returns the basic attributes of a vertex for the key. A name other than basename and id is part of the key.
local function basics(v)
  local id, name = v.id, v.name
  local usual = id ~= nil and name == v.basename .. id
  return { v.type, v.basename, v.unit or "", v.size, v.state, usual and "" or name }, usual and id or nil
end

--- Returns whether jobs can have a vertex in a state.
function M.is_available(state) return state == "up" or state == "degraded" end

local is_available = M.is_available

-- `out`: a vertex above is not available. Whether a pool below is in use is not told then, as nothing below is free.
local function new_item(v, out)
  local words, id = basics(v)
  return {
    words = words, ids = { id }, name = v.name, basename = v.basename, type = v.type, unit = v.unit or "",
    state = v.state, each = v.size, size = v.size, free = out and v.size or v.free, n = 1,
  }
end

-- ---- labels -------------------------------------------------------------------------------------------------

local function exact_label(item)
  if item.n == 1 then return item.name end
  return #item.ids == item.n and ("%s[%s]"):format(item.basename, ranges(item.ids)) or item.n .. " " .. item.name
end

local function loose_label(item)
  return item.n .. " " .. (item.basename == item.type and item.type or item.basename)
end

local function with_unit(amount, unit) return unit ~= "" and amount .. " " .. unit or tostring(amount) end

-- Returns the note about amounts, such as "12 of 40 free", "16 GB each" or "used".
local function amount_note(item)
  if not is_available(item.state) then return "" end
  local used = item.size - item.free
  if used > 0 and item.size == 1 then return "used" end
  if used > 0 and item.kids and item.each == 1 and item.free == 0 then return "used" end
  if used > 0 then return ("%s of %s free"):format(item.free, with_unit(item.size, item.unit)) end
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

-- Returns the used part of the units of an item, from 0 to 1; nil without units to measure.
local function used_part(item)
  local countable = item.n > 1 or item.each > 1
  if item.exact or not countable or item.size == 0 or not is_available(item.state) then return nil end
  return (item.size - item.free) / item.size
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

-- Returns the summary of a vertex with hidden children: "16 core, 1 of 2 gpu free"; with `all`, "16 core, 2 gpu".
local function summarize(v, types, all)
  local parts, totals = {}, v:aggregate()
  for _, type in ipairs(types) do
    local row = totals[type]
    if row and row.free < row.total and not all then
      parts[#parts + 1] = ("%d of %d %s free"):format(row.free, row.total, type)
    elseif row and row.total > 0 then
      parts[#parts + 1] = ("%d %s"):format(row.total, type)
    end
  end
  return table.concat(parts, ", ")
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

local scan

-- Returns whether a vertex extends a run of leaves. The test saves the creation of an item for most vertices.
local function continues(run, v, marks)
  local id = v.id
  return run and run.leaf and not marks.elsewhere and id and v.type == run.type and v.size == run.each and v.state == run.state
    and v.basename == run.basename and (v.unit or "") == run.unit and v:nchildren() == 0 and v.name == run.basename .. id
end

local function scan_children(v, depth, marks)
  local runs = {}
  for child in marks.kids(v) do
    local run = runs[#runs]
    if continues(run, child, marks) then
      join(run, marks.out and run.each or child.free, run.each, child.id)
    else
      append(runs, scan(child, depth, marks))
    end
  end
  return runs
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

-- Returns the item of a vertex. Alike leaves form a run, free or used; inner vertices only if the whole subtrees are
-- equal.
function scan(v, depth, marks)
  local item, out = new_item(v, marks.out), marks.out
  marks.out = out or not is_available(item.state)
  if depth > 1 and (marks.elsewhere or v:nchildren() > 0) then item.kids = scan_children(v, depth - 1, marks) end
  marks.out = out
  if item.kids and #item.kids == 0 or not marks.elsewhere and v:nchildren() == 0 then
    item.key, item.leaf, item.kids = table.concat(item.words, "\0"), #item.ids == 1, nil
    return item
  end
  if not item.kids and not marks.elsewhere then item.summary = summarize(v, marks.types, out or not is_available(item.state)) end
  local words = table.move(item.words, 1, #item.words, 1, { item.free, item.summary or "" })
  for _, kid in ipairs(item.kids or {}) do words[#words + 1] = ("%s*%d/%d"):format(kid.key, kid.n, kid.free) end
  words[#words + 1] = table.concat(item.words, "\0")
  item.key = intern(marks, table.concat(words, "\1"))
  return item
end

local function is_out(v) return v ~= nil and (not is_available(v.state) or is_out(v:parent())) end

--- Returns the tree of a vertex. opts: depth (levels shown), limit (runs shown below a vertex), subsystem.
function M.vertex(v, opts)
  opts = opts or {}
  local item = scan(v, opts.depth or math.huge, {
    n = 0, known = {}, types = v:graph():types(), kids = M.kids(opts.subsystem),
    elsewhere = opts.subsystem ~= nil and opts.subsystem ~= "containment", out = is_out(v:parent()),
  })
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
-- allocations are shown in full.
local function settle(item)
  local words = { table.concat(item.words, "\0"), pick_note(item) }
  table.sort(item.children, in_graph_order)
  for _, child in ipairs(item.children) do settle(child) end
  if #item.children > 0 then item.kids = {} end
  for _, child in ipairs(item.children) do append(item.kids, child) end
  for _, kid in ipairs(item.kids or {}) do words[#words + 1] = exact_label(kid) .. pick_note(kid) .. kid.key end
  item.key = table.concat(words, "\1")
end

--- Returns the trees of an allocation: the picks below the ancestors of the picks.
function M.allocation(allocation, opts)
  local items, tops, trees = {}, {}, {}
  local picks = allocation:vertices()
  local types = picks[1] and picks[1].vertex:graph():types()
  for _, pick in ipairs(picks) do
    local item = place(items, tops, pick.vertex)
    item.pick = pick
    if pick.exclusive and item.inner then item.summary = summarize(pick.vertex, types, true) end
  end
  table.sort(tops, in_graph_order)
  for i, item in ipairs(tops) do
    settle(item)
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
