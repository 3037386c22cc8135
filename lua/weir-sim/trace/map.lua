--- map.lua - turns the processors and memory of a trace's job into a request on a machine.
---
---   core            a processor is a core, on any node: slot=N/core=1
---   node            a processor is a node: slot=N/node
---   core+memory     a processor is a core with memory, in a single node
---   node+memory     a processor is a node with enough memory
---   job             the contents of an accounting: nodes, cores, memory, gpus and the queue; see needs.lua
---   a shape         a text in which N means the processors, M for the memory of each (in units of the machine's
---                   pools), and {N/16} for a division, rounded up
---
--- Jobs that ask for no memory get the request without memory. Equal jobs share a request.

local core = require "weir.core"
local needs = require "weir.trace.needs"
local tables = require "weir.tables"

local M = {}

local BYTES = { B = 1, kB = 1e3, KB = 1e3, MB = 1e6, GB = 1e9, TB = 1e12, KiB = 1 << 10, MiB = 1 << 20, GiB = 1 << 30, TiB = 1 << 40 }

local MEMORY_MAX = (1 << 40) - 1

local KNOWN = {
  core = "slot=N/core=1", node = "slot=N/node",
  ["core+memory"] = "slot=N/[core=1;memory=M]", ["node+memory"] = "slot=N/node/memory=M",
}
local WITHOUT_MEMORY = { ["core+memory"] = "core", ["node+memory"] = "node" }

-- The size of a unit of the machine's memory pools in kB; pools without a unit are taken to be in kB, as in traces.
local function memory_unit(graph)
  local pool = graph:walk { type = "memory" } ()
  local unit = pool and pool.unit
  if not unit or unit == "" then return 1 end
  return BYTES[unit] and BYTES[unit] / 1e3
end

--- Returns what a processor is where nothing says so: "job" for an accounting; otherwise a core, or a node of a machine without
--- cores.
function M.default(graph, accounting)
  if accounting then return "job" end
  local there = tables.set(graph:types())
  return there.node and not there.core and "node" or "core"
end

--- Returns the unit of a shape that requests a number of units of one type and nothing else, core or node, and the
--- processors that share a unit; nil for any other shape.
function M.unit(text)
  local shape = KNOWN[text] or text
  local count, type = shape:match "^slot=([N{}/%d]+)/(%a+)$"
  if not count then count, type = shape:match "^slot=([N{}/%d]+)/(%a+)=1$" end
  local by = count == "N" and 1 or count and math.tointeger(tonumber(count:match "^{N/(%d+)}$"))
  if not by or by < 1 or type ~= "core" and type ~= "node" then return nil end
  return type, by
end

--- Returns the request of a single processor, without memory where jobs may go without; or nil, message, code.
function M.one(text)
  if text == "job" then text = "node" end
  local shape = KNOWN[WITHOUT_MEMORY[text]] or KNOWN[text] or text
  return core.request((shape:gsub("{N/%d+}", "1"):gsub("%f[%w]N%f[%W]", "1"):gsub("%f[%w]M%f[%W]", "1")))
end

local function check(text, memory)
  local request, why = M.one(text)
  for by in text:gmatch "{N/(%d+)}" do
    if (math.tointeger(by) or 0) == 0 then return nil, ("%s: {N/%s}: expected a divisor from 1 to 2^63-1"):format(text, by) end
  end
  if not request then return nil, ("%s: core, node, core+memory, node+memory, job, or a shape with N and M in it: %s"):format(text, why) end
  if memory == nil and text:find "%f[%w]M%f[%W]" then return nil, text .. ": the unit of the machine's memory pools is not one of bytes" end
  return true
end

local function filled(text, procs, memory)
  return (text:gsub("{N/(%d+)}", function(by) return ("%d"):format(-(-procs // math.tointeger(by))) end)
    :gsub("%f[%w]N%f[%W]", ("%d"):format(procs)):gsub("%f[%w]M%f[%W]", ("%d"):format(memory or 0)))
end

--- Returns a function from a job of a trace (procs, memory, request) to a request, or nil, message; or nil, message,
--- "invalid".
function M.new(text, graph)
  if text == "job" then return needs.new(graph) end
  local shape = KNOWN[text] or text
  local unit = memory_unit(graph)
  local ok, why = check(shape, unit)
  if not ok then return nil, why, "invalid" end
  local bare = KNOWN[WITHOUT_MEMORY[text]]
  local wants_memory, cache = shape:find "%f[%w]M%f[%W]" ~= nil, {}

  local function make(procs, memory)
    local chosen = memory == 0 and bare or shape
    return core.request(filled(chosen, procs, memory))
  end

  return function(job)
    if job.request then return job.request end
    local memory = wants_memory and job.memory and math.min(math.ceil(job.memory / unit), MEMORY_MAX) or 0
    local key = job.procs << 40 | memory
    local request = cache[key]
    if request then return request end
    request, why = make(job.procs, memory)
    if not request then return nil, why end
    cache[key] = request
    return request
  end
end

return M
