--- remote.lua - a running service in the REPL: objects e, g, vertices and allocations backed by calls to the service.
-- The output of values is as for a machine in the process.

local clients = require "weir.serve.client"
local commands = require "weir.repl.remote_commands"
local core = require "weir.core"
local failure = require "weir.failure"
local results = require "weir.repl.results"
local tables = require "weir.tables"
local view = require "weir.view"
local weir = require "weir"

local M = {}

local SLICE = 0.1 -- seconds between checks for Ctrl-C during a wait

local must = failure.must


-- ---- asking -------------------------------------------------------------------------------------------------

local Service = {}
Service.__index = Service

local READS = { show = true, find = true, jobs = true, job = true, stats = true, walk = true, explain = true }

--- Calls a method, after a reconnect if the connection was lost. Returns the result; or nil, message, code.
function Service:ask(method, params)
  if self.client.lost then
    self.client:close()
    local client, why, code = clients.connect(self.address)
    if not client then return nil, why, code end
    self.client = client
  end
  if not READS[method] then self.changes = self.changes + 1 end
  return self.client:ask(method, params, SLICE)
end

-- Returns an __index that raises an error for fields and methods not available with a service.
local function absent(name, methods)
  return function(_, key)
    if methods[key] ~= nil then return methods[key] end
    if type(key) ~= "string" then return nil end
    local names = tables.keys(methods)
    error(("%s:%s is not there with a service; there is %s"):format(name, key, table.concat(names, ", ")), 2)
  end
end

-- ---- vertices -----------------------------------------------------------------------------------------------

local Vertex, Map = { __kind = "vertex" }, {}
local methods_of_vertex = {}

-- Fields that are constant for the lifetime of a vertex.
local FIXED = { path = true, type = true, name = true, id = true, size = true, unit = true, rank = true }
local CHANGING = { "state", "free", "properties", "tags", "basename", "uuid", "exclusive", "data", "edges", "uses", "plan", "below",
  "blocked_by" }

local FRESH = 0.25 -- seconds for which fields of a vertex are cached, unless the session has made a change

local function vertex(service, base)
  return base and setmetatable({ [Vertex] = { service = service, base = base, at = core.clock(), changes = service.changes } }, Vertex)
end

local function describe(box)
  box.full, box.at, box.changes = assert(box.service:ask("show", { uri = box.base.path, as = "pool" })), core.clock(), box.service.changes
  return box.full
end

-- Changing fields contained in lists of vertices; further fields need a call.
local IN_LISTS = { state = true, free = true, properties = true, tags = true }

local function field(box, key)
  local fresh = box.changes == box.service.changes and core.clock() - box.at < FRESH
  if fresh and box.full then return box.full[key] end
  if fresh and IN_LISTS[key] and box.base.state then return box.base[key] end
  return describe(box)[key]
end

-- Returns a view of properties, tags or data. Only tags can be set.
local function map(v, name, entries) return setmetatable({ [Map] = { vertex = v, name = name, entries = entries or {} } }, Map) end

function Map.__index(self, key) return rawget(self, Map).entries[key] end

function Map.__entries(self) return rawget(self, Map).entries end

function Map.__pairs(self) return pairs(rawget(self, Map).entries) end

function Map.__newindex(self, key, value)
  local box = rawget(self, Map)
  if box.name ~= "tags" then error(box.name .. " are not changed on a service; tags are", 2) end
  local inner = rawget(box.vertex, Vertex)
  if value == nil then value = core.null end
  assert(inner.service:ask("tag", { uri = inner.base.path, set = { [key] = value } }))
  box.entries[key] = value ~= core.null and value or nil
end

local MAPS = { properties = true, tags = true, data = true }

function Vertex.__index(self, key)
  if methods_of_vertex[key] then return methods_of_vertex[key] end
  local box = rawget(self, Vertex)
  if FIXED[key] and box.base[key] ~= nil then return box.base[key] end
  local value = field(box, key)
  return MAPS[key] and map(self, key, value) or value
end

function Vertex.__newindex(self, key, value)
  if key ~= "state" then error(("%s of a vertex is not changed on a service; state and tags are"):format(tostring(key)), 2) end
  local box = rawget(self, Vertex)
  assert(box.service:ask("state", { uri = box.base.path, state = value }))
end

function Vertex.__tostring(self) return rawget(self, Vertex).base.path end

function Vertex.__eq(a, b) return a.path == b.path end

function methods_of_vertex.parent(self)
  local box = rawget(self, Vertex)
  local above = box.base.path:match "^(.+)/[^/]*$"
  return above and vertex(box.service, box.service:ask("show", { uri = above, as = "pool" }))
end

local function vertices(service, list)
  return tables.map(list, function(base) return vertex(service, base) end)
end

local function children(self)
  local box = rawget(self, Vertex)
  return vertices(box.service, assert(box.service:ask("show", { uri = box.base.path, as = "children" })).vertices)
end

function methods_of_vertex.children(self)
  local list, i = children(self), 0
  return function()
    i = i + 1
    return list[i]
  end
end

function methods_of_vertex.child(self, i) return children(self)[i] end

function methods_of_vertex.nchildren(self) return rawget(self, Vertex).base.children or #children(self) end

function methods_of_vertex.aggregate(self)
  local box = rawget(self, Vertex)
  return assert(box.service:ask("show", { uri = box.base.path, as = "totals" })).totals
end

function methods_of_vertex.below(self, type)
  local row = self:aggregate()[type] or { total = 0, free = 0, idle = 0 }
  return row.total, row.free, row.idle
end

function methods_of_vertex.trees(self, limits)
  local box = rawget(self, Vertex)
  return assert(box.service:ask("show", { uri = box.base.path, depth = limits and limits.depth })).trees
end

Vertex.__names = { "children", "nchildren", "child", "parent", "aggregate", "below" }
Vertex.__fields = CHANGING
for name in pairs(FIXED) do table.insert(CHANGING, name) end

-- ---- allocations --------------------------------------------------------------------------------------------

local Allocation = { __kind = "allocation" }
local methods_of_allocation = {}
Allocation.__index = methods_of_allocation
Allocation.__names = { "vertices", "format", "rset" }
Allocation.__fields = { "id", "state", "at", "duration", "policy" }

-- Returns an allocation for an answer of the service. The id is nil for a preview.
local function allocation(service, answer)
  local duration = answer.duration
  return setmetatable({
    service = service, id = answer.job, state = answer.state, at = answer.start, policy = answer.policy, picks = answer.vertices,
    drawn = answer.resources, duration = type(duration) == "number" and duration or math.huge,
  }, Allocation)
end

--- Returns the picks, from a call if the answer had no picks.
function methods_of_allocation.vertices(self)
  self.picks = self.picks or assert(self.service:ask("job", { job = self.id })).vertices
  return tables.map(self.picks, function(pick)
    return { vertex = vertex(self.service, { path = pick.path, type = pick.type, unit = pick.unit, name = pick.path:match "[^/]*$" }),
      amount = pick.amount, exclusive = pick.exclusive }
  end)
end

function methods_of_allocation.format(self, format)
  if format == "tree" then return view.text(self:trees()) end
  local id = must(self.id, "a preview is not kept by the service", "unknown")
  local R = must(self.service:ask("job", { job = id, format = format })).resources
  return type(R) == "string" and R or core.json_encode(R)
end

function methods_of_allocation.rset(self) return weir.rset(must(self:format "rv1"), "R") end

failure.returning(methods_of_allocation)

function methods_of_allocation.trees(self)
  return self.drawn or assert(self.service:ask("job", { job = self.id, format = "tree" })).resources
end

-- ---- the engine ---------------------------------------------------------------------------------------------

local E = {}

local function id_of(job) return type(job) == "table" and job.id or job end

-- Returns a request as JSON. Jobspecs, shapes and files are read in the process of the session, so that a path names
-- a local file.
local function request_of(x) return must(must(weir.request(x)):format "json") end

-- Requests a change. Returns true.
local function done(self, method, params) return must(self.service:ask(method, params)) ~= nil end

local function asked(self, method, params)
  local answer = must(self.service:ask(method, params))
  if answer.feasible or answer.released then return true end
  return allocation(self.service, answer)
end

--- Finds resources: opts.mode, .at, .duration, .job, and .filter, Lua source run by the service in a sandbox.
function E:match(x, opts)
  opts = opts or {}
  local name = type(x) == "string" and #x <= 200 and x or nil
  return asked(self, "match", {
    request = request_of(x), name = name, mode = opts.mode, at = opts.at, duration = opts.duration, job = opts.job,
    filter = opts.filter, format = "tree" })
end

--- Releases all resources of a job.
function E:release(job) return done(self, "release", { job = id_of(job) }) end

--- Adds resources to a job.
function E:grow(job, x)
  return asked(self, "grow", { job = id_of(job), request = request_of(x), format = "tree" })
end

--- Releases a vertex, {vertex =, amount =} or {ranks =} from a job.
function E:shrink(job, what)
  local params = { job = id_of(job), format = "tree", ranks = what.ranks, amount = what.amount }
  params.path = not what.ranks and (what.vertex or what).path or nil
  return asked(self, "shrink", params)
end

--- Returns the job of an id.
function E:job(id) return asked(self, "job", { job = id_of(id) }) end

--- Returns all jobs.
function E:jobs()
  local jobs = must(self.service:ask "jobs").jobs
  return results.note(tables.map(jobs, function(job) return allocation(self.service, job) end), true)
end

--- Explains why a request does not fit; opts.columns adds .text, formatted to a width.
function E:explain(x, opts)
  return self.service:ask("explain", tables.update({ request = request_of(x), columns = 100 }, opts))
end

--- Advances the clock of a service with a manual clock.
function E:advance(to) return done(self, "advance", { to = to }) end

--- Returns the time of the clock, in seconds.
function E:now() return assert(self.service:ask "stats").now end

--- Returns the statistics of the service.
function E:stats() return self.service:ask "stats" end

--- Returns the policy in use.
function E:policy()
  local p = assert(self.service:ask "policy")
  return p.name, p
end

--- Changes the policy: a name, or a local file.
function E:use(name)
  local params = { name = name }
  if type(name) == "string" and (name:find("/", 1, true) or name:find "%.lua$") then
    params = { source = must(require("weir.files").read(name, "policy")) }
  end
  return done(self, "policy.load", params)
end

--- Reloads the file of the policy in use.
function E:reload() return done(self, "policy.reload") end

--- Returns the names of policies known to the service.
function E:policies() return assert(self.service:ask "policy.list").policies end

--- Returns the machine.
function E:resources() return self.graph end

failure.returning(E)

-- ---- the machine --------------------------------------------------------------------------------------------

local G = {}

--- Returns the vertex of a path or URI.
function G:vertex(uri)
  return vertex(self.service, must(self.service:ask("show", { uri = uri, as = "pool" })))
end

--- Returns the roots of the machine.
function G:roots() return vertices(self.service, assert(self.service:ask("show", { as = "children" })).vertices) end

function G:root() return self:roots()[1] end

--- Returns the vertices satisfying an expression; opts.start: a vertex or path to search below.
function G:find(expression, opts)
  local start = opts and opts.start
  local answer = must(self.service:ask("find", { expression = expression, start = type(start) == "table" and start.path or start }))
  return results.note(vertices(self.service, answer.vertices), expression)
end

--- Returns the best vertices by a filter, a list of {vertex =, score =}: opts.filter, Lua source; .type, .start,
--- .best.
function G:walk(opts)
  return tables.map(must(self.service:ask("walk", opts)).vertices, function(base)
    return { vertex = vertex(self.service, base), score = base.score }
  end)
end

--- Returns the number of vertices.
function G:count() return assert(self.service:ask "stats").vertices end

--- Returns units by type: total, free, idle.
function G:aggregate(v) return assert(self.service:ask("show", { as = "totals", uri = v and v.path })).totals end

--- Returns the types of pools.
function G:types() return tables.keys(self:aggregate()) end

function G:now() return assert(self.service:ask "stats").now end

failure.returning(G)

function G:trees(limits) return assert(self.service:ask("show", { depth = limits and limits.depth })).trees end

-- ---- entry points ----------------------------------------------------------------------------------------

-- Runs f in a coroutine. Ctrl-C then raises the error in f, and never in callbacks of the event loop, where no caller
-- would catch the error.
local function guarded(f, ...)
  local returned = table.pack(coroutine.resume(coroutine.create(core.guarded), f, ...))
  if not returned[1] then return false, returned[2] end
  return table.unpack(returned, 2, returned.n)
end

--- Connects to a service. Returns {engine =, graph =, address =, guarded =, ask(method, params), close()}; or nil,
--- message, code.
function M.connect(address)
  local client, why, code = clients.connect(address)
  if not client then return nil, why, code end
  local service = setmetatable({ client = client, address = address, changes = 0 }, Service)
  local hello
  hello, why, code = service:ask "hello"
  if not hello then return nil, why, code end
  local graph = setmetatable({ service = service }, {
    __index = absent("g", G), __kind = "graph", __names = tables.keys(G), __call = function(self, uri) return self:vertex(uri) end,
  })
  local engine = setmetatable({ service = service, graph = graph }, {
    __index = absent("e", E), __kind = "engine", __names = tables.keys(E), __tostring = function() return "engine of " .. address end,
  })
  return {
    engine = engine, graph = graph, address = address, commands = commands, guarded = guarded,
    ask = function(...) return service:ask(...) end,
    close = function() service.client:close() end,
  }
end

return M
