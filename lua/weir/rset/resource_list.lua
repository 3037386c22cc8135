--- resource_list.lua - resources by state, as `flux resource list` shows them: all, down and allocated are resource sets; up is
--- what is not down, free what is up and not allocated. Lines are the parts of a state that look alike.

local core = require "weir.core"
local rset = require "weir.rset"

local M = {}

M.STATES = { "up", "down", "allocated", "free", "all" }

-- ---- the sets -----------------------------------------------------------------------------------------------

local Listing = {}

-- up and free are worked out when they are asked for.
function Listing.__index(self, state)
  local set
  if state == "up" then set = self.all - self.down end
  if state == "free" then set = self.up - self.allocated end
  self[state] = set
  return set
end

--- A listing of three sets, of which down and allocated may be nil.
function M.of(all, down, allocated)
  return setmetatable({ all = all, down = down or core.rset(), allocated = allocated or core.rset() }, Listing)
end

--- A listing of a graph as it is now.
function M.of_graph(g)
  local sets = {}
  for _, state in ipairs { "all", "down", "allocated" } do
    local set, why, code = g:rset { state = state }
    if not set then return nil, why, code end
    sets[state] = set
  end
  return M.of(sets.all, sets.down, sets.allocated)
end

-- An R tells no more than what there is, but the graph in it has states.
local function of_rset(all)
  if not all:writer() then return M.of(all) end
  local g <close>, why, code = all:graph()
  if not g then return nil, why, code end
  local down
  down, why, code = g:rset { state = "down" }
  if not down then return nil, why, code end
  return M.of(all, down)
end

-- The answer of a scheduler: {"all": R, "down": R, "allocated": R}, each of which may be null.
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

--- Whether a text is something that parse takes: an R, or the answer of a scheduler.
function M.reads(text)
  local key = text:match '^%s*{%s*"([^"]*)"'
  return key ~= nil and key ~= "graph"
end

--- A listing of such a text.
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

--- What two listings have together; of sets with the same ranks for other hosts: nil, message, code.
function M.join(a, b)
  local sets = {}
  for _, state in ipairs { "all", "down", "allocated" } do
    local set, why, code = a[state]:union(b[state])
    if not set then return nil, why, code end
    sets[state] = set
  end
  return M.of(sets.all, sets.down, sets.allocated)
end

--- The part of a listing that is on some ranks.
function M.on_ranks(listing, ranks)
  local down, allocated = listing.down:on_ranks(ranks), listing.allocated:on_ranks(ranks)
  return M.of(assert(listing.all:on_ranks(ranks)), down, allocated)
end

-- ---- queues -------------------------------------------------------------------------------------------------

-- The entry of a queue, or that of its parent.
local function entry_of(queues, name)
  local entry = queues[name]
  return entry and (entry.parent and queues[entry.parent] or entry)
end

local function requires(entry) return entry and entry.requires or {} end

--- The ranks of a queue: those that have all properties it requires. nil: there is no such queue.
function M.queue_ranks(listing, queues, name)
  local entry = entry_of(queues, name)
  return entry and listing.all:where(core.constraint { properties = core.array(requires(entry)) }):ranks()
end

local function has_all(properties, names)
  for _, name in ipairs(names) do
    if not properties[name] then return false end
  end
  return true
end

-- The queues that a set with these properties belongs to, in the order of their names.
local function queues_of(properties, view)
  local list = {}
  for _, name in ipairs(view.names) do
    if has_all(properties, requires(entry_of(view.queues, name))) then list[#list + 1] = name end
  end
  return table.concat(list, ",")
end

-- ---- lines --------------------------------------------------------------------------------------------------

local function names_of(properties, but)
  local list = {}
  for _, name in ipairs(properties) do
    if not (but and but[name]) then list[#list + 1] = name end
  end
  return list
end

--- The fields of a set: texts and numbers.
function M.fields(state, set, view, queue)
  local properties, hosts = set:properties(), set:hosts()
  return {
    state = state, queue = queue or #set > 0 and queues_of(properties, view) or "",
    properties = table.concat(names_of(properties), ","), propertiesx = table.concat(names_of(properties, view.queues), ","),
    nnodes = #set, ncores = set:count "core", ngpus = set:count "gpu",
    ranks = tostring(set:ranks()), nodelist = hosts and tostring(hosts) or "", rlist = set:format "rlist",
  }
end

-- The parts of a set whose ranks have the same properties.
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

-- What parts must have in common to share a line: those of LOOKS that are shown.
local function look(fields, shown)
  local words = {}
  for i, name in ipairs(LOOKS) do words[i] = shown(name) and fields[name] or "" end
  return table.concat(words, "\n")
end

local function first_rank(set) return set:ranks():first() or math.huge end

-- Puts a part on the line of its look, or on a line of its own.
local function place(lines, line, key)
  local there = lines[key]
  if there then
    there.set = assert(there.set:union(line.set))
  else
    line.order = #lines + 1
    lines[line.order], lines[key] = line, line
  end
end

--- The lines of some states: {state =, set =, queue =} each. shown(field): whether a field is to be seen. view.queues is
--- the configuration of queues, view.names those to be seen.
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
