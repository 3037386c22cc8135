--- policies.lua - a page in Markdown for each policy that comes with weir: its summary, when to use it, its origin, its options, what
--- it costs, what it does on one machine or with one queue, and its source.

local costs = require "weir.policy.costs"
local files = require "weir.files"
local json = require("weir").json
local weir = require "weir"

local M = {}

-- ---- the half-full machine --------------------------------------------------------------------------------------------

-- Adds a subsystem: a source, below it a vertex of a type for each rack, below these the nodes.
local function add_subsystem(g, subsystem, type, size)
  local source = assert(g:add(nil, { type = type .. "_source", id = 0, size = 4 * size }))
  for i, rack in ipairs(g:find "type=rack") do
    local v = assert(g:add(nil, { type = type, id = i - 1, size = size }))
    assert(g:add_edge(source, v, { subsystem = subsystem, type = "supplies" }))
    for node in rack:children() do assert(g:add_edge(v, node, { subsystem = subsystem, type = "supplies" })) end
  end
end

-- Nodes that job 1 has as a whole, and nodes of which it has four of eight cores and one of two gpus.
local WHOLE = { 0, 1, 6, 8, 13, 15 }
local PART = { 2, 9, 11, 12 }

local function machine()
  local g = assert(weir.synthetic "cluster:1 rack:4 node:4 socket:2 core:4 gpu:1")
  add_subsystem(g, "network", "switch", 100)
  add_subsystem(g, "power", "panel", 2500)
  add_subsystem(g, "io", "bandwidth", 100)
  for i, node in ipairs(g:find "type=node") do
    node.properties.perf_class = tostring(i * 5 % 3 + 1)
    node.properties.group, node.properties.position = node:parent().name, tostring(i)
    node.tags.installed = tostring(2020 + i % 4)
    if i % 4 == 0 then node.tags.drain = "3600" end
  end
  for i, rack in ipairs(g:find "type=rack") do rack.tags.temperature = tostring(20 + i * 3 % 4) end
  for _, id in ipairs(WHOLE) do assert(g:find("name=node" .. id)[1]:allocate { job = 1 }) end
  for _, id in ipairs(PART) do
    local node = g:find("name=node" .. id)[1]
    for core in node:child(1):children() do assert(core:allocate { job = 1 }) end
  end
  return g
end

M.REQUESTS = { "slot=2/node", "slot=2/[core=2;gpu=1]" }

--- The picture of what a policy chooses for the two requests of M.REQUESTS; the places as texts, or why there are none.
function M.placement(name)
  local g <close> = machine()
  local e = assert(weir.engine { resources = g, policy = name })
  local lines = {}
  for i, request in ipairs(M.REQUESTS) do
    local a, why = e:match(request, { job = i + 1 })
    lines[i] = ("job %d: %s%s"):format(i + 1, request, a and "" or ": " .. why)
    if a then lines[i] = lines[i] .. "\n" .. a:format "tree" end
  end
  return assert(g:format("svg", { width = 760 })), (table.concat(lines, "\n"):gsub("\n+$", ""))
end

-- ---- the queue ----------------------------------------------------------------------------------------------------------

-- {name, submit, nodes, seconds, user}
local QUEUE = { { "a", 0, 5, 60, 1 }, { "b", 1, 8, 30, 1 }, { "c", 2, 2, 50, 2 }, { "d", 3, 3, 70, 2 }, { "e", 4, 1, 90, 3 },
  { "f", 5, 1, 20, 1 } }

--- The start of each job of one queue of eight nodes under a queue policy, as a table in Markdown.
function M.schedule(name)
  local scenario = require "weir.scenario"
  local s = scenario { machine = "cluster:1 node:8", queue = name }
  local jobs, rows = {}, { "| job | user | nodes | run time | submitted | started | wait |", "| --- | --- | --- | --- | --- | --- | --- |" }
  for i, row in ipairs(QUEUE) do
    jobs[i] = s:submit { ("slot=%d/node"):format(row[3]), at = row[2], lasts = row[4], name = row[1], user = "u" .. row[5] }
  end
  s:run()
  for i, row in ipairs(QUEUE) do
    rows[#rows + 1] = ("| %s | u%d | %d | %d s | %d | %g | %g s |"):format(row[1], row[5], row[3], row[4], row[2], jobs[i].start,
      jobs[i].wait)
  end
  return table.concat(rows, "\n")
end

-- ---- where they come from -------------------------------------------------------------------------------------------

local ORIGINS = {
  alike = "Origin: weir. Related: Fluxion's match policy variation, which takes the fastest class first.",
  best_fit = "Origin: best fit in bin packing. Equivalent: MostAllocated in Kubernetes.",
  contiguous = "Equivalent: Slurm's --contiguous.",
  drain_first = "Origin: weir. Related: a maintenance reservation in Slurm, which starts no job that would still run.",
  emptiest = "Equivalent: LeastAllocated in Kubernetes, at each level of the machine.",
  emptiestx = "Equivalent: LeastAllocated in Kubernetes, at each level of the machine, with whole nodes.",
  first = "Origin: first fit in bin packing. Equivalent: Fluxion's match policy first.",
  firstnodex = "Equivalent: Fluxion's match policy firstnodex.",
  gpu_affinity = "Equivalent: Slurm's --gres-flags=enforce-binding, as a preference.",
  high = "Equivalent: Fluxion's match policy high.",
  hinode = "Equivalent: Fluxion's match policy hinode.",
  hinodex = "Equivalent: Fluxion's match policy hinodex.",
  io = "Origin: weir; the limit of each path is that of the channels in RFC 4.",
  locality = "Equivalent: Fluxion's match policy locality.",
  lonode = "Equivalent: Fluxion's match policy lonode.",
  lonodex = "Equivalent: Fluxion's match policy lonodex.",
  low = "Equivalent: Fluxion's match policy low, which orders by id alone.",
  network = "Equivalent: Slurm's topology/tree.",
  newest_first = "Equivalent: nodes with a Weight in Slurm.",
  packed_gpu_nodes = "Equivalent: a high Weight of the nodes with gpus in Slurm.",
  power = "Origin: weir; caps are channels of RFC 4.",
  round_robin = "Origin: next fit in bin packing.",
  spread = "Equivalent: Slurm's --spread-job.",
  treepool = "Origin: RFC 49.",
  variation = "Equivalent: Fluxion's match policy variation.",
  weighted = "Origin: weir. Related: plugins with weights in Kubernetes.",
  worst_fit = "Origin: worst fit in bin packing. Equivalent: Slurm's CR_LLN, least loaded nodes.",
  queue_conservative = "Equivalent: Slurm's sched/backfill, Fluxion's conservative.",
  queue_easy = "Origin: Lifka, The ANL/IBM SP scheduling system, 1995. Equivalent: Fluxion's easy.",
  queue_fcfs = "Equivalent: Slurm's sched/builtin, Fluxion's fcfs.",
  queue_hybrid = "Equivalent: Fluxion's hybrid with reservation-depth.",
  queue_preempt = "Equivalent: Slurm's PreemptMode=REQUEUE.",
  queue_priority = "Equivalent: Slurm's priority/multifactor.",
  queue_sjbf = "Origin: Tsafrir, Etsion and Feitelson, Backfilling using system-generated predictions, 2007 (EASY-SJBF).",
  queue_turns = "Origin: round-robin scheduling, with users in place of processes.",
}

-- ---- what they cost ---------------------------------------------------------------------------------------------------

local COST = "| request | vertices visited | calls of Lua |\n| --- | --- | --- |\n%s\n\nA match on 1,024 nodes of 8 cores,"
  .. " half of them in use, after the first matches, in which a policy reads what it then remembers.\n"

--- What a match costs under a placement policy, as a table in Markdown.
function M.match_costs(name)
  local g <close> = costs.filled(assert(weir.synthetic "cluster:1 rack:32 node:32 socket:2 core:4 gpu:1"), 50)
  local requests, rows = costs.requests(g), {}
  for i, cost in ipairs(assert(costs.of(assert(weir.policy(name)), g, requests, { fewest = 8, longest = 0 }))) do
    rows[i] = ("| %s | %.0f | %.0f |"):format(requests[i][1], cost.visits, cost.calls)
  end
  return COST:format(table.concat(rows, "\n"))
end

--- What a queue policy costs, in a sentence.
function M.queue_costs(name)
  local pipe <close> = assert(io.popen("build/weir policy bench --json --queue " .. name))
  local row = assert(json.decode(pipe:read "a"))[1].queue
  return ("%d jobs that keep a machine busy take %d calls of the policy, in which it asks %d times if a job can start."):format(
    row.jobs, row.passes, row.matches)
end

-- ---- the pages ----------------------------------------------------------------------------------------------------------

local function options_of(policy)
  local names, rows = {}, { "| option | default | meaning |", "| --- | --- | --- |" }
  for name in pairs(policy.options or {}) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local option = policy.options[name]
    local value = type(option.default) == "table" and json.encode(option.default) or tostring(option.default)
    rows[#rows + 1] = ("| `%s` | `%s` | %s |"):format(name, value, option.doc or "")
  end
  return #names > 0 and ("## Options\n\n%s\n"):format(table.concat(rows, "\n")) or ""
end

-- The comment at the top of a policy's file: how it works; when to use it.
local function comment_of(source)
  local lines = {}
  for line in source:gmatch "([^\n]*)\n" do
    local text = line:match "^%-%- ?(.*)$"
    if not text then break end
    lines[#lines + 1] = text
  end
  return table.concat(lines, "\n"):match "^(.+)\n\n(Use it .+)$"
end

-- policy: {name =, path =, doc =, options =}; x: {key = of ORIGINS, command =, cost =, example =}.
local function page(policy, x)
  local source, origin = assert(files.read(policy.path, "script")), ORIGINS[x.key]
  local how, when = comment_of(source)
  assert(when, policy.path .. ': expected a comment that ends with a paragraph "Use it ..."')
  assert(origin, policy.name .. " has no origin in spec/tools/site/policies.lua")
  local head = ("# %s\n\n%s %s\n\n%s\n\n```\n%s\n```\n\n%s\n\n"):format(policy.name, policy.doc, when, how, x.command, origin)
  return head .. ("%s## Cost\n\n%s\n\n## Example\n\n%s\n## Source\n\n```lua\n%s```\n"):format(options_of(policy), x.cost, x.example,
    source)
end

local PLACED = "Job 1 uses about half of the machine. Jobs 2 (`%s`) and 3 (`%s`) are placed by %s:\n\n![%s](%s.svg)\n\n```\n%s\n```\n"
local QUEUED = "Six jobs of three users on eight nodes, in the order of submission:\n\n%s\n"

local function list(words)
  local pipe <close> = assert(io.popen("build/weir policy list --json " .. words))
  return assert(json.decode(pipe:read "a"))
end

--- Returns {name =, title =, doc =, markdown =, svg =} of each policy, placement policies first.
function M.pages()
  local pages = {}
  for _, policy in ipairs(list "") do
    local name = policy.name
    local svg, text = M.placement(name)
    pages[#pages + 1] = { name = name, title = name, svg = svg, doc = policy.doc, markdown = page(policy, { key = name,
      command = ("weir match -p %s -r MACHINE JOB..."):format(name), cost = M.match_costs(name),
      example = PLACED:format(M.REQUESTS[1], M.REQUESTS[2], name, name, name, text) }) }
  end
  for _, policy in ipairs(list "--queue") do
    local name = policy.name
    pages[#pages + 1] = { name = "queue-" .. name, title = name, doc = policy.doc, markdown = page(policy, { key = "queue_" .. name,
      command = ("weir replay -q %s -r MACHINE TRACE"):format(name), cost = M.queue_costs(name),
      example = QUEUED:format(M.schedule(name)) }) }
  end
  return pages
end

return M
