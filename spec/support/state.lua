--- state.lua - a service without sockets, and all its state as texts, so that two moments can be compared.

local clients = require "weir.serve.connection"
local core = require "weir.core"
local files = require "weir.files"
local service_state = require "weir.serve.service_state"
local server = require "weir.serve.server"
local service = require "weir.serve.service"
local store = require "weir.serve.store"
local weir = require "weir"

local M = {}

local World = {}
World.__index = World

local function image(path)
  local parts = {}
  for i, suffix in ipairs { "", "-wal" } do
    local file = io.open(path .. suffix, "rb")
    parts[i] = file and file:read "a" or ""
    if file then file:close() end
  end
  return table.concat(parts, "|")
end

--- A service of a machine. opts: path, of a state in SQLite, and the options of service.new.
function M.new(machine, opts)
  local self = setmetatable({ clients = {}, logged = {}, path = opts.path }, World)
  local own = { clock = "manual", limits = server.LIMITS, filter_seconds = 1, metrics = function() return "" end,
    log = function(text, about) if about.level == "error" then table.insert(self.logged, text) end end }
  for key, value in pairs(opts) do own[key] = value end
  own.store = own.path and assert(store.open("sqlite:" .. own.path))
  local graph = own.path and own.store:load() or assert(weir.synthetic(machine))
  own.state_loaded = own.path and files.exists(own.path) or nil
  self.service = assert(service.new(graph, own))
  assert(self.service:commit())
  return self
end

--- A client: "administrator", or a role with a name.
function World:client(role, name)
  local client = clients.new {
    role = role, name = name or role, limits = server.LIMITS, array = core.array, touch = function() end,
    queued = function() return 0 end, failed = function() end, identify = function() return true end,
  }
  self.clients[#self.clients + 1] = client
  return client
end

--- Sends a line, or a request, in a turn of its own; returns the answers as tables.
function World:send(client, line)
  if type(line) == "table" then line = weir.json.encode(line) end
  client.lines:put(line .. "\n")
  client:step(function(call) self.service:handle(call) end)
  while client:continue() do end
  assert(self.service:commit())
  local answers = {}
  for text in (client:flush() or ""):gmatch "[^\n]+" do answers[#answers + 1] = assert(weir.json.decode(text)) end
  return answers
end

local asked = 0

--- The answer of a method: result; or nil, message, code.
function World:ask(client, method, params)
  asked = asked + 1
  local answers = self:send(client, { id = asked, method = method, params = params })
  local last = assert(answers[#answers], "there is no answer")
  assert(last.id == asked, "the answer has another id")
  if last.error then return nil, last.error, last.code end
  return last.result
end

local function jobs_of(engine)
  local list = {}
  for i, a in ipairs(engine:jobs()) do
    local picks = {}
    for k, pick in ipairs(a:vertices()) do picks[k] = ("%s:%d:%s"):format(pick.vertex.path, pick.amount, pick.exclusive) end
    table.sort(picks)
    list[i] = ("%d %s %s %s %s %s"):format(a.id, a.state, a.at, a.duration, a.policy, table.concat(picks, " "))
  end
  table.sort(list)
  return list
end

-- The id that the engine would give to the next job.
local function next_of(graph)
  local twin <close> = graph:dup()
  local engine = weir.engine { resources = twin }
  return assert(engine:match("slot=1/core", { mode = "reserve", duration = 1 })).id
end

local function text(value) return core.json_encode(value, { sort = true }) end

local function count(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

local function users_of(follower)
  local list = {}
  for target, users in pairs(follower:owing()) do
    for job in pairs(users) do list[#list + 1] = ("%d on %d"):format(job, target) end
  end
  table.sort(list)
  return list
end

local function owners_of(s)
  local list = {}
  for job, name in pairs(s.owners.names) do list[#list + 1] = ("%d %s"):format(job, name) end
  table.sort(list)
  return list
end

--- All of the state: {[part, named as in params.CHANGES] = text}, and the store.
function World:dump()
  local s, calls, roles = self.service, 0, {}
  for i, client in ipairs(self.clients) do
    calls, roles[i] = calls + count(client.calls), client.role .. " " .. client.name
  end
  local children = s.child_instances:list()
  for _, child in ipairs(children) do child.acquired = nil end
  return {
    jobs = text { jobs_of(s.engine), users_of(s.follower) },
    stages = text { #s.engine:stages(), count(s.stages) },
    ids = text { s.follower.last, s.ids, next_of(s.graph) },
    owners = text(owners_of(s)), machine = service_state.strip_text(s.graph:format "jgf") .. tostring(s.stashed),
    targets = text { s.provider:save(), s.provider:status() }, children = text { s.child_instances:save(), children },
    clock = tostring(s.engine:now()), policy = text { s.policy_name or "", (s.engine:policy()) }, client = table.concat(roles, ";"),
    streams = text { count(s.listeners), count(s.provider.streams), calls }, parent = "", store = self.path and image(self.path) or "",
  }
end

--- The parts that differ, in order.
function M.differing(before, after)
  local list = {}
  for part, was in pairs(before) do
    if after[part] ~= was then list[#list + 1] = part end
  end
  table.sort(list)
  return list
end

function World:close()
  self.service.engine:close()
  self.service.graph:close()
end

return M
