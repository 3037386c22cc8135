--- weir diff: the difference of two machines, with their jobs and clocks.

local core = require "weir.core"
local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local tables = require "weir.tables"
local weir = require "weir"

local M = {
  name = "diff",
  doc = "Show how two machines and their jobs differ.",
  usage = "[OPTION...] A B",
  operand = "A B", min = 2, max = 2,
  options = {
    { "s", "summary", nil, "a line for each vertex, job and edge that differs, for people" },
    { "q", "quiet", nil, "print nothing; the exit status is the result" },
  },
  notes = [[
A and B are machines as for `weir match -r`, such as documents (.weir), databases and JGF. The output turns A into B:

  weir diff monday.weir tuesday.weir > day.diff
  weir convert --apply day.diff monday.weir tuesday.weir

A difference belongs to A in its present state: it is applied as a whole or not at all, and the result is B, byte for byte
as a document. `weir convert --help` lists the formats.

Exit status: 0 the two are equal, 1 they differ, 2 wrong usage or unreadable input.]],
}

-- ---- the summary ------------------------------------------------------------------------------------------------

local FIELDS = { "type", "basename", "name", "id", "size", "unit", "state", "rank", "exclusive", "uuid" }
local MAPS = { "properties", "tags", "data" }

local function shown(value)
  if type(value) == "string" then return value end
  return value == nil and "none" or weir.json.encode(value)
end

-- The differences between two vertices, as "state: up -> down".
local function changes(a, b)
  local list = {}
  for _, field in ipairs(FIELDS) do
    if a[field] ~= b[field] then list[#list + 1] = ("%s: %s -> %s"):format(field, shown(a[field]), shown(b[field])) end
  end
  for _, map in ipairs(MAPS) do
    for _, key in ipairs(tables.keys(tables.update(tables.copy(a[map]), b[map]))) do
      local x, y = shown(a[map][key]), shown(b[map][key])
      if x ~= y then list[#list + 1] = ("%s.%s: %s -> %s"):format(map, key, x, y) end
    end
  end
  return #list > 0 and table.concat(list, ", ") or "its place"
end

-- The URI of a vertex; a list of vertices in containment does not have those that are detached.
local function uri(v) return v and v:uri() or "a pool outside of containment" end

-- Lists the vertices that differ. Returns the vertices of a, by position of their pairs in b.
local function vertices(steps, a, b)
  local x, y = assert(a:find "size>=0"), assert(b:find "size>=0")
  local i, k, pairs_of = 0, 0, {}
  for _, step in ipairs(steps) do
    for _ = 1, step.keep or 0 do
      i, k = i + 1, k + 1
      pairs_of[k] = x[i]
    end
    for _ = 1, step.drop or 0 do
      i = i + 1
      out.line("- " .. uri(x[i]))
    end
    for _ = 1, #(step.add or {}) do
      k = k + 1
      out.line("+ " .. uri(y[k]))
    end
    for _ = 1, #(step.set or {}) do
      i, k = i + 1, k + 1
      pairs_of[k] = x[i]
      out.line(("~ %s  %s"):format(uri(y[k]), x[i] and y[k] and changes(x[i], y[k]) or "other data"))
    end
  end
  return pairs_of
end

-- The place of a key that weir does not know, by the key of the data of v, and the key; nil for a key of another kind.
local function place_of(key, v)
  local rest = key:match "^jgf%.graph%-metadata%.(.*)$"
  if rest then return "metadata of the graph", rest end
  rest = key:match "^jgf%.graph%.(.*)$"
  if rest then return "the graph", rest end
  rest = key:match "^jgf%.contains%.(.*)$"
  if rest then return "containment: the edge to " .. uri(v), rest end
  local subsystem
  subsystem, rest = key:match "^jgf%.edge%.(.-)%..-%.%x+%-%x+%-%x+%-%x+%-%x+%.(.*)$"
  if subsystem then return ("%s: an edge to %s"):format(subsystem, uri(v)), rest end
end

-- Lists the keys of edges and of the graph that weir does not know, and that differ.
local function foreign(list, pairs_of, b)
  local y = assert(b:find "size>=0")
  for _, one in ipairs(list) do
    local v = y[one.vertex + 1]
    local before, after = pairs_of[one.vertex + 1] and pairs_of[one.vertex + 1].data or {}, one.data
    for _, key in ipairs(tables.keys(tables.update(tables.copy(before), after))) do
      local place, name = place_of(key, v)
      local old, new = before[key], after[key]
      if place and old ~= new then out.line(("~ %s  %s: %s -> %s"):format(place, name, shown(old), shown(new))) end
    end
  end
end

local function edges(steps, b)
  local y = assert(b:find "size>=0")
  for _, step in ipairs(steps) do
    if step.drop then out.line(("- %d edge%s"):format(step.drop, step.drop == 1 and "" or "s")) end
    for _, e in ipairs(step.add or {}) do
      out.line(("+ %s: %s %s %s"):format(e.subsystem, uri(y[e.source + 1]), e.relationship, uri(y[e.target + 1])))
    end
  end
end

local function jobs(change, a)
  local there = tables.set(tables.column(core.engine({ resources = a }):jobs(), "id"))
  for _, id in ipairs(change.drop) do out.line(("- job %d"):format(id)) end
  for _, set in ipairs(change.set) do out.line(("%s job %d"):format(there[set.id] and "~" or "+", set.id)) end
end

local function summary(text, a, b)
  local d = weir.json.decode(text).weir_difference
  if a:now() ~= b:now() then out.line(("~ clock  %s -> %s"):format(a:now(), b:now())) end
  local pairs_of = vertices(d.nodes, a, b)
  edges(d.edges, b)
  foreign(d.foreign or {}, pairs_of, b)
  jobs(d.jobs, a)
end

function M.run(opts)
  local a, b = inputs.resources { resources = opts[1] }, inputs.resources { resources = opts[2] }
  local text = out.check(a:diff(b))
  local from, to = text:match '"from":"(%x+)","to":"(%x+)"'
  if not opts.quiet then
    if opts.summary then summary(text, a, b) else out.write(text) end
  end
  return from == to and 0 or 1
end

return M
