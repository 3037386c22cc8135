--- files.lua - reading a whole file, with errors that name it.

local M = {}

-- "PATH: why", once.
local function explain(path, why)
  why = tostring(why)
  return why:sub(1, #path) == path and why or path .. ": " .. why
end

--- The contents of a file ("-": standard input); or nil, message, "io".
function M.read(path)
  if path == "-" then return io.read "a" end
  local file, why = io.open(path, "rb")
  if not file then return nil, explain(path, why), "io" end
  local content
  content, why = file:read "a"
  file:close()
  if not content then return nil, explain(path, why), "io" end
  return content
end

--- Puts a text into a file, whole or not at all: true; or nil, message, "io".
function M.write(path, text)
  local draft = path .. ".new"
  local file, why = io.open(draft, "wb")
  if not file then return nil, explain(path, why:sub(1, #draft) == draft and why:sub(#draft + 3) or why), "io" end
  local written
  written, why = file:write(text)
  local closed, late = file:close()
  if written and closed then closed, late = os.rename(draft, path) end
  if written and closed then return true end
  os.remove(draft)
  return nil, explain(path, why or late), "io"
end

--- Whether there is something of that name, readable or not.
function M.exists(path)
  local file, _, errno = io.open(path)
  if file then file:close() end
  return file ~= nil or errno == 13 -- permission denied
end

return M
