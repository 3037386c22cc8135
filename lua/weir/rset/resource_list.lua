--- resource_list.lua - resources by state: all, down and allocated are resource
--- sets; up is all without down; free is up without allocated. A line shows the parts of a state that look the same.

local core = require "weir.core"
local failure = require "weir.failure"
local rset = require "weir.rset"
local tables = require "weir.tables"

local M = {}

local must = failure.must

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

-- Makes a listing of the sets that set_of(state) returns.
local function of_each(set_of)
  return M.of(must(set_of "all"), must(set_of "down"), must(set_of "allocated"))
end

--- Makes a listing of the present state of a graph.
function M.of_graph(g)
  return of_each(function(state) return g:rset { state = state } end)
end

-- Makes a listing of an R; the states come from the scheduling graph of the R, if present.
local function of_rset(all)
  if not all:writer() then return M.of(all) end
  local g <close> = must(all:graph())
  return M.of(all, must(g:rset { state = "down" }))
end

-- Makes a listing of a scheduler's answer: {"all": R, "down": R, "allocated": R}, each possibly null.
local function of_answer(doc, source)
  return of_each(function(state)
    local R = doc[state]
    local set, why, code = core.rset(R ~= core.null and R or nil)
    return set, why and ("%s: %s: %s"):format(source, state, why), code
  end)
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
    return of_rset(must(rset.new(text, source)))
  end
  local doc, why, code = core.json_decode(text)
  return of_answer(must(doc, why and source .. ": " .. why, code), source)
end

--- The union of two listings; or nil, message, code for sets with equal ranks on different hosts.
function M.join(a, b)
  return of_each(function(state) return a[state]:union(b[state]) end)
end

failure.returning(M, { "of_graph", "parse", "join" })

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
  for _, line in ipairs(lines) do line.first = line.set:ranks():first() or math.huge end
  tables.sort(lines, "n", "first", "order")
  return lines
end

return M
