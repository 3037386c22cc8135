--- pools.lua - methods about pools and their edges: set, data, split, refine, join, edges, edge.add, edge.remove, copy, save, merge,
-- unlink.

local core = require "weir.core"
local needs = require("weir.serve.roles").needs
local params = require "weir.serve.params"
local pool = require "weir.cli.vertex_report"
local service_state = require "weir.serve.service_state"
local weir = require "weir"

local M = {}

local WRITTEN = { "jgf", "document", "rv1", "rv1_nosched", "rlite", "recipe", "csv", "tree" } -- the first one is the default
local READ = { "jgf", "rv1", "synthetic", "grug", "csv", "hwloc" }
local ADD = 1000000 -- vertices added by a request at most, without a limit of the server

needs.reader("edges", "copy", "save")

params.takes("set", "machine", { uri = "path!", properties = "tags", size = "count", unit = "words", exclusive = "flag" })
params.takes("data", "machine", { uri = "path!", set = "table!" })
params.takes("split", "machine", { uri = "path!", units = "positive!" })
params.takes("refine", "machine", { uri = "path!", parts = "positive!" })
params.takes("join", "machine", { uri = "path!", part = "path!" })
params.takes("edges", "", { uri = "path", subsystem = "name" })
params.takes("edge.add", "machine", { source = "path!", target = "path!", subsystem = "name!", type = "name", back = "name" })
params.takes("edge.remove", "machine", { source = "path!", target = "path!", subsystem = "name!" })
params.takes("copy", "", { uri = "path!", format = WRITTEN })
params.takes("save", "", { format = WRITTEN })
params.takes("merge", "machine", { machine = "source!", format = READ, at = "path" })
params.takes("unlink", "machine", { uri = "path!", subsystem = "name" })

local function vertex(self, p, name)
  return p[name] and params.check_field(name, self.graph:vertex(p[name])) or nil
end

-- Reports a change of the machine to children, and answers with the vertex.
local function changed(self, call, v)
  self.child_instances:touch()
  self:changed()
  call.answer(pool.base(v))
end

-- Ends the call for a target: schedulers are notified of changes of targets, which other methods make.
local function not_a_target(v, field, instead)
  local parent = v:parent()
  if v.rank and (not parent or parent.rank ~= v.rank) then
    params.fail("invalid", "field '%s': %s is target %d; %s is for targets", field, v.path, v.rank, instead)
  end
end

--- {"id":6,"method":"set","params":{"uri":"/cluster0/rack0","properties":{"row":"3","old":null}}}: sets and removes
--- properties (of targets with resource.property), and sets "size", "unit" and "exclusive" of a vertex without children
function M.set(self, call, p)
  local v = vertex(self, p, "uri")
  not_a_target(v, "uri", "resource.property")
  if not (p.properties or p.size or p.unit or p.exclusive ~= nil) then
    params.fail("invalid", "field 'properties' is missing, and so are 'size', 'unit' and 'exclusive': nothing is to be set")
  end
  local former = { size = v.size, unit = v.unit, exclusive = v.exclusive }
  for _, field in ipairs { "size", "unit", "exclusive" } do
    local ok, why = true, nil
    if p[field] ~= nil then ok, why = pcall(function() v[field] = p[field] end) end
    if not ok then
      for key, value in pairs(former) do
        if v[key] ~= value then v[key] = value end
      end
      params.fail("busy", "field '%s': %s", field, (tostring(why):gsub("^.-:%d+: ", "")))
    end
  end
  for key, value in pairs(p.properties or {}) do
    if value == core.null then v.properties[key] = nil else v.properties[key] = value end
  end
  changed(self, call, v)
end

--- {"id":7,"method":"data","params":{"uri":"/cluster0/rack0","set":{"serial":["a1",7],"old":null}}}: sets and removes
--- extended data, any values of JSON
function M.data(self, call, p)
  local v, size = vertex(self, p, "uri"), 0
  for key, value in pairs(p.set) do
    if type(key) ~= "string" or key == "" or #key > 255 then params.fail("invalid", "field 'set': keys are texts of 1 to 255 bytes") end
    if service_state.owns(key) then params.fail("forbidden", "field 'set': %s belongs to the service", key) end
    size = size + #core.json_encode(value)
  end
  if size > 65535 then params.fail("limit", "field 'set': %d bytes; at most 65535 are possible", size) end
  for key, value in pairs(p.set) do
    if value == core.null then v.data[key] = nil else v.data[key] = value end
  end
  changed(self, call, v)
end

--- {"id":8,"method":"split","params":{"uri":"/cluster0/rack0/node0/memory0","units":8}}: a pool of its own for units that no
--- job has; answers with the new pool
function M.split(self, call, p)
  changed(self, call, params.check_field("units", self.graph:split(vertex(self, p, "uri"), p.units)))
end

--- {"id":8,"method":"refine","params":{"uri":"/cluster0/rack0/node0/memory0","parts":4}}: splits a pool without children into
--- pools of equal sizes; answers with all of them, the pool itself first
function M.refine(self, call, p)
  local most = self.opts.limits and self.opts.limits.add or ADD
  if p.parts > most then params.fail("limit", "field 'parts': %d; one request may add %d (--limit add=N allows more)", p.parts, most) end
  local list = core.array(params.check_field("parts", self.graph:refine(vertex(self, p, "uri"), p.parts)))
  self.child_instances:touch()
  self:changed()
  for i, v in ipairs(list) do list[i] = pool.base(v) end
  call.answer { pools = list }
end

--- {"id":9,"method":"join","params":{"uri":"/cluster0/rack0/node0/memory0","part":"/cluster0/rack0/node0/memory1"}}: gives the
--- units of a sibling pool, which no job has, to a pool
function M.join(self, call, p)
  local v, part = vertex(self, p, "uri"), vertex(self, p, "part")
  params.check_field("part", self.graph:join(v, part))
  changed(self, call, v)
end

-- ---- edges ----------------------------------------------------------------------------------------------------------

local function described(edge)
  return { source = edge.source.path, target = edge.target.path, subsystem = edge.subsystem, type = edge.type, back = edge.back }
end

--- {"id":8,"method":"edges","params":{"uri":"/cluster0/rack0/node0","subsystem":"power"}}: pages of edges {source, target,
--- subsystem, type, back}; without "uri" of the whole machine, without "subsystem" of all but containment
function M.edges(self, call, p)
  local v, list = vertex(self, p, "uri"), {}
  if v then
    for _, edge in ipairs(v:edges(p.subsystem)) do
      if p.subsystem or edge.subsystem ~= "containment" then list[#list + 1] = described(edge) end
    end
  else
    for edge in self.graph:edges(p.subsystem) do list[#list + 1] = described(edge) end
  end
  call.pages("edges", #list, function(i) return list[i] end)
end

local function ends_of(self, p)
  local source, target = vertex(self, p, "source"), vertex(self, p, "target")
  if p.subsystem == "containment" then
    params.fail("invalid", "field 'subsystem': containment is changed with merge, unlink and resource.add")
  end
  return source, target
end

--- {"id":9,"method":"edge.add","params":{"source":"/cluster0/rack0","target":"/cluster0/rack0/node0","subsystem":"cooling",
--- "type":"cools"}}; "back" is the type in the opposite direction
M["edge.add"] = function(self, call, p)
  local source, target = ends_of(self, p)
  params.check(self.graph:add_edge(source, target, { subsystem = p.subsystem, type = p.type, back = p.back }))
  changed(self, call, target)
end

--- {"id":10,"method":"edge.remove","params":{"source":"/cluster0/rack0","target":"/cluster0/rack0/node0","subsystem":"cooling"}}
M["edge.remove"] = function(self, call, p)
  local source, target = ends_of(self, p)
  params.check(self.graph:remove_edge(source, target, { subsystem = p.subsystem }))
  changed(self, call, target)
end

-- ---- copies and parts -----------------------------------------------------------------------------------------------

-- Returns the text of a graph without the data of the service, and closes the graph.
local function text_of(g, format)
  for _, root in ipairs(g:roots()) do
    local own = {}
    for key in pairs(root.data) do
      if service_state.owns(key) then own[#own + 1] = key end
    end
    for _, key in ipairs(own) do root.data[key] = nil end
  end
  local text, why, code = g:format(format)
  g:close()
  return params.check(text, why, code)
end

--- {"id":11,"method":"copy","params":{"uri":"/cluster0/rack0","format":"jgf"}}: the text of what is available now at and
--- below a vertex, with the vertices above
function M.copy(self, call, p)
  local g = params.check(self.graph:copy(vertex(self, p, "uri")))
  call.answer { format = p.format, text = text_of(g, p.format) }
end

--- {"id":12,"method":"save","params":{"format":"document"}}: the text of the whole machine; a document has jobs, too
function M.save(self, call, p)
  call.answer { format = p.format, text = text_of(params.check(self.graph:dup()), p.format) }
end

-- Ends the call if a machine to be merged has targets of its own.
local function check_merged(other, most)
  if other:count() > most then
    params.fail("limit", "field 'machine': %d vertices; one request may add %d (--limit add=N allows more)", other:count(), most)
  end
  for v in other:walk {} do
    if v.rank then params.fail("invalid", "field 'machine': %s has rank %d; targets are added with resource.add", v.path, v.rank) end
  end
end

--- {"id":13,"method":"merge","params":{"machine":"cluster:1 burst:1(size=500,unit=GB)","format":"synthetic"}}: adds what a
--- text describes and the machine does not have, by the paths in the text; "at" is the vertex that its root is. Targets are
--- added with resource.add
function M.merge(self, call, p)
  local at = vertex(self, p, "at")
  local other = params.check_field("machine", weir.parse(p.machine, { format = p.format, source = "machine" }))
  local ok, why = pcall(check_merged, other, self.opts.limits and self.opts.limits.add or ADD)
  if not ok then
    other:close()
    error(why, 0)
  end
  local before = self.graph:count()
  local done, reason, code = self.graph:merge(other, at and at.path or nil)
  other:close()
  params.check_field("machine", done, reason, code)
  self.child_instances:touch()
  self:changed()
  call.answer { added = self.graph:count() - before }
end

--- {"id":14,"method":"unlink","params":{"uri":"/cluster0/rack0/node0/core3"}}: takes a vertex that no job has out of a
--- subsystem ("containment" if not given), with all below; targets leave with resource.remove
function M.unlink(self, call, p)
  local v = vertex(self, p, "uri")
  if (p.subsystem or "containment") == "containment" then
    for below in self.graph:walk { start = v, subsystem = "containment" } do not_a_target(below, "uri", "resource.remove") end
    if not v:parent() then params.fail("invalid", "field 'uri': %s is a root", v.path) end
  end
  local path, before = v.path, self.graph:count()
  params.check(self.graph:unlink(v, { subsystem = p.subsystem }))
  self.child_instances:touch()
  self:changed()
  call.answer { path = path, removed = before - self.graph:count() }
end

return M
