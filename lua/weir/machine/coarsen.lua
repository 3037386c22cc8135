--- coarsen.lua - coarse views of a machine (G10), and the way back from them.
--
--   local view, map = g:coarsen { keep = { "rack", "node" } }
--   map(v)                    a fine vertex: the one of the view that stands for it; one of the view: the list it is for
--   view:expand(a, {job=7})   books on g what the allocation `a` took on the view
--
-- The view has what is free on the fine graph when it is made; later changes there are not seen by it. Expanding is
-- all or nothing: of a pool the units are taken from the fine vertices in their order, of a vertex taken as a whole
-- all that is free below it. Shared use is not booked.

local core = require "weir.core"

local M = {}

local maps = setmetatable({}, { __mode = "k" })

--- Keeps the map of a view, to be found by expand.
function M.remember(view, map, ...)
  if view then maps[view] = map end
  return view, map, ...
end

-- Units of v that an allocation can take; of a pool that is only given as a whole, all or none.
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

-- All of v; where something in it is in use, what is free below.
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

--- Books an allocation of a view on the fine graph, under the job number of `opts.job` or that of the allocation.
function M.expand(view, allocation, opts)
  local map = maps[view]
  if not map then error("expand: this graph is no view that g:coarsen made") end
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
  return engine:job(window.job)
end

return M
