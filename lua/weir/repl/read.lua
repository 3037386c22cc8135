--- read.lua - what was typed, as something to run: an expression, statements, or an unfinished beginning of either.

local M = {}

-- A local ends with its chunk, and here every input is a chunk of its own: "local x = 1" means x. Not where the value is
-- closed at the end of the chunk.
local function without_local(text)
  local head, rest = text:match "^%s*local%s+([^=]-)(=.*)$"
  if head and not head:find "[<(]" then return head .. rest end
  return text:match "^%s*local%s+(function%s.*)$"
end

local function compile(text, env)
  local value = load("return " .. text, "=input", "t", env)
  if value then return value, nil, true end
  local chunk, why = load(without_local(text) or text, "=input", "t", env)
  return chunk, why, false
end

--- The function of a text. Or nil and why not; `why` is "incomplete" when more lines could make it whole. The third result
--- tells whether it is an expression.
function M.chunk(text, env)
  local chunk, why, expression = compile(text, env)
  if chunk then return chunk, nil, expression end
  if why:find "<eof>$" or why:find "near <eof>" then return nil, "incomplete" end
  return nil, (why:gsub("^input:1: ", ""):gsub("^input:", "line "))
end

--- Whether a text needs no more lines.
function M.is_complete(text)
  if text:match "^%s*:" or text:match "^%s*$" then return true end
  local _, why = M.chunk(text)
  return why ~= "incomplete"
end

return M
