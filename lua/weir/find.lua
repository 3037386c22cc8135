--- find.lua - the expressions of `weir find` and g:find, compiled once to a Lua function of a vertex.
--
--   type=node and state=up and not tag=maintenance and size>=64 and (property=bigmem or name=n[1-16])
--
--   expression = all { "or" all }         all = one { "and" one }        one = "not" one | "(" expression ")" | test
--   test       = FIELD op VALUE | property.KEY [op VALUE] | tag.KEY [op VALUE] | exclusive
--   op         = "=" | "!=" | "<" | "<=" | ">" | ">="
-- `property=KEY` and `tag=KEY` ask whether the key is there. A value with spaces or parentheses is quoted.

local hostlist = require "weir.hostlist"
local suggest = require "weir.suggest"

local M = {}

local FIELDS = {
  type = "text", basename = "text", unit = "text", path = "text", uuid = "text", state = "state", name = "hosts",
  id = "number", rank = "number", size = "number", free = "number", exclusive = "flag",
  property = "map", tag = "map",
}
local MAPS = { property = "properties", tag = "tags" }
local STATES = { "up", "down", "degraded", "failing", "unknown", "null", "draining" }

local COMPARE = {
  ["="] = function(a, b) return a == b end, ["!="] = function(a, b) return a ~= b end,
  ["<"] = function(a, b) return a < b end, ["<="] = function(a, b) return a <= b end,
  [">"] = function(a, b) return a > b end, [">="] = function(a, b) return a >= b end,
}

local function sorted_keys(t)
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = k end
  table.sort(keys)
  return keys
end

-- Stops the compilation. Caught in M.compile.
local function fail(column, ...) error { column = column, text = string.format(...) } end

-- ---- words --------------------------------------------------------------------------------------------------

local OPERATORS = { "!=", "<=", ">=", "==", "=", "<", ">" }

local function operator_at(text, pos)
  for _, op in ipairs(OPERATORS) do
    if text:sub(pos, pos + #op - 1) == op then return op end
  end
end

local function quoted_at(text, pos)
  local close = text:find(text:sub(pos, pos), pos + 1, true)
  if not close then fail(pos, "this quote is not closed") end
  return { kind = "word", text = text:sub(pos + 1, close - 1), column = pos, quoted = true }, close + 1
end

-- property."a key": the quoted part joins the word before it.
local function word_at(text, pos)
  local stop = text:match("^[^%s()=!<>\"']+()", pos)
  local word = text:sub(pos, stop - 1)
  if word:sub(-1) == "." and text:find("^[\"']", stop) then
    local rest, after = quoted_at(text, stop)
    return { kind = "word", text = word .. rest.text, column = pos }, after
  end
  return { kind = "word", text = word, column = pos }, stop
end

local function token_at(text, pos)
  local c, op = text:sub(pos, pos), operator_at(text, pos)
  if c == "(" or c == ")" then return { kind = c, text = c, column = pos }, pos + 1 end
  if op then return { kind = "op", text = op == "==" and "=" or op, column = pos }, pos + #op end
  if c == "!" then return { kind = "word", text = "not", column = pos }, pos + 1 end
  if c == '"' or c == "'" then return quoted_at(text, pos) end
  return word_at(text, pos)
end

local function tokenize(text)
  local tokens, pos = {}, text:match "^%s*()"
  while pos <= #text do
    tokens[#tokens + 1], pos = token_at(text, pos)
    pos = text:match("^%s*()", pos)
  end
  tokens[#tokens + 1] = { kind = "end", text = "", column = #text + 1 }
  return tokens
end

-- ---- tests --------------------------------------------------------------------------------------------------

local function only_equality(field, op)
  if op.text ~= "=" and op.text ~= "!=" then
    fail(op.column, '"%s" cannot be put in order: = or != is wanted, not %s', field, op.text)
  end
end

local TESTS = {}

function TESTS.text(field, op, value)
  local wanted, positive = value.text, op.text == "="
  only_equality(field, op)
  return function(v) return (v[field] == wanted) == positive end
end

function TESTS.state(field, op, value)
  for _, state in ipairs(STATES) do
    if state == value.text then return TESTS.text(field, op, value) end
  end
  fail(value.column, 'no state "%s": one of %s is wanted', value.text, table.concat(STATES, ", "))
end

function TESTS.hosts(field, op, value)
  local has, why, offset = hostlist.compile(value.text)
  local positive = op.text == "="
  only_equality(field, op)
  if not has then fail(value.column + offset - 1, "name: %s", why) end
  return function(v) return has(v.name) == positive end
end

-- A vertex without the number (no id, no rank) differs from every number and is in no order with one.
function TESTS.number(field, op, value)
  local wanted, compare, unlike = tonumber(value.text), COMPARE[op.text], op.text == "!="
  if not wanted then fail(value.column, '%s: a number is wanted, not "%s"', field, value.text) end
  return function(v)
    local have = v[field]
    if not have then return unlike end
    return compare(have, wanted)
  end
end

function TESTS.flag(field, op, value)
  only_equality(field, op)
  if value.text ~= "true" and value.text ~= "false" then
    fail(value.column, '%s: true or false is wanted, not "%s"', field, value.text)
  end
  local wanted = (value.text == "true") == (op.text == "=")
  return function(v) return v[field] == wanted end
end

-- property=KEY, tag!=KEY: whether the key is there.
function TESTS.map(field, op, value)
  local map, key, positive = MAPS[field], value.text, op.text == "="
  if op.text ~= "=" and op.text ~= "!=" then
    fail(op.column, "%s=KEY asks whether the key is there; to compare a value write %s.KEY%s...", field, field, op.text)
  end
  return function(v) return (v[map][key] ~= nil) == positive end
end

local function has_key(map, key)
  return function(v) return v[map][key] ~= nil end
end

-- Compares as numbers where both sides are, as text otherwise; "" stands for a key without a value.
local function compare_values(have, op, wanted)
  local a, b = tonumber(have), tonumber(wanted)
  if have == true then have = "" end
  if a and b then return COMPARE[op](a, b) end
  if op == "=" or op == "!=" then return COMPARE[op](tostring(have), wanted) end
  return false
end

local function compare_key(map, key, op, value)
  local wanted, unlike = value.text, op.text == "!="
  if not unlike and op.text ~= "=" and not tonumber(wanted) then
    fail(value.column, 'a number is wanted after %s, not "%s"', op.text, wanted)
  end
  return function(v)
    local have = v[map][key]
    if have == nil then return unlike end
    return compare_values(have, op.text, wanted)
  end
end

-- ---- grammar ------------------------------------------------------------------------------------------------

-- The reader: the tokens, and which of them is next.
local Reader = {}
Reader.__index = Reader

function Reader:peek() return self.tokens[self.at] end

function Reader:take()
  local token = self.tokens[self.at]
  self.at = self.at + 1
  return token
end

function Reader:take_word(...)
  local token = self:peek()
  for _, word in ipairs { ... } do
    if token.kind == "word" and not token.quoted and token.text == word then return self:take() end
  end
end

function Reader:value(after)
  local token = self:take()
  if token.kind == "word" then return token end
  fail(token.column, 'a value is wanted after "%s"', after)
end

local function unknown_field(token)
  fail(token.column, 'unknown field "%s"%s', token.text, suggest.hint(token.text, sorted_keys(FIELDS)))
end

function Reader:key_test(field, key, token)
  if key == "" then fail(token.column, "a key is wanted after %s.", field) end
  if self:peek().kind ~= "op" then return has_key(MAPS[field], key) end
  local op = self:take()
  return compare_key(MAPS[field], key, op, self:value(op.text))
end

function Reader:test()
  local token = self:take()
  if token.kind ~= "word" or token.quoted then
    fail(token.column, token.kind == "end" and "the expression ends where a test such as type=node is wanted"
      or 'a test such as type=node is wanted, not "%s"', token.text)
  end
  local field, key = token.text:match "^(%a+)%.(.*)$"
  if MAPS[field] then return self:key_test(field, key, token) end
  local kind = FIELDS[token.text]
  if not kind then unknown_field(token) end
  if kind == "flag" and self:peek().kind ~= "op" then return function(v) return v[token.text] end end
  local op = self:take()
  if op.kind ~= "op" then fail(op.column, 'a comparison such as = is wanted after "%s"', token.text) end
  return TESTS[kind](token.text, op, self:value(op.text))
end

-- Deeper than this would be a mistake, and a danger to the C stack.
local DEPTH = 100

function Reader:one()
  local token = self:peek()
  self.depth = self.depth + 1
  if self.depth > DEPTH then fail(token.column, "nested deeper than %d", DEPTH) end
  local test
  if self:take_word "not" then
    local inner = self:one()
    test = function(v) return not inner(v) end
  elseif token.kind == "(" then
    self:take()
    test = self:any()
    if self:take().kind ~= ")" then fail(token.column, 'this "(" is not closed') end
  else
    test = self:test()
  end
  self.depth = self.depth - 1
  return test
end

-- One function for a list of tests: the first that gives `decisive` decides.
local function join(tests, decisive)
  if #tests == 1 then return tests[1] end
  return function(v)
    for i = 1, #tests do
      if (not tests[i](v)) ~= decisive then return decisive end
    end
    return not decisive
  end
end

function Reader:all()
  local tests = { self:one() }
  while self:take_word("and", "&&") do tests[#tests + 1] = self:one() end
  return join(tests, false)
end

function Reader:any()
  local tests = { self:all() }
  while self:take_word("or", "||") do tests[#tests + 1] = self:all() end
  return join(tests, true)
end

local function parse(text)
  local reader = setmetatable({ tokens = tokenize(text), at = 1, depth = 0 }, Reader)
  local test = reader:any()
  local rest = reader:peek()
  if rest.kind ~= "end" then fail(rest.column, '"and" or "or" is wanted, not "%s"', rest.text) end
  return test
end

--- Compiles an expression to a function of a vertex; or nil, message with the column, "parse".
function M.compile(text)
  if type(text) ~= "string" then error("an expression is wanted, such as \"type=node\"", 2) end
  local ok, test = pcall(parse, text)
  if ok then return test end
  if type(test) ~= "table" then error(test, 0) end
  return nil, ("column %d: %s"):format(test.column, test.text), "parse"
end

-- ---- searching ----------------------------------------------------------------------------------------------

-- Pools that are in no containment tree are reached by the other subsystems; each is reported once.
local function each_vertex(g, visit)
  local subsystems = g:subsystems()
  local seen = #subsystems > 1 and {} or nil
  for _, subsystem in ipairs(subsystems) do
    for v in g:walk { subsystem = subsystem } do
      if not (seen and seen[v]) then
        if seen then seen[v] = true end
        visit(v)
      end
    end
  end
end

--- The vertices of `g` that an expression holds for, in the order of a preorder walk; or nil, message, "parse".
function M.vertices(g, text)
  local test, why, code = M.compile(text)
  if not test then return nil, why, code end
  local found = {}
  each_vertex(g, function(v)
    if test(v) then found[#found + 1] = v end
  end)
  return found
end

return M
