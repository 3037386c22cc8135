-- What RFC 49 says of its scheduler: nodes are shared between jobs, the node with the fewest free cores that fits comes
-- first, and what one slot holds lies in one NUMA domain, or else in one socket, where these could hold it.

-- So many times as many; nil where that is no plain number.
local function times(a, b)
  if b == 1 then return a end
  if a == 1 then return b end
  return math.type(a) == "integer" and math.type(b) == "integer" and a * b or nil
end

-- A slot of nodes in which something is asked for takes just that: it becomes nodes with a slot in each.
local function turn(slot)
  local node = #slot.with == 1 and slot.with[1]
  if not node or node.type ~= "node" or not node.with or node.exclusive then return slot end
  node.count, slot.count, slot.with = times(slot.count, node.count), 1, node.with
  node.with = { slot }
  return node.count and node
end

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
    local _, free = (v:ancestor "node" or v):below "core"
    return -free
  end,
}
