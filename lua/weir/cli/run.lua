--- weir run: runs a Lua script with the module weir available.

local files = require "weir.files"
local out = require "weir.cli.output"
local weir = require "weir"

local M = {
  name = "run",
  doc = "Run a Lua script. `weir` is a global there, `arg` has the script's arguments.",
  usage = "SCRIPT.lua [ARGUMENT...]",
  operand = "SCRIPT.lua", min = 1, stop = true,
  notes = [[
SCRIPT.lua can be - for standard input. The exit status is the script's: of os.exit, or 1 after an error.]],
}

local function set_globals(opts)
  local arguments = { [0] = opts[1] }
  table.move(opts, 2, #opts, 1, arguments)
  rawset(_G, "arg", arguments)
  rawset(_G, "weir", weir)
end

local function compile(path)
  local text = out.check(files.read(path, "script")):gsub("^#[^\n]*", "--")
  return out.check(load(text, "@" .. path, "t"))
end

-- Adds a traceback to errors of a script, for the author of the script: it ends with the script's main chunk, as what
-- stands below is weir's own. Failures of commands pass unchanged.
local function explain(raised)
  if out.failure(raised) or raised == "interrupted" then return raised end
  local trace = debug.traceback(tostring(raised), 2)
  local _, last = trace:find("in main chunk\n%s*%[C%]: in function 'xpcall'")
  return last and trace:sub(1, last):gsub("\n[^\n]*$", "") or trace
end

function M.run(opts)
  local chunk = compile(opts[1])
  set_globals(opts)
  local ok, raised = xpcall(chunk, explain, table.unpack(opts, 2))
  if ok then return 0 end
  if out.failure(raised) or raised == "interrupted" then error(raised, 0) end
  io.stdout:flush()
  io.stderr:write("weir: ", raised, "\n")
  return 1
end

return M
