--- params.lua - the parameters and effects of each method: one row a method, declared in the file of the method. Every
-- request passes `read` before the method runs.
--
--   takes("release", "jobs owners", { job = "job!", targets = "targets" })
--
-- The second argument lists the parts of the state a method may change (see CHANGES); "" for a method without effects.
-- A field has a kind of KINDS, with "!" if the field is required, or a list of words. Of a list, the first word is the
-- default, unless `needed` is true.

local about = require "weir.about"
local core = require "weir.core"
local failure = require "weir.failure"
local plain = require "weir.plain"
local scheduler_client = require "weir.acquire.scheduler_client"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

--- Ends the call with a formatted message and a code.
function M.fail(code, ...) failure.raise(string.format(...), code) end

--- Passes results on; nil, message, code ends the call.
function M.check(value, why, code, ...)
  if value == nil then failure.raise(why or "failed without saying why", code or "invalid") end
  return value, why, code, ...
end

--- Passes results on like `check`; the message of a failure names the field.
function M.check_field(name, value, why, code, ...)
  if value == nil then M.fail(code or "invalid", "field '%s': %s", name, why or "failed without saying why") end
  return value, why, code, ...
end

--- Returns a request made from a table. Messages name the field in place of "<table>".
function M.table_request(value)
  local request, why, code = core.request(value)
  if not request then M.fail(code, "field 'request': %s", (why:gsub("^<table>: ", ""))) end
  return request
end

-- ---- kinds ----------------------------------------------------------------------------------------------------------

local LONG = 65535        -- bytes of a path, an expression, a tag
local SECONDS = 9.2e12    -- range of engine time: 64 bits of microseconds
local DEEP = 256          -- levels of a table

local function text(max, min)
  return function(x) return type(x) == "string" and #x <= max and #x >= (min or 0) and not x:find("\0", 1, true) end
end

local function whole(min, max)
  return function(x) return math.type(x) == "integer" and x >= min and x <= max end
end

-- Returns why a value cannot be passed to the core, or nil.
local function strange(x, deep)
  if type(x) == "string" then return x:find("\0", 1, true) and "one with a zero byte in a text" or nil end
  if type(x) == "number" then return not plain.is_finite(x) and "one with a number that is not finite" or nil end
  if type(x) ~= "table" then return nil end
  if deep == 0 then return ("one of more than %d levels"):format(DEEP) end
  for key, value in pairs(x) do
    local why = strange(key, deep - 1) or strange(value, deep - 1)
    if why then return why end
  end
end

local function is_table(x)
  if type(x) ~= "table" then return false end
  local why = strange(x, DEEP)
  return why == nil, why
end

-- Returns a check that accepts a value of `is`, or a list of values of `is`.
local function one_or_more(is)
  return function(x)
    if type(x) ~= "table" then return is(x) end
    local n = 0
    for _, value in pairs(x) do
      if not is(value) then return false end
      n = n + 1
    end
    return n == #x
  end
end

local function is_idset(x)
  if not text(1 << 20, 1)(x) then return false end
  local ok, set = pcall(core.idset, x)
  return ok and set ~= nil and not set:empty()
end

local is_text, is_any_job = text(LONG, 1), whole(1, math.maxinteger)

local function is_about(x)
  local ok, why = is_table(x)
  if not ok then return ok, why end
  ok, why = about.check(x)
  return ok == true, why and "one where " .. why
end

-- Returns true for a path, or a path with an amount.
local function is_pick(x)
  if type(x) ~= "table" then return is_text(x) end
  for key in pairs(x) do
    if key ~= "path" and key ~= "amount" then return false end
  end
  return is_text(x.path) and (x.amount == nil or whole(0, math.maxinteger)(x.amount))
end

local function are_picks(x)
  local n = 0
  for _, value in pairs(type(x) == "table" and x or {}) do
    if not is_pick(value) then return false end
    n = n + 1
  end
  return n > 0 and n == #x
end

-- Returns true for {KEY = VALUE | true | null}.
local function are_tags(x)
  if type(x) ~= "table" then return false end
  for key, value in pairs(x) do
    if not is_text(key) or not (value == core.null or value == true or text(LONG)(value)) then return false end
  end
  return true
end

local function is_request(x)
  if type(x) == "table" then return is_table(x) end
  return text(1 << 20, 1)(x)
end

--- KINDS has for each kind of field a check, and a description for messages.
M.KINDS = {
  name = { text(255, 1), "a text of 1 to 255 bytes" },
  text = { is_text, "a text of 1 to 65535 bytes" },
  words = { text(LONG), "a text of at most 65535 bytes" },
  source = { text(1 << 20, 1), "Lua source, a text" },
  texts = { one_or_more(is_text), "a text, or a list of texts" },
  path = { is_text, "the path of a vertex" },
  paths = { one_or_more(is_text), "the path of a vertex, or a list of paths" },
  request = { is_request, "a jobspec (an object, or YAML or JSON as text) or a shape" },
  seconds = { function(x) return type(x) == "number" and x >= 0 and x <= SECONDS end, "seconds, a number from 0 to 9.2e12" },
  count = { whole(0, scheduler_client.IDS_MOST), ("a whole number from 0 to %d"):format(scheduler_client.IDS_MOST) },
  positive = { whole(1, scheduler_client.IDS_MOST), ("a whole number from 1 to %d"):format(scheduler_client.IDS_MOST) },
  flag = { function(x) return type(x) == "boolean" end, "true or false" },
  job = { is_any_job, "the id of a job, a whole number from 1 on" },
  jobs = { one_or_more(is_any_job), "the id of a job, or a list of ids" },
  new_job = { whole(1, scheduler_client.IDS_MOST), ("an id for a job, a whole number from 1 to %d"):format(scheduler_client.IDS_MOST) },
  targets = { is_idset, 'targets, an idset such as "0-3,7"' },
  table = { is_table, "an object" },
  about = { is_about, "an object of " .. table.concat(about.NAMES, ", ") },
  picks = { are_picks, "a list of paths, or of objects {path, amount}" },
  stage = { is_any_job, "the number of a stage, a whole number from 1 on" },
  tags = { are_tags, "an object of keys with a text of at most 65535 bytes, true (no value) or null (to be removed)" },
  call = { function(x) return text(128)(x) or type(x) == "number" and x == x end, "the id of a request, a number or a text" },
}

-- ---- rows -----------------------------------------------------------------------------------------------------------

--- CHANGES has for each part of the state a description for the manual.
M.CHANGES = {
  jobs = "the jobs, and what they have", stages = "the stages", ids = "the next id that a job gets", owners = "whose job is whose",
  machine = "the machine: what there is, states, properties, tags", targets = "targets: groups, drained, online, acquired",
  children = "children, and what they are to give back", clock = "the clock", policy = "the policy", streams = "streams",
  client = "the role and name of the client", parent = "what was acquired from the parent",
}

local rows = {}

local function field_of(spec)
  if type(spec) == "table" then return { words = spec, needed = spec.needed } end
  local kind = spec:match "^[%l_]+"
  return { kind = assert(M.KINDS[kind], spec), needed = spec:find("!", 1, true) ~= nil, name = kind }
end

--- Declares the row of a method.
function M.takes(method, changes, fields)
  local row = { changes = {}, fields = {}, names = {} }
  for word in changes:gmatch "%S+" do
    assert(M.CHANGES[word], word)
    row.changes[#row.changes + 1] = word
  end
  for name, spec in pairs(fields) do
    row.fields[name] = field_of(spec)
    row.names[#row.names + 1] = name
  end
  table.sort(row.names)
  rows[method] = row
end

--- Returns {changes = list of words, fields = {[name] = {kind | words, needed}}, names} of a method, or nil for a
-- method without a row.
function M.row(method) return rows[method] end

--- Returns the description of the values of a field.
function M.expected(field) return field.words and "one of " .. table.concat(field.words, ", ") or field.kind[2] end

-- ---- reading --------------------------------------------------------------------------------------------------------

-- Returns a value as short printable text, for messages.
local function shown(value)
  if type(value) == "table" then return next(value) == nil and "an empty list or object" or "a list or an object of another kind" end
  if type(value) ~= "string" then return tostring(value) end
  if #value > 40 then return ("a text of %d bytes"):format(#value) end
  return '"' .. value:gsub("%c", function(c) return ("\\x%02x"):format(c:byte()) end) .. '"'
end

local function fits(field, value)
  if not field.words then return field.kind[1](value) end
  return tables.has(field.words, value)
end

local function unknown(method, row, name)
  local there = row.names[1] and table.concat(row.names, ", ") or "none"
  local words = type(name) == "string" and shown(name) or ('"%s"'):format(name)
  local hint = type(name) == "string" and suggest.hint(name, row.names) or ""
  M.fail("invalid", "there is no parameter %s of %s here%s; there is %s", words, method, hint, there)
end

--- Returns the parameters of a request, each checked and converted for the method; null counts as missing. Ends the
-- call at the first wrong field.
function M.read(method, params)
  local row, read = rows[method], {}
  for name, value in pairs(params) do
    local field = row.fields[name]
    if not field then unknown(method, row, name) end
    if value ~= core.null then
      local ok, strange_so = fits(field, value)
      if not ok then M.fail("invalid", "field '%s': expected %s, not %s", name, M.expected(field), strange_so or shown(value)) end
      read[name] = value
    end
  end
  for _, name in ipairs(row.names) do
    local field = row.fields[name]
    if read[name] == nil and field.words and not field.needed then read[name] = field.words[1] end
    if read[name] == nil and field.needed then M.fail("invalid", "field '%s' is missing: expected %s", name, M.expected(field)) end
  end
  return read
end

return M
