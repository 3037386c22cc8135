-- Settings of the scheduler of a Flux instance, and the text form of job ids.
local flux = require "spec.support.flux"
local jobid = require "weir.flux.jobid"
local settings = require "weir.flux.settings"
local encode = require "weir".json.encode

local open, started, submit, settle = flux.open, flux.started, flux.submit, flux.settle

-- ---- settings ---------------------------------------------------------------------------------------------------

describe("settings of the scheduler", function()
  for text, expected in pairs {
    ["slice=20ms"] = { "slice", 0.02 }, ["slice=0.1s"] = { "slice", 0.1 }, ["queue-depth=8"] = { "queue-depth", "limited=8" },
    ["mode=limited=8"] = { "queue-depth", "limited=8" }, ["mode=unlimited"] = { "queue-depth", "unlimited" },
    ["policy=low"] = { "policy", "low" },
  } do
    it("reads " .. text, function() assert.equal(expected[2], assert(settings.read({ text }, {}))[expected[1]]) end)
  end

  for text, expected in pairs {
    ["slice=0"] = "a time above 0", ["slice=5h"] = "a time above 0", ["queue-depth=0"] = "unlimited or a number",
    ["polcy=low"] = 'there is no option "polcy"', low = "expected NAME=VALUE", ["annotate=maybe"] = "true, false",
    ["R-format=jgf"] = "auto, rv1, rv1_nosched",
  } do
    it("refuses " .. text, function() assert.matches(expected, select(2, settings.read({ text }, {})), 1, true) end)
  end

  it("reads the table of the configuration, and lets arguments count more", function()
    local config = { ["sched-weir"] = { queue = "easy", policy = "low", slice = "20ms" } }
    local read = assert(settings.read({ "policy=high" }, config))
    assert.same({ "easy", "high", 0.02 }, { read.queue, read.policy, read.slice })
    assert.matches("[sched-weir] there is no option", select(2, settings.read({}, { ["sched-weir"] = { que = 1 } })), 1, true)
    assert.matches("queues.a", select(2, settings.read({}, { ["sched-weir"] = { queues = { a = { policy = "x" } } } })), 1, true)
  end)

  -- Virtual queues: [queues], [sched-weir.queues], the message.
  for what, row in pairs {
    ["a parent that is not configured"] = { { batch = {}, x = { parent = "bach" } }, nil,
      '[queues.x] parent: there is no queue "bach" (did you mean "batch"?)' },
    ["a parent that is virtual itself"] = { { a = {}, b = { parent = "a" }, c = { parent = "b" } }, nil,
      '[queues.c] parent: the queue "b" is itself a virtual queue' },
    ["a queue as its own parent"] = { { a = { parent = "a" } }, nil, '[queues.a] parent: the queue "a" is itself a virtual queue' },
    ["a parent that is no name"] = { { a = { parent = 7 } }, nil, '[queues.a] parent: there is no queue "7"' },
    ["a queue policy of a virtual queue"] = { { a = {}, b = { parent = "a" } }, { b = { queue = "easy" } },
      "[sched-weir.queues.b] b is a virtual queue, and its jobs wait in the queue a: set queues.a.queue" },
  } do
    it("refuses " .. what, function()
      local config = { queues = row[1], ["sched-weir"] = { queues = row[2] } }
      assert.matches(row[3], select(2, settings.read({}, config)), 1, true)
      local told
      local read = assert(settings.read({}, config, nil, function(message)
        told = message
        return true
      end))
      assert.matches(row[3], told, 1, true)
      assert.is_nil(read.queues.b)
      assert.equal(#read.names, #require "weir.tables".keys(row[1]))
    end)
  end

  it("refuses policies that are not there when it opens", function()
    assert.matches('no policy "nonsense"', select(2, open { "policy=nonsense" }))
  end)
end)

-- ---- tables of Fluxion ----------------------------------------------------------------------------------------------

-- {name, tables, settings expected, notes expected: parts of the texts in the order of the texts}
local FLUXION = {
  { "nothing but the tables", { qmanager = {}, resource = {} }, { queue = "fcfs", policy = "first", ["R-format"] = "auto",
    ["queue-depth"] = "unlimited" }, {} },
  { "a queue policy", { qmanager = { ["queue-policy"] = "easy" } }, { queue = "easy" }, {} },
  { "the depth of hybrid", { qmanager = { ["queue-policy"] = "hybrid", ["policy-params"] = { ["reservation-depth"] = 8 } } },
    { queue = "hybrid:k=8" }, {} },
  { "hybrid without a depth", { qmanager = { ["queue-policy"] = "hybrid" } }, { queue = "hybrid:k=64" }, {} },
  { "a depth above the largest one", { qmanager = { ["queue-policy"] = "hybrid",
    ["policy-params"] = "reservation-depth=8,max-reservation-depth=4" } },
    { queue = "hybrid:k=4" }, {} },
  { "conservative", { qmanager = { ["queue-policy"] = "conservative", ["policy-params"] = { ["max-reservation-depth"] = 100000 } } },
    { queue = "conservative" }, {} },
  { "conservative with few reservations", { qmanager = { ["queue-policy"] = "conservative",
    ["policy-params"] = { ["max-reservation-depth"] = 5 } } }, { queue = "hybrid:k=5" }, {} },
  { "the depth of the queue", { qmanager = { ["queue-params"] = { ["queue-depth"] = "8192", ["max-queue-depth"] = 1000000 } } },
    { ["queue-depth"] = "limited=8192" }, {} },
  { "a largest depth below the depth", { qmanager = { ["queue-params"] = { ["queue-depth"] = 32, ["max-queue-depth"] = 4 } } },
    { ["queue-depth"] = "limited=4" }, {} },
  { "a depth where there are queues", { qmanager = { ["queue-params"] = { ["queue-depth"] = 32 } }, queues = { debug = {} } },
    { ["queue-depth"] = "unlimited" }, { "queue-params.queue-depth = 32 is not needed where there are queues" } },
  { "policies by queue", { qmanager = { ["queue-policy"] = "easy", ["queue-policy-per-queue"] = "debug:fcfs batch:hybrid",
    ["policy-params-per-queue"] = "batch:reservation-depth=3", ["queue-params-per-queue"] = "debug:queue-depth=16" } },
    { queue = "easy", queues = { debug = "fcfs", batch = "hybrid:k=3" } }, { "queue-params-per-queue is not needed" } },
  { "a policy of a virtual queue", { queues = { batch = {}, expedite = { parent = "batch" } },
    qmanager = { ["queue-policy-per-queue"] = "batch:easy expedite:hybrid" } }, { queues = { batch = "easy" } },
    { "expedite: a virtual queue has no queue policy of its own; its jobs wait in the queue batch" } },
  { "an unknown queue policy", { qmanager = { ["queue-policy"] = "esay" } }, { queue = "fcfs" },
    { 'Unknown queuing policy "esay": [sched-fluxion-qmanager] queue-policy is none of Fluxion\'s; fcfs is used' } },
  { "depths that are no numbers", { qmanager = { ["queue-policy"] = "hybrid", ["queue-params"] = { ["queue-depth"] = "foo" },
    ["policy-params"] = { ["reservation-depth"] = -4, ["reservation-dept"] = 4 } } },
    { queue = "hybrid:k=64", ["queue-depth"] = "unlimited" },
    { "policy-params.reservation-dept is not known", "policy-params.reservation-depth = -4 is not a number",
      "queue-params.queue-depth = foo is not a number above 0, and left out" } },
  { "unknown keys", { qmanager = { ["queue-polcy"] = "easy" }, resource = { ["mach-policy"] = "low" } },
    { queue = "fcfs", policy = "first" },
    { "[sched-fluxion-qmanager] queue-polcy is not known; remove it", "[sched-fluxion-resource] mach-policy is not known" } },
  { "a match policy", { resource = { ["match-policy"] = "lonodex" } }, { policy = "lonodex" }, {} },
  { "an unknown match policy", { resource = { ["match-policy"] = "lonodez" } }, { policy = "first" },
    { 'match-policy "lonodez" is none' } },
  { "a match format", { resource = { ["match-format"] = "rv1" } }, { ["R-format"] = "rv1" }, {} },
  { "a short match format", { resource = { ["match-format"] = "rv1_shorthand" } }, { ["R-format"] = "rv1_shorthand" }, {} },
  { "an unknown match format", { resource = { ["match-format"] = "jgf" } }, { ["R-format"] = "auto" },
    { 'match-format "jgf" is not known' } },
  { "what is not needed", { resource = { ["prune-filters"] = "ALL:core", ["reserve-vtx-vec"] = 2000, traverser = "simple" } }, {},
    { "prune-filters is not needed", "reserve-vtx-vec is not needed" } },
  { "what has no counterpart", { resource = { subsystems = "power", traverser = "turtle" },
    qmanager = { ["vqueue-parents"] = "a:b" } },
    {}, { "vqueue-parents is not needed", "subsystems has no counterpart; all", "traverser is simple or flexible" } },
  { "a file of the machine", { resource = { ["load-file"] = "/a.json", ["load-format"] = "jgf" } },
    { ["load-file"] = "/a.json", ["load-format"] = "jgf" }, {} },
  { "a traverser", { resource = { traverser = "flexible" } }, { traverser = "flexible" }, {} },
}

for text, policy in pairs {
  ["policy=high"] = "high", ["policy=low node_centric=true"] = "lonode", ["policy=high node_centric=true node_exclusive=true"] = "hinodex",
  ["policy=low node_exclusive=true"] = "lonodex", ["policy=high node_exclusive=true set_stop_on_1_matches=true"] = "firstnodex",
  ["policy=high stop_on_1_matches=true"] = "first", ["policy=low node_centric=false"] = "low",
} do
  FLUXION[#FLUXION + 1] = { "the match policy " .. text, { resource = { ["match-policy"] = text } }, { policy = policy }, {} }
end

describe("the manual", function()
  it("lists every setting with its default", function()
    local page = assert(io.open "doc/reference/flux-settings.md"):read "a"
    local _, why = settings.read({ "nosuch=1" }, {})
    local defaults = assert(settings.read({}, {}))
    for name in why:match "there is ([%w, -]+)$":gmatch "[%w-]+" do
      local row = page:match("\n|[^|]*`" .. name:gsub("%-", "%%-") .. "`[^|]*|([^|]*)|")
      assert.is_truthy(row, name .. " is in no row of doc/reference/flux-settings.md")
      local told = row:match "`(.-)`"
      if name == "slice" then told = told == "50ms" and 0.05 end
      assert.equal(defaults[name] or nil, told, name)
    end
  end)
end)

describe("a running job whose queue has left the configuration", function()
  for option, expected in pairs { keep = { true, nil }, ["end"] = { nil, "queue gone is not configured; there are no queues" } } do
    it("is treated by lost-queue=" .. option, function()
      local s = started { "lost-queue=" .. option }
      local message = encode { id = 1, priority = 16, userid = 1, t_submit = flux.T0 }
      local ok, why = s.service:hello(message, encode(flux.machine(1, 4).resources), encode(flux.spec_of(1, { queue = "gone" })))
      assert.same({ expected[1], expected[2] }, { ok, why })
      assert.equal(ok and 1 or 0, flux.stats(s).running)
    end)
  end
end)

describe("tables of Fluxion", function()
  local function config_of(given)
    return { ["sched-fluxion-qmanager"] = given.qmanager, ["sched-fluxion-resource"] = given.resource, queues = given.queues }
  end

  for _, case in ipairs(FLUXION) do
    it("are read: " .. case[1], function()
      local read = assert(settings.read({}, config_of(case[2])))
      for key, value in pairs(case[3]) do assert.same(value, read[key], key) end
      assert.equal(#case[4], #read.notes, read.notes[1] and read.notes[1].text)
      for i, part in ipairs(case[4]) do assert.truthy(read.notes[i].text:find(part, 1, true), read.notes[i].text) end
    end)

    it("make a scheduler: " .. case[1], function()
      assert(open({}, config_of(case[2])))
    end)
  end

  it("count for nothing beside [sched-weir]", function()
    local config = config_of { qmanager = { ["queue-policy"] = "easy" }, resource = { ["match-policy"] = "lonodez" } }
    config["sched-weir"] = { policy = "low" }
    local read = assert(settings.read({}, config))
    assert.same({ "fcfs", "low", {} }, { read.queue, read.policy, read.notes })
  end)

  it("count less than arguments", function()
    local read = assert(settings.read({ "queue=sjbf" }, config_of { qmanager = { ["queue-policy"] = "easy" } }))
    assert.equal("sjbf", read.queue)
  end)

  it("take a changed configuration before the machine is known", function()
    local s = assert(open({}, config_of { qmanager = { ["queue-policy"] = "easy" } }))
    assert(s.service:configure(encode(config_of { qmanager = { ["queue-policy"] = "conservative" } })))
    assert.is_nil((s.service:configure(encode { ["sched-weir"] = { queue = "nosuch" } })))
    assert(s.service:acquire(encode(flux.machine(1, 1))))
    assert.matches("queue conservative", assert(s.service:policy "{}"), 1, true)
  end)

  it("have their notes logged once", function()
    local config = config_of { resource = { ["prune-filters"] = "ALL:core", ["reserve-vtx-vec"] = 7 } }
    local s = started({}, 1, 1, config)
    assert(s.service:configure(encode(config)))
    config["sched-fluxion-resource"].subsystems = "power"
    assert(s.service:configure(encode(config)))
    local texts = {}
    for _, line in ipairs(s.logged) do texts[#texts + 1] = line:match "^%a+: %[sched%-fluxion%-resource%] ([%w-]+)" end
    assert.same({ "prune-filters", "reserve-vtx-vec", "subsystems" }, texts)
  end)
end)

describe("job ids", function()
  it("have a prefix that every terminal can show, where one is asked for", function()
    assert.equal("fz", jobid.f58(57, "f"))
    local s = started({ "queue=fcfs" }, 1)
    submit(s, 1000, 1)
    submit(s, 1001, 1)
    settle(s)
    assert.matches("^fJG waits", (flux.why(s, { id = 1001, f58 = "f" })))
    assert.matches("^ƒJG waits", (flux.why(s, { id = 1001 })))
  end)

  for id, text in pairs { [0] = "ƒ1", [57] = "ƒz", [58] = "ƒ21", [1888888888888] = "ƒ", [6731191091817518] = "ƒuZZybuNNy" } do
    it("writes " .. id, function() assert.equal(text, jobid.f58(id):sub(1, #text)) end)
  end
end)
