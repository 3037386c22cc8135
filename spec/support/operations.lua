--- operations.lua - all operations of the library, for specs that disturb each operation: by memory that runs out, by
-- garbage collected all the time. An operation is a text that runs on a small world; see M.world.
local core = require "weir.core"
local grug = require "spec.support.grug"
local queue_policy = require "weir.sim.queue_policy"
local weir = require "weir"

local function queue_of(name) return (assert(queue_policy.open(name, print))) end

local M = {}

local MACHINE = "cluster:1 rack:2 node:2 core:2 gpu:1 memory:1(size=8,unit=GB)"

local HOOKS = [[
  name = "hooked", options = { k = 4 }, fields = { "type", "free", "name" },
  order = function(v, options) return v.id or options.k end,
  prune = function(v, request) return v.state == "up" and request.count > 0 end,
  evaluate = function(v, request, kind, free) return free + #kind + request.options.k end,
  admit = function(jobspec) jobspec.attributes.system.duration = 60 return jobspec end,
  init = function(graph) for v in graph:walk { type = "node" } do local _ = v.path end end]]
local STATE = [[return { name = "stateful", state = { n = 0, users = {} },
  prune = function(_, request) return request.state.n >= 0 and request.job.user ~= "eve" and request.job.name == nil end,
  placed = function(job, state, vertices)
    state.n, state.users[job.user or "none"] = state.n + #vertices, job.wants.core
  end,
  finished = function(job, state, vertices) state.n, state.users[job.user or "none"] = state.n - #vertices, nil end }]]
local SELECT = [[return { name = "choosy", select = function(list, request, min)
  local out = {}
  for i = 1, min do out[i] = list[#list + 1 - i] end
  return out
end }]]

local function must(x, why) return x or error(why or "out of memory", 0) end

--- A world: g, a decorated graph; e, an engine on g with jobs 1 (cores), 2 (memory) and 3 (reserved); v, a vertex; a,
--- the allocation of job 1; dir, the directory of files. Every call makes an equal world.
function M.world(dir)
  local w = { core = core, weir = weir, dir = dir, must = must }
  local g = assert(core.synthetic(MACHINE))
  w.g, w.v = g, g "/cluster0/rack0/node0"
  w.v.tags.owner, w.v.properties.fast, w.v.data.notes = "ops", true, { "a", { b = 1 } }
  w.v.rank = 7
  g("/cluster0/rack1/node3/gpu0").state = "down"
  local pdu = assert(g:add(nil, { type = "pdu", size = 6, unit = "kW" }))
  assert(g:add_edge(pdu, w.v, { subsystem = "power", type = "supplies", back = "from" }))
  local spare = assert(g:add(nil, { type = "spare", id = 0 }))
  assert(g:add_edge(pdu, spare, { subsystem = "power", type = "supplies" }) and g:unlink(spare))
  local strip = assert(g:add(nil, { type = "strip" })) -- shares a node with the pdu
  for _, node in ipairs { w.v, g "/cluster0/rack0/node1" } do
    assert(g:add_edge(strip, node, { subsystem = "power", type = "supplies" }))
  end
  w.e = assert(core.engine { resources = g })
  w.a = assert(w.e:match("slot=1/core=2", { job = 1, duration = 100 }))
  assert(w.e:match("slot=1/memory=4", { job = 2, duration = 50 }))
  assert(w.e:match("node=4/slot=1/core=1", { job = 3, mode = "reserve", duration = 10 }))
  w.hooked = assert(load("return {" .. HOOKS .. "}"))()
  w.hooks = "return {" .. HOOKS .. "}"
  return w
end

--- Rows {group, text}. A text returns a value that is neither nil nor false; must(x, why) is x, or an error.
M.list = {}

-- Adds operations, a line each; an indented line continues the line before.
local function group(name, texts)
  for line in texts:gsub("\n      ", " "):gmatch "[^\n]+" do
    line = line:match "^%s*(.-)%s*$"
    if line ~= "" then M.list[#M.list + 1] = { name, line } end
  end
end

group("graphs", [[
  return core.new()
  return core.synthetic "cluster:1 rack:2 node:2 core:2"
  return weir.recipe { type = "cluster", id = 0, { type = "node", count = 3, tags = { x = 1 }, { type = "core", count
      = 2 } } }
  return core.parse(texts.jgf, { source = "machine" })
  return core.parse(texts.rv1)
  return core.parse(texts.grug, { format = "grug" })
  return core.parse(texts.hwloc, { format = "hwloc" })
  return core.load(files.jgf)
  return core.load(files.sqlite)
  return weir.parse(texts.recipe, { format = "recipe" })
  return weir.parse(texts.rdl, { format = "rdl" })
  return g:root() and g:roots() and g:roots "power" and g:vertex "/cluster0/rack0" and g "/cluster0/rack1/node2/core0"
  return g:count() and g:types() and g:subsystems() and g:aggregate() and g:aggregate(v) and g:now() and g:validity() == nil and tostring(g)
  local n = 0 for e in g:edges() do n = n + #e.type end return n
  return g:dup()
  return g:copy(v)
  return g:extract { v, g "/cluster0/rack1/node3/core1" }
  return must(g:compare(must(g:dup()), true))
  local h = must(g:dup()) must(h:unlink(h "/cluster0/rack1/node3/core1")) h:root().tags.t = "1" local d = must(g:diff(h))
      return must(must(g:apply(d)):compare(h, true))
  return g:losses "csv" and #g:losses "document"
  local view, map = g:coarsen { keep = { "rack", "node" } } return must(view, map) and map(v) and map:graph() and
      map(view:root())
  return must(g:check()) and g:bytes() + #must(core.guess(texts.jgf))
  return g:changed()
  return g:fold { g:root() }.count
  return g:rset { scheduling = true }
  return g:rset { state = "allocated" }
  local p = must(g:pieces()) return #p:at(1) + #p:stamp() > 0 and must(p:graph())
  return must(g:pieces()):stored(g)
  return g:resolve(texts.job)
  return g:resolve_flows(1, texts.job)
  return g:flow { subsystem = "power", to = { v }, units = 2 }
]])

group("formats", [[
  return g:format "jgf"
  return g:format "rv1"
  return g:format "rv1_nosched"
  return g:format "rlite"
  return must(g:format "tree") and must(g:format("svg", { start = v, by = "state" }))
  return g:format("svg", { by = "job", width = 400 })
  return g:format "csv"
  return g:format "document"
  return must(core.parse(must(g:format "document")))
  return g:format "recipe"
  return g:write(files.out, "jgf")
  return g:save(dir .. "/g.json")
  return g:save(dir .. "/g.sqlite")
  return g:save(dir .. "/g.json", { changed = true })
  return core.write_file(dir .. "/text", "some text")
  return core.make_directory(dir .. "/a/b")
  local d = must(core.draft(dir .. "/text", { links = false })) d:write("some", " text") return d:keep()
]])

group("changes", [[
  return g:add(g "/cluster0/rack0", { type = "node", id = 9, rank = 9, tags = { a = "b", c = 1 }, properties = { p =
      true } })
  return g:add(v, { type = "core", id = 5 }, 3)
  return g:add(v, { type = "thing", name = "my thing", size = 3, unit = "m", properties = { p = 1.5 } })
  return g:add_edge(g "/cluster0/rack0", v, { subsystem = "net", type = "feeds", back = "fed" })
  return g:unlink(g "/cluster0/rack1/node3/gpu0")
  return g:unlink(g "/cluster0/rack0/node0", { force = true })
  return g:unlink(v, "power")
  return g:attach(g "power:/pdu/spare0", g "/cluster0/rack0")
  local ok, why, code, jobs = g:unlink(v) return ok or #jobs == 0 or why:find "in use" and jobs, why, code
  local root, rack, add, finish = g:root(), { type = "rack", id = 7 }, g.add, g.finish g:begin() local ok, n =
      pcall(add, g, root, rack) local done, why = finish(g) return ok and n and must(done or finish(g)) and done, why
      or "memory"
  local other = must(core.synthetic "cluster:1 row:2 node:1") return g:merge(other)
  local other = must(core.synthetic "rack:1 node:1") return g:merge(other, "/cluster0/rack7")
  local other = must(g:extract { g "/cluster0/rack0/node1/memory0" }) return g:merge(other, nil, { parts = true })
  local m = g "/cluster0/rack1/node3/memory0" local p = must(g:split(m, 3)) return g:join(m, p)
  return g:refine(g "/cluster0/rack1/node3/memory0", 2)
  g("/cluster0/rack1/node3/memory0").size = 20 return true
  g("/cluster0/rack1/node3/memory0").unit = "MiB" return true
  g("/cluster0/rack1/node3/memory0").exclusive = true return true
  return g:advance(5)
  return g:set_validity(0, 1e6) and g:set_validity()
  return g:rewind(0) or true
  v.tags.colour = "blue" return true
  v.properties.year = 2020 return true
  v.data.more = { 1, 2, { x = "y" } } return true
  v.tags.owner = nil return true
  v.state = "draining" return true
  v.rank = 12 return true
  return g("/cluster0/rack1/node3/memory0"):allocate { job = 8 }
  return g("/cluster0/rack0/node1/memory0"):allocate { job = 8, amount = 3, start = 200, duration = 10 }
  return g("/cluster0/rack0/node0/memory0"):release(2, 1)
  return g("/cluster0/rack0/node0/memory0"):release(2)
  must(core.synthetic "rack:1"):close() return true
]])

group("vertices", [[
  return v.type .. v.basename .. v.name .. v.id .. v.size .. v.unit .. v.state .. v.rank .. v.path .. v.uuid ..
      v.free .. v.index
  return v:uri() .. v:uri "power" .. v:parent().name .. #v:uses() .. v:nchildren() .. #v:jobs() .. v:available(0, 10)
  local n = 0 for c in v:children() do n = n + c.size end return n + v:child(1).id
  return #v:edges "power" + #v:edges() > 0 and v:ancestor "rack" and v:within(g:root()) and v:below "core" and
      v:aggregate() and v:graph()
  local n = "" for k, x in pairs(v.tags) do n = n .. k .. x end for k in pairs(v.properties) do n = n .. k end return
      n .. #v.data
  return v.data.notes[2].b .. v.tags.owner .. tostring(v.properties.fast) .. tostring(v) .. tostring(v.tags)
]])

group("walks", [[
  local n = 0 for u, event, depth in g:walk { order = "both" } do n = n + depth + #event + #u.name end return n
  local n = 0 for u in g:walk { order = "breadth", reverse = true, type = "core" } do n = n + #u.path end return n
  return g:walk { visit = function(u) return #u.name > 0 end }
  local best = g:accumulator(2) for u in g:walk { type = "node" } do best:add(u, u.id):add(u, 0.5) end
      return #best:list() + #best + select(2, best:get(1)) + #tostring(best)
  return g:walk { fields = { "type", "id", "free", "name" }, prune = function() return true end, evaluate =
      function(_, _, id) return id end, best = 3 }
  return g:walk { prune = { function() return true end }, evaluate = { function(u) return u.id end, function(u)
      return #u.path end } }
  return #g:walk { order_children = function(a, b) return a.index > b.index end, evaluate = function(u) return u.id
      end }
  local n = 0 for u in g:walk { order_children = function(a, b) return #a.path < #b.path end, prune = function(u)
      return #u.path < 90 end } do n = n + 1 end return n
  return g:walk { subsystem = "power", start = v, upward = true, evaluate = function(u) return u.size end }
]])

group("queries", [[
  return g:find "type=node and (id<3 or name=node*) and not property=slow"
  return g:find("path=*/rack1/* and size>0 and tag.owner!=ops", { start = g "/cluster0/rack1" })
  return g:find("type=node and id=1", { as = "graph" })
  local q = must(core.query "job=1-3 or data=notes or free=0") return tostring(q) .. tostring(q:match(v))
  local c = must(core.constraint { ["and"] = { { properties = { "fast" } }, { ["not"] = { { ranks = { "1-3" } } } } }
      }) return tostring(c:match(v))
  return core.constraint('{"hostlist":["node[0-3]"]}')
  return core.check_R('{"version":2,"execution":{"R_lite":[{"rank":"0-1","children":{}}],"nodelist":["a","a"]},"attributes":{}}')
]])

group("requests", [[
  return core.request "slot=2/node/[core=2;gpu]"
  return core.request { resources = { { type = "slot", count = 1, label = "x", with = { { type = "core", count = 2 }
      } } }, tasks = { { command = { "x" }, slot = "x", count = { per_slot = 1 } } }, version = 1, attributes = {
      system = { duration = 5, constraints = { properties = { "fast" } } } } }
  return core.request(texts.yaml)
  return core.request("slot=2{duration:1h}/node", 7)
  local r = must(core.request(texts.yaml)) return must(r:format "json") and must(r:format "yaml") and must(r:format
      "shape") and must(r:format "resources")
  local r = must(core.request(texts.yaml)) return #r:resources() .. r:duration() .. tostring(r:attribute "x") ..
      tostring(r:constrained()) .. tostring(r)
  local r = must(core.request(texts.either)) return #must(r:alternatives()) .. must(r:format "json")
]])

group("matches", [[
  return e:match "slot=1/core=1"
  return e:match("node=2/slot=1/core=1", { job = 9, duration = 5, stats = false })
  return e:match("slot=1/core=1", { mode = "preview", duration = 5, trace = trace, inside = inside })
  return e:match("node=4/slot=1/core=2", { mode = "reserve", job = 9, duration = 5, trace = trace })
  return e:match("node=4/slot=1/core=2", { mode = "feasible" })
  return e:match("slot=1/core=1", { job = 9, duration = 5, trace = trace, inside = inside })
  return e:match("slot=1/node", { subsystem = "power", mode = "reserve", job = 9, duration = 5 })
  return e:match("slot=1/memory=1", { subsystem = "power", mode = "preview" })
  return e:match("slot=1/core", { subsystem = "containment:node", job = 9, duration = 5 })
  return e:grow(1, "slot=1/memory=1", { subsystem = "power" })
  return e:match("slot=1/[node/power=1;pdu=6]", { job = 9, duration = 5 })
  return e:match("slot=1/[pdu=2-5;node/power=2-3]", { mode = "reserve", job = 9, duration = 5 })
  return must(g:hierarchy "power"):aggregate()
  return e:match("strip=1/slot=2/node", {subsystem = "power", mode = "reserve", duration = 5, job = 9})
  return e:match("strip=1/slot=2/node", {subsystem = "power", policy = policies.hooked, job = 9, mode = "reserve", duration = 5})
  return must(g:find "type=strip")[1]:aggregate {subsystem = "power"}
  return g:aggregate(nil, {subsystem = "power"})
  return e:levels("strip=1/slot=2/node", {subsystem = "power", within = v})
  return core.obstacles(g, "power")
  local ok, why, code = e:match "slot=99/node=1" return ok or code == "infeasible", why, code
  return e:match("slot=1/core=1", { policy = policies.hooked, job = 9 })
  return e:match("slot=1/core=1", { policy = policies.sandboxed, job = 9 })
  return e:match("slot=2/core=1", { policy = policies.choosy, job = 9 })
  return e:match(must(core.request "slot=2/core=1"), { policy = policies.low, job = 9, mode = "reserve", duration =
      10 })
  return e:match({ resources = { { type = "slot", count = 1, label = "x", with = { { type = "core", count = 1 } } }
      }, tasks = { { command = { "x" }, slot = "x", count = { per_slot = 1 } } }, version = 1, attributes = { system
      = { duration = 5, constraints = { properties = { "fast" } } } } }, { mode = "reserve" })
  return e:grow(1, "slot=1/core=1")
  return e:shrink(1, a:vertices()[1].vertex)
  return e:shrink(1, { a:vertices()[1].vertex, a:vertices()[2].vertex })
  return e:release(1)
  return e:release(a)
  return e:release(3)
  return e:advance(120)
  return e:stage("slot=1/core=1", { lease = 5, duration = 9 })
  local s = must(e:stage("slot=2/core=1", { lock = false })) return e:commit(s, { job = 9 })
  local s = must(e:stage "slot=1/core=1") return must(e:commit(s.stage)) and e:stages()
  local s = must(e:stage "slot=1/core=1") return must(e:drop(s)) and e:advance(70)
  return e:allocate({ g "/cluster0/rack1/node2/core0", { vertex = g "/cluster0/rack1/node2/memory0", amount = 3 } }, { job
      = 9, duration = 5 })
  local _, why, code, lost = e:allocate({ v }, { job = 9 }) return code == "busy" and lost, why, code
  return e:allocate(g "/cluster0/rack1/node2/core1", { start = 50, duration = 5 })
  return e:jobs() and e:job(1) and e:stats() and e:policy() and e:resources() and e:now() and tostring(e)
  return e:place(must(core.request "slot=1/core=1"), 9, 0, 10)
  return e:place(must(core.request "node=4/slot=1/core=2"), 9, 0, 10, true, true)
  return e:soonest(must(core.request "node=4/slot=1/core=2"), 9, 0, 10)
  return e:admitted "slot=1/core=1"
  return must(core.engine { resources = g, policy = policies.stateful }:match("slot=1/core=1", { about = { user = "ada" } }))
  return must(core.engine { resources = g, policy = policies.stateful }:grow(1, "slot=1/core=1"))
  return must(core.engine { resources = g, policy = policies.stateful }:placed(1, must(core.request "slot=1/core=1")))
  return core.engine { resources = g, policy = policies.stateful }:state()
  return must(core.engine { resources = g, policy = policies.stateful }:release(1, "slot=1/core=1", { user = "ada" }))
  return must(core.engine { resources = g, policy = policies.stateful }:shrink(1, e:job(1):vertices()[1].vertex))
  local own = core.engine { resources = g, policy = policies.stateful } local x = must(own:detach(1))
      local ok, done, why = pcall(own.finished, own, x) must(own:attach(x)) return must(ok and not why, why or done)
  return e:free "core" + e:visits()
  return e:attach(must(e:detach(1)), 60)
  return e:record(1)
  return e:book(texts.record, 77)
  return e:detach(2)
  return e:match("slot=1/core=1", { mode = "preview", within = g:root(), without = { "prune" }, fewest =
      core.obstacles(g), brief = true })
  return e:levels("slot=1/core=1", { within = v, without = { "admit" } })
  local copy <close> = must(g:dup()) return #copy:twin(v).path
  return #must(must(core.request "slot=1/core"):format_for(g)) + #policies.hooked.parts
  return e:explain "node=4/slot=1/core=2"
  return e:explain("slot=1/core=1", { policy = policies.hooked })
  return e:explain("slot=99/gpu=1", { policy = policies.sandboxed })
]])

group("allocations", [[
  for _, format in ipairs { "rv1", "rv1_nosched", "rlite", "jgf", "tree" } do must(a:format(format)) end return true
  return a:write(files.out, "jgf")
  return #a:vertices() .. a.id .. a.at .. a.end_ .. a.duration .. a.state .. tostring(a.policy) .. tostring(a)
  return must(a:rset { scheduling = true }):format()
  return g:coarsen { keep = { "rack", "node" } }
]])

group("policies", [[
  return core.engine { resources = g, policy = hooked }
  return weir.engine { resources = g, policy = "best_fit" }
  return weir.engine { resources = g, policies = { "low", "high" } }
  return e:use(hooked)
  return e:use(policies.sandboxed)
  return core.policy_source(hooks, "hooked", { options = { k = 5 } })
  return core.policy_load(files.policy)
  return core.policy_table(hooked, { k = 6 })
  return weir.policy.chain { "low", "best_fit" }
  local p = policies.sandboxed return p.name .. p.label .. p.hash .. #p.hooks .. p.options.k.value .. p.budget.memory
      .. p.source
  local p = policies.sandboxed p:profile(true) local t = p:profile() p:profile(false) return t
  return core.filter_walk(policies.sandboxed, g, { type = "core", best = 3, seconds = 5 })
  return core.policy_stamp(files.policy)
  return core.policy_origin(files.policy, "/")
  return core.nearest("nod", { "core", "node" }) .. tostring(core.policy_print())
]])

group("sets", [[
  local s = must(core.idset "1-5,9") return must(must(must(must(s:union "7-8"):intersect "3-9"):difference
      "8"):format { brackets = true }) and tostring(s + 3 - 5)
  local s = must(core.idset { 4, 5, 6 }) must(s:add "10-12") must(s:remove(4)) return must(s:take(2)) and
      must(s:copy()) == s and s:has(12) and s:contains "10" and s:overlaps "10-20" or s:count()
  local n = 0 for id in must(core.idset "1-3,5"):ids() do n = n + id end for lo, hi in must(core.idset
      "1-3,5"):ranges() do n = n + hi - lo end return n
  local s = core.flat { units = 6, queue = queue_of "easy", levels = { { 0, 2, 4 } }, node = 1, per_node = 2, lines = true,
      ended = true, series = 20, naming = { type = "core", stretches = { 0, 0, 0, 0, 1, 2, 1, 0, 0, 1, 4, 2, 0, 0, 1 } } }
      for i = 1, 9 do s:submit(i % 2 == 0 and i or "j" .. i, i // 3, 9 - i, 3, i % 5 + 1, i) end
      while s:run() do end
      return #s:lines() > 0 and s:pop() and #s:waits() == 9 and s:figures().jobs == 9 and #s:series().used > 0
  local s = core.flat { units = 300, queue = queue_of "conservative", lines = true,
      naming = { texts = { "core0", "" }, stretches = { 0, 0, 0, 0, 1, 9, 9, 1, 0, 1 } } }
      for i = 1, 99 do s:submit(i, 0, 9 + i % 7, 3, i * 3, 1) end
      while s:run() do end return s:lines()
  local units = { { 0, 2 }, { 2, 1, 4, 1 } }
      local s = core.flat { units = 6, queue = queue_of "easy", levels = { { 0, 2, 4 } }, placer = { book = function() end,
        finish = function() end, begin = function(i) return units[i] end, advance = function() end } }
      s:submit(1, 0, 9, 3, 2, 1) s:submit(2, 0, 9, 5, 2, 1) s:run() return s:figures().jobs == 2
  local s = core.flat { units = 6, queue = queue_of "easy", start = 9, overrun = true } s:resume(1, 3, 9, 99, 4, 1, 0, nil, 5)
      for i = 2, 9 do s:submit(i, 9, 9, 9, 5, 1, i % 3) end s:run() return s:figures().jobs == 9
  local h = must(core.hostlist "node[1-9],x") must(h:append "y[1-3]") must(h:delete "x") must(h:delete_at(2))
      h:sort() h:uniq() return #h .. tostring(h) .. h:find "y2" .. h[1] .. tostring(h:has "y1")
  local h, n = must(core.hostlist { "a[1-2]", "b" }), "" for name, i in h:names() do n = n .. name .. i end return n
      .. h:copy():format()
  return core.rset(texts.rv1)
  return core.rset { version = 1, execution = { R_lite = { { rank = "0-1", children = { core = "0-3" } } }, nodelist
      = { "a[0-1]" }, starttime = 0, expiration = 10 } }
  local r = sets.a return must(must(r:ranks()):format()) .. must(must(r:hosts()):format()) .. #r:children(0) ..
      #r:entries() .. must(r:count "core") .. #r .. tostring(r)
  local r = sets.a return tostring(r:properties()) .. tostring(r:starttime()) .. tostring(r:expiration()) ..
      tostring(r:nslots()) .. tostring(r:writer()) .. tostring(r:validate())
  local a, b = sets.a, sets.b return must(a:union(b)) and must(a:intersect(b)) and must(a:diff(b)) and (a == b or a
      <= b or a + b) and tostring(a - b)
  local r = sets.a return must(r:on_ranks "0") and must(r:on_hosts "node0") and must(r:remap()) and must(r:with {
      starttime = 3, expiration = 9, properties = { fast = "0", slow = { 1 } } })
  return sets.a:where(must(core.constraint { properties = { "fast" } }))
  return must(must(sets.x:union(sets.y)):format()) and must(must(sets.x:on_ranks "1"):format())
      and must(must(must(sets.x:union(sets.y)):on_ranks "1"):graph())
  return must(sets.a:format()) and must(sets.a:table()) and must(sets.a:graph()) and must(sets.a:subset { ranks = "0" })
]])

group("plain data", [[
  return core.json_encode({ a = { 1, 2.5, "x", core.null, core.array {} }, b = { c = true } }, { indent = 2 })
  return core.json_line { a = { 1, 2.5, "x", core.null, core.array {} }, b = { c = ("long"):rep(2000) } }
  return core.json_decode '{"a":[1,2.5,"x",null,{}],"b":{"c":true}}'
  return core.document("a: [1, 2]\nb: {c: d}\n", { format = "yaml", keys = true })
  return core.sandbox_run("return { a = { 1, 2 }, b = prefix .. 'x' }", "text", { prelude = "prefix = 'p'" })
  local s = must(core.sandbox_open("return { f = function(x) return x .. 'y' end }", "text", { prelude = "local
      bridge = ... return function(t) t.g = bridge return t end", bridge = function(x) return x .. "z" end })) return
      must(s:call("f", "x")) and must(s:call("g", "long long text")) and
      (s:profile(true) or s:profile() and s:traceback() == nil) and s:slice(1) == s:close()
  return core.members() and core.methods "graph" and core.array { 1 } and core.clock()
]])

-- ---- the world of the texts ----

local function slurp(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

local function texts_of(w)
  local small = assert(core.synthetic "cluster:1 node:2 core:2 gpu:1")
  small:vertex("/cluster0/node0").properties.fast = true
  local jgf = assert(w.g:format "jgf"):gsub('"nodes":%[', '"label":"x","nodes":[', 1):gsub('"size":', '"more":[1],"size":', 2)
  return { jgf = jgf:gsub('"relationship":', '"cost":7,"relationship":'), job = assert(w.a:format "jgf"), rv1 = assert(small:format "rv1"),
    grug = (grug(1):gsub('<data key="multi_scale">%d+', '<data key="multi_scale">1')),
    hwloc = slurp "spec/data/hwloc/nameless3.xml", rdl = slurp "spec/data/rdl/plain.lua",
    recipe = 'return { type = "cluster", id = 0, { type = "node", count = 2, { type = "core", count = 2 } } }',
    yaml = assert(assert(core.request "slot=2/node/[core=2;gpu]"):format "yaml"),
    either = '{"resources":[{"type":"xor_slot","count":1,"label":"a","with":[{"type":"core","count":2}]},' ..
      '{"type":"xor_slot","count":1,"label":"a","with":[{"type":"gpu","count":1}]}]}' }
end

local POLICIES = {
  hooked = function(w) return core.policy_table(w.hooked) end,
  sandboxed = function(w) return core.policy_source(w.hooks, "sandboxed") end,
  choosy = function() return core.policy_source(SELECT, "choosy") end,
  stateful = function() return core.policy_source(STATE, "stateful") end,
  low = function() return core.policy_table { order = "id" } end,
}

-- Two sets with units of one switch.
local function sets_with_units()
  local g <close> = assert(core.synthetic "cluster:1 node:3 core:2")
  local switch = assert(g:add(nil, { type = "switch", name = "s", size = 9 }))
  for i = 0, 2 do assert(g:add_edge(switch, g:vertex("/cluster0/node" .. i), { subsystem = "net", type = "link" })) end
  local e <close> = weir.engine { resources = g }
  local x, y = assert(e:match "slot=2/node/net=2"), assert(e:match "slot=1/node/net=3")
  return assert(weir.rset(x:rset():format "rv1")), assert(weir.rset(y:rset():format "rv1"))
end

--- Puts files into a directory. Returns prepare(text): a world, and the operation as a function, to be called once.
function M.stage(dir)
  local w = M.world(dir)
  local texts, files, sets = texts_of(w), { sqlite = dir .. "/machine.sqlite" }, {}
  files.jgf, files.policy = write(dir .. "/machine.json", texts.jgf), write(dir .. "/hooked.lua", w.hooks)
  assert(w.g:save(files.sqlite))
  sets.a = assert(weir.rset(texts.rv1))
  sets.b = assert(sets.a:on_ranks "0")
  sets.x, sets.y = sets_with_units()
  local other = M.world(dir)
  texts.record = assert(other.e:record(assert(other.e:match "slot=1/core=1").id))
  return function(text)
    local own = M.world(dir)
    own.queue_of, own.texts, own.sets, own.trace, own.inside, own.policies = queue_of, texts, sets, {}, {}, {}
    own.files = setmetatable({ out = assert(io.open(dir .. "/out", "w")) }, { __index = files })
    for name in text:gmatch "policies%.(%w+)" do own.policies[name] = assert(POLICIES[name](own)) end
    setmetatable(own, { __index = _G })
    return own, assert(load(text, "=operation", "t", own))
  end
end

return M
