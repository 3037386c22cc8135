--- dump.lua - the graph as a file, for -o: Graphviz' dot, or GraphML.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

-- Returns the vertices sorted by number, and the index of each vertex in that list.
local function vertices_of(machine)
  local list, place, number = {}, {}, machine.number
  for v in machine.graph:walk {} do list[#list + 1] = v end
  table.sort(list, function(a, b) return (number[a] or 0) < (number[b] or 0) end)
  for i, v in ipairs(list) do place[v] = i - 1 end
  return list, place
end

-- Calls f(from, to, subsystem) for each edge, ordered by the source vertex.
local function each_edge(machine, list, f)
  for _, v in ipairs(list) do
    for child in v:children() do f(v, child, machine.dominant) end
    for _, edge in ipairs(v:edges()) do
      if edge.source == v and edge.subsystem ~= "containment" then f(v, edge.target, edge.subsystem) end
    end
  end
end

function M.dot(machine)
  local lines, list, place = { "digraph G {" }, vertices_of(machine)
  for _, v in ipairs(list) do lines[#lines + 1] = ("%d[label=%s];"):format(place[v], core.json_encode(v.name)) end
  each_edge(machine, list, function(from, to, subsystem)
    lines[#lines + 1] = ("%d->%d [label=%s];"):format(place[from], place[to], core.json_encode(subsystem))
  end)
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

-- ---- GraphML ------------------------------------------------------------------------------------------------

local HEAD = [[
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ]] ..
  [[xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">]]

local ESCAPED = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&apos;" }

local function escape(text) return (tostring(text):gsub('[&<>"\']', ESCAPED)) end

local function set_text(pairs_list)
  local parts = tables.map(pairs_list, function(pair) return pair[1] .. "=" .. pair[2] end)
  return "{" .. table.concat(parts, ",") .. "}"
end

local function members(machine, v)
  return set_text(tables.map(machine:paths(v), function(path) return { path[1], path[1] } end))
end

local function properties(machine, v)
  local list = {}
  for key, value in tables.sorted(machine:properties(v)) do list[#list + 1] = { key, value } end
  return set_text(list)
end

local function field(name, kind, default)
  return { name, kind, "node", function(_, v) return v[name] or default end }
end

-- Attributes of GraphML, sorted by name: {name, type, for, text(machine, vertex) or text(machine, subsystem)}.
local KEYS = {
  field("basename", "string"), field("id", "long", -1),
  { "member_of", "string", "node", members },
  { "member_of", "string", "edge", function(_, subsystem) return set_text { { subsystem, subsystem } } end },
  field("name", "string"),
  { "paths", "string", "node", function(machine, v) return set_text(machine:paths(v)) end },
  { "props", "string", "node", properties },
  field("size", "int"), field("type", "string"),
  { "uniq_id", "long", "node", function(machine, v) return machine.number[v] end },
  field("unit", "string"),
}

local function put_data(lines, machine, what, x)
  for i, key in ipairs(KEYS) do
    if key[3] == what then
      lines[#lines + 1] = ('      <data key="key%d">%s</data>'):format(i - 1, escape(key[4](machine, x)))
    end
  end
end

local function put_keys(lines)
  for i, key in ipairs(KEYS) do
    lines[#lines + 1] = ('  <key id="key%d" for="%s" attr.name="%s" attr.type="%s" />'):format(
      i - 1, key[3], key[1], key[2])
  end
  lines[#lines + 1] = '  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" '
    .. 'parse.order="nodesfirst">'
end

function M.graphml(machine)
  local lines, n, list, place = { HEAD }, 0, vertices_of(machine)
  put_keys(lines)
  for _, v in ipairs(list) do
    lines[#lines + 1] = ('    <node id="n%d">'):format(place[v])
    put_data(lines, machine, "node", v)
    lines[#lines + 1] = "    </node>"
  end
  each_edge(machine, list, function(from, to, subsystem)
    lines[#lines + 1] = ('    <edge id="e%d" source="n%d" target="n%d">'):format(n, place[from], place[to])
    put_data(lines, machine, "edge", subsystem)
    lines[#lines + 1] = "    </edge>"
    n = n + 1
  end)
  lines[#lines + 1] = "  </graph>\n</graphml>\n"
  return table.concat(lines, "\n")
end

return M
