-- A run is a list of candidates with consecutive positions in one group: a rack, a dragonfly group, a ring of a
-- torus. The shortest run that is long enough is taken, so that long runs stay whole. If no run is long enough, the
-- longest runs are joined.
--
-- Use it where neighbors communicate faster than distant nodes, as on a ring, a torus or a dragonfly.
return {
  name = "contiguous",
  doc = "The shortest run of neighbours that is long enough, in one rack or along a property such as a torus ring.",
  options = {
    along = { default = "group", doc = "the property with the group; the parent if there is none" },
    position = { default = "position", doc = "the property with the position in the group; the id if there is none" },
  },
  order = { "id", "index" },
  select = { "shortest", group = { property = "options.along" }, position = "options.position" },
}
