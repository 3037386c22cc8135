--- expression.lua - the expressions of `find`: KEY=VALUE, put together by "and" (or just a blank) and "or", which bind
-- alike from left to right, and by parentheses.
--
-- An expression is compiled to a tree: a leaf {key, value}, or {first, {op, tree}, {op, tree}, ...}.

local core = require "weir.core"
local jobid = require "weir.query.jobid"

local M = {}

-- ---- what a key takes ---------------------------------------------------------------------------------------

local function one_of(...)
  local set = {}
  for _, word in ipairs { ... } do set[word] = true end
  return function(value) return set[value:lower()] and value:lower() end
end

local READ = {
  status = one_of("up", "down"), ["sched-now"] = one_of("allocated", "free"),
  ["sched-future"] = one_of("reserved", "free"), agfilter = one_of("true", "t", "false", "f"),
  ["jobid-alloc"] = jobid.parse, ["jobid-span"] = jobid.parse, ["jobid-tag"] = jobid.parse,
  ["jobid-reserved"] = jobid.parse,
}

-- Names are compared as they are, though the list of them was made lower case: a quirk.
function READ.names(value) return (core.hostlist(value:lower())) end

function READ.property(value) return value ~= "" and value:lower() end

-- ---- parsing ------------------------------------------------------------------------------------------------

local parse

local function closing(text, at)
  local depth, i = 1, at + 1
  while depth > 0 do
    i = text:find("[()]", i)
    if not i then return nil end
    depth = depth + (text:sub(i, i) == ")" and -1 or 1)
    i = i + 1
  end
  return i
end

-- A leaf or a part in parentheses from `at` on; the place behind it.
local function parse_part(text, at)
  local start = text:find("[^ \t]", at)
  if not start then return nil end
  if text:sub(start, start) == "(" then
    local stop = closing(text, start)
    return stop and parse(text:sub(start + 1, stop - 2)), stop
  end
  local stop = text:find("[ \t]", start) or #text + 1
  local key, value = text:sub(start, stop - 1):match "^([^=]*)=(.*)$"
  local read = key and READ[key] and READ[key](value)
  return read and { key = key, value = read }, stop
end

-- "and", "or" or nothing, which is "and", from `at` on.
local function parse_operator(text, at)
  if not text:match("^[ \t]", at) then return nil end
  local word, stop = text:match("^[ \t]+([^ \t]+)()", at)
  if word == "and" or word == "or" then return word, stop end
  return "and", at
end

function parse(text)
  local first, at = parse_part(text, 1)
  if not first then return nil end
  local tree, last = { first }, #text:match "^(.-)[ \t]*$"
  while at <= last do
    local operator, part
    operator, at = parse_operator(text, at)
    if not operator then return nil end
    part, at = parse_part(text, at)
    if not part then return nil end
    tree[#tree + 1] = { operator, part }
  end
  return tree
end

-- Calls f(leaf) for each leaf.
local function each_leaf(tree, f)
  if tree.key then return f(tree) end
  each_leaf(tree[1], f)
  for i = 2, #tree do each_leaf(tree[i][2], f) end
end

--- {tree, job (of the last key that names one, 0), usage (whether what is in use is asked for)}; nil: malformed.
function M.parse(text)
  local tree = parse(text)
  if not tree then return nil end
  local expression = { tree = tree, job = 0, usage = false }
  each_leaf(tree, function(leaf)
    if leaf.key:match "^jobid%-" then
      expression.job = leaf.value
    elseif leaf.key == "agfilter" then
      expression.usage = leaf.value:sub(1, 1) == "t"
    end
  end)
  return expression
end

-- ---- evaluating ---------------------------------------------------------------------------------------------

local TEST = {}

-- What holds for a vertex above holds below: `above` has down, allocated and reserved.
function TEST.status(v, value, above) return ((above.down or v.down or false) == (value == "down")) end

TEST["sched-now"] = function(v, value, above)
  return (above.allocated or next(v.allocations) ~= nil) == (value == "allocated")
end

TEST["sched-future"] = function(v, value, above)
  return (above.reserved or next(v.reservations) ~= nil) == (value == "reserved")
end

TEST["jobid-alloc"] = function(v, job) return v.allocations[job] ~= nil end
TEST["jobid-reserved"] = function(v, job) return v.reservations[job] ~= nil end
TEST["jobid-span"] = function(v, job) return v.job2span[job] ~= nil end
TEST["jobid-tag"] = function(v, job) return v.tags[job] ~= nil end
function TEST.agfilter(_, value) return value:sub(1, 1) == "t" end
function TEST.names(v, list) return list:has(v.name) end
function TEST.property(v, name) return v.properties[name] ~= nil end

local function evaluate(tree, v, above)
  if tree.key then return TEST[tree.key](v, tree.value, above) end
  local result = evaluate(tree[1], v, above)
  for i = 2, #tree do
    local other = evaluate(tree[i][2], v, above)
    if tree[i][1] == "and" then result = result and other else result = result or other end
  end
  return result
end

--- Whether an expression holds for a vertex.
function M.holds(expression, v, above) return evaluate(expression.tree, v, above) end

return M
