--- record.lua - :record writes what is typed as a script that runs again and asserts that the books come out the same.

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
-- Recorded by weir repl; `weir run %s` does the same again, and fails where the books come out differently.
local record, env = require "weir.repl.record", require("weir.repl").environment { resources = %q, policy = %q }
local _ENV = env
]]

--- Begins a recording: opts.path, .resources, .policy. Or nil and why not.
function M.open(opts)
  local file, why = io.open(opts.path, "w")
  if not file then return nil, why end
  file:write(HEAD:format(opts.path, opts.resources, opts.policy))
  return { file = file, path = opts.path }
end

--- One input, and the books after it when they changed.
function M.note(recording, text, engine, failed)
  local books = M.books(engine)
  recording.file:write(failed and "pcall(function()\n" or "do\n", text, failed and "\nend)\n" or "\nend\n")
  if books ~= recording.books then recording.file:write(("record.check(e, %q)\n"):format(books)) end
  recording.books = books
  recording.file:flush()
end

function M.close(recording) return recording.file:close() end

return M
