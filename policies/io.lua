-- The bandwidth from a node to the file system is the bandwidth of the narrowest vertex on the path: the least number
-- of free units among the vertices between the node and the source of the io subsystem. A walk up the subsystem finds
-- the least.
--
-- Use it for jobs that read or write much, on a machine whose paths to the file system are a subsystem.
local has_io = false -- the graph has the subsystem

-- The free bandwidth above v; 0 for a node outside of the subsystem.
local function bandwidth(v, options)
  local smallest = math.huge
  for up in v:graph():walk { start = v, subsystem = options.subsystem, upward = true } do
    if up ~= v and up.type == options.type then smallest = math.min(smallest, up.free) end
  end
  return smallest < math.huge and smallest or 0
end

return {
  name = "io",
  doc = "Nodes with the most free bandwidth on the path to the file system.",
  options = {
    subsystem = { default = "io", doc = "the subsystem from the file system to the nodes" },
    type = { default = "bandwidth", doc = "the type whose units are bandwidth" },
  },
  init = function(graph, options)
    has_io = false
    for _, name in ipairs(graph:subsystems()) do has_io = has_io or name == options.subsystem end
  end,
  evaluate = function(v, request)
    local node = v.type == "node" and v or v:ancestor "node"
    return has_io and node and bandwidth(node, request.options) or 0, node ~= v -- true: for all siblings inside a node
  end,
}
