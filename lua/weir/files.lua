--- files.lua - reading and writing whole files, with errors that name them.

local core = require "weir.core"

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

--- Puts a text into a file, whole or not at all: true; or nil, message, "io". Pipes and devices are written to.
function M.write(path, text) return core.write_file(path, text) end

--- A text as one word for the shell.
function M.quoted(path) return "'" .. path:gsub("'", [['\'']]) .. "'" end

-- Pipes and devices are written to as they are.
local function is_special(path)
  return path:find "^/dev/" or os.execute(("test -e %s -a ! -f %s"):format(M.quoted(path), M.quoted(path))) == true
end

local Draft = {}
Draft.__index = Draft

--- A file to be written piece by piece, whole or not at all: what is not kept in the end goes, also when the program is
--- interrupted. Or nil, message, "io".
function M.draft(path)
  local name = is_special(path) and path or path .. ".new"
  local file, why = io.open(name, "wb")
  if not file then return nil, explain(path, why:gsub("^.*: ", "", 1)), "io" end
  file:setvbuf("full", 1 << 16)
  return setmetatable({ file = file, path = path, name = name }, Draft)
end

--- Adds texts. What goes wrong is told when it is kept.
function Draft:write(...)
  local written, why = self.file:write(...)
  self.why = self.why or not written and why or nil
end

--- Ends it: true; or nil, message, "io".
function Draft:keep()
  local closed, why = self.file:close()
  why = self.why or not closed and why or nil
  if not why and self.name ~= self.path then
    closed, why = os.rename(self.name, self.path)
    why = not closed and why or nil
  end
  if why then self:drop() end
  self.file = nil
  if why then return nil, explain(self.path, why:gsub("^.*: ", "", 1)), "io" end
  return true
end

function Draft:drop()
  if not self.file then return end
  if io.type(self.file) == "file" then self.file:close() end
  if self.name ~= self.path then os.remove(self.name) end
  self.file = nil
end

Draft.__gc = Draft.drop
Draft.__close = Draft.drop

--- Whether there is something of that name, readable or not.
function M.exists(path)
  local file, _, errno = io.open(path)
  if file then file:close() end
  return file ~= nil or errno == 13 -- permission denied
end

return M
