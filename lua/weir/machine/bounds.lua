--- bounds.lua - the most that a description of a machine may expand to. Readers check counts before they expand anything: a line
--- of text may describe more than memory holds.
---
--- One number, core.vertices_limit(), bounds the vertices of a machine, the processors of a node, and the *entries* of a text: names
--- of hosts that its lists expand to, and features and resources that its nodes have, each as often as it is listed. A machine
--- of a text has at most HOSTS hosts, as each of them is a table of Lua while the text is read.

local core = require "weir.core"

local M = {}

M.HOSTS = 1000000

local RAISED = " (WEIR_VERTICES=N in the environment allows more)"

--- Returns nil; or, where n is above the bound, the message.
function M.vertices(n)
  local most = core.vertices_limit()
  if n > most then return ("more than %d vertices%s"):format(most, RAISED) end
end

--- The same for the processors of a node.
function M.processors(n)
  local most = core.vertices_limit()
  if n > most then return ("more than %d processors in a node%s"):format(most, RAISED) end
end

--- The same for the properties of all vertices together.
function M.properties(n)
  local most = core.vertices_limit()
  if n > most then return ("more than %d properties of vertices in all%s"):format(most, RAISED) end
end

--- Returns a counter of the entries of a text: a function that adds n entries, and returns nil, or the message once they are too many.
function M.entries()
  local all, most = 0, core.vertices_limit()
  return function(n)
    all = all + n
    if all > most then return ("lists with more than %d hosts, features and resources in all%s"):format(most, RAISED) end
  end
end

return M
