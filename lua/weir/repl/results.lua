--- results.lua - words for results that have no text of their own: empty lists and iterators.

local suggest = require "weir.suggest"

local M = {}

-- Returns the words for a search without a hit: the types there are, where no vertex has the type of the expression.
local function no_vertex(session, expression)
  local text = "no vertex matches " .. expression
  local wanted, types = expression:match "type%s*=%s*([%w_%-]+)", session.graph and session.graph:types() or {}
  for _, type in ipairs(types) do
    if type == wanted then return text end
  end
  if not wanted then return text end
  return ("%s%s; the types here are %s"):format(text, suggest.hint(wanted, types), table.concat(types, ", "))
end

local ITERATOR = "an iterator: for x in _ do print(x) end shows what it gives"

--- Returns the words to print for an empty list or an iterator, by the input that gave the values; nil for any other
--- values.
function M.words(session, text, values)
  local value = values[1]
  if type(value) == "function" and (values.n > 1 or text:find "[:.]%a+%b()%s*$") then return ITERATOR end
  if values.n > 1 or type(value) ~= "table" or next(value) ~= nil then return nil end
  local _, expression = text:match "find%s*%(?%s*([\"'])(.-)%1"
  if expression then return no_vertex(session, expression) end
  if text:find "top%s*%(" or text:find "jobs%s*%(" then return "no jobs" end
end

return M
