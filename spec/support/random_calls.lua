--- random_calls.lua - random calls of the Lua interface on many graphs at once, so that every setting meets every other.
--- A history is a handful of places: a graph, engines on it, and what earlier calls left there (a detached job, a record,
--- a difference, a coarse view). Each step makes one call at one place. A call may fail, but only with a message and a
--- code, or with an error of wrong use; afterwards the graph must check out. A place may have a twin, a duplicate of its
--- graph: every call is made on both, must have equal results, and must leave equal graphs.
local core = require "weir.core"
local scenario = require "weir.scenario"
local sim = require "weir.sim"
local weir = require "weir"

local PLACES, VERTICES_MAX, CHECK_ALL = 5, 120, 12

-- ---- dice -------------------------------------------------------------------------------------------------------

local Dice = {}
Dice.__index = Dice

local function dice(seed) return setmetatable({ state = seed * 2654435761 + 12345 }, Dice) end

--- A number from 1 to n.
function Dice:__call(n)
  self.state = self.state * 6364136223846793005 + 1442695040888963407
  return 1 + (self.state >> 33) % n
end

local function pick(roll, list) return list[roll(#list)] end
local function maybe(roll, n, value)
  if roll(n) == 1 then return value end
end

-- ---- what calls are made of -------------------------------------------------------------------------------------

local MACHINES = {
  "cluster:1 rack:2 node:2 core:2 gpu:1 memory:1(size=8,unit=GB)", "node:3 socket:2 core:2 memory:1(size=4)",
    "cluster:1 node:36 core:1",
  "cluster:1 rack:3 node:2 core:3", "rack:2 node:1 core:4 gpu:2", "cluster:1 node:4 memory:2(size=6)", "core:1",
    "cluster:1 rack:1 node:34",
}
local TYPES = { "rack", "node", "socket", "core", "core", "gpu", "memory", "pdu" }
local SUBSYSTEMS = { "power", "network" }
local LIBRARY = {
  "first", "low", "high", "best_fit", "worst_fit", "spread", "emptiest", "round_robin", "contiguous", "alike", "gpu_affinity",
    "locality",
  "drain_first", "newest_first", "packed_gpu_nodes", "power", "network", "variation", "weighted", "treepool", "io",
}
local OWN = {
  { name = "whole", order = "-id", exclusive = { "node" } },
  { name = "rack", exclusive = "rack", locality = { "socket" } },
  { name = "free", order = { "node.free", "id" } },
  { name = "fed", subsystem = "power" },
  { name = "score", evaluate = function(v) return v.free - (v.id or 0) end },
  { name = "prune", prune = function(v) return v.state ~= "degraded" and (v.id or 0) ~= 1 end },
  { name = "select", select = function(list, _, min) return { table.unpack(list, #list - min + 1) } end },
  { name = "count", state = { n = 0 }, placed = function(_, state, vertices) state.n = state.n + #vertices end },
  { name = "admit", admit = function(jobspec) jobspec.attributes.system.duration = 3 return jobspec end },
  { name = "fails", evaluate = function(v) return v.id == 2 and error "on purpose" or 1 end },
}

local function machine(roll)
  local g = assert(weir.synthetic(pick(roll, MACHINES)))
  for _, v in ipairs(g:find "id>=0") do
    if roll(4) == 1 then v.properties[pick(roll, { "fast", "slow" })] = maybe(roll, 2, "4") or true end
    if v.type == "node" and roll(2) == 1 then v.rank = v.id or 0 end
  end
  if roll(2) == 1 then return g end
  local top, feeds = assert(g:add(nil, { type = "pdu", size = 40, id = 9 })), {}
  for i = 1, 2 do
    feeds[i] = assert(g:add(nil, { type = "pdu", size = 12, id = i }))
    assert(g:add_edge(top, feeds[i], { subsystem = "power", type = "supplies" }))
  end
  for _, v in ipairs(g:find "type=node") do
    assert(g:add_edge(pick(roll, feeds), v, { subsystem = "power", type = "supplies" }))
    if roll(4) == 1 then assert(g:add_edge(feeds[1], v, { subsystem = "power", type = "supplies" })) end
  end
  return g
end

-- Any vertex, of those outside of containment too; nil in an empty graph.
local function vertex(p, roll, type)
  local list, seen = {}, {}
  local function add(v)
    if not seen[v] and (not type or v.type == type) then list[#list + 1] = v end
    seen[v] = true
  end
  for v in p.g:walk {} do add(v) end
  for e in p.g:edges() do add(e.source) add(e.target) end
  return #list > 0 and pick(roll, list) or nil
end

local function vertices(p, roll)
  local list = {}
  for i = 1, roll(3) do list[i] = vertex(p, roll) end
  return list
end

local function shape(roll)
  local n, m = roll(4), roll(2)
  return pick(roll, {
    ("slot=%d/node"):format(n), ("slot=%d/core=%d"):format(n, m), ("slot=%d/memory=%d"):format(m, n), ("slot=%d-9/core"):format(n),
    ("slot=%d/[core=%d;gpu]"):format(m, m), ("node=%d/slot=1/core=%d"):format(m, m), ("slot=%d/node/core=%d"):format(m, m),
    ("rack=1/slot=%d/node"):format(m), "slot=1/rack", ("core=%d"):format(n), ("slot=1/[node/power=%d]"):format(n),
    ("slot=%d/[core=1;memory=%d]"):format(m, n), ("[pdu=%d;slot=%d/node]"):format(n, m),
      ("slot=1/[pdu=2-5;node/power=%d]"):format(m),
    ("[or_slot=1{a}/gpu=%d;or_slot=%d{a}/core=1]"):format(m, n), "slot=2/[socket/core=1;memory=1]", "slot=1/nothing",
      "cluster=1/slot=1/core",
    ("pdu=1/slot=%d/node"):format(m), "slot=1/socket",
  })
end

local CONSTRAINTS = {
  { properties = { "fast" } }, { ["not"] = { { properties = { "slow" } } } }, { ranks = { "0-2" } },
    { hostlist = { "node[0-1,3]" } },
  { ["or"] = { { properties = { "fast" } }, { ranks = { "1" } } } },
}

local function request(roll)
  if roll(4) > 1 then return shape(roll) end
  local r = weir.request(shape(roll))
  local jobspec = weir.json.decode(assert(r:format "jobspec"))
  jobspec.attributes = { system = { duration = roll(9), constraints = maybe(roll, 2, pick(roll, CONSTRAINTS)) } }
  return jobspec
end

local function policy(roll) return roll(2) == 1 and pick(roll, LIBRARY) or pick(roll, OWN) end

local function engine(p, roll) return pick(roll, p.engines) end

-- A job: of those that there are, a stage, or one that does not exist.
local function job(p, roll)
  local list = p.engines[1]:jobs()
  return #list > 0 and roll(20) > 1 and pick(roll, list).id or roll(30)
end

local function moment(p, roll) return math.max(0, p.g:now() + roll(12) - 4) end

local function match_options(p, roll)
  local o = {
    mode = pick(roll, { "now", "now", "reserve", "reserve", "preview", "feasible" }), duration = maybe(roll, 2, roll(12)),
    job = maybe(roll, 3, roll(40)), policy = nil, subsystem = maybe(roll, 8, pick(roll, { "power", "containment",
      "containment:rack", "power:node" })),
    within = maybe(roll, 12, vertex(p, roll)), at = maybe(roll, 4, moment(p, roll)), stats = maybe(roll, 6, false),
    strict_slots = maybe(roll, 9, true), strict_pools = maybe(roll, 9, true), strict_levels = maybe(roll, 9, true),
    follow = maybe(roll, 16, "power"), trace = maybe(roll, 9, {}), inside = maybe(roll, 9, {}), brief = maybe(roll, 12, true),
    about = maybe(roll, 5, { user = "ada", priority = roll(9) }),
  }
  if roll(16) == 1 then o.without = { pick(roll, { "admit", "prune", "evaluate", "exclusive", "locality" }) } end
  if o.mode == "feasible" then o.job = nil end
  return o
end

-- ---- calls ------------------------------------------------------------------------------------------------------

-- A call: function(p, roll, w) -> results, {nil, message, code} where it was refused. It does the same at a twin, so it draws
-- from `roll` only, and keeps what it leaves in the place. The fourth result is a graph that becomes a new place.
local CALLS, WEIGHTS = {}, {}

local function call(weight, name, f) CALLS[name], WEIGHTS[name] = f, weight end

-- -- matches

call(30, "match", function(p, roll) return engine(p, roll):match(request(roll), match_options(p, roll)) end)

call(6, "match by another policy", function(p, roll)
  local o, chosen = match_options(p, roll), policy(roll)
  o.policy = weir.policy(chosen)
  if type(o.policy) == "table" then o.policy = core.policy_table(chosen) end
  return engine(p, roll):match(request(roll), o)
end)

call(9, "stage", function(p, roll)
  return engine(p, roll):stage(shape(roll), { lock = maybe(roll, 2, false), lease = maybe(roll, 2, roll(9)),
    duration = maybe(roll, 2, roll(15)) })
end)

call(9, "commit", function(p, roll)
  local e = engine(p, roll)
  local list = e:stages()
  local ok, why, code = e:commit(#list > 0 and pick(roll, list).stage or roll(9), { job = maybe(roll, 3, roll(40)) })
  return ok, why, code
end)

call(2, "drop", function(p, roll)
  local e = engine(p, roll)
  local list = e:stages()
  return e:drop(#list > 0 and pick(roll, list) or roll(9))
end)

call(9, "release", function(p, roll) return engine(p, roll):release(job(p, roll)) end)
call(9, "grow", function(p, roll)
  return engine(p, roll):grow(job(p, roll), shape(roll), { subsystem = maybe(roll, 6, "power") })
end)

call(9, "shrink", function(p, roll)
  local e, id = engine(p, roll), job(p, roll)
  local a = e:job(id)
  local picks = a and a:vertices() or {}
  local v = #picks > 0 and pick(roll, picks).vertex or vertex(p, roll)
  if v and roll(4) == 1 and v:nchildren() > 0 then v = v:child(roll(v:nchildren())) end
  if v and roll(5) == 1 then return e:shrink(id, { vertex = v, amount = roll(3) }) end
  if roll(8) == 1 then return e:shrink(id, { ranks = "0-1" }) end
  return e:shrink(id, v and roll(4) == 1 and { v, vertex(p, roll) } or v)
end)

call(5, "allocate", function(p, roll)
  local list = vertices(p, roll)
  for i, v in ipairs(list) do
    if roll(2) == 1 then list[i] = { vertex = v, amount = roll(math.max(1, math.min(v.size, 9))) } end
  end
  return engine(p, roll):allocate(list, { job = maybe(roll, 2, roll(40)), start = maybe(roll, 3, moment(p, roll)),
    duration = maybe(roll, 2, roll(9)) })
end)

call(3, "allocate units", function(p, roll)
  local v = vertex(p, roll)
  return v and v:allocate { job = 50 + roll(9), amount = maybe(roll, 2, roll(3)), start = maybe(roll, 3, moment(p, roll)),
    duration = maybe(roll, 2, roll(9)) }
end)

call(3, "release units", function(p, roll)
  local v = vertex(p, roll)
  local list = v and v:jobs() or {}
  return v and v:release(#list > 0 and pick(roll, list) or 50 + roll(9), maybe(roll, 2, roll(3)))
end)

call(3, "detach", function(p, roll)
  if p.detached then
    local held = p.detached
    p.detached = nil
    return engine(p, roll):attach(held, maybe(roll, 2, moment(p, roll) + 5))
  end
  local held, why, code = engine(p, roll):detach(job(p, roll))
  p.detached = held
  return held and true, why, code
end)

call(3, "record", function(p, roll)
  if p.record then
    local record = p.record
    p.record = maybe(roll, 2, record)
    return engine(p, roll):book(record, 60 + roll(30))
  end
  local record, why, code = engine(p, roll):record(job(p, roll))
  p.record = record
  return record and true, why, code
end)

call(5, "place", function(p, roll)
  local r = weir.request(shape(roll))
  return engine(p, roll):place(r, 100 + roll(40), p.g:now(), roll(12), roll(2) == 1, roll(2) == 1)
end)

call(6, "soonest", function(p, roll)
  local r = weir.request(shape(roll))
  return engine(p, roll):soonest(r, roll(2) == 1 and job(p, roll) or 200, moment(p, roll), roll(12))
end)

call(3, "levels", function(p, roll)
  return engine(p, roll):levels(shape(roll), { within = maybe(roll, 2, vertex(p, roll)), subsystem = maybe(roll, 6, "power") })
end)
call(2, "explain", function(p, roll) return engine(p, roll):explain(request(roll)) end)
call(2, "admitted", function(p, roll) return engine(p, roll):admitted(shape(roll)) end)
call(2, "placed", function(p, roll) return engine(p, roll):placed(job(p, roll), weir.request(shape(roll))) end)

call(9, "advance", function(p, roll) return engine(p, roll):advance(moment(p, roll)) end)
call(2, "advance the graph", function(p, roll) return p.g:advance(moment(p, roll)) end)
call(2, "rewind", function(p, roll) return p.g:rewind(moment(p, roll)) end)
call(2, "validity", function(p, roll)
  if roll(2) == 1 then return p.g:set_validity() end
  return p.g:set_validity(maybe(roll, 2, moment(p, roll)), maybe(roll, 2, p.g:now() + 9 + roll(20)))
end)

-- -- engines

call(5, "engine", function(p, roll)
  local e, why, code = weir.engine { resources = p.g, policy = policy(roll), overrun = maybe(roll, 2, pick(roll, { "hold",
    "expire" })),
    scores = maybe(roll, 2, pick(roll, { "remember", "check", "call" })),
    granularity = maybe(roll, 6, pick(roll, { "power", "containment:rack", "containment:node" })) }
  if not e then return nil, why, code end
  local at = #p.engines < 3 and #p.engines + 1 or roll(3)
  if p.engines[at] and roll(2) == 1 then p.engines[at]:close() end
  p.engines[at] = e
  return true
end)

call(4, "use", function(p, roll) return engine(p, roll):use(policy(roll)) end)
call(2, "state", function(p, roll)
  local e = engine(p, roll)
  return { e:state(), e:stats() and 1, e:free "core", #e:jobs(), #e:stages(), (e:policy()), e:personal() }
end)

-- -- pools

call(5, "size", function(p, roll)
  local v = vertex(p, roll, maybe(roll, 2, "memory"))
  if v then v.size = pick(roll, { 0, 1, 2, 3, 4, 6, 8, 9, 20 }) end
  return v
end)
call(5, "state of a vertex", function(p, roll)
  local v = vertex(p, roll)
  if v then v.state = pick(roll, { "up", "up", "up", "down", "degraded", "failing", "unknown", "null", "draining" }) end
  return v
end)
call(5, "marks", function(p, roll)
  local v = vertex(p, roll)
  if not v then return true end
  local what = roll(6)
  if what == 1 then v.tags[pick(roll, { "a", "b", "c" })] = maybe(roll, 2, "x")
  elseif what == 2 then v.properties[pick(roll, { "fast", "slow", "a" })] = maybe(roll, 2, tostring(roll(4)))
  elseif what == 3 then v.data[pick(roll, { "a", "b" })] = maybe(roll, 2, { 1, { x = roll(9) } })
  elseif what == 4 then v.rank = maybe(roll, 2, roll(9))
  elseif what == 5 then v.unit = pick(roll, { "", "GB", "MB" })
  else v.exclusive = roll(2) == 1 end
  return v
end)

call(5, "read", function(p, roll)
  local v = vertex(p, roll)
  if not v then return true end
  return { v.free, v.allocated, v.detached, v:uri(), v:parent(), #v:edges(), #v:uses(), v:shared(), v:jobs(), v:aggregate(),
    v:below "core",
    v:available(moment(p, roll), p.g:now() + roll(20)), v:ancestor "node", p.g:twin(v) == nil, p.g:now(), { p.g:validity() },
      p.g:types() }
end)

-- -- structure

local function pool(roll)
  local type = pick(roll, TYPES)
  return { type = type, id = maybe(roll, 2, roll(40)), size = (type == "memory" or type == "pdu") and roll(9) or nil,
    rank = maybe(roll, 4, roll(9)),
    exclusive = maybe(roll, 9, true), unit = maybe(roll, 6, "GB"), properties = maybe(roll, 3, { fast = true }),
      name = maybe(roll, 9, "n" .. roll(99)) }
end

local function room(p) return p.g:count() < VERTICES_MAX end

call(6, "add", function(p, roll)
  if not room(p) then return true end
  return p.g:add(roll(9) > 1 and vertex(p, roll) or nil, pool(roll), maybe(roll, 3, roll(4)))
end)
call(3, "add many", function(p, roll)
  if not room(p) then return true end
  p.g:begin()
  local added = {}
  for i = 1, roll(5) do
    local ok, v = pcall(p.g.add, p.g, added[i - 1] or vertex(p, roll), pool(roll))
    added[i] = ok and v or nil
  end
  return p.g:finish()
end)
call(6, "unlink", function(p, roll)
  local v = vertex(p, roll)
  local result, why, code = true, nil, nil
  if v then
    result, why, code = p.g:unlink(v, roll(4) == 1 and pick(roll, SUBSYSTEMS) or { force = maybe(roll, 2, true) })
  end
  if type(result) == "table" then result = #result end
  return result, why, code
end)
call(3, "attach a vertex", function(p, roll)
  local v = vertex(p, roll)
  return v and p.g:attach(v, maybe(roll, 2, vertex(p, roll)))
end)
call(5, "edge", function(p, roll)
  local a, b = vertex(p, roll), vertex(p, roll)
  return a and p.g:add_edge(a, b, { subsystem = pick(roll, SUBSYSTEMS), type = pick(roll, { "supplies", "link" }),
    back = maybe(roll, 3, "link") })
end)
call(3, "remove edge", function(p, roll)
  local list = {}
  for e in p.g:edges() do list[#list + 1] = e end
  if #list == 0 then return true end
  local e = pick(roll, list)
  return p.g:remove_edge(e.source, e.target, { subsystem = e.subsystem })
end)
call(3, "split", function(p, roll)
  local v = vertex(p, roll, maybe(roll, 2, "memory"))
  return v and room(p) and p.g:split(v, roll(4))
end)
call(3, "join", function(p, roll)
  local a = vertex(p, roll, maybe(roll, 2, "memory"))
  local up = a and a:parent()
  return a and p.g:join(a, up and up:child(roll(up:nchildren())) or vertex(p, roll))
end)
call(2, "refine", function(p, roll)
  local v = vertex(p, roll, maybe(roll, 2, "memory"))
  return v and room(p) and p.g:refine(v, roll(4))
end)
call(2, "merge", function(p, roll, w)
  if not room(p) then return true end
  local other = pick(roll, w.places)
  other = (roll(2) == 1 or other == p or other == p.twin_of) and machine(roll) or other.g
  if other:count() > 60 then return true end
  if roll(2) == 1 then return p.g:merge(other) end
  local v = vertex(p, roll)
  return p.g:merge(other, v and not v.detached and v.path .. pick(roll, { "", "/node7" }) or "/x0", { parts = maybe(roll, 3,
    true) })
end)

-- -- other graphs: each gives a new place

local function opened(g, why, code)
  if not g then return nil, why, code end
  return true, nil, nil, g
end

call(3, "copy", function(p, roll)
  local v = vertex(p, roll)
  if not v then return true end
  return opened(p.g:copy(v))
end)
call(2, "extract", function(p, roll) return opened(p.g:extract(vertices(p, roll))) end)
call(2, "hierarchy", function(p, roll) return opened(p.g:hierarchy(pick(roll, SUBSYSTEMS))) end)
call(2, "find", function(p, roll)
  local what = pick(roll, { "type=node and id<3", "free>0 and not property=fast", "job=1-9", "type=memory or type=core",
    "tag.a=x", "path=*/rack1/*" })
  if roll(3) == 1 then return opened(p.g:find(what, { as = "graph" })) end
  return p.g:find(what, { start = maybe(roll, 4, vertex(p, roll)), subsystem = maybe(roll, 6, "power") })
end)
call(2, "new", function(_, roll) return opened(machine(roll)) end)
call(3, "load", function(p, roll, w)
  local format = pick(roll, { "jgf", "document", "recipe", "rv1", "sqlite", "sqlite", "pieces" })
  if p.g:subsystems()[1] ~= "containment" then return true end -- files have no other tree
  if format == "sqlite" then
    local path = ("%s/%d.sqlite"):format(w.dir, p.number)
    local ok, why, code = p.g:save(path, { changed = maybe(roll, 2, true) })
    if not ok then return nil, why, code end
    return opened(weir.load(path))
  elseif format == "pieces" then
    local pieces, why, code = p.g:pieces()
    if not pieces then return nil, why, code end
    if roll(2) == 1 then pieces:stored(p.g) end
    return opened(pieces:graph())
  end
  local text, why, code = p.g:format(format)
  if not text then return nil, why, code end
  return opened(weir.parse(text, { format = format == "recipe" and "recipe" or nil }))
end)
call(2, "difference", function(p, roll)
  if not p.before or roll(3) == 1 then
    p.before = assert(p.g:dup())
    return true
  end
  local text, why, code = p.before:diff(p.g)
  if not text then return nil, why, code end
  local g
  g, why, code = p.before:apply(text)
  if not g then return nil, why, code end
  return g:compare(p.g, true)
end)
call(3, "coarse view", function(p, roll)
  if p.view then
    local view, map = table.unpack(p.view)
    local what = roll(5)
    if what == 1 then p.view = nil return true end
    if what == 2 then return (view:follow()) ~= nil end
    if what == 3 then return #map(view:root()) end
    local e = assert(weir.engine { resources = view })
    local a, why, code = e:match(shape(roll), { mode = pick(roll, { "now", "reserve" }), duration = roll(9) })
    if not a then return nil, why, code end
    local done
    done, why, code = view:expand(a, { job = maybe(roll, 2, 160 + roll(40)) })
    assert(view:check())
    return done, why, code
  end
  local view, map, code = p.g:coarsen { keep = pick(roll, { { "rack" }, { "node" }, { "rack", "node" }, { "cluster",
    "node" } }), follow = roll(3) > 1 or nil }
  if not view then return nil, map, code end
  assert(view:check())
  p.view = { view, map }
  return true
end)

-- -- output

call(3, "format", function(p, roll)
  local format = pick(roll, { "jgf", "document", "rv1", "rv1_nosched", "rlite", "csv", "dot", "recipe", "svg", "tree" })
  local text, why, code = p.g:format(format)
  return text and format ~= "jgf" and format ~= "document" and #text or text and true, why, code
end)
call(2, "other texts", function(p, roll)
  local set, why, code = p.g:rset { state = pick(roll, { "all", "down", "allocated" }) }
  if not set then return nil, why, code end
  return { set:format(), p.g:losses "csv", p.g:changed() and 1, p.g:bytes() > 0, p.g:fold({ p.g:root() }).count }
end)
call(2, "resolve", function(p, roll)
  local a, why, code = engine(p, roll):job(job(p, roll))
  if not a then return nil, why, code end
  local text
  text, why, code = a:format(pick(roll, { "jgf", "rv1" }))
  if not text then return nil, why, code end
  return p.g:resolve(text)
end)
call(3, "flow", function(p, roll)
  return p.g:flow { subsystem = pick(roll, SUBSYSTEMS), to = vertices(p, roll), units = maybe(roll, 2, roll(9)),
    at = maybe(roll, 3, moment(p, roll)),
    duration = maybe(roll, 2, roll(9)), capacity = maybe(roll, 3, true) }
end)
call(3, "walk", function(p, roll)
  local n = 0
  for v in p.g:walk { start = maybe(roll, 2, vertex(p, roll)), subsystem = maybe(roll, 4, "power"), order = pick(roll, { "pre",
    "post", "breadth" }),
    type = maybe(roll, 3, "core"), reverse = maybe(roll, 4, true), upward = maybe(roll, 8, true) } do
    n = n * 31 + v.index
  end
  return n
end)
call(1, "uuid", function(p, roll) return p.g:uuid(("%08x-0000-4000-8000-000000000001"):format(roll(1000000))) end)

-- -- queues: on a duplicate, or on the graph itself

local QUEUES = { "fcfs", "easy", "conservative", "hybrid:k=2", "sjbf", "priority", "turns", "preempt" }

call(2, "queue", function(p, roll)
  local g = roll(2) == 1 and p.g or assert(p.g:dup())
  if #p.engines[1]:stages() > 0 then return true end
  local s, why, code = sim.new { resources = g, policy = pick(roll, LIBRARY), queue = pick(roll, QUEUES), rule = maybe(roll, 2,
    "per-event"),
    overrun = maybe(roll, 2, "run"), keep_going = maybe(roll, 2, true), type = maybe(roll, 3, "node") }
  if not s then return nil, why, code end
  for i = 1, roll(6) do
    local estimate = roll(9)
    s:submit { request = shape(roll), estimate = estimate, runtime = maybe(roll, 2, roll(12)), at = s.now + roll(9),
      number = 300 + i,
      user = maybe(roll, 2, "ada"), priority = maybe(roll, 2, roll(9)) }
  end
  s:run()
  assert(g:check())
  return true
end)

call(1, "scenario", function(p, roll)
  if not p.g:root() then return true end
  local s = scenario { machine = assert(p.g:extract { p.g:root() }), policy = pick(roll, LIBRARY), queue = pick(roll, QUEUES) }
  local v = {}
  for u in s.graph:walk {} do v[#v + 1] = u end
  for _ = 1, roll(6) do
    local what = roll(4)
    if what <= 2 then s:submit { shape(roll), lasts = roll(9) }
    elseif what == 3 then s:down(pick(roll, v).path)
    else s:advance(roll(5)) end
  end
  s:run()
  assert(s.graph:check())
  return true
end)

-- ---- twins --------------------------------------------------------------------------------------------------------

-- A result as a text that is equal at both twins.
local function told(x, depth)
  local kind = core.kind and core.kind(x) or type(x)
  if kind ~= "table" and kind ~= "userdata" then return tostring(x) end
  if kind == "userdata" then
    local ok, picks = pcall(function() return x:vertices() end)
    if ok then
      local list = { ("%s %s %s %s"):format(x.id, x.state, x.at, x.end_) }
      for _, v in ipairs(picks) do list[#list + 1] = ("%d:%d%s"):format(v.vertex.index, v.amount, v.exclusive and "x" or "") end
      return table.concat(list, " ")
    end
    local is_vertex, index = pcall(function() return x.index end)
    return is_vertex and "vertex " .. tostring(index) or "a value"
  end
  if (depth or 0) > 5 then return "..." end
  local list = {}
  for k, v in pairs(x) do list[#list + 1] = told(k, 6) .. "=" .. told(v, (depth or 0) + 1) end
  table.sort(list)
  return "{" .. table.concat(list, ",") .. "}"
end

-- ---- playing ------------------------------------------------------------------------------------------------------

-- Errors that are faults of weir (or of this program), not refusals.
local FAULTS = { "attempt to", "internal", "stack overflow", "assertion failed", "weir_check", "traceback",
  "not enough memory", "out of memory" }

local function is_fault(text)
  for _, word in ipairs(FAULTS) do
    if text:find(word, 1, true) then return true end
  end
  return false
end

local places = 0

local function place_of(g, roll)
  places = places + 1
  local e = weir.engine { resources = g, policy = roll and pick(roll,
    LIBRARY) or "first" } or assert(weir.engine { resources = g, policy = "first" })
  return { g = g, engines = { e }, number = places }
end

-- Makes a call at a place. Returns "ok", "refused" or "raised", the result as a text, and the graph that it opened.
local function make(name, p, seed, w)
  local ok, result, why, code, graph = xpcall(CALLS[name], function(e)
    return is_fault(tostring(e)) and debug.traceback(tostring(e)) or e
  end, p, dice(seed), w)
  if not ok then
    if is_fault(tostring(result)) then error(("%s: %s"):format(name, result), 0) end
    return "raised", tostring(result)
  end
  if result ~= nil and result ~= false or why == nil then return "ok", told(result), graph end
  local fine = type(why) == "string" and type(code) == "string" and not is_fault(why)
  if not fine then error(("%s: refused with %s, %s"):format(name, why, code), 0) end
  return "refused", code .. ": " .. why
end

local function check(p, name)
  local ok, why = p.g:check()
  if not ok then error(("%s: %s"):format(name, why), 0) end
end

-- Gives a place a twin. The engines of both are new, as an engine may have chosen by what it remembers.
local function give_twin(p, seed)
  for _, stage in ipairs(p.engines[1]:stages()) do
    if stage.state == "claimed" then assert(p.engines[1]:drop(stage)) end -- a duplicate has none of these
  end
  local twin = place_of(assert(p.g:dup()), dice(seed))
  local same, why = p.g:compare(twin.g, true)
  if not same then error("a duplicate differs: " .. why, 0) end
  p.engines = place_of(p.g, dice(seed)).engines
  p.detached, p.before, p.view, p.record = nil, nil, nil, nil
  p.twin, twin.twin_of = twin, p
end

local DECK = {}
for name, weight in pairs(WEIGHTS) do
  for _ = 1, weight do DECK[#DECK + 1] = name end
end
table.sort(DECK)

local function step(w, roll)
  local p, name, seed = pick(roll, w.places), pick(roll, DECK), roll(1 << 30)
  if roll(25) == 1 then
    if p.twin then p.twin.g:close() p.twin = nil else give_twin(p, seed) end
    return
  end
  w.log[#w.log + 1] = ("%d %s"):format(#w.log + 1, name)
  local outcome, text, graph = make(name, p, seed, w)
  w.log[#w.log] = ("%s: %s %s"):format(w.log[#w.log], outcome, text:sub(1, 150))
  w.tally[name] = w.tally[name] or { ok = 0, refused = 0, raised = 0 }
  w.tally[name][outcome] = w.tally[name][outcome] + 1
  check(p, name)
  if p.twin then
    local again, text2 = make(name, p.twin, seed, w)
    if outcome ~= again or text ~= text2 then
      error(("%s: %s %s; in a duplicate %s %s"):format(name, outcome, text, again, text2), 0)
    end
    check(p.twin, name .. " in a duplicate")
    local same, why = p.g:compare(p.twin.g, true)
    if not same then error(("%s: the duplicate differs: %s"):format(name, why), 0) end
  end
  if graph then
    w.places[#w.places < PLACES and #w.places + 1 or roll(PLACES)] = place_of(graph, roll)
    check({ g = graph }, name)
  end
  if #w.log % CHECK_ALL == 0 then
    for _, other in ipairs(w.places) do check(other, name .. ", another graph") end
  end
end

local M = {}

--- The names of all calls.
M.names = {}
for name in pairs(CALLS) do M.names[#M.names + 1] = name end
table.sort(M.names)

--- Plays one history. Returns nil, or why it failed, with the last calls. `tally` counts the outcomes by call; `dir` is for
--- files.
function M.play(seed, steps, tally, dir)
  local roll = dice(seed)
  local w = { places = { place_of(machine(roll), roll), place_of(machine(roll), roll) }, log = {}, tally = tally, dir = dir }
  for _ = 1, steps do
    local ok, why = pcall(step, w, roll)
    if not ok then
      return ("seed %d: %s\nthe last calls:\n%s"):format(seed, why, table.concat(w.log, "\n", math.max(1, #w.log - 7)))
    end
  end
end

--- As a program, so that a crash names its seed: plays histories from a seed on, and prints each seed first, then the calls
--- that no history made with success. random_calls.lua FIRST HISTORIES STEPS DIRECTORY
function M.main(first, histories, steps, dir)
  local tally = {}
  for seed = first, first + histories - 1 do
    print("seed", seed)
    io.stdout:flush()
    local why = M.play(seed, steps, tally, dir)
    if why then
      print(why)
      return 1
    end
  end
  for _, name in ipairs(M.names) do
    if not tally[name] or tally[name].ok == 0 then print("never made", name) end
  end
  print "done"
  return 0
end

return M
