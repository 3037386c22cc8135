-- A run is a list of candidates with consecutive positions in one group: a rack, a dragonfly group, a ring of a
-- torus. `select` takes the shortest run that is long enough, so that long runs stay whole. If no run is long enough,
-- the longest runs are joined.

-- The position of v in the group.
local function position_of(v, options)
  return tonumber(v.properties[options.position]) or v.id or v.index
end

-- The group of v: the value of the property `along`, or the path of the parent.
local function group_of(v, options)
  local value = v.properties[options.along]
  local parent = v:parent()
  return value or parent and parent.path or ""
end

-- The runs among the candidates, each a list of {at = index of the candidate, ...}.
local function runs_of(candidates, options)
  local list, runs = {}, {}
  for i, v in ipairs(candidates) do
    list[i] = { at = i, group = group_of(v, options), position = position_of(v, options) }
  end
  table.sort(list, function(a, b)
    if a.group ~= b.group then return a.group < b.group end
    if a.position ~= b.position then return a.position < b.position end
    return a.at < b.at
  end)
  for i, c in ipairs(list) do
    local last = list[i - 1]
    if not last or last.group ~= c.group or last.position + 1 ~= c.position then runs[#runs + 1] = { first = i } end
    table.insert(runs[#runs], c)
  end
  return runs
end

-- The order of runs for `max` vertices: long enough runs first, shortest run first; then short runs, longest run
-- first.
local function better(max)
  return function(a, b)
    local fits_a, fits_b = #a >= max, #b >= max
    if fits_a ~= fits_b then return fits_a end
    if #a ~= #b then return (#a < #b) == fits_a end
    return a[1].at < b[1].at -- the order of the policy decides
  end
end

return {
  name = "contiguous",
  doc = "The shortest run of neighbours that is long enough, in one rack or along a property such as a torus ring.",
  options = {
    along = { default = "group", doc = "the property that tells the group; without it, the parent does" },
    position = { default = "position", doc = "the property that tells the place in the group; without it, the id does" },
  },
  order = { "id", "index" },
  select = function(candidates, request, _, max)
    local runs, out = runs_of(candidates, request.options), {}
    table.sort(runs, better(max))
    for _, run in ipairs(runs) do
      for _, c in ipairs(run) do
        if #out < max then out[#out + 1] = c.at end
      end
    end
    return out
  end,
}
