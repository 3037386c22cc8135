--- matching.lua - connects the commands of the shell with fluxion_match: turns allocations into parts (tree.lua).

local core = require "weir.core"
local match = require "weir.query.fluxion_match.match"
local policy = require "weir.query.fluxion_match.policy"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"

local M = {}

--- Returns true if -P accepts the name of a policy; or nil and a reason.
M.check_policy = match.check_policy

-- Operations of `match`; true if the job keeps the resources found.
local BOOKS = {
  allocate = true, allocate_with_satisfiability = true, allocate_orelse_reserve = true, satisfiability = false,
  without_allocating = false, without_allocating_future = false,
}

--- Returns whether an operation is known.
function M.known(operation) return BOOKS[operation] ~= nil end

--- Returns whether the job keeps the resources that an operation finds.
function M.books(operation) return BOOKS[operation] end

-- Appends the resources of a request to a list in preorder, {type, parent (index of the enclosing resource)}.
local function number(resources, parent, list)
  for _, r in ipairs(resources) do
    list[#list + 1] = { type = r.type, parent = parent }
    number(r.with or {}, #list, list)
  end
  return list
end

-- Returns the nearest enclosing resource that is not a slot.
local function holder_of(r, resources)
  repeat r = resources[r.parent] until not r or (r.type ~= "slot" and r.type ~= "or_slot")
  return r
end

-- Copies the labels of enclosing resources to the ancestors of v with the types of these resources.
local function label_above(parts, v, resources, at, labels)
  local r = resources[at]
  while r and r.parent do
    at = r.parent
    r = resources[at]
    local above = labels[at - 1] and v:ancestor(r.type)
    if above then parts.labels[above] = labels[at - 1] end
  end
end

-- Returns a vertex of a type with a link to v. weir stores second parents as edges of the subsystem "links".
local function linked_from(v, type)
  for _, edge in ipairs(v:edges "links") do
    if edge.target == v and edge.source.type == type then return edge.source end
  end
end

-- Records in parts.above the source of a link, for each vertex reached through a link and not as a descendant.
local function note_links(parts, v, resources, at)
  local r, above = resources[at], holder_of(resources[at], resources)
  while v and above do
    v = v:ancestor(r.type)
    local source = v and not v:ancestor(above.type) and linked_from(v, above.type)
    if source then
      parts.above = parts.above or {}
      parts.above[v] = source
    end
    v, r, above = source or v, above, holder_of(above, resources)
  end
end

-- Appends the picks to the parts. A shared pick (amount 0) only contributes a label.
local function add(parts, picks, inside, resources, links)
  local labels = inside.labels or {}
  for _, pick in ipairs(picks) do
    if links then note_links(parts, pick.vertex, resources, pick.resource + 1) end
    local label = labels[pick.resource]
    if pick.amount > 0 then
      local whole = inside.whole and inside.whole[pick.vertex.type] or false
      parts[#parts + 1] = { vertex = pick.vertex, amount = pick.amount, exclusive = true, label = label, whole = whole }
    elseif label then
      parts.labels[pick.vertex] = label
    end
    if next(labels) then label_above(parts, pick.vertex, resources, pick.resource + 1, labels) end
  end
end

-- Returns whether pruning filters count a type of a request.
local function is_counted(session, resources)
  local counted = session:counted()
  return tables.any(resources, function(r) return counted[r.type] end)
end

local function describe(session, found, inside)
  if found == true then return { at = 0, duration = 0, parts = {} } end
  local parts, resources = { labels = {} }, number(inside.request:resources(), nil, {})
  local links = session.machine:has_links()
  add(parts, found:vertices(), inside, resources, links)
  add(parts, inside, inside, resources, links)
  return { at = found.at, duration = found.duration, queue = inside.queue, parts = parts,
    counted = is_counted(session, resources) }
end

local function match_at(session, text, operation, at)
  local inside, options = {}, session.options
  local found, why, code = match.match(session.engine, text, {
    mode = operation, at = at, policy = options.policy, traverser = options.traverser,
    jobid = session:id_of(session.counter), inside = inside, counts_nodes = session.machine.filters.counted.node or false,
  })
  if not found then return nil, why, code end
  return describe(session, found, inside)
end

local LATER = { allocate_orelse_reserve = "allocate", without_allocating_future = "without_allocating" }

-- Matches now, or else at the times that resource-query would try: the begins and ends of counted jobs (stale.lua; `minds`: its
-- quirk counts). A request that fits at none of these times is distinguished from one that never fits.
local function match_at_points(session, text, operation, minds)
  local found, why, code = match_at(session, text, LATER[operation], 0)
  if found or code ~= "busy" then return found, why, code end
  found, why, code = session.stale:reserve(session:points(), function(at)
    return match_at(session, text, LATER[operation], at)
  end, minds and function(at) return match_at(session, text, "without_allocating", at) end)
  if found or code ~= "busy" then return found, why, code end
  local never, reason, verdict = match_at(session, text, "feasible", 0)
  if never == nil and verdict == "infeasible" then return nil, reason, verdict end
  return nil, why, code
end

local function is_map(x) return type(x) == "table" and getmetatable(x) ~= "weir.array" end

local function add_types(resources, types)
  for _, r in ipairs(type(resources) == "table" and resources or {}) do
    if is_map(r) and type(r.type) == "string" then types[r.type] = true end
    if is_map(r) then add_types(r.with, types) end
  end
  return types
end

-- Returns an error message if a jobspec is none to resource-query, or requests unknown types. Reads the plain JSON or
-- YAML, as weir may reject the jobspec.
local function check_document(session, text)
  local document = core.document(text, { format = "yaml" })
  local fault = quirks.jobspec_fault(document)
  if fault or not is_map(document) then return fault end
  local types = add_types(document.resources, {})
  return quirks.unknown_type(session.machine, types), types
end

-- Whether the numbers that stay as they were when vertices are attached count for a jobspec of these types. Quirk: those of
-- nodes are brought up to date, those of other counted types are not.
local function counts_stale(session, types)
  local counted = session:counted()
  for type in pairs(types) do
    if counted[type] and type ~= "node" then return session.stale:minds() end
  end
  return false
end

--- Matches a jobspec. Returns {at, duration, queue, parts}; or nil, message, code.
function M.run(session, text, operation)
  local wrong, types = check_document(session, text)
  if wrong then return nil, wrong, "invalid" end
  text = quirks.in_whole_seconds(text)
  local minds = LATER[operation] and counts_stale(session, types or {})
  if minds or LATER[operation] and #session:points() < #session:list() then
    return match_at_points(session, text, operation, minds)
  end
  return match_at(session, text, operation, 0)
end

--- Explains why a jobspec does not fit, at a path if given. Returns a report; or nil and a reason.
function M.explain(session, text, path)
  local chosen, why = policy.get(session.options.policy)
  if not chosen then return nil, why end
  local requests, unread = match.requests(text, session.options.traverser)
  if not requests then return nil, unread end
  local report, failed = session.engine:explain(requests[1], match.reading { policy = chosen, vertex = path })
  if report and #requests > 1 then
    report.why = report.why or ("the jobspec expands to %d requests; this is about the first of them"):format(#requests)
  end
  return report, failed
end

return M
