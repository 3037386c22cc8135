--- bench.lua - tests of a policy: conformance to the contract, vertex fields read, cost. Behind `weir policy check`,
--- `bench` and `profile`.

local core = require "weir.core"
local lines_of = require "weir.policy.lines"
local machines = require "weir.policy.machines"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local weir = require "weir"

local M = {}

-- ---- the contract, on small machines or on a given one --------------------------------------------------------

local REQUESTS = {
  "slot=1/node", "slot=2/node/core=2", "slot=3/core=1", "slot=1/[core=2;gpu]", "node/slot=2/core=2", "rack/slot=2/node",
  "slot=1/socket", "slot=2/node/[core=4;gpu=1]", "slot=4/node", "slot=1/memory=8{unit: GB}", "slot=12/node", "slot=1/node",
}

-- A loop without end ends after a tenth of a second.
local BUDGET = { instructions = 5000000 }

-- The picks of an allocation as text, equal for equal picks.
local function choice(a)
  if type(a) ~= "userdata" then return tostring(a) end
  local list = {}
  for i, pick in ipairs(a:vertices()) do
    list[i] = ("%s:%d%s"):format(pick.vertex.path, pick.amount, pick.exclusive and "!" or "")
  end
  table.sort(list)
  return table.concat(list, " ")
end

-- Matches REQUESTS on a machine until note returns true after a match. On the small machines the last request fails, as
-- they are full. Returns the picks or codes, and in the field `state` the state kept by the policy; or nil, message.
local function play(x, machine, note)
  local engine, why = weir.engine { resources = machine(), policy = x }
  if not engine then return nil, why end
  local answers, g = {}, engine:resources()
  for i, text in ipairs(REQUESTS) do
    local a, message, code = engine:match(text, { mode = i % 4 == 0 and "preview" or "now" })
    answers[i] = a and choice(a) or code
    if note(text, a, message, code, engine:stats()) then break end
    local sound, fault = g:check()
    if not sound then return nil, "the books are broken after " .. text .. ": " .. fault end
    if a and a.id > 0 and i % 3 == 0 then engine:release(a.id) end
  end
  answers.state = engine:state()
  return answers
end

local function feasible(x, machine, text)
  local engine <const> = assert(weir.engine { resources = machine(), policy = x })
  local a, why, code = engine:match(text, { mode = "feasible" })
  return a and true or false, why, code
end

-- Records requests made infeasible by the policy although `admit` did not reject them; an error if the policy makes all feasible
-- requests infeasible.
local function check_feasibility(x, machine, say)
  local refused, fit = {}, 0
  for _, text in ipairs(REQUESTS) do
    local here, _, code = feasible(x, machine, text)
    local fits = feasible("first", machine, text)
    fit = fits and fit + 1 or fit
    if fits and not here and code ~= "rejected" then refused[#refused + 1] = { text, code } end
  end
  if fit > 0 and #refused == fit then
    return say("error", "it leaves nothing: no request can run that could run without this policy")
  end
  for _, row in ipairs(refused) do say("note", ("%s could run here but for this policy (%s)"):format(row[1], row[2])) end
end

-- Returns the types that a policy names: in its fields, and in its calls of below and ancestor.
local function types_named(p)
  local list = tables.append({}, p.types)
  for _, method in ipairs { "below", "ancestor" } do
    for name in (p.source or ""):gmatch(":%s*" .. method .. "%s*%(?%s*[\"']([%w_-]+)[\"']") do list[#list + 1] = name end
  end
  return list
end

-- Notes properties that the policy names and no vertex of the machine has.
local function check_properties(p, g, say)
  if #p.properties == 0 then return end
  local there = {}
  for v in g:walk {} do
    for name in pairs(v.properties) do there[name] = true end
  end
  for _, name in ipairs(p.properties) do
    if not there[name] then
      say("note", ("it names the property '%s', which no vertex of the machine has%s"):format(name,
        suggest.hint(name, tables.keys(there))))
    end
  end
end

-- Notes types that the policy names and the machine lacks: on a machine of the user's all, on the small ones misspelt ones.
local function check_types(p, g, own, say)
  local types, seen = g:types(), {}
  for _, name in ipairs(types) do seen[name] = true end
  for _, name in ipairs(types_named(p)) do
    local hint = seen[name] and "" or suggest.hint(name, types)
    if not seen[name] and (own or hint ~= "") then
      say("note", ("it names the type '%s', of which the machine has no vertex%s"):format(name, hint))
    end
    seen[name] = true
  end
end

local SLOW = 50 -- microseconds a call

local function check_cost(p, failed, say)
  local profile, filters = p:profile(), 0
  for name, hook in pairs(profile.hooks) do
    if name == "prune" or name == "evaluate" then filters = filters + hook.calls end
    local each = hook.calls > 0 and hook.seconds / hook.calls * 1e6 or 0
    if each > SLOW and not failed and (name == "prune" or name == "evaluate") then
      say("note", ("%s takes %.0f us a call; it is called %s"):format(name, each, name == "evaluate" and not p.uncached
        and "again where something that it read has changed" or "for every candidate"))
    end
  end
  -- why nothing is remembered; an error is reported as an error
  local function reason(why) return why and not why:find("^it raises an error") and why end
  if reason(p.uncached) then
    say("note", ("scores are not remembered: %s; evaluate is called for every candidate of every match"):format(p.uncached))
  end
  if reason(p.uncached_prune) then
    say("note", ("answers of prune are not remembered: %s; prune is called for every vertex on the way of every match")
      :format(p.uncached_prune))
  end
  for field, n in pairs(profile.reads or {}) do
    if (field == "free" or field == "size") and n > 50 and n >= filters and (p.uncached or profile.hooks.prune) then
      say("note", ('%s was read %d times: fields = {"%s"} passes it as an argument'):format(field, n, field))
    end
  end
  return profile
end

local UNREAD = { io = true, limit = true, unknown = true }

-- Returns the function note of play(), which counts in the report, and a function that adds the failures to the report:
-- failures that differ in the request or the vertex only are one error.
local function notes_of(report, p, say)
  local list, by_text = {}, {}
  local function note(request, a, message, code, stats)
    report[a and "matched" or "refused"] = report[a and "matched" or "refused"] + 1
    report.visited, report.callbacks = report.visited + stats.visited, report.callbacks + stats.callbacks
    report.rejected = report.rejected + (code == "rejected" and 1 or 0)
    if code ~= "policy" then return false end
    local same = message:gsub(" for /%S+", "")
    local failure = by_text[same]
    if not failure then
      failure = { request = request, message = message, times = 0, trace = p.traceback }
      list[#list + 1], by_text[same] = failure, failure
    end
    failure.times = failure.times + 1
    return message:find("it used up its budget", 1, true) or message:find("it took more than", 1, true)
  end
  local function tell()
    for _, failure in ipairs(list) do
      local more = failure.times > 1 and (" (%d times in all)"):format(failure.times) or ""
      local located = failure.trace and (failure.trace:find "\n" or failure.trace:find(", for /", 1, true))
      local trace = located and "\n" .. failure.trace or ""
      say("error", ("%s: %s%s%s"):format(failure.request, failure.message, more, trace))
    end
  end
  return note, tell
end

-- Tries the policy on each machine. Raises no error; says what is wrong.
local function try_all(p, tried, note, say)
  local first = {}
  for i, machine in ipairs(tried) do
    local answers, fault = play(p, machine, note)
    if not answers then return nil, say("error", fault) end
    first[i] = answers
  end
  return first
end

-- Says where the policy chooses differently when loaded again.
local function check_again(x, tried, first, say)
  for k, machine in ipairs(tried) do
    local again = assert(play(assert(weir.policy(x, BUDGET)), machine, function() end))
    for i, text in ipairs(REQUESTS) do
      if first[k][i] ~= again[i] then
        say("error", ("%s: chose differently when it was loaded again: %s, then %s"):format(text, first[k][i], again[i]))
      end
    end
  end
end

--- Loads a policy and tests the policy on two small machines, or on duplicates of a graph. Returns {policy =, profile =,
--- errors = {text}, notes = {text}, matched =, refused =}; with unread = true where the policy does not exist or cannot
--- be read.
function M.check(x, graph)
  local report = { errors = {}, notes = {}, matched = 0, refused = 0, rejected = 0, visited = 0, callbacks = 0 }
  local function say(kind, text) table.insert(report[kind == "note" and "notes" or "errors"], text) end
  local p, why, unread = weir.policy(x, not graph and BUDGET or nil)
  if not p then
    say("error", why)
    report.unread = UNREAD[unread]
    return report
  end
  report.policy = p
  p:profile(true)
  local tried = graph and { function() return assert(graph:dup()) end } or { machines.plain, machines.full }
  local note, tell = notes_of(report, p, say)
  local first = try_all(p, tried, note, say)
  report.state = first and first[1].state
  check_types(p, tried[#tried](), graph, say)
  if graph then check_properties(p, graph, say) end
  tell()
  if report.rejected > 0 and report.rejected == report.refused + report.matched then
    say("note", ("admit rejects all %d requests"):format(report.rejected))
  end
  report.profile = check_cost(p, #report.errors > 0, say)
  p:profile(false)
  if first and #report.errors == 0 then
    check_again(x, tried, first, say)
    check_feasibility(x, tried[1], say)
  end
  return report
end

-- ---- what it costs ------------------------------------------------------------------------------------------

local BENCH_MACHINE = "cluster:1 rack:16 node:64 socket:2 core:16 gpu:2 memory:1(size=128,unit=GB)"

-- A graph with every third node in use, so that free nodes are scattered.
local function half_used()
  local g = assert(weir.synthetic(BENCH_MACHINE))
  local engine = assert(weir.engine { resources = g, policy = "low" })
  for v in g:walk { type = "node" } do
    v.properties.perf_class = tostring(v.id % 4 + 1)
    if v.id % 3 == 0 then v:allocate { job = v.id + 1, amount = 1 } end
  end
  return engine
end

local BENCH = { { "one node", "slot=1/node" }, { "8 nodes", "slot=8/node" }, { "4 cores", "slot=1/core=4" } }

--- Measures matches under a policy on 1,024 nodes, a third in use. Returns a list of {name, visited, callbacks, us}.
function M.bench(x, rounds)
  local engine = half_used()
  local done, why, code = engine:use(x)
  if not done then return nil, why, code end
  local rows = {}
  for i, case in ipairs(BENCH) do
    local request = assert(weir.request(case[2]))
    local warm, message, failed = engine:match(request, { mode = "preview" })
    if not warm then return nil, message, failed end
    local stats, begin = engine:stats(), core.clock()
    for _ = 1, rounds do
      warm, message, failed = engine:match(request, { mode = "preview" })
      if not warm then return nil, message, failed end
    end
    rows[i] = {
      name = case[1], visited = stats.visited, callbacks = stats.callbacks, us = (core.clock() - begin) / rounds * 1e6,
    }
  end
  return rows
end

-- ---- where the time is spent ------------------------------------------------------------------------------------

--- Matches requests under a policy with the profiler on. Returns {matches =, seconds =, lua =, hooks =, lines =
--- {{line, share, text}}, reads =, failures = {...}}.
function M.profile(resources, p, requests)
  local engine, why, code = weir.engine { resources = resources, policy = p }
  if not engine then return nil, why, code end
  p:profile(true)
  local failures, begin = {}, core.clock()
  for _, job in ipairs(requests) do
    local a, message = engine:match(job.request)
    if not a then failures[#failures + 1] = job.name .. ": " .. message end
  end
  local seconds, profile = core.clock() - begin, p:profile()
  p:profile(false)
  local report = {
    matches = #requests, seconds = seconds, lua = 0, hooks = profile.hooks, reads = profile.reads, failures = failures,
    lines = lines_of(p.source, profile),
  }
  for _, hook in pairs(profile.hooks) do report.lua = report.lua + hook.seconds end
  return report
end

return M
