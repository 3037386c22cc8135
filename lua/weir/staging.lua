--- staging.lua - stages and jobs of listed resources, as methods of engines (RFC 4, Staged; RFC 16, Allocate).

local core = require "weir.core"
local part = require "weir.rset.machine_part"
local requests = require "weir.request"
local tables = require "weir.tables"

local engine = core.methods "engine"
local commit = engine.commit

local LEASE = 60 -- seconds

-- Engine -> number of a stage -> {request, about}, for the hook `placed` of the policy.
local of_stages = setmetatable({}, { __mode = "k" })

local function check_table(x, name)
  if x ~= nil and type(x) ~= "table" then error(("%s: a table of options expected, got %s"):format(name, type(x))) end
  return x or {}
end

-- Forgets the requests of stages that are no more.
local function sweep(own, stages)
  local live = tables.set(tables.column(stages, "stage"))
  for number in pairs(own) do
    if not live[number] then own[number] = nil end
  end
end

--- @method stage(request: string | table | parsed_request, options: table?): allocation?, string?, string? --
--- Finds resources as match does, and makes a stage of the resources: a lock for a while, without a job. Options: those
--- of match, except job; lease, the seconds after which the stage expires by itself (60; math.huge: never); lock =
--- false, for a stage that locks nothing, so that the first commit of several schedulers wins. The result has the fields
--- stage, the number, and expires. The interval of the resources counts from here, not from the commit. The hook
--- `placed` of the policy is called by the commit.
function engine.stage(self, request, opts)
  local given = check_table(opts, "stage")
  local own = tables.copy(given)
  own.stage, own.lease = given.lease or LEASE, nil
  if type(own.stage) ~= "number" or own.stage <= 0 or own.stage ~= own.stage then error "stage: field 'lease': seconds above 0 expected" end
  if type(request) == "string" then
    local read, why, code = requests.read(request)
    if not read then return nil, why, code end
    request = read
  end
  local stage, why, code = engine.match(self, request, own)
  if not stage then return nil, why, code end
  local kept = of_stages[self] or {}
  of_stages[self] = kept
  sweep(kept, self:stages())
  kept[stage.stage] = { request, given.about }
  return stage
end

--- @method commit(stage: number | allocation, options: table?): allocation?, string?, string?, table? --
--- Turns a stage, given by number or as an allocation, into a job with the times of the stage. options.job: the id of the
--- job. On failure the stage remains; where resources are lost (code "busy"), the fourth result is a list of the losses,
--- pick by pick: {pick = position in the stage, vertex =, path =, why = "held", "unavailable" (not up) or "gone" (removed
--- from the graph), and for "held" job = or stage = the holder, at = the path that it holds, start, end, amount,
--- exclusive}. A stage with locks loses resources only to changes of states.
function engine.commit(self, stage, opts)
  local job, why, code, lost = commit(self, stage, opts)
  if not job then return nil, why, code, lost end
  local number = math.type(stage) and stage or stage.stage
  local known = of_stages[self] and of_stages[self][number]
  if not known then return job end
  of_stages[self][number] = nil
  local done
  done, why, code = self:placed(job.id, known[1], known[2])
  if done then return job end
  self:release(job.id, false)
  return nil, why, code
end

-- ---- jobs of listed resources --------------------------------------------------------------------------------

-- Returns a list of vertices and a list of amounts, false for a whole pool, of an argument of e:allocate.
local function lists(graph, what)
  local picks, why, code = part.picks(graph, what)
  if not picks then return nil, why, code end
  local vertices, amounts = {}, {}
  for i, x in ipairs(picks) do
    if type(x) == "table" then
      vertices[i], amounts[i] = x.vertex, x.amount or false
    else
      vertices[i], amounts[i] = x, false
    end
    if vertices[i] == nil then error(("allocate: number %d of the list: a vertex expected"):format(i)) end
  end
  return vertices, amounts
end

local KNOWN = { job = true, start = true, duration = true }

--- @method allocate(resources: vertex | table | string | rset, options: table?): allocation?, string?, string?, table? --
--- Gives listed resources to a new job without a match, all of them or none: a vertex, a list of vertices and of
--- {vertex =, amount =}, where a vertex means the whole pool and amount 0 for shared use, or an R. Options: job, the id;
--- start, now if not given; duration, without an end if not given, and required with a start in the future. Code "busy":
--- something is not free, or not up; the fourth result lists the losses, as with commit.
function engine.allocate(self, what, opts)
  local given = check_table(opts, "allocate")
  for key in pairs(given) do
    if not KNOWN[key] then error(("allocate: there is no option '%s'"):format(tostring(key):sub(1, 100))) end
  end
  local now = self:now()
  local start = given.start or now
  if type(start) == "number" and start > now and given.duration == nil then
    error "allocate: a start in the future requires a duration (math.huge: without an end)"
  end
  local vertices, amounts, code = lists(self:resources(), what)
  if not vertices then return nil, amounts, code end
  return core.allocate(self, vertices, amounts, given.job or 0, start, given.duration or math.huge)
end

