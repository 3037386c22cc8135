--- documents.lua - random machines with all that a document has to hold, and random steps that name vertices by their
--- number in preorder, so that the same step can be made on a machine and on the machine that was loaded.

local dice = require "spec.support.dice"
local weir = require "weir"

local M = {}

local SHAPES = {
  "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)", "node:3 socket:2 core:2 gpu:1", "cluster:1 node:4(exclusive) core:2",
  "cluster:1[rack:2[node:2[core:2] storage:1(size=100)]]", "cluster:2 node:2 core:3 memory:2(size=8)",
}
local STATES = { "up", "up", "down", "degraded", "failing", "unknown", "draining" }
local TEXTS = { "", "a", "b c", 'say "no"\\', "line\nand\ttab", "1.10", "€ ∞", "node-${rack}", "\u{7f}\u{1}", "/" }
local DATA = { 1, 2.5, "text", "12", true, { 1, 2, { x = {} } }, { deep = { er = "est" } }, "{ \"a\": 1 }", " spaced " }
local REQUESTS = {
  "slot=1/node", "slot=2/core=2", "slot=1/core", "slot=1/node/core=1", "slot=1/memory=3", "slot=2/node", "slot=1/node/bw=2",
  "slot=2/core/power=1",
}
local POLICIES = { "low", "high", "first", "locality" }

--- All vertices in the order of a document.
function M.vertices(g)
  local list = {}
  local function add(v)
    list[#list + 1] = v
    for child in v:children() do add(child) end
  end
  for v in M.roots(g) do add(v) end
  return list
end

--- Iterates over the vertices without a parent, in the order in which the first of their trees' vertices are found.
function M.roots(g)
  local list = {}
  for _, v in ipairs(g:find "size>=0") do
    if not v:parent() then list[#list + 1] = v end
  end
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

-- ---- steps ------------------------------------------------------------------------------------------------------

-- Each step takes the world {g=, e=}, a list of vertices and three numbers.
local STEPS = {}

local function pick(list, n) return list[n % #list + 1] end

function STEPS.state(_, v, a) v.state = pick(STATES, a) end
function STEPS.tag(_, v, a, b) v.tags[pick({ "t", "a", "z", "0" }, a)] = pick({ nil, pick(TEXTS, b) }, a) or pick(TEXTS, b) end
function STEPS.untag(_, v, a) v.tags[pick({ "t", "a", "z", "0" }, a)] = nil end
function STEPS.property(_, v, a, b) v.properties[pick({ "rack", "p", "é" }, a)] = pick(TEXTS, b) end
function STEPS.data(_, v, a, b) v.data[pick({ "x", "y", "weir.policy.x" }, a)] = pick(DATA, b) end
function STEPS.rank(_, v, a) v.rank = a % 6 end
function STEPS.remove(w, v) w.g:unlink(v, { force = true }) end

function STEPS.add(w, v, a, b)
  local pool = { type = pick({ "core", "gpu", "ssd", "node" }, a), id = b % 9, size = pick({ 1, 1, 4, 0 }, b) }
  if a % 5 == 0 then pool.name = pick({ "own", "node-${rack}", "x.${tag}", "n7" }, b) end
  if a % 7 == 0 then pool.uuid = ("00000000-0000-4000-8000-%012x"):format(a * 1000 + b + 1) end
  if a % 3 == 0 then pool.unit, pool.tags = "GB", { t = "1" } end
  pool.exclusive = b % 6 == 0 or nil
  if a % 11 == 0 then pool.id = -1 end
  w.g:add(v, pool)
end

-- Power and bandwidth come from pools of their own; other edges join any two vertices.
function STEPS.edge(w, v, a, b)
  local subsystem = pick({ "power", "bw", "near" }, b)
  local source = pick(M.vertices(w.g), a)
  if subsystem ~= "near" then
    source = a % 3 > 0 and w.g:find("type=" .. subsystem .. "_unit")[1]
      or w.g:add(nil, { type = subsystem .. "_unit", id = a % 9, size = a % 7 })
  end
  w.g:add_edge(source, v, { subsystem = subsystem, type = pick({ "supplies", "to" }, a), back = pick({ nil, "from" }, b) })
end

function STEPS.unedge(w, v, _, b) w.g:unlink(v, { subsystem = pick({ "power", "bw", "near" }, b) }) end

function STEPS.match(w, _, a, b)
  w.e:match(pick(REQUESTS, a), { mode = b % 2 == 0 and "now" or "reserve", at = w.e:now(), duration = b % 3 > 0 and b % 50 + 1 or nil })
end

function STEPS.release(w, _, a)
  local jobs = {}
  for i, job in ipairs(w.e:jobs()) do jobs[i] = job.id end
  table.sort(jobs)
  if #jobs > 0 then w.e:release(pick(jobs, a)) end
end

function STEPS.shrink(w, v)
  local id = v:jobs()[1]
  if id then w.e:shrink(id, v) end
end

function STEPS.advance(w, _, a) w.e:advance(w.e:now() + a % 12) end

local WEIGHTS = {
  "state", "tag", "tag", "untag", "property", "property", "data", "data", "rank", "remove", "add", "add", "edge", "edge", "unedge",
  "match", "match", "match", "match", "release", "shrink", "advance",
}

local STILL = { add = true, remove = true }

--- Makes n random steps; `still`: none that adds or removes vertices. Steps that the machine refuses are no
--- failures: both machines have to refuse them.
function M.steps(world, rnd, n, still)
  local answers = {}
  for i = 1, n do
    local name = WEIGHTS[rnd(#WEIGHTS)]
    local at, a, b = rnd(1000), rnd(1000), rnd(1000)
    local list = M.vertices(world.g)
    local ok, why = true, nil
    if not (still and STILL[name]) then ok, why = pcall(STEPS[name], world, pick(list, at), a, b) end
    answers[i] = name .. (ok and "" or ": " .. tostring(why):gsub("^.-:%d+: ", ""))
    if #M.vertices(world.g) == 0 then world.g:add(nil, { type = "cluster", id = 0 }) end
  end
  return answers
end

local function world(g, rnd)
  return { g = g, e = weir.engine { resources = g, policy = POLICIES[rnd(#POLICIES)], overrun = rnd(3) == 1 and "expire" or "hold" } }
end

--- A random machine after n random steps, `still` or not: {g=, e=}. A quarter of the machines have bandwidth for their nodes.
function M.machine(seed, n, still)
  local rnd = dice(seed)
  local g = weir.synthetic(SHAPES[rnd(#SHAPES)])
  if rnd(4) == 1 then
    local pfs = g:add(nil, { type = "pfs", id = 0, size = 12 })
    for _, v in ipairs(g:find "type=node") do g:add_edge(pfs, v, { subsystem = "bw", type = "to" }) end
  end
  local w = world(g, rnd)
  M.steps(w, rnd, n, still)
  return w
end

--- An engine on a loaded machine, with the policy of another.
function M.like(w, g) return { g = g, e = weir.engine { resources = g, policy = w.e:policy() } } end

return M
