-- The states of policies outlive the scheduler of a Flux instance.
local files = require "weir.files"
local flux = require "spec.support.flux"
local weir = require "weir"

local encode, decode = weir.json.encode, weir.json.decode

-- Opens a scheduler of eight nodes, with the states of before.
local function opened(arguments, states, config)
  local s = assert(flux.open(arguments, config, nil, states))
  assert(s.service:acquire(encode(flux.machine(8, 4))))
  return s
end

-- Submits jobs of a node each, which start at once, and returns their ranks.
local function placed(s, first, last)
  local ranks = {}
  for id = first, last do flux.submit(s, id, 1) end
  flux.settle(s)
  for id = first, last do ranks[#ranks + 1] = flux.ranks_of(s, id) end
  return table.concat(ranks, " ")
end

describe("the states of policies", function()
  it("go on after a reload, saved as the module ends: a placement policy", function()
    local s = opened { "policy=round_robin" }
    assert.equal("0 1 2", placed(s, 1, 3))
    for id = 1, 3 do flux.free(s, id) end
    assert.equal("3 4", placed(opened({ "policy=round_robin" }, s.service:states()), 4, 5))
    assert.equal("0 1", placed(opened { "policy=round_robin" }, 4, 5))
  end)

  it("go on after a reload: a queue policy", function()
    local s = opened { "queue=turns" }
    placed(s, 1, 2)
    local key, state = next(decode(s.service:states()))
    assert.matches("^weir%.policy%.?.*turns", key)
    assert.equal(2, state.starts)
    local again = opened({ "queue=turns" }, s.service:states())
    placed(again, 3, 3)
    assert.equal(3, decode(again.service:states())[key].starts)
    assert.matches("the states of policies are those of before: 1", table.concat(again.logged, "\n"))
  end)

  it("are saved some time after a pass, once for each change", function()
    local s = opened { "policy=round_robin" }
    placed(s, 1, 1)
    assert.is_nil(s.states)
    local wait = flux.settle(s)
    assert.is_true(wait > 0 and wait <= 2)
    s.ticks = s.ticks + 3
    flux.settle(s)
    assert.equal(s.service:states(), s.states)
    s.states = nil
    flux.submit(s, 2, 9) -- too many nodes: nothing is placed
    s.ticks = s.ticks + 3
    flux.settle(s)
    assert.is_nil(s.states)
  end)

  it("of two queues stay apart", function()
    local config = { queues = { a = {}, b = {} }, ["sched-weir"] = { queue = "turns", queues = { b = { queue = "turns" } } } }
    local s = opened({}, nil, config)
    flux.submit(s, 1, 1, { queue = "a" })
    flux.submit(s, 2, 1, { queue = "b" })
    flux.submit(s, 3, 1, { queue = "b" })
    flux.settle(s)
    local starts = {}
    for key, state in pairs(decode(opened({}, s.service:states(), config).service:states())) do
      starts[#starts + 1] = ("%s %d"):format(key:match "#(.*)$" or "", state.starts)
    end
    table.sort(starts)
    assert.same({ " 1", "b 2" }, starts)
  end)

  it("are none where no policy has one, and nothing is saved", function()
    local s = opened {}
    placed(s, 1, 2)
    s.ticks = s.ticks + 3
    assert.is_nil(flux.settle(s))
    assert.same({}, { s.service:states(), s.states })
  end)

  -- What may stand in the store.
  for _, text in ipairs { "", "7", "[1]", "{", '{"x":{}}', '{"weir.policy.round_robin":7}', '{"weir.policy.round_robin":{"next":"x"}}' } do
    it("begin anew where the store has none: " .. text, function()
      assert.equal("0", placed(opened({ "policy=round_robin" }, text), 1, 1))
    end)
  end
end)

describe("a scheduler as Fluxion", function()
  it("writes R without the number of slots, which has it otherwise", function()
    local s, own = opened { "as-fluxion=true" }, opened {}
    for _, x in ipairs { s, own } do
      flux.submit(x, 1, 1, { slots = 2 })
      flux.settle(x)
    end
    assert.same({ nil, 2 }, { decode(flux.R_of(s, 1)).execution.nslots, decode(flux.R_of(own, 1)).execution.nslots })
  end)

  it("says no more of what can never be met than Fluxion does", function()
    local s = opened { "as-fluxion=true" }
    local _, why, code = s.service:feasible(encode { jobspec = flux.spec_of(9, {}) })
    assert.same({ "Unsatisfiable request", "unsatisfiable" }, { why, code })
    _, why = opened({}).service:feasible(encode { jobspec = flux.spec_of(9, {}) })
    assert.matches("^Unsatisfiable", why)
    assert.not_equal("Unsatisfiable request", why)
  end)

  -- {arguments, whether the scheduler goes on with R_lite}
  local NONSENSE = { { {}, true }, { { "as-fluxion=true" }, nil }, { { "as-fluxion=true", "load-format=rv1exec" }, nil },
    { { "as-fluxion=true", "load-format=rv1exec_force" }, true } }
  for _, case in ipairs(NONSENSE) do
    it("ends with nonsense under scheduling, unless told otherwise: " .. table.concat(case[1], " "), function()
      local s = assert(flux.open(case[1]))
      local message = flux.machine(2, 2)
      message.resources.scheduling = { graph = { nodes = 7 } }
      local ok, why = s.service:acquire(encode(message))
      assert.equal(case[2], ok)
      if not ok then assert.matches("Invalid argument", why) end
      assert.equal(case[2], table.concat(s.logged):find("the machine is that of R_lite", 1, true) and true)
    end)
  end

  it("refuses a depth that Fluxion refuses", function()
    local config = { ["sched-fluxion-qmanager"] = { ["queue-params"] = { ["queue-depth"] = -1 } } }
    local s, why = flux.open({ "as-fluxion=true" }, config, true)
    assert.is_nil(s)
    assert.matches("queue%-depth = %-1 is not a number above 0", why)
    assert.is_truthy(flux.open({}, config))
  end)

  -- {arguments, lost-queue}
  local LOST = { ["as-fluxion=true"] = "end", ["as-fluxion=false"] = "keep", ["as-fluxion=true lost-queue=keep"] = "keep" }
  for arguments, expected in pairs(LOST) do
    it("ends jobs of lost queues: " .. arguments, function()
      local list = {}
      for word in arguments:gmatch "%S+" do list[#list + 1] = word end
      assert.equal(expected, opened(list).service.settings["lost-queue"])
    end)
  end
end)

describe("load-file", function()
  -- Calls f with the path of a file that has a text, or with nil is not there.
  local function with_file(text, f)
    local path = os.tmpname()
    if text then assert(files.write(path, text)) else os.remove(path) end
    local ok, why = pcall(f, path)
    os.remove(path)
    assert(ok, why)
  end

  it("gives the machine its graph", function()
    local g = assert(weir.synthetic "cluster:1 rack:1 node:2 core:2")
    for i, v in ipairs(g:find "type=node") do v.rank = i - 1 end
    with_file(assert(g:format "jgf"), function(path)
      local s = assert(flux.open { "load-file=" .. path })
      assert(s.service:acquire(encode(flux.machine(2, 2, { nodelist = { "node[0-1]" } }))))
      assert.equal(1, #s.service.scheduler.graph:find "type=rack")
    end)
  end)

  it("may be an R", function()
    local R = flux.machine(2, 2)
    with_file(encode(R.resources), function(path)
      local s = assert(flux.open { "load-file=" .. path, "load-format=rv1exec", "as-fluxion=true" })
      assert.is_true((s.service:acquire(encode(R))))
    end)
  end)

  -- {load-format, whether R has a graph, whether a scheduler as Fluxion starts}
  local WITHOUT_FILE = { { "hwloc", false, nil }, { "grug", false, nil }, { "jgf", false, nil }, { "hwloc", true, true },
    { "rv1exec", false, true }, { "rv1exec_force", false, true } }
  for _, case in ipairs(WITHOUT_FILE) do
    it(("that is absent: load-format=%s, %s graph in R"):format(case[1], case[2] and "a" or "no"), function()
      local message = flux.machine(2, 2, { nodelist = { "node[0-1]" } })
      if case[2] then
        local g = assert(weir.synthetic "cluster:1 node:2 core:2")
        for i, v in ipairs(g:find "type=node") do v.rank = i - 1 end
        message.resources.scheduling = decode(assert(g:format "rv1")).scheduling
      end
      local function started(as)
        local s = assert(flux.open { "load-format=" .. case[1], "as-fluxion=" .. as })
        local ok, why = s.service:acquire(encode(message))
        return ok, why or table.concat(s.logged)
      end
      local ok, why = started "true"
      assert.equal(case[3], ok)
      local own, logged = started "false"
      assert.is_true(own)
      for _, text in ipairs { why, logged } do
        assert.equal(not case[3], text:find("there is no load-file", 1, true) ~= nil, text)
      end
    end)
  end

  -- {title, text of the file, more arguments, what is said}
  local WRONG = { { "is not there", nil, {}, "opening %s: No such file or directory" },
    { "cannot be read", "nonsense", { "load-format=grug" }, "error in reading grug string: " } }
  for _, case in ipairs(WRONG) do
    it("that " .. case[1] .. " is told, and ends a scheduler as Fluxion", function()
      with_file(case[2], function(path)
        local function begun(as)
          local s = assert(flux.open { "load-file=" .. path, "as-fluxion=" .. as, table.unpack(case[3]) })
          return s, s.service:acquire(encode(flux.machine(2, 2)))
        end
        local s, ok = begun "false"
        assert.is_true(ok)
        assert.matches(case[4]:format(path), table.concat(s.logged), 1, true)
        local _, ended, why = begun "true"
        assert.is_nil(ended)
        assert.matches(case[4]:format(path), why, 1, true)
      end)
    end)
  end
end)

describe("the times of matches", function()
  it("are told as Fluxion tells them, and cleared", function()
    local s = opened {}
    local function told() return decode((s.service:fluxion(nil, "sched-fluxion-resource.stats-get"))) end
    local now = 0
    s.service.scheduler.times.clock = function() now = now + 0.5 return now end
    placed(s, 1, 2)
    flux.submit(s, 3, 99)
    local match = told().match
    assert.same({ true, 1 }, { match.succeeded.njobs >= 2, match.failed.njobs })
    local found, failed = match.succeeded.stats, match.failed.stats
    assert.same({ 0.5, 0.5, 0.5, 0.0 }, { found.min, found.max, failed.avg, failed.variance })
    assert.equal(3, match.failed["max-match-jobid"])
    assert(s.service:fluxion(nil, "sched-fluxion-resource.stats-clear"))
    match = told().match
    failed = match.failed
    assert.same({ 1, 0, -1, 0.0 }, { failed.njobs, failed["njobs-reset"], failed["max-match-jobid"], failed.stats.max })
  end)
end)
