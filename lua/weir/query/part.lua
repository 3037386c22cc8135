--- part.lua - gives back a part of what a job has.

local rset = require "weir.query.rset"
local search = require "weir.query.search"
local tree = require "weir.query.tree"
local update = require "weir.query.update"

local M = {}

-- All that is shown of a job, each vertex as a part of its own.
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

--- Whether v, or something above it, is in a set.
function M.is_below(v, gone)
  while v and not gone[v] do v = v:parent() end
  return v ~= nil
end

--- Takes the vertices of a set, and what is below them, out of what is shown of a job.
function M.strike(session, job, gone)
  local kept = { labels = job.parts.labels, above = job.parts.above }
  for _, part in ipairs(spelled_out(session, job)) do
    if not M.is_below(part.vertex, gone) then kept[#kept + 1] = part end
  end
  job.parts = kept
end

-- ---- what is to go ------------------------------------------------------------------------------------------

local function held_by(session, job)
  local held = {}
  for _, part in ipairs(spelled_out(session, job)) do held[part.vertex] = true end
  return held
end

local FIND = {}

-- Each vertex of a JSON graph has to be the job's.
function FIND.jgf(session, job, text)
  local list, held = rset.of_jgf(session.machine, text), held_by(session, job)
  for _, part in ipairs(list) do
    if not held[part.vertex] then rset.fail("job %d does not have %s", job.job, part.vertex.path) end
  end
  return list
end

-- Of an R only the ranks count.
function FIND.rv1exec(session, job, text)
  local list, held = {}, held_by(session, job)
  for _, row in ipairs((rset.rows(text))) do
    for rank in row.ranks:ids() do
      for _, v in ipairs(session.machine:on_rank(rank) or rset.fail("there is nothing on rank %d", rank)) do
        if held[v] then list[#list + 1] = { vertex = v } end
      end
    end
  end
  return list
end

-- Quirk: a vertex above what is given back is still the job's where nothing that -p counts there was.
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
  local list, gone, vertices = FIND[reader](session, job, text), {}, {}
  if #list == 0 then rset.fail "there is nothing of the job in it" end
  for _, part in ipairs(list) do gone[part.vertex] = true end
  for i, part in ipairs(update.topmost(list)) do vertices[i] = part.vertex end
  local tags = left_above(session, job, vertices)
  local ok, why = session.engine:shrink(session:id_of(job.job), vertices)
  if not ok then rset.fail("%s", why) end
  M.strike(session, job, gone)
  job.tags = tags
  if #job.parts == 0 and next(tags) == nil then session:forget(job) end
  return true
end

--- Gives back what a text names ("jgf": each vertex, "rv1exec": all that the job has on its ranks): true; or nil and why.
function M.run(session, job, reader, text) return rset.guarded(run, session, job, reader, text) end

return M
