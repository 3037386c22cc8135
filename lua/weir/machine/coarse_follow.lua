--- coarse_follow.lua - coarse views (coarsen.lua) that follow the machine. The view is made of a duplicate with nothing in use
--- and everything up, so that it has all vertices and units; then jobs, states and clock are carried over again and again.
--
-- Units of a vertex that is not kept and not up, as far as no job has them, are taken off the size of its pool in the view. A
-- stage of the machine that locks resources is a job of the view, numbered from STAGES on.
-- Invariant: after M.follow a job of the view is either carried over, with the resources of the machine's job, or not
-- expanded yet.

local core = require "weir.core"

local M = {}

local STAGES = 1 << 52
local MOMENT = 1e-6 -- seconds: the shortest time

-- View -> {graph, engine, view_engine, root, probe = the map of a plain view, which fails once the machine has other vertices;
-- to = fine vertex -> vertex of the view; from = vertex of the view -> list of fine vertices; kept = set of vertices of the
-- view; total = size by pool of the view; carried = text that identifies a job, by id}.
local live = setmetatable({}, { __mode = "k" })

--- Whether a graph is such a view.
function M.is(view) return live[view] ~= nil end

local function own_of(view)
  return live[view] or error("follow: this graph is no view that g:coarsen{follow = true} made", 3)
end

-- ---- making ---------------------------------------------------------------------------------------------------------

-- Releases everything in a graph, and sets all states up.
local function clear(graph)
  local engine = core.engine { resources = graph }
  for _, stage in ipairs(engine:stages()) do engine:drop(stage) end
  for _, job in ipairs(engine:jobs()) do engine:release(job) end
  engine:close()
  for _, v in ipairs(graph:find "not state=up") do v.state = "up" end
end

-- Fills to, from, kept and total.
local function note_vertices(own, idle, view, map)
  for _, v in ipairs(idle:find "size>=0") do
    local w, fine = map(v), own.graph:twin(v)
    if w then
      own.to[fine] = w
      own.from[w] = own.from[w] or {}
      table.insert(own.from[w], fine)
    end
  end
  for _, w in ipairs(view:find "size>=0") do
    local first = own.from[w][1]
    own.kept[w] = #own.from[w] == 1 and first.uuid == w.uuid or nil
    own.total[w] = w.size
  end
end

--- Makes a view that follows a graph. coarsen: the compiled function; opts: {keep =}. Returns the view and the map; or nil,
--- message, code.
function M.make(coarsen, graph, opts)
  local idle <close>, why, code = graph:dup()
  if not idle then return nil, why, code end
  clear(idle)
  local view, map
  view, map, code = coarsen(idle, opts)
  if not view then return nil, map, code end
  local _, probe = assert(coarsen(graph, opts))
  local own = { graph = graph, engine = core.engine { resources = graph }, view_engine = core.engine { resources = view },
    root = graph:root(), probe = probe, to = {}, from = {}, kept = {}, total = {}, carried = {} }
  note_vertices(own, idle, view, map)
  live[view] = own
  local done
  done, why, code = M.follow(view)
  if not done then return nil, why, code end
  return view, setmetatable({ graph = function() return graph end }, { __call = function(_, v)
    return own.to[v] or own.from[v] or nil
  end })
end

-- ---- following ------------------------------------------------------------------------------------------------------

-- Adds to x what a job has as a whole at v and below: x.whole, kept vertices of the view; x.units by pool; x.used by fine
-- vertex.
local function add_whole(own, x, v)
  local w = own.to[v]
  if w and own.kept[w] then
    x.whole[w] = true
  elseif w then
    x.units[w] = (x.units[w] or 0) + v.size
    x.used[v] = v.size
  end
  for kid in v:children() do
    if w and own.kept[w] then x.used[kid] = kid.size end
    add_whole(own, x, kid)
  end
end

-- The resources of an allocation on the view: a list as e:allocate takes it, and a text that identifies it.
local function resources(own, a, used)
  local x, words = { whole = {}, units = {}, used = used }, {}
  for _, pick in ipairs(a:vertices()) do
    words[#words + 1] = ("%s=%d%s"):format(pick.vertex.path, pick.amount, pick.exclusive and "x" or "")
    local w = own.to[pick.vertex]
    if pick.exclusive then
      add_whole(own, x, pick.vertex)
    elseif w and pick.amount > 0 then
      x.units[w] = (x.units[w] or 0) + pick.amount
      used[pick.vertex] = (used[pick.vertex] or 0) + pick.amount
    end
  end
  local list = {}
  for w in pairs(x.whole) do
    local up = w:parent()
    while up and not x.whole[up] do up = up:parent() end
    if not up then list[#list + 1] = w end
  end
  for w, amount in pairs(x.units) do
    local up = w:parent()
    while up and not x.whole[up] do up = up:parent() end
    if not up then list[#list + 1] = { vertex = w, amount = amount } end
  end
  table.sort(words)
  return list, ("%.17g %.17g %s"):format(a.at, a.end_, table.concat(words, " "))
end

-- Returns the jobs of the machine as the view is to have them, by id: {list, text, at, stop}; and the units in use by fine
-- vertex.
local function wanted(own)
  local jobs, used = {}, {}
  local function add(id, a)
    local list, text = resources(own, a, used)
    jobs[id] = { list = list, text = text, at = a.at, stop = a.end_, held = a.state == "reserved" and a.at <= own.engine:now() }
  end
  for _, a in ipairs(own.engine:jobs()) do add(a.id, a) end
  for _, s in ipairs(own.engine:stages()) do
    if s.state ~= "claimed" then add(STAGES + s.stage, s) end
  end
  return jobs, used
end

-- Releases what is carried over and is no longer so.
local function drop_changed(own, jobs)
  for id, text in pairs(own.carried) do
    if not jobs[id] or jobs[id].text ~= text or jobs[id].held or jobs[id].stop <= own.engine:now() then
      own.view_engine:release(id)
      own.carried[id] = nil
    end
  end
end

-- Drops a job of the view that was not expanded.
local function drop_own(own, id, dropped)
  if own.view_engine:release(id) then dropped[#dropped + 1] = id end
end

-- Sets the size of a pool of the view. Jobs carried over are released for that, and carried over again; jobs that were not
-- expanded give way where they have the whole pool, or more than is left.
local function set_size(own, w, size, dropped)
  if w.size == size then return end
  for _, use in ipairs(w:uses()) do
    if own.carried[use.job] then
      own.view_engine:release(use.job)
      own.carried[use.job] = nil
    end
  end
  for _, use in ipairs(w:uses()) do
    if use.exclusive or w.allocated > size then drop_own(own, use.job, dropped) end
  end
  w.size = size
end

-- Takes what is not up off the sizes of pools.
local function carry_sizes(own, used, dropped)
  local cut, seen = {}, {}
  local function take_off(v)
    local w = own.to[v]
    if seen[v] or w and own.kept[w] then return end
    seen[v] = true
    if w then cut[w] = (cut[w] or 0) + v.size - math.min(used[v] or 0, v.size) end
    for kid in v:children() do take_off(kid) end
  end
  for _, v in ipairs(own.graph:find "not state=up and not state=degraded") do take_off(v) end
  for w in pairs(own.from) do
    if not own.kept[w] then set_size(own, w, own.total[w] - (cut[w] or 0), dropped) end
  end
end

-- The times of a job in the view. A job past its end has what it has now, and a reservation held back begins behind it.
local function times(own, job)
  local now = own.engine:now()
  local start = job.held and now + MOMENT or math.max(job.at, now)
  if job.stop == math.huge then return start, math.huge end
  return start, math.max(job.stop - start, MOMENT)
end

-- Gives a job of the machine to the view; jobs that were not expanded give way.
local function carry(own, id, job, dropped)
  local opts = { job = id }
  opts.start, opts.duration = times(own, job)
  if own.view_engine:job(id) then drop_own(own, id, dropped) end
  for _ = 1, 1000 do
    local a, why, code, lost = own.view_engine:allocate(job.list, opts)
    if a then return true end
    local gave_way = false
    for _, loss in ipairs(lost or {}) do
      if loss.job and not own.carried[loss.job] then
        drop_own(own, loss.job, dropped)
        gave_way = true
      end
    end
    if not gave_way then return nil, why, code end
  end
end

--- See coarsen.lua.
function M.follow(view)
  local own = own_of(view)
  if not pcall(own.probe, own.root) then
    return nil, "the machine has other vertices than when the view was made: g:coarsen makes a new one", "stale"
  end
  local now, dropped = own.engine:now(), {}
  local jobs, used = wanted(own)
  drop_changed(own, jobs)
  if own.view_engine:now() < now then own.view_engine:advance(now) end
  carry_sizes(own, used, dropped)
  local ids = {}
  for id in pairs(jobs) do ids[#ids + 1] = not own.carried[id] and #jobs[id].list > 0 and id or nil end
  table.sort(ids)
  for _, w in ipairs(#ids > 0 and view:find "not state=up" or {}) do w.state = "up" end -- a job may have what is down
  for _, id in ipairs(ids) do
    local done, why, code = carry(own, id, jobs[id], dropped)
    if not done then return nil, why, code end
    own.carried[id] = jobs[id].text
  end
  for w in pairs(own.kept) do
    if w.state ~= own.from[w][1].state then w.state = own.from[w][1].state end
  end
  return true, dropped
end

--- Releases a job of the view that was expanded.
function M.expanded(view, id)
  local own = own_of(view)
  if not own.carried[id] then own.view_engine:release(id) end
end

return M
