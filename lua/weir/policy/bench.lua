--- bench.lua - tests of a policy: conformance to the contract, vertex fields read, cost. Behind `weir policy check`,
--- `bench` and `profile`.

local core = require "weir.core"
local weir = require "weir"

local M = {}

-- ---- the contract, on a small machine -----------------------------------------------------------------------

local MACHINE = "cluster:1 rack:3 node:4 socket:2 core:4 gpu:1 memory:1(size=16,unit=GB)"

local REQUESTS = {
  "slot=1/node", "slot=2/node/core=2", "slot=3/core=1", "slot=1/[core=2;gpu]", "node/slot=2/core=2", "rack/slot=2/node",
  "slot=1/socket", "slot=2/node/[core=4;gpu=1]", "slot=4/node", "slot=1/memory=8{unit: GB}", "slot=12/node", "slot=1/node",
}

local function small_machine()
  local g = assert(weir.synthetic(MACHINE))
  for i, v in ipairs(g:find "type=node") do
    v.properties.perf_class = tostring(i % 3 + 1)
    if i % 5 == 0 then v.state = "down" end
    if i % 4 == 0 then v.tags.maintenance = "" end
  end
  return g
end

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

-- Matches REQUESTS on a small machine, calling note after each match. The last request always fails, as the machine is
-- full. Returns the picks or codes; or nil, message.
local function play(x, note)
  local engine, why = weir.engine { resources = small_machine(), policy = x }
  if not engine then return nil, why end
  local answers, g = {}, engine:resources()
  for i, text in ipairs(REQUESTS) do
    local a, message, code = engine:match(text, { mode = i % 4 == 0 and "preview" or "now" })
    answers[i] = a and choice(a) or code
    note(text, a, message, code, engine:stats())
    local sound, fault = g:check()
    if not sound then return nil, "the books are broken after " .. text .. ": " .. fault end
    if a and a.id > 0 and i % 3 == 0 then engine:release(a.id) end
  end
  return answers
end

local function feasible(x, text)
  local engine <const> = assert(weir.engine { resources = small_machine(), policy = x })
  local a, why, code = engine:match(text, { mode = "feasible" })
  return a and true or false, why, code
end

-- Notes the requests made infeasible by the policy without a rejection by `admit`.
local function check_feasibility(x, say)
  for _, text in ipairs(REQUESTS) do
    local here, _, code = feasible(x, text)
    if feasible("first", text) and not here and code ~= "rejected" then
      say("note", ("%s could run here but for this policy (%s)"):format(text, code))
    end
  end
end

local SLOW = 50 -- microseconds a call

local function check_cost(p, say)
  local profile = p:profile()
  for name, hook in pairs(profile.hooks) do
    local each = hook.calls > 0 and hook.seconds / hook.calls * 1e6 or 0
    if each > SLOW and (name == "prune" or name == "evaluate") then
      say("note", ("%s takes %.0f us a call; it is called for every candidate"):format(name, each))
    end
  end
  for field, n in pairs(profile.reads or {}) do
    if (field == "free" or field == "size") and n > 50 then
      say("note", ('%s was read %d times: fields = {"%s"} passes it as an argument'):format(field, n, field))
    end
  end
  return profile
end

local UNREAD = { io = true, limit = true, unknown = true }

--- Loads a policy and tests the policy on a small machine. Returns {policy =, profile =, errors = {text}, notes =
--- {text}, matched =, refused =}; with unread = true where the policy does not exist or cannot be read.
function M.check(x)
  local report = { errors = {}, notes = {}, matched = 0, refused = 0, visited = 0, callbacks = 0 }
  local function say(kind, text) table.insert(report[kind == "note" and "notes" or "errors"], text) end
  local p, why, unread = weir.policy(x)
  if not p then
    say("error", why)
    report.unread = UNREAD[unread]
    return report
  end
  report.policy = p
  p:profile(true)
  local function note(text, a, message, code, stats)
    report[a and "matched" or "refused"] = report[a and "matched" or "refused"] + 1
    report.visited, report.callbacks = report.visited + stats.visited, report.callbacks + stats.callbacks
    if code == "policy" then say("error", ("%s: %s"):format(text, message)) end
  end
  local first, fault = play(p, note)
  report.profile = check_cost(p, say)
  p:profile(false)
  if not first then
    say("error", fault)
    return report
  end
  local again = assert(play(assert(weir.policy(x)), function() end))
  for i, text in ipairs(REQUESTS) do
    if first[i] ~= again[i] then
      say("error", ("%s: chose differently when it was loaded anew: %s, then %s"):format(text, first[i], again[i]))
    end
  end
  check_feasibility(x, say)
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
    for _ = 1, rounds do engine:match(request, { mode = "preview" }) end
    rows[i] = {
      name = case[1], visited = stats.visited, callbacks = stats.callbacks, us = (core.clock() - begin) / rounds * 1e6,
    }
  end
  return rows
end

-- ---- where the time goes ------------------------------------------------------------------------------------

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
    lines = M.lines(p, profile),
  }
  for _, hook in pairs(profile.hooks) do report.lua = report.lua + hook.seconds end
  return report
end

--- The lines of a profile, sorted by share, the largest first: {line =, share =, text =}.
function M.lines(p, profile)
  local texts, list = {}, {}
  for text in (p.source or ""):gmatch "([^\n]*)\n?" do texts[#texts + 1] = text end
  for line, samples in pairs(profile.lines) do
    list[#list + 1] = { line = line, share = samples / math.max(1, profile.samples), text = texts[line] or "" }
  end
  table.sort(list, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.line < b.line
  end)
  return list
end

return M
