-- The bound of a start, from the sums of all jobs over time: units of vertices that are not up, or in nodes that the
-- constraint of a request excludes, are not free, and neither is what jobs have of them in use.

local weir = require "weir"
local core = require "weir.core"
local dice = require "spec.support.dice"

local FOREVER = math.huge

-- The jobspec of n vertices of a type, each taken as a whole, in nodes with a property (nil: in any).
local function asking(n, type, property)
  local system = property and { constraints = { properties = { property } } }
  return { resources = { { type = "slot", count = n, label = "s", with = { { type = type, count = 1, exclusive = true } } } },
    attributes = { system = system or {} } }
end

-- Whether v and all vertices above are up.
local function is_up(v)
  while v do
    if v.state ~= "up" then return false end
    v = v:parent()
  end
  return true
end

-- The intervals in which jobs other than `job` use a vertex, or have a vertex above as a whole.
local function spans(v, job)
  local list, own = {}, v
  while v do
    for _, use in ipairs(v:uses()) do
      if use.job ~= job and (v == own or use.exclusive) then list[#list + 1] = use end
    end
    v = v:parent()
  end
  return list
end

-- The earliest time from `at` on from which n vertices are free at each instant of the duration, not always the same.
local function brute(graph, n, type, property, at, duration, job)
  local usable, times = {}, { at }
  for v in graph:walk { type = type } do
    local node = type == "node" and v or v:ancestor "node"
    if is_up(v) and (not property or node.properties[property] ~= nil) then usable[#usable + 1] = spans(v, job) end
  end
  for _, list in ipairs(usable) do
    for _, use in ipairs(list) do
      times[#times + 1] = use.start
      times[#times + 1] = use["end"]
    end
  end
  table.sort(times)
  local function free(t)
    local sum = 0
    for _, list in ipairs(usable) do
      local busy = false
      for _, use in ipairs(list) do busy = busy or use.start <= t and t < use["end"] end
      sum = sum + (busy and 0 or 1)
    end
    return sum
  end
  for _, start in ipairs(times) do
    local fits = start >= at and start < FOREVER
    for _, t in ipairs(times) do
      fits = fits and (t < start or t >= start + duration or free(t) >= n)
    end
    if fits and free(start) >= n then return start end
  end
  return FOREVER
end

local PROPERTIES = { "batch", "debug" }

local function machine(d)
  local nodes = 2 * (1 + d(3))
  local graph = assert(weir.synthetic(("cluster:1 rack:2 node:%d core:%d"):format(nodes // 2, d(4))))
  for v in graph:walk { type = "node" } do v.properties[PROPERTIES[d(2)]] = "" end
  return graph, nodes
end

-- Sets the state of a random vertex.
local function disturb(d, graph)
  local all = {}
  for v in graph:walk {} do
    if v.type ~= "cluster" then all[#all + 1] = v end
  end
  all[d(#all)].state = ({ "up", "down", "draining", "up" })[d(4)]
end

local function random_ask(d)
  local kind = d(5)
  if kind == 5 then return d(2), "rack" end
  return d(8), kind < 3 and "core" or "node", d(2) == 1 and PROPERTIES[d(2)] or nil
end

describe("the bound of a start", function()
  it("is the first time at which the sums of usable units allow the job", function()
    local compared, later = 0, 0
    for seed = 1, 60 do
      local d = dice(seed)
      local graph = machine(d)
      local e = weir.engine { resources = graph, policy = "low" }
      for step = 1, 40 do
        if d(3) == 1 then disturb(d, graph) end
        if d(6) == 1 then
          local jobs = e:jobs()
          if #jobs > 0 then assert(e:release(jobs[d(#jobs)], false)) end
        end
        local n, type, property = random_ask(d)
        e:match(asking(n, type, property), { mode = "reserve", at = d(6) - 1, duration = d(9) })
        n, type, property = random_ask(d)
        local at, duration, jobs = d(10) - 1, d(9), e:jobs()
        local job = #jobs > 0 and d(2) == 1 and jobs[d(#jobs)].id or 1 << 40
        local expected = brute(graph, n, type, property, at, duration, job)
        local found = e:soonest(core.request(core.json_encode(asking(n, type, property))), job, at, duration)
        assert.equal(expected, found, ("seed %d, step %d: %d %s, %s"):format(seed, step, n, type, tostring(property)))
        compared, later = compared + 1, later + (found > at and found < FOREVER and 1 or 0)
      end
      assert(graph:check())
    end
    assert.is_true(later > compared // 20, ("%d of %d bounds are later"):format(later, compared))
  end)
end)
