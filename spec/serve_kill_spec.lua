-- Nothing acknowledged is lost: a service under load from 8 clients is killed at random moments, again and again on the same state.
-- 25 rounds; WEIR_SPEC_SCALE=20 makes 500 of them.
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local CLIENTS, IN_FLIGHT = 8, 3
local ROUNDS = math.max(1, math.floor(25 * service.scale))

-- What clients know, kept over all rounds. jobs: id -> {state = "asked" | "held" | "releasing", want = vertices, paths = sorted text}.
local function new_world(dir)
  return { dir = dir, state = shell.path(dir, "state.sqlite"), jobs = {}, next = 0, acknowledged = 0, matches = 0, releases = 0 }
end

local function sorted_paths(result)
  local list = {}
  for i, pick in ipairs(result.vertices) do list[i] = pick.path end
  table.sort(list)
  return table.concat(list, " "), list
end

-- ---- load ----------------------------------------------------------------------------------------------------------------------

local function ask_match(world, client)
  world.next = world.next + 1
  local id, whole = world.next, math.random() < 0.5
  local n = whole and math.random(3) or math.random(4)
  world.jobs[id] = { state = "asked", want = n, owner = client.number }
  client.calls[id] = "match"
  client.raw.send(weir.json.encode {
    id = id, method = "match", params = { job = id, request = whole and ("slot=%d/node"):format(n) or ("slot=1/core=%d"):format(n) },
  } .. "\n")
end

local function ask_release(client, id, job)
  job.state = "releasing"
  client.calls[-id] = "release"
  client.raw.send(weir.json.encode { id = -id, method = "release", params = { job = id } } .. "\n")
end

-- One of the client's jobs that it holds.
local function some_held(world, client)
  local held = {}
  for id, job in pairs(world.jobs) do
    if job.owner == client.number and job.state == "held" then held[#held + 1] = id end
  end
  table.sort(held)
  if #held > 0 then return held[math.random(#held)] end
end

local function ask(world, client)
  local id = math.random() < 0.45 and some_held(world, client)
  if id then ask_release(client, id, world.jobs[id]) else ask_match(world, client) end
end

-- An acknowledgement: from here on it counts.
local function take(world, client, answer)
  local what, id = client.calls[answer.id], math.abs(answer.id)
  client.calls[answer.id] = nil
  world.acknowledged = world.acknowledged + 1
  if what == "match" and answer.result then
    world.matches = world.matches + 1
    local job = world.jobs[id]
    job.state, job.paths = "held", sorted_paths(answer.result)
  elseif what == "match" then
    assert(answer.code == "busy", answer.error)
    world.jobs[id] = nil
  else
    assert(answer.result, answer.error)
    world.releases = world.releases + 1
    world.jobs[id] = nil
  end
end

-- Loads the service until so many answers have come, and some moments more; kills it; hears what it had still said.
local function load_and_kill(world, s)
  local clients, left, dead = {}, math.random(5, 250), false
  for number = 1, CLIENTS do
    local client = { number = number, calls = {} }
    client.raw = s:raw(function(answer)
      take(world, client, answer)
      left = left - 1
      if not dead then ask(world, client) end
    end)
    clients[number] = client
  end
  for _, client in ipairs(clients) do
    for _ = 1, IN_FLIGHT do ask(world, client) end
  end
  service.wait("answers", function() return left <= 0 end)
  for _ = 1, math.random(0, 3) do uv.run "nowait" end
  dead = true
  s:kill()
  service.wait("the last answers", function()
    for _, client in ipairs(clients) do
      if not client.raw.closed then return false end
    end
    return true
  end)
end

-- ---- what must be there afterwards ----------------------------------------------------------------------------------------------

-- No vertex is given twice, nor one whose node is given as a whole.
local function check_not_doubled(found)
  local holder = {}
  for id, job in pairs(found) do
    for _, path in ipairs(job.list) do
      assert(not holder[path], ("%s is given to %d and %d"):format(path, holder[path] or 0, id))
      holder[path] = id
    end
  end
  for path, id in pairs(holder) do
    local node = path:match "^(.*)/core%d+$"
    assert(not (node and holder[node]), ("%s is given to %d, and its node as a whole"):format(path, id))
  end
end

local function jobs_of(s)
  local c <close> = s:connect()
  local found = {}
  for _, job in ipairs(assert(c:ask("jobs", { vertices = true })).jobs) do
    local text, list = sorted_paths(job)
    found[job.job] = { paths = text, list = list }
  end
  return found
end

local function check(world, s)
  local found = jobs_of(s)
  check_not_doubled(found)
  for id, job in pairs(world.jobs) do
    local there = found[id]
    if job.state == "held" then
      assert(there, ("job %d was acknowledged, and is gone"):format(id))
      assert.equal(job.paths, there.paths)
    elseif there then -- it was done, and the answer did not arrive
      assert.equal(job.want, #there.list)
      assert.is_true(job.paths == nil or job.paths == there.paths)
      job.state, job.paths = "held", there.paths
    else
      world.jobs[id] = nil
    end
  end
  for id in pairs(found) do assert(world.jobs[id], ("job %d is there, and nobody has it"):format(id)) end
end

describe("a service that is killed", function()
  after_each(service.clean)

  it(("[L7][L8] has every acknowledged allocation and release, none twice, after each of %d kills under load"):format(ROUNDS), function()
    math.randomseed(ROUNDS, 11)
    local world = new_world(shell.directory())
    shell.path(world.dir, "state.sqlite-wal")
    shell.path(world.dir, "state.sqlite-shm")
    local words = { "-r", "cluster:1 rack:2 node:16 core:4", "--state", world.state }
    local s = service.start(world.dir, words)
    for _ = 1, ROUNDS do
      load_and_kill(world, s)
      local g <close> = assert(weir.load(world.state))
      assert(g:check())
      s = service.start(world.dir, words)
      check(world, s)
    end
    assert.equal(0, s:stop())
    assert.is_true(world.matches >= ROUNDS and world.releases > 0)
    if service.scale > 1 then
      local said = "%d kills: %d answers, of them %d allocations and %d releases"
      print(said:format(ROUNDS, world.acknowledged, world.matches, world.releases))
    end
  end)
end)
