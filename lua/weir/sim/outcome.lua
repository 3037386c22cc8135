--- outcome.lua - what became of the jobs of a run, and whether runs may be compared.
---
--- Waits, slowdowns and other figures of jobs say something of a policy only where they are those of the same jobs. A run is
--- *complete* if each of its jobs has ended; runs are comparable if all are complete and refused the same jobs. A run that is not
--- comparable is named first, its figures of jobs are left out, and nothing is called better or worse than it.
---
--- An outcome is a table {jobs = those that came, unfinished = those that have not ended, failed = those that ended without success,
--- refused = an idset, as text, of those refused, by their order of submission}; a missing field counts as none.

local core = require "weir.core"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

-- "89 of 300 jobs have not ended", or nil for none.
local function part_of(n, outcome, what)
  if not n or n == 0 then return nil end
  if not outcome.jobs then return ("%s %s %s"):format(texts.counted(n, "job"), n == 1 and "has" or "have", what) end
  return ("%s of %s %s %s"):format(texts.number(n), texts.counted(outcome.jobs, "job"), n == 1 and "has" or "have", what)
end

local function refused_of(outcome) return core.idset(outcome.refused or "") end

-- The jobs that all of the outcomes refused.
local function refused_by_all(outcomes)
  local common = refused_of(outcomes[1])
  for i = 2, #outcomes do common = common & refused_of(outcomes[i]) end
  return common
end

--- Returns why a run is incomplete, as text, or nil. refused: the number of jobs refused that count (0 by default).
function M.missing(outcome, refused)
  local parts = {}
  parts[1] = part_of(outcome.unfinished, outcome, "not ended")
  parts[#parts + 1] = part_of(outcome.failed, outcome, "failed")
  parts[#parts + 1] = part_of(refused, outcome, "been refused")
  return parts[1] and table.concat(parts, ", ") or nil
end

--- Returns by run the reason why it is not comparable, false where it is. outcomes: a list. Jobs that all runs refused do not count.
function M.judge(outcomes)
  local common = refused_by_all(outcomes)
  return tables.map(outcomes, function(outcome)
    return M.missing(outcome, (refused_of(outcome) - common):count()) or false
  end)
end

--- Returns why a run cannot be compared with one that ran all jobs, or nil.
function M.against_all(outcome) return M.missing(outcome, refused_of(outcome):count()) end

--- Whether run i may be judged against the first one. reasons: from judge().
function M.comparable(reasons, i) return not reasons[1] and not reasons[i] end

--- Returns a sentence that names the runs that are not comparable, or nil. names: of the runs, in the order of the reasons.
function M.sentence(names, reasons)
  local parts = {}
  for i, reason in ipairs(reasons) do
    if reason then parts[#parts + 1] = ("%s (%s)"):format(names[i], reason) end
  end
  if #parts == 0 then return nil end
  return ("Not comparable: %s. Waits and other figures of jobs are left out there, and %s."):format(table.concat(parts, "; "),
    reasons[1] and "no run is judged" or "nothing is judged against the others")
end

return M
