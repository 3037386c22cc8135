-- policy.lua - the cost of policies in Lua, printed, and returned as JSON when run by spec/bench/run.lua with the
-- argument "json". Ratios are of a single run; times are the best of several rounds.
local core = require "weir.core"
local weir = require "weir"

local CANDIDATES, ROUNDS = 20000, 9

local function best(f)
  local least = math.huge
  for _ = 1, ROUNDS do
    local begin = core.clock()
    f()
    least = math.min(least, core.clock() - begin)
  end
  return least * 1e9
end

-- An empty call of a Lua function from C, in nanoseconds.
local function empty_call()
  local n = 1000000
  return best(function() core.calls(function() end, n) end) / n
end

local g = weir.synthetic(("cluster:1 node:%d core:2"):format(CANDIDATES))
local one = weir.request "slot=1/node"

-- Nanoseconds of a match for a node.
local function match_cost(policy)
  local engine = assert(core.engine { resources = g, policy = policy })
  local opts = { mode = "preview" }
  assert(engine:match(one, opts))
  return best(function() engine:match(one, opts) end), engine:stats()
end

local function sandboxed(text) return assert(core.policy_source(text)) end
local function trusted(text) return assert(load(text))() end

local PASSED = 'return {fields={"id","free"}, evaluate=function(_, _, id, free) return id + free end}'
local ASKED = "return {evaluate=function(v) return v.id + v.size end}"
-- Nanoseconds of a filter call, arguments included, as the engine measures around all calls.
local function filter_cost(text)
  local policy = assert(core.policy_table(trusted(text)))
  local engine = assert(core.engine { resources = g, policy = policy })
  local least = math.huge
  for _ = 1, ROUNDS do
    policy:profile(true)
    assert(engine:match(one, { mode = "preview" }))
    local hook = policy:profile().hooks.evaluate
    least = math.min(least, hook.seconds / hook.calls)
  end
  return least * 1e9
end

-- Many static matches, in nanoseconds each.
local function static_cost(policy)
  local engine = assert(core.engine { resources = g, policy = policy })
  local opts = { mode = "preview", stats = false }
  assert(engine:match(one, opts))
  return best(function() for _ = 1, 2000 do engine:match(one, opts) end end) / 2000
end

local function garbage(text)
  local engine = assert(core.engine { resources = g, policy = trusted(text) })
  local opts = { mode = "preview" }
  engine:match(one, opts)
  collectgarbage "collect"
  collectgarbage "stop"
  local before = collectgarbage "count"
  engine:match(one, opts)
  local bytes = (collectgarbage "count" - before) * 1024
  collectgarbage "restart"
  return bytes
end

local report = {
  empty_call_ns = empty_call(), passed_ns = filter_cost(PASSED), asked_ns = filter_cost(ASKED),
  fields_ns = static_cost(sandboxed 'return {order="id"}'),
  function_ns = static_cost(sandboxed "return {order=function(v) return v.id end}"),
  sandboxed_ns = match_cost(sandboxed(PASSED)), trusted_ns = match_cost(trusted(PASSED)),
  garbage_bytes_20000_candidates = garbage(PASSED),
}

if arg and arg[1] == "json" then return print(core.json_encode(report)) end
print(("an empty call from C                          %8.1f ns"):format(report.empty_call_ns))
print(("evaluate, two fields passed, a candidate      %8.1f ns   %.2f times that"):format(report.passed_ns,
  report.passed_ns / report.empty_call_ns))
print(("evaluate, two fields asked for, a candidate   %8.1f ns   %.2f"):format(report.asked_ns,
  report.asked_ns / report.empty_call_ns))
print(("a match, order compiled (fields)              %8.1f ns"):format(report.fields_ns))
print(("a match, order in Lua (a function)            %8.1f ns   %.2f times that"):format(report.function_ns,
  report.function_ns / report.fields_ns))
print(("a match over %d candidates, in the sandbox %8.0f ns, trusted %.0f ns, ratio %.2f"):format(CANDIDATES,
  report.sandboxed_ns, report.trusted_ns, report.sandboxed_ns / report.trusted_ns))
print(("garbage of that match                         %8.0f bytes"):format(report.garbage_bytes_20000_candidates))
