--- vertex_names.lua - the names of vertices in scenarios, and vertices by name.
---
---   "node3"   "node[0-3,7]"   "node0/core[0-1]"   "/cluster0/rack1"   "type=node and perf=fast"   or several in a row
---
--- Levels may be left out: "rack1/core0" are the first cores of all nodes of rack1. A text with "=" is an expression of
--- weir.query.

local core = require "weir.core"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local function names_of(graph)
  local list, seen = {}, {}
  for v in graph:walk {} do
    if not seen[v.name] then list[#list + 1] = v.name end
    seen[v.name] = true
    if #list == 1000 then break end
  end
  return list
end

local function not_there(graph, name)
  return nil, ('there is no "%s" on this machine%s'):format(name, suggest.hint(name, names_of(graph)))
end

-- Returns the vertices at or below `tops` with a name in a list of names, in the order of the machine.
local function below(graph, tops, list)
  local found, named = {}, {} -- named: whether the list has a name
  for _, top in ipairs(tops) do
    for v in graph:walk { start = top } do
      local name = v.name
      if named[name] == nil then named[name] = list:find(name) ~= nil end
      if named[name] then found[#found + 1] = v end
    end
  end
  return found
end

local function step(graph, tops, component)
  local ok, list = pcall(core.hostlist, component)
  if not ok or not list then return nil, ('"%s" names no resources'):format(component) end
  local found = tops and below(graph, tops, list) or graph:find("name=" .. list:format())
  local there = tables.set(tables.column(found, "name"))
  for name in list:names() do -- up to the first that is not there: a list may have more names than memory holds
    if not there[name] then return not_there(graph, name) end
  end
  return found
end

local function find_term(graph, term)
  local found
  for component in term:gmatch "[^/]+" do
    local why
    found, why = step(graph, found, component)
    if not found then return nil, why end
  end
  return found
end

--- Returns the vertices named by a text; a vertex, or a list of texts and vertices, is allowed too. Or nil and why not.
function M.find(graph, x)
  if type(x) == "userdata" then return { x } end
  local all = {}
  if type(x) == "string" and x:find "=" then return graph:find(x) end
  local terms = type(x) == "string" and tables.collect(x:gmatch "%S+") or x
  if type(terms) ~= "table" or #terms == 0 then return nil, "expected a name such as node3 or node[0-3]" end
  for _, term in ipairs(terms) do
    local found, why
    if type(term) == "string" then found, why = find_term(graph, term) else found, why = M.find(graph, term) end
    if not found then return nil, why end
    table.move(found, 1, #found, #all + 1, all)
  end
  return all
end

-- ---- naming -------------------------------------------------------------------------------------------------

--- Returns the name of a vertex, "node3", or with the node in front for a vertex within a node: "node3/core0".
function M.name(v)
  if v.type == "node" then return v.name end
  local node = v:ancestor "node"
  return node and node.name .. "/" .. v.name or v.name
end

-- Groups labels by prefix, in order of appearance: prefix -> names.
local function by_prefix(labels)
  local order, groups = {}, {}
  for _, label in ipairs(labels) do
    local prefix, name = label:match "^(.*/)([^/]*)$"
    prefix, name = prefix or "", name or label
    if not groups[prefix] then
      groups[prefix] = {}
      order[#order + 1] = prefix
    end
    table.insert(groups[prefix], name)
  end
  return order, groups
end

--- Returns labels of M.name as a single text: "node[0-3]", "node0/core[0-1] node1/core0".
function M.fold(labels)
  local order, groups = by_prefix(labels)
  local texts = {}
  for i, prefix in ipairs(order) do
    local list = core.hostlist(groups[prefix])
    list:uniq()
    texts[i] = prefix .. list:format()
  end
  return table.concat(texts, " ")
end

return M
