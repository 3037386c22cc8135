--- session.lua - the state of the shell: a machine, weir's engine on the machine, and the jobs so far. Spans of jobs
-- are in the schedules of the engine; the session keeps the displayed attributes of jobs.
--
-- A job: {job (number), state, at, duration, source, elapsed, kind ("allocate" or "reserve"), held ("allocations",
-- "reservations" or nil), parts (tree.lua), tags (partial_cancel.lua)}.

local files = require "weir.files"
local filters = require "weir.query.filters"
local machine = require "weir.query.machine"
local matching = require "weir.query.matching"
local policy = require "weir.query.fluxion_match.policy"
local quirks = require "weir.query.quirks"
local stale = require "weir.query.stale"
local subsystems = require "weir.query.subsystems"
local tables = require "weir.tables"
local tree = require "weir.query.tree"
local weights = require "weir.query.fluxion_match.weights"
local weir = require "weir"
local writers = require "weir.query.writers"

local M = {}
M.__index = M

local TRAVERSERS = { simple = true, flexible = true }

local function fail(where, what) return nil, ("%s: ERROR: %s\n"):format(where, what) end

local function load(options)
  local set = subsystems.named(options.subsystems)
  if not set then return fail("resource_query_t", "can't set subsystems: no set " .. options.subsystems) end
  local text, unread = files.read(options.load_file or "conf/default", "machine")
  if not text then return fail("resource_query_t", "error generating resources\n" .. unread) end
  local read, why, missing = machine.read(text, {
    format = options.load_format, source = options.load_file, allowlist = options.allowlist, count = options.elapsed,
  }, set)
  if read then return read end
  if missing then return fail("initialize_matchers_and_traversers", "can't initialize traverser: no subsystem " .. missing) end
  return fail("resource_query_t", "error generating resources\n" .. why)
end

local function check(options, read)
  local ok, why = matching.check_policy(options.policy)
  if not ok then return fail("resource_query_t", "can't create matcher\n" .. why) end
  read.filters = filters.read(options.prune_filters)
  if not read.filters then return fail("initialize_matchers_and_traversers", "can't set pruning filters") end
  if not TRAVERSERS[options.traverser] then
    return fail("resource_query_t", "can't create traverser " .. options.traverser)
  end
  return true
end

--- Returns a session for the options of options.lua; or nil and a reason.
function M.new(options)
  local read, ok, why
  read, why = load(options)
  if not read then return nil, why end
  ok, why = check(options, read)
  if not ok then return nil, why end
  return setmetatable({
    options = options, machine = read, engine = assert(weir.engine { resources = read.graph }), jobs = {}, counter = 1,
    stale = stale.new(),
    min = math.huge, max = 0, sum = 0,
  }, M)
end

--- Returns the set of types that pruning filters count anywhere.
function M:counted()
  local here, set = self.machine, {}
  for kind in pairs(here.filters.counted) do set[kind] = true end
  for _, kind in ipairs(here.filters:types(here:root().type, here:leaf_types())) do set[kind] = true end
  return set
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

--- Records a job with an allocation: {job, at, duration, kind, source, elapsed, parts}.
function M:remember(job)
  job.held = job.at == 0 and "allocations" or "reservations"
  job.state = job.at == 0 and "ALLOCATED" or "RESERVED"
  self.jobs[job.job] = job
  if policy.stops(self.options.policy) then weights.note(job.parts, job.at > 0) end
  self.stale:planned(job.at, job.stop)
end

--- Records what was found and given to no job: {at, parts}. Quirk: that counts as a use.
function M:seen(found)
  if policy.stops(self.options.policy) then weights.note(found.parts, true) end
end

--- Records that a job has lost all resources.
function M:forget(job)
  self.stale:planned(job.at, job.stop)
  job.held, job.state, job.parts, job.tags = nil, "CANCELED", {}, nil
end

--- Returns the job of a number if the job holds resources, else nil.
function M:holder(number)
  local job = self.jobs[number]
  return job and job.held and job
end

--- Returns the jobs sorted by number.
function M:list()
  local list = {}
  for _, job in pairs(self.jobs) do list[#list + 1] = job end
  table.sort(list, function(a, b) return math.ult(a.job, b.job) end)
  return list
end

--- Returns the jobs whose begins and ends are known to pruning filters. Quirk: a job none of whose types is counted leaves
--- no time at which a later job is tried.
function M:points()
  return tables.filter(self:list(), function(job) return not job.uncounted end)
end

--- Returns the id of a job in the engine. resource-query takes any number, also 0 and below; the engine only positive
--- ids.
function M.id_of(_, number) return number > 0 and number or math.maxinteger + number end

--- Adds the duration of a match to the statistics.
function M:count_time(elapsed)
  self.min, self.max, self.sum = math.min(self.min, elapsed), math.max(self.max, elapsed), self.sum + elapsed
end

--- Returns the text of some parts in the format of -F; or nil and the name of an errno. about: {start, stop, queue}.
function M:text(parts, about)
  return writers.write(self.options.match_format, self.machine, tree.of(self.machine:root(), parts), about)
end

--- Returns the end of a job in whole seconds, from start and duration.
function M.stop(at, duration) return math.ceil(math.min(at + duration, quirks.GRAPH_END)) end

return M
