-- The rules of RFC 49: jobs share nodes, the fitting node with the fewest free cores comes first, and the resources
-- of a slot come from one NUMA domain, or else from one socket, where domain or socket is large enough.
--
-- Use it where jobs share nodes and each slot should stay close to its memory.

-- The product of two counts; nil where the product is no plain number.
local function times(a, b)
  if b == 1 then return a end
  if a == 1 then return b end
  return math.type(a) == "integer" and math.type(b) == "integer" and a * b or nil
end

-- Rewrites a slot around nodes, so that jobs can share the nodes: slot > node > X becomes node > slot > X, where the
-- slot takes only X. Returns the new resource; a slot of a different form unchanged; nil where the counts cannot be
-- multiplied.
local function turn(slot)
  local node = #slot.with == 1 and slot.with[1]
  if not node or node.type ~= "node" or not node.with or node.exclusive then return slot end
  node.count, slot.count, slot.with = times(slot.count, node.count), 1, node.with
  node.with = { slot }
  return node.count and node
end

-- Rewrites all slots of a list of resources. Returns false where turn() cannot.
local function share(resources)
  for i, r in ipairs(resources) do
    if r.type == "slot" then
      resources[i] = turn(r)
      if not resources[i] then return false end
    elseif r.with and not share(r.with) then
      return false
    end
  end
  return true
end

return {
  name = "treepool",
  doc = "Shared nodes, the fullest that fits first; a slot stays in one NUMA domain or socket that can hold it (RFC 49).",
  order = { "rank", "id" },
  locality = { "numa", "socket" },
  admit = function(jobspec)
    if not share(jobspec.resources) then return false, "slots and the nodes in them both have counts that may vary" end
    return jobspec
  end,
  evaluate = function(v)
    local node = v:ancestor "node" or v
    local _, free = node:below "core"
    return -free, node ~= v -- true: inside a node, the score holds for all siblings
  end,
}
