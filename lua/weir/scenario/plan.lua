--- plan.lua - scenarios as data: generated from a seed, played, and written as a spec.
---
---   { machine = {racks =, nodes =, cores =} or any, policy =, queue =, checks = { "assert.invariants()", ... },
---     overrun =, steps = { { "submit", name =, count =, unit = "node", lasts =, estimate =, user =, priority =,
---                            preemptible =, after = { "afterok", "a" } },
---               { "advance", seconds = }, { "down", at = "node3" }, { "cancel", job = "a" }, ... } }
---
--- A step without meaning when played, such as the cancel of a finished job, is skipped, with step.skipped set.

local random = require "weir.random"
local where = require "weir.machine.vertex_names"

local M = {}

-- ---- steps --------------------------------------------------------------------------------------------------

local DO, TEXT = {}, {}

local function shape_of(step) return ("slot=%d/%s"):format(step.count, step.unit) end

function DO.submit(s, step, jobs)
  local spec = { shape_of(step), name = step.name, lasts = step.lasts, estimate = step.estimate, user = step.user,
    priority = step.priority, preemptible = step.preemptible }
  if step.after and jobs[step.after[2]] then spec[step.after[1]] = jobs[step.after[2]] end
  jobs[step.name] = s:submit(spec)
  return true
end

function TEXT.submit(step, used)
  local words = { ("%q"):format(shape_of(step)), ("lasts = %d"):format(step.lasts) }
  if step.estimate then words[#words + 1] = ("estimate = %d"):format(step.estimate) end
  if step.user then words[#words + 1] = ("user = %q"):format(step.user) end
  if step.priority then words[#words + 1] = ("priority = %d"):format(step.priority) end
  if step.preemptible then words[#words + 1] = ("preemptible = %d"):format(step.preemptible) end
  if step.after and used.made[step.after[2]] then words[#words + 1] = ("%s = %s"):format(step.after[1], step.after[2]) end
  words[#words + 1] = ("name = %q"):format(step.name)
  used.made[step.name] = true
  return ("%ss:submit { %s }"):format(used[step.name] and ("local %s = "):format(step.name) or "", table.concat(words, ", "))
end

function DO.advance(s, step)
  s:advance(step.seconds)
  return true
end

function TEXT.advance(step) return ("s:advance(%d)"):format(step.seconds) end

local function on_resources(name)
  DO[name] = function(s, step)
    if not where.find(s.graph, step.at) then return false end
    s[name](s, step.at)
    return true
  end
  TEXT[name] = function(step) return ("s:%s %q"):format(name, step.at) end
end

for _, name in ipairs { "down", "drain", "up" } do on_resources(name) end

DO.crash = function(s, step)
  if not where.find(s.graph, step.at) then return false end
  s:down(step.at, step.fate)
  return true
end

function TEXT.crash(step) return ("s:down(%q, %q)"):format(step.at, step.fate) end

local function on_job(name, states, value)
  DO[name] = function(s, step, jobs)
    local job = jobs[step.job]
    if not job or not states[job.state] then return false end
    s[name](s, job, value and value(step))
    return true
  end
  TEXT[name] = function(step) return ("s:%s(%s%s)"):format(name, step.job, value and (", %q"):format(value(step)) or "") end
end

on_job("cancel", { pending = true, running = true })
on_job("fail", { running = true })
on_job("priority", { pending = true }, function(step) return step.priority end)
on_job("grow", { running = true }, shape_of)

-- ---- generation ---------------------------------------------------------------------------------------------

local function name_of(n)
  local letter = string.char(97 + (n - 1) % 26)
  return n <= 26 and letter or letter .. (n - 1) // 26
end

-- Chooses unit and count of a submit: half of all jobs request nodes, and half at most half of the machine.
local function fill(r, step, size)
  step.unit = size.total.node and r(2) == 1 and "node" or r(size.types)
  local total = size.total[step.unit] or 1
  step.count = r(1, math.max(1, r(2) == 1 and total or total // 2))
  return step
end

local function submit(r, plan, size)
  local step = fill(r, { "submit", name = name_of(#plan.names + 1), lasts = r { 1, 5, 10, 10, 20, 30, 50, 100 } }, size)
  local longer = r { 0, 0, 1, 2, 5, not plan.calm and -1 or 0 }
  if longer ~= 0 then step.estimate = longer > 0 and step.lasts * (longer + 1) or math.max(1, step.lasts // 2) end
  if r(3) == 1 then step.user = r { "ann", "bob", "cid" } end
  if r(4) == 1 then step.priority = r(0, 9) end
  if r(5) == 1 then step.preemptible = r { 0, 10 } end
  if r(8) == 1 and #plan.names > 0 then step.after = { r { "after", "afterany", "afterok", "afternotok" }, r(plan.names) } end
  plan.names[#plan.names + 1] = step.name
  return step
end

local function disturb(r, plan, size)
  local what = r(plan.calm and { "cancel" } or { "cancel", "fail", "priority", "grow", "down", "crash", "drain", "up", "up" })
  if what == "down" or what == "drain" or what == "up" or what == "crash" then
    if #size.names == 0 then return { "advance", seconds = 1 } end
    if what == "crash" then return { what, at = r(size.names), fate = r { "fail", "requeue" } } end
    return { what, at = r(size.names) }
  end
  local step = { what, job = r(plan.names) }
  if what == "priority" then step.priority = r(0, 9) end
  return what == "grow" and fill(r, step, size) or step
end

-- Returns the total of each type and the names of the nodes, as limits of requests.
local function size_of(graph)
  local total, types, names, root = {}, {}, {}, graph:root().type
  for type, row in pairs(graph:aggregate(nil, { all = true })) do
    if type ~= root and row.total > 0 then
      total[type] = row.total
      types[#types + 1] = type
    end
  end
  table.sort(types)
  for i, v in ipairs(graph:find "type=node") do names[i] = where.name(v) end
  return { total = total, types = #types > 0 and types or { root }, names = names }
end

--- Returns the machine of a plan, as text.
function M.machine(plan)
  local m = plan.machine
  if type(m) ~= "table" or not m.racks then return m end
  return ("cluster:1 rack:%d node:%d core:%d"):format(m.racks, m.nodes, m.cores)
end

--- Makes a plan. opts: seed, steps, calm, machine, policy, queue, checks; scenario: the module.
function M.make(opts, scenario)
  local r = random.new(opts.seed)
  local plan = { machine = opts.machine or { racks = r(1, 2), nodes = r(1, 4), cores = r(1, 4) }, policy = opts.policy, queue = opts.queue,
    granularity = opts.granularity, calm = opts.calm, checks = opts.checks, overrun = not opts.calm and r(3) == 1 and "run" or nil,
    steps = {}, names = {} }
  local size = size_of(scenario { machine = M.machine(plan), policy = opts.policy, queue = opts.queue }.graph)
  for i = 1, opts.steps do
    local dice = r(100)
    if dice <= 50 or #plan.names == 0 then
      plan.steps[i] = submit(r, plan, size)
    elseif dice <= 78 then
      plan.steps[i] = { "advance", seconds = r { 1, 5, 10, 10, 20, 50 } }
    else
      plan.steps[i] = disturb(r, plan, size)
    end
  end
  return plan
end

-- ---- playing ------------------------------------------------------------------------------------------------

-- Runs a line of Lua about a scenario `s`. Returns true; or false and the message.
local function holds(line, s)
  local chunk, why = load("local s, assert = ...; " .. line, "=" .. line, "t")
  if not chunk then error(why, 0) end
  local there, luassert = pcall(require, "luassert")
  return pcall(chunk, s, there and luassert or assert)
end

local function play(plan, scenario)
  local s = scenario { machine = M.machine(plan), policy = plan.policy, queue = plan.queue, overrun = plan.overrun,
    granularity = plan.granularity }
  local jobs = {}
  s.most_events = 10000
  for _, step in ipairs(plan.steps) do
    step.skipped = not DO[step[1]](s, step, jobs)
    if #s:faults() > 0 then break end
  end
  s:run()
  return s
end

--- Plays a plan. Returns nil if all checks hold; otherwise {kind =, text =}: kind is the failed check, or "error".
function M.play(plan, scenario)
  local done, s = pcall(play, plan, scenario)
  if not done then
    if tostring(s):find "interrupted$" then error("interrupted", 0) end
    return { kind = "error", text = tostring(s) }
  end
  for _, line in ipairs(plan.checks) do
    local ok, why = holds(line, s)
    if not ok then return { kind = line, text = tostring(why):gsub("^.-:1: ", "", 1) } end
  end
end

-- ---- writing ------------------------------------------------------------------------------------------------

-- Returns the jobs named by steps after their submission.
local function used_names(plan)
  local used = { made = {} }
  for _, step in ipairs(plan.steps) do
    if step.job then used[step.job] = true end
    if step.after then used[step.after[2]] = true end
  end
  return used
end

local FILE = [[
-- %s
local scenario = require "weir.scenario"

it(%q, function()
  local s = scenario { machine = %q, policy = %q, queue = %q%s }
  %s
  s:run()%s
end)
]]

--- Returns a plan as the text of a spec. about: a comment; failure: result of M.play.
function M.write(plan, about, title, failure)
  local lines, used = {}, used_names(plan)
  for _, step in ipairs(plan.steps) do
    if not step.skipped then lines[#lines + 1] = TEXT[step[1]](step, used) end
  end
  local check = failure.kind ~= "error" and "\n  " .. failure.kind or ""
  local more = plan.overrun and (", overrun = %q"):format(plan.overrun) or ""
  if plan.granularity then more = more .. (", granularity = %q"):format(plan.granularity) end
  return FILE:format(about, title, M.machine(plan), plan.policy, plan.queue, more, table.concat(lines, "\n  "), check)
end

return M
