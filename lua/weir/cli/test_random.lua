--- weir test --random: generates scenarios until a failure, and prints the smallest scenario with an equal failure.

local out = require "weir.cli.output"
local plans = require "weir.scenario.plan"
local scenario = require "weir.scenario"
local shrink = require "weir.scenario.minimise"

local CHECKS = { "assert.invariants()", "assert.no_standstill()" }

local function check_lines(lines)
  local all = table.move(CHECKS, 1, #CHECKS, 1, {})
  for _, line in ipairs(lines or {}) do
    out.check(load(line, "=--assert", "t"))
    all[#all + 1] = line
  end
  return all
end

local function plan_options(opts)
  return { steps = opts.steps or 30, calm = opts.calm, machine = opts.resources, policy = scenario.defaults.policy,
    queue = scenario.defaults.queue, granularity = scenario.defaults.granularity, checks = check_lines(opts.assert) }
end

local function progress(i, count)
  if not out.is_terminal() or i % 20 ~= 0 and i ~= count then return end
  io.stderr:write(("\r%d of %d%s"):format(i, count, i == count and "\r\27[K" or ""))
end

local function quoted(word) return word:find "^[%w_./:=-]+$" and word or "'" .. word:gsub("'", "'\\''") .. "'" end

-- Returns the command line to reproduce the failure.
local function again(opts, seed)
  local words = { "weir test --random 1 --seed " .. seed }
  for _, name in ipairs { "steps", "resources", "policy", "queue", "granularity" } do
    if opts[name] then words[#words + 1] = ("--%s %s"):format(name, quoted(tostring(opts[name]))) end
  end
  if opts.calm then words[#words + 1] = "--calm" end
  for _, line in ipairs(opts.assert or {}) do words[#words + 1] = "--assert " .. quoted(line) end
  return table.concat(words, " ")
end

local function tell(opts, seed, plan, failure)
  plan, failure = shrink.run(plan, failure, scenario)
  out.write(plans.write(plan, again(opts, seed), ("random scenario %d"):format(seed), failure))
  out.warn(("random scenario %d: %s"):format(seed, failure.text:match "^[^\n]*"))
  return 1
end

return function(opts)
  local given = plan_options(opts)
  local first = opts.seed or 1
  for i = 1, opts.random do
    given.seed = first + i - 1
    local plan = plans.make(given, scenario)
    local failure = plans.play(plan, scenario)
    if failure then return tell(opts, given.seed, plan, failure) end
    progress(i, opts.random)
  end
  out.line(("%d random scenarios hold, from seed %d on (policy %s, queue %s)"):format(opts.random, first, given.policy, given.queue))
end
