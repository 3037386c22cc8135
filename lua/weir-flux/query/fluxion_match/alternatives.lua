--- alternatives.lua - jobspecs with alternatives, read as by Fluxion's flexible traverser. Sibling slots become
-- or_slots (any combination serves); of sibling xor_slots a single kind serves for all; slots may contain slots,
-- unlike in RFC 14. Such jobspecs are expanded into several requests of weir.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

M.limit = 1000 -- limit of the requests from a single jobspec

-- ---- xor_slots ----------------------------------------------------------------------------------------------

local function with(r, kind, inner)
  local copy = tables.copy(r)
  copy.type = kind
  if #inner > 0 then copy.with = inner end
  return copy
end

-- Returns all lists of `lists` extended by each of `choices`; nil above the limit.
local function product(lists, choices)
  local out = {}
  if #lists * #choices > M.limit then return nil end
  for _, list in ipairs(lists) do
    for _, x in ipairs(choices) do
      local longer = table.move(list, 1, #list, 1, {})
      longer[#longer + 1] = x
      out[#out + 1] = longer
    end
  end
  return out
end

-- Expands a list of resources with xor_slots. Returns the lists without xor_slots; nil above the limit.
local function variants(resources)
  local lists, choices = { {} }, {}
  for _, r in ipairs(resources) do
    local inner, copies = variants(r.with or {}), {}
    if not inner then return nil end
    for i, list in ipairs(inner) do copies[i] = with(r, r.type == "xor_slot" and "slot" or r.type, list) end
    if r.type == "xor_slot" then
      table.move(copies, 1, #copies, #choices + 1, choices)
    else
      lists = product(lists, copies)
      if not lists then return nil end
    end
  end
  return #choices == 0 and lists or product(lists, choices)
end

-- ---- or_slots -----------------------------------------------------------------------------------------------

local function are_slots(list)
  for _, r in ipairs(list) do
    if r.type ~= "slot" then return false end
  end
  return #list > 1
end

local function times(r, n)
  local copy = with(r, r.type, r.with or {})
  copy.count = math.type(r.count) == "integer" and n * r.count or r.count
  return copy
end

-- Replaces slots inside of slots by the contents, with multiplied counts.
local function unnest(list)
  local out = {}
  for _, r in ipairs(list) do
    if r.type ~= "slot" or math.type(r.count) ~= "integer" then
      out[#out + 1] = r
    else
      for _, inner in ipairs(unnest(r.with or {})) do out[#out + 1] = times(inner, r.count) end
    end
  end
  return out
end

-- Turns sibling slots into or_slots, for Fluxion's flexible reading. Labels of slots name tasks and may
-- repeat here, so the labels are numbered.
local function mark(list, state, inside)
  if inside then list = unnest(list) end
  local any, out = state.flexible and are_slots(list), {}
  for i, r in ipairs(list) do
    out[i] = with(r, any and "or_slot" or r.type, mark(r.with or {}, state, inside or r.type == "slot"))
    if r.type == "slot" then
      state.slots = state.slots + 1
      out[i].label = "slot" .. state.slots
    end
  end
  return out
end

--- Expands a jobspec (text). Returns the requests, in order of preference; or nil, message, code. Without `flexible`
-- only slots inside of slots are expanded.
function M.requests(text, flexible)
  local doc, why, code = core.document(text, { format = text:match "^%s*{" and "json" or "yaml" })
  if not doc then return nil, why, code end
  if type(doc) ~= "table" or type(doc.resources) ~= "table" then return core.request(text) end
  local lists = { doc.resources }
  if flexible then lists = variants(doc.resources) end
  if not lists then return nil, ("a jobspec that expands to more than %d requests"):format(M.limit), "limit" end
  local requests = {}
  for i, list in ipairs(lists) do
    requests[i], why, code = core.request { resources = mark(list, { slots = 0, flexible = flexible }), attributes = doc.attributes }
    if not requests[i] then return nil, why, code end
  end
  return requests
end

return M
