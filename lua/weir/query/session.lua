--- session.lua - one run of the shell: a machine, a matcher, a traverser, a writer, and the jobs so far.

local books = require "weir.query.books"
local commit = require "weir.query.commit"
local files = require "weir.files"
local flexible = require "weir.query.flexible"
local matcher = require "weir.query.matcher"
local policy = require "weir.query.policy"
local store = require "weir.query.store"
local traverser = require "weir.query.traverser"
local writers = require "weir.query.writers"

local M = {}
M.__index = M

local LOAD = {
  grug = function(...) return require("weir.query.grug").load(...) end,
  hwloc = function(...) return require("weir.query.hwloc").load(...) end,
  jgf = function(...) return require("weir.query.jgf").load(...) end,
  rv1exec = function(...) return require("weir.query.rv1exec").load(...) end,
}
LOAD.jgf_shorthand, LOAD.rv1exec_force = LOAD.jgf, LOAD.rv1exec

local TRAVERSERS = { simple = traverser, flexible = flexible }

local PRUNE_FILTERS = "ALL:core,ALL:node"

local function fail(where, what) return nil, ("%s: ERROR: %s\n"):format(where, what) end

local function load(options)
  local graph = store.new()
  local text, unread = files.read(options.load_file or "conf/default")
  local fine, ok, why, more = pcall(LOAD[options.load_format], graph, text or "", options.allowlist)
  if fine and ok then return graph end
  if not fine then why = type(ok) == "table" and ok.limit or tostring(ok) end
  more = more or not text and unread
  return fail("resource_query_t", (why or "") .. "\nERROR: error generating resources" .. (more and "\n" .. more or ""))
end

-- ---- making -------------------------------------------------------------------------------------------------

local function new_matcher(self, options)
  local subsystems = matcher.subsystems(options.subsystems)
  if not subsystems then return fail("resource_query_t", "can't set subsystems: no set " .. options.subsystems) end
  self.matcher = matcher.new(subsystems, self.graph)
  local why
  self.policy, why = policy.new(options.policy, self.matcher)
  if not self.policy then return fail("resource_query_t", "can't create matcher\n" .. why:gsub("\n$", "")) end
  if self.policy.exclusive then self.matcher.exclusive[self.policy.exclusive] = true end
  if not self.matcher:track_spec(options.prune_filters or PRUNE_FILTERS) then
    return fail("initialize_matchers_and_traversers", "can't set pruning filters")
  end
  return true
end

local function new_traverser(self, options)
  local class = TRAVERSERS[options.traverser]
  if not class then return fail("resource_query_t", "can't create traverser " .. options.traverser) end
  self.traverser = class.new(self.graph, self.matcher, self.policy)
  if not self.traverser:initialize() then
    return fail("initialize_matchers_and_traversers", "can't initialize traverser")
  end
  return true
end

--- A session by the options of options.lua; or nil and why.
function M.new(options)
  local self = setmetatable({
    options = options, jobs = {}, allocations = {}, reservations = {}, counter = 1,
    least = 1.7976931348623157e308, most = 0, sum = 0,
  }, M)
  local ok, why
  self.graph, why = load(options)
  if not self.graph then return nil, why end
  self.graph:count_nodes()
  ok, why = new_matcher(self, options)
  if not ok then return nil, why end
  ok, why = new_traverser(self, options)
  if not ok then return nil, why end
  self.writer = writers.new(options.match_format, self.graph)
  self.graph.types.closed = true
  return self
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

--- The root of the dominant subsystem.
function M:root() return self.graph.roots[self.traverser.dominant] end

--- Notes a job that was placed.
function M:remember(job, at, source, elapsed)
  local state = at == 0 and "ALLOCATED" or "RESERVED"
  self.jobs[job] = { job = job, state = state, at = at, source = source, elapsed = elapsed }
  self[at == 0 and "allocations" or "reservations"][job] = true
end

--- Ids of all jobs, ascending.
function M:job_ids()
  local ids = {}
  for id in pairs(self.jobs) do ids[#ids + 1] = id end
  table.sort(ids, math.ult)
  return ids
end

--- Brings weir's books up to date; they are made when the first job is placed.
function M:sync(job)
  self.books = self.books or books.new(self.graph)
  self.refused = self.books:sync(job, self:root()) or self.refused
end

--- What a part of a job is read with, by the name of the reader.
function M.reader(name)
  if name == "rv1exec" then return require "weir.query.rv1exec" end
  return require("weir.query.jgf")[name == "jgf_shorthand" and "shorthand" or "full"]
end

--- Books what a text says that a job has; whether it could.
function M:update(reader, text, meta)
  local t = self.traverser
  t.message = ""
  t:tick()
  self.graph.types.closed = false
  local ok, why = reader.update(t, text, meta)
  self.graph.types.closed = true
  if not ok then
    t:say(why or "")
    return false
  end
  if self.graph.root_edges[t.dominant].sequence ~= t.sequence then return true end
  return commit.run(t, self:root(), self.writer, meta, false)
end

return M
