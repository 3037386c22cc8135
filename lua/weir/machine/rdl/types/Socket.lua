--- Socket{id = 0, cpus = "0-7", memory = 15000, tags = {max_bw = 144}}: a processor with cores. Each core has an equal
--- share of the tag max_bw.

Socket = Resource:subclass "Socket"

function Socket:initialize(args)
  local cores = {}
  if not args.id then fail "Socket: the id is missing, such as id = 0" end
  if not args.cpus then fail 'Socket: the cpus are missing, such as cpus = "0-7"' end
  each_cpu(args.cpus, function(id) cores[#cores + 1] = id end)
  Resource.initialize(self, {
    "socket", id = args.id, properties = { cpus = args.cpus }, tags = args.tags, children = args.children })
  local share = args.tags and tonumber(args.tags.max_bw)
  for _, id in ipairs(cores) do
    self:add_child(Resource { "core", id = id, tags = share and { max_bw = share / #cores } })
  end
  if args.memory then self:add_child(Resource { "memory", size = args.memory }) end
end

return Socket
