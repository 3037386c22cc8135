-- A tag has the date of a node's installation, such as 2024.5; nodes without the tag come last. The engine calls
-- `order` once for each vertex, and again after a change of the tag, but not for each match.
--
-- Use it where old nodes use more power for less work.
return {
  name = "newest_first",
  doc = "The most recently installed nodes first, so that old nodes can be switched off.",
  options = { tag = { default = "installed", doc = "the tag of a node with its installation date; larger is newer" } },
  order = function(v, options)
    local node = v.type == "node" and v or v:ancestor "node" or v
    local when = tonumber(node.tags[options.tag])
    return when and -when or math.huge, node.id or 0, node ~= v -- true: inside a node, the numbers hold for all siblings
  end,
}
