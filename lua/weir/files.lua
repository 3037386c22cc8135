--- files.lua - reading and writing files, with errors that name them. Nothing is read without a limit.

local core = require "weir.core"

local M = {}

-- What the system says, without the name that it puts before it.
local function unnamed(why) return (why:gsub("^.*: ", "", 1)) end

local function not_written(path, why) return ("%s: cannot be written: %s"):format(path, unnamed(why)) end

-- What is read here, and how many bytes of it at most: what is larger is something else, or has no end.
local KINDS = {
  jobspec = { "a jobspec", 1 << 26 }, script = { "a script", 1 << 24 }, policy = { "a policy", 1 << 20 },
  settings = { "a file of settings", 1 << 20 }, input = { "an input of the REPL", 1 << 24 }, R = { "an R", 1 << 30 },
  machine = { "a machine", 1 << 30 }, recording = { "a recording", 1 << 30 },
}
local LINE_MAX = 1 << 24 -- bytes

local MARK = "\xEF\xBB\xBF" -- some editors put it before what is UTF-8

--- A text without the mark of UTF-8 before it.
function M.unmarked(text) return text:sub(1, #MARK) == MARK and text:sub(#MARK + 1) or text end

--- The contents of a file ("-": standard input); or nil, message, "io" or "limit". kind: what it should be, one of KINDS.
function M.read(path, kind)
  local text, why, code = core.read_file(path, KINDS[kind][1], KINDS[kind][2])
  if not text then return nil, why, code end
  return M.unmarked(text)
end

--- An open file that is read as it comes ("-": standard input); or nil, message, "io".
function M.open(path)
  if path == "-" then return io.stdin end
  local file, why = io.open(path, "rb")
  if not file then return nil, path .. ": cannot open: " .. unnamed(why), "io" end
  local _, _, errno = file:read(0)
  if errno ~= 21 then return file end
  file:close()
  return nil, path .. ": is a directory, a file is wanted", "io"
end

--- The next line of an open file, without its end; nil at the end; or nil, message.
function M.line(file) return core.read_line(file, LINE_MAX) end

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
  if not file then return nil, not_written(path, why), "io" end
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
  if why then return nil, not_written(self.path, why), "io" end
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

--- Whether there is something of that name, readable or not. It is not opened: a pipe can be opened only once.
function M.exists(path)
  local mode, _, code = core.file_mode(path)
  return mode ~= nil or code ~= "unknown"
end

return M
