-- Stages and listed resources over the service: who may commit what, what a connection leaves behind, limits, losses.
local json = require("weir").json
local state = require "spec.support.state"

local function world(limits)
  local w = state.new("cluster:1 node:4 core:2", { limits = limits })
  return w, w:client "administrator", w:client("owner", "alice"), w:client("owner", "bob")
end

describe("the service", function()
  local w
  after_each(function()
    assert(w.service.graph:check())
    w:close()
  end)

  it("[A6] stages, commits and drops, and counts stages", function()
    local admin, alice
    w, admin, alice = world()
    local s = assert(w:ask(alice, "stage", { request = "slot=2/node", lease = 30, duration = 100 }))
    assert.same({ 1, "staged", 30, "alice", 2 }, { s.stage, s.state, s.expires, s.owner, #s.vertices })
    assert.equal(1, assert(w:ask(admin, "stats")).stages)
    assert.equal(2, #assert(w:ask(admin, "find", { expression = "staged and type=node" })).vertices)
    local job = assert(w:ask(alice, "commit", { stage = 1 }))
    assert.same({ 1, "allocated", "alice" }, { job.job, job.state, job.owner })
    assert(w:ask(alice, "stage", { request = "slot=2/node" }))
    assert(w:ask(alice, "drop", { stage = 2 }))
    assert.equal("unknown", select(3, w:ask(alice, "drop", { stage = 2 })))
    assert.equal(0, #assert(w:ask(admin, "stages")).stages)
  end)

  it("drops the stages of a connection with the connection, and keeps those to be kept until they expire", function()
    local admin, alice
    w, admin, alice = world()
    assert(w:ask(alice, "stage", { request = "slot=1/node" }))
    assert(w:ask(alice, "stage", { request = "slot=1/node", keep = true, lease = 20 }))
    w.service:leave(alice)
    local left = assert(w:ask(admin, "stages")).stages
    assert.same({ 1, 2 }, { #left, left[1].stage })
    w:send(admin, { id = 900, method = "events" })
    local told
    for _, answer in ipairs(w:send(admin, { id = 901, method = "advance", params = { to = 20 } })) do
      if answer.id == 900 then told = answer.result end
    end
    assert.same({ event = "unstage", stage = 2, at = 20 }, told)
    assert.equal(0, #assert(w:ask(admin, "stages")).stages)
  end)

  it("[A6] tells who lost a claim what is lost, and to whom", function()
    local _, alice, bob
    w, _, alice, bob = world()
    local one = assert(w:ask(alice, "stage", { request = "slot=3/node", lock = false }))
    local two = assert(w:ask(bob, "stage", { request = "slot=3/node", lock = false }))
    assert.equal("forbidden", select(3, w:ask(bob, "commit", { stage = one.stage })))
    assert(w:ask(alice, "commit", { stage = one.stage }))
    local answers = w:send(bob, { id = 77, method = "commit", params = { stage = two.stage } })
    assert.equal("busy", answers[1].code)
    local paths = {}
    for i, x in ipairs(answers[1].lost) do
      assert.same({ 1, "held" }, { x.job, x.why })
      paths[i] = x.path
    end
    for i, v in ipairs(two.vertices) do assert.equal(v.path, paths[i]) end
  end)

  it("bounds the stages of a connection, and the lease", function()
    local _, alice, bob
    w, _, alice, bob = world { stages = 2, lease = 100 }
    for _ = 1, 2 do assert(w:ask(alice, "stage", { request = "slot=1/core" })) end
    assert.equal("limit", select(3, w:ask(alice, "stage", { request = "slot=1/core" })))
    assert(w:ask(bob, "stage", { request = "slot=1/core", lease = 100 }))
    assert.equal("limit", select(3, w:ask(bob, "stage", { request = "slot=1/core", lease = 101 })))
    assert.equal("invalid", select(3, w:ask(bob, "stage", { request = "slot=1/core", lease = 0 })))
  end)

  it("[C229] allocates listed resources as a whole", function()
    local admin, alice
    w, admin, alice = world()
    assert.equal("forbidden", select(3, w:ask(alice, "allocate", { vertices = { "/cluster0/node0" } })))
    local job = assert(w:ask(admin, "allocate", { vertices = { "/cluster0/node0", { path = "/cluster0/node1/core0", amount = 1 } },
      duration = 9, format = "rlite" }))
    assert.same({ 1, 2 }, { job.job, #job.vertices })
    local R = { version = 1, execution = { R_lite = { { rank = "1-2", children = { core = "1" } } } } }
    assert.equal(2, assert(w:ask(admin, "allocate", { R = R })).job)
    local answers = w:send(admin, { id = 5, method = "allocate", params = { R = R } })
    assert.same({ "busy", 2 }, { answers[1].code, #answers[1].lost })
    assert.equal("invalid", select(3, w:ask(admin, "allocate", { R = R, start = 50 })))
    assert.equal("string", type(json.encode(answers[1])))
  end)
end)
