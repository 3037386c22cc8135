-- Writes a GRUG recipe: a cluster of racks of nodes of two sockets with 20 cores, 2 gpus and 4 memory pools of 16 GB each.
local KEYS = {
  { "root", "node", "int", "0" }, { "type", "node", "string" }, { "basename", "node", "string" }, { "unit", "node", "string" },
  { "size", "node", "long", "1" }, { "subsystem", "node", "string", "containment" },
  { "e_subsystem", "edge", "string", "containment" }, { "relation", "edge", "string", "contains" },
  { "rrelation", "edge", "string", "in" }, { "id_scope", "edge", "int", "0" }, { "id_start", "edge", "int", "0" },
  { "id_stride", "edge", "int", "1" }, { "gen_method", "edge", "string", "MULTIPLY" }, { "multi_scale", "edge", "int", "1" },
}
local TREE = {
  { "cluster", "rack", "racks", 0 }, { "rack", "node", 18, 1 }, { "node", "socket", 2, 0 }, { "socket", "core", 20, 1 },
  { "socket", "gpu", 2, 1 }, { "socket", "memory", 4, 1 },
}

local function data(key, value) return ('<data key="%s">%s</data>'):format(key, value) end

local function pool(kind)
  local memory = kind == "memory"
  return ('<node id="%s">%s%s%s%s%s</node>'):format(kind, data("root", kind == "cluster" and 1 or 0), data("type", kind),
    data("basename", kind), data("size", memory and 16 or 1), memory and data("unit", "GB") or "")
end

return function(racks)
  local out = { '<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">' }
  for _, k in ipairs(KEYS) do
    out[#out + 1] = ('<key id="%s" for="%s" attr.name="%s" attr.type="%s">%s</key>'):format(k[1], k[2], k[1], k[3],
      k[4] and "<default>" .. k[4] .. "</default>" or "")
  end
  out[#out + 1] = '<graph id="bench" edgedefault="directed">'
  for _, kind in ipairs { "cluster", "rack", "node", "socket", "core", "gpu", "memory" } do out[#out + 1] = pool(kind) end
  for _, e in ipairs(TREE) do
    out[#out + 1] = ('<edge id="%s2%s" source="%s" target="%s">%s%s</edge>'):format(e[1], e[2], e[1], e[2],
      data("id_scope", e[4]), data("multi_scale", e[3] == "racks" and racks or e[3]))
  end
  return table.concat(out, "\n") .. "\n</graph></graphml>\n"
end
