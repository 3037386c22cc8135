--- resource_list.lua - resources by state, as shown by `flux resource list`: all, down and allocated are resource
--- sets; up is all without down; free is up without allocated. A line shows the parts of a state that look alike.

local core = require "weir.core"
local rset = require "weir.rset"
local tables = require "weir.tables"

local M = {}

M.STATES = { "up", "down", "allocated", "free", "all" }

-- ---- the sets -----------------------------------------------------------------------------------------------

local Listing = {}

-- Computes up and free on first use.
function Listing.__index(self, state)
  local set
  if state == "up" then set = self.all - self.down end
  if state == "free" then set = self.up - self.allocated end
  self[state] = set
  return set
end

--- Makes a listing of three sets; down and allocated may be nil.
function M.of(all, down, allocated)
  return setmetatable({ all = all, down = down or core.rset(), allocated = allocated or core.rset() }, Listing)
end

--- Makes a listing of the present state of a graph.
function M.of_graph(g)
  local sets = {}
  for _, state in ipairs { "all", "down", "allocated" } do
    local set, why, code = g:rset { state = state }
    if not set then return nil, why, code end
    sets[state] = set
  end
  return M.of(sets.all, sets.down, sets.allocated)
end

-- Makes a listing of an R; the states come from the scheduling graph of the R, if present.
local function of_rset(all)
  if not all:writer() then return M.of(all) end
  local g <close>, why, code = all:graph()
  if not g then return nil, why, code end
  local down
  down, why, code = g:rset { state = "down" }
  if not down then return nil, why, code end
  return M.of(all, down)
end

-- Makes a listing of a scheduler's answer: {"all": R, "down": R, "allocated": R}, each possibly null.
local function of_answer(doc, source)
  local sets = {}
  for _, state in ipairs { "all", "down", "allocated" } do
    local R = doc[state]
    local set, why, code = core.rset(R ~= core.null and R or nil)
    if not set then return nil, ("%s: %s: %s"):format(source, state, why), code end
    sets[state] = set
  end
  return M.of(sets.all, sets.down, sets.allocated)
end

--- Whether M.parse can read a text: an R, or the answer of a scheduler.
function M.reads(text)
  local key = text:match '^%s*{%s*"([^"]*)"'
  return key ~= nil and key ~= "graph"
end

--- Makes a listing of an R or of the answer of a scheduler, as text.
function M.parse(text, source)
  local key = text:match '^%s*{%s*"([^"]*)"'
  if key ~= "all" and key ~= "down" and key ~= "allocated" then
    local all, why, code = rset.new(text, source)
    if not all then return nil, why, code end
    return of_rset(all)
  end
  local doc, why, code = core.json_decode(text)
  if not doc then return nil, source .. ": " .. why, code end
  return of_answer(doc, source)
end

--- The union of two listings; or nil, message, code for sets with equal ranks on different hosts.
function M.join(a, b)
  local sets = {}
  for _, state in ipairs { "all", "down", "allocated" } do
    local set, why, code = a[state]:union(b[state])
    if not set then return nil, why, code end
    sets[state] = set
  end
  return M.of(sets.all, sets.down, sets.allocated)
end

--- The part of a listing on some ranks.
function M.on_ranks(listing, ranks)
  local down, allocated = listing.down:on_ranks(ranks), listing.allocated:on_ranks(ranks)
  return M.of(assert(listing.all:on_ranks(ranks)), down, allocated)
end

-- ---- queues -------------------------------------------------------------------------------------------------

-- The configuration of a queue, or of the queue's parent.
local function entry_of(queues, name)
  local entry = queues[name]
  return entry and (entry.parent and queues[entry.parent] or entry)
end

local function requires(entry) return entry and entry.requires or {} end

--- The ranks of a queue: all ranks with every property required by the queue; nil for an unknown queue.
function M.queue_ranks(listing, queues, name)
  local entry = entry_of(queues, name)
  return entry and listing.all:where(core.constraint { properties = core.array(requires(entry)) }):ranks()
end

-- The queues of a set with the properties given, sorted by name.
local function queues_of(properties, view)
  return table.concat(tables.filter(view.names, function(name)
    return tables.all(requires(entry_of(view.queues, name)), function(property) return properties[property] end)
  end), ",")
end

-- ---- lines --------------------------------------------------------------------------------------------------

--- The fields of a set as texts and numbers.
function M.fields(state, set, view, queue)
  local properties, hosts = set:properties(), set:hosts()
  return {
    state = state, queue = queue or #set > 0 and queues_of(properties, view) or "",
    properties = table.concat(properties, ","),
    propertiesx = table.concat(tables.filter(properties, function(name) return not view.queues[name] end), ","),
    nnodes = #set, ncores = set:count "core", ngpus = set:count "gpu",
    ranks = tostring(set:ranks()), nodelist = hosts and tostring(hosts) or "", rlist = set:format "rlist",
  }
end

-- Splits a set into parts of ranks with equal properties.
local function split(set)
  local parts, properties = { set }, set:properties()
  for _, name in ipairs(properties) do
    local finer = {}
    for _, part in ipairs(parts) do
      local with = part:on_ranks(properties[name])
      for _, piece in ipairs { with, part - with } do
        if #piece > 0 then finer[#finer + 1] = piece end
      end
    end
    parts = finer
  end
  return parts
end

local LOOKS = { "state", "queue", "properties", "propertiesx" }

-- The key of a line: the shown fields of LOOKS. Parts with equal keys share a line.
local function look(fields, shown)
  local words = {}
  for i, name in ipairs(LOOKS) do words[i] = shown(name) and fields[name] or "" end
  return table.concat(words, "\n")
end

local function first_rank(set) return set:ranks():first() or math.huge end

-- Adds a part to the line with an equal key, or makes a new line.
local function place(lines, line, key)
  local there = lines[key]
  if there then
    there.set = assert(there.set:union(line.set))
  else
    line.order = #lines + 1
    lines[line.order], lines[key] = line, line
  end
end

--- The lines of some states: a list of {state =, set =, queue =}. shown(field): whether a field is shown.
--- view.queues: the configuration of queues; view.names: the queues shown.
function M.lines(listing, states, shown, view)
  local lines = {}
  for n, state in ipairs(states) do
    local set = listing[state]
    if #set == 0 then
      for _, queue in ipairs(#view.names > 0 and view.names or { "" }) do
        place(lines, { state = state, n = n, set = set, queue = queue }, look(M.fields(state, set, view, queue), shown))
      end
    else
      for _, part in ipairs(split(set)) do
        place(lines, { state = state, n = n, set = part }, look(M.fields(state, part, view), shown))
      end
    end
  end
  for _, line in ipairs(lines) do line.first = first_rank(line.set) end
  table.sort(lines, function(a, b)
    if a.n ~= b.n then return a.n < b.n end
    if a.first ~= b.first then return a.first < b.first end
    return a.order < b.order
  end)
  return lines
end

return M
