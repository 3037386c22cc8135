--- machine.lua - methods about the machine: find, show, walk, state, tag.

local core = require "weir.core"
local filter = require "weir.serve.filter"
local service_state = require "weir.serve.service_state"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local pool = require "weir.cli.vertex_report"
local view = require "weir.view"

local M = {}

needs.reader("find", "show", "walk")

params.takes("find", "", { expression = "text!", start = "path", fields = { "base", "path" } })
params.takes("show", "", { uri = "path", as = { "tree", "totals", "pool", "children" }, depth = "positive", all = "flag" })
params.takes("walk", "", { filter = "source!", start = "path", subsystem = "name", type = "name", best = "positive" })
params.takes("state", "machine targets children jobs owners", { uri = "path!", state = { needed = true, table.unpack(core.states) } })
params.takes("tag", "machine", { uri = "path!", set = "tags!" })

local BEST, BEST_MOST = 100, 10000 -- vertices returned by a walk with a filter: by default, at most

local function vertex(self, p, name)
  return p[name] and params.check_field(name, self.graph:vertex(p[name])) or nil
end

-- Returns the description of a vertex, or nil if the vertex was removed meanwhile.
local function base(v)
  local ok, t = pcall(pool.base, v)
  return ok and t or nil
end

--- {"id":1,"method":"find","params":{"expression":"type=node and state=up","start":"/cluster0/rack0"}}: pages of
-- vertices
function M.find(self, call, p)
  local query, fields = params.check_field("expression", core.query(p.expression)), p.fields
  local found = params.check(self.graph:find(query, { start = vertex(self, p, "start") }))
  local function path(v)
    local ok, text = pcall(function() return v.path end)
    return ok and text or nil
  end
  call.pages("vertices", #found, function(i) return fields == "path" and path(found[i]) or fields == "base" and base(found[i]) or nil end)
end

local function without_own(t)
  for key in pairs(t.data or {}) do
    if service_state.owns(key) then t.data[key] = nil end
  end
  if t.data and next(t.data) == nil then t.data = nil end
  return t
end

local SHOW = {}

function SHOW.tree(self, v, p)
  local trees = core.array {}
  for i, top in ipairs(v and { v } or self.graph:roots()) do
    trees[i] = view.vertex(top, { depth = p.depth, limit = p.all and math.huge or 40 })
  end
  return { trees = trees }
end

function SHOW.totals(self, v)
  local by_type = {}
  for type, row in pairs(self.graph:aggregate(v, { all = true })) do
    if row.total > 0 then by_type[type] = row end
  end
  return { totals = by_type }
end

function SHOW.pool(_, v)
  if not v then params.fail("invalid", "field 'uri' is missing: expected the path of the vertex to show in full") end
  return without_own(pool.describe(v))
end

-- Sends pages of the children of a vertex, or of the roots, each with its number of children.
local function send_children(self, call, v)
  local list = v and {} or self.graph:roots()
  if v then
    for kid in v:children() do list[#list + 1] = kid end
  end
  call.pages("vertices", #list, function(i)
    local t = base(list[i])
    if t then t.children = list[i]:nchildren() end
    return t
  end)
end

--- {"id":2,"method":"show","params":{"uri":"/cluster0","as":"tree"}}; as: tree (with "depth", "all"), totals, pool, or
--- children: pages of the vertices right below
function M.show(self, call, p)
  local as, v = p.as, vertex(self, p, "uri")
  if as == "children" then return send_children(self, call, v) end
  call.answer(SHOW[as](self, v, p))
end

-- Ends the call if a score is infinite: JSON has finite numbers only.
local function check_scores(found)
  for _, entry in ipairs(found) do
    if math.abs(entry.score) == math.huge then
      params.fail("policy", "field 'filter': evaluate: expected a finite number, not %g", entry.score)
    end
  end
end

--- {"id":3,"method":"walk","params":{"filter":"return {evaluate = function(v) return v.free
--- end}","type":"rack","best":3}}: pages of {vertex =, score =} in descending score
function M.walk(self, call, p)
  local best = p.best or BEST
  if best > BEST_MOST then params.fail("limit", "field 'best': at most %d are possible", BEST_MOST) end
  local policy = params.check_field("filter", filter.load(p.filter, self.opts.filter_seconds))
  local found, why, code = filter.walk(self.graph, policy, {
    start = vertex(self, p, "start"), subsystem = p.subsystem, type = p.type, best = best,
  })
  if not found then return call.fail(filter.said(why, self.opts.filter_seconds), code) end
  check_scores(found)
  call.pages("vertices", #found, function(i)
    local t = base(found[i].vertex)
    if t then t.score = found[i].score end
    return t
  end)
end

-- ---- changes --------------------------------------------------------------------------------------------------------

-- Returns the target whose topmost vertex is `v`, or nil.
local function target_at(v)
  local parent = v:parent()
  return v.rank and (not parent or parent.rank ~= v.rank) and v.rank or nil
end

--- {"id":4,"method":"state","params":{"uri":"/cluster0/rack0/node3","state":"down"}}
function M.state(self, call, p)
  local v, state = vertex(self, p, "uri"), p.state
  local target = target_at(v)
  v.state = state
  if target then
    local on = state == "up" or state == "degraded"
    params.check(self.provider[on and "online" or "offline"](self.provider, core.idset { target }))
    self:settle()
  elseif not v.rank then -- above targets
    self:block()
  end
  self.child_instances:touch()
  self:changed()
  call.answer { path = v.path, state = v.state }
end

--- {"id":5,"method":"tag","params":{"uri":"/cluster0/rack0","set":{"maintenance":"disk","old":null}}}
function M.tag(self, call, p)
  local v = vertex(self, p, "uri")
  for key, value in pairs(p.set) do
    if value == core.null then v.tags[key] = nil else v.tags[key] = value end
  end
  self:changed()
  call.answer(base(v))
end

return M
