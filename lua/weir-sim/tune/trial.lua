--- trial.lua - what settings give: replays of the jobs of a trace, or of a sample of them, under a placement policy and a
--- queue policy.

local objective = require "weir.tune.objective"
local outcome = require "weir.sim.outcome"
local replay = require "weir.replay"
local sample = require "weir.tune.sample"

local M = {}
M.__index = M

--- Makes a table for trials. opts: graph, map, overrun, granularity; format, of the trace; tau (10); jobs, a store
--- (jobs.lua) in the order of submission; objectives (objective.read).
function M.new(opts)
  return setmetatable({ opts = opts, jobs = opts.jobs, objectives = opts.objectives, tau = opts.tau or 10, samples = {} }, M)
end

-- Replays jobs from a source; calls ended(job) for each that has ended. Returns the outcome (weir.sim.outcome); or nil, message, code.
local function play(self, source, setting, ended)
  local result, why, code = replay.run {
    resources = self.opts.graph:dup(), policy = setting.policy, queue = setting.queue, map = self.opts.map, overrun = self.opts.overrun,
    granularity = self.opts.granularity, series = false, each = ended, trace = { format = self.opts.format, next = source },
  }
  if not result then return nil, why, code end
  return result.outcome
end

-- Like play(), but a replay in which jobs are missing is none: nil, message, "incomparable".
local function play_all(self, source, setting, ended)
  local came, why, code = play(self, source, setting, ended)
  if not came then return nil, why, code end
  local missing = outcome.against_all(came)
  if missing then return nil, missing, "incomparable" end
  return true
end

--- Replays the jobs from the first on to `last`. Returns {start =, finish =, wait =, bsld =}, lists by the index of the job,
--- without the jobs that were refused; or nil, message, code, which is "incomparable" where jobs have not ended, or unless
--- `refusing` says that they may be, have been refused.
function M:play(setting, last, refusing)
  local was = { start = {}, finish = {}, wait = {}, bsld = {} }
  local ok, why, code = (refusing and play or play_all)(self, sample.source(self.jobs, 1, last), setting, function(job)
    local i = job.index
    was.start[i], was.finish[i] = job.start, job.finish
    was.wait[i], was.bsld[i] = objective.measures(job.submit, job.start, job.finish, self.tau)
  end)
  if not ok then return nil, why, code end
  local missing = refusing and outcome.missing(ok)
  if missing then return nil, missing, "incomparable" end
  return was
end

--- Returns the values of the objectives for the jobs from `first` to `last`, when the jobs from the first on to `last` are
--- replayed; or nil, message, code.
function M:whole(setting, first, last)
  local was, why, code = self:play(setting, last)
  if not was then return nil, why, code end
  return self:values_of(was, first, last)
end

--- Returns the values of the objectives for the jobs from `first` to `last`, of what play() has returned.
function M:values_of(was, first, last)
  return objective.values(self.objectives, { wait = table.move(was.wait, first, last, 1, {}),
    bsld = table.move(was.bsld, first, last, 1, {}) })
end

--- Takes the replay of the jobs under the policies in force, and makes the samples with about these shares of the jobs.
--- Returns a list of the shares of the work that they cost, each more than the one before and all below 1.
function M:sample(was, last, shares)
  local pieces, costs = sample.pieces(self.jobs, last, was), {}
  self.was, self.last = was, last
  for _, share in ipairs(pieces and shares or {}) do
    local chosen, n = sample.heaviest(pieces, share, last), 0
    for _, piece in ipairs(chosen) do n = n + sample.prepare(piece, self.jobs, was) end
    if n / last < 0.7 and n / last > (costs[#costs] or 0) then
      costs[#costs + 1], self.samples[#self.samples + 1] = n / last, chosen
    end
  end
  return costs
end

--- Returns the values of the objectives on sample k; or nil, message, code.
function M:sampled_values(setting, k)
  local wait, bsld = table.move(self.was.wait, 1, self.last, 1, {}), table.move(self.was.bsld, 1, self.last, 1, {})
  for _, piece in ipairs(self.samples[k]) do
    local ok, why, code = play_all(self, sample.source_of(piece, self.jobs, self.was), setting, function(job)
      local i = job.index
      if i then wait[i], bsld[i] = objective.measures(job.submit, job.start, job.finish, self.tau) end
    end)
    if not ok then return nil, why, code end
  end
  return objective.values(self.objectives, { wait = wait, bsld = bsld })
end

return M
