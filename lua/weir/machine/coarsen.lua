--- coarsen.lua - coarse views of a machine, and how an allocation on a view becomes an allocation on the
-- machine.
--
--   local view, map = g:coarsen { keep = { "rack", "node" } }
--   map(v)                    for a fine vertex: the vertex of the view; for a vertex of the view: the list of fine
--   vertices
--   view:expand(a, {job=7})   allocates on g what the allocation `a` took on the view
--
-- A view copies free resources when made; later changes of the fine graph do not show. Expanding takes all or nothing:
-- units of a pool come from the fine vertices in order, and a vertex taken whole gives everything free below. Shared
-- use is not expanded.
--
-- With {follow = true} the view has all units, and the jobs, states and clock of the fine graph: it is brought up to date by
-- view:follow(), by view:expand() and by each match of an engine on it (coarse_follow.lua).

local core = require "weir.core"
local following = require "weir.machine.coarse_follow"

local M = {}

local maps = setmetatable({}, { __mode = "k" })

--- Makes a view with `coarsen`, the compiled function; see above. Returns the view and the map; or nil, message, code.
function M.make(coarsen, graph, opts)
  if type(opts) ~= "table" or opts.follow == nil then return M.remember(coarsen(graph, opts)) end
  if type(opts.follow) ~= "boolean" then
    error(("field 'follow': a boolean expected, got %s"):format(type(opts.follow)), 3)
  end
  local plain = {}
  for key, value in pairs(opts) do plain[key] = key ~= "follow" and value or nil end
  if not opts.follow then return M.remember(coarsen(graph, plain)) end
  return M.remember(following.make(coarsen, graph, plain))
end

--- Of a view made with {follow = true}: gives the view the jobs, the states and the clock of the fine graph. Jobs of the view
--- that are not expanded stay, unless the fine graph has given their units to others: these are dropped, and the second
--- result lists their ids. Or nil, message, code "stale": the fine graph has other vertices than when the view was made.
--- O(vertices + picks of all jobs)
M.follow = following.follow

--- Returns a function that brings a graph up to date, for a view that follows; nil for any other graph.
function M.following(graph) return following.is(graph) and function() return following.follow(graph) end or nil end

--- Associates a view with the map of vertices, for M.expand. Passes all arguments through, also errors of g:coarsen.
function M.remember(view, map, ...)
  if view then maps[view] = map end
  return view, map, ...
end

-- The units of v, at most `want`, free throughout the window. An exclusive pool gives either all units or none.
local function takeable(v, want, window)
  local free = v:available(window.start, window.stop)
  if v.exclusive and (free < v.size or want < v.size) then return 0 end
  return math.min(free, want)
end

local function book(v, amount, window)
  local duration = window.stop == math.huge and math.huge or window.stop - window.start
  return v:allocate { job = window.job, amount = amount, start = window.start, duration = duration }
end

local function book_units(list, want, window)
  for _, v in ipairs(list) do
    local amount = want > 0 and takeable(v, want, window) or 0
    if amount > 0 then
      local ok, why, code = book(v, amount, window)
      if not ok then return nil, why, code end
      want = want - amount
    end
  end
  if want == 0 then return true end
  return nil, ("%d units of %s are no longer free"):format(want, list[1] and list[1].type or "it"), "busy"
end

-- Allocates v whole; where a part of v is in use, everything free below v.
local function book_whole(v, window)
  local ok, why, code = book(v, v.size, window)
  if ok or code ~= "busy" or v:nchildren() == 0 then return ok, why, code end
  local leaves, units = {}, 0
  for below in v:graph():walk { start = v } do
    local free = below:nchildren() == 0 and takeable(below, below.size, window) or 0
    if free > 0 then leaves[#leaves + 1], units = below, units + free end
  end
  if units == 0 then return nil, why, code end
  return book_units(leaves, units, window)
end

local function book_pick(pick, map, window)
  local list = map(pick.vertex)
  if pick.amount == 0 and not pick.exclusive then return true end
  if #list == 1 and pick.exclusive then return book_whole(list[1], window) end
  return book_units(list, pick.amount, window)
end

--- Allocates on the fine graph the resources that `allocation` took on `view`, for job `opts.job` or, by default, the
--- job of `allocation`.
function M.expand(view, allocation, opts)
  local map = maps[view]
  if not map then error("expand: this graph is no view that g:coarsen made") end
  local live = following.is(view)
  local engine = core.engine { resources = map:graph() }
  local window = { job = opts and opts.job or allocation.id, start = math.max(allocation.at, engine:now()),
    stop = allocation.end_ }
  if engine:job(window.job) then return nil, ("job %d is there already"):format(window.job), "exists" end
  for _, pick in ipairs(allocation:vertices()) do
    local ok, why, code = book_pick(pick, map, window)
    if not ok then
      engine:release(window.job)
      return nil, why, code
    end
  end
  if live then
    following.expanded(view, allocation.id)
    following.follow(view)
  end
  return engine:job(window.job)
end

return M
