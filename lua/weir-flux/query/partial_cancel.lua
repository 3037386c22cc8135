--- partial_cancel.lua - partial cancellation: releases a part of the resources of a job.

local failure = require "weir.failure"
local rset = require "weir.query.rset"
local search = require "weir.query.search"
local tables = require "weir.tables"
local tree = require "weir.query.tree"
local update = require "weir.query.update"

local M = {}

-- Returns the displayed parts of a job, with each vertex as a separate part.
local function spelled_out(session, job)
  local parts, root = { labels = job.parts.labels, above = job.parts.above }, tree.of(session.machine:root(), job.parts)
  if not root then return parts end
  tree.visit(root, function(n)
    if n.exclusive then
      parts[#parts + 1] = { vertex = n.vertex, amount = n.amount, exclusive = true, label = n.label }
    end
  end, function() end)
  return parts
end

--- Returns whether v or an ancestor of v is in a set.
function M.is_below(v, gone)
  while v and not gone[v] do v = v:parent() end
  return v ~= nil
end

--- Removes the vertices of a set, and their descendants, from the displayed parts of a job.
function M.strike(session, job, gone)
  local kept = { labels = job.parts.labels, above = job.parts.above }
  for _, part in ipairs(spelled_out(session, job)) do
    if not M.is_below(part.vertex, gone) then kept[#kept + 1] = part end
  end
  job.parts = kept
end

-- ---- vertices to release ------------------------------------------------------------------------------------------

local function held_by(session, job) return tables.set(tables.column(spelled_out(session, job), "vertex")) end

local FIND = {}

-- Returns the vertices of a JSON graph. Fails if the job does not hold each vertex.
function FIND.jgf(session, job, text)
  local list, held = rset.of_jgf(session.machine, text), held_by(session, job)
  for _, part in ipairs(list) do
    if not held[part.vertex] then failure.fail("job %d does not have %s", job.job, part.vertex.path) end
  end
  return list
end

-- Returns the job's vertices on the ranks of an R; the children of the rows are ignored.
function FIND.rv1exec(session, job, text)
  local list, held = {}, held_by(session, job)
  for _, row in ipairs((rset.rows(text))) do
    for rank in row.ranks:ids() do
      for _, v in ipairs(session.machine:on_rank(rank) or failure.fail("there is nothing on rank %d", rank)) do
        if held[v] then list[#list + 1] = { vertex = v } end
      end
    end
  end
  return list
end

-- Returns the ancestors that the job still marks as used. Quirk: an ancestor of a released vertex stays marked if the
-- job used no units below the ancestor of the types that -p counts at the ancestor.
local function left_above(session, job, tops)
  local counted, tags = search.counted(session, job), job.tags or {}
  for _, top in ipairs(tops) do
    local up = top:parent()
    while up do
      if not counted(up) then tags[up] = true end
      up = up:parent()
    end
  end
  return tags
end

local function run(session, job, reader, text)
  local list = FIND[reader](session, job, text)
  if #list == 0 then failure.fail "there is nothing of the job in it" end
  local gone, vertices = tables.set(tables.column(list, "vertex")), tables.column(update.topmost(list), "vertex")
  local tags = left_above(session, job, vertices)
  failure.must(session.engine:shrink(session:id_of(job.job), vertices))
  M.strike(session, job, gone)
  job.tags = tags
  if #job.parts == 0 and next(tags) == nil then session:forget(job) end
  return true
end

--- Releases the vertices named by a text. reader "jgf": each vertex of the graph; "rv1exec": all vertices of the job
--- on the ranks of the R. Returns true; or nil and a reason, with nothing released.
function M.run(session, job, reader, text) return failure.caught(nil, run, session, job, reader, text) end

return M
