-- When a node was installed is a tag, such as 2024.5; nodes without one come last. The order is an index, which follows
-- when a tag changes: no call for each match.
return {
  name = "newest_first",
  doc = "The nodes installed last come first: new ones are faster, and old ones can be switched off.",
  options = { tag = { default = "installed", doc = "the tag of a node that tells when it was installed; larger is newer" } },
  order = function(v, options)
    local node = v.type == "node" and v or v:ancestor "node"
    local when = node and tonumber(node.tags[options.tag])
    return when and -when or math.huge, v.id or 0
  end,
}
