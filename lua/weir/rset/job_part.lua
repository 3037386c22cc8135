--- job_part.lua - the part of a job to give back: vertices, ranks, an R, or units of a pool.

local core = require "weir.core"
local failure = require "weir.failure"
local rset = require "weir.rset"
local tables = require "weir.tables"

local vertex = core.members().vertex -- methods, which check their receiver

local M = {}

local function fail(code, ...) failure.raise(string.format(...), code) end

-- ---- idsets -------------------------------------------------------------------------------------------------

-- An iterator over the ids of an idset; x may have any type, as an R is not checked before.
local function ids(x, what)
  local ok, set = pcall(core.idset, x)
  if not ok or not set or set:empty() then
    fail("parse", '%s: expected a set such as "0-3,7", not "%s"', what, tostring(x):sub(1, 60))
  end
  return set:ids()
end

-- ---- what a job has, by rank --------------------------------------------------------------------------------

local function has_no_rank(v) return v.rank == nil end

-- Returns rank -> list of vertices of a job: the picks on a rank; and for a vertex taken whole above the ranks, the
-- topmost vertex of each rank below.
local function by_rank(job)
  local held = {}
  for _, pick in ipairs(job:vertices()) do
    local v = pick.vertex
    if v.rank then
      tables.push(held, v.rank, v)
    elseif pick.exclusive then
      for w in v:graph():walk { start = v, prune = has_no_rank } do
        if w.rank then tables.push(held, w.rank, w) end
      end
    end
  end
  return held
end

-- The vertices of a list without an ancestor in the list.
local function topmost(list)
  local is_in, tops = tables.set(list), {}
  for _, v in ipairs(list) do
    local up = v:parent()
    while up and not is_in[up] do up = up:parent() end
    if not up then tops[#tops + 1] = v end
  end
  return tops
end

local function on_rank(held, job, rank)
  return held[rank] or fail("unknown", "job %d has nothing on rank %d", job.id, rank)
end

local function append(list, more) table.move(more, 1, #more, #list + 1, list) end

local function of_ranks(job, text)
  local held, list = by_rank(job), {}
  for rank in ids(text, "ranks") do append(list, topmost(on_rank(held, job, rank))) end
  return list
end

-- ---- R ------------------------------------------------------------------------------------------------------

-- Returns the vertices of some types at and below a list, as "TYPE ID" -> list, and the total number.
local function by_type_and_id(list, types)
  local found, n = {}, 0
  for _, top in ipairs(topmost(list)) do
    for v in top:graph():walk { start = top } do
      if types[v.type] and v.id then
        local key = v.type .. " " .. v.id
        tables.push(found, key, v)
        n = n + 1
      end
    end
  end
  return found, n
end

-- The children of an entry of R_lite except types without ids: a "core" with an empty idset means no cores, as
-- R_lite requires the key.
local function with_ids(children)
  local left = {}
  for type, set in pairs(children) do
    if set ~= "" then left[type] = set end
  end
  return left
end

-- The cores and gpus named by an entry of R_lite on a rank; everything the job has on the rank, when the entry names
-- all or none.
local function of_children(job, list, rank, children)
  if next(children) == nil then return topmost(list) end
  local types, named = { core = true, gpu = true }, {}
  for type in pairs(children) do types[type] = true end
  local found, total = by_type_and_id(list, types)
  for type, set in pairs(children) do
    for id in ids(set, "R_lite: children." .. type) do
      append(named, found[type .. " " .. id]
        or fail("unknown", "job %d has no %s %d on rank %d", job.id, type, id, rank))
    end
  end
  return #named == total and topmost(list) or named
end

local function of_entries(job, entries)
  local held, list = by_rank(job), {}
  for _, entry in ipairs(entries) do
    for rank in ids(entry.rank, "R_lite: rank") do
      append(list, of_children(job, on_rank(held, job, rank), rank, with_ids(entry.children or {})))
    end
  end
  return list
end

local function of_R(job, R)
  local entries = type(R.execution) == "table" and R.execution.R_lite
  if type(entries) ~= "table" then fail("parse", "this R has no execution.R_lite, which lists its resources") end
  return of_entries(job, entries)
end

-- ---- shrinking ----------------------------------------------------------------------------------------------

local function read_R(text)
  local R, why = core.json_decode(text)
  if type(R) ~= "table" then fail("parse", "expected an R in JSON: %s", why or text:sub(1, 60)) end
  return R
end

-- Turns `what` into the argument of the compiled module: a vertex or a list of vertices.
local function vertices(job, what)
  if rset.is(what) then return of_entries(job, what:table "rlite") end
  if type(what) == "string" then what = read_R(what) end
  if type(what) ~= "table" then return what end
  if what.ranks ~= nil then return of_ranks(job, what.ranks) end
  if what.execution ~= nil or what.version ~= nil then return of_R(job, what) end
  return what
end

local function free_units(engine, job, what)
  if math.type(what.amount) ~= "integer" or what.amount < 1 then
    error("shrink: {vertex=, amount=}: expected an amount from 1 on")
  end
  if vertex.graph(what.vertex) ~= engine:resources() then error("shrink: the vertex belongs to another graph") end
  local ok, why, code = vertex.release(what.vertex, job.id, what.amount)
  if not ok then return nil, why, code end
  return engine:job(job.id) or true
end

--- Gives back the part `what` of a job; `shrink` is the compiled engine's method for vertices.
function M.shrink(engine, id, what, shrink)
  local job, why, code = engine:job(id)
  if not job then return nil, why, code end
  if type(what) == "table" and what.vertex ~= nil then return free_units(engine, job, what) end
  local list
  list, why, code = failure.caught(nil, vertices, job, what)
  if why then return nil, why, code end
  return shrink(engine, id, list)
end

return M
