-- What policies can know of a job: the fields of request.job in each hook, their sources, and the places a job comes from.
local client = require "weir.serve.client"
local core = require "weir.core"
local flux = require "spec.support.flux"
local replay = require "weir.replay"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local uv = require "luv"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:2"

local JOBSPEC = {
  version = 9999,
  resources = { { type = "node", count = 1, with = {
    { type = "slot", count = 2, label = "task", with = { { type = "core", count = 2 }, { type = "gpu", count = 1 } } },
  } } },
  tasks = { { command = { "app" }, slot = "task", count = { per_slot = 1 } } },
  attributes = { system = { duration = 60, queue = "debug", bank = "physics", project = "x1", qos = "high", user = "root",
    urgency = 31, priority = 9, submit = 1, job = { name = "train" } }, user = { colour = "red" } },
}

local KNOWN = { user = "ada", bank = "math", project = "x2", queue = "batch", qos = 3, name = "run", urgency = 20, priority = 1.5,
  submit = 100 }

-- A policy whose hook raises the value of an expression about `job`, as text.
local HOOKS = {
  admit = "admit = function(jobspec, options, job) error(tostring(%s), 0) end",
  prune = "prune = function(v, request) local job = request.job error(tostring(%s), 0) end",
  evaluate = "evaluate = function(v, request) local job = request.job error(tostring(%s), 0) end",
  select = "select = function(list, request) local job = request.job error(tostring(%s), 0) end",
}

local MAKERS = {
  sandboxed = function(text) return assert(core.policy_source(text, "asked")) end,
  trusted = function(text) return assert(core.policy_table(assert(load(text, "@asked"))())) end,
}

-- Returns what an expression about the job is in a hook.
local function ask(make, hook, expression, opts, request)
  local policy = MAKERS[make]("return { name = 'asked', " .. HOOKS[hook]:format(expression) .. " }")
  local e = assert(weir.engine { resources = MACHINE, policy = policy })
  local _, why, code = e:match(request or JOBSPEC, opts)
  assert.equal("policy", code, why)
  return why:match "^policy asked: %l+: (.*)$":gsub("^[^ ]*:%d+: ", "")
end

describe("a job as hooks see it", function()
  local cases = {
    -- expression, without `about`, with KNOWN
    { "job.user", "nil", "ada" }, { "job.urgency", "nil", "20" }, { "job.priority", "nil", "1.5" }, { "job.submit", "nil", "100" },
    { "job.bank", "physics", "math" }, { "job.project", "x1", "x2" }, { "job.queue", "debug", "batch" }, { "job.qos", "high", "3" },
    { "job.name", "train", "run" }, { "job.id", "nil", "nil" }, { "job.duration", "60", "60" },
    { "job.attributes.user.colour", "red", "red" }, { "job.attributes.system.job.name", "train", "train" },
    { "job.wants.core", "4", "4" }, { "job.wants.gpu", "2", "2" }, { "job.wants.slot", "2", "2" }, { "job.wants.memory", "nil", "nil" },
    { "job.resources[1].with[1].with[2].type", "gpu", "gpu" }, { "job.resources[1].with[1].label", "task", "task" },
    { "#job.resources", "1", "1" }, { "job.resources[1].with[1].count", "2", "2" },
  }
  for _, make in ipairs { "sandboxed", "trusted" } do
    for hook in pairs(HOOKS) do
      it(("has the same fields in %s of a %s policy, told by the host, or else by the jobspec"):format(hook, make), function()
        for _, case in ipairs(cases) do
          assert.equal(case[2], ask(make, hook, case[1], nil), case[1])
          assert.equal(case[3], ask(make, hook, case[1], { about = KNOWN }), case[1] .. " with about")
        end
        assert.equal("77", ask(make, hook, "job.id", { job = 77 }))
        assert.equal("5.5", ask(make, hook, "job.duration", { duration = 5.5 }))
        assert.equal("inf", ask(make, hook, "job.duration", nil, "slot=1/node"))
        assert.equal("nil", ask(make, hook, "job.name", nil, "slot=1/node"))
        assert.equal("7", ask(make, hook, "job.user", { about = { user = 7 } }))
        if hook ~= "admit" then
          assert.equal("nil", ask(make, hook, "request[1]"))
          assert.equal("nil", ask(make, hook, "request.state"))
          for _, duration in ipairs { 39, 40, 41 } do
            assert.equal(tostring(duration <= 40), ask(make, hook, "request:ends_within(40)", { duration = duration }))
          end
        end
      end)

      it(("refuses names that no job has, and changes, in %s of a %s policy"):format(hook, make), function()
        assert.matches("a job has no field 'usr' %(did you mean \"user\"%?%); it has id, name, user", ask(make, hook, "job.usr"))
        assert.matches("a job can only be read", ask(make, hook, "(function() job.user = 'root' end)()"))
      end)
    end
  end

  it("has at most the largest integer of what it wants", function()
    for _, resources in ipairs { "slot=9007199254740992/[core=1000;core=1000]", "slot=9007199254740992/core=2000" } do
      local wants
      local e = assert(weir.engine { resources = MACHINE, policy = { admit = function(_, _, job)
        wants = job.wants.core
        return false, ""
      end } })
      assert.is_nil((e:match(resources)))
      assert.equal(math.maxinteger, wants)
    end
  end)

  it("has attributes told by the host only as the text of an object", function()
    for _, text in ipairs { "{", "3", "" } do
      assert.matches("field 'about': attributes: the JSON text of an object expected",
        ask("sandboxed", "prune", "job.attributes.x", { about = { attributes = text } }))
    end
    assert.equal("4", ask("sandboxed", "prune", "job.attributes.x", { about = { attributes = '{"x":4}' } }))
  end)

  it("knows what one slot holds, beside each resource", function()
    local function slot(request, type, key)
      local seen = "none"
      local e = assert(weir.engine { resources = MACHINE, policy = { select = function(_, r)
        if r.type == type then seen = tostring(r.slot and r.slot[key]) end
      end } })
      assert(e:match(request))
      return seen
    end
    for _, case in ipairs {
      { "slot=2/[core=3;gpu=1]", "core", "core", "3" }, { "slot=2/[core=3;gpu=1]", "core", "gpu", "1" },
      { "node=1/slot=2/core=2", "core", "core", "2" }, { "slot=1/node/[core=2;gpu=2]", "node", "node", "1" },
      { "slot=1/node/[core=2;gpu=2]", "node", "gpu", "2" }, { "slot=1/rack/node=2/core=2", "rack", "core", "4" },
      { "core=2", "core", "core", "nil" },
    } do
      assert.equal(case[4], slot(case[1], case[2], case[3]), case[1])
    end
  end)

  it("has, as the duration of the request, the duration of the job", function()
    local e = assert(weir.engine { resources = MACHINE, policy = {
      evaluate = function(v, request) return request.duration == 30 and -v.id or v.id end,
    } })
    assert.equal("/cluster0/rack0/node0", e:match("slot=1/node", { duration = 30, mode = "preview" }):vertices()[1].vertex.path)
    assert.equal("/cluster0/rack1/node3", e:match("slot=1/node", { mode = "preview" }):vertices()[1].vertex.path)
    assert.equal(0, e:place("slot=1/node", 1, 0, 30, false, false, {}))
    assert.equal("/cluster0/rack0/node0", e:job(1):vertices()[1].vertex.path)
  end)

  it("is gone after the match, like the request", function()
    local kept
    local e = assert(weir.engine { resources = MACHINE, policy = { prune = function(_, request)
      kept = kept or { request = request, job = request.job }
      return true
    end } })
    assert(e:match "slot=1/node")
    for _, read in ipairs { function() return kept.job.user end, function() return kept.request.slot end } do
      local ok, why = pcall(read)
      assert.is_false(ok)
      assert.matches("of an earlier match cannot be read", why)
    end
    assert.is_not_nil(kept.request.job, "what was read before stays")
  end)

  it("is the one of its own match where a trusted policy asks another machine meanwhile", function()
    local other, seen = assert(weir.engine { resources = "node:1", policy = { prune = function(_, r) return r.job.user == "b" end } }), {}
    local e = assert(weir.engine { resources = MACHINE, policy = { prune = function(_, request)
      if #seen == 0 then
        seen[1] = tostring(other:match("slot=1/node", { about = { user = "b" } }) ~= nil)
        seen[2], seen[3] = request.job.user, request.slot.node
      end
      return true
    end } })
    assert(e:match("slot=1/node", { about = { user = "a" } }))
    assert.same({ "true", "a", 1 }, seen)
  end)

  it("of the outer match can be read where a match within the match is asked", function()
    local outer, seen
    local other = assert(weir.engine { resources = "node:1", policy = { prune = function(_, inner)
      seen = { outer.job.user, outer.slot.node, inner.job.user, inner.slot.node }
      return true
    end } })
    local e = assert(weir.engine { resources = MACHINE, policy = { prune = function(_, request)
      if not outer then
        outer = request
        assert(other:match("slot=1/node", { about = { user = "b" } }))
      end
      return true
    end } })
    assert(e:match("slot=1/node", { about = { user = "a" } }))
    assert.same({ "a", 1, "b", 1 }, seen)
  end)

  it("makes a policy personal only where a field was read that differs between jobs with equal requests", function()
    for _, case in ipairs {
      { "job.user", true }, { "job.bank", true }, { "job.priority", true }, { "job.id", true },
      { "job.attributes.system.queue", false }, { "job.wants.core", false }, { "#job.resources", false }, { "request.type", false },
      { "request.duration", false }, { "request.slot and request.slot.core", false },
    } do
      local e = assert(weir.engine { resources = MACHINE, policy = core.policy_source(
        "return { prune = function(v, request) local job = request.job return (" .. case[1] .. ") ~= 7 end }") })
      assert.is_false(e:personal())
      assert(e:match(JOBSPEC))
      assert.equal(case[2], e:personal(), case[1])
    end
  end)

  it("refuses an `about` that says something else", function()
    local e = assert(weir.engine { resources = MACHINE, policy = "low" })
    for _, case in ipairs {
      { { usr = "ada" }, "usr" }, { { priority = "high" }, "priority: number expected, got string" },
      { { user = {} }, "user: text or number expected, got table" }, { 7, "a table expected, got number" },
    } do
      local ok, why = pcall(e.match, e, "slot=1/node", { about = case[1] })
      assert.is_false(ok)
      assert.matches(case[2], why)
    end
    assert.equal(0, #e:jobs())
  end)

  it("costs a policy nothing that does not read it: no call, and no hook is made", function()
    local function callbacks(policy, opts)
      local e = assert(weir.engine { resources = MACHINE, policy = policy })
      assert(e:match("slot=1/node", opts))
      return e:stats().callbacks
    end
    assert.equal(0, callbacks("low", { about = KNOWN }))
    local prune = { prune = function() return true end }
    assert.equal(callbacks(prune), callbacks(prune, { about = KNOWN }))
  end)
end)

-- ---- who asks -------------------------------------------------------------------------------------------------------

-- Big jobs of anybody but root are not admitted; node3 is for root alone.
local SITE = [[return { name = "site",
  admit = function(_, _, job)
    if job.user ~= "root" and (job.wants.node or 0) > 2 then return false, "too big for " .. (job.user or "nobody") end
  end,
  prune = function(v, request) return v.type ~= "node" or v.id ~= 3 or request.job.user == "root" end,
}]]

local function site() return assert(core.policy_source(SITE, "site")) end

describe("whose job it is counts", function()
  after_each(service.clean)

  it("in explanations, and in e:levels", function()
    local e = assert(weir.engine { resources = MACHINE, policy = site() })
    assert.equal("rejected", e:explain("slot=3/node", { about = { user = "ada" } }).verdict)
    assert.equal("fits", e:explain("slot=3/node", { about = { user = "root" } }).verdict)
    assert(e:match("slot=2/node", { about = { user = "ada" } }))
    assert(e:match("slot=1/node", { about = { user = "ada" } }))
    assert.equal("busy", e:explain("slot=1/node", { about = { user = "ada" } }).verdict)
    assert.equal("fits", e:explain("slot=1/node", { about = { user = "root" } }).verdict)
    local function by_policy(user)
      local n = 0
      for _, cause in ipairs(e:levels("slot=1/node", { about = { user = user } })[1].causes) do
        n = n + (cause.by == "policy" and cause.count or 0)
      end
      return n
    end
    assert.same({ 1, 0 }, { by_policy "ada", by_policy "root" })
  end)

  it("where a job grows", function()
    local e = assert(weir.engine { resources = MACHINE, policy = site() })
    for _ = 1, 3 do assert(e:match("slot=1/node", { about = { user = "ada" } })) end
    assert.is_nil(e:grow(1, "slot=1/node", { about = { user = "ada" } }))
    assert.equal(2, e:grow(1, "slot=1/node", { about = { user = "root" } }).count)
  end)

  for _, queue in ipairs { "fcfs", "easy", "conservative", "hybrid" } do
    it("in a simulator, for jobs with equal requests, under " .. queue, function()
      local s = assert(sim.new { resources = MACHINE, policy = site(), queue = queue })
      local refused = s:submit { request = "slot=3/node", runtime = 10, user = "ada" }
      local big = s:submit { request = "slot=3/node", runtime = 10, user = "root" }
      local again = s:submit { request = "slot=3/node", runtime = 10, user = "bob" }
      local first = s:submit { request = "slot=2/node", runtime = 10, user = "ada", at = 20 }
      local second = s:submit { request = "slot=2/node", runtime = 10, user = "ada", at = 20 }
      local third = s:submit { request = "slot=2/node", runtime = 10, user = "root", at = 20 }
      s:run()
      assert.same({ "rejected", "done", "rejected" }, { refused.state, big.state, again.state })
      assert.matches("too big for ada", refused.why)
      assert.matches("too big for bob", again.why)
      assert.equal(20, first.start)
      local others = { second.start, third.start }
      table.sort(others)
      assert.same({ queue == "fcfs" and 30 or 20, 30 }, others, "root starts beside the first, where the second does not hold up all")
    end)
  end

  it("in scenarios, and queue policies have the same words", function()
    local scenario = require "weir.scenario"
    local queue = shell.path(shell.directory(), "words.lua", [[return { schedule = function(queue)
      for job in queue:pending() do
        local words = { job.user, job.bank, job.project, job.queue, job.qos, job.urgency, job.priority, job.name, job.submit, job.duration }
        if table.concat(words, " ") == "ada math x1 batch high 20 3 run 0.0 60.0" then queue:start(job) end
      end
    end }]])
    local s = scenario { machine = MACHINE, policy = site(), queue = queue }
    local function submit(more)
      local spec = { "slot=1/node", lasts = 60.0, at = 0.0, user = "ada", bank = "math", project = "x1", queue = "batch", qos = "high",
        urgency = 20, priority = 3, name = "run" }
      for key, value in pairs(more or {}) do spec[key] = value end
      return s:submit(spec)
    end
    local a, b = submit(), submit { urgency = 21 }
    s:settle()
    assert.same({ "running", "pending", 20 }, { a.state, b.state, a.urgency })
    assert.has_error(function() submit { priority = "high" } end)
  end)

  it("in a replay: users and groups of SWF, the words of CSV and JSON lines", function()
    local dir = shell.directory()
    local policy = core.policy_source([[return { admit = function(_, _, job)
      local list = { job.user or "nil", job.bank or "nil", job.queue or "nil", job.qos or "nil", job.project or "nil" }
      return false, table.concat(list, " ")
    end }]], "told")
    for name, case in pairs {
      ["a.swf"] = { "1 0 -1 10 1 -1 -1 1 20 -1 1 7 5 -1 2 -1 -1 -1\n", "7 5 2 2 nil" },
      ["a.csv"] = { "id,submit,runtime,procs,user,account,queue,qos,project\n1,0,10,1,ada,math,batch,high,x1\n", "ada math batch high x1" },
      ["a.jsonl"] = { [[{"submit":0,"runtime":10,"resources":[{"type":"slot","count":1,"label":"a","with":[{"type":"core","count":1}]}],]]
        .. [["tasks":[{"command":["a"],"slot":"a","count":{"per_slot":1}}],"version":9999,]]
        .. [["attributes":{"system":{"duration":5,"queue":"batch","bank":"math"},"user":{"user":"ada"}}}]] .. "\n",
        "ada math batch batch nil" },
    } do
      local why
      assert(replay.run { resources = "node:1 core:4", trace = shell.path(dir, name, case[1]), policy = policy, queue = "fcfs",
        note = function(job) why = job.why end })
      assert.equal("policy policy rejects the job: " .. case[2], (why:gsub("policy told", "policy policy")), name)
    end
  end)

  it("in Flux: the user by number, what shared requests leave out, and feasibility", function()
    local path = shell.path(shell.directory(), "site.lua", [[return { admit = function(_, _, job)
      if job.user ~= 0 then
        return false, table.concat({ job.user, tostring(job.name), tostring(job.bank), tostring(job.queue), job.priority }, " ")
      end
    end }]])
    local s = flux.started({ "policy=" .. path }, nil, nil, { queues = { batch = {} } })
    local spec = flux.spec_of(1, {})
    local system = spec.attributes.system
    system.job, system.bank, system.queue = { name = "train" }, "math", "batch"
    local encode = weir.json.encode
    for id, user in ipairs { 1000, 0, 1001 } do
      assert(s.service:alloc(encode { id = id, priority = 16, userid = user, t_submit = s.now, jobspec = spec }))
    end
    flux.settle(s)
    assert.equal("2", flux.ids(s, "alloc"))
    local notes = {}
    for _, entry in ipairs(s.said) do
      if entry[1] == "deny" then notes[#notes + 1] = entry[3]:match "rejects the job: (.*)$" end
    end
    assert.same({ "1000 train math batch 16", "1001 train math batch 16" }, notes)
    local scheduler = s.service.scheduler
    assert.is_true(scheduler:feasible(encode { userid = 0, jobspec = spec }))
    assert.is_nil((scheduler:feasible(encode { userid = 7, jobspec = spec })))
  end)

  it("in the service: a user cannot be another, an administrator says whose job it is", function()
    local dir = shell.directory()
    local tokens = { alice = "alice-0123456789abcdef", boss = "boss-0123456789abcdef", reader = "reader-0123456789abcdef" }
    local list = shell.path(dir, "tokens", ("%s owner alice\n%s administrator boss\n%s reader looker\n"):format(
      tokens.alice, tokens.boss, tokens.reader))
    assert(uv.fs_chmod(list, 384))
    local s = service.start(dir, { "-r", MACHINE, "-l", "tcp:127.0.0.1:0", "--token-file", list })
    local function enter(who)
      return assert(client.connect(s.out.text:match "tcp:127.0.0.1:%d+", { token_file = shell.path(dir, who, tokens[who] .. "\n") }))
    end
    local alice, boss, reader = enter "alice", enter "boss", enter "reader"
    assert(boss:ask("policy.load", { source = SITE:gsub("too big for ", "too big for user ") }))
    local function call(c, method, params)
      local ok, why, code = c:ask(method, params)
      return ok and "ok" or code .. ": " .. why:gsub("^.*the job: ", "")
    end
    local big = { request = "slot=3/node" }
    local function with(user, more)
      local p = { request = big.request, about = { user = user } }
      for key, value in pairs(more or {}) do p[key] = value end
      return p
    end
    assert.equal("rejected: too big for user alice", call(alice, "match", big))
    assert.matches("^forbidden: field 'about'", call(alice, "match", with "root"))
    assert.matches("^forbidden: field 'about'", call(alice, "explain", with "root"))
    assert.equal("rejected: too big for user looker", call(reader, "match", { request = big.request, mode = "preview" }))
    assert.equal("rejected: too big for user nobody", call(boss, "match", big))
    assert.equal("rejected: too big for user bob", call(boss, "match", with "bob"))
    local filter = "return { prune = function() return true end }"
    assert.equal("rejected: too big for user bob", call(boss, "match", with("bob", { filter = filter })))
    assert.matches("^invalid: field 'about'.*there is no 'usr'", call(boss, "match", { request = "node", about = { usr = "x" } }))
    local wrong = { request = "node", about = { priority = "x" } }
    assert.matches("^invalid: field 'about'.*priority: expected a number", call(boss, "match", wrong))
    assert.equal("rejected", assert(alice:ask("explain", big)).verdict)
    assert.equal("fits", assert(boss:ask("explain", with "root")).verdict)
    assert.equal("ok", call(boss, "match", with("root", { filter = filter })))
    assert.equal("ok", call(boss, "grow", { job = 1, request = "slot=1/node", about = { user = "root" } }))
  end)

  it("on the command line", function()
    local path = shell.path(shell.directory(), "site.lua", SITE)
    local function run(...) return shell.weir { "match", "-r", MACHINE, "-p", path, "-q", ... } end
    assert.equal(1, run("--about", "user=ada", "slot=3/node").status)
    assert.equal(0, run("--about", "user=root,urgency=3", "slot=3/node").status)
    assert.equal(1, shell.weir { "explain", "-r", MACHINE, "-p", path, "-q", "slot=3/node" }.status)
    assert.equal(0, shell.weir { "explain", "-r", MACHINE, "-p", path, "-q", "--about", "user=root", "slot=3/node" }.status)
    for _, case in ipairs { { "usr=ada", 'did you mean "user"?' }, { "priority=high", "priority: expected a number" },
      { "ada", "expected FIELD=VALUE" } } do
      local got = run("--about", case[1], "slot=3/node")
      assert.equal(2, got.status)
      assert.matches(case[2], got.err, 1, true)
    end
  end)
end)
