-- No acknowledged job is lost: a service under load from 8 clients is killed at random moments, again and again on
-- one state. 25 rounds; WEIR_SPEC_SCALE=20 makes 500 rounds.
local ledgers = require "spec.support.ledger"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"
local weir = require "weir"

local CLIENTS, IN_FLIGHT = 8, 3
local ROUNDS = math.max(1, math.floor(25 * service.scale))

-- The ledger of the clients is kept over all rounds; a client keeps its jobs over a reconnection.
local function new_world(dir)
  local world = { dir = dir, state = shell.path(dir, "state.sqlite"), ledger = ledgers.new(), clients = {} }
  for number = 1, CLIENTS do world.clients[number] = {} end
  return world
end

-- Loads the service until some answers have come, and some moments more; kills the service; reads the last answers.
local function load_and_kill(world, s)
  local ledger, clients, left, dead = world.ledger, world.clients, math.random(5, 250), false
  for _, client in ipairs(clients) do
    client.calls, client.settled = {}, nil
    client.raw = s:raw(function(answer)
      assert(ledger:take(client, answer), answer.error)
      left = left - 1
      if not dead then ledger:ask(client) end
    end)
  end
  for _, client in ipairs(clients) do
    for _ = 1, IN_FLIGHT do ledger:ask(client) end
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

local function check(world, s)
  local c <close> = s:connect()
  world.ledger:check(assert(c:ask("jobs", { vertices = true })).jobs)
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
    assert.is_true(world.ledger.matches >= ROUNDS and world.ledger.releases > 0)
    if service.scale > 1 then
      local said = "%d kills: %d answers, of them %d allocations and %d releases"
      print(said:format(ROUNDS, world.ledger.answers, world.ledger.matches, world.ledger.releases))
    end
  end)
end)
