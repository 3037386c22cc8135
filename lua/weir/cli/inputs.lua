--- inputs.lua - what commands read: machines, jobs, policies. What cannot be read ends the command with status 2.

local files = require "weir.files"
local out = require "weir.cli.output"
local weir = require "weir"

local M = {}

--- What -r takes, for --help.
M.resources_help = "the machine: a file (JGF, R, GRUG, hwloc XML, SQLite, RDL, a recipe in Lua), a synthetic string such as "
  .. '"node:4 core:8", "local" for this machine, - for standard input, or etcd:http://HOST:PORT/KEY, a key of an etcd that has an R or JGF'

--- The graph that -r names.
function M.resources(opts)
  if opts.resources == "" then out.fail(2, '-r: "" names no machine') end
  local stored = (opts.resources or ""):match "^etcd:(.*)$"
  if stored then return out.check(weir.parse(out.check(require("weir.serve.store.etcd").read(stored)), { source = opts.resources })) end
  return out.check(weir.resources(opts.resources or "local"))
end

--- The policy that -p names.
function M.policy(name) return out.check(weir.policy(name)) end

local function read_file(job)
  return out.check(weir.request(out.check(files.read(job, "jobspec")), job == "-" and "<stdin>" or job))
end

local function read_shape(job)
  local request, why = weir.request(job, job)
  if not request then out.fail(2, "%s (there is no such file, so it was read as a shape)", why) end
  return request
end

local function missing_among(resources, known)
  for _, r in ipairs(resources) do
    if r.type ~= "slot" and not known[r.type] then return r.type end
    local below = missing_among(r.with or {}, known)
    if below then return below end
  end
end

--- The first type of a request that the machine does not have, or nil.
function M.missing_type(request, g)
  local known = {}
  for _, type in ipairs(g:types()) do known[type] = true end
  return missing_among(request:resources(), known)
end

-- One JOB of the command line: a file, "-", or a shape.
local function read_request(job)
  if job == "" then out.fail(2, 'JOB: "" is neither a file nor a shape') end
  if job == "-" or weir.request_kind(job) == "file" then return read_file(job) end
  return read_shape(job)
end

--- The options of commands that look at a machine, with or without jobs on it.
M.job_options = {
  { "j", "job", "JOB", "a job that is matched first, as with weir match; can be given several times", many = true },
  { "p", "policy", "POLICY", "how those jobs are placed; low if not given" },
}

local function count(list, word)
  local n = 0
  for _, w in ipairs(list) do n = n + (w == word and 1 or 0) end
  return n
end

local TWICE = "- is given twice: there is one standard input"

--- Refuses "-" both as the machine and as a job.
function M.check_stdin(opts, ...)
  for _, names in ipairs { ... } do
    if opts.resources == "-" and count(names, "-") > 0 then out.fail(2, TWICE) end
  end
end

--- Reads all jobs: {name=, request=} each.
function M.jobs(names)
  if count(names, "-") > 1 then out.fail(2, TWICE) end
  local jobs = {}
  for i, name in ipairs(names) do jobs[i] = { name = name, request = read_request(name) } end
  return jobs
end

--- The graph that -r names, with the jobs of -j on it: now, or, with opts.reserve, as soon as they fit.
function M.booked(opts)
  M.check_stdin(opts, opts.job or {})
  local jobs, policy = M.jobs(opts.job or {}), opts.policy and M.policy(opts.policy)
  local g = M.resources(opts)
  if #jobs == 0 then return g end
  local engine = out.check(weir.engine { resources = g, policy = policy or M.policy "low" })
  for _, job in ipairs(jobs) do
    local a, why = engine:match(job.request, { mode = opts.reserve and "reserve" or "now" })
    if not a then out.fail(1, "%s: %s", job.name, why) end
  end
  return g
end

return M
