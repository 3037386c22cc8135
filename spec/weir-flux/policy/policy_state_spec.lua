-- The state that a policy keeps: what moves the state, what does not, how long the state lasts, and what a state can be.
local client = require "weir.serve.client"
local core = require "weir.core"
local flux = require "spec.support.flux"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4"

-- Counts the jobs that got resources, by user as well. `fails` says which job's hook raises.
local function counter(fails)
  return ([[return { name = "counter", state = { n = 0, users = {}, last = "" },
    placed = function(job, state, vertices)
      if job.user == %q then state.n = 99 error "not this user" end
      local user = job.user or "nobody"
      state.n = state.n + 1
      state.users[user] = (state.users[user] or 0) + #vertices
      state.last = vertices[1].path .. " " .. job.id
    end }]]):format(fails or "-")
end

local function engine(source, machine)
  return assert(weir.engine { resources = machine or MACHINE, policy = assert(core.policy_source(source or counter(), "counter")) })
end

local function nodes(a)
  local list = {}
  for i, pick in ipairs(assert(a):vertices()) do list[i] = pick.vertex:ancestor("node").name end
  return table.concat(list, " ")
end

after_each(service.clean)

describe("the state of a policy", function()
  it("moves once with each job that gets resources: now, reserved, grown", function()
    local e = engine()
    assert.same({ n = 0, users = {}, last = "" }, e:state())
    assert(e:match("slot=1/node", { about = { user = "ada" }, duration = 10 }))
    assert(e:match("slot=2/core=1", { about = { user = "ada" } }))
    assert(e:match("slot=4/node", { mode = "reserve", job = 40, duration = 5 }) == nil, "a job has no end")
    assert(e:release(2))
    assert(e:match("slot=4/node", { mode = "reserve", job = 40, duration = 5 }))
    assert.same({ n = 3, users = { ada = 3, nobody = 4 }, last = "/cluster0/rack0/node0 40" }, e:state())
    assert(e:grow(1, "slot=1/core=1", { about = { user = "bob" } }))
    assert.equal(4, e:state().n)
    assert.equal(1, e:state().users.bob)
  end)

  it("does not move with previews, feasibility, explanations, levels, refusals, releases, shrinking, detached jobs", function()
    local e = engine()
    assert(e:match "slot=2/node")
    local before, text = e:state(), e:resources():format "jgf"
    assert(e:match("slot=1/node", { mode = "preview" }))
    assert(e:match("slot=1/node", { mode = "feasible" }))
    assert.is_nil(e:match "slot=9/node")
    assert.is_nil(e:match "slot=3/node")
    assert.is_nil(e:match("slot=1/node", { job = 1 }))
    assert.equal("fits", e:explain("slot=1/node").verdict)
    assert.equal("busy", e:explain("slot=3/node").verdict)
    assert(e:levels "slot=1/node")
    assert.is_nil(e:grow(1, "slot=3/node"))
    assert(e:attach(assert(e:detach(1))))
    assert(e:place("slot=1/node", 7, 0, 10))
    assert(e:release(7))
    assert.same(before, e:state())
    assert.equal(text, e:resources():format "jgf")
  end)

  it("is as before after an error of the hook, and the job does not exist, nor was its id given", function()
    local e = engine(counter "eve")
    assert(e:match("slot=1/node", { about = { user = "ada" } }))
    local before, text = e:state(), e:resources():format "jgf"
    for _, opts in ipairs { { about = { user = "eve" } }, { about = { user = "eve" }, mode = "reserve", duration = 1 } } do
      local a, why, code = e:match("slot=1/node", opts)
      assert.same({ nil, "policy" }, { a, code })
      assert.equal("policy counter: placed: counter:3: not this user", why)
    end
    assert.is_nil(e:grow(1, "slot=1/node", { about = { user = "eve" } }))
    assert.same({ before, text, 1, 1 }, { e:state(), e:resources():format "jgf", #e:jobs(), e:job(1).count })
    assert.equal(2, assert(e:match "slot=1/node").id)
  end)

  it("can be read in each hook with a request, and changed in none of these", function()
    for _, make in ipairs { "sandboxed", "trusted" } do
      for hook, result in pairs { prune = "true", evaluate = "1", select = "nil" } do
        local source = ([[return { name = "reader", state = { n = 5, list = { 1, 2 }, map = { b = 2, a = 1 } },
          placed = function(_, state) state.n = state.n + 1 end,
          %s = function(_, request)
            local s, keys = request.state, {}
            assert(s.n >= 5 and #s.list == 2 and s.list[2] == 2 and s.map.a == 1 and s.none == nil)
            for k, v in pairs(s.map) do keys[#keys + 1] = k .. v end
            table.sort(keys)
            assert(table.concat(keys) == "a1b2")
            for _, change in ipairs { function() s.n = 1 end, function() s.map.c = 1 end, function() s.new = 1 end } do
              local ok, why = pcall(change)
              assert(not ok and why:find "a state can be changed by the hooks 'placed' and 'finished' only")
            end
            return %s
          end }]]):format(hook, result)
        local policy = make == "trusted" and assert(load(source))() or assert(core.policy_source(source, "reader"))
        local e = assert(weir.engine { resources = MACHINE, policy = policy })
        assert(e:match "slot=1/node")
        assert(e:match "slot=1/node")
        assert.equal(7, e:state().n, make .. " " .. hook)
      end
    end
  end)

  it("lasts over a reload: fields still declared with the same type stay, others begin anew", function()
    local e = engine()
    assert(e:match "slot=1/core=1")
    assert(e:match "slot=1/core=1")
    local function reload(state)
      assert(e:use(assert(core.policy_source(("return { name = 'counter', state = %s, placed = function(_, s) s.n = s.n + 1 end }")
        :format(state), "counter"))))
      return e:state()
    end
    assert.same({ n = 2, users = { nobody = 2 }, last = "/cluster0/rack0/node0/core1 2" }, reload "{ n = 7, users = {}, last = '' }")
    assert.same({ n = 2, users = "none", first = true }, reload "{ n = 7, users = 'none', first = true }")
    assert(e:match "slot=1/core=1")
    assert.same({ n = 3, users = {}, last = "x" }, reload "{ n = 7, users = {}, last = 'x' }", "a field not declared was forgotten")
    assert(e:use "low")
    assert.is_nil(e:state())
    assert.same({ n = 3 }, reload "{ n = 7 }")
  end)

  it("is saved and loaded with the machine, and belongs to it, not to the loaded policy", function()
    local dir = shell.directory()
    for _, name in ipairs { "a.sqlite", "a.json" } do
      local e = engine()
      assert(e:match("slot=1/node", { about = { user = "ada" } }))
      assert(e:resources():save(shell.path(dir, name), { format = name:match "sqlite" or "jgf" }))
      local loaded = assert(weir.load(shell.path(dir, name)))
      assert.same(e:state(), engine(nil, loaded):state())
      assert.equal(1, loaded:root().data["weir.policy.counter"].n)
    end
    local policy = assert(core.policy_source(counter(), "counter"))
    local one, two = weir.engine { resources = MACHINE, policy = policy }, weir.engine { resources = MACHINE, policy = policy }
    assert(one:match "slot=1/node")
    assert.same({ 1, 0 }, { one:state().n, two:state().n })
    one:resources():root().data["weir.policy.counter"] = nil
    assert.equal(0, one:state().n)
    one:resources():root().data["weir.policy.counter"] = "nonsense"
    assert.equal(0, one:state().n)
  end)

  it("is in the document of the machine, and in none of a job", function()
    local e = engine()
    local a = assert(e:match "slot=1/node")
    e:resources():root().data.note = "for all"
    for text, has in pairs {
      [e:resources():format "jgf"] = true, [a:format "jgf"] = false, [a:format "rv1"] = false,
    } do
      assert.equal(has, text:find("weir.policy.counter", 1, true) ~= nil)
      assert.is_truthy(text:find("for all", 1, true))
    end
  end)

  it("is kept with a root that is no target", function()
    local g = weir.synthetic "node:2 core:2"
    for i, root in ipairs(g:roots()) do root.rank = i end
    local site = assert(g:add(nil, { type = "site" }))
    local e = engine(nil, g)
    assert(e:match "slot=1/node")
    assert.equal(1, site.data["weir.policy.counter"].n)
  end)

  local WRONG = {
    { "{ n = print }", "n: a state has booleans, numbers, texts and tables of these, not a function" },
    { "{ 1 }", "expected names of fields" }, { "7", "table expected, got number" },
    { "{ a = { [true] = 1 } }", "the keys of a state are texts, or the numbers of a list" },
    { "{ n = 0/0 }", "n" }, { "{ s = ('x'):rep(20000) }", "at most 16384 are possible" },
  }
  it("is declared as plain data, together with the hook", function()
    for _, case in ipairs(WRONG) do
      local p, why, code = core.policy_source(("return { state = %s, placed = function() end }"):format(case[1]), "wrong")
      assert.same({ nil, "policy" }, { p, code })
      assert.matches("field 'state': ", why)
      assert.matches(case[2], why, 1, true)
    end
    for _, text in ipairs { "state = {}", "placed = function() end" } do
      local p, why = core.policy_source("return { " .. text .. " }", "wrong")
      assert.is_nil(p)
      assert.matches("the fields 'state' and 'placed' go together", why)
    end
  end)

  it("stays plain data of the declared fields and types, within its bound", function()
    for _, case in ipairs {
      { "state.m = 1", "the state has no field 'm'" }, { "state.count = 1", "(did you mean \"counts\"?)" },
      { "state.n = 'one'", "field 'n' of the state: number expected, as declared, got string" },
      { "state.counts.f = print", "counts: a state has booleans" }, { "state.n = 0/0", "placed: " },
      { "state.counts.x = ('x'):rep(17000)", "at most 16384 are possible" },
      { "state.counts[1], state.counts.x = 1, 1", "placed: " },
      { "state.counts[1000] = 1", "counts: the key 1000 is a number, and the table is no list; tostring(1000) can be kept" },
      { "local t = state.counts for _ = 1, 20 do t.t = {} t = t.t end", "at most 16 tables in one another" },
      { "state.counts.own = state.counts", "at most 16 tables in one another" },
    } do
      local e = engine(("return { name = 'counter', state = { n = 0, counts = {} }, placed = function(job, state) %s end }")
        :format(case[1]))
      local a, why, code = e:match "slot=1/node"
      assert.same({ nil, "policy" }, { a, code }, case[1])
      assert.matches(case[2], why, 1, true)
      assert.same({ 0, { n = 0, counts = {} } }, { #e:jobs(), e:state() })
    end
  end)

  it("can have a field taken away, which then has the declared value", function()
    local e = engine [[return { name = 'counter', state = { n = 4, list = { 1 } }, placed = function(_, state)
      if state.n > 4 then state.n, state.list = nil, nil else state.n, state.list[2] = 9, 2 end
    end }]]
    for _ = 1, 3 do
      assert(e:match "slot=1/core=1")
      assert.same({ n = 9, list = { 1, 2 } }, e:state())
      assert(e:match "slot=1/core=1")
      assert.same({ n = 4, list = { 1 } }, e:state())
    end
  end)

  it("is its own where the hook asks another machine, whose policy has another state", function()
    local inner = { name = "inner", state = { m = 1 }, placed = function(_, state) state.m = state.m + 1 end }
    local other = assert(weir.engine { resources = MACHINE, policy = inner })
    local outer = { name = "outer", state = { n = 1 }, placed = function(_, state)
      assert(other:match "slot=1/core=1")
      state.n = state.n + other:state().m
    end }
    local e = assert(weir.engine { resources = MACHINE, policy = outer })
    for _, n in ipairs { 3, 6, 10 } do
      assert(e:match "slot=1/core=1")
      assert.same({ n = n }, e:state())
    end
    assert.same({ m = 4 }, other:state())
  end)

  it("belongs to one file: not to another file of the same name, nor to what comes with weir", function()
    local one, two = shell.directory(), shell.directory()
    local first, second = shell.path(one, "mine.lua", counter()), shell.path(two, "mine.lua", counter())
    local link = shell.path(two, "link.lua")
    assert(os.execute(("ln -s '%s' '%s'"):format(first, link)))
    local e = assert(weir.engine { resources = MACHINE, policy = first })
    assert(e:match "slot=1/core=1")
    for _, step in ipairs { { second, 0 }, { link, 1 }, { one .. "/../" .. one:match "[^/]*$" .. "/mine.lua", 1 } } do
      assert(e:use(step[1]))
      assert.equal(step[2], e:state().n, step[1])
    end
    local bundled = require("weir.policy").bundled()[1] .. "/round_robin.lua"
    local turn = shell.path(one, "round_robin.lua", shell.slurp(bundled))
    assert(e:use "round_robin")
    assert(e:match "slot=1/core=1")
    local next = e:state().next
    assert(e:use(turn))
    assert.same({ 0, true }, { e:state().next, next > 0 })
    assert(e:use(bundled))
    assert.equal(next, e:state().next, "by its path")
    local data = {}
    for key in pairs(e:resources():root().data) do data[#data + 1] = key end
    table.sort(data)
    assert.same({ select(2, e:policy()).state_key, assert(weir.policy(first)).state_key }, { data[2], data[1] })
    assert.is_nil(table.concat(data):find(one, 1, true), "no path is in a document")
  end)

  it("is not changed through a table that a policy has kept, nor by a state of another machine or policy", function()
    local source = [[local kept
      return { name = "%s", state = { n = 0, x = 0.1, list = { 1, 2.5 }, t = {} }, placed = function(_, state)
        if kept then kept.n, kept.t.n, kept.list[1], kept.x = 100, 100, 100, 100 end
        kept, state.n, state.t.n, state.list[3] = state, state.n + 1, state.n, "end"
        if state.n == 2 then state.x = nil end
      end }]]
    local function trusted(text) return assert(load(text))() end
    for _, make in ipairs { function(text) return assert(core.policy_source(text, "p")) end, trusted } do
      local one, two = make(source:format "one"), make(source:format "two")
      local e, other = assert(weir.engine { resources = MACHINE, policy = one }), assert(weir.engine { resources = MACHINE, policy = one })
      for i = 1, 4 do
        for k, policy in ipairs { one, two } do
          assert(e:use(policy))
          assert(e:match "slot=1/core=1")
          assert.same({ n = i, x = 0.1, list = { 1, 2.5, "end" }, t = { n = i - 1 } }, e:state(), k)
        end
        if i > 2 then assert(other:match "slot=1/core=1") end
      end
      assert.same({ n = 2, x = 0.1, list = { 1, 2.5, "end" }, t = { n = 1 } }, other:state())
      local again = assert(weir.engine { resources = assert(e:resources():dup()), policy = one })
      assert.same(4, again:state().n)
    end
  end)

  it("belongs to one combination of policies", function()
    local dir = shell.directory()
    local mine = shell.path(dir, "mine.lua", counter())
    local e = assert(weir.engine { resources = MACHINE, policy = assert(weir.policy.chain { mine, "low" }) })
    assert(e:match "slot=1/core=1")
    assert(e:use(assert(weir.policy.chain { mine, "high" })))
    assert.equal(0, e:state()["1.counter"].n)
    assert(e:use(assert(weir.policy.chain { mine, "low" })))
    assert.equal(1, e:state()["1.counter"].n)
  end)

  it("is one of the parts' own in a chain, and parts know the job", function()
    local part = { name = "part", state = { n = 0 }, admit = function(_, _, job) return job.user ~= "eve" or false, "eve" end,
      prune = function(_, request) return request.state.n < 3 and request.job.user ~= "bob" end,
      placed = function(_, state) state.n = state.n + 1 end }
    local e = assert(weir.engine { resources = MACHINE, policy = assert(weir.policy.chain { part, { name = "none" }, part }) })
    for _ = 1, 3 do assert(e:match "slot=1/core=1") end
    assert.same({ ["1.part"] = { n = 3 }, ["3.part"] = { n = 3 } }, e:state())
    assert.is_nil(e:match "slot=1/core=1")
    assert.equal("rejected", select(3, e:match("slot=1/core=1", { about = { user = "eve" } })))
  end)

  it("goes back with an undone match in weir repl", function()
    local journal = require("weir.repl.journal").open()
    finally(function() journal:close() end)
    local e = engine()
    assert(e:match "slot=1/node")
    assert(e:match "slot=1/node")
    assert(e:grow(2, "slot=1/node"))
    assert.equal(3, e:state().n)
    for n = 2, 0, -1 do
      assert(journal:undo())
      assert.equal(n, e:state().n)
    end
  end)
end)

describe("round_robin", function()
  it("takes nodes in turn, whatever jobs are released, and begins anew behind the last", function()
    local e = assert(weir.engine { resources = MACHINE, policy = "round_robin" })
    local got = {}
    for i = 1, 10 do
      local a = assert(e:match "slot=1/core=1")
      got[i] = nodes(a)
      assert(e:release(a))
    end
    assert.equal("node0 node1 node2 node3 node0 node1 node2 node3 node0 node1", table.concat(got, " "))
    assert.equal("node2 node3 node0", nodes(e:match "slot=3/node"))
    assert.equal("node1 node1", nodes(e:match "slot=1/core=2"))
    assert.equal("node1 node1", nodes(e:match "slot=2/core=1"))
  end)
end)

-- ---- who places -----------------------------------------------------------------------------------------------------

describe("the state of a policy moves when a job starts,", function()
  for _, queue in ipairs { "fcfs", "easy", "conservative", "hybrid", "sjbf", "preempt", "priority" } do
    it("and not with reservations, in a simulator under " .. queue, function()
      local s = assert(sim.new { resources = MACHINE, policy = assert(core.policy_source(counter "eve", "counter")), queue = queue })
      local jobs = {}
      for i = 1, 40 do
        jobs[i] = s:submit { request = ("slot=%d/node"):format(i * 7 % 4 + 1), runtime = i * 13 % 17 + 1, estimate = i * 13 % 17 + 5,
          at = i // 3, user = i % 2 == 0 and "ada" or "bob" }
      end
      s:run()
      local users = { ada = 0, bob = 0 }
      for i, job in ipairs(jobs) do
        assert.equal("done", job.state)
        users[job.user] = users[job.user] + i * 7 % 4 + 1
      end
      assert.same({ 40, users }, { s.engine:state().n, s.engine:state().users })
    end)

    it("and a job whose hook raises does not start, under " .. queue, function()
      local s = assert(sim.new { resources = MACHINE, policy = assert(core.policy_source(counter "eve", "counter")), queue = queue,
        keep_going = true })
      local first = s:submit { request = "slot=3/node", runtime = 10, user = "ada" }
      local eve = s:submit { request = "slot=2/node", runtime = 10, user = "eve" }
      local last = s:submit { request = "slot=1/node", runtime = 10, user = "ada", at = 30 }
      s:run(100)
      assert.equal("done", first.state)
      assert.equal("pending", eve.state)
      assert.matches("not this user", eve.why)
      assert.equal(queue ~= "fcfs" and "done" or "pending", last.state)
      assert.same({ ada = queue ~= "fcfs" and 4 or 3 }, s.engine:state().users)
      assert.equal(0, #s.engine:jobs())
    end)
  end

  it("in Flux", function()
    local path = shell.path(shell.directory(), "counter.lua", counter "eve":gsub("or \"nobody\"", "and \"one\""))
    local s = flux.started { "policy=" .. path, "queue=easy" }
    for id = 1, 6 do flux.submit(s, id, id % 2 + 1) end
    flux.settle(s)
    for id in flux.ids(s, "alloc"):gmatch "%d+" do
      flux.free(s, math.tointeger(id))
      flux.settle(s)
    end
    local started = select(2, flux.ids(s, "alloc"):gsub("%d+", ""))
    assert.equal(started, s.service.scheduler.engine:state().n)
    assert.is_true(started > 3)
    flux.apart(s)
  end)

  it("in the service: saved, loaded, with matches chosen in copies, and in no R", function()
    local dir = shell.directory()
    local state = shell.path(dir, "state.sqlite")
    for _, suffix in ipairs { "-wal", "-shm" } do shell.path(dir, "state.sqlite" .. suffix) end
    local policy = shell.path(dir, "counter.lua", counter "eve")
    local function start()
      local s = service.start(dir, { "-r", MACHINE, "-p", policy, "--state", state, "--filter-ms", "60000" })
      return s, assert(client.connect(s.path))
    end
    local s, c = start()
    local filter = "return { evaluate = function(v) return v.id end }"
    local a = assert(c:ask("match", { request = "slot=1/node", format = "jgf", about = { user = "ada" } }))
    assert.is_nil(require("weir").json.encode(a):find("weir.policy", 1, true))
    assert(c:ask("match", { request = "slot=1/node", filter = filter, about = { user = "bob" } }))
    for _, params in ipairs { { request = "slot=1/node", mode = "preview" }, { request = "slot=9/node" },
      { request = "slot=1/node", about = { user = "eve" } }, { request = "slot=1/node", filter = filter, about = { user = "eve" } } } do
      c:ask("match", params)
    end
    local want = { n = 2, users = { ada = 1, bob = 1 } }
    local function check()
      local got = assert(c:ask "policy").state
      assert.same(want, { n = got.n, users = got.users })
      assert.equal(2, #assert(c:ask "jobs").jobs)
    end
    check()
    s:kill()
    s, c = start()
    check()
    assert(c:ask("policy.load", { source = counter "eve" }))
    check()
    s:stop()
  end)
end)
