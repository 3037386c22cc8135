-- A node to be drained has a tag with the time of the drain. Until then the node is the best place for a job that
-- ends before the drain, and the worst place for a longer job: so the node is idle when drained, and the drain delays
-- no job.
--
-- Use it before maintenance of some nodes.
return {
  name = "drain_first",
  doc = "Nodes that will be drained first for short jobs, last for jobs that would outlast the drain.",
  options = {
    tag = { default = "drain", doc = "the tag of a node with the time of its drain, in seconds" },
    now = { default = 0, min = 0, doc = "the present time, in seconds, on the clock of that tag" },
  },
  order = { "node.id", "id" },
  evaluate = function(v, request)
    local node = v.type == "node" and v or v:ancestor "node"
    local when = node and tonumber(node.tags[request.options.tag])
    local score = not when and 0 or request:ends_within(when - request.options.now) and 1 or -1
    return score, node ~= v -- true: inside a node, the score holds for all siblings
  end,
}
