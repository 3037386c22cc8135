--- scores.lua - random machines, histories and scoring functions, run twice: with an engine that remembers scores and
--- compares each with a fresh one, and with an engine that calls evaluate for each candidate of each match. Both must
--- give equal answers.
local weir = require "weir"
local dice = require "spec.support.dice"

local M = {}

local SHAPES = {
  "slot=1/node", "slot=2/node", "slot=5/node", "slot=1/core=2", "slot=3/core", "slot=2/node/core=2", "slot=1/[core=1;gpu=1]",
  "node=1/slot=1/core=2", "rack=1/slot=2/node", "rack=1/node=2/slot=1/core=2", "core=3", "slot=1/gpu", "slot=1-4/node",
  "socket=1/slot=1/core=1", "cluster=1/slot=3/node",
}

-- ---- machines -------------------------------------------------------------------------------------------------

local function machine(roll)
  local sockets = roll(3) == 1 and (" socket:%d"):format(roll(2)) or ""
  local g = weir.synthetic(("cluster:1 rack:%d node:%d%s core:%d gpu:%d"):format(roll(3),
    roll(12) == 1 and 260 or 1 + roll(5), sockets, 1 + roll(3), roll(2)))
  return g
end

-- Adds a subsystem of feeders with units, above all nodes.
local function feed(g, name, type)
  local top, feeders = assert(g:add(nil, { type = type, size = 900 })), {}
  for i = 1, 2 do
    feeders[i] = assert(g:add(nil, { type = type, size = 500, id = i }))
    assert(g:add_edge(top, feeders[i], { subsystem = name, type = "supplies" }))
  end
  local nodes = {}
  for v in g:walk { type = "node" } do nodes[#nodes + 1] = v end
  for i, v in ipairs(nodes) do assert(g:add_edge(feeders[i % 2 + 1], v, { subsystem = name, type = "supplies" })) end
end

-- ---- functions ------------------------------------------------------------------------------------------------

local READS = {
  "v.id or 0", "v.free", "(select(2, v:below 'core'))", "(v:below 'gpu')", "(select(3, v:below 'core'))", "v.size", "v.index",
  "#v.name", "tonumber(v.tags.heat) or 0", "tonumber(v.properties.class) or 1", "v.rank or 0", "v.state == 'up' and 1 or 0",
  "(select(2, (v:parent() or v):below(v.type)))", "(select(2, (v:ancestor 'rack' or v):below 'core'))",
  "tonumber((v:parent() or v).tags.heat) or 0", "tonumber((v:ancestor 'node' or v).properties.class) or 2",
  "(select(2, (v:ancestor 'node' or v):below 'core'))", "(v:ancestor 'node' or v).state == 'up' and 3 or 1",
  "(r:ends_within(60) and 2 or 1)", "(r:ends_within(v.id or 3) and 1 or 0)", "v.allocated",
  "r.count", "(r.below == 'core' and 2 or 1)", "(r.type == 'node' and 1 or 4)", "math.min(r.duration, 100)",
  "(r.duration <= 50 and 1 or -1) * (tonumber(v.tags.heat) or 0)", "v:graph():now() % 7", "largest", "seen",
  "(v:child(1) or v).free", "#tostring(v)", "(v:nchildren())", "(v:aggregate().core or {free = 0}).free",
  "(v.tags.gone and 5 or 2)", "select(2, v:graph():root():below 'core')", "(pairs(v.properties)) and 1",
  "(function() local n = 0 for c in v:children() do n = n + c.free end return n end)()",
  "(function() local n = 0 for _ in pairs(v.tags) do n = n + 1 end return n end)()", "#v.tags",
  "(function() local n = 0 for u in v:graph():walk{start = v, type = 'core'} do n = n + u.free end return n end)()",
  "(function() local n = 0 v:graph():walk{start = v, type = 'core', fields = 'free',"
    .. " visit = function(_, _, _, f) n = n + f end} return n end)()",
}
-- What siblings share.
local SHARED = {
  "(select(2, (v:parent() or v):below(v.type)))", "tonumber((v:parent() or v).tags.heat) or 0", "(v:parent() or v).id or 0",
  "(v:parent() or v).state == 'up' and 2 or 0", "(v:parent() or v).free", "v:graph():now() % 5", "(r.duration <= 50 and 3 or 1)",
  "tonumber((v:parent() or v).properties.class) or 1", "(r.type == 'node' and 1 or 2)", "largest", "seen", "r.count",
}
local JOINS = { "%s + %s", "%s - %s", "%s * %s", "math.max(%s, %s)", "(%s > 2 and %s or 1)" }

local function expression(roll, depth)
  if depth == 0 or roll(3) == 1 then return "(" .. READS[roll(#READS)] .. ")" end
  return "(" .. JOINS[roll(#JOINS)]:format(expression(roll, depth - 1), expression(roll, depth - 1)) .. ")"
end

local ORDERS = { "", "order = 'id',", "order = {'-id', 'index'},", "order = {'node.id', 'id'},",
  "order = function(v) return -(v.id or 0) end," }

--- A policy with a random function from a grammar of reads.
function M.policy_text(roll)
  local alike = roll(6) == 1
  local score = alike and "select(2, (v:parent() or v):below(v.type)), true" or expression(roll, roll(3))
  local none = roll(5) == 1 and not alike and ("if %s then return nil end"):format(
    ({ "v.tags.gone", "(v.id or 0) % 3 == 1", "v.free == 0", "r.duration > 60" })[roll(4)]) or ""
  local shared = roll(3) > 1 and "" or ("evaluate_siblings = function(v, r) %s return (%s) * (%s) end,"):format(
    roll(4) == 1 and "if (v:parent() or v).tags.gone then return nil end" or "", SHARED[roll(#SHARED)], SHARED[roll(#SHARED)])
  local admit = roll(5) == 1 and "admit = function(jobspec) seen = #jobspec.resources end," or ""
  local prune = roll(3) > 1 and "" or ("prune = function(v, r) return v.type == 'cluster' or (%s) %% 3 ~= 1 end,"):format(
    expression(roll, roll(2) - 1))
  return ("local largest, seen = 1, 0\nreturn { %s %s %s %s init = function(g) largest = g:count() end,\n"
    .. "evaluate = function(v, r) %s return %s end }"):format(ORDERS[roll(#ORDERS)], admit, prune, shared, none, score)
end

--- A policy with a random prune, and an order.
function M.prune_text(roll)
  return ("local largest, seen = 1, 0\nreturn { %s init = function(g) largest = g:count() end,\n"
    .. "prune = function(v, r) return v.type == 'cluster' or (%s) %% %d ~= 1 end }"):format(ORDERS[roll(#ORDERS)],
    expression(roll, roll(3) - 1), 2 + roll(3))
end

-- ---- histories ------------------------------------------------------------------------------------------------

local DURATIONS = { 10, 50, 100 }

local function timed(shape, duration)
  local jobspec = weir.json.decode(assert(weir.request(shape)):format "jobspec")
  jobspec.attributes = { system = { duration = duration } }
  return assert(weir.request(jobspec))
end

local MODES = { "now", "now", "now", "reserve", "preview", "feasible" }

local function picks(a)
  if type(a) ~= "userdata" then return tostring(a) end
  local list = { ("%s %s %s"):format(a.state, a.at, a.end_) }
  for _, p in ipairs(a:vertices()) do
    list[#list + 1] = ("%d %d %s %d"):format(p.vertex.index, p.amount, p.exclusive, p.resource)
  end
  return table.concat(list, "\n")
end

-- Each step is chosen by `roll`, and made on both sides; returns a text to compare.
local function change_vertex(side, roll)
  local v, what = side.list[roll(#side.list)], roll(6)
  if not pcall(function() return v.type end) then return "" end -- removed
  if what == 1 then v.tags.heat = tostring(roll(9))
  elseif what == 2 then v.properties.class = tostring(roll(4))
  elseif what == 3 then v.tags.gone = roll(2) == 1 and true or nil
  elseif what == 4 then v.state = ({ "up", "up", "down", "draining" })[roll(4)]
  elseif what == 5 and v.type == "node" then v.rank = roll(100)
  else v.tags.other = tostring(roll(3)) end
  return ""
end

local function change_tree(side, roll)
  local v = side.list[roll(#side.list)]
  if not pcall(function() return v.type end) or v.type ~= "node" then return "" end
  if roll(2) == 1 then return tostring((side.graph:unlink(v))) end
  local node = side.graph:add(v:parent(), { type = "node", id = 100 + roll(50) })
  if node then side.graph:add(node, { type = "core", id = 0 }) end
  return tostring(node ~= nil)
end

local function one_match(side, roll)
  local shape, mode, duration = side.shapes[roll(#side.shapes)], MODES[roll(#MODES)], DURATIONS[roll(#DURATIONS)]
  local a, why, code = side.engine:match(side.requests[shape][duration], { mode = mode })
  if type(a) == "userdata" and a.id > 0 then side.jobs[#side.jobs + 1] = a.id end
  if code == "invalid" then error(why) end
  return a and picks(a) or tostring(code)
end

local function step(side, roll)
  local what = roll(20)
  if what <= 10 then return one_match(side, roll) end
  if what <= 14 and #side.jobs > 0 then
    return tostring((side.engine:release(table.remove(side.jobs, roll(#side.jobs)))))
  end
  if what == 15 then return tostring((side.engine:advance(side.engine:now() + roll(30)))) end
  if what == 16 and roll(6) == 1 then return change_tree(side, roll) end
  return change_vertex(side, roll)
end

-- The shapes without some types.
local function shapes_without(types)
  local list = {}
  for _, shape in ipairs(SHAPES) do
    local fine = true
    for _, kind in ipairs(types) do fine = fine and not shape:find(kind, 1, true) end
    if fine then list[#list + 1] = shape end
  end
  return list
end

local function side(graph, policy, scores, without)
  local engine = assert(weir.engine { resources = graph, policy = policy, scores = scores, overrun = "expire" })
  local requests = {}
  for _, shape in ipairs(SHAPES) do
    requests[shape] = {}
    for _, duration in ipairs(DURATIONS) do requests[shape][duration] = timed(shape, duration) end
  end
  local list = {}
  for v in graph:walk {} do list[#list + 1] = v end
  return { graph = graph, engine = engine, jobs = {}, requests = requests, list = list,
    shapes = shapes_without(without or {}) }
end

--- Plays a history of `steps` on two equal machines. `policy`(): loads the policy anew; `other`(): the policy of the second
--- machine, if not the same. No request has the types in the list `without`. Returns the number of matches with an answer;
--- raises with the step where the answers differ.
function M.play(seed, policy, steps, other, without)
  local roll = dice(seed)
  local graph = machine(roll)
  feed(graph, "power", "power")
  feed(graph, "io", "bandwidth")
  local twin = assert(graph:dup())
  local answers = 0
  local a, b = side(graph, policy(), "check", without), side(twin, (other or policy)(), "call", without)
  for i = 1, steps do
    local own = roll(1 << 20)
    local x, y = step(a, dice(own)), step(b, dice(own))
    if x ~= y then error(("seed %d, step %d: remembered\n%s\ncalled\n%s"):format(seed, i, x, y)) end
    if #x > 20 then answers = answers + 1 end
    if i % 10 == 0 then assert(graph:check()) end
  end
  graph:close()
  twin:close()
  return answers
end

--- The names of the bundled policies with evaluate.
function M.bundled()
  local list = {}
  for _, p in ipairs(require("weir.policy").list()) do
    local loaded = assert(weir.policy(p.name))
    for _, hook in ipairs(loaded.hooks or {}) do
      if hook == "evaluate" then list[#list + 1] = p.name end
    end
  end
  return list
end


return M
