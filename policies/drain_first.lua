-- A node that is to be drained has a tag with the time when that is. Until then it is the best place for a job that is
-- over by then, and the worst for one that is not: drained nodes come to rest early, and nobody waits for them.
return {
  name = "drain_first",
  doc = "Short jobs first on nodes that will be drained, other jobs away from them.",
  options = {
    tag = { default = "drain", doc = "the tag of a node that tells when it will be drained, in seconds" },
    now = { default = 0, min = 0, doc = "the time now, in seconds, on the clock of that tag" },
  },
  order = { "node.id", "id" },
  evaluate = function(v, request)
    local node = v.type == "node" and v or v:ancestor "node"
    local when = node and tonumber(node.tags[request.options.tag])
    if not when then return 0 end
    return request.options.now + request.duration <= when and 1 or -1
  end,
}
