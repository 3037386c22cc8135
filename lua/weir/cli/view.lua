--- view.lua - trees of graphs and of allocations, in the shape that tree.lua draws.
--
-- Siblings that are alike share one line: "core[0-39]  12 of 40 free". Where whole subtrees are alike but for the
-- ids in them, the ids are left out below that line: "node[0-31]" has "2 socket" below it.
--
-- An item stands for one vertex or a run of them:
--   key    siblings with the same key make one run
--   mark   what a parent's key has of it
--   n, ids, free, size   how many, their ids, and the units free and in all

local M = {}

-- ---- runs ---------------------------------------------------------------------------------------------------

-- {3, 1, 2, 7} -> "1-3,7"
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

-- Appends an item to a list of runs.
local function append(runs, item)
  local run = runs[#runs]
  if run and run.key == item.key then
    join(run, item.free, item.size, item.ids[1])
  else
    runs[#runs + 1] = item
  end
end

-- What a key has of the basics of a vertex. A name that is not basename and id stands for itself.
local function basics(v)
  local id, name = v.id, v.name
  local usual = id ~= nil and name == v.basename .. id
  return { v.type, v.basename, v.unit or "", v.size, v.state, usual and "" or name }, usual and id or nil
end

local function new_item(v)
  local words, id = basics(v)
  return {
    words = words, ids = { id }, name = v.name, basename = v.basename, type = v.type, unit = v.unit or "",
    state = v.state, each = v.size, size = v.size, free = v.free, n = 1,
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

-- "12 of 40 free", "16 GB each", "used".
local function amount_note(item)
  if item.state ~= "up" and item.state ~= "degraded" then return "" end
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

-- "... and 980 more: node[24-1003]"
local function rest_label(runs, from)
  local n = 0
  for i = from, #runs do n = n + runs[i].n end
  return ("... %d more"):format(n)
end

-- How much of the units of an item is in use, from 0 to 1; nil where there is nothing to measure.
local function used_part(item)
  local countable = item.n > 1 or item.each > 1
  if item.exact or not countable or item.size == 0 or (item.state ~= "up" and item.state ~= "degraded") then return nil end
  return (item.size - item.free) / item.size
end

-- Items to what tree.lua draws. Below a run of several the ids would be those of its first only: they are left out.
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

-- "16 core, 1 of 2 gpu free": what lies below a vertex whose children are not shown.
local function summarize(v, types)
  local parts, totals = {}, v:aggregate()
  for _, type in ipairs(types) do
    local row = totals[type]
    if row and row.free < row.total then
      parts[#parts + 1] = ("%d of %d %s free"):format(row.free, row.total, type)
    elseif row and row.total > 0 then
      parts[#parts + 1] = ("%d %s"):format(row.total, type)
    end
  end
  return table.concat(parts, ", ")
end

--- How to iterate over what is below a vertex in a subsystem. Outside of containment a vertex that was met before has
--- nothing below it, so that loops end and shared parts are told once.
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

-- Whether a vertex is one more of a run of leaves. Most vertices are, and this makes no item for them.
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
      join(run, child.free, run.each, child.id)
    else
      append(runs, scan(child, depth, marks))
    end
  end
  return runs
end

-- Long keys are replaced by numbers, so that a key is as long as one vertex's children, not as its subtree.
local function intern(marks, text)
  local known = marks.known
  if not known[text] then
    marks.n = marks.n + 1
    known[text] = "#" .. marks.n
  end
  return known[text]
end

-- Leaves that are alike make one run whether they are free or not; what has children, only if all of it is the same.
function scan(v, depth, marks)
  local item = new_item(v)
  if depth > 1 and (marks.elsewhere or v:nchildren() > 0) then item.kids = scan_children(v, depth - 1, marks) end
  if item.kids and #item.kids == 0 or not marks.elsewhere and v:nchildren() == 0 then
    item.key, item.leaf, item.kids = table.concat(item.words, "\0"), #item.ids == 1, nil
    return item
  end
  if not item.kids and not marks.elsewhere then item.summary = summarize(v, marks.types) end
  local words = table.move(item.words, 1, #item.words, 1, { item.free, item.summary or "" })
  for _, kid in ipairs(item.kids or {}) do words[#words + 1] = ("%s*%d/%d"):format(kid.key, kid.n, kid.free) end
  words[#words + 1] = table.concat(item.words, "\0")
  item.key = intern(marks, table.concat(words, "\1"))
  return item
end

--- The tree of a vertex. opts: depth (levels shown), limit (runs shown below one vertex), subsystem.
function M.vertex(v, opts)
  opts = opts or {}
  local item = scan(v, opts.depth or math.huge, {
    n = 0, known = {}, types = v:graph():types(), kids = M.kids(opts.subsystem),
    elsewhere = opts.subsystem ~= nil and opts.subsystem ~= "containment",
  })
  return to_tree(item, exact_label, opts.limit or math.huge)
end

-- ---- allocations --------------------------------------------------------------------------------------------

-- "24 of 64 GB", "16 GB each", "whole", "shared".
local function pick_note(item)
  local pick = item.pick
  if not pick then return "" end
  if pick.amount == 0 and not pick.exclusive then return "shared" end
  if item.each > 1 and pick.amount < item.each then
    return ("%d of %s%s"):format(pick.amount, with_unit(item.each, item.unit), item.n > 1 and " each" or "")
  end
  if item.each > 1 then return with_unit(item.each, item.unit) .. (item.n > 1 and " each" or "") end
  return pick.exclusive and item.inner and "whole" or ""
end

-- The item of a vertex in the tree so far, with those of its ancestors.
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

-- Gives an item its key, children first. Unlike in graphs the ids below are part of it: what is shown is exact.
local function settle(item)
  local words = { table.concat(item.words, "\0"), pick_note(item) }
  table.sort(item.children, in_graph_order)
  for _, child in ipairs(item.children) do settle(child) end
  if #item.children > 0 then item.kids = {} end
  for _, child in ipairs(item.children) do append(item.kids, child) end
  for _, kid in ipairs(item.kids or {}) do words[#words + 1] = exact_label(kid) .. pick_note(kid) .. kid.key end
  item.key = table.concat(words, "\1")
end

--- The trees of an allocation: what it took, below its ancestors.
function M.allocation(allocation, opts)
  local items, tops, trees = {}, {}, {}
  for _, pick in ipairs(allocation:vertices()) do place(items, tops, pick.vertex).pick = pick end
  table.sort(tops, in_graph_order)
  for i, item in ipairs(tops) do
    settle(item)
    trees[i] = to_tree(item, exact_label, opts and opts.limit or math.huge)
  end
  return trees
end

return M
