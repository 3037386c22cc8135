--- recording.lua - :record writes typed input as a scenario. `weir test` or `weir run` repeats the input and asserts
--- equal allocations.

local tables = require "weir.tables"

local M = {}

--- Returns the allocations of all jobs of an engine as a text, by job number.
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
  return table.concat(tables.column(tables.sort(list, 1), 2), "\n")
end

local function by_job(books)
  local map, ids = {}, {}
  for line in books:gmatch "[^\n]+" do
    local id = tonumber(line:match "^%d+")
    map[id], ids[#ids + 1] = line:match "^%d+ (.*)$", id
  end
  return map, ids
end

local SHOWN = 120 -- bytes of what a job has, in an error

local function short(text) return text and #text > SHOWN and text:sub(1, SHOWN) .. " ..." or text or "not there" end

-- Returns the first job that differs between two texts of M.books, as words.
local function first_difference(expected, now)
  local was, ids = by_job(expected)
  local is, more = by_job(now)
  table.move(more, 1, #more, #ids + 1, ids)
  table.sort(ids)
  for _, id in ipairs(ids) do
    if was[id] ~= is[id] then
      return ("job %d was recorded as %s, and is %s"):format(id, short(was[id]), short(is[id]))
    end
  end
end

--- For recorded scripts: raises an error if the allocations differ from the expected text. The error has the first job with a
--- difference in its first line, then both texts.
function M.check(engine, expected)
  local now = M.books(engine)
  if now == expected then return end
  error(("the books came out differently: %s\nwas:\n%s\nis:\n%s"):format(first_difference(expected, now), expected, now), 2)
end

-- The vertices and amounts that a job has, or that a recording has, as words.
local function held(picks)
  local list = {}
  for i, pick in ipairs(picks) do
    list[i] = ("%s:%d"):format(pick.vertex and pick.vertex.path or pick[1], pick.amount or pick[2])
  end
  table.sort(list)
  return table.concat(list, " ")
end

local function allocate(engine, id, pick, span)
  local v, why = engine:resources():vertex(pick[1])
  if v then
    local ok
    ok, why = v:allocate { job = id, amount = pick[2], start = span.start, duration = span.duration }
    if ok then return end
  end
  engine:release(id)
  error(("job %d of the recording has %s of %s; here: %s"):format(id, pick[2], pick[1], why), 0)
end

--- For recorded scripts: allocates the resources that a job held when the recording began. picks: pairs of a path and
--- an amount. A job that has these resources already is left alone; raises an error if the job has others, or others
--- have the resources.
function M.book(engine, id, start, duration, picks)
  local job = engine:job(id)
  if not job then
    for _, pick in ipairs(picks) do allocate(engine, id, pick, { start = start, duration = duration }) end
    return
  end
  local is, was = held(job:vertices()), held(picks)
  if is ~= was then error(("job %d of the recording has %s, and here %s"):format(id, was, is), 0) end
end

-- Returns the existing jobs as calls of M.book.
local function present(engine)
  local lines = {}
  for i, a in ipairs(engine:jobs()) do
    local picks = tables.map(a:vertices(), function(pick) return ("{ %q, %d }"):format(pick.vertex.path, pick.amount) end)
    local lasts = a.duration == math.huge and "math.huge" or ("%.17g"):format(a.duration)
    lines[i] = ("record.book(e, %d, %.17g, %s, { %s })\n"):format(a.id, a.at, lasts, table.concat(picks, ", "))
  end
  return table.concat(lines)
end

local sessions = setmetatable({}, { __mode = "k" }) -- by the environment

--- Records the session of an environment, for M.input.
function M.belongs(env, session) sessions[env] = session end

--- For recorded scripts: informs the session of an environment that a new input begins, so that undo() reverts the changes of
--- a single input as typed, rather than of the whole script.
function M.input(env)
  local session = sessions[env]
  if session and session.journal then session.journal:begin() end
end

local HEAD = [[
-- Recorded by weir repl; `weir test %s` does the same again, and fails where the books come out differently.
local record, env = require "weir.repl.recording", require("weir.repl").environment { resources = %q, policy = %q }
local it = it or function(_, run) run() end -- under weir run

it("comes out as it was recorded", function()
local _ENV = env
]]

local TAIL = "end)\n"

-- Appends a text before the file's tail, so that the file is complete after each input. Returns the recording; or nil
-- and a reason, with the file closed.
local function put(recording, text)
  local done, why = recording.file:write(text, TAIL)
  if done then done, why = recording.file:flush() end
  if done then done, why = recording.file:seek("cur", -#TAIL) end
  if done then return recording end
  recording.file:close()
  return nil, ("%s: %s"):format(recording.path, why)
end

--- Begins a recording. opts: path, resources, policy, engine (with the initial jobs). Returns the recording; or nil
--- and a reason.
function M.open(opts)
  local file, why = io.open(opts.path, "w")
  if not file then return nil, why end
  local recording = { file = file, path = opts.path, books = M.books(opts.engine) }
  return put(recording, HEAD:format(opts.path, opts.resources, opts.policy) .. present(opts.engine))
end

local COLUMNS = 110 -- of lines of a recording

-- Returns a call that checks the books, in lines that break at blanks: after \z a string continues after the white space.
local function check_of(books)
  local lines, line = {}, ""
  for word, blank in ("record.check(e, %q)"):format(books):gmatch "(%S+)(%s*)" do
    if #line + #word > COLUMNS and line ~= "" then lines[#lines + 1], line = line .. "\\z", "  " end
    line = line .. word .. blank
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n") .. "\n"
end

--- Returns the name of the machine of a recording's text; nil: it has no name.
function M.machine(text) return text:match 'environment { resources = "([^"\\\n]*)"' end

--- Records an input, and the allocations after the input if changed. Returns the recording; or nil and a reason, with
--- the file closed.
function M.note(recording, text, engine, failed)
  local books = M.books(engine)
  local check = books ~= recording.books and check_of(books) or ""
  recording.books = books
  local from, to = "do\n", "\nend\n"
  if failed then from, to = "pcall(function()\n", "\nend)\n" end
  return put(recording, "record.input(_ENV)\n" .. from .. text .. to .. check)
end

--- Returns the inputs and checks of a recording's text, and the number of lines before them; nil if the text is no
--- recording.
function M.inputs(text)
  if not text:find "^%-%- Recorded by weir repl" then return nil end
  local from, body = text:match "\nlocal _ENV = env\n()(.*)end%)%s*$"
  if not body then return nil end
  return body, select(2, text:sub(1, from - 1):gsub("\n", ""))
end

function M.close(recording) return recording.file:close() end

return M
