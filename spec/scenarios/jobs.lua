-- jobs.lua - jobs: dependencies, growth, and the states of a job until the end.
local scenario = require "weir.scenario"

describe("a job that waits for another", function()
  local s, a

  before_each(function()
    s = scenario { machine = "node:4 core:2" }
    a = s:submit { "slot=1/node", lasts = 100, at = 10, name = "a" }
  end)

  it("after: starts when that has started", function()
    local b = s:submit { "slot=1/node", lasts = 10, after = a }
    assert.pending(b, "dependency")
    s:run()
    assert.starts_at(b, 10)
  end)

  it("afterany: starts when that is over, however it ended", function()
    local b = s:submit { "slot=1/node", lasts = 10, afterany = a }
    s:to(50)
    assert.pending(b, "it waits for a to end")
    s:fail(a)
    assert.starts_at(b, 50)
  end)

  it("afterok: starts when that ended well", function()
    local b = s:submit { "slot=1/node", lasts = 10, afterok = a }
    s:run()
    assert.starts_at(b, 110)
  end)

  it("afterok: is cancelled when that failed, and so is who waits for it in turn", function()
    local b = s:submit { "slot=1/node", lasts = 10, afterok = a, name = "b" }
    local c = s:submit { "slot=1/node", lasts = 10, afterok = b }
    local d = s:submit { "slot=1/node", lasts = 10, afterany = c }
    s:to(20):fail(a)
    assert.cancelled(b, c)
    assert.matches("a to end well, which can never be", b.why)
    assert.running(d)
  end)

  it("afternotok: starts when that failed, and is cancelled when all went well", function()
    local b = s:submit { "slot=1/node", lasts = 10, afternotok = a }
    local good = s:submit { "slot=1/node", lasts = 5, at = 10 }
    local c = s:submit { "slot=1/node", lasts = 10, afternotok = good }
    s:to(20):fail(a)
    assert.running(b)
    assert.cancelled(c)
  end)

  it("can wait for several, and for all of an array", function()
    local array = s:submit { "slot=1/node", lasts = 200, array = 3 }
    local b = s:submit { "slot=1/node", lasts = 10, afterok = { a, array } }
    s:run()
    assert.starts_at(b, 200)
  end)

  it("does not hold up the queue while it waits", function()
    s:queue "fcfs"
    s:submit { "slot=4/node", lasts = 10, afterok = a }
    local small = s:submit { "slot=1/node", lasts = 10 }
    assert.running(small)
  end)

  it("does not start when that was killed at the end of its estimate", function()
    local long = s:submit { "slot=1/node", lasts = 100, estimate = 50 }
    local b = s:submit { "slot=1/node", afterok = long }
    s:to(60)
    assert.is_true(long.killed)
    assert.cancelled(b)
  end)
end)

-- A jobspec of a single node with dependencies of RFC 26: {scheme, value}, ...
local function jobspec(...)
  local list = {}
  for i, pair in ipairs { ... } do list[i] = { scheme = pair[1], value = pair[2] } end
  return {
    version = 1, tasks = { { command = { "true" }, slot = "task", count = { per_slot = 1 } } },
    resources = { { type = "slot", count = 1, label = "task", with = { { type = "node", count = 1 } } } },
    attributes = { system = { duration = 10, dependencies = list } },
  }
end

describe("a jobspec that names what it depends on", function()
  for _, row in ipairs {
    { "after", 0, 0 }, { "afterany", 0, 100 }, { "afterok", 0, 100 }, { "afternotok", 50, 50 }, { "begin-time", 0, 70, "70" },
  } do
    local scheme, failed_at, starts, value = table.unpack(row)
    it(scheme .. ": starts then", function()
      local s = scenario { machine = "node:4 core:2" }
      local a = s:submit { "slot=1/node", lasts = 100, name = "a" }
      local b = s:submit(jobspec { scheme, value or "a" })
      if failed_at > 0 then s:to(failed_at):fail(a) end
      s:run()
      assert.starts_at(b, starts)
    end)
  end

  it("may call jobs by their numbers, and depend on several", function()
    local s = scenario { machine = "node:4 core:2" }
    s:submit { "slot=1/node", lasts = 30 }
    s:submit { "slot=1/node", lasts = 60 }
    local c = s:submit(jobspec({ "afterok", "1" }, { "afterany", "2" }))
    assert.pending(c, "it waits for job 1 to end well, job 2 to end")
    s:run()
    assert.starts_at(c, 60)
  end)

  for _, row in ipairs {
    { { "afterok", "nobody" }, 'job "nobody", which is not there' }, { { "string", "foo" }, 'scheme "string"' },
    { { "begin-time", "soon" }, "expected a time" }, { { "singleton", "" }, "needs a name" },
  } do
    it("is refused where that makes no sense: " .. row[1][1] .. " " .. row[1][2], function()
      local s = scenario { machine = "node:4 core:2" }
      local ok, why = pcall(s.submit, s, jobspec(row[1]))
      assert.is_false(ok)
      assert.matches(row[2], why, 1, true)
    end)
  end
end)

describe("a singleton", function()
  it("is the only one of its name and user that runs; others do not matter", function()
    local s = scenario { machine = "node:4 core:2" }
    local function submit(spec) return s:submit { "slot=1/node", lasts = spec[1], name = spec[2], user = spec[3], singleton = spec[4] } end
    submit { 40, "sweep", "ann" }
    local bobs, other = submit { 10, "sweep", "bob", true }, submit { 10, "train", "ann", true }
    local first, second = submit { 10, "sweep", "ann", true }, submit { 10, "sweep", "ann", true }
    assert.running(bobs, other)
    assert.pending(first, "it waits for others of its name to end")
    s:run()
    assert.starts_at(first, 40)
    assert.starts_at(second, 50)
  end)

  it("lets pass who is none and comes before its turn", function()
    local s = scenario { machine = "node:4 core:2" }
    s:submit { "slot=1/node", lasts = 40, name = "a" }
    local single = s:submit { "slot=1/node", lasts = 10, name = "a", singleton = true }
    s:submit { "slot=1/node", lasts = 90, name = "a", at = 10 }
    s:run()
    assert.starts_at(single, 100)
  end)
end)

describe("an array", function()
  it("with a limit runs so many at a time, in their order", function()
    local s = scenario { machine = "node:8 core:2" }
    local array = s:submit { "slot=1/node", lasts = 10, array = 7, limit = 3 }
    assert.running(array[1], array[2], array[3])
    assert.pending(array[4], "no more than 3 of its array run at a time")
    s:run()
    assert.never_over(3, "job", { job = array })
    assert.starts_in_order(array)
    assert.starts_at(array[7], 20)
  end)

  it("with a limit goes on when elements fail or are cancelled, also those that have no turn yet", function()
    local s = scenario { machine = "node:8 core:2" }
    local array = s:submit { "slot=1/node", lasts = 100, array = 6, limit = 2 }
    s:to(10):fail(array[1])
    assert.starts_at(array[3], 10)
    s:cancel { array[4], array[2] }
    assert.starts_at(array[5], 10)
    s:run()
    assert.never_over(2, "job", { job = array })
    assert.starts_at(array[6], 110)
    assert.invariants()
  end)

  it("with a limit does not hold up the queue", function()
    local s = scenario { machine = "node:2 core:2", queue = "fcfs" }
    s:submit { "slot=1/node", lasts = 100, array = 5, limit = 1 }
    assert.running(s:submit { "slot=1/node", lasts = 10 })
  end)

  it("is as many jobs, each with a place of its own", function()
    local s = scenario { machine = "node:4 core:2", policy = "low" }
    local array = s:submit { "slot=1/node", lasts = 10, array = 6, name = "sweep" }
    assert.equal("sweep[0-5]", tostring(array))
    assert.placed(array[3], "node2")
    assert.pending(array[5], array[6])
    s:run()
    assert.done(array)
    assert.never_over(4, "job", { job = array })
  end)

  it("can be cancelled as a whole", function()
    local s = scenario { machine = "node:4 core:2" }
    local array = s:submit { "slot=1/node", array = 6 }
    assert.running(array[1])
    s:cancel(array)
    assert.cancelled(array)
    assert.free(8)
  end)
end)

describe("a job that grows", function()
  it("gets what is free, and no more", function()
    local s = scenario { machine = "node:4 core:2", policy = "low" }
    local job = s:submit { "slot=1/node", lasts = 100 }
    local other = s:submit { "slot=1/node", lasts = 100 }
    assert.is_true(s:grow(job, "slot=2/node"))
    assert.placed(job, "node[0,2-3]")
    assert.is_false((s:grow(job, "slot=1/node")))
    assert.running(job, other)
    s:run()
    assert.ends_at(job, 100)
    assert.invariants()
  end)

  it("gives back all that it has in the end", function()
    local s = scenario { machine = "node:4 core:2" }
    local job = s:submit { "slot=1/node", lasts = 10 }
    s:grow(job, "slot=3/node")
    assert.free(0)
    s:run()
    assert.free(8)
    assert.utilisation("==", 1)
  end)
end)

describe("a job that is queued again", function()
  it("begins anew, elsewhere, when its node goes down", function()
    local s = scenario { machine = "node:4 core:2", policy = "low" }
    local keeps = s:submit { "slot=1/node", lasts = 100, requeue = true }
    local fails = s:submit { "slot=1/node", lasts = 100 }
    s:advance(30):down("node[0-1]", "fail")
    assert.failed(fails)
    assert.running(keeps)
    assert.placed(keeps, "node2")
    s:run()
    assert.ends_at(keeps, 130)
    assert.equal(1, keeps.requeued)
    assert.invariants()
  end)

  it("waits for its turn among the others, by when it came", function()
    local s = scenario { machine = "node:2 core:2", policy = "low", queue = "easy" }
    local a = s:submit { "slot=2/node", lasts = 100, requeue = true }
    local b = s:submit { "slot=2/node", lasts = 10 }
    s:advance(50):down("node1", "fail")
    assert.pending(a, "blocked")
    assert.pending(b, "blocked")
    s:advance(50):up "node1"
    s:run()
    assert.starts_in_order(a, b)
    assert.starts_at(a, 100)
  end)

  for name, opts in scenario.each { queue = scenario.queues() } do
    it("leaves the books sound, whatever the queue policy: " .. name, function()
      local s = scenario { machine = "rack:2 node:4 core:2", queue = opts.queue }
      local jobs = s:submit { "slot=3/node", lasts = 40, estimate = 60, array = 6 }
      s:advance(10):down("node[0-5]", "requeue")
      s:advance(20):up "node[0-5]"
      s:advance(5):requeue(jobs[1])
      s:run()
      assert.done(jobs)
      assert.invariants()
      assert.no_standstill()
    end)
  end
end)

describe("a job that shrinks", function()
  it("makes room for who waits", function()
    local s = scenario { machine = "node:4 core:2", policy = "low" }
    local job = s:submit { "slot=4/node", lasts = 100 }
    local waits = s:submit { "slot=2/node", lasts = 10 }
    s:advance(20):shrink(job, "node[1-2]")
    assert.placed(job, "node[0,3]")
    assert.placed(waits, "node[1-2]")
    assert.starts_at(waits, 20)
    assert.invariants()
  end)
end)

describe("a job", function()
  it("that takes longer than it said is killed, or runs on, and nothing is given twice", function()
    for _, case in ipairs { { "kill", "done", 100 }, { "run", "running", 300 } } do
      local overrun, state, free_at = table.unpack(case)
      local s = scenario { machine = "node:2 core:1", overrun = overrun, queue = "easy" }
      local job = s:submit { "slot=2/node", lasts = 300, estimate = 100 }
      local next = s:submit { "slot=1/node", lasts = 10 }
      s:to(150)
      assert.equal(state, job.state)
      s:run()
      assert.starts_at(next, free_at)
      assert.invariants()
    end
  end)

  it("that is cancelled while it waits leaves the queue, and its reservation goes", function()
    local s = scenario { machine = "node:4 core:1", queue = "easy" }
    s:submit { "slot=3/node", lasts = 100 }
    local first = s:submit { "slot=4/node", lasts = 100 }
    local second = s:submit { "slot=1/node", lasts = 500 }
    assert.reserved(first, 100)
    assert.pending(second, "reserved")
    s:cancel(first)
    assert.running(second)
    assert.invariants()
  end)

  it("that has not come yet is nobody's concern", function()
    local s = scenario { machine = "node:1 core:1", queue = "conservative" }
    local later = s:submit { "slot=1/node", lasts = 10, at = 100 }
    local now = s:submit { "slot=1/node", lasts = 150 }
    assert.submitted(later)
    assert.running(now)
    s:run()
    assert.starts_at(later, 150)
    assert.waited(later, "==", 50)
  end)

  it("and others that come at one time are seen together; who came first is first", function()
    local s = scenario { machine = "node:1 core:1", queue = "fcfs" }
    local jobs = s:submit { "slot=1/node", lasts = 1, array = 5 }
    s:run()
    assert.starts_in_order(jobs)
    assert.ends_at(jobs[5], 5)
  end)
end)
