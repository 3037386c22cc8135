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

--- Whether there is something of that name, readable or not.
function M.exists(path)
  local file, _, errno = io.open(path)
  if file then file:close() end
  return file ~= nil or errno == 13 -- permission denied
end

return M
