--- Node{basename = "tux", id = 3, sockets = {"0-7", "8-15"}, memory_per_socket = 15000}: a host. `sockets` lists the cores
--- of each socket. A name without a basename is the basename. Each socket has an equal share of the tag max_bw.

uses "Socket"

Node = Resource:subclass "Node"

function Node:initialize(args)
  local basename = args.basename or args.name or fail 'Node: the basename is missing, such as basename = "tux"'
  if type(args.sockets) ~= "table" then fail 'Node: the sockets are missing, such as sockets = {"0-7", "8-15"}' end
  Resource.initialize(self, {
    "node", basename = basename, id = args.id, name = args.basename and args.name, size = args.size, uuid = args.uuid,
    properties = args.properties, tags = args.tags, children = args.children })
  local share = args.tags and tonumber(args.tags.max_bw)
  for i, cpus in ipairs(args.sockets) do
    self:add_child(Socket { id = i - 1, cpus = cpus, memory = args.memory_per_socket,
      tags = share and { max_bw = share / #args.sockets } })
  end
end

return Node
