-- Settings of the scheduler of a Flux instance, and the text form of job ids.
local flux = require "spec.support.flux"
local weir = require "weir"
local jobid = require "weir.flux.jobid"
local settings = require "weir.flux.settings"

local encode = weir.json.encode
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
    ["polcy=low"] = 'there is no option "polcy"', low = "NAME=VALUE is expected", ["annotate=maybe"] = "true, false",
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

  it("refuses policies that are not there when it opens", function()
    assert.matches('no policy "nonsense"', select(2, open { "policy=nonsense" }))
  end)
end)

describe("job ids", function()
  it("have a prefix that every terminal can show, where one is asked for", function()
    assert.equal("fz", jobid.f58(57, "f"))
    local s = started({ "queue=fcfs" }, 1)
    submit(s, 1000, 1)
    submit(s, 1001, 1)
    settle(s)
    assert.matches("^fJG waits", s.service:why(encode { id = 1001, f58 = "f" }))
    assert.matches("^ƒJG waits", s.service:why(encode { id = 1001 }))
  end)

  for id, text in pairs { [0] = "ƒ1", [57] = "ƒz", [58] = "ƒ21", [1888888888888] = "ƒ", [6731191091817518] = "ƒuZZybuNNy" } do
    it("writes " .. id, function() assert.equal(text, jobid.f58(id):sub(1, #text)) end)
  end
end)
