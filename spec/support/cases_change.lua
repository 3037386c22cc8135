--- cases_change.lua - histories in which everything may change: besides the steps of cases.lua, jobs grow, shrink, are
--- detached and attached; vertices are added and removed; policies are replaced; the machine is duplicated, saved and
--- loaded, and parts of the machine are copied and merged. Each answer is compared with the answer of the reference.

local core = require "weir.core"
local weir = require "weir"
local cases = require "spec.support.cases"
local Reference = require "spec.support.reference"

local M = {}

local PLAY, fail, say = cases.PLAY, cases.fail, cases.say

local VERTICES_MAX = 45 -- of a machine that grows; wide machines have up to twice as many

-- ---- steps --------------------------------------------------------------------------------------------------

-- Steps name vertices (`at`) and jobs (`nth`) by numbers taken modulo the number present, so that a case stays
-- playable after parts were left out.

local BELOW = { cluster = { "rack", "node", "socket" }, rack = { "node", "socket" }, node = { "socket" } }
local LEAVES = { "core", "core", "gpu", "memory" }

local MAKE = {}

-- A request that queues make most: n slots of one resource, for a while; the engine has fast paths for such requests.
local function plain(rnd, levels)
  local inner = { type = rnd:pick(rnd:chance(60) and levels or levels.leaves), count = rnd:pick { 1, 1, 1, 2 } }
  local slot = { type = "slot", label = "s1", count = rnd:pick { 1, 1, 2, 3, { min = 1, max = 4 } }, with = { inner } }
  return { resources = { slot }, attributes = { system = { duration = rnd:between(1, 20) } } }
end

function MAKE.plain(rnd, levels, jobs)
  if #levels.leaves == 0 then return MAKE.match(rnd, levels, jobs) end
  local mode = rnd:pick { "now", "reserve", "reserve", "reserve" }
  return { op = "match", mode = mode, job = jobs + 1, request = plain(rnd, levels) }
end

function MAKE.match(rnd, levels, jobs)
  local step = { op = "match", mode = rnd:pick { "now", "now", "now", "reserve", "reserve", "feasible", "preview" } }
  step.job, step.request = jobs + 1, cases.request(rnd, levels)
  if step.mode ~= "feasible" and rnd:chance(20) then step.after = rnd:between(1, 15) end
  return step
end

function MAKE.other(rnd, _, jobs) return cases.other_step(rnd, jobs) end

local function place(rnd) return rnd:between(0, 200) end

function MAKE.grow(rnd, levels) return { op = "grow", nth = place(rnd), request = cases.request(rnd, levels) } end

function MAKE.shrink(rnd)
  local how = rnd:pick { "own", "own", "own", "below", "below", "above", "two", "rank", "units", "units", "any" }
  return { op = "shrink", nth = place(rnd), at = place(rnd), also = place(rnd), how = how }
end

function MAKE.drop(rnd) return { op = "drop", nth = place(rnd) } end

function MAKE.expire() return { op = "expire" } end

function MAKE.detach(rnd) return { op = "detach", nth = place(rnd), longer = rnd:pick { nil, 0, 0, 5, -3, 30 } } end

local function pool(rnd, type)
  local size = type == "memory" and rnd:pick { 4, 8, 6 } or nil
  return { type = type, count = type == "memory" and 1 or rnd:between(1, 3), size = size, exclusive = rnd:chance(3) or nil }
end

-- A random subtree to add below a vertex: `kinds[1]` where the parent accepts such levels, else a leaf.
local function pools(rnd)
  local list = { inner = rnd:between(1, 3), rank = rnd:chance(50) and rnd:between(0, 9) or nil, first = rnd:pick { 0, 0, 20 } }
  for i = 1, rnd:between(1, 2) do list[i] = pool(rnd, rnd:pick(LEAVES)) end
  return list
end

function MAKE.add(rnd) return { op = "add", at = place(rnd), bare = rnd:chance(40), pools = pools(rnd) } end

function MAKE.remove(rnd) return { op = "remove", at = place(rnd), force = rnd:chance(50) } end

function MAKE.property(rnd) return { op = "property", at = place(rnd), key = rnd:pick { "a", "b" } } end

function MAKE.policy(rnd, levels)
  return { op = "policy", policy = rnd:pick { "low", "high" }, whole = rnd:chance(20) and rnd:pick(levels) or nil }
end

function MAKE.dup() return { op = "dup" } end

function MAKE.overrun(rnd) return { op = "overrun", rule = rnd:pick { "hold", "expire" } } end

function MAKE.save(rnd) return { op = "save", format = rnd:pick { "sqlite", "pieces", "jgf", "document" }, changed = rnd:chance(50) } end

function MAKE.copy(rnd) return { op = "copy", at = place(rnd) } end

function MAKE.merge(rnd)
  return { op = "merge", at = place(rnd), how = rnd:pick { "more", "more", "same", "clash" }, pools = pools(rnd) }
end

local WEIGHTS = {
  match = 60, plain = 40, other = 30, grow = 20, shrink = 20, drop = 24, expire = 8, detach = 6, add = 12, remove = 12, property = 5,
  policy = 5, dup = 6, save = 3, copy = 3, merge = 6, overrun = 4,
}
local DECK = {}
for _, op in ipairs(Reference.keys(WEIGHTS)) do
  for _ = 1, WEIGHTS[op] do DECK[#DECK + 1] = op end
end

-- More siblings than a group of the engine's rows has, most of them held by the first job.
local function wide(rnd)
  local first, machine = rnd:pick { 0, 0, 30 }, { type = "cluster", id = 0, scope = "local" }
  local inner = rnd:chance(50) and machine or { type = "rack", id = 0, scope = "local" }
  machine[1] = inner ~= machine and inner or nil
  for i = 1, rnd:between(33, 44) do
    local node = { type = "node", id = first + i * rnd:pick { 1, 1, 1, 2 } * 100 + i, scope = "local" }
    node.properties = rnd:pick { { "a" }, { "a" }, {}, { "a", "b" } }
    node[1] = { type = "core", id = 0, count = rnd:pick { 1, 1, 1, 2 }, scope = "local" }
    inner[#inner + 1] = node
  end
  local slot = { type = "slot", count = { min = 1, max = rnd:between(26, 40) }, label = "s1" }
  slot.with = { { type = rnd:pick { "node", "core" }, count = 1 } }
  local request = { resources = { slot }, attributes = { system = { duration = rnd:pick { 9, 20, 40, nil } } } }
  local first_step = { op = "match", mode = "now", job = 1, request = request }
  return machine, { inner ~= machine and "rack" or "node", "node", leaves = { "core" } }, first_step
end

--- A machine with `steps` steps of all kinds.
function M.case(seed, steps)
  local rnd = cases.random(seed)
  local machine, levels, first = (rnd:chance(10) and wide or cases.machine)(rnd)
  local case, jobs = { seed = seed, machine = machine, steps = { first } }, first and 1 or 0
  case.policy = rnd:pick { "low", "high" }
  case.whole = rnd:chance(8) and rnd:pick(levels) or nil
  for i = #case.steps + 1, steps do
    case.steps[i] = MAKE[rnd:pick(DECK)](rnd, levels, jobs)
    jobs = math.max(jobs, case.steps[i].job or 0)
  end
  return case
end

-- ---- the subjects of steps -------------------------------------------------------------------------------------

local function nth(list, n) return list[1 + n % math.max(1, #list)] end

local function job_of(world, step) return nth(world.ref:ids(), step.nth) end

local function vertex_of(world, step) return nth(world.ref.list, step.at) end

local function most_vertices(world) return math.max(VERTICES_MAX, world.vertices + 5) end

-- Checks that an answer exists exactly when wanted, and that the error code is right otherwise.
local function agree(what, done, why, code, wanted)
  if wanted == nil and not done then fail(what, "%s: %s (%s), wanted done", what, code, why) end
  if wanted ~= nil and (done or code ~= wanted) then fail(what, "%s: %s, wanted %s", what, done and "done" or code, wanted) end
  return done ~= nil
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

function PLAY.drop(world, step)
  local id = job_of(world, step)
  if id then PLAY.release(world, { job = id }) end
end

function PLAY.expire(world)
  for _, id in ipairs(world.ref:ids()) do
    if world.ref.jobs[id].finish <= world.ref.clock then PLAY.release(world, { job = id }) end
  end
end

-- The picks that a job gained: its allocation now against before; shared vertices are in both.
local function gained(ref, id, allocation)
  local had, more, shared = {}, {}, {}
  for _, h in ipairs(ref:holdings(id)) do had[h.vertex] = h.span end
  for _, pick in ipairs(cases.engine_picks(ref, allocation)) do
    local span = had[pick.vertex]
    if not span then
      more[#more + 1] = pick
    elseif span.amount ~= pick.amount then
      more[#more + 1] = { vertex = pick.vertex, amount = pick.amount - span.amount, exclusive = false }
    elseif not pick.exclusive then
      shared[#shared + 1] = { vertex = pick.vertex, amount = 0, exclusive = false }
    end
  end
  return more, shared
end

function PLAY.grow(world, step)
  local ref, id = world.ref, job_of(world, step)
  if not id then return end
  local answer = ref:grow(id, step.request)
  say(world, "show(e:grow(%d, %s))", id, step.request)
  local a, why, code = world.engine:grow(id, step.request)
  if not a and answer.code == "invalid" and code == "invalid" then return end
  if not a then return cases.judge_refusal(ref, step, answer, why, code) end
  if answer.code then fail("growth for " .. answer.code, "grows, but must be %s", answer.code) end
  local more, shared = gained(ref, id, a)
  local fault = ref:fault(step.request, more, answer.start, answer.finish, shared)
  if fault then fail("fault", "the engine gave %s more, but %s", Reference.show(more), fault) end
  ref:extend(id, answer.picks or more)
  return "grown"
end

local function shrink_rank(world, id, v)
  if not v.rank then return end
  local list = world.ref:on_rank(id, v.rank)
  say(world, "show(e:shrink(%d, { ranks = %q }))", id, tostring(v.rank))
  local done, why, code = world.engine:shrink(id, { ranks = tostring(v.rank) })
  agree("shrink by rank", done, why, code, not (#list > 0 and world.ref:shrink(id, list)) and "unknown" or nil)
  return done
end

local function shrink_units(world, id, v, amount)
  say(world, "show(e:shrink(%d, { vertex = g(%q), amount = %d }))", id, v.path, amount)
  local done, why, code = world.engine:shrink(id, { vertex = v.handle, amount = amount })
  agree("shrink by units", done, why, code, not world.ref:free(v, id, amount) and "invalid" or nil)
  return done
end

local function shrink_list(world, id, list)
  local handles, words = {}, {}
  for i, v in ipairs(list) do
    handles[i], words[i] = v.handle, ("g(%q)"):format(v.path)
  end
  say(world, "show(e:shrink(%d, { %s }))", id, table.concat(words, ", "))
  local done, why, code = world.engine:shrink(id, handles)
  agree("shrink", done, why, code, not world.ref:shrink(id, list) and "unknown" or nil)
  return done
end

-- Ways to shrink: by a vertex of the job or a vertex beside, by two vertices, by ranks, by some units of a pool.
local HOW = {
  own = function(world, id, v) return shrink_list(world, id, { v }) end,
  below = function(world, id, v, step) return shrink_list(world, id, { nth(v.kids, step.also) or v }) end,
  above = function(world, id, v) return shrink_list(world, id, { v.parent or v }) end,
  two = function(world, id, v, step)
    return shrink_list(world, id, { v, nth(world.ref:holdings(id), step.also).vertex })
  end,
  any = function(world, id, _, step) return shrink_list(world, id, { nth(world.ref.list, step.also) }) end,
  rank = shrink_rank,
  units = function(world, id, v, step) return shrink_units(world, id, v, 1 + step.also % 4) end,
}

function PLAY.shrink(world, step)
  local ref, id = world.ref, job_of(world, step)
  if not id then return end
  local held = nth(ref:holdings(id), step.at)
  local done = HOW[step.how](world, id, held.vertex, step)
  if done and (done == true) ~= (ref.jobs[id] == nil) then fail("shrink", "says %s of what is left", tostring(done)) end
  return done and "shrunk"
end

-- Detaches a job, checks the schedules without the job, and attaches the job, perhaps with a different end.
function PLAY.detach(world, step)
  local ref, id = world.ref, job_of(world, step)
  if not id then return end
  say(world, "local detached = e:detach(%d)", id)
  local detached, mine = assert(world.engine:detach(id)), ref:detach(id)
  cases.check_world(world)
  local finish = step.longer and mine.job.finish < math.huge and Reference.microseconds(mine.job.finish + step.longer) or nil
  if finish and finish <= mine.job.start then finish = nil end
  say(world, "show(e:attach(detached, %s))", finish)
  local done, why, code = world.engine:attach(detached, finish)
  agree("put", done, why, code, not ref:attach(mine, finish) and "busy" or nil)
  return done and "detached"
end

-- ---- the machine --------------------------------------------------------------------------------------------

-- The least id from `first` on that no child of the given type has.
local function free_id(parent, type, first)
  local taken = {}
  for _, kid in ipairs(parent.kids) do
    if kid.type == type then taken[kid.id] = true end
  end
  while taken[first] do first = first + 1 end
  return first
end

-- Plain descriptions of a subtree to add: {desc, {desc}, ...}.
local function planned(parent, list, bare)
  local kinds = not bare and BELOW[parent.type]
  local out = {}
  if kinds then
    local type = nth(kinds, list.inner)
    out.desc = { type = type, id = free_id(parent, type, list.first), rank = type == "node" and list.rank or nil }
  end
  local taken = {}
  for _, p in ipairs(list) do
    for _ = 1, p.count do
      local from = taken[p.type] or list.first
      local id = kinds and from or free_id(parent, p.type, from)
      out[#out + 1] = { type = p.type, id = id, size = p.size, exclusive = p.exclusive }
      taken[p.type] = id + 1
    end
  end
  return out
end

-- Adds a described subtree to a graph below a handle.
local function add_planned(world, name, graph, parent, plan)
  local top, added = parent, {}
  for i = plan.desc and 0 or 1, #plan do
    local desc = i == 0 and plan.desc or plan[i]
    say(world, "show(%s:add(%s(%q), %s))", name, name, top.path, desc)
    local done, why, code = graph:add(top, desc)
    if not done then return nil, why, code end
    if i == 0 then top = done end
    added[#added + 1] = done
  end
  return added
end

-- Adds the described subtree to the reference; returns the new vertices in the same order.
local function follow_planned(ref, parent, plan)
  local list, top = {}, parent
  if plan.desc then
    top = ref:add(parent, plan.desc)
    list[1] = top
  end
  for _, desc in ipairs(plan) do list[#list + 1] = ref:add(top, desc) end
  return list
end

function PLAY.add(world, step)
  local ref, v = world.ref, vertex_of(world, step)
  if #ref.list > most_vertices(world) then return end
  if #v.kids == 0 and not BELOW[v.type] and #v.spans == 0 then return end
  local plan = planned(v, step.pools, step.bare)
  local handles, why, code = add_planned(world, "g", world.graph, v.handle, plan)
  if not agree("add", handles, why, code, not Reference.may_add(v) and "busy" or nil) then return "not added" end
  for i, new in ipairs(follow_planned(ref, v, plan)) do ref:bind(new, handles[i]) end
  return "added"
end

local function same_ids(have, wanted, what)
  if table.concat(have, " ") ~= table.concat(wanted, " ") then
    fail(what, "%s: jobs %s, wanted %s", what, table.concat(have, " "), table.concat(wanted, " "))
  end
end

-- The jobs that lost something, ascending.
local function losers(list)
  local seen = {}
  for _, loss in ipairs(list) do seen[loss.job] = true end
  return Reference.keys(seen)
end

function PLAY.remove(world, step)
  local ref, v = world.ref, vertex_of(world, step)
  if not v.parent or #ref.list < 6 then return end
  local users = ref:users(v)
  same_ids(v.handle:jobs(), users, "users")
  say(world, "show(g:unlink(g(%q), { force = %s }))", v.path, step.force)
  local done, why, code, jobs = world.graph:unlink(v.handle, { force = step.force })
  if not step.force and #users > 0 then same_ids(jobs or {}, users, "refused for") end
  if not agree("unlink", done, why, code, not step.force and #users > 0 and "busy" or nil) then return "not removed" end
  if step.force then same_ids(losers(done), users, "lost by") end
  for _, id in ipairs(users) do ref:shrink(id, { v }) end
  ref:remove(v)
  return "removed"
end

function PLAY.property(world, step)
  local v = vertex_of(world, step)
  while v and v.type ~= "node" do v = v.parent end
  if not v then return end
  local on = not v.properties[step.key] or nil
  say(world, "g(%q).properties[%q] = %s", v.path, step.key, on)
  v.handle.properties[step.key], v.properties[step.key] = on, on
  return "set"
end

function PLAY.policy(world, step)
  local policy
  policy, world.ref.policy = cases.policies(step.policy, step.whole)
  world.policy = policy
  say(world, "e:use(%s)", type(policy) == "table" and policy or ("%q"):format(policy))
  assert(world.engine:use(policy))
  return "replaced"
end

-- ---- other graphs ----------------------------------------------------------------------------------------------

local function same_machine(what, part, graph)
  local root = graph:root()
  if (root == nil) ~= (part == nil) then fail(what, "%s: %s root", what, root and "a" or "no") end
  local why = part and Reference.differs(part, root)
  if why then fail(what, "%s: %s", what, why) end
  local ok, unsound = graph:check()
  if not ok then fail(what, "%s: check: %s", what, unsound) end
end

-- Continues with a second graph that must equal the first, numbers and schedules included.
local function go_on(world, what, graph, overrun)
  same_machine(what, world.ref:whole(), graph)
  local same, why = world.graph:compare(graph, true)
  if not same then fail(what, "%s: %s", what, why) end
  local function bind(v, handle)
    if handle.index ~= v.number then fail(what, "%s: %s has another number", what, v.path) end
    world.ref:bind(v, handle)
    for i, kid in ipairs(v.kids) do bind(kid, handle:child(i)) end
  end
  bind(world.ref.list[1], graph:root())
  world.engine:close()
  world.graph:close()
  world.graph, world.engine = graph, assert(weir.engine { resources = graph, policy = world.policy, overrun = overrun })
  say(world, "e = assert(weir.engine { resources = g, policy = %s, overrun = %s })",
    type(world.policy) == "table" and world.policy or ("%q"):format(world.policy), overrun and ("%q"):format(overrun))
end

local function rule(world) return world.ref.expire and "expire" or "hold" end

-- What becomes of jobs at their ends from now on.
function PLAY.overrun(world, step)
  world.ref.expire = step.rule == "expire"
  say(world, "e = assert(weir.engine { resources = g, policy = %s, overrun = %q })",
    type(world.policy) == "table" and world.policy or ("%q"):format(world.policy), step.rule)
  world.engine:close()
  world.engine = assert(weir.engine { resources = world.graph, policy = world.policy, overrun = step.rule })
  return step.rule
end

function PLAY.dup(world)
  say(world, "g = g:dup()")
  go_on(world, "a duplicate", assert(world.graph:dup()))
  return "duplicated"
end

local SAVE = {}

function SAVE.sqlite(world, step)
  local path = world.database
  if not path then
    path = os.tmpname()
    os.remove(path)
    world.database = path .. ".db"
    path = world.database
    for _, suffix in ipairs { "", "-wal", "-shm" } do table.insert(world.files, path .. suffix) end
  end
  say(world, "assert(g:save(%q, { changed = %s })) g = assert(weir.load %q)", path, step.changed, path)
  assert(world.graph:save(path, { changed = step.changed }))
  go_on(world, "a database", assert(weir.load(path)), rule(world))
end

-- The content of a store after changed keys were written over the stored keys.
local function store_pieces(store, pieces)
  local i, come, gone = 1, {}, {}
  while true do
    local key, text = pieces:at(i)
    if not key then break end
    if text then come[key] = text else gone[#gone + 1] = key end
    i = i + 1
  end
  for _, prefix in ipairs(gone) do
    for key in pairs(store) do
      if key:sub(1, #prefix) == prefix then store[key] = nil end
    end
  end
  for key, text in pairs(come) do store[key] = text end
end

function SAVE.pieces(world, step)
  local pieces = assert(world.graph:pieces(step.changed and world.stamp or nil))
  local store = step.changed and world.stamp and world.store or {}
  say(world, "g = assert(assert(g:pieces()):graph()) -- the pieces of a change: %s", step.changed)
  store_pieces(store, pieces)
  assert(pieces:stored(world.graph))
  world.store, world.stamp = store, pieces:stamp()
  local all = core.pieces()
  for key, text in pairs(store) do assert(all:put(key, text)) end
  go_on(world, "pieces", assert(all:graph()), rule(world))
end

-- Whether a shared vertex is the path to a second pick of the job; a shared pick cannot be told from a path.
local function leads_on(ref, id, v)
  for i = v.index + 1, v.last do
    if Reference.span_of(ref.list[i], id) then return true end
  end
  return false
end

-- The text of a graph has no schedules; the text of a job is looked up in the graph again.
function SAVE.jgf(world)
  say(world, "do local again <close> = assert(weir.parse(g:format 'jgf')) assert(g:compare(again)) end")
  local again <close> = assert(weir.parse(assert(world.graph:format "jgf")))
  same_machine("a text", world.ref:whole(), again)
  for _, id in ipairs(world.ref:ids()) do
    local picks, wanted = {}, {}
    for i, p in ipairs(assert(again:resolve(assert(world.engine:job(id):format "jgf")))) do
      picks[i] = ("%s:%d%s"):format(p.vertex.path, p.amount, p.exclusive and "x" or "")
    end
    for _, h in ipairs(world.ref:holdings(id)) do
      local text = ("%s:%d%s"):format(h.vertex.path, h.span.amount, h.span.exclusive and "x" or "")
      if h.span.amount > 0 or not leads_on(world.ref, id, h.vertex) then wanted[#wanted + 1] = text end
    end
    table.sort(picks)
    table.sort(wanted)
    same_ids(picks, wanted, ("the text of job %d"):format(id))
  end
end

-- A document is the whole state: the graph made of it has equal jobs and an equal document. Vertices are numbered anew.
function SAVE.document(world)
  say(world, "do local again <close> = assert(weir.parse(g:format 'document')) assert(g:compare(again, { books = true })) end")
  local text = assert(world.graph:format "document")
  local again <close> = assert(weir.parse(text))
  assert(world.graph:compare(again, { books = true }))
  assert(again:check())
  if again:format "document" ~= text then fail("wrong", "a document differs from the document of the graph made of it") end
end

function PLAY.save(world, step)
  SAVE[step.format](world, step)
  return step.format
end

function PLAY.copy(world, step)
  local v = vertex_of(world, step)
  say(world, "show(assert(g:copy(g(%q))):format 'tree')", v.path)
  local copy <close> = assert(world.graph:copy(v.handle))
  same_machine("a copy", world.ref:copy(v), copy)
  return "copied"
end

-- A different size of a leaf below v, in a graph with a part of the machine; nil where v has no leaf.
local function clash(world, v, part)
  local leaf
  for _, kid in ipairs(v.kids) do leaf = #kid.kids == 0 and kid or leaf end
  if not leaf then return false end
  local desc = { type = leaf.type, id = leaf.id, size = leaf.size + 1, unit = leaf.unit ~= "" and leaf.unit or nil }
  say(world, "part:unlink(part(%q)) part:add(part(%q), %s)", leaf.path, v.path, desc)
  assert(part:unlink(assert(part(leaf.path))))
  assert(part:add(assert(part(v.path)), desc))
  return true
end

-- A part of the machine gets something more, and is merged into the machine.
function PLAY.merge(world, step)
  local ref, v = world.ref, vertex_of(world, step)
  say(world, "local part = assert(g:extract { g(%q) })", v.path)
  local part <close> = assert(world.graph:extract { v.handle })
  same_machine("an extract", ref.extract(v), part)
  local plan, wanted
  if step.how == "clash" and clash(world, v, part) then wanted = "exists" end
  if step.how == "more" and BELOW[v.type] and #ref.list <= most_vertices(world) then
    plan = planned(v, step.pools, false)
    assert(add_planned(world, "part", part, assert(part(v.path)), plan))
    wanted = not Reference.may_add(v) and "busy" or nil
  end
  say(world, "show(g:merge(part))")
  local done, why, code = world.graph:merge(part)
  if agree("merge", done, why, code, wanted) and plan then
    for _, new in ipairs(follow_planned(ref, v, plan)) do ref:bind(new, assert(world.graph(new.path))) end
  end
  return "merged"
end

--- As cases.try, with histories of everything.
function M.try(seed, tally, steps) return cases.try(seed, tally, steps, M.case) end

M.play, M.script = cases.play, cases.script

return M
