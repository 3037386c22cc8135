--- results.lua - words for results without a text of their own: empty lists and iterators.
---
--- While a REPL runs, find and jobs() record what was looked for with each empty list, for as long as the list lives.

local absent = require "weir.view.absent"
local kinds = require "weir.repl.kinds"

local M = {}

-- By list: the expression without a matching vertex; true for no jobs.
local EMPTIES = setmetatable({}, { __mode = "k" })

--- Lets the methods of the library make these notes.
function M.watch() debug.getregistry()["weir.empties"] = EMPTIES end

--- Notes why a list is empty: the expression without a match, or true for jobs. Returns the list.
function M.note(list, what)
  if type(list) == "table" and next(list) == nil then EMPTIES[list] = what end
  return list
end

-- Whether values fit a generic for: a function with its state, or a function that keeps a vertex.
local function is_iterator(values)
  if type(values[1]) ~= "function" then return false end
  if values.n > 1 then return true end
  local _, kept = debug.getupvalue(values[1], 2)
  return debug.getinfo(values[1], "S").what == "C" and kinds.of(kept) == "vertex"
end

--- Returns the words to print for an empty list or an iterator; nil for any other values.
function M.words(session, values)
  local value = values[1]
  if is_iterator(values) then return "an iterator: for x in _ do print(x) end shows what it gives" end
  local what = values.n == 1 and type(value) == "table" and next(value) == nil and EMPTIES[value]
  if not what then return nil end
  return what == true and "no jobs" or (absent.vertex(session.graph, what))
end

return M
