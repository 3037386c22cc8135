--- chain.lua - a policy made of several. Used by weir.policy.chain and weir.policy.weighted. The file is loaded into
--- the state in which the parts live, and so requires no modules.
---
--- A part is {policy = the policy's table, options = values of the policy's options}.

local M = {}

-- ---- parts --------------------------------------------------------------------------------------------------

-- The field of the combined state that has the state of a part.
local function state_name(part) return ("%d.%s"):format(part.number, part.policy.name or "") end

-- Returns a function from a request to the request with the options and the state of a part. The last result is cached,
-- as consecutive calls mostly concern the same request.
local function views(part)
  local last, view
  return function(request)
    if request ~= last then
      last, view = request, setmetatable({ options = part.options }, { __index = request })
      if part.policy.state then view.state = request.state[state_name(part)] end
    end
    return view
  end
end

local function ancestor(v, kind)
  while v and v.type ~= kind do v = v:parent() end
  return v
end

-- Scores a vertex by the free units in the group of `select`, for a part that takes the emptiest groups first.
local function emptiness(select)
  return function(v)
    local group = select.group and ancestor(v, select.group) or not select.group and v:parent()
    local _, free = (group or v):below(v.type)
    return free
  end
end

local order_of
local FAR <const> = 1 << 53 -- beyond the first field of any order

-- Scores a vertex by its place in the turn, for a part that rotates.
local function turn(part)
  local keys, view = order_of(part), views(part)
  return function(v, request)
    local number, next = keys(v)[1], view(request).state[part.policy.rotate]
    return -(number >= next and number or number + FAR)
  end
end

-- The score of a part that has a share for all siblings: the sum.
local function summed(own, siblings)
  return function(v, request)
    local score, shared = own(v, request), siblings(v, request)
    return score and shared and score + shared
  end
end

-- Returns a part's hook as function(v, request), called with options and declared fields as the engine does; nil for
-- none. hook_of: without what siblings share.
local function hook_of(part, hook)
  local select = part.policy.select
  if hook == "evaluate" and type(select) == "table" and select.emptiest then return emptiness(select) end
  if hook == "evaluate" and part.policy.rotate then return turn(part) end
  local f, fields, view = part.policy[hook], part.policy.fields, views(part)
  if not f then return nil end
  if not fields then return function(v, request) return f(v, view(request)) end end
  if type(fields) == "string" then fields = { fields } end
  return function(v, request)
    local values = {}
    for i, name in ipairs(fields) do values[i] = v[name] end
    return f(v, view(request), table.unpack(values, 1, #fields))
  end
end

local function filter(part, hook)
  local f, siblings = hook_of(part, hook), hook == "evaluate" and hook_of(part, "evaluate_siblings")
  return siblings and summed(f, siblings) or f
end

local function filters(parts, hook)
  local list = {}
  for _, part in ipairs(parts) do list[#list + 1] = filter(part, hook) end
  return list
end

-- ---- orders -------------------------------------------------------------------------------------------------

-- Turns a word of an order list into a function from a vertex to a number; a missing value sorts last.
local function key(word)
  local sign, rest = 1, word
  if word:sub(1, 1) == "-" then sign, rest = -1, word:sub(2) end
  local kind, field = rest:match "^([^.]+)%.(.+)$"
  if kind == "properties" then kind, field = nil, rest end
  local property = (field or rest):match "^properties%.(.+)$"
  return function(v)
    if kind then v = ancestor(v, kind) end
    local value = v and (property and tonumber(v.properties[property]) or not property and v[field or rest])
    return value and sign * value or math.huge
  end
end

-- A part's order as a function from a vertex to a list of numbers; nil for a part without an order.
function order_of(part)
  local order = part.policy.order
  if type(order) == "function" then
    return function(v) return { order(v, part.options) } end
  elseif order then
    local keys = {}
    for i, word in ipairs(type(order) == "string" and { order } or order) do keys[i] = key(word) end
    return function(v)
      local list = {}
      for i, f in ipairs(keys) do list[i] = f(v) end
      return list
    end
  end
end

-- The concatenated orders of all parts, cut to four numbers.
local function order(parts)
  local list = {}
  for _, part in ipairs(parts) do list[#list + 1] = order_of(part) end
  if #list == 0 then return nil end
  return function(v)
    local all = {}
    for _, f in ipairs(list) do
      for _, number in ipairs(f(v)) do all[#all + 1] = number end
    end
    return table.unpack(all, 1, math.min(#all, 4))
  end
end

-- ---- what all combinations share ----------------------------------------------------------------------------

local function exclusive(parts)
  local list = {}
  for _, part in ipairs(parts) do
    local own = part.policy.exclusive or {}
    for _, kind in ipairs(type(own) == "string" and { own } or own) do list[#list + 1] = kind end
  end
  return #list > 0 and list or nil
end

local function init(parts)
  return function(graph)
    for _, part in ipairs(parts) do
      if part.policy.init then part.policy.init(graph, part.options) end
    end
  end
end

-- Calls the admit hooks of all parts in turn, each with the request returned by the previous hook.
local function admit(parts)
  local function ask(request, _, job)
    local amended
    for _, part in ipairs(parts) do
      if part.policy.admit then
        local answer, reason = part.policy.admit(request, part.options, job)
        if answer == false then return false, reason end
        if type(answer) == "table" then request, amended = answer, answer end
      end
    end
    return amended
  end
  for _, part in ipairs(parts) do
    if part.policy.admit then return ask end
  end
end

local function kept(...)
  if select("#", ...) == 0 then error("prune must return true, or false to leave out a vertex; it returned nothing", 0) end
  return ...
end

local function prune(parts)
  local list = filters(parts, "prune")
  if #list == 0 then return nil end
  return function(v, request)
    for _, f in ipairs(list) do
      if not kept(f(v, request)) then return false end
    end
    return true
  end
end

-- Returns the states of all parts as one, and the hooks `placed` and `finished` that call the parts' hooks; nil where no part
-- has a state, or the hook.
local function state(parts)
  local list, all = {}, {}
  for _, part in ipairs(parts) do
    if part.policy.state then list[#list + 1], all[state_name(part)] = part, part.policy.state end
  end
  if #list == 0 then return nil end
  local function calls(hook)
    local of = {}
    for _, part in ipairs(list) do of[#of + 1] = part.policy[hook] and part end
    if #of == 0 then return nil end
    return function(job, values, vertices)
      for _, part in ipairs(of) do part.policy[hook](job, values[state_name(part)], vertices, part.options) end
    end
  end
  return all, calls "placed", calls "finished"
end

local function common(parts, name, doc)
  for i, part in ipairs(parts) do part.number = i end
  local policy = {
    name = name, doc = doc, init = init(parts), admit = admit(parts), prune = prune(parts),
    exclusive = exclusive(parts),
  }
  policy.state, policy.placed, policy.finished = state(parts)
  return policy
end

-- ---- chain --------------------------------------------------------------------------------------------------

-- The scores of a vertex by all parts, in order; nil where a part rejects the vertex.
local function scores_of(list, v, request)
  local scores = {}
  for i, f in ipairs(list) do
    local score = f(v, request)
    if not score then return nil end
    scores[i] = score
  end
  return scores
end

local function better(a, b)
  for i, x in ipairs(a.scores) do
    if x ~= b.scores[i] then return x > b.scores[i] end
  end
  return a.at < b.at
end

-- Returns data of a part's `select` with the values of the part's options in place.
local function with_options(part, data)
  local out = {}
  if type(data) == "function" then return function(v) return data(v, part.options) end end
  if type(data) == "string" then return part.options[data:match "^options%.(.+)$"] or data end
  if type(data) ~= "table" then return data end
  for name, value in pairs(data) do
    if name ~= "emptiest" then out[name] = with_options(part, value) end -- has become an evaluate
  end
  return out
end

-- Returns the choice of the last part with a select: a function, or data.
local function chooser(parts)
  for i = #parts, 1, -1 do
    local f, view = parts[i].policy.select, views(parts[i])
    if type(f) == "function" then return function(list, request, ...) return f(list, view(request), ...) end end
    if f then return with_options(parts[i], type(f) == "string" and { f } or f) end
  end
end

local function chain_select(parts, list)
  local choose = chooser(parts)
  if #list < 2 then return choose end
  local function sort(candidates, request, min, max, scores)
    local rows, sorted, values = {}, {}, {}
    for i, v in ipairs(candidates) do
      rows[i] = { at = i, v = v, scores = scores_of(list, v, request) or {} }
    end
    table.sort(rows, better)
    for i, row in ipairs(rows) do sorted[i], values[i] = row.v, scores[row.at] end
    return type(choose) == "function" and choose(sorted, request, min, max, values) or sorted
  end
  if type(choose) ~= "table" then return sort end
  choose.sort = sort
  return choose
end

--- Makes a policy in which the first part decides, the second where the first sees no difference, and so on. The
--- prune and admit hooks of all parts apply.
function M.chain(parts)
  local policy = common(parts, "chain", "The first of several policies decides, the next where it sees no difference.")
  local list = filters(parts, "evaluate")
  policy.order = order(parts)
  policy.select = chain_select(parts, list)
  if #list > 0 then
    policy.evaluate = function(v, request)
      local scores = scores_of(list, v, request)
      return scores and scores[1]
    end
  end
  return policy
end

-- ---- weighted -----------------------------------------------------------------------------------------------

-- A part's opinion of a vertex as a number: the score, or the negated order, as small orders are preferred.
local function opinion(part)
  local score, keys = filter(part, "evaluate"), order_of(part)
  if score then return score end
  if keys then return function(v) return -keys(v)[1] end end
  return function() return 0 end
end

--- Makes a policy by the sum of the parts' opinions, each times a weight.
function M.weighted(parts, weights)
  local policy = common(parts, "weighted", "The weighted sum of what several policies say.")
  local opinions = {}
  for i, part in ipairs(parts) do opinions[i] = opinion(part) end
  function policy.evaluate(v, request)
    local sum = 0
    for i, f in ipairs(opinions) do
      local score = f(v, request)
      if not score then return nil end
      sum = sum + weights[i] * math.max(-1e300, math.min(1e300, score))
    end
    return sum
  end
  return policy
end

return M
