-- What policies can know of a job, field by field, in each place that a job can come from: a scenario, a replay, the service,
-- Flux, weir match. A placement policy and, where there is a queue, a queue policy say what they see.
local client = require "weir.serve.client"
local flux = require "spec.support.flux"
local replay = require "weir.replay"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:2"

-- The fields, and what each reads of the job below.
local FIELDS = {
  { "user", "ada" }, { "bank", "math" }, { "project", "x1" }, { "queue", "batch" }, { "duration", "60.0" }, { "urgency", "20" },
  { "priority", "9" }, { "name", "train" }, { "attributes.user.colour", "red" }, { "attributes.system.job.name", "train" },
  { "wants.slot", "2" }, { "wants.core", "4" }, { "wants.gpu", "2" },
}
local PLACEMENT = { { "resources[1].type", "node" }, { "resources[1].with[1].type", "slot" }, { "resources[1].with[1].count", "2" } }
-- What a place does not say, or says in its own words.
local OWN = {
  replay = { urgency = "nil" }, -- a trace has no urgency
  -- users by number; the priority is what Flux makes of the urgency; the machine of the instance below has no gpus
  Flux = { user = "1000", urgency = "nil", ["wants.gpu"] = "nil" },
}

local JOBSPEC = {
  version = 9999,
  resources = { { type = "node", count = 1, with = {
    { type = "slot", count = 2, label = "task", with = { { type = "core", count = 2 }, { type = "gpu", count = 1 } } },
  } } },
  tasks = { { command = { "app" }, slot = "task", count = { per_slot = 1 } } },
  attributes = { system = { duration = 60, queue = "batch", bank = "math", project = "x1", job = { name = "train" } },
    user = { colour = "red" } },
}

-- A text that tells all fields of `job`, whatever they are.
local function telling(fields)
  local list = {}
  for i, field in ipairs(fields) do list[i] = ("%q .. '=' .. tostring(job.%s)"):format(field[1], field[1]) end
  return "table.concat({ " .. table.concat(list, ", ") .. " }, ' ')"
end

local function both()
  return table.move(PLACEMENT, 1, #PLACEMENT, #FIELDS + 1, table.move(FIELDS, 1, #FIELDS, 1, {}))
end

local PLACE = ("return { name = 'told', admit = function(_, _, job) return false, %s end }"):format(telling(both()))
local QUEUE = ("return { schedule = function(queue) for job in queue:pending() do error(%s, 0) end end }"):format(telling(FIELDS))

-- Checks a text with all fields against what a place is to tell.
local function check(place, fields, text)
  for _, field in ipairs(fields) do
    local want = OWN[place] and OWN[place][field[1]] or field[2]
    local at = text:find(field[1] .. "=", 1, true)
    local got = at and text:sub(at + #field[1] + 1):match "^[^%s;]*"
    if field[1] == "duration" and got then got = ("%.1f"):format(tonumber(got)) end
    assert.equal(want, got, ("%s of a job in %s: %s"):format(field[1], place, text))
  end
end

local function file(name, text) return shell.path(shell.directory(), name, text) end

local WORDS = { user = "ada", urgency = 20, priority = 9 } -- what the jobspec is not trusted with

-- Each place by name, given the placement policy or the queue policy, as a file. Returns what the policy said.
local PLACES = {}

function PLACES.scenario(policy, queue)
  local scenario = require "weir.scenario"
  local s = scenario { machine = MACHINE, policy = policy or "first", queue = queue or "fcfs" }
  local job
  local ok, why = pcall(function()
    job = s:submit { JOBSPEC, user = WORDS.user, urgency = WORDS.urgency, priority = WORDS.priority }
    s:settle()
  end)
  return ok and job.why or tostring(why)
end

function PLACES.replay(policy, queue)
  local spec = weir.json.decode(weir.json.encode(JOBSPEC))
  local line = weir.json.encode { submit = 0, runtime = 10, user = "ada", priority = 9, jobspec = spec }
  local why
  local ok, message = replay.run { resources = MACHINE, trace = file("a.jsonl", line .. "\n"), policy = policy or "first",
    queue = queue or "fcfs", note = function(job) why = job.why end }
  return why or ok and "" or message
end

function PLACES.service(policy)
  local s = service.start(shell.directory(), { "-r", MACHINE, "-p", policy })
  local c = assert(client.connect(s.path))
  local _, why = c:ask("match", { request = weir.json.encode(JOBSPEC), about = WORDS })
  s:stop()
  return why
end

function PLACES.Flux(policy, queue)
  local s = flux.started({ policy and "policy=" .. policy or "queue=" .. queue }, nil, nil, { queues = { batch = {} } })
  local spec = weir.json.decode(weir.json.encode(JOBSPEC))
  spec.resources[1].with[1].with[2] = nil -- the machine of this instance has cores only
  assert(s.service:alloc(weir.json.encode { id = 1, priority = 9, userid = 1000, t_submit = s.now, jobspec = spec }))
  flux.settle(s)
  for _, entry in ipairs(s.said) do
    if entry[1] == "deny" then return entry[3] end
  end
  return table.concat(s.logged, "\n")
end

PLACES["weir match"] = function(policy)
  return shell.weir { "match", "-r", MACHINE, "-p", policy, "--about", "user=ada,urgency=20,priority=9",
    file("job.json", weir.json.encode(JOBSPEC)) }.err
end

describe("all of a job is known", function()
  after_each(function()
    service.clean()
    shell.clean()
  end)

  for place, told in pairs(PLACES) do
    it("to a placement policy in " .. place, function() check(place, both(), told(file("told.lua", PLACE))) end)
  end
  for _, place in ipairs { "scenario", "replay", "Flux" } do
    it("to a queue policy in " .. place, function() check(place, FIELDS, PLACES[place](nil, file("asks.lua", QUEUE))) end)
  end
end)
