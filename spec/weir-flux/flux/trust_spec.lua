-- Nothing that is said of a policy ends the scheduler of a Flux instance, or keeps jobs waiting in silence: every way in which a
-- policy can be wrong, by every way of naming one.
local flux = require "spec.support.flux"
local weir = require "weir"
local policies = require "weir.flux.policies"
local queues = require "weir.flux.queues"

local encode, decode = weir.json.encode, weir.json.decode
local submit, settle, ids, stats = flux.submit, flux.settle, flux.ids, flux.stats

local SMALL = { instructions = 1000000, memory = 2 << 20, seconds = 600 }

-- ---- policies, wrong in every way ----------------------------------------------------------------------------------

-- What is wrong -> {text of the file, or nil: there is no file; what is said; late: it opens, and fails in use}
local QUEUE = {
  missing = { nil, "nosuch" },
  syntax = { "return {", "expected" },
  ["no table"] = { "return 7", "returns a table" },
  ["a wrong field"] = { "return { schedul = function() end }", "schedul" },
  loading = { "error 'not today'", "not today" },
  ["loading without end"] = { "while true do end", "budget" },
  ["a failing hook"] = { "return { schedule = function() error 'not now' end }", "not now", late = true },
  ["a failing order"] = { "return { order = function() error 'no order' end, schedule = function() end }", "no order", late = true },
  ["a loop without end"] = { "return { schedule = function() while true do end end }", "budget", late = true },
  ["questions without end"] = { [[return { schedule = function(q)
    while true do q:earliest(q:first()) end
  end }]], "budget", late = true },
  memory = { [[return { schedule = function()
    local t = {}
    for i = 1, 1e9 do t[i] = { i } end
  end }]], "memory", late = true },
  ["a wrong call"] = { "return { schedule = function(q) q:nonsense() end }", "nonsense", late = true },
}

local PLACEMENT = {
  missing = { nil, "nosuch" },
  syntax = { "return {", "expected" },
  ["no table"] = { "return 7", "table" },
  loading = { "error 'not today'", "not today" },
  ["loading without end"] = { "while true do end", "budget" },
  ["a failing init"] = { "return { init = function() error 'no graph' end, order = { 'id' } }", "no graph" },
  ["a failing evaluate"] = { "return { evaluate = function() error 'no score' end }", "no score" },
  ["an evaluate without end"] = { "return { evaluate = function() while true do end end }", "budget" },
  memory = { [[return { evaluate = function()
    local t = {}
    for i = 1, 1e9 do t[i] = { i } end
  end }]], "memory" },
  ["a failing prune"] = { "return { prune = function() error 'no prune' end, order = { 'id' } }", "no prune" },
}

local GOOD = { queue = 'return { name = "good", schedule = function(q) for job in q:pending() do q:start(job) end end }',
  policy = 'return { name = "good", order = { "-id" } }' }

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

-- ---- ways of naming a policy ---------------------------------------------------------------------------------------

-- Each returns the scheduler, or nil where the policy was refused at the load; and what was said to who named it, if anything.
local NAMED = {}

local function begin(s)
  assert(s.service:acquire(encode(flux.machine(4, 4))))
  return s
end

function NAMED.start(what, path) return begin(assert(flux.open({}, { ["sched-weir"] = { [what] = path } }, true))) end
NAMED["an argument at the start"] = function(what, path) return begin(assert(flux.open({ what .. "=" .. path }, {}, true))) end
NAMED["a configuration at a load"] = function(what, path) return begin(assert(flux.open({}, { ["sched-weir"] = { [what] = path } }))) end

NAMED["an argument of a load"] = function(what, path)
  local s, why = flux.open { what .. "=" .. path }
  return s and begin(s), why
end

NAMED["a reload of the configuration"] = function(what, path)
  local s = begin(assert(flux.open()))
  local _, why = s.service:configure(encode { ["sched-weir"] = { [what] = path } })
  return s, why
end

NAMED["policy use"] = function(what, path)
  local s = begin(assert(flux.open()))
  local _, why = s.service:policy(encode { words = { "use", what .. "=" .. path } })
  return s, why
end

NAMED["a file edited under watch"] = function(what, path, text)
  write(path, GOOD[what])
  local s = begin(assert(flux.open { "watch=true", what .. "=" .. path }))
  settle(s)
  if text then write(path, text .. " -- edited") else os.remove(path) end
  s.ticks = s.ticks + 10
  return s
end

local function said(s) return table.concat(s.logged, "\n") .. s.service:policy(encode { words = { "show" } }) end

describe("trust in the scheduler of Flux", function()
  local budgets = { queues.BUDGET, policies.BUDGET }
  setup(function() queues.BUDGET, policies.BUDGET = SMALL, SMALL end)
  teardown(function() queues.BUDGET, policies.BUDGET = table.unpack(budgets, 1, 2) end)

  for what, wrongs in pairs { queue = QUEUE, policy = PLACEMENT } do
    for wrong, row in pairs(wrongs) do
      for how, name in pairs(NAMED) do
        it(("goes on, and says so: %s of a %s, named by %s"):format(wrong, what, how), function()
          local path = os.tmpname()
          os.remove(path)
          path = (path .. "-nosuch.lua")
          finally(function() os.remove(path) end)
          if row[1] then write(path, row[1]) end
          local s, why = name(what, path, row[1])
          if why then assert.matches(row[2], why, 1, true) end
          if not s then return assert.equal("an argument of a load", how) end
          submit(s, 1, 4)
          submit(s, 2, 4)
          settle(s)
          flux.free(s, 1)
          settle(s)
          assert.equal("1 2", ids(s, "alloc"))
          if not (how == "a file edited under watch" and wrong == "missing") then
            assert.matches(row[2], (why or "") .. said(s), 1, true)
          end
          if not why and how ~= "a file edited under watch" then
            assert.matches("replaces one that failed", said(s), 1, true)
          end
          flux.apart(s)
        end)
      end
    end
  end

  -- ---- the last good policy ----------------------------------------------------------------------------------------

  it("lets the queue policy go on that worked before", function()
    local s = flux.started { "queue=easy" }
    submit(s, 1, 4)
    settle(s)
    local texts = { ["/far/bad.lua"] = QUEUE["a failing hook"][1] }
    assert(s.service:policy(encode { words = { "use", "queue=/far/bad.lua" }, texts = texts }))
    submit(s, 2, 4)
    settle(s)
    assert.matches("queue easy; it replaces one that failed: /far/bad.lua", s.service:policy(encode { words = { "show" } }), 1, true)
  end)

  it("lets the placement policy go on that worked before, where one fails in use", function()
    local s = flux.started { "policy=high" }
    local texts = { ["/far/bad.lua"] = [[return { evaluate = function(v, job)
      if v.type == "node" and job and job.duration == 77 then error "not this one" end
      return 1
    end }]] }
    assert(s.service:policy(encode { words = { "use", "policy=/far/bad.lua" }, texts = texts }))
    submit(s, 1, 1, { duration = 77 })
    settle(s)
    assert.equal("3", flux.ranks_of(s, 1))
    assert.matches("policy high; it replaces one that failed", s.service:policy(encode { words = { "show" } }), 1, true)
  end)

  it("takes a policy that is used amid the pass of one without end", function()
    local s = flux.started()
    local texts = { ["/far/endless.lua"] = QUEUE["a loop without end"][1] }
    assert(s.service:policy(encode { words = { "use", "queue=/far/endless.lua" }, texts = texts }))
    submit(s, 1, 4)
    local groups = s.service.scheduler.queues
    groups:begin(s.service.scheduler.now) -- a pass that has begun and is not over
    assert.is_true(groups.passing ~= nil)
    assert.matches("queue easy\n", s.service:policy(encode { words = { "use", "queue=easy" } }))
    settle(s)
    assert.equal("1", ids(s, "alloc"))
  end)

  it("gives a whole pass one budget, however many slices it takes", function()
    local s = flux.started { "slice=1ms" }
    s.service.scheduler.ticks = require "weir.core".clock
    local texts = { ["/far/endless.lua"] = QUEUE["a loop without end"][1] }
    assert(s.service:policy(encode { words = { "use", "queue=/far/endless.lua" }, texts = texts }))
    submit(s, 1, 4)
    while ids(s, "alloc") == "" do s.service:work() end
    assert.matches("budget of 1000000 instructions", s.logged[1], 1, true)
  end)

  -- ---- what starts nothing -----------------------------------------------------------------------------------------

  it("announces a queue policy that starts nothing", function()
    local s = flux.started()
    local texts = { ["/far/idle.lua"] = "return { schedule = function() end }" }
    assert(s.service:policy(encode { words = { "use", "queue=/far/idle.lua" }, texts = texts }))
    submit(s, 1, 1)
    settle(s)
    local notes = {}
    for _, entry in ipairs(s.said) do notes[#notes + 1] = entry[3] end
    assert.matches("it starts nothing", s.logged[1], 1, true)
    assert.matches("it starts nothing", s.service:policy(encode { words = { "show" } }), 1, true)
    assert.matches("starts nothing, though nothing runs", table.concat(notes), 1, true)
    assert(s.service:policy(encode { words = { "use", "queue=fcfs" } }))
    settle(s)
    assert.equal("1", ids(s, "alloc"))
  end)

  it("says in the annotations that another policy decides", function()
    local s = assert(flux.open({}, { ["sched-weir"] = { queue = "esy" } }, true))
    begin(s)
    submit(s, 1, 4)
    submit(s, 2, 4)
    settle(s)
    local note = s.said[2]
    assert.same({ "annotate", 2 }, { note[1], note[2] })
    assert.matches("The requested queue policy has failed; fcfs decides", note[3], 1, true)
  end)

  it("names the policy that was meant", function()
    local s = assert(flux.open({}, { ["sched-weir"] = { queue = "esy" } }, true))
    assert.matches('did you mean "easy"', s.logged[1], 1, true)
  end)

  -- ---- other settings ----------------------------------------------------------------------------------------------

  for what, config in pairs {
    ["an unknown option"] = { ["sched-weir"] = { polcy = "low", queue = "easy" } },
    ["a wrong value"] = { ["sched-weir"] = { slice = "5h", queue = "easy" } },
    ["a table of queues that is none"] = { ["sched-weir"] = { queues = 7, queue = "easy" } },
    ["queues that are none"] = { queues = 7, ["sched-weir"] = { polcy = 1, queue = "easy" } },
    ["a recording that cannot be written"] = { ["sched-weir"] = { record = "/nosuch/folder/x", queue = "easy" } },
  } do
    it("leaves out of a configuration at the start what it cannot use, and says so: " .. what, function()
      local s = begin(assert(flux.open({}, config, true)))
      assert.matches("it is left out", s.logged[1], 1, true)
      assert.equal("easy", stats(s).queues[1].policy)
    end)
  end

  local ODD = { 7, -1, "x", "", true, { 1 }, { a = 7 }, { a = { 7 } } }
  for _, name in ipairs { "sched-weir", "sched-fluxion-qmanager", "sched-fluxion-resource" } do
    it("starts with any value in place of a table or of its parts: " .. name, function()
      for _, odd in ipairs(ODD) do
        begin(assert(flux.open({}, { [name] = odd, queues = odd }, true)))
        for _, key in ipairs { "queue-policy", "queue-params", "policy-params", "queue-policy-per-queue", "queue-params-per-queue",
          "policy-params-per-queue", "match-policy", "match-format", "prune-filters", "queues", "queue", "policy", "slice", "watch" } do
          begin(assert(flux.open({}, { [name] = { [key] = odd } }, true)))
        end
      end
    end)
  end

  it("refuses wrong arguments of a load, and leaves them out at the start", function()
    assert.is_nil((flux.open { "polcy=low" }))
    local s = begin(assert(flux.open({ "polcy=low", "queue=easy", "x" }, {}, true)))
    assert.equal(2, #s.logged)
    assert.equal("easy", stats(s).queues[1].policy)
  end)

  -- ---- what was said last ------------------------------------------------------------------------------------------

  for what, first in pairs { ["policy use"] = {}, ["an argument"] = { "queue=easy" } } do
    it("lets a changed configuration count more than " .. what .. " before it", function()
      local s = flux.started(first, 4, 4, { ["sched-weir"] = { queue = "fcfs" } })
      if #first == 0 then assert(s.service:policy(encode { words = { "use", "queue=easy" } })) end
      assert.is_true(s.service:configure(encode { ["sched-weir"] = { queue = "fcfs", policy = "high" } }))
      assert.equal("easy", stats(s).queues[1].policy)
      assert.is_true(s.service:configure(encode { ["sched-weir"] = { queue = "conservative", policy = "high" } }))
      assert.equal("conservative", stats(s).queues[1].policy)
      assert.matches("queue=easy, given before, is replaced by the configuration", table.concat(s.logged, "\n"), 1, true)
    end)
  end

  it("reads a watched file again", function()
    local base = os.tmpname()
    local path = base .. ".lua"
    finally(function()
      os.remove(base)
      os.remove(path)
    end)
    write(path, GOOD.policy)
    local s = flux.started { "watch=true", "policy=" .. path }
    submit(s, 1, 1)
    assert.is_true(settle(s) <= 2)
    write(path, 'return { name = "good", order = { "id" } } -- edited')
    s.ticks = s.ticks + 10
    submit(s, 2, 1)
    settle(s)
    assert.equal("3 0", flux.ranks_of(s, 1) .. " " .. flux.ranks_of(s, 2))
    assert.equal(0, decode(s.service:stats()).denied)
  end)
end)
