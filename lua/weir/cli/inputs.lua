--- inputs.lua - reads the inputs of commands: machines, jobs, policies. Unreadable input ends the command with status
--- 2.

local about = require "weir.about"
local core = require "weir.core"
local engines = require "weir.engine"
local files = require "weir.files"
local formats = require "weir.formats"
local out = require "weir.cli.output"
local queues = require "weir.machine.queues"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local weir = require "weir"

local M = {}

--- The values of -r, for --help.
M.resources_help = "the machine: a file (JGF, R, GRUG, hwloc XML, SQLite, RDL, a recipe in Lua, slurm.conf, "
  .. "the output of flux config get), a description such as "
  .. '"node:4 core:8", "local" for this machine, - for standard input, or etcd:http://HOST:PORT/KEY, a key of an etcd that has an R or JGF'

--- Returns the table of --about, or nil; fails for a wrong list.
function M.about(opts)
  if not opts.about then return nil end
  local known, why = about.parse(opts.about)
  return known or out.fail(2, "--about: " .. why)
end

--- Says that a match does not keep to the queue that --about names, where the machine has queues with nodes of their own.
function M.tell_queue(known, graph)
  local name = known and known.queue
  local all = name and queues.of(graph) or {}
  if next(all) == nil then return end
  if not all[name] then return out.warn(("--about: the machine has no queue %s%s"):format(name, suggest.among(name, tables.keys(all)))) end
  local requires = all[name].requires
  if type(requires) == "table" and requires[1] then
    out.warn(('--about: a match uses only the jobspec: the constraint {"properties": %s} keeps to the nodes of queue %s'):format(
      core.json_encode(core.array(requires)), name))
  end
end

--- Returns the graph named by -r.
function M.resources(opts)
  if opts.resources == "" then out.fail(2, '-r: "" names no machine') end
  if formats.place(opts.resources or "") then return out.check(weir.load(opts.resources)) end
  return out.check(weir.resources(opts.resources or "local"))
end

--- The option --granularity, like that of weir.engine.
M.granularity_option = { nil, "granularity", "TYPE", "jobs get whole vertices of this type, such as rack, whatever part they request; or "
  .. "HIERARCHY:TYPE, or HIERARCHY: where jobs are searched for" }

--- Returns what --granularity means on a graph, as weir.engine takes it; nil without the option.
function M.granularity(opts, graph)
  if not opts.granularity then return nil end
  local found, why = engines.granularity(graph, opts.granularity)
  return found or out.fail(2, "--granularity: %s", why)
end

--- Fails if an output is one of the command's inputs: an input is never replaced. `inputs`: paths, and any different
--- text, which names no file; absent values are left out.
function M.check_output(output, what, inputs)
  if not output then return end
  for _, input in pairs(inputs) do
    if input and files.same(output, input) then out.fail(2, "%s: %s is read by this command, and is not replaced", what, output) end
  end
end

--- Returns the policy named by -p.
function M.policy(name) return out.check(weir.policy(name)) end

local function read_shape(job, duration)
  local request, why = weir.request(job, job, duration)
  if not request then out.fail(2, "%s (there is no such file, so it was read as a shape)", why) end
  return request
end

local function missing_among(resources, known)
  for _, r in ipairs(resources) do
    if r.type ~= "slot" and r.type ~= "or_slot" and not known[r.type] then return r.type end
    local below = missing_among(r.with or {}, known)
    if below then return below end
  end
end

--- Returns the first type of a request that the machine lacks, or nil; of several alternatives (xor_slot) where each lacks
--- one.
function M.missing_type(request, g)
  local known, first = tables.set(g:types()), nil
  for _, one in ipairs(request:alternatives()) do
    local missing = missing_among(one:resources(), known)
    if not missing then return nil end
    first = first or missing
  end
  return first
end

-- Returns the request of a JOB on the command line: a file, "-", or a shape.
local function read_request(job, duration)
  if job == "" then out.fail(2, 'JOB: "" is neither a file nor a shape') end
  if job == "-" or weir.request_kind(job) == "file" then
    return out.check(weir.request(out.check(files.read(job, "jobspec")), job == "-" and "<stdin>" or job, duration))
  end
  return read_shape(job, duration)
end

--- Options of all commands that show a machine, with or without jobs allocated.
M.job_options = {
  { "j", "job", "JOB", "a job to match first, as with weir match; can be given several times", many = true },
  { "p", "policy", "POLICY", "the placement policy of those jobs; low if not given" },
}

local function count(list, word)
  local n = 0
  for _, w in ipairs(list) do n = n + (w == word and 1 or 0) end
  return n
end

local TWICE = "- is given twice: there is one standard input"

--- Fails if both the machine and a job are "-".
function M.check_stdin(opts, ...)
  for _, names in ipairs { ... } do
    if opts.resources == "-" and count(names, "-") > 0 then out.fail(2, TWICE) end
  end
end

--- The option --duration of commands that match jobs.
M.duration_option = { nil, "duration", "TIME", "the duration of the jobs, in place of their own: seconds, or with a unit, 90m, 1.5h, 2d; "
  .. "0: no end", kind = "duration" }

--- Reads all jobs, which last names.duration seconds if given. Returns a list of {name=, request=}.
function M.jobs(names)
  if count(names, "-") > 1 then out.fail(2, TWICE) end
  local duration = names.duration == 0 and math.huge or names.duration
  return tables.map(names, function(name) return { name = name, request = read_request(name, duration) } end)
end

--- Sets the clock of an engine to the time from which the resources are valid: a command has no time of its own.
function M.begin(engine)
  local start = engine:resources():validity()
  if start and start > engine:now() then assert(engine:advance(start)) end
  return engine
end

--- Returns the graph named by -r with the jobs of -j allocated: now, or, with opts.reserve, at the earliest start.
function M.booked(opts)
  M.check_stdin(opts, opts.job or {})
  local jobs, policy = M.jobs(opts.job or {}), opts.policy and M.policy(opts.policy)
  local g = M.resources(opts)
  if #jobs == 0 then return g end
  local engine = M.begin(out.check(weir.engine { resources = g, policy = policy or M.policy "low" }))
  for _, job in ipairs(jobs) do
    local a, why = engine:match(job.request, { mode = opts.reserve and "reserve" or "now" })
    if not a then out.fail(1, "%s: %s", job.name, why) end
  end
  return g
end

return M
