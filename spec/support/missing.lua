--- missing.lua - why a spec is pending: what is missing, and how to get it. `pending` is a function of busted, which the
--- specs hand over as they are read.

local M = {}

local ROOT = os.getenv "WEIR_DATA" or "../shared/data"

--- The reason for real inputs, which are no part of this repository: a path, as a spec opens it or below the folder of data.
function M.data(path)
  if path:sub(1, #ROOT) == ROOT then path = path:sub(#ROOT + 2) end
  return ("no %s in %s: set WEIR_DATA to a folder with the real inputs"):format(path == "" and "files" or path, ROOT)
end

--- The reason for a program of a Debian package.
function M.program(name, package) return ("no program %s: apt-get install %s"):format(name, package) end

--- Returns `it` where `present` is true; else a function that declares a pending test with the reason behind the name.
function M.it_with(present, reason, it, pending)
  if present then return it end
  return function(name) pending(("%s [%s]"):format(name, reason)) end
end

return M
