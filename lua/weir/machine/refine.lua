--- refine.lua - a pool split into equal parts.

local M = {}

--- Splits a pool without children into `n` pools of equal sizes: g:refine(v, 4). Returns the list of pools, v first; or
--- nil, message, code, with the pool as it was. See g:split.
function M.refine(self, v, n)
  if math.type(n) ~= "integer" or n < 1 then error "bad argument #2 to 'refine' (a number of parts from 1 on expected)" end
  if type(v) ~= "userdata" then error(("bad argument #1 to 'refine' (vertex expected, got %s)"):format(type(v))) end
  self:aggregate(v) -- raises for a vertex of another graph
  local list, size = { v }, v.size
  if size % n ~= 0 then return nil, ("%d units cannot be split into %d equal parts"):format(size, n), "invalid" end
  for i = 2, n do
    local part, why, code = self:split(v, size // n)
    if not part then
      for k = 2, i - 1 do assert(self:join(v, list[k])) end
      return nil, why, code
    end
    list[i] = part
  end
  return list
end

return M
