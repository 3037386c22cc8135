--- assertions.lua - assertions on scenarios, for luassert. A failed assertion says what was expected and what was
--- found, and shows the machine and the queue at the time.
---
---   assert.running(job, ...)  .done  .failed  .cancelled  .rejected        .submitted: not yet in the queue
---   assert.pending(job [, "reason"])        a word of weir.scenario.expect_explain, or part of the sentence
---   assert.reserved(job [, t])              the job has a reservation (starting at t)
---   assert.placed(job, "node[0-3]")         the job has, or had last, exactly these vertices
---   assert.holds(job, { core = 8 })         the job has so many units
---   assert.starts_at(job, t)  assert.ends_at(job, t)  assert.waited(job, "<=", t)
---   assert.starts_in_order(a, b, ...)       no job starts before its predecessor in the list
---   assert.free(16 [, "core"])
---   assert.utilisation(">", 0.9 [, { type =, from =, to = }])
---   assert.never_over(8, "core" [, { user =, qos =, job =, within = "rack0" }])      "job": jobs at a time
---   assert.invariants()                     the schedules are sound, and agree with an independent log
---   assert.kept_promises()                  no job started later than its first reservation since the machine changed
---   assert.kept_promises { ever = true }    nor than a reservation from before a change of the machine
---   assert.no_standstill()                  no job waits for nothing: with no event left, and enough resources free
---
--- Assertions without a job concern the scenario made last, or the scenario given as the first argument. All can be
--- negated: assert.is_not.running(job).

local blame = require "weir.scenario.error_location"
local instant = require "weir.sim.instant"
local job = require "weir.scenario.job"
local picture = require "weir.scenario.picture"
local reason = require "weir.scenario.expect_explain"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local where = require "weir.machine.vertex_names"

local hinted = false -- luassert names assertions of scenarios that are near to unknown words

local M = {}

local scenario -- the module, set by M.register

local misuse = blame.fail

local function number(t) return t == math.huge and "for ever" or ("%.14g"):format(t) end

-- ---- jobs ---------------------------------------------------------------------------------------------------

local function jobs_in(list, what)
  local handles = job.list(list)
  if not handles or #handles == 0 then misuse("assert.%s: expected a job", what) end
  local _, s = job.of(handles[1])
  s:settle()
  return handles, s
end

local function one_job(x, what)
  local handles, s = jobs_in({ x }, what)
  if #handles ~= 1 then misuse("assert.%s: expected one job", what) end
  return job.of(handles[1]), s
end

-- Returns the result of an assertion: whether it holds, its subject, the expected and the found value, and the
-- scenario.
local function verdict(ok, subject, wanted, found, s) return { ok = ok, subject = subject, wanted = wanted, found = found, s = s } end

local CHECK = {}

-- Returns the verdict on the first of some jobs for which holds(scenario, job) is false, or else on the first job.
local function check_each(list, name, wanted, holds)
  local handles, s = jobs_in(list, name)
  local jobs = tables.map(handles, function(handle) return (job.of(handle)) end)
  local failed = tables.filter(jobs, function(one) return not holds(s, one) end)
  local shown = failed[1] or jobs[1]
  return verdict(not failed[1], job.title(shown), wanted, picture.tell(s, shown), s)
end

for _, state in ipairs { "running", "done", "failed", "cancelled", "rejected", "submitted" } do
  CHECK[state] = function(args)
    return check_each(args, state, "be " .. state, function(_, one) return one.state == state end)
  end
end

-- Splits arguments into jobs and the reason, an optional last argument.
local function split_reason(args)
  local list = table.move(args, 1, args.n, 1, {})
  local why = type(list[#list]) == "string" and table.remove(list) or nil
  return list, why
end

function CHECK.pending(args)
  local list, why = split_reason(args)
  return check_each(list, "pending", "be pending" .. (why and (" (%s)"):format(why) or ""), function(s, one)
    local word, text = reason.of(s.sim, one)
    return one.state == "pending" and (not why or why == word or text ~= nil and text:find(why, 1, true) ~= nil)
  end)
end

function CHECK.reserved(args)
  local one, s = one_job(args[1], "reserved")
  local ok = one.reserved ~= nil and (args[2] == nil or one.reserved == instant.of(args[2]))
  return verdict(ok, job.title(one), "be reserved" .. (args[2] and (" at %s s"):format(number(args[2])) or ""), picture.tell(s, one), s)
end

local function check_time(name, field, wanted)
  CHECK[name] = function(args)
    local one, s = one_job(args[1], name)
    if type(args[2]) ~= "number" then misuse("assert.%s: expected a job and a time", name) end
    local at = one[field]
    local found = at and ("did at %s s"):format(number(at)) or picture.tell(s, one)
    return verdict(at == instant.of(args[2]), job.title(one), ("%s at %s s"):format(wanted, number(args[2])), found, s)
  end
end

check_time("starts_at", "start", "start")
check_time("ends_at", "finish", "end")

local OPERATORS = {
  [">"] = function(a, b) return a > b end, [">="] = function(a, b) return a >= b end, ["<"] = function(a, b) return a < b end,
  ["<="] = function(a, b) return a <= b end, ["=="] = function(a, b) return a == b end, ["~="] = function(a, b) return a ~= b end,
}

local function compare(name, a, operator, b)
  local f = OPERATORS[operator]
  if not f or type(b) ~= "number" then misuse('assert.%s: expected an operator and a number: ">=", 0.9', name) end
  return f(a, b)
end

function CHECK.waited(args)
  local one, s = one_job(args[1], "waited")
  local wait = instant.of((one.start or s.sim.now) - one.submit)
  local ok = compare("waited", wait, args[2], type(args[3]) == "number" and instant.of(args[3]))
  return verdict(ok, job.title(one), ("wait %s %s s"):format(args[2], number(args[3])),
    ("waited %s s%s"):format(number(wait), one.start and "" or " so far"), s)
end

function CHECK.starts_in_order(args)
  local handles, s = jobs_in(args, "starts_in_order")
  local texts, ok, last = {}, true, -math.huge
  for i, handle in ipairs(handles) do
    local one = job.of(handle)
    ok = ok and one.start ~= nil and one.start >= last
    last = one.start or last
    texts[i] = ("%s at %s"):format(one.name or "job " .. one.id, one.start and number(one.start) or "no time yet")
  end
  return verdict(ok, "the jobs", "start in the order given", "start: " .. table.concat(texts, ", "), s)
end

-- ---- resources ----------------------------------------------------------------------------------------------

local function last_record(s, one)
  for i = #s.ledger.records, 1, -1 do
    if s.ledger.records[i].job == one then return s.ledger.records[i] end
  end
end

-- Adds the labels of a pick for some types: of the vertex itself, of a vertex around, or of all vertices inside.
local function add_labels(graph, pick, types, add)
  local v = graph:vertex(pick.path)
  if not v then return end
  for type in pairs(types) do
    local outer = v:ancestor(type)
    if outer then
      add(where.name(outer))
    elseif pick.whole then
      for inner in graph:walk { start = v, type = type } do add(where.name(inner)) end
    end
  end
end

local function labels_of(s, record, types)
  local set, list = {}, {}
  for _, pick in ipairs(record and record.picks or {}) do
    add_labels(s.graph, pick, types, function(label)
      if not set[label] then list[#list + 1] = label end
      set[label] = true
    end)
  end
  return set, list
end

function CHECK.placed(args)
  local one, s = one_job(args[1], "placed")
  local found, why = where.find(s.graph, args[2])
  if not found then misuse("assert.placed: %s", why) end
  local types, wanted, n = {}, {}, 0
  for i, v in ipairs(found) do types[v.type], wanted[i] = true, where.name(v) end
  local set, list = labels_of(s, last_record(s, one), types)
  for _, label in ipairs(wanted) do n = n + (set[label] and 1 or 0) end
  local is = #list > 0 and "is on " .. where.fold(list) or picture.tell(s, one)
  return verdict(n == #wanted and n == #list, job.title(one), "be on " .. where.fold(wanted), is, s)
end

function CHECK.holds(args)
  local one, s = one_job(args[1], "holds")
  if type(args[2]) ~= "table" then misuse("assert.holds: expected a job and units: { core = 8 }") end
  local record, ok, wanted, is = s.ledger.open[one], true, {}, {}
  for i, type in ipairs(tables.keys(args[2])) do
    local has = 0
    for _, pick in ipairs(record and record.picks or {}) do has = has + (pick.units[type] or 0) end
    ok = ok and has == args[2][type]
    wanted[i], is[i] = ("%d %s"):format(args[2][type], type), ("%d %s"):format(has, type)
  end
  return verdict(ok, job.title(one), "hold " .. table.concat(wanted, ", "), "holds " .. table.concat(is, ", "), s)
end

-- ---- the whole ----------------------------------------------------------------------------------------------

-- Returns the scenario given as the first argument, or else made last; and the remaining arguments.
local function scenario_in(args, what)
  local first = 1
  local s = scenario.is(args[1]) and args[1]
  if s then first = 2 end
  s = s or scenario.current
  if not s then misuse("assert.%s: there is no scenario yet", what) end
  s:settle()
  return s, table.unpack(args, first, args.n)
end

function CHECK.free(args)
  local s, count, type = scenario_in(args, "free")
  type = type or s.sim.type
  local is = s:free(type)
  return verdict(is == count, "the machine", ("have %s %s free"):format(count, type), ("has %d"):format(is), s)
end

function CHECK.utilisation(args)
  local s, operator, share, opts = scenario_in(args, "utilisation")
  opts = opts or {}
  local type, from, to = opts.type or s.sim.type, opts.from or s.ledger.began, opts.to or s.sim.now
  local is = s:utilisation(type, from, to)
  local ok = compare("utilisation", is, operator, share)
  return verdict(ok, ("the utilisation of %s from %s to %s s"):format(type, number(from), number(to)),
    ("be %s %s"):format(operator, number(share)), ("is %.4g"):format(is), s)
end

-- Returns a filter in words, such as "what user ann has within rack0".
local function whose(filter)
  local words = {}
  for _, key in ipairs { "user", "qos", "job" } do
    if filter[key] then words[#words + 1] = ("%s %s"):format(key, tostring(filter[key])) end
  end
  local who = #words > 0 and ("what %s has"):format(table.concat(words, ", ")) or "what is in use"
  return who .. (filter.within and (" within %s"):format(tostring(filter.within)) or "")
end

function CHECK.never_over(args)
  local s, limit, type, filter = scenario_in(args, "never_over")
  if math.type(limit) == nil then misuse('assert.never_over: expected a number and a type: 8, "core"') end
  local most, at = s:peak(type, filter)
  type = type or s.sim.type
  return verdict(most <= limit, whose(filter or {}), ("never be over %d %s"):format(limit, type),
    ("was %d %s at %s s"):format(most, type, number(at)), s)
end

local function list_found(list, none, n)
  if #list == 0 then return none end
  local shown = tables.first(list, n or 5)
  if #list > #shown then shown[#shown + 1] = ("and %d more"):format(#list - #shown) end
  return table.concat(shown, "\n  ")
end

function CHECK.invariants(args)
  local s = scenario_in(args, "invariants")
  local found = s:faults()
  return verdict(#found == 0, "the whole", "be sound", list_found(found, "is"), s)
end

function CHECK.kept_promises(args)
  local s, opts = scenario_in(args, "kept_promises")
  local broken = tables.copy(s.ledger.broken)
  if opts and opts.ever then tables.append(broken, s.ledger.late) end
  return verdict(#broken == 0, "each promise", "be kept", list_found(broken, "was"), s)
end

function CHECK.no_standstill(args)
  local s = scenario_in(args, "no_standstill")
  local list = tables.map(s:stranded(), tostring)
  return verdict(#list == 0, "nobody", "wait where there is room and nothing else will happen",
    #list > 0 and "there wait " .. list_found(list) or "nobody does", s)
end

-- ---- telling luassert ---------------------------------------------------------------------------------------

local function message_of(v, positive)
  return ("%s %s to %s, but %s\n\n%s"):format(v.subject, positive and "is" or "is not", v.wanted, v.found, v.s:picture())
end

-- Replaces the arguments, from which luassert takes the message, by a literal text.
local function say(args, text)
  for i = 1, args.n do args[i] = nil end
  args[1], args.n, args.nofmt = text, 1, { true }
end

local function callback(name)
  return function(state, args)
    local v = CHECK[name](args)
    if (not v.ok) == state.mod then say(args, message_of(v, state.mod)) end
    return v.ok
  end
end

-- Whether luassert knows a word, or words joined by _, such as is_not.
local function is_known(namespaces, key)
  if namespaces.assertion[key] or namespaces.modifier[key] then return true end
  for at in key:gmatch "()_" do
    if is_known(namespaces, key:sub(1, at - 1)) and is_known(namespaces, key:sub(at + 1)) then return true end
  end
  return false
end

-- Makes an unknown assertion raise an error that names the nearest assertion of scenarios.
local function hint_names(luassert)
  local has_names, namespaces = pcall(require, "luassert.namespaces")
  local meta = getmetatable(luassert)
  local index = meta.__index
  if not has_names or hinted then return end
  hinted = true
  function meta.__index(self, key)
    local near = type(key) == "string" and not rawget(self, key) and not is_known(namespaces, key)
      and suggest.nearest(key, tables.keys(CHECK))
    if near then blame.fail('there is no assert.%s (did you mean "%s"?)', key, near) end
    return index(self, key)
  end
end

--- Registers all assertions, if luassert is installed. module: weir.scenario.
function M.register(module)
  scenario = module
  local has_say, sayings = pcall(require, "say")
  local has_assert, luassert = pcall(require, "luassert")
  if not (has_say and has_assert) then return end
  sayings:set("weir.scenario", "%s")
  for name in pairs(CHECK) do luassert:register("assertion", name, callback(name), "weir.scenario", "weir.scenario") end
  hint_names(luassert)
end

--- Checks an assertion from a program, as in check("never_over", 8, "core"). Returns whether the assertion holds, and
-- the message if not.
function M.check(name, ...)
  local v = CHECK[name](table.pack(...))
  return v.ok, not v.ok and message_of(v, true) or nil
end

return M
