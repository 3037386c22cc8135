--- recording.lua - a recording of the calls between Flux and the scheduler, a JSON object a line: {"now", "call",
--- "args"} and {"answer", "args"}. For bug reports, and to run the calls again without Flux.

local core = require "weir.core"

local M = {}

-- Calls without effect, left out of a recording.
local SILENT = { slice = true, depth = true, stats = true, status = true, describe = true }

local function writer(path)
  local file, why = io.open(path, "w")
  if not file then return nil, why end
  file:setvbuf "line"
  return function(line) file:write(core.json_encode(line, { sort = true }), "\n") end
end

local function list(...) return core.array { ... } end

local ANSWERS = { "alloc", "annotate", "deny", "raise" }

--- Records the answers of a port from now on. Returns a function to be called before each call of the service; or
--- nil, message. During a call the clock stops, so that a repeated call sees equal times.
function M.start(path, port)
  local write, why = writer(path)
  if not write then return nil, why end
  for _, name in ipairs(ANSWERS) do
    local answer = port[name]
    port[name] = function(...)
      write { answer = name, args = list(...) }
      return answer(...)
    end
  end
  local clock, now = port.clock, port.clock()
  port.clock = function() return now end
  return function(name, ...)
    now = clock()
    if not SILENT[name] then write { now = now, call = name, args = list(...) } end
  end
end

return M
