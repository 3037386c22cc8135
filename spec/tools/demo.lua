--- demo.lua - a tour of weir, on the present machine and on a machine of 1,024 nodes. `make demo` runs the tour: weir
-- run spec/tools/demo.lua

local out = require "weir.cli.output"
local view = require "weir.view"
local weir = require "weir"

local style = out.style()

local function title(text) out.line("\n" .. style.bold(text)) end

-- Shows a text a little to the right.
local function show(text)
  for line in text:gmatch "([^\n]*)\n?" do
    if line ~= "" then out.line("    " .. line) end
  end
end

local function milliseconds(since) return ("%.1f ms"):format((os.clock() - since) * 1000) end

-- ---- this machine ----------------------------------------------------------------------------------------------

local POLICY = [[
return {
  name = "last_first",
  doc = "The cores with the highest numbers: the first ones are busy with interrupts.",
  order = function(v) return -(v.id or 0) end,
}
]]

local JOBSPEC = [[
version: 1
resources:
  - type: slot
    count: 1
    label: task
    with: [{type: core, count: %d}]
tasks: [{command: [hostname], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 60}}
]]

local function this_machine()
  title "1. This machine, as hwloc sees it"
  local g = out.check(weir.discover())
  for _, root in ipairs(g:roots()) do out.tree(view.vertex(root, { limit = 20 })) end
  return g
end

local function match_here(g)
  local cores = g:aggregate().core
  local jobspec = JOBSPEC:format(math.max(1, cores and cores.total // 2 or 1))
  title "2. A jobspec"
  show(jobspec)
  title "   and a placement policy in Lua"
  show(POLICY)
  local engine = out.check(weir.engine { resources = g, policy = assert(load(POLICY, "=policy"))() })
  local a = out.check(engine:match(jobspec))
  title "   What it chose"
  for _, tree in ipairs(view.allocation(a)) do out.tree(tree) end
  title "   The R that a job gets (rv1_nosched)"
  show(out.check(a:format "rv1_nosched"))
end

-- ---- a cluster ----------------------------------------------------------------------------------------------

local CLUSTER = "cluster:1 rack:32 node:32 socket:2 core:8 gpu:1 memory:4(size=16,unit=GB)"
local POLICIES = { "low", "best_fit", "spread" }
local REQUEST = "slot=12/node"
local SEED, JOBS = 7, 300

-- Jobs to come and go: {shape=, stays=}; a job without `stays` ends after the last job came.
local function make_mix()
  local mix = {}
  math.randomseed(SEED)
  for i = 1, JOBS do
    local big = math.random() < 0.1
    local shape = ("slot=%d/node"):format(big and math.random(8, 24) or math.random(1, 4))
    mix[i] = { shape = shape, stays = math.random() < 0.7 }
  end
  return mix
end

-- Matches the jobs, and returns how many are left running.
local function fragment(engine, mix, requests)
  local leaving, running = {}, 0
  for _, job in ipairs(mix) do
    requests[job.shape] = requests[job.shape] or weir.request(job.shape)
    local a = engine:match(requests[job.shape])
    if a and job.stays then running = running + 1 elseif a then leaving[#leaving + 1] = a.id end
  end
  for _, id in ipairs(leaving) do engine:release(id) end
  return running
end

-- The state of each node before the match: "#" or "."; by rack, in order.
local function read_racks(g)
  local racks = {}
  for rack in g:walk { type = "rack" } do
    local nodes = {}
    for node in rack:children() do nodes[#nodes + 1] = { vertex = node, mark = node.free > 0 and "." or "#" } end
    racks[#racks + 1] = { name = rack.name, nodes = nodes }
  end
  return racks
end

local function mark_chosen(racks, allocation)
  local chosen, touched = {}, 0
  for _, pick in ipairs(allocation:vertices()) do chosen[pick.vertex] = true end
  for _, rack in ipairs(racks) do
    local used = 0
    for _, node in ipairs(rack.nodes) do
      if chosen[node.vertex] then node.mark, used = "o", 1 end
    end
    touched = touched + used
  end
  return touched
end

-- Two nodes share a character: "o" with a chosen node, "." with a free node, "#" without.
local function draw_rack(rack)
  local cells = {}
  for i = 1, #rack.nodes, 2 do
    local pair = rack.nodes[i].mark .. (rack.nodes[i + 1] or rack.nodes[i]).mark
    cells[#cells + 1] = pair:match "o" or pair:match "%." or "#"
  end
  return table.concat(cells)
end

local function names_of(allocation)
  local ids, names = {}, {}
  for _, pick in ipairs(allocation:vertices()) do ids[#ids + 1] = pick.vertex.id end
  table.sort(ids)
  for i, id in ipairs(ids) do names[i] = tostring(id) end
  return table.concat(names, ",")
end

local function try(policy, mix, requests)
  local started = os.clock()
  local g = out.check(weir.synthetic(CLUSTER))
  local built = milliseconds(started)
  local engine = out.check(weir.engine { resources = g, policy = "low" })
  started = os.clock()
  local running = fragment(engine, mix, requests)
  local mixed = milliseconds(started)
  local racks = read_racks(g)
  out.check(engine:use(policy))
  started = os.clock()
  local a = out.check(engine:match(REQUEST))
  return {
    policy = policy, vertices = g:count(), built = built, mixed = mixed, running = running, took = milliseconds(started),
    racks = racks, touched = mark_chosen(racks, a), nodes = names_of(a), visited = engine:stats().visited,
  }
end

local function show_maps(runs)
  local heads = {}
  for i, run in ipairs(runs) do heads[i] = ("%-16s"):format(run.policy) end
  out.line(style.bold("         " .. table.concat(heads, "   ")))
  for i, rack in ipairs(runs[1].racks) do
    local cells = {}
    for k, run in ipairs(runs) do cells[k] = draw_rack(run.racks[i]) end
    out.line(("%-9s%s"):format(rack.name, table.concat(cells, "   ")))
  end
  out.line(style.dim "         two nodes a character: # busy, . one or both free, o chosen")
end

local function show_numbers(runs)
  local rows = { { "policy", "racks touched", "visited", "time", "nodes" } }
  for _, run in ipairs(runs) do
    rows[#rows + 1] = { run.policy, tostring(run.touched), tostring(run.visited), run.took, run.nodes }
  end
  out.line ""
  out.table(rows, { false, true, true, true })
end

local function three_policies()
  title(("3. %s on 1,024 nodes, under three policies"):format(REQUEST))
  local mix, requests, runs = make_mix(), {}, {}
  for i, policy in ipairs(POLICIES) do runs[i] = try(policy, mix, requests) end
  local first = runs[1]
  out.line(("    %s\n    %d vertices, built in %s; then %d jobs came and went in %s, %d still run.\n"):format(CLUSTER,
    first.vertices, first.built, JOBS, first.mixed, first.running))
  show_maps(runs)
  show_numbers(runs)
end

local NEXT = {
  { "build/weir repl", "this machine at a prompt; Tab completes, :help tells the rest" },
  { "build/weir show local --html -o here.html", "a picture of it, for a browser" },
  { 'build/weir match -r "cluster:1 rack:2 node:3 core:8" slot=2/node', "two nodes of a machine described in a line" },
  { 'build/weir explain -r "rack:2 node:3 core:8" slot=7/node', "why a job does not fit" },
  { "build/weir policy new mine", "a policy of your own, with its test" },
  { "build/weir replay -r node:64 --generate 500 --compare 'easy fcfs' --report out", "queues side by side, and out/index.html" },
}

local function what_next()
  title "What next"
  for _, row in ipairs(NEXT) do out.line(("    %s\n        %s"):format(row[1], style.dim(row[2]))) end
  out.line "\nThe README introduces weir in five examples; doc/README.md is the manual, with four tutorials (as HTML: make doc)."
end

match_here(this_machine())
three_policies()
what_next()
