--- record.lua - :record writes what is typed as a scenario: `weir test`, or `weir run`, does the same again and asserts that the books
--- come out the same.

local M = {}

--- The books of an engine as a text: what every job has, by number.
function M.books(engine)
  local list = {}
  for i, a in ipairs(engine:jobs()) do
    local picks = {}
    for k, pick in ipairs(a:vertices()) do
      picks[k] = ("%s:%d%s"):format(pick.vertex.path, pick.amount, pick.exclusive and "!" or "")
    end
    table.sort(picks)
    list[i] = { a.id, ("%d %s %s+%s %s"):format(a.id, a.state, a.at, a.duration, table.concat(picks, " ")) }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  for i, row in ipairs(list) do list[i] = row[2] end
  return table.concat(list, "\n")
end

--- For the scripts: fails, with both, when the books are not as they were.
function M.check(engine, expected)
  local now = M.books(engine)
  if now ~= expected then error(("the books came out differently\nwas:\n%s\nis:\n%s"):format(expected, now), 2) end
end

local HEAD = [[
-- Recorded by weir repl; `weir test %s` does the same again, and fails where the books come out differently.
local record, env = require "weir.repl.record", require("weir.repl").environment { resources = %q, policy = %q }
local it = it or function(_, run) run() end -- under weir run

it("comes out as it was recorded", function()
local _ENV = env
]]

local TAIL = "end)\n"

-- The file is whole after each input; the next one goes before its end. Returns the recording; or nil and why, with the file closed.
local function put(recording, text)
  local done, why = recording.file:write(text, TAIL)
  if done then done, why = recording.file:flush() end
  if done then done, why = recording.file:seek("cur", -#TAIL) end
  if done then return recording end
  recording.file:close()
  return nil, ("%s: %s"):format(recording.path, why)
end

--- Begins a recording: opts.path, .resources, .policy. Or nil and why not.
function M.open(opts)
  local file, why = io.open(opts.path, "w")
  if not file then return nil, why end
  local recording = { file = file, path = opts.path }
  return put(recording, HEAD:format(opts.path, opts.resources, opts.policy))
end

--- One input, and the books after it when they changed. Returns the recording; or nil and why it ends here.
function M.note(recording, text, engine, failed)
  local books = M.books(engine)
  local check = books ~= recording.books and ("record.check(e, %q)\n"):format(books) or ""
  recording.books = books
  return put(recording, (failed and "pcall(function()\n" or "do\n") .. text .. (failed and "\nend)\n" or "\nend\n") .. check)
end

function M.close(recording) return recording.file:close() end

return M
