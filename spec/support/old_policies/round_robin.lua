-- Nodes in turn: the search begins behind the last node that a job got, and behind the last node of all with the first.
-- Vertices are numbered over the whole machine (index), while ids may be numbered in each rack anew.
local FAR <const> = 1 << 32 -- beyond all numbers

-- The place of a vertex in the turn that begins with number `next`: of the node around the vertex, where there is one.
local function turn(v, next)
  local number = (v:ancestor "node" or v).index
  return number >= next and number or number + FAR
end

return {
  name = "round_robin",
  doc = "Nodes in turn: each job begins behind the last node of the job before, so that all nodes are used alike.",
  state = { next = 0 },
  order = { "node.index", "index" },
  evaluate = function(v, request)
    local node = v:ancestor "node"
    return -turn(v, request.state.next), node ~= nil and node ~= v
  end,
  placed = function(_, state, vertices)
    local last = -1
    for _, v in ipairs(vertices) do last = math.max(last, turn(v, state.next)) end
    state.next = last % FAR + 1
  end,
}
