-- Recordings of the acquisition protocol, and random commands.
local weir = require "weir"
local acquire = require "spec.support.acquire"
local recording = require "weir.acquire.recording"
local scheduler_client = require "weir.acquire.scheduler_client"

local pair = acquire.pair

describe("recordings", function()
  local function recorded()
    local lines = {}
    local it = pair { record = recording.writer(function(text) lines[#lines + 1] = text end) }
    it.f:match "slot=2/node"
    it.p:exclude "1-2"
    it.run()
    it.f:free(1)
    it.run()
    it.p:drain("5", "disk")
    it.run()
    return table.concat(lines), it
  end

  -- The scheduler's actions between the entries: match before the first shrink, free before the second release.
  local function acting()
    local shrunk = false
    return function(entry, f)
      if entry.response and entry.response.type == "shrink" then f:match "slot=2/node" end
      if entry.request == "resource.release" and shrunk then f:free(1) end
      shrunk = shrunk or entry.request == "resource.release"
    end
  end

  local function make(send)
    local f = scheduler_client.new { send = send, policy = "low" }
    f:start()
    return f
  end

  it("are JSON lines, one a message", function()
    local text = recorded()
    local entries = assert(recording.read(text))
    local kinds = {}
    for i, entry in ipairs(entries) do kinds[i] = entry.request or entry.response.type end
    assert.same({ "resource.acquire", "grow", "shrink", "resource.release", "resource.release", "offline" }, kinds)
    assert.equal(6, select(2, text:gsub("\n", "")))
  end)

  it("played again give the same requests and the same books", function()
    local text, it = recorded()
    local f = assert(recording.play(assert(recording.read(text)), make, acting()))
    assert(f.engine:resources():compare(it.f.engine:resources(), true))
  end)

  it("played by a scheduler that acts otherwise say where", function()
    local text = recorded()
    local ok, why, code = recording.play(assert(recording.read(text)), make)
    assert.is_nil(ok)
    assert.matches("entry 4", why, 1, true)
    assert.equal("differs", code)
  end)

  it("name the line that is none", function()
    local entries, why, code = recording.read '{"group":"default","error":"x"}\n{"grou'
    assert.is_nil(entries)
    assert.matches("^line 2: ", why)
    assert.equal("parse", code)
  end)
end)

describe("thousands of random commands", function()
  -- After each round of messages the scheduler's targets are the targets that its provider holds for the scheduler.
  it("[Q2][Q3][Q4][Q5][Q7][Q8] leave both sides with the same picture, exact books and nothing placed where it must not be", function()
    local rounds = math.floor(400 * (tonumber(os.getenv "WEIR_SPEC_SCALE") or 1))
    math.randomseed(7)
    local it = pair { groups = { debug = "6-7" }, want = { "default", "debug" } }
    local commands = { "drain", "undrain", "online", "offline", "exclude", "include", "debug", "match", "free", "match" }
    local running = {}
    for _ = 1, rounds do
      local what, target = commands[math.random(#commands)], tostring(math.random(0, 7))
      if what == "match" then
        local a = it.f:match(("slot=%d/core=%d"):format(math.random(2), math.random(4)))
        if a then
          running[#running + 1] = a.id
          assert.is_true(it.f.consumer:online():contains(weir.idset(a:rset():ranks())))
        end
      elseif what == "free" and running[1] then
        assert(it.f:free(table.remove(running, math.random(#running))))
      elseif what == "debug" then
        it.p:move(target, "debug")
      elseif what ~= "free" then
        it.p[what](it.p, target)
      end
      it.run()
      assert.same({}, it.heard[1] and it.heard[1][1] == "exit" and it.heard or {})
      for _, row in ipairs(it.p:status().groups) do
        local group = it.f.consumer.groups[row.group]
        if group then
          assert.equal(row.leaving, tostring(group.leaving))
          assert.equal(tostring(it.p.streams[row.group].held), tostring(group.acquired))
          assert.equal(tostring(group.acquired & it.p:available()), tostring(group.online))
        end
      end
      assert.equal(tostring(it.f.consumer:acquired()), tostring(it.f.targets.all))
    end
    for _, id in ipairs(running) do assert(it.f:free(id)) end
    it.run()
    assert.equal("", tostring(it.f.consumer:leaving()))
  end)
end)
