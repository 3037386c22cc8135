-- Reads resource sets, one a line, from standard input; fails where two sets share a resource. Prints the number of
-- sets.
local weir = require "weir"

local all, n = nil, 0
for line in io.lines() do
  local set = assert(weir.rset(line, "R"))
  n = n + 1
  if all then
    local sum, why = all:append(set)
    if not sum then
      io.stderr:write(("set %d shares something with those before it: %s\n"):format(n, why))
      os.exit(1)
    end
    all = sum
  else
    all = set
  end
end
print(n)
