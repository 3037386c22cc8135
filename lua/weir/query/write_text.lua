--- write_text.lua - the writers "simple" and "pretty_simple": a line for each vertex, children above (or below) parents.
--
-- A writer takes what a walk finds: vertex(prefix, v, needs, exclusive, exclusive_parent, usage), edge(prefix, edge,
-- exclusive_parent), times(start, stop), attribute(key, value). text() gives what was written, and starts anew; nil and
-- false: it cannot be written, errno.code says why.

local M = {}
M.__index = M

local function new(pretty) return setmetatable({ lines = {}, pretty = pretty }, M) end

function M.simple() return new(false) end

function M.pretty() return new(true) end

local MODES = { [false] = { [false] = "s", [true] = "x" }, [true] = { [false] = "shared", [true] = "exclusive" } }

function M:vertex(prefix, v, needs, exclusive)
  local line = ("%s%s[%d:%s]\n"):format(prefix, v.name, needs, MODES[self.pretty][exclusive])
  self.lines[#self.lines + 1] = line
end

function M:edge() return self end
function M:times() return self end
function M:attribute() return self end

function M:text()
  local lines = self.lines
  self.lines = {}
  if self.pretty then
    for i = 1, #lines // 2 do lines[i], lines[#lines + 1 - i] = lines[#lines + 1 - i], lines[i] end
  end
  return table.concat(lines)
end

-- What `find` prints has no line end of its own here.
M.found = M.text

return M
