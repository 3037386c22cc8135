--- ledger.lua - the jobs that clients of a service know of, whatever happens to the service, and whether the service's
-- jobs agree.
--
-- A job is "asked", "held" (the answer has come) or "releasing". An acknowledged job must exist; a job asked for must
-- exist as a whole or not at all; nothing else may exist, and nothing twice.

local weir = require "weir"

local M = {}

local Ledger = {}
Ledger.__index = Ledger

local function sorted_paths(result)
  local list = {}
  for i, pick in ipairs(result.vertices) do list[i] = pick.path end
  table.sort(list)
  return table.concat(list, " "), list
end

-- ---- asking -------------------------------------------------------------------------------------------------------

local function match(self, client)
  self.next = self.next + 1
  local id, whole = self.next, math.random() < 0.5
  local n = whole and math.random(3) or math.random(4)
  self.jobs[id] = { state = "asked", want = n, owner = client }
  client.calls[id] = "match"
  local request = (whole and "slot=%d/node" or "slot=1/core=%d"):format(n)
  return { id = id, method = "match", params = { job = id, request = request } }
end

local function some_held(self, client)
  local held = {}
  for id, job in pairs(self.jobs) do
    if job.owner == client and job.state == "held" then held[#held + 1] = id end
  end
  table.sort(held)
  if #held > 0 then return held[math.random(#held)] end
end

--- Asks for something, as a client {raw =, calls = {}}.
function Ledger:ask(client)
  local id = math.random() < 0.45 and some_held(self, client)
  local request
  if id then
    self.jobs[id].state = "releasing"
    client.calls[-id] = "release"
    request = { id = -id, method = "release", params = { job = id } }
  else
    request = match(self, client)
  end
  client.raw.send(weir.json.encode(request) .. "\n")
end

local REFUSED = { busy = true }

-- Takes an answer that arrives after the jobs were checked: the jobs must have had the state that the answer tells.
local function take_late(client, what, id, answer)
  local was_there = client.settled[id]
  if answer.result then
    assert(was_there == (what == "match"), ("a %s of job %d was acknowledged that was not done"):format(what, id))
  else
    assert(what == "match" and not was_there, answer.error)
  end
  return true
end

--- Takes an answer. Returns false for an answer that says that the outcome is unknown.
function Ledger:take(client, answer)
  local what, id = client.calls[answer.id], math.abs(answer.id)
  client.calls[answer.id] = nil
  if answer.code == "fenced" or answer.code == "standby" then return false end
  self.answers = self.answers + 1
  if client.settled and client.settled[id] ~= nil then return take_late(client, what, id, answer) end
  if what == "match" and answer.result then
    self.matches = self.matches + 1
    self.jobs[id].state, self.jobs[id].paths = "held", sorted_paths(answer.result)
  elseif what == "match" then
    assert(REFUSED[answer.code], answer.error)
    self.jobs[id] = nil
  else
    assert(answer.result, answer.error)
    self.releases = self.releases + 1
    self.jobs[id] = nil
  end
  return true
end

--- Moves the jobs of clients that are gone to the present clients.
function Ledger:inherit(clients)
  for _, job in pairs(self.jobs) do job.owner = clients[math.random(#clients)] end
end

-- ---- checking -----------------------------------------------------------------------------------------------------

-- Checks that no vertex is given twice, also not below a node given as a whole.
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

--- Compares a list of jobs (from the method "jobs", with vertices) with the ledger.
function Ledger:check(jobs)
  local found = {}
  for _, job in ipairs(jobs) do
    local text, list = sorted_paths(job)
    found[job.job] = { paths = text, list = list }
  end
  check_not_doubled(found)
  for id, job in pairs(self.jobs) do
    local there, client = found[id], job.owner
    if job.state ~= "held" then
      client.settled = client.settled or {}
      client.settled[id] = there ~= nil
    end
    assert(there or job.state ~= "held", ("job %d was acknowledged, and is gone"):format(id))
    if there then
      assert(#there.list == job.want, ("job %d is there in part"):format(id))
      assert(job.paths == nil or job.paths == there.paths, ("job %d has something else than it was told"):format(id))
      job.state, job.paths = "held", there.paths
    else
      self.jobs[id] = nil
    end
  end
  for id in pairs(found) do assert(self.jobs[id], ("job %d is there, and nobody has it"):format(id)) end
end

function M.new() return setmetatable({ jobs = {}, next = 0, answers = 0, matches = 0, releases = 0 }, Ledger) end

--- No two jobs have a vertex at a time where one of them has the vertex as a whole, and no vertex gives more than it has.
function M.add_up(graph)
  assert(graph:check())
  for v in graph:walk {} do
    local uses = v:uses()
    for _, a in ipairs(uses) do
      local units = 0
      for _, b in ipairs(uses) do
        if b.start <= a.start and a.start < b["end"] then
          units = units + b.amount
          assert(a.job == b.job or not (a.exclusive or b.exclusive), v.path .. " is double booked")
        end
      end
      assert(units <= v.size, v.path .. " gives more than it has")
    end
  end
end

return M
