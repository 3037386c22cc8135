--- session.lua - one run of the shell: a machine, weir's engine on it, and the jobs so far. Who has what, and when, is in the
-- books of the engine; the session keeps what is shown of a job.
--
-- A job: {job (its number), state, at, duration, source, elapsed, kind ("allocate" or "reserve"), held ("allocations",
-- "reservations" or nil), parts (tree.lua), tags (see part.lua)}.

local files = require "weir.files"
local filters = require "weir.query.filters"
local machine = require "weir.query.machine"
local matching = require "weir.query.matching"
local policy = require "weir.query.fluxion_match.policy"
local quirks = require "weir.query.quirks"
local stale = require "weir.query.stale"
local subsystems = require "weir.query.subsystems"
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
    format = options.load_format, source = options.load_file, allowlist = options.allowlist,
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

--- A session by the options of options.lua; or nil and why.
function M.new(options)
  local read, ok, why
  read, why = load(options)
  if not read then return nil, why end
  ok, why = check(options, read)
  if not ok then return nil, why end
  return setmetatable({
    options = options, machine = read, engine = assert(weir.engine { resources = read.graph }), jobs = {}, counter = 1,
    stale = stale.new(),
    least = math.huge, most = 0, sum = 0,
  }, M)
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

--- Notes a job that was placed: {job, at, duration, kind, source, elapsed, parts}.
function M:remember(job)
  job.held = job.at == 0 and "allocations" or "reservations"
  job.state = job.at == 0 and "ALLOCATED" or "RESERVED"
  self.jobs[job.job] = job
  if policy.stops(self.options.policy) then weights.note(job.parts, job.at > 0) end
  self.stale:planned(job.at, job.stop)
end

--- Notes that nothing is left of a job.
function M:forget(job)
  self.stale:planned(job.at, job.stop)
  job.held, job.state, job.parts, job.tags = nil, "CANCELED", {}, nil
end

--- The job of a number that has something; nil: there is none.
function M:holder(number)
  local job = self.jobs[number]
  return job and job.held and job
end

--- Jobs in the order of their numbers.
function M:list()
  local list = {}
  for _, job in pairs(self.jobs) do list[#list + 1] = job end
  table.sort(list, function(a, b) return math.ult(a.job, b.job) end)
  return list
end

--- The id that a job has in weir's books: any number will do for resource-query, 0 too.
function M.id_of(_, number) return number > 0 and number or math.maxinteger + number end

--- Keeps how long something took.
function M:count_time(elapsed)
  self.least, self.most, self.sum = math.min(self.least, elapsed), math.max(self.most, elapsed), self.sum + elapsed
end

--- What is written of some parts: a text; or nil and the name of an errno. about: {start, stop, queue}.
function M:text(parts, about)
  return writers.write(self.options.match_format, self.machine, tree.of(self.machine:root(), parts), about)
end

--- When a job that starts and lasts so long ends, in whole seconds.
function M.stop(at, duration) return math.ceil(math.min(at + duration, quirks.GRAPH_END)) end

return M
