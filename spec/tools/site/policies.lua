--- policies.lua - a page in Markdown for each policy that comes with weir: its summary, its options, what it does on one machine or
--- with one queue, and its source.

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
  contiguous = "Equivalent: Slurm's --contiguous.",
  first = "Equivalent: Fluxion's match policy first.",
  firstnodex = "Equivalent: Fluxion's match policy firstnodex.",
  gpu_affinity = "Equivalent: Slurm's --gres-flags=enforce-binding, as a preference.",
  high = "Equivalent: Fluxion's match policy high.",
  hinode = "Equivalent: Fluxion's match policy hinode.",
  hinodex = "Equivalent: Fluxion's match policy hinodex.",
  locality = "Equivalent: Fluxion's match policy locality.",
  lonode = "Equivalent: Fluxion's match policy lonode.",
  lonodex = "Equivalent: Fluxion's match policy lonodex.",
  low = "Equivalent: Fluxion's match policy low, which orders by id alone.",
  network = "Equivalent: Slurm's topology/tree.",
  newest_first = "Equivalent: nodes with a Weight in Slurm.",
  spread = "Equivalent: Slurm's --spread-job.",
  variation = "Equivalent: Fluxion's match policy variation.",
  worst_fit = "Equivalent: Slurm's CR_LLN, least loaded nodes.",
  queue_conservative = "Equivalent: Slurm's sched/backfill, Fluxion's conservative.",
  queue_easy = "From Lifka, The ANL/IBM SP scheduling system, 1995. Equivalent: Fluxion's easy.",
  queue_fcfs = "Equivalent: Slurm's sched/builtin, Fluxion's fcfs.",
  queue_hybrid = "Equivalent: Fluxion's hybrid with reservation-depth.",
  queue_preempt = "Equivalent: Slurm's PreemptMode=REQUEUE.",
  queue_priority = "Equivalent: Slurm's priority/multifactor.",
  queue_sjbf = "From Tsafrir, Etsion and Feitelson, Backfilling using system-generated predictions, 2007 (EASY-SJBF).",
}

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

-- The comment at the top of a policy's file, as a paragraph.
local function comment_of(source)
  local lines = {}
  for line in (source:match "^(.-)\n[^-]" .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line:match "^%-%- ?(.*)$" end
  return table.concat(lines, "\n")
end

-- key: of ORIGINS; use: a command; example: what the policy does.
local function page(policy, key, use, example)
  local source, origin = assert(files.read(policy.path, "script")), ORIGINS[key]
  return ("# %s\n\n%s\n\n%s\n\n```\n%s\n```\n\n%s## Example\n\n%s\n%s\n## Source\n\n```lua\n%s```\n"):format(policy.name,
    policy.doc or "", comment_of(source), use, origin and origin .. "\n\n" or "", example, options_of(policy), source)
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
    pages[#pages + 1] = { name = name, title = name, svg = svg, doc = policy.doc,
      markdown = page(policy, name, ("weir match -p %s -r MACHINE JOB..."):format(name),
        PLACED:format(M.REQUESTS[1], M.REQUESTS[2], name, name, name, text)) }
  end
  for _, policy in ipairs(list "--queue") do
    local name = policy.name
    pages[#pages + 1] = { name = "queue-" .. name, title = name, doc = policy.doc,
      markdown = page(policy, "queue_" .. name, ("weir replay -q %s -r MACHINE TRACE"):format(name), QUEUED:format(M.schedule(name))) }
  end
  return pages
end

return M
