--- flux.lua - the scheduler of a Flux instance without Flux, for specs: messages to the scheduler, and its answers.

local snapshot = require "weir.core".snapshot
local weir = require "weir"
local instance_of = require "weir.flux.service"

local encode, decode = weir.json.encode, weir.json.decode

local M = {}

-- ---- a scheduler and its callers ----------------------------------------------------------------------------------

M.T0 = 1700000000

-- Opens a scheduler; arguments as in "queue=easy"; starting: as the instance starts; states: of policies, to begin with. s.said has
-- the messages sent by the scheduler, s.now is the clock, s.states has the states that it has saved last.
function M.open(arguments, config, starting, states)
  local s = { said = {}, logged = {}, now = M.T0, ticks = 0, states = states }
  local port = { clock = function() return s.now end, ticks = function() return s.ticks end, starting = starting, states = states }
  function port.keep(text) s.states = text end
  for _, name in ipairs { "alloc", "annotate", "deny", "raise" } do
    port[name] = function(...) s.said[#s.said + 1] = { name, ... } end
  end
  function port.explain(id) s.service:set_reason(encode { id = id }, (s.service:reason(encode { id = id }))) end
  function port.log(level, text) s.logged[#s.logged + 1] = level .. ": " .. text end
  local service, why = instance_of.open(arguments or {}, encode(config or {}), port)
  if not service then return nil, why end
  s.service, s.port = service, port
  return s
end

function M.machine(nodes, cores, more)
  local R = { version = 1, execution = {
    R_lite = { { rank = ("0-%d"):format(nodes - 1), children = { core = ("0-%d"):format(cores - 1) } } },
    nodelist = { ("n[0-%d]"):format(nodes - 1) }, starttime = 0, expiration = 0,
  } }
  for key, value in pairs(more or {}) do R.execution[key] = value end
  return { resources = R, up = ("0-%d"):format(nodes - 1) }
end

function M.started(arguments, nodes, cores, config, more)
  local s = assert(M.open(arguments, config))
  assert(s.service:acquire(encode(M.machine(nodes or 4, cores or 4, more))))
  return s
end

-- A jobspec for whole nodes, or (exclusive = false) for a core on each node.
function M.spec_of(nodes, opts)
  local core = { type = "slot", count = 1, label = "task", with = { { type = "core", count = opts.cores or 1 } } }
  local node = { type = "node", count = nodes, exclusive = opts.shared == nil, with = { core } }
  return {
    version = 1, resources = opts.slots and { { type = "slot", count = opts.slots, label = "task", with = core.with } } or { node },
    tasks = { { command = { "app" }, slot = "task", count = { per_slot = 1 } } },
    attributes = { system = { duration = opts.duration or 60, queue = opts.queue, constraints = opts.constraints, cwd = opts.cwd,
      ["preemptible-after"] = opts.after } },
  }
end

function M.submit(s, id, nodes, opts)
  opts = opts or {}
  assert(s.service:alloc(encode {
    id = id, priority = opts.priority or 16, userid = 1000, t_submit = s.now, jobspec = M.spec_of(nodes, opts),
  }))
end

-- Runs the scheduler until nothing is left to do.
function M.settle(s)
  local wait
  repeat
    wait = s.service:work()
    s.ticks = s.ticks + 0.001
  until wait == nil or wait > 0.1
  return wait
end

function M.ids(s, name)
  local list = {}
  for _, entry in ipairs(s.said) do
    if entry[1] == name then list[#list + 1] = entry[2] end
  end
  return table.concat(list, " ")
end

function M.R_of(s, id)
  for _, entry in ipairs(s.said) do
    if entry[1] == "alloc" and entry[2] == id then return entry[3] end
  end
end

function M.ranks_of(s, id) return decode(M.R_of(s, id)).execution.R_lite[1].rank end
function M.free(s, id, ranks)
  local R = ranks and { version = 1, execution = { R_lite = { { rank = ranks, children = { core = "0-3" } } } } }
  assert(s.service:free(encode { id = id, R = R or decode(M.R_of(s, id)), final = not ranks or nil }))
end

function M.stats(s) return decode(s.service:stats()) end

-- Asks why a job waits, in a forked copy as the module does. Returns the results of service:why.
function M.why(s, asked, user)
  local child = assert(snapshot(function(write)
    local _, text, why, code = xpcall(s.service.why, debug.traceback, s.service, encode(asked), user)
    write(encode { text = text, why = why, code = code })
  end, { seconds = 60, memory = 1 << 30, answer = 1 << 20 }))
  local pipe <close> = assert(io.open("/dev/fd/" .. child:take()))
  local result = decode(pipe:read "a")
  return result.text, result.why, result.code
end

-- Checks that no unit is given twice, and that the schedules are consistent.
function M.apart(s)
  local all
  for _, entry in ipairs(s.said) do
    if entry[1] == "alloc" and s.service.scheduler.jobs[entry[2]] then
      local set = weir.rset(entry[3], "R")
      all = all and assert(all:append(set)) or set
    end
  end
  assert(s.service.scheduler.graph:check())
end

return M
