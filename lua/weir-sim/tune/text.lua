--- text.lua - what tuning found, in words and tables: for the terminal and for the page.

local figures = require "weir.html.report.figures"
local objective = require "weir.tune.objective"
local space = require "weir.tune.space"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

local CLEAR = 0.01 -- change below which nothing has changed, as a share
local TOLD = 0.03  -- share of the differences from which an option is said to matter

local grouped = texts.number

M.paste = space.paste

local function share(x) return ("%d %%"):format(math.floor(x * 100 + 0.5)) end

-- ---- options ------------------------------------------------------------------------------------------------

local function value_text(value)
  if type(value) == "number" then
    local whole = math.abs(value) >= 1e3 and math.floor(value + 0.5)
    return whole and math.abs(whole) < 1e9 and ("%d"):format(whole) or ("%.4g"):format(value)
  end
  return tostring(value)
end

-- The quarter of an option's range with the best mean rank, as text; "" if there is none.
local function best_range(option)
  local best
  for b, mean in ipairs(option.quarters) do
    if type(mean) == "number" and (not best or mean < option.quarters[best]) then best = b end
  end
  if not best then return "" end
  if option.choices then return value_text(option.choices[best]) end
  return ("%s to %s"):format(value_text(option.bounds[best]), value_text(option.bounds[best + 1]))
end

-- An option's share of the differences and its best quarter, as text.
local function weight_text(option, of)
  local best = best_range(option)
  return share(option.matters) .. (of or "") .. (best ~= "" and (of and "; best " or ", best ") .. best or "")
end

-- The options by how much they matter, the most first.
local function by_weight(report)
  local list = table.move(report.options, 1, #report.options, 1, {})
  return tables.sort(list, "-matters", "name")
end

-- Whether all settings have the same value of the first objective, as far as it is printed.
local function is_flat(report, one)
  local now = objective.text(one, report.now.first[1])
  return tables.all(report.tried, function(entry) return objective.text(one, entry.first[1]) == now end)
end

local function sentence_of_options(report)
  local strong, weak = {}, {}
  for _, option in ipairs(by_weight(report)) do
    if option.matters >= TOLD then
      strong[#strong + 1] = ("%s (%s)"):format(option.name, weight_text(option, " of the differences"))
    else
      weak[#weak + 1] = option.name
    end
  end
  local one = report.objectives[1]
  local first = one.label
  if is_flat(report, one) then
    return ("No setting that was tried changes %s: it is %s."):format(first, objective.text(one, report.now.first[1]))
  end
  if #strong == 0 then return ("None of the options alone matters much for %s: %s."):format(first, table.concat(weak, ", ")) end
  local rest = #weak > 0 and ("; alone, %s hardly matter%s"):format(table.concat(weak, ", "), #weak == 1 and "s" or "") or ""
  return ("What matters for %s is %s%s."):format(first, table.concat(strong, ", "), rest)
end

-- ---- sentences ----------------------------------------------------------------------------------------------

-- The change of a value in percent; "" for none, as far as the values are printed.
local function moved(one, from, to)
  return objective.text(one, from) ~= objective.text(one, to) and texts.moved(from, to) or ""
end

local function change(one, from, to)
  local share_moved = moved(one, from, to)
  return ("%s from %s to %s%s"):format(one.label, objective.text(one, from), objective.text(one, to),
    share_moved ~= "" and (" (%s)"):format(share_moved) or "")
end

local function sentence_of_first(report, best)
  local one, from, to = report.objectives[1], report.now.first[1], best.first[1]
  local jobs = ("%s first jobs"):format(grouped(report.jobs.first))
  if to >= from or objective.text(one, to) == objective.text(one, from) then
    return ("On the %s nothing was found that is better than the policies in force."):format(jobs)
  end
  local many = #report.objectives > 1 and (" (one of %d ways between %d objectives)"):format(#report.found, #report.objectives) or ""
  return ("On the %s, \"%s\" brings %s%s."):format(jobs, M.paste(best), change(one, from, to), many)
end

local function sentence_of_second(report, best)
  local one, from, to = report.objectives[1], report.now.second, best.second
  if report.interrupted then return "The search was interrupted: whether this holds on the jobs after is not known." end
  from, to = from[1], to[1]
  local after = ("On the %s jobs after, of which the search knew nothing,"):format(grouped(report.jobs.second))
  if best.first[1] >= report.now.first[1] then return ("%s %s is %s."):format(after, one.label, objective.text(one, from)) end
  if to > from * (1 + CLEAR) then return ("%s it does not hold: %s. Keep what you have."):format(after, change(one, from, to)) end
  if objective.text(one, to) == objective.text(one, from) then
    return ("%s nothing changes: %s is %s."):format(after, one.label, objective.text(one, from))
  end
  if to >= from * (1 - CLEAR) then return ("%s nothing changes: %s."):format(after, change(one, from, to)) end
  return ("%s it holds: %s."):format(after, change(one, from, to))
end

-- Names the settings that are out, as jobs are missing under them or a policy failed; nil where there are none.
local function sentence_of_missing(report)
  local parts = {}
  if report.failed > 0 then
    parts[1] = ("%s left out, the first one %s."):format(report.failed == 1 and "1 trial is" or grouped(report.failed) .. " trials are",
      report.failure)
  end
  for _, one in ipairs(report.dropped or {}) do
    parts[#parts + 1] = ("%s was better on the first part, and is left out: on the whole trace %s."):format(M.paste(one), one.missing)
  end
  return parts[1] and "Not comparable: " .. table.concat(parts, " ") or nil
end

--- Returns sentences on a report: what is not comparable, if anything; what was found, whether it holds, what matters.
function M.sentences(report)
  local best, list = report.found[1], { sentence_of_missing(report) }
  return tables.append(list, { sentence_of_first(report, best), sentence_of_second(report, best), sentence_of_options(report) })
end

-- ---- tables -------------------------------------------------------------------------------------------------

--- Returns the rows of a table of values: a row for each settings and objective, head first.
function M.rows(report)
  local rows = { { "settings", "objective", "first part", "moved", "second part", "moved" } }
  local function add(name, entry)
    for i, one in ipairs(report.objectives) do
      local second, was = entry.second and entry.second[i], report.now.second and report.now.second[i]
      rows[#rows + 1] = { i == 1 and name or "", one.label, objective.text(one, entry.first[i]),
        moved(one, report.now.first[i], entry.first[i]), second and objective.text(one, second) or "-",
        second and moved(one, was, second) or "" }
    end
  end
  add("now: " .. M.paste(report.now), report.now)
  for _, entry in ipairs(report.found) do add(M.paste(entry), entry) end
  return rows
end

--- Returns the rows of a table of options, head first.
function M.option_rows(report)
  local rows = { { "option", "of", "tried", "now", "matters", "best", "what it is" } }
  for _, option in ipairs(by_weight(report)) do
    local tried = option.choices and table.concat(option.choices, ", ")
      or ("%s to %s"):format(value_text(option.min), value_text(option.max))
    rows[#rows + 1] = { option.name, option.where == "queue" and report.now.queue or report.now.policy, tried, value_text(option.default),
      share(option.matters), best_range(option), option.doc or "" }
  end
  return rows
end

-- How the budget was spent.
local function note(report)
  local parts = {}
  for _, sample in ipairs(report.samples) do
    parts[#parts + 1] = ("%d settings on %s of the first part"):format(sample.settings, share(sample.share))
  end
  parts[#parts + 1] = ("%d on all of it"):format(report.whole)
  local fixed = #report.fixed > 0 and (" Options without a range stay as they are: %s."):format(table.concat(report.fixed, ", ")) or ""
  return ("Tried: %s; in all as much work as %.1f replays of the first part, seed %d.%s"):format(table.concat(parts, ", "), report.spent,
    report.seed, fixed)
end

M.note = note

-- ---- the page -----------------------------------------------------------------------------------------------

-- Points of everything that was tried on the whole first part: by two objectives, or by order of trial.
local function picture(report)
  local two, list = #report.objectives > 1, {}
  local a, b = report.objectives[1], report.objectives[2]
  local function unit_of(one)
    local i, most = one == b and 2 or 1, 0
    for _, entry in ipairs { report.now, table.unpack(report.tried) } do most = math.max(most, entry.first[i]) end
    return one.unit == "s" and texts.unit_of_time(most) or { 1, "" }
  end
  local units = { [a] = unit_of(a), [b or a] = unit_of(b or a) }
  local function scaled(one, value) return value / units[one][1] end
  local function axis(one) return one.label .. (one.unit == "s" and ", " .. units[one][2] or "") end
  local function add(entry, place, class)
    list[#list + 1] = { two and scaled(a, entry.first[1]) or place, scaled(two and b or a, entry.first[two and 2 or 1]), class = class,
      title = M.paste(entry) }
  end
  for i, entry in ipairs(report.tried) do add(entry, i) end
  add(report.now, 1, "now")
  for i, entry in ipairs(report.found) do add(entry, i, "found") end
  for _, point in ipairs(list) do
    if point.class == "now" and not two then
      for i, entry in ipairs(report.tried) do
        if M.paste(entry) == M.paste(report.now) then point[1] = i end
      end
    end
  end
  return figures.points(list, { x = two and axis(a) or "settings, the best first", y = axis(two and b or a) })
end

--- Returns the page of a report, for weir.html.report.findings.
function M.page(report)
  local bars = {}
  for i, option in ipairs(by_weight(report)) do
    bars[i] = { option.name, option.matters, weight_text(option) }
  end
  local rows, options = M.rows(report), M.option_rows(report)
  local name = report.trace and report.trace:match "[^/]*$" or "a trace"
  return {
    title = "weir tune: " .. name, sentences = M.sentences(report), paste = M.paste(report.found[1]),
    figures = {
      { title = "What was tried on the whole first part: now in violet, found in green", svg = picture(report) },
      { title = "What matters: the share of the differences that each option alone explains", svg = figures.bars(bars, "options") },
    },
    tables = {
      { title = "Values", head = rows[1], rows = table.move(rows, 2, #rows, 1, {}), wide = { [2] = true } },
      { title = "Options", head = options[1], rows = table.move(options, 2, #options, 1, {}),
        wide = { [2] = true, [3] = true, [6] = true, [7] = true } },
    },
    notes = { note(report) },
  }
end

return M
