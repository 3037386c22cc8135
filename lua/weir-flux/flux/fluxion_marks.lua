--- fluxion_marks.lua - the numbers and ranks that the graph in the R of an instance gives its vertices, for answers in JGF: tools
-- compare them with what Fluxion says. Kept for machines of at most MOST vertices, as {number = {path = number}, rank = {path =
-- rank}, last = the largest number}.

local M = {}

local MOST = 100000

local function put(marks, path, number, rank)
  if not number then return end
  marks.number[path], marks.rank[path] = number, rank
  marks.last = math.max(marks.last, number)
end

--- Returns what the vertices of the graph in an R, a table, say of themselves, for of(); nil for an R without a graph, or with
--- a very large one.
function M.before(R)
  local graph = type(R) == "table" and type(R.scheduling) == "table" and R.scheduling.graph
  local nodes = type(graph) == "table" and type(graph.nodes) == "table" and graph.nodes
  if not nodes or #nodes > MOST then return nil end
  local list = {}
  for _, node in ipairs(nodes) do
    local data = type(node) == "table" and type(node.metadata) == "table" and node.metadata or {}
    list[#list + 1] = { data = data, number = math.tointeger(tonumber(node.id)), rank = math.tointeger(data.rank) }
  end
  return list
end

--- Returns the marks of a result of before(), by the paths that the vertices have now.
function M.of(list)
  local marks = { number = {}, rank = {}, last = -1 }
  for _, entry in ipairs(list) do
    local path = type(entry.data.paths) == "table" and entry.data.paths.containment
    if type(path) == "string" then put(marks, path, entry.number, entry.rank) end
  end
  return marks
end

--- Takes the numbers and ranks of the vertices that a machine (see query/machine.lua) has now.
function M.add(self, machine)
  local marks = { number = {}, rank = {}, last = -1 }
  for v, number in pairs(machine.number) do put(marks, v.path, number, machine.rank(v)) end
  self.marks = marks
end

return M
