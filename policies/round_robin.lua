-- Nodes in turn: the search starts after the last node that a job got, and wraps around.
-- Vertices are numbered over the whole machine (index), while ids may start again in each rack. `rotate` names the
-- number in the state with which the order begins.
--
-- Use it for equal wear of the nodes, or to give every node a job, as a test of all nodes does.
local FAR <const> = 1 << 32 -- beyond all numbers

-- The place of a vertex in the turn that begins with number `next`: of the node around the vertex, where there is one.
local function turn(v, next)
  local number = (v:ancestor "node" or v).index
  return number >= next and number or number + FAR
end

return {
  name = "round_robin",
  doc = "Nodes in turn: each job starts after the last node of the previous job, for equal wear.",
  state = { next = 0 },
  order = { "node.index", "index" },
  rotate = "next",
  placed = function(_, state, vertices)
    local last = -1
    for _, v in ipairs(vertices) do last = math.max(last, turn(v, state.next)) end
    state.next = last % FAR + 1
  end,
}
