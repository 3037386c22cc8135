--- files.lua - reading and writing files, with errors that name them. Nothing is read without a limit.

local core = require "weir.core"

local M = {}

-- What the system says, without the name that it puts before it.
local function unnamed(why) return (why:gsub("^.*: ", "", 1)) end

-- What is read here, and how many bytes of it at most: what is larger is something else, or has no end.
local KINDS = {
  jobspec = { "a jobspec", core.limits.jobspec }, machine = { "a machine", core.limits.machine }, R = { "an R", core.limits.machine },
  policy = { "a policy", core.limits.policy }, script = { "a script", 1 << 24 }, settings = { "a file of settings", 1 << 20 },
  input = { "an input of the REPL", 1 << 24 }, recording = { "a recording", 1 << 30 },
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

--- Puts a text into a file, whole or not at all: true; or nil, message, "io". Links are followed; pipes and devices are written to.
--- opts.links = false: a path that is a link, a pipe or a device is refused.
function M.write(path, text, opts) return core.write_file(path, text, opts) end

--- A text as one word for the shell.
function M.quoted(path) return "'" .. path:gsub("'", [['\'']]) .. "'" end

--- A file to be written piece by piece, whole or not at all: draft:write(text, ...), then draft:keep(), which tells what went wrong;
--- what is not kept goes, also when the program is interrupted, or with draft:drop(). Or nil, message, "io". opts: as for write.
function M.draft(path, opts) return core.draft(path, opts) end

--- Whether there is something of that name, readable or not. It is not opened: a pipe can be opened only once.
function M.exists(path)
  local mode, _, code = core.file_mode(path)
  return mode ~= nil or code ~= "unknown"
end

return M
