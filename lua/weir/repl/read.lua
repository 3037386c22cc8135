--- read.lua - compiles typed input: an expression, statements, or an unfinished beginning of either.

local M = {}

-- Removes the keyword from "local x = 1", since a local ends with the chunk and every input is a chunk. Locals with
-- an attribute, such as <close>, are left unchanged.
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

--- Compiles a text. Returns the function, nil, and whether the text is an expression; or nil and a reason,
--- "incomplete" if more lines could complete the text.
function M.chunk(text, env)
  local chunk, why, expression = compile(text, env)
  if chunk then return chunk, nil, expression end
  if why:find "<eof>$" or why:find "near <eof>" then return nil, "incomplete" end
  return nil, (why:gsub("^input:1: ", ""):gsub("^input:", "line "))
end

--- Returns whether a text needs no more lines.
function M.is_complete(text)
  if text:match "^%s*:" or text:match "^%s*$" then return true end
  local _, why = M.chunk(text)
  return why ~= "incomplete"
end

return M
