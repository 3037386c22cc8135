--- dump.lua - the graph as a file, for -o: Graphviz' dot, or GraphML.

local jgf = require "weir.query.write_jgf"

local M = {}

-- Edges by the vertex that they leave, in order.
local function each_edge(graph)
  return coroutine.wrap(function()
    for _, v in ipairs(graph.vertices) do
      for _, edge in ipairs(v.out) do coroutine.yield(edge) end
    end
  end)
end

function M.dot(graph)
  local lines = { "digraph G {" }
  for _, v in ipairs(graph.vertices) do lines[#lines + 1] = ("%d[label=%s];"):format(v.index, jgf.quote(v.name)) end
  for edge in each_edge(graph) do
    lines[#lines + 1] = ("%d->%d [label=%s];"):format(edge.source.index, edge.target.index, jgf.quote(edge.subsystem))
  end
  lines[#lines + 1] = "}\n"
  return table.concat(lines, "\n")
end

-- ---- GraphML ------------------------------------------------------------------------------------------------

local HEAD = [[
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ]] ..
  [[xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">]]

-- {name, type, for, text(vertex or edge, graph)}, sorted by name.
local KEYS

local function escape(text)
  return (tostring(text):gsub('[&<>"\']', { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;",
    ["'"] = "&apos;" }))
end

local function list(map, keys)
  local parts = {}
  for i, key in ipairs(keys) do parts[i] = key .. "=" .. map[key] end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function sorted(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function members(v, graph)
  local parts = {}
  for i, key in ipairs(graph.subsystems:sorted(v.paths)) do parts[i] = key .. "=" .. key end
  return "{" .. table.concat(parts, ",") .. "}"
end

local function field(name, kind)
  return { name, kind, "node", function(v) return v[name] end }
end

KEYS = {
  field("basename", "string"), field("id", "long"),
  { "member_of", "string", "node", members },
  { "member_of", "string", "edge", function(e) return ("{%s=%s}"):format(e.subsystem, e.subsystem) end },
  field("name", "string"),
  { "paths", "string", "node", function(v, graph) return list(v.paths, graph.subsystems:sorted(v.paths)) end },
  { "props", "string", "node", function(v) return list(v.properties, sorted(v.properties)) end },
  field("size", "int"), field("type", "string"), field("uniq_id", "long"), field("unit", "string"),
}

local function put_data(lines, graph, what, x)
  for i, key in ipairs(KEYS) do
    if key[3] == what then
      lines[#lines + 1] = ('      <data key="key%d">%s</data>'):format(i - 1, escape(key[4](x, graph)))
    end
  end
end

local function put_keys(lines)
  for i, key in ipairs(KEYS) do
    lines[#lines + 1] = ('  <key id="key%d" for="%s" attr.name="%s" attr.type="%s" />'):format(
      i - 1, key[3], key[1], key[2])
  end
end

function M.graphml(graph)
  local lines, n = { HEAD }, 0
  put_keys(lines)
  lines[#lines + 1] = '  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" '
    .. 'parse.order="nodesfirst">'
  for _, v in ipairs(graph.vertices) do
    lines[#lines + 1] = ('    <node id="n%d">'):format(v.index)
    put_data(lines, graph, "node", v)
    lines[#lines + 1] = "    </node>"
  end
  for edge in each_edge(graph) do
    lines[#lines + 1] = ('    <edge id="e%d" source="n%d" target="n%d">'):format(n, edge.source.index, edge.target.index)
    put_data(lines, graph, "edge", edge)
    lines[#lines + 1] = "    </edge>"
    n = n + 1
  end
  lines[#lines + 1] = "  </graph>\n</graphml>\n"
  return table.concat(lines, "\n")
end

return M
