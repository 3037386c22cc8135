-- flux weir try: what the waiting jobs would do under other policies; nothing is changed.
local core = require "weir.core"
local flux = require "spec.support.flux"

local T0 = flux.T0

local function when(t) return os.date("%Y-%m-%d %H:%M:%S", t) end

-- Asks in a forked copy, as the module does. Returns the results of service:try.
local function try(s, words, texts)
  local child <close> = assert(core.worker(function(write)
    local text, why, code = s.service:try(core.json_encode { words = core.array(words), texts = texts or {} })
    write(core.json_encode { text = text, why = why, code = code })
  end))
  local parts = {}
  for part in function() return child:read() end do parts[#parts + 1] = part end
  local result = core.json_decode(table.concat(parts))
  return result.text, result.why, result.code
end

-- Four nodes: job 1 has three of them for 100 s, job 2 wants all four for 60 s, job 3 one for 30 s.
local function queue_of(policy)
  local s = flux.started { "queue=" .. policy }
  flux.submit(s, 1, 3, { duration = 100 })
  flux.submit(s, 2, 4, { duration = 60 })
  flux.submit(s, 3, 1, { duration = 30 })
  flux.settle(s)
  return s
end

describe("flux weir try", function()
  it("tells each job's start beside the one under the policies in force", function()
    local text = try(queue_of "fcfs", { "queue=easy" })
    assert.matches("2 jobs wait. With queue=easy, 1 would start now; 1 earlier than now planned, 0 later, 1 at the same time.", text, 1,
      true)
    assert.matches(("%s +%s +%s"):format("ƒ4", when(T0 + 160):gsub("%-", "%%-"), (when(T0):gsub("%-", "%%-"))), text)
    assert.matches("-3 min", text, 1, true)
  end)

  it("tells that nothing changes", function()
    local text = try(queue_of "fcfs", { "policy=high" })
    assert.matches("0 earlier than now planned, 0 later, 2 at the same time", text, 1, true)
    assert.is_nil(text:find("in force   ", 1, true))
  end)

  it("takes the text of a policy that is not here", function()
    local text = try(queue_of "fcfs", { "queue=/none/mine.lua" },
      { ["/none/mine.lua"] = "return { schedule = function(q) for j in q:pending() do q:start(j) end end }" })
    assert.matches("1 would start now", text, 1, true)
  end)

  it("tells that a job has no start in sight", function()
    local text = try(queue_of "fcfs", { "queue=/none/mine.lua" }, { ["/none/mine.lua"] = "return { schedule = function() end }" })
    assert.matches("of 2 a start is not known", text, 1, true)
    assert.matches("no start is in sight", text, 1, true)
  end)

  for _, case in ipairs {
    { { "queue=nonsense" }, "nonsense" }, { { "policy=nonsense" }, "nonsense" }, { { "slice=1" }, "expected policy=NAME or queue=NAME" },
    { {}, "expected policy=NAME or queue=NAME" },
  } do
    it("refuses: " .. (case[1][1] or "nothing"), function()
      local text, why = try(queue_of "fcfs", case[1])
      assert.is_nil(text)
      assert.matches(case[2], why, 1, true)
    end)
  end

  it("plays with nodes that are drained as they are", function()
    local s = flux.started { "queue=fcfs" }
    assert(s.service:acquire(core.json_encode { down = "3" }))
    flux.submit(s, 1, 2, { duration = 100 })
    flux.submit(s, 2, 2, { duration = 60 })
    flux.submit(s, 3, 1, { duration = 30 })
    flux.settle(s)
    local text = try(s, { "queue=easy" })
    assert.matches("2 jobs wait. With queue=easy, 1 would start now; 1 earlier than now planned, 0 later, 1 at the same time.", text, 1,
      true)
  end)

  it("changes the policy of the queues that have none of their own", function()
    local config = { queues = { a = { requires = { "x" } }, b = { requires = { "y" } } },
      ["sched-weir"] = { queues = { b = { queue = "fcfs" } } } }
    local s = flux.started({ "queue=fcfs" }, 8, 4, config, { properties = { x = "0-3", y = "4-7" } })
    for i, queue in ipairs { "a", "b" } do
      flux.submit(s, 10 * i + 1, 3, { duration = 100, queue = queue })
      flux.submit(s, 10 * i + 2, 4, { duration = 60, queue = queue })
      flux.submit(s, 10 * i + 3, 1, { duration = 30, queue = queue })
    end
    flux.settle(s)
    local text = try(s, { "queue=easy" })
    assert.matches("4 jobs wait. With queue=easy, 1 would start now; 1 earlier than now planned, 0 later, 3 at the same time.", text, 1,
      true)
  end)

  it("leaves the scheduler as it is", function()
    local s = queue_of "fcfs"
    local before = s.service:stats()
    try(s, { "queue=easy", "policy=high" })
    assert.equal(before, s.service:stats())
    flux.apart(s)
  end)
end)
