--- expression.lua - the expressions of `find`: terms KEY=VALUE, joined by "and" (or just a blank) and "or", and
-- grouped by parentheses. Both operators have equal precedence and associate from left to right.
--
-- An expression is a tree of leaves {key, value} and inner nodes {op, left, right}.

local core = require "weir.core"
local jobid = require "weir.query.jobid"
local tables = require "weir.tables"

local M = {}

-- ---- values -------------------------------------------------------------------------------------------------

local function one_of(...)
  local set = tables.set { ... }
  return function(value) return set[value:lower()] and value:lower() end
end

local VALUE = {
  status = one_of("up", "down"), ["sched-now"] = one_of("allocated", "free"), ["sched-future"] = one_of("reserved", "free"),
  ["jobid-alloc"] = jobid.parse, ["jobid-span"] = jobid.parse, ["jobid-tag"] = jobid.parse, ["jobid-reserved"] = jobid.parse,
}

function VALUE.agfilter(value)
  local first = one_of("true", "t", "false", "f")(value)
  return first and (first:sub(1, 1) == "t" and "t" or "f")
end

-- Quirk: lists of names are made lower case, but the names of vertices are not.
function VALUE.names(value) return (core.hostlist(value:lower())) end
function VALUE.property(value) return value ~= "" and value:lower() end

-- ---- tokens -------------------------------------------------------------------------------------------------

-- Splits a text into "(", ")" and words. A parenthesis inside a word is part of the word, except closing parentheses
-- at the end of the word while a "(" token is open.
local function tokens_of(text)
  local tokens, depth = {}, 0
  for word in text:gmatch "[^ \t]+" do
    while word:sub(1, 1) == "(" do
      tokens[#tokens + 1], word, depth = "(", word:sub(2), depth + 1
    end
    local closing = 0
    while depth > 0 and word:sub(-1) == ")" do
      word, depth, closing = word:sub(1, -2), depth - 1, closing + 1
    end
    if word ~= "" then tokens[#tokens + 1] = word end
    for _ = 1, closing do tokens[#tokens + 1] = ")" end
  end
  return tokens
end

-- ---- parsing ------------------------------------------------------------------------------------------------

local DEEPEST = 200

local Parser = {}
Parser.__index = Parser

function Parser:part(depth)
  local token = self.tokens[self.at]
  self.at = self.at + 1
  if token == "(" then
    local inner = depth < DEEPEST and self:sequence(depth + 1)
    if not inner or self.tokens[self.at] ~= ")" then return nil end
    self.at = self.at + 1
    return inner
  end
  local key, value = (token or ""):match "^([^=]*)=(.*)$"
  local read = key and VALUE[key] and VALUE[key](value)
  return read and { key = key, value = read }
end

function Parser:sequence(depth)
  local left = self:part(depth)
  while left and self.tokens[self.at] and self.tokens[self.at] ~= ")" do
    local op = self.tokens[self.at]
    if op == "and" or op == "or" then self.at = self.at + 1 else op = "and" end
    local right = self:part(depth)
    left = right and { op = op, left = left, right = right }
  end
  return left
end

-- Calls f(leaf) for each leaf of a tree.
local function each_leaf(tree, f)
  if tree.key then return f(tree) end
  each_leaf(tree.left, f)
  each_leaf(tree.right, f)
end

--- Parses an expression. Returns {tree, job (of the last key with a job id, or nil), usage (whether the expression
--- tests usage)}; nil if the text is malformed.
function M.parse(text)
  local parser = setmetatable({ tokens = tokens_of(text), at = 1 }, Parser)
  local tree = parser:sequence(0)
  if not tree or parser.at <= #parser.tokens then return nil end
  local expression = { tree = tree, usage = false }
  each_leaf(tree, function(leaf)
    if leaf.key:match "^jobid%-" then expression.job = leaf.value end
    if leaf.key == "agfilter" then expression.usage = leaf.value == "t" end
  end)
  return expression
end

-- ---- evaluating ---------------------------------------------------------------------------------------------

-- Tests by key, called with the value of a leaf and a record `here` of a vertex: {vertex, down, allocated, reserved
-- (each true if true of the vertex or of an ancestor), alloc, reserved_by, span, tag (sets of jobs)}.
local TEST = {}

function TEST.status(here, value) return here.down == (value == "down") end
TEST["sched-now"] = function(here, value) return here.allocated == (value == "allocated") end
TEST["sched-future"] = function(here, value) return here.reserved == (value == "reserved") end
TEST["jobid-alloc"] = function(here, job) return here.jobs.alloc[job] or false end
TEST["jobid-reserved"] = function(here, job) return here.jobs.reserve[job] or false end
TEST["jobid-span"] = function(here, job) return here.jobs.span[job] or false end
TEST["jobid-tag"] = function(here, job) return here.jobs.tag[job] or false end
function TEST.agfilter(_, value) return value == "t" end
function TEST.names(here, list) return list:has(here.vertex.name) end
function TEST.property(here, name) return here.vertex.properties[name] ~= nil end

local function holds(tree, here)
  if tree.key then return TEST[tree.key](here, tree.value) end
  if tree.op == "and" then return holds(tree.left, here) and holds(tree.right, here) end
  return holds(tree.left, here) or holds(tree.right, here)
end

--- Returns whether an expression holds for the record of a vertex (see TEST).
function M.holds(expression, here) return holds(expression.tree, here) end

return M
