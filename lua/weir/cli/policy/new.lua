--- weir policy new: a policy to start from, and its spec.

local core = require "weir.core"
local files = require "weir.files"
local out = require "weir.cli.output"
local policy = require "weir.policy"

local POLICY = [[
-- %NAME%: the preference of this policy, in a sentence.
--
-- Every field is optional: keep what you need. A policy ranks resources that fit; it cannot cause double booking. Try it:
--   weir policy check ./%NAME%.lua
--   weir match -p ./%NAME%.lua -r "cluster:1 rack:2 node:4 core:8" slot=2/node

---@type weir.policy
local policy = {
  name = "%NAME%",
  doc = "Nodes of the best class first; below that, the lowest id.",
  version = "1",

  -- Options that users may set, -p ./%NAME%.lua:class=3. The default determines the type.
  options = {
    class = { default = 1, min = 1, max = 9, doc = "the best class" },
  },

  -- The static preference, smallest numbers first. Called once for each vertex, and again when properties or tags of
  -- the vertex or of its ancestors change. It must not read anything that jobs change (free, below, state); use
  -- `evaluate` for that.
  order = function(v, options)
    local class = tonumber(v.properties.perf_class) or 9
    return math.abs(class - options.class), v.id or 0
  end,

  -- false excludes the vertex and everything below it: only this can make a job not fit. Return true for all other
  -- vertices, also for clusters and racks.
  prune = function(v, request)
    return v.tags.maintenance == nil
  end,

  -- The score of each candidate that fits, higher is better; for values that change with every job. It costs a call
  -- for each changed candidate, so leave it out where `order` is enough.
  -- evaluate = function(v, request) return -v:below "core" end,

  -- Chooses a set of the candidates: the name of a choice ({"runs"}, {"shortest"}, {"fewest", group = "rack"},
  -- {"one", group = "rack"}, {"each", group = "rack"}, {"closest", by = "node.properties.speed"}), or a function that
  -- returns a list of `min` to `max` positions, best first, and visits all candidates.
  -- select = {"fewest", group = "rack"},
  -- select = function(candidates, request, min, max, scores) return { 1 } end,

  -- State that is kept from job to job, over reloads and with the machine: hooks read request.state; `placed`, called
  -- for each job that gets resources, and `finished`, called for each job that has ended, change it.
  -- state = { next = 0 },
  -- placed = function(job, state, vertices, options) state.next = vertices[1].index + 1 end,
  -- finished = function(job, state, vertices, options) end,

  -- Called once for each job: return false and a reason to reject it, or a changed jobspec.
  -- admit = function(jobspec, options) if #jobspec.resources > 9 then return false, "too many" end end,
}

return policy
]]

local SPEC = [[
-- The choices of %NAME% on a small machine. Run it: weir test %NAME%_spec.lua

local weir = require "weir"

describe("the policy %NAME%", function()
  local g, e

  before_each(function()
    g = assert(weir.synthetic "cluster:1 rack:2 node:4 core:8")
    for i, v in ipairs(g:find "type=node") do v.properties.perf_class = tostring(i % 2 + 1) end
    e = assert(weir.engine { resources = g, policy = "%PATH%" })
  end)

  local function nodes_of(a)
    local names = {}
    for i, pick in ipairs(a:vertices()) do names[i] = pick.vertex.name end
    return table.concat(names, " ")
  end

  it("prefers nodes of the best class, the lowest id first", function()
    assert.equal("node1 node3", nodes_of(assert(e:match "slot=2/node")))
  end)

  it("avoids nodes under maintenance", function()
    g:find("name=node1")[1].tags.maintenance = ""
    assert.equal("node3 node5", nodes_of(assert(e:match "slot=2/node")))
  end)
end)
]]

local QUEUE = [[
-- %NAME%: when jobs start, in a sentence. A queue policy decides when, a placement policy where. Try it:
--   weir policy check ./%NAME%.lua
--   weir replay -r "cluster:1 node:64" --map node --generate 2000 --compare "easy ./%NAME%.lua"
--   weir test --random 100 --calm -q ./%NAME%.lua --assert 'assert.kept_promises()'

---@type weir.queue_policy
local policy = {
  name = "%NAME%",
  doc = "The first waiting job has a reservation; short jobs may overtake if they do not delay it.",
  version = "1",

  -- Options that users may set, -q ./%NAME%.lua:most=600. The default determines the type.
  options = {
    most = { default = 86400, doc = "the longest estimate, in seconds, of a job that may overtake" },
  },

  -- The order of the queue: up to four numbers, smallest first, then by submission. Leave it out to order by submission alone.
  order = function(job, now, options)
    return -(job.priority or 0)
  end,

  -- Called after each change. A job that is started never delays a reservation.
  schedule = function(queue, options)
    local head = queue:first()
    while head and queue:reserve(head) do head = queue:first() end -- true: it started, and is no longer first
    for job in queue:candidates() do
      if job.estimate <= options.most then queue:start(job) end
    end
  end,

  -- State that is kept over reloads and with the machine: schedule and order read it; started and finished (a job has
  -- ended or was preempted) change it. Values of variables are lost with a reload.
  -- state = { starts = 0 },
  -- started = function(job, now, options, state) state.starts = state.starts + 1 end,
  -- finished = function(job, now, options, state) end,
}

return policy
]]

local QUEUE_SPEC = [[
-- The behaviour of %NAME%. Run it: weir test %NAME%_spec.lua

local scenario = require "weir.scenario"

describe("the queue policy %NAME%", function()
  local function open(options)
    return scenario { machine = "cluster:1 node:4 core:2", queue = "%PATH%" .. (options or "") }
  end

  it("lets a short job overtake, and keeps the promise made to the first", function()
    local s = open()
    local long = s:submit { "slot=3/node", lasts = 100 }
    local first = s:submit { "slot=4/node", lasts = 50 }
    local short = s:submit { "slot=1/node", lasts = 90 }
    assert.running(long, short)
    assert.reserved(first, 100)
    s:run()
    assert.starts_at(first, 100)
  end)

  it("lets no job overtake that is longer than the option", function()
    local s = open ":most=60"
    s:submit { "slot=3/node", lasts = 100 }
    s:submit { "slot=4/node", lasts = 50 }
    assert.pending(s:submit { "slot=1/node", lasts = 90 })
  end)

  it("starts by priority", function()
    local s = open()
    s:submit { "slot=4/node", lasts = 10 }
    s:advance(1)
    local late, urgent = s:submit { "slot=4/node", lasts = 10 }, s:submit { "slot=4/node", lasts = 10, priority = 9 }
    s:run()
    assert.starts_in_order(urgent, late)
  end)
end)
]]

local LUARC = [[
{
  "runtime.version": "Lua 5.4",
  "workspace.library": [%META%],
  "diagnostics.globals": ["describe", "it", "before_each", "after_each", "setup", "teardown", "assert"]
}
]]

-- The directory of the annotations for editors: of an installed weir, or of a build.
local function annotations()
  for _, dir in ipairs(policy.path()) do
    for _, place in ipairs { "/../meta", "/../build/doc", "/../doc" } do
      if files.exists(dir .. place .. "/weir.lua") then return ((dir .. place):gsub("/[^/]+/%.%./", "/")) end
    end
  end
end

local function write(path, text)
  if files.exists(path) then out.fail(2, "policy new: %s is there already", path) end
  out.check(files.write(path, text))
  out.line(path)
end

return function(opts)
  local name, dir = opts[1], opts.directory or "."
  if not name:find "^[%a_][%w_]*$" then
    out.fail(2, 'policy new: "%s": expected a name of letters, digits and _', name)
  end
  local path, luarc, meta = dir .. "/" .. name .. ".lua", dir .. "/.luarc.json", annotations()
  local function fill(text) return (text:gsub("%%NAME%%", name):gsub("%%PATH%%", path)) end
  local spec = dir .. "/" .. name .. "_spec.lua"
  if files.exists(spec) then out.fail(2, "policy new: %s is there already", spec) end
  write(path, fill(opts.queue and QUEUE or POLICY))
  write(spec, fill(opts.queue and QUEUE_SPEC or SPEC))
  if meta and not files.exists(luarc) then
    write(luarc, (LUARC:gsub("%%META%%", function() return core.json_encode(meta) end)))
  end
end
