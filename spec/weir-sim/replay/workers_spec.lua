-- Tasks in copies of the process: order, failures, the same output with any number of copies, no copy left over.
local core = require "weir.core"
local pty = require "pty"
local shell = require "spec.support.shell"
local workers = require "weir.replay.workers"

local SIGINT, SIGKILL = 2, 9

local function square(x) return { x = x, square = x * x } end

describe("workers", function()
  for _, n in ipairs { 1, 2, 7 } do
    it(("give the values in the order of the tasks, with %d at once"):format(n), function()
      local list = assert(workers.map({ 5, 4, 3, 2, 1 }, square, { workers = n }))
      for i, value in ipairs(list) do assert.same(square(6 - i), value) end
      assert.equal(5, #list)
    end)
  end

  it("give values larger than a pipe", function()
    local list = assert(workers.map({ 3, 1 }, function(n) return { ("ä"):rep(n * 1000000), "a\nb" } end))
    assert.same({ 6000000, 2000000 }, { #list[1][1], #list[2][1] })
    assert.equal("a\nb", list[2][2])
  end)

  it("give numbers as they were", function()
    local given = { 0.1 + 0.2, 1e300, 5, 5.0, -0.1 }
    local list = assert(workers.map({ 1 }, function() return core.array(given) end))
    for i, x in ipairs(given) do
      assert.equal(x, list[1][i])
      assert.equal(math.type(x), math.type(list[1][i]))
    end
  end)

  it("have no task", function() assert.same({}, workers.map({}, square)) end)

  it("report what a task tells, and its end", function()
    local told, done = {}, {}
    assert(workers.map({ "a", "b" }, function(x, tell)
      tell(x .. 1)
      tell(x .. 2)
      return { x }
    end, { workers = 1, progress = function(i, value) told[#told + 1] = i .. value end, done = function(i) done[#done + 1] = i end }))
    assert.same({ "1a1", "1a2", "2b1", "2b2" }, told)
    assert.same({ 1, 2 }, done)
  end)

  for _, n in ipairs { 1, 3 } do
    it(("fail as the first task that fails, with %d at once"):format(n), function()
      local value, why, i = workers.map({ 1, 2, 3, 4 }, function(x)
        if x >= 2 then return nil, "task " .. x end
        return x
      end, { workers = n })
      assert.same({ nil, "task 2", 2 }, { value, why, i })
    end)
  end

  it("raise what a task raises", function()
    assert.has_error(function() workers.map({ 1 }, function() error("wrong", 0) end) end, "wrong")
  end)

  it("tell of a task whose process was killed", function()
    local list, why = workers.map({ 1, 2 }, function(x)
      if x == 2 then os.execute "kill -9 $PPID" end
      return x
    end)
    assert.is_nil(list)
    assert.matches("ended without a result", why, 1, true)
  end)

  it("stop the others when one has failed", function()
    local _, why = workers.map({ 1, 2 }, function(x)
      if x == 1 then return nil, "first" end
      while true do end
    end, { workers = 2 })
    assert.equal("first", why)
  end)
end)

-- ---- the command ------------------------------------------------------------------------------------------------

local function children_of(pid)
  local file <close> = io.open(("/proc/%d/task/%d/children"):format(pid, pid))
  local list = {}
  for child in (file and file:read "a" or ""):gmatch "%d+" do list[#list + 1] = tonumber(child) end
  return list
end

-- Whether a process runs: it is there, and no zombie.
local function runs(pid)
  local file <close> = io.open(("/proc/%d/stat"):format(pid))
  local state = (file and file:read "a" or ""):match "%) (%a)" -- it may be gone between the two
  return state ~= nil and state ~= "Z"
end

-- Waits up to 60 s for a condition.
local function await(what, condition)
  for _ = 1, 6000 do
    if condition() then return end
    os.execute "sleep 0.01"
  end
  error("in vain: " .. what)
end

describe("weir replay --compare", function()
  local ENDLESS = { "replay", "-r", "core:400", "--generate", "10000000", "--compare", "easy fcfs", "--workers", "2" }

  it("shows the same with any number of workers", function()
    local words = { "replay", "-r", "cluster:1 node:16", "--map", "node", "--generate", "200", "--compare", "easy fcfs", "-p", "low high" }
    local function out(...) return shell.weir(table.move({ ... }, 1, select("#", ...), #words + 1, { table.unpack(words) })) end
    local one = out("--workers", "1")
    assert.equal(0, one.status)
    assert.matches("easy@low +easy@high +moved +fcfs@low +moved +fcfs@high", one.out)
    assert.equal(one.out, out("--workers", "3").out)
    assert.equal(out("--workers", "1", "--json").out, out("--json").out)
  end)

  for _, case in ipairs { { "an interrupt", SIGINT }, { "a kill", SIGKILL } } do
    it("leaves no process behind after " .. case[1], function()
      local t = pty.spawn({ shell.bin, table.unpack(ENDLESS) }, { TERM = "xterm" })
      local list
      await("two copies", function()
        list = children_of(t:pid())
        return #list == 2
      end)
      os.execute(("kill -%d %d"):format(case[2], t:pid()))
      await("the end of the copies", function() return not runs(list[1]) and not runs(list[2]) end)
      t:finish(30)
    end)
  end
end)
