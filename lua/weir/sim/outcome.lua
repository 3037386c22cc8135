--- outcome.lua - what became of the jobs of a run, and whether runs may be compared.
---
--- Waits, slowdowns and other figures of jobs say something of a policy only where they are those of the same jobs. A run is
--- *complete* if each of its jobs has ended; runs are comparable if all are complete and refused the same jobs. A run that is not
--- comparable is named first, its figures of jobs are left out, and nothing is called better or worse than it.
---
--- An outcome is a table {jobs = those that came, unfinished = those that have not ended, failed = those that ended without success,
--- refused = an idset, as text, of those refused, by their order of submission, cancelled = one of those cancelled, as jobs that they
--- depend on did not succeed, excluded = the number of the refused jobs that the machine could run, but for the placement policy}; a
--- missing field counts as none.

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

local function set_of(outcome, field) return core.idset(outcome[field] or "") end

-- The jobs that all of the outcomes have in a field.
local function common_of(outcomes, field)
  local common = set_of(outcomes[1], field)
  for i = 2, #outcomes do common = common & set_of(outcomes[i], field) end
  return common
end

--- Whether the placement policy is the reason for which a job was refused, by the code and the message of the engine.
function M.is_excluded(why, code) return code == "rejected" or why ~= nil and why:find(" under the policy ", 1, true) ~= nil end

-- Returns why a run is incomplete, as text, or nil. refused, cancelled: the numbers of such jobs that count.
local function missing(outcome, refused, cancelled)
  local parts = {}
  parts[1] = part_of(outcome.unfinished, outcome, "not ended")
  parts[#parts + 1] = part_of(outcome.failed, outcome, "failed")
  parts[#parts + 1] = part_of(refused, outcome, "been refused")
  parts[#parts + 1] = part_of(cancelled, outcome, "been cancelled")
  return parts[1] and table.concat(parts, ", ") or nil
end

--- Returns why a run is incomplete, as text, or nil. Jobs that the machine could never run do not count.
function M.missing(outcome) return missing(outcome, outcome.excluded, set_of(outcome, "cancelled"):count()) end

--- Returns by run the reason why it is not comparable, false where it is. outcomes: a list. Jobs that all runs refused or cancelled do
--- not count.
function M.judge(outcomes)
  local refused, cancelled = common_of(outcomes, "refused"), common_of(outcomes, "cancelled")
  return tables.map(outcomes, function(outcome)
    return missing(outcome, (set_of(outcome, "refused") - refused):count(), (set_of(outcome, "cancelled") - cancelled):count()) or false
  end)
end

--- Returns why a run cannot be compared with one that ran all jobs, or nil.
function M.against_all(outcome)
  return missing(outcome, set_of(outcome, "refused"):count(), set_of(outcome, "cancelled"):count())
end

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
