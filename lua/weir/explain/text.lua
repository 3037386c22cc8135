--- text.lua - reports of explanations in words: numbers with units, singular and plural, at most a screenful.

local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

local LINES = 20 -- lines of levels and ways together, at most
local FEW = 5    -- things listed by name, at most
local MANY = 20  -- names of types and properties listed, at most

-- ---- words ---------------------------------------------------------------------------------------------------

-- Types with a plural equal to the singular.
local MASS = { memory = true, storage = true, power = true, bandwidth = true, chassis = true, lustre = true, ssd_space = true }

--- A type in the plural: "nodes", "switches", "chassis".
function M.plural(type) return MASS[type] and type or texts.plural(type) end

--- An amount in words: "1 node", "16 nodes", "24,016 GiB of storage", "3 units of memory".
function M.amount(n, type, unit)
  if unit and unit ~= "" then return ("%s %s of %s"):format(texts.number(n), unit, type) end
  if MASS[type] and type ~= "chassis" then
    return ("%s %s of %s"):format(texts.number(n), n == 1 and "unit" or "units", type)
  end
  return texts.number(n) .. " " .. (n == 1 and type or M.plural(type))
end

local function moment(t) return texts.moment(t, texts.number) end

-- Joins a list in words: "a", "a and b", "a, b and c", "a, b, c, d, e and 7 more".
local function join(list, most)
  local n = #list
  if n > (most or n) then
    local rest = texts.number(n - most) .. " more"
    list = table.move(list, 1, most, 1, {})
    list[#list + 1], n = rest, most + 1
  end
  if n <= 1 then return list[1] or "" end
  return table.concat(list, ", ", 1, n - 1) .. " and " .. list[n]
end

-- ---- requests ------------------------------------------------------------------------------------------------

local function minimum(count)
  if type(count) == "table" then return count.min or 1 end
  return math.tointeger(tonumber(count)) or math.tointeger(tonumber(tostring(count):match "^%d+")) or 1
end

local describe

local function describe_one(r)
  local n, with = minimum(r.count or 1), r.with or {}
  if r.type == "slot" and (n == 1 or (#with == 1 and minimum(with[1].count) == 1)) then
    local one = setmetatable({}, { __index = with[1] })
    if n == 1 then return describe(with) end
    one.count = n
    return describe_one(one)
  end
  if #with == 0 then return M.amount(n, r.type, r.unit) end
  -- Nested resources are requested in each pool, regardless of the number of its units: one unit of a pool is "1 pdu with ...".
  local head, each = M.amount(n, r.type, n > 1 and r.unit), n > 1 and r.type ~= "slot" and " each" or ""
  if n > 1 and r.unit and r.unit ~= "" then each = " in each " .. r.type end
  return ("%s %s %s%s"):format(head, r.type == "slot" and "of" or "with", describe(with), each)
end

--- Resources of a jobspec as words: "2 racks with 16 nodes each".
function describe(list)
  return join(tables.map(list, describe_one))
end
M.describe = describe

-- ---- constraints ---------------------------------------------------------------------------------------------

local OPERATORS = { properties = "property", hostlist = "host", ranks = "rank" }

--- A constraint as words: "property=bigmem", "not (host=n[1-3])".
function M.constraint(c)
  local words = {}
  for operator, list in pairs(c) do
    local parts = {}
    for i, value in ipairs(list) do
      parts[i] = OPERATORS[operator] and OPERATORS[operator] .. "=" .. value or M.constraint(value)
    end
    local glue = (operator == "or" or operator == "hostlist" or operator == "ranks") and " or " or " and "
    local text = table.concat(parts, glue)
    words[#words + 1] = operator == "not" and "not (" .. text .. ")" or #parts > 1 and "(" .. text .. ")" or text
  end
  table.sort(words)
  return table.concat(words, " and ")
end

-- ---- need against have ---------------------------------------------------------------------------------------

local function be(n) return n == 1 and "is" or "are" end

local function scope(s)
  local extra = {}
  if s.constrained then extra[1] = "within the constraint" end
  if s.policy then extra[#extra + 1] = "under this policy" end
  return #extra > 0 and " " .. table.concat(extra, ", ") or ""
end

-- The need of a shortage: "24,016 GiB of storage are needed", "16 slots of 1,501 GiB of storage need 24,016 GiB".
local function needed(s)
  local what = M.amount(s.need, s.type, s.unit)
  if not s.slots or s.slots == s.need or s.slots == 1 then return ("%s %s needed"):format(what, be(s.need)) end
  local total = s.unit and texts.number(s.need) .. " " .. s.unit or texts.number(s.need)
  return ("%s %s need %s"):format(texts.number(s.slots), ("slots of " .. M.amount(s.need // s.slots, s.type, s.unit)), total)
end

local function supply(s)
  local have = texts.number(s.have)
  if s.ideal then return have .. (s.constrained and "" or " in all") end
  if s.constrained then return have .. " free" end -- the total counts what the constraint excludes
  return ("%s of %s free"):format(have, texts.number(s.total))
end

-- Describes vertices that are free now, but not for the duration.
local function soon(s)
  if not s.reserved then return "" end
  return (" for that long, and %s free now but reserved too soon"):format(texts.number(s.reserved))
end

local show_ranks = false -- within with_ranks

-- Returns the path of a vertex, with the rank where ranks are shown.
local function path_of(v) return show_ranks and v.rank and ("%s (rank %d)"):format(v.path, v.rank) or v.path end

--- Calls f(...); the texts that it makes by this module name ranks with paths, as hosts may have several ranks. Returns its results.
function M.with_ranks(f, ...)
  show_ranks = true
  local results = table.pack(pcall(f, ...))
  show_ranks = false
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

-- Whether a list of resources is a single resource without children.
local function is_plain(list)
  if #list ~= 1 then return false end
  local r = list[1]
  if r.with == nil then return true end
  return minimum(r.count or 1) == 1 and is_plain(r.with) or r.type == "slot" and is_plain(r.with)
end

local function compound(s)
  local fits = s.have == 0 and "Not one of" or ("At most %s of"):format(texts.number(s.have))
  local into = s.ideal and "all there is" or "what is free"
  local where = s.level and (" in one %s%s"):format(s.level, s.best and "; the best is " .. path_of(s.best) or "") or ""
  return ("Needed: %s. %s %s %s into %s%s%s."):format(describe(s.part), fits, M.amount(s.need, s.type, s.unit),
    s.have <= 1 and "fits" or "fit", into, scope(s), where)
end

-- Names the units of a subsystem that are short: "switch3 has 40 of 400 left; nothing else is short."
local function cut(s)
  local list = {}
  for i, limit in ipairs(s.flow.cut) do
    local left, size = texts.number(limit.left), texts.number(limit.size)
    list[i] = limit.left == limit.size and ("%s has %s in all"):format(limit.name, left)
      or ("%s has %s of %s left"):format(limit.name, left, size)
  end
  if #list == 0 then return ("Nothing of %s gets there."):format(s.flow.subsystem) end
  return join(list, FEW) .. (s.flow.only and "; nothing else is short." or ".")
end

local function flow(s)
  local short = ("Needed: %s."):format(describe(s.part))
  if s.type == "slot" and s.need > 1 then
    short = ("%s At most %s of %s %s."):format(short, texts.number(s.have), M.amount(s.need, s.type), s.have == 1 and "fits" or "fit")
  end
  return short .. " " .. cut(s)
end

--- The shortage of a report as a sentence.
function M.shortage(s, where)
  if s.flow then return flow(s) end
  if not s.type then
    local place = s.level and ("No single %s has"):format(s.level) or "Nowhere are"
    return ("%s %s%s together%s."):format(place, describe(s.part), scope(s), s.ideal and "" or " free")
  end
  if s.type == "slot" or (not is_plain(s.part) and not s.slots) then return compound(s) end
  local level = s.level and " in one " .. s.level or ""
  if s.level and s.best then
    return ("%s%s; the best, %s, has %s%s."):format(needed(s), level, path_of(s.best), supply(s), scope(s))
  elseif s.level then
    return ("%s%s, and there is no %s."):format(needed(s), level, s.level)
  elseif s.total == 0 and s.have == 0 then
    local near = s.near and (' (did you mean "%s"?)'):format(s.near) or ""
    local known = s.known and (" The types here are %s."):format(join(s.known, MANY)) or ""
    if s.hierarchies then
      known = ("%s The %s other than containment %s %s."):format(known, #s.hierarchies == 1 and "hierarchy" or "hierarchies",
        be(#s.hierarchies), join(s.hierarchies, MANY))
    end
    return ("%s; there is no %s %s%s.%s"):format(needed(s), s.type, where and "in " .. where.path or "here", near, known)
  end
  return ("%s; %s has %s%s%s."):format(needed(s), where and where.path or "the machine", supply(s), soon(s), scope(s))
end

-- ---- ways ----------------------------------------------------------------------------------------------------

local PARTS = {
  prune = "its prune takes the rest away", evaluate = "its evaluate refuses them",
  exclusive = "it gives some types as a whole only", locality = "it wants a slot within one vertex",
  select = "it wants one group for all that a job takes",
}

local KINDS = {}

-- The obstacles of a list with a field as words: "jobs 3 and 5". nil: there are none. Also whether it is one.
local function named(list, field)
  local ids = {}
  for _, ob in ipairs(list) do ids[#ids + 1] = ob[field] and ("%d"):format(ob[field]) or nil end
  if #ids > 0 then return ("%s%s %s"):format(field, #ids == 1 and "" or "s", join(ids, FEW)), #ids == 1 end
end

-- "job 3 has ended and stage 1 is dropped or has expired"
local function over(list)
  local jobs, one_job = named(list, "job")
  local stages, one_stage = named(list, "stage")
  jobs = jobs and ("%s %s ended"):format(jobs, one_job and "has" or "have")
  stages = stages and ("%s %s dropped or %s expired"):format(stages, be(one_stage and 1 or 2), one_stage and "has" or "have")
  return jobs and stages and jobs .. " and " .. stages or jobs or stages
end

-- "the reservation of job 3 (from 60 s on)"
local function reservations(list)
  local jobs, one = named(list, "job")
  if not jobs then return nil end
  local first = math.huge
  for _, ob in ipairs(list) do first = math.min(first, ob.start) end
  local words = one and "the reservation of %s (from %s on)" or "the reservations of %s (the first from %s on)"
  return words:format(jobs, moment(first))
end

-- A statement about now: the ends of the jobs would not always make it true, as other jobs have reservations.
function KINDS.job(list)
  local words = {}
  words[1] = named(tables.filter(list, function(ob) return not ob.start end), "job")
  words[#words + 1] = named(list, "stage")
  words[#words + 1] = reservations(tables.filter(list, function(ob) return ob.start and not ob.stage end))
  return "without " .. join(words)
end

function KINDS.state(list)
  local names = tables.map(list, function(ob) return ("%s (%s)"):format(path_of(ob.vertex), ob.state) end)
  return ("once %s %s up"):format(join(names, FEW), be(#list))
end

function KINDS.constraint(list)
  return "without the constraint " .. join(tables.column(list, "text"), FEW)
end

function KINDS.policy(list, report)
  local names = tables.map(list, function(ob) return PARTS[ob.part] end)
  return ("under a policy other than %s (%s)"):format(report.policy or "this one", join(names))
end

--- A way as words: "once /node5 (down) is up, and without jobs 3 and 5".
function M.way(way, report)
  local by_kind, words = {}, {}
  for _, ob in ipairs(way) do
    tables.push(by_kind, ob.kind, ob)
  end
  for _, kind in ipairs { "policy", "constraint", "state", "job" } do
    if by_kind[kind] then words[#words + 1] = KINDS[kind](by_kind[kind], report) end
  end
  return table.concat(words, ", and ") .. (way.cut and " (perhaps fewer will do)" or "")
end

-- ---- levels --------------------------------------------------------------------------------------------------

local CAUSES = {
  constraint = "outside the constraint", state = "not up", policy = "left out by the policy", exclusivity = "in use",
  time = "reserved too soon",
}

local function cause(c)
  local words = CAUSES[c.by]
  if not words then
    words = ("with too few %s%s"):format(M.plural(c.type), c.of == "free" and " free" or "")
    if MASS[c.type] then words = words:gsub("too few", "too little") end
  end
  return texts.number(c.count) .. " " .. words
end

-- A line of the table of levels: type, vertices visited, causes.
local function level_line(level, width, columns)
  local words = tables.map(level.causes, cause)
  if level.visited == 0 then
    words[1] = "none here"
  elseif level.left > 0 or #words == 0 then
    words[#words + 1] = texts.number(level.left) .. " left"
  end
  local text = ("  %-" .. width .. "s %9s  %s"):format(level.type, texts.number(level.visited), table.concat(words, ", "))
  if columns and utf8.len(text) and utf8.len(text) > columns then text = text:sub(1, columns - 3) .. "..." end
  return text
end

-- The table of levels; levels with equal text share a line.
local function level_lines(levels, columns)
  local lines, seen, width = {}, {}, 4
  for _, level in ipairs(levels) do width = math.max(width, #level.type) end
  for _, level in ipairs(levels) do
    local line = (#level.causes > 0 or level.visited == 0) and level_line(level, width, columns)
    if line and not seen[line] then lines[#lines + 1] = line end
    seen[line or ""] = true
  end
  return lines
end

-- ---- the whole -----------------------------------------------------------------------------------------------

local HEADS = {
  fits = "fits", busy = "busy: it fits once jobs have ended", rejected = "rejected",
  blocked = "blocked: it could fit, but not just by waiting for jobs", infeasible = "infeasible: never on this machine as it is",
}

-- Whether the request is infeasible because of the policy, not because of the machine.
local function never_by_policy(report)
  for _, way in ipairs(report.verdict == "infeasible" and report.ways or {}) do
    for _, obstacle in ipairs(way) do
      if obstacle.kind == "policy" then return true end
    end
  end
  return false
end

--- The verdict in a few words.
function M.headline(report)
  if report.fits and report.start then
    local several = report.one_of
    if several then return ("one %s of %s fits there"):format(several.type, texts.number(several.count)) end
    return report.where and "fits there" or report.start > 0 and "fits at " .. moment(report.start) or "fits now"
  end
  if never_by_policy(report) then return ("infeasible: never under the policy %s"):format(report.policy or "that is in use") end
  return HEADS[report.verdict]
end

-- Breaks a text into lines, or leaves the text in one without `columns`; further lines have an indent.
local function wrap(text, columns, indent)
  return columns and texts.wrapped(text, columns, "", indent) or { text }
end

-- The vertices picked at the earliest start, the first few by name.
local function places(report)
  local names = {}
  for i, pick in ipairs(report.vertices) do
    local part = pick.amount > 0 and not pick.exclusive and (" (%s)"):format(texts.number(pick.amount)) or ""
    names[i] = path_of(pick.vertex) .. part
  end
  return join(names, FEW)
end

local function start_line(report)
  if report.verdict ~= "busy" then return nil end
  if not report.start and report.why then return nil end -- the validity of the resources ends first
  if not report.start then return "No start time can be predicted: jobs in the way have no end time." end
  local first = report.after and #report.after > 0 and ", once " .. over(report.after) or ""
  return ("Earliest start: %s%s, on %s."):format(moment(report.start), first, places(report))
end

-- Whether all obstacles of a way are jobs.
local function is_of_jobs(way)
  return #way > 0 and tables.all(way, function(ob) return ob.kind == "job" end)
end

-- Whether a way names the jobs that the start waits for, all of which run.
local function same_jobs(way, after)
  if #way ~= #(after or {}) or tables.any(way, function(ob) return ob.start end) then return false end
  local function id_of(ob) return ob.job or -ob.stage end
  local ids = tables.set(tables.map(after, id_of))
  return tables.all(way, function(ob) return ids[id_of(ob)] end)
end

-- The ways that the earliest start does not name already, as words.
local function ways_in_words(report)
  local words, when = {}, report.at and ("at %s "):format(moment(report.at)) or "now "
  for _, way in ipairs(report.ways or {}) do
    local jobs = is_of_jobs(way)
    if not (jobs and report.start and same_jobs(way, report.after)) then
      words[#words + 1] = (jobs and when or "") .. M.way(way, report)
    end
  end
  return words
end

local function add_ways(lines, report, columns)
  local ways = report.ways or {}
  if report.verdict == "infeasible" and #ways == 0 and (report.missing or report.shortage and report.shortage.known) then return end
  if report.verdict == "infeasible" and #ways == 0 then
    lines[#lines + 1] = report.where and "Nothing that could change would make room for it there."
      or "Nothing that could change would help: the machine is too small for it."
  end
  if report.verdict == "blocked" and #ways == 0 then lines[#lines + 1] = "What would help could not be found out." end
  ways = ways_in_words(report)
  for i, way in ipairs(ways) do
    local head = i == 1 and "It fits " or "  or "
    for _, line in ipairs(wrap(head .. way .. (i == #ways and "." or ";"), columns, "  ")) do
      lines[#lines + 1] = (line:gsub("^or ", "  or "))
    end
  end
end

-- A sentence for a question about a vertex inside of a requested vertex.
local function narrowed(report)
  if not report.asked or report.asked == report.where then return nil end
  return ("About %s, the %s that %s is in."):format(report.where.path, report.where.type, report.asked.path)
end

-- A sentence for a question about one vertex, where several of its type are requested.
local function one_of_several(report)
  local several = report.one_of
  if not several then return nil end
  return ("This is about one %s; the job wants %s: the question without a vertex is about all."):format(several.type,
    M.amount(several.count, several.type))
end

-- The assumptions as a sentence: "Assumed: job 3 has ended."
local function assumption(report)
  if not report.assumed or #report.assumed == 0 then return nil end
  return "Assumed: " .. join(report.assumed, FEW) .. "."
end

local function sentence(text) return text:sub(1, 1):upper() .. text:sub(2) end

local function missing(property)
  local near = property.near and (' (did you mean "%s"?)'):format(property.near) or ""
  local known = #property.known > 0 and "the properties here are " .. join(property.known, MANY) or "there are no properties here"
  return ('No vertex has the property "%s"%s; %s.'):format(property.name, near, known)
end

local ALTERNATIVES = "Shortages are not listed for slots that are alternatives; everything else is."

local function alternative(a)
  return a and ("This is about alternative %d of %d, the one that comes nearest: %s."):format(a.number, a.of, a.text)
end

local function body(report, columns)
  local lines = {}
  local function add(text)
    for _, line in ipairs(text and wrap(text, columns, "  ") or {}) do lines[#lines + 1] = line end
  end
  add(assumption(report))
  add(alternative(report.alternative))
  add(narrowed(report))
  add(one_of_several(report))
  if report.fits then add(("It gets %s."):format(places(report))) end
  if report.why then add(sentence(report.why) .. ".") end
  if report.shortage then add(sentence(M.shortage(report.shortage, report.where))) end
  for _, property in ipairs(report.missing or {}) do add(missing(property)) end
  if report.alternatives and not report.fits then add(ALTERNATIVES) end
  add_ways(lines, report, columns)
  add(start_line(report))
  if report.cut then add "The search for causes ended early, at its limit of matches: there may be more to say." end
  return lines
end

--- The main reason in a report as one sentence without a final period: what the policy says, unknown properties,
--- the shortage, or else the verdict.
function M.reason(report)
  local property, shortage = report.missing and report.missing[1], report.shortage
  local text = report.why or property and missing(property) or shortage and M.shortage(shortage, report.where) or M.headline(report)
  return (text:gsub("%.$", ""))
end

--- A report as text, at most a screenful of lines: the verdict, need against have, the ways, the earliest start, and
--- the fate of the vertices of each type. `columns`: width at which lines are broken; nil: lines are not broken.
function M.text(report, columns)
  local lines = { M.headline(report) }
  for _, line in ipairs(body(report, columns)) do lines[#lines + 1] = line end
  local levels = report.fits and {} or level_lines(report.levels or {}, columns)
  if #levels > 0 then lines[#lines + 1] = "Looked at, by type:" end
  local max_levels = math.max(3, LINES - #lines)
  for i, line in ipairs(levels) do
    if i == max_levels and #levels > max_levels then
      lines[#lines + 1] = ("  ... and %d types more"):format(#levels - max_levels + 1)
      break
    end
    lines[#lines + 1] = line
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
