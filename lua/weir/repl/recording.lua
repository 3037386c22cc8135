--- recording.lua - :record writes what is typed as a scenario: `weir test`, or `weir run`, does the same again and asserts that the books
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

--- For the scripts: gives a job what it had when the recording began; picks are pairs of a path and an amount.
function M.book(engine, id, start, duration, picks)
  local g = engine:resources()
  for _, pick in ipairs(picks) do
    assert(assert(g:vertex(pick[1])):allocate { job = id, amount = pick[2], start = start, duration = duration })
  end
end

-- The jobs that there are already, as calls of M.book.
local function present(engine)
  local lines = {}
  for i, a in ipairs(engine:jobs()) do
    local picks = {}
    for k, pick in ipairs(a:vertices()) do picks[k] = ("{ %q, %d }"):format(pick.vertex.path, pick.amount) end
    local lasts = a.duration == math.huge and "math.huge" or ("%.17g"):format(a.duration)
    lines[i] = ("record.book(e, %d, %.17g, %s, { %s })\n"):format(a.id, a.at, lasts, table.concat(picks, ", "))
  end
  return table.concat(lines)
end

local HEAD = [[
-- Recorded by weir repl; `weir test %s` does the same again, and fails where the books come out differently.
local record, env = require "weir.repl.recording", require("weir.repl").environment { resources = %q, policy = %q }
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

--- Begins a recording: opts.path, .resources, .policy, and .engine, whose jobs it begins with. Or nil and why not.
function M.open(opts)
  local file, why = io.open(opts.path, "w")
  if not file then return nil, why end
  local recording = { file = file, path = opts.path, books = M.books(opts.engine) }
  return put(recording, HEAD:format(opts.path, opts.resources, opts.policy) .. present(opts.engine))
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
