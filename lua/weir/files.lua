--- files.lua - reading and writing files. Errors name the file, and every read has a limit.

local core = require "weir.core"

local M = {}

-- A message of the system without the leading file name.
local function unnamed(why) return (why:gsub("^.*: ", "", 1)) end

-- By kind of file: a noun for errors, and a limit in bytes. A larger file is of a wrong kind, or endless.
local KINDS = {
  jobspec = { "a jobspec", core.limits.jobspec }, machine = { "a machine", core.limits.machine }, R = { "an R", core.limits.machine },
  policy = { "a policy", core.limits.policy }, script = { "a script", 1 << 24 }, settings = { "a file of settings", 1 << 20 },
  input = { "an input of the REPL", 1 << 24 }, recording = { "a recording", 1 << 30 },
}
local LINE_MAX = 1 << 24 -- bytes

local MARK = "\xEF\xBB\xBF" -- the byte order mark of UTF-8, written by some editors

local DIRECTORY = debug.getinfo(1, "S").source:match "^@(.*)files%.lua$" -- of weir's own files
local TAIL = DIRECTORY:sub(-12) -- what Lua leaves of it where it shortens a long path: .../lua/weir/

--- Returns the rest of a text that begins with a path of one of weir's own files, behind their directory; or nil.
function M.own(text)
  if text:sub(1, #DIRECTORY) == DIRECTORY then return text:sub(#DIRECTORY + 1) end
  local _, last = text:find(TAIL, 1, true)
  return last and text:find "^%.%.%.%S*%.lua:" and text:sub(last + 1) or nil
end

--- A text without a byte order mark.
function M.unmarked(text) return text:sub(1, #MARK) == MARK and text:sub(#MARK + 1) or text end

--- Returns whether a path is that of a directory.
function M.is_directory(path)
  local file <close> = io.open(path .. "/.")
  return file ~= nil
end

--- Makes a directory, with all missing directories above. Returns true; or nil, message, "io".
M.make_directory = core.make_directory

--- Returns the contents of a file ("-": standard input); or nil, message, "io" or "limit". kind: a key of KINDS.
function M.read(path, kind)
  local text, why, code = core.read_file(path, KINDS[kind][1], KINDS[kind][2])
  if not text then return nil, why, code end
  return M.unmarked(text)
end

--- Opens a file for reading in pieces ("-": standard input). Returns the file; or nil, message, "io".
function M.open(path)
  if path == "-" then return io.stdin end
  local file, why = io.open(path, "rb")
  if not file then return nil, path .. ": cannot open: " .. unnamed(why), "io" end
  local _, _, errno = file:read(0)
  if errno ~= 21 then return file end
  file:close()
  return nil, path .. ": is a directory, expected a file", "io"
end

--- The next line of an open file, without a line end; nil at the end of the file; or nil, message.
function M.line(file) return core.read_line(file, LINE_MAX) end

--- Writes a text into a file, whole or not at all. Returns true; or nil, message, "io". Links are followed; pipes and
--- devices are written to. opts.links = false: a path to a link, a pipe or a device is refused.
function M.write(path, text, opts) return core.write_file(path, text, opts) end

--- Whether the path of an output names the file of an input, by links, as standard input or as a descriptor. Outputs
--- that are standard output or in /dev are written to and replace no file.
function M.same(output, input)
  if output == "-" or output:find "^/dev/" then return false end
  local mode, one = core.file_mode(output)
  local other_mode, other = core.file_mode(input == "-" and "/dev/stdin" or input)
  return mode ~= nil and other_mode ~= nil and one == other
end

--- A text quoted as a single word for the shell.
function M.quoted(path) return "'" .. path:gsub("'", [['\'']]) .. "'" end

--- Opens a draft, a file written in pieces, whole or not at all: draft:write(text, ...), then draft:keep(), which
--- reports errors. A draft not kept is removed, also when the program is interrupted, or by draft:drop(). Returns the
--- draft; or nil, message, "io". opts: as for write.
function M.draft(path, opts) return core.draft(path, opts) end

--- Whether a file of any type exists, readable or not. The file is not opened, as a pipe can be opened only once.
function M.exists(path)
  local mode, _, code = core.file_mode(path)
  return mode ~= nil or code ~= "unknown"
end

return M
