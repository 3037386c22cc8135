--- recipe_write.lua - a graph as the text of a recipe. Reading the text gives equal vertices.
--
-- Neighbours that differ in nothing but consecutive ids share a line with a count.

local plain = require "weir.plain"
local tables = require "weir.tables"

local M = {}

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
  until while]]):gmatch "%a+" do
  KEYWORDS[word] = true
end

local function quote(text) return (("%q"):format(text)) end

-- Properties or tags as Lua: {bigmem = true, ["a b"] = "3"}; nil for none.
local function map_text(map)
  local words = {}
  for key, value in pairs(map) do
    local name = key:find "^[%a_][%w_]*$" and not KEYWORDS[key] and key or "[" .. quote(key) .. "]"
    words[#words + 1] = ("%s = %s"):format(name, value == true and "true" or quote(tostring(value)))
  end
  table.sort(words)
  return #words > 0 and "{ " .. table.concat(words, ", ") .. " }" or nil
end

local value_text

local function entry_text(key, value)
  local name = type(key) ~= "string" and "[" .. key .. "]" or key:find "^[%a_][%w_]*$" and not KEYWORDS[key] and key
    or "[" .. quote(key) .. "]"
  return ("%s = %s"):format(name, value_text(value))
end

-- Extended data as Lua; nil for what a recipe cannot say: null, and empty lists, which differ from empty tables.
function value_text(value)
  if type(value) == "string" then return quote(value) end
  if type(value) == "number" or type(value) == "boolean" then return ("%q"):format(value) end
  if type(value) ~= "table" or getmetatable(value) == "weir.array" and #value == 0 then error { unsaid = true } end
  local words = {}
  if #value > 0 then
    for i, x in ipairs(value) do words[i] = value_text(x) end
  else
    for key, x in tables.sorted(value) do words[#words + 1] = entry_text(key, x) end
  end
  return #words > 0 and "{ " .. table.concat(words, ", ") .. " }" or "{}"
end

-- Returns the text of the extended data of a vertex, nil for none, and whether a key is missing from the text.
local function data_text(v)
  local words, missing = {}, false
  for key, value in pairs(v.data) do
    local ok, text = pcall(entry_text, key, value)
    if ok then words[#words + 1] = text else missing = true end
  end
  table.sort(words)
  return #words > 0 and "{ " .. table.concat(words, ", ") .. " }" or nil, missing
end

-- Whether ranks can be omitted: every node has the rank that a recipe gives by default, and no further vertex has a
-- rank.
local function ranks_follow(g)
  local next_rank = 0
  for v in g:walk {} do
    local parent = v:parent()
    if v.type == "node" then
      if v.rank ~= next_rank then return false end
      next_rank = next_rank + 1
    elseif v.rank ~= (parent and parent.rank) then
      return false
    end
  end
  return true
end

local function own_rank(v, build)
  local parent = v:parent()
  if build.ranks_follow then return nil end
  if v.type == "node" then return v.rank or false end
  if v.rank ~= (parent and parent.rank) then return v.rank end
end

-- The fields of a vertex except type, id and rank, and whether the vertex has a name of its own.
local function fields_of(v)
  local words, name = {}, plain.own_name(v)
  local function say(key, value) words[#words + 1] = value and ("%s = %s"):format(key, value) or nil end
  say("basename", v.basename ~= v.type and quote(v.basename))
  say("name", name and quote(name))
  say("size", v.size ~= 1 and ("%d"):format(v.size))
  say("unit", v.unit ~= "" and quote(v.unit))
  say("exclusive", v.exclusive and "true")
  say("properties", map_text(v.properties))
  say("tags", map_text(v.tags))
  say("state", v.state ~= "up" and quote(v.state))
  say("data", (data_text(v)))
  return words, name ~= nil
end

local scan

local function scan_children(v, build)
  local items = {}
  for child in v:children() do
    local item, last = scan(child, build), items[#items]
    if last and last.key == item.key and not item.named and item.id and last.id and item.id == last.id + last.count
      and (item.rank or 0) == (last.rank or 0) + (item.rank and last.count or 0) then
      last.count = last.count + 1
    else
      items[#items + 1] = item
    end
  end
  return items
end

-- Describes a vertex and all vertices below: {type, id, rank, count, words, items = children, key = equal for equal
-- content}.
function scan(v, build)
  local words, named = fields_of(v)
  local item = { type = v.type, id = v.id, rank = own_rank(v, build), count = 1, words = words, named = named }
  local keys = { v.type, table.concat(words, ","), tostring(item.rank == false) }
  item.items = scan_children(v, build)
  for _, child in ipairs(item.items) do
    keys[#keys + 1] = ("%s:%s:%s:%d"):format(child.number, tostring(child.id), tostring(child.rank), child.count)
  end
  local key = table.concat(keys, "\0")
  build.numbers[key] = build.numbers[key] or build.count
  build.count = build.count + 1
  item.number = build.numbers[key]
  item.key = item.number
  return item
end

local function head_of(item)
  local words = { ("type = %s"):format(quote(item.type)) }
  words[2] = item.id and ('id = %d, scope = "local"'):format(item.id) or "id = false"
  if item.count > 1 then words[#words + 1] = ("count = %d"):format(item.count) end
  if item.rank ~= nil then words[#words + 1] = ("rank = %s"):format(tostring(item.rank)) end
  return table.concat(table.move(item.words, 1, #item.words, #words + 1, words), ", ")
end

local function write(item, indent, lines)
  if #item.items == 0 then
    lines[#lines + 1] = ("%s{ %s },"):format(indent, head_of(item))
    return
  end
  lines[#lines + 1] = ("%s{ %s,"):format(indent, head_of(item))
  for _, child in ipairs(item.items) do write(child, indent .. "  ", lines) end
  lines[#lines] = lines[#lines]:sub(1, -2) .. " },"
end

-- The lines of the edges of a graph: edges with a common source and kind share a table.
local function edge_lines(g)
  local of, order = {}, {}
  for edge in g:edges() do
    if edge.source.detached or edge.target.detached then goto continue end
    local head = ("source = %s, subsystem = %s"):format(quote(edge.source.path), quote(edge.subsystem))
    if edge.type then head = head .. ", type = " .. quote(edge.type) end
    if edge.back then head = head .. ", back = " .. quote(edge.back) end
    if not of[head] then
      of[head] = {}
      order[#order + 1] = head
    end
    table.insert(of[head], quote(edge.target.path))
    ::continue::
  end
  for i, head in ipairs(order) do order[i] = ("    { %s, targets = { %s } },"):format(head, table.concat(of[head], ", ")) end
  return order
end

-- Writes a list of the outermost table, before its closing brace.
local function put_list(lines, name, list)
  if #list == 0 then return end
  lines[#lines] = lines[#lines]:gsub(" },$", "")
  if not lines[#lines]:find ",$" then lines[#lines] = lines[#lines] .. "," end
  lines[#lines + 1] = ("  %s = {"):format(name)
  table.move(list, 1, #list, #lines + 1, lines)
  lines[#lines + 1] = "  } },"
end

local function top_of(v)
  local parent = v:parent()
  while parent do v, parent = parent, parent:parent() end
  return v
end

-- Returns the roots of the trees of a graph: first the roots of containment, then pools that belong to further subsystems only.
local function all_roots(g)
  local roots, seen = g:roots(), {}
  for _, v in ipairs(roots) do seen[v] = true end
  for _, name in ipairs(g:subsystems()) do
    for v in g:walk { subsystem = name } do
      local top = top_of(v)
      if not seen[top] and not top.detached then roots[#roots + 1] = top end
      seen[top] = true
    end
  end
  return roots
end

-- Names the parts of a graph that a recipe cannot express.
local function losses(g)
  for edge in g:edges() do
    if edge.source.detached or edge.target.detached then return { "pools taken out of containment" } end
  end
  for v in g:walk {} do
    if #v.data > 0 and select(2, data_text(v)) then return { "extended data with null or an empty list" } end
  end
  return {}
end

--- Returns the text of a recipe and a list of the parts of the graph missing from the text; or nil, message, code.
function M.text(g)
  local roots = all_roots(g)
  if #roots == 0 then return nil, "a recipe has a pool at the top; this machine has none", "invalid" end
  local build, lines, beside = { numbers = {}, count = 0, ranks_follow = ranks_follow(g) }, {}, {}
  write(scan(roots[1], build), "", lines)
  for i = 2, #roots do write(scan(roots[i], build), "    ", beside) end
  put_list(lines, "beside", beside)
  put_list(lines, "edges", edge_lines(g))
  lines[1] = "return " .. lines[1]
  lines[#lines] = lines[#lines]:sub(1, -2)
  return table.concat(lines, "\n") .. "\n", losses(g)
end

return M
