--- read.lua - compiles typed input: an expression, statements, or an unfinished beginning of either.

local tables = require "weir.tables"

local M = {}

-- Removes the keyword from "local x = 1", since a local ends with the chunk and every input is a chunk. Locals with
-- an attribute, such as <close>, are left unchanged.
local function without_local(text)
  local head, rest = text:match "^%s*local%s+([^=]-)(=.*)$"
  if head and not head:find "[<(]" then return head .. rest end
  return text:match "^%s*local%s+(function%s.*)$"
end

local function ends_early(why) return why:find "<eof>$" or why:find "near <eof>" end

-- Compiles several lines whose last ones are an expression, so that the value of the expression is returned.
local function statements_with_value(text, env)
  local places = tables.collect(text:gmatch "\n()")
  for i = #places, 1, -1 do
    local from = places[i]
    local head, tail = text:sub(1, from - 1), text:sub(from)
    if tail:find "%S" and load("return " .. tail, "=input", "t") and load(head, "=input", "t") then
      return load(head .. "return " .. tail, "=input", "t", env)
    end
  end
end

local function compile(text, env)
  local value, early = load("return " .. text, "=input", "t", env)
  if value then return value, nil, true end
  local chunk = text:find "\n" and statements_with_value(text, env)
  if chunk then return chunk, nil, false end
  local why
  chunk, why = load(without_local(text) or text, "=input", "t", env)
  if not chunk and ends_early(early) and not ends_early(why) then why = early end
  return chunk, why, false
end

--- Compiles a text. Returns the function, nil, and whether the text is an expression; or nil and a reason,
--- "incomplete" if more lines could complete the text.
function M.chunk(text, env)
  local chunk, why, expression = compile(text, env)
  if chunk then return chunk, nil, expression end
  if ends_early(why) then return nil, "incomplete" end
  return nil, (why:gsub("^input:1: ", ""):gsub("^input:", "line "))
end

local QUESTION = "^%s*%?%s*([%a_][%w_.:]*)%s*$"
local ASKED = "^%s*([%a_][%w_.:]*)%s*%?%s*$"
local METHOD = "^%s*([%a_][%w_.]*:[%a_][%w_]*)%s*$" -- without arguments

--- Returns the input meant by the spelling of another shell: `=x` is x, `x?`, `?x` and the bare name of a method,
--- `x:y`, are `:doc` of it, and help, exit, quit and q are commands unless the session has a variable of that name. Any
--- other text is returned unchanged.
function M.translated(text, env)
  local asked = text:match(QUESTION) or text:match(ASKED) or text:match(METHOD)
  if asked then return ":doc " .. asked end
  if text:match "^%s*%?%s*$" then return ":help" end
  local word, rest = text:match "^%s*(%a+)%s*(.-)%s*$"
  if word and env[word] == nil then
    if word == "help" then
      local topic = rest:match "^%(?%s*[\"']?([%w_.:]*)[\"']?%s*%)?$"
      if topic then return ":help " .. topic end
    elseif (word == "exit" or word == "quit" or word == "q") and (rest == "" or rest:match "^%(%s*%)$") then
      return ":quit"
    end
  end
  return (text:gsub("^%s*=%s*", "", 1))
end

--- Returns whether a text needs no more lines.
function M.is_complete(text)
  if text:match "^%s*:" or text:match "^%s*$" or text:match(METHOD) then return true end
  local _, why = M.chunk((text:gsub("^%s*=%s*", "", 1)))
  return why ~= "incomplete"
end

return M
