-- resemblance.lua - how much made-up jobs resemble those of a trace: distances between distributions (Kolmogorov-Smirnov).

local shell = require "spec.support.shell"
local trace = require "weir.trace"
local trace_scale = require "weir.trace.scale"

local M = {}

local FOLDER = (os.getenv "WEIR_DATA" or "../shared/data") .. "/traces/"
local FILES = { KTH = "KTH-SP2-1996-2.predictsim-filtered.swf.gz", HPC2N = "HPC2N-2002-2.2-cln.swf.gz",
  SDSC = "SDSC-SP2-5K_sample-pyss.predictsim-filtered.swf" }

local MEASURES = {
  sizes = function(job) return job.procs end,
  ["run times"] = function(job) return job.runtime end,
  ["hours of arrival"] = function(job) return job.submit % 86400 // 3600 end,
  ["weekdays of arrival"] = function(job) return job.submit % 604800 // 86400 end,
  ["shares of the limit"] = function(job) return job.runtime / job.estimate end,
}

--- Returns the path of a log, or nil where it is absent.
function M.path(name)
  local path = FOLDER .. FILES[name]
  return shell.exists(path) and path or nil
end

--- Returns the largest distance between the distributions of two lists of numbers, which are sorted.
function M.distance(a, b)
  table.sort(a)
  table.sort(b)
  local i, j, most = 1, 1, 0
  while i <= #a and j <= #b do
    local x = math.min(a[i], b[j])
    while i <= #a and a[i] == x do i = i + 1 end
    while j <= #b and b[j] == x do j = j + 1 end
    most = math.max(most, math.abs((i - 1) / #a - (j - 1) / #b))
  end
  return most
end

local function values(jobs, measure)
  local list = {}
  for i, job in ipairs(jobs) do list[i] = measure(job) end
  return list
end

--- Returns the jobs of a list that are not in another.
function M.added(all, jobs)
  local known, list = {}, {}
  for _, job in ipairs(jobs) do known[job.number] = true end
  for _, job in ipairs(all) do
    if not known[job.number] then list[#list + 1] = job end
  end
  return list
end

--- Adds a fifth to the jobs of a log. Returns the measures by which all jobs, or the added ones, are further from the log
--- than allowed.
function M.of(path, all_within, added_within)
  local jobs, log = {}, assert(trace.open(path))
  for job in log.next do jobs[#jobs + 1] = job end
  local all = trace_scale.jobs(jobs, #jobs * 6 // 5, 1)
  local new, far = M.added(all, jobs), {}
  for name, measure in pairs(MEASURES) do
    local of_all = M.distance(values(all, measure), values(jobs, measure))
    local of_new = M.distance(values(new, measure), values(jobs, measure))
    if of_all > all_within then far[name] = of_all end
    if of_new > added_within then far[name .. " of what was added"] = of_new end
  end
  return far
end

return M
