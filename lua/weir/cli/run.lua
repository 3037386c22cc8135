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
SCRIPT.lua can be - for standard input. The exit status is that of the script: of os.exit, or 1 after an error.]],
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

-- Cuts the levels at the top of a traceback that are weir's own: a method that raises, and error.
local function from_caller(trace)
  local head, levels = trace:match "^(.-\nstack traceback:\n)(.*)$"
  local kept = {}
  for line in (levels or ""):gmatch "[^\n]+" do
    local own = files.own(line:match "^%s*(.*)") or line:find "^%s*%[C%]: in function 'error'"
      or line:find "^%s*%(%.%.%.tail calls%.%.%.%)"
    if #kept > 0 or not own then kept[#kept + 1] = line end
  end
  return #kept > 0 and head .. table.concat(kept, "\n") or trace
end

-- Adds a traceback to errors of a script, for the author of the script: from the failed line to the main chunk of the script,
-- without the frames of weir above and below. Failures of commands pass unchanged.
local function explain(raised)
  if out.failure(raised) or raised == "interrupted" then return raised end
  local trace = debug.traceback(tostring(raised), 2)
  local _, last = trace:find("in main chunk\n%s*%[C%]: in function 'xpcall'")
  return from_caller(last and trace:sub(1, last):gsub("\n[^\n]*$", "") or trace)
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
