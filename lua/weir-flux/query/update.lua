--- update.lua - the command update: commits the allocation that a document describes.

local failure = require "weir.failure"
local rset = require "weir.query.rset"
local tables = require "weir.tables"

local M = {}

local READ = { jgf = rset.of_jgf, jgf_shorthand = rset.of_jgf, rv1exec = rset.of_r }

-- Returns the parts of a list whose ancestors are not in the list.
local function topmost(list)
  local is_in, tops = tables.set(tables.column(list, "vertex")), {}
  for _, part in ipairs(list) do
    local up = part.vertex:parent()
    while up and not is_in[up] do up = up:parent() end
    if not up then tops[#tops + 1] = part end
  end
  return tops
end
M.topmost = topmost

local function book(session, id, what, list)
  local exclusive = {}
  for _, part in ipairs(list) do
    local v = part.vertex
    if part.exclusive then
      exclusive[#exclusive + 1] = part
    elseif v:available(what.at, what.at + what.duration) < v.size then
      failure.fail("%s is unavailable", v.path)
    end
  end
  for _, part in ipairs(topmost(exclusive)) do
    local ok, why = part.vertex:allocate { job = id, amount = part.vertex.size, start = what.at, duration = what.duration }
    if not ok then
      session.engine:release(id)
      failure.fail("%s", why)
    end
  end
  return exclusive
end

-- Returns the displayed parts of the job; without the shorthand only the vertices in the document. Quirk: no parts if
-- the document lacks the root of the searched subsystem.
local function parts_of(session, list, exclusive, shorthand)
  local parts = {}
  if not list[session.machine:root()] then return parts end
  for i, part in ipairs(exclusive) do
    parts[i] = { vertex = part.vertex, amount = part.size, exclusive = true, whole = shorthand }
  end
  if #parts == 0 then failure.fail "there is nothing in it that a job could have" end
  return parts
end

local function run(session, what)
  local list = READ[what.reader](session.machine, what.text)
  local exclusive = book(session, session:id_of(what.job), what, list)
  return parts_of(session, list, exclusive, what.reader == "jgf_shorthand")
end

--- Commits an allocation {job, at, duration, text, reader}. Returns the parts of the job; or nil and a reason, with
--- nothing allocated.
function M.run(session, what) return failure.caught(nil, run, session, what) end

return M
