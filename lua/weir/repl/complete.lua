--- complete.lua - Tab completion: globals and fields; vertex paths, find expressions and names inside strings;
--- commands after a colon. Completion only reads fields of handles, calls no functions, and looks at a bounded part
--- of the machine.

local core = require "weir.core"
local files = require "weir.files"
local kinds = require "weir.repl.kinds"
local policy = require "weir.policy"
local tables = require "weir.tables"

local M = {}

-- ---- candidates ---------------------------------------------------------------------------------------------

-- Orders node2 before node10.
local function natural(a, b)
  local x, y = a:gsub("%d+", function(n) return ("%012d"):format(tonumber(n) or 0) end),
    b:gsub("%d+", function(n) return ("%012d"):format(tonumber(n) or 0) end)
  if x ~= y then return x < y end
  return a < b
end

local function starting(words, with)
  local list, seen = {}, {}
  for _, word in ipairs(words) do
    if word:sub(1, #with) == with and not seen[word] then
      seen[word] = true
      list[#list + 1] = word
    end
  end
  return list
end

local function keys(t)
  local list = {}
  for key in pairs(t) do
    if type(key) == "string" then list[#list + 1] = key end
  end
  return list
end

-- ---- names --------------------------------------------------------------------------------------------------

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local",
  "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }

local members = core.members()

-- Returns the names of the members of a handle: methods if `method`, else fields.
local function members_of(x, method)
  local kind = kinds.of(x)
  if kind == "vertex" then
    local list = {}
    for _, name in ipairs(keys(members.vertex)) do
      local ok, value = pcall(function() return x[name] end)
      if ok and (type(value) == "function") == method then list[#list + 1] = name end
    end
    return list
  end
  local index = (debug.getmetatable(x) or {}).__index
  local list = type(index) == "table" and (method or kind == "graph" or kind == "engine") and keys(index) or {}
  if kind == "allocation" then
    list = method and keys(members.allocation) or { "id", "at", "duration", "state", "end_", "policy" }
  elseif kind == "policy" and not method then
    list = { "name", "doc", "version", "label", "hash", "source", "path", "options", "hooks", "budget", "sandboxed", "static" }
  end
  return list
end

local function table_keys(t, method)
  local list, seen = {}, 0
  local mt = type(t) == "table" and debug.getmetatable(t)
  if mt and mt.__kind then return mt[method and "__names" or "__fields"] or {} end
  if mt and mt.__entries then return method and {} or keys(mt.__entries(t)) end
  while type(t) == "table" and seen < 10 do
    for _, key in ipairs(keys(t)) do
      if not method or type(rawget(t, key)) == "function" then list[#list + 1] = key end
    end
    t, seen = (debug.getmetatable(t) or {}).__index, seen + 1
  end
  return list
end

-- Returns the value of "a.b:c" without a call of any metamethod defined by a script. Fields of a proxy of an object of a
-- service are requested there.
local function evaluate(chain, env)
  local value = env
  for name in chain:gmatch "[%w_]+" do
    name = math.tointeger(tonumber(name)) or name
    if kinds.is_remote(value) then
      local object = value
      local ok, field = pcall(function() return object[name] end)
      value = ok and field or nil
    elseif type(value) == "table" then
      value = rawget(value, name) == nil and (function()
        local index = (debug.getmetatable(value) or {}).__index
        return type(index) == "table" and index[name] or nil
      end)() or rawget(value, name)
    elseif type(value) == "userdata" then
      local ok, field = pcall(function() return value[name] end)
      value = ok and field or nil
    else
      return nil
    end
  end
  return value
end

local function complete_name(left, env)
  local chain, mark, partial = left:match "([%a_][%w_.:%[%]]*)([.:])([%w_]*)$"
  if not chain then
    partial = left:match "[%a_][%w_]*$" or ""
    if partial == "" then return "", {} end
    local words = table_keys(env)
    table.move(KEYWORDS, 1, #KEYWORDS, #words + 1, words)
    return partial, starting(words, partial)
  end
  local value = evaluate(chain, env)
  if type(value) == "table" then return partial, starting(table_keys(value, mark == ":"), partial) end
  if type(value) == "userdata" then return partial, starting(members_of(value, mark == ":"), partial) end
  if type(value) == "string" then return partial, starting(keys(string), partial) end
  return partial, {}
end

-- ---- options ------------------------------------------------------------------------------------------------

-- Returns the names of the options of a method, from the reference: "name = " in its text.
local function options_of(method)
  local list = {}
  for _, class in ipairs { "engine", "graph", "vertex", "weir", "allocation" } do
    for _, m in ipairs((require "weir.reference"[class] or { members = {} }).members) do
      if m.name == method then
        for name in m.text:gmatch "([%a_][%w_]*) =" do list[#list + 1] = name .. " = " end
      end
    end
  end
  return list
end

-- Completes the name of an option in a table that is left open: e:match("slot=1/node", { mo.
local function complete_option(left)
  local before, inside = left:match "^(.*){([^{}]*)$"
  local method = before and (before:match "([%a_][%w_]*)%s*%([^()]*$" or before:match "([%a_][%w_]*)%s*$")
  local partial = method and (inside:match "^%s*([%a_]?[%w_]*)$" or inside:match "[,;]%s*([%a_]?[%w_]*)$")
  if not partial then return nil end
  local list = starting(options_of(method), partial)
  if #list > 0 then return partial, list end
end

-- ---- vertices -----------------------------------------------------------------------------------------------

local MOST_KIDS = 200000

local function complete_path(text, g)
  local above, partial = text:match "^(.*/)([^/]*)$"
  if not above then return text, text == "" and { "/" } or {} end
  local list, prefix = {}, above:match "^(%a[%w_]*):/" or "containment"
  local function add(v)
    if v.name:sub(1, #partial) == partial then list[#list + 1] = v.name .. (v:nchildren() > 0 and "/" or "") end
  end
  if above == "/" or above == prefix .. ":/" then
    for _, root in ipairs(g:roots(prefix) or {}) do add(root) end
  else
    local parent = g:vertex((above:gsub("/$", "")))
    if not parent or parent:nchildren() > MOST_KIDS then return partial, {} end
    for v in parent:children() do add(v) end
  end
  return partial, list
end

-- ---- expressions --------------------------------------------------------------------------------------------

local FIELDS = { "type=", "basename=", "unit=", "uuid=", "path=", "name=", "state=", "id=", "rank=", "size", "free",
  "allocated", "property=", "tag=", "data=", "idle", "job=", "exclusive", "leaf", "and ", "or ", "not " }

local SAMPLE = 3000

-- Returns the keys of the properties or tags of the vertices on the way from the first root to the first leaf: on a service
-- each vertex costs a call.
local function map_keys_of_service(g, map)
  local seen, v = {}, g:root()
  while v do
    for key in pairs(v[map]) do seen[key] = true end
    v = v:children()()
  end
  return keys(seen)
end

-- Returns the keys of the properties or tags of the first vertices of each type.
local function map_keys(g, map)
  if kinds.is_remote(g) then return map_keys_of_service(g, map) end
  local seen, n = {}, 0
  for v in g:walk { order = "breadth" } do
    n = n + 1
    if n > SAMPLE then break end
    for key in pairs(v[map]) do seen[key] = true end
  end
  return keys(seen)
end

local VALUES = {
  type = function(g) return g:types() end,
  state = function() return core.states end,
  property = function(g) return map_keys(g, "properties") end,
  tag = function(g) return map_keys(g, "tags") end,
  path = function(g, text)
    local _, list = complete_path(text, g)
    local above = text:match "^(.*/)" or ""
    for i, name in ipairs(list) do list[i] = above .. name end
    return list
  end,
}

local function complete_expression(text, g)
  local field, value = text:match "([%a]+)!?=([^%s()=]*)$"
  if VALUES[field] then return value, starting(VALUES[field](g, value), value) end
  local partial = text:match "[%a]*$"
  return partial, starting(FIELDS, partial)
end

-- Completes a type in a shape: "slot=1/no", "slot=2/node/core=8,g".
local function complete_shape(text, g)
  local partial = text:match "[/,%[]([%w_%-]*)$" or text:match "^([%w_%-]*)$"
  if not partial then return "", {} end
  local words = text:find "[/,%[]" and {} or { "slot=" }
  return partial, starting(table.move(g:types(), 1, #g:types(), #words + 1, words), partial)
end

-- ---- names of files, policies, formats ------------------------------------------------------------------------

local function complete_file(text)
  local dir, partial = text:match "^(.*/)([^/]*)$"
  dir, partial = dir or "", partial or text
  local list = {}
  for _, name in ipairs(core.list_directory(dir == "" and "." or dir) or {}) do
    local hidden = name:sub(1, 1) == "." and partial:sub(1, 1) ~= "."
    if not hidden then list[#list + 1] = name .. (files.is_directory(dir .. name) and "/" or "") end
  end
  return partial, starting(list, partial)
end

local function policy_names() return tables.column(policy.list(), "name") end

local FORMATS = { "tree", "rv1", "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand", "dot", "svg", "csv" }

-- Completions inside a string, by the text before the string.
local INSIDE = {
  { "match%s*%(?%s*$", complete_shape }, { "why%s*%(?%s*$", complete_shape }, { "explain%s*%(?%s*$", complete_shape },
  { "find%s*%(?%s*$", complete_expression }, { "query%s*%(?%s*$", complete_expression },
  { "use%s*%(?%s*$", function(text) return text, starting(policy_names(), text) end },
  { "policy%s*[=%(]?%s*$", function(text) return text, starting(policy_names(), text) end },
  { "format%s*%(?%s*$", function(text) return text, starting(FORMATS, text) end },
  { "call%s*%(?%s*$", function(text, _, session)
    return text, starting(session.remote and session.remote.ask("methods").methods or {}, text)
  end },
  { "load%s*%(?%s*$", complete_file }, { "resources%s*[=%(]?%s*$", complete_file }, { "save%s*%(?%s*$", complete_file },
}

-- Returns the text of a string left open at the end of `left`, and the text before the string.
local function open_string(left)
  local quote, from
  local i = 1
  while i <= #left do
    local c = left:sub(i, i)
    if quote and c == "\\" then
      i = i + 1
    elseif quote == c then
      quote = nil
    elseif not quote and (c == '"' or c == "'") then
      quote, from = c, i
    end
    i = i + 1
  end
  if quote then return left:sub(from + 1), left:sub(1, from - 1) end
end

local function complete_string(text, before, session)
  for _, row in ipairs(INSIDE) do
    if before:find(row[1]) then return row[2](text, session.graph, session) end
  end
  if text:find "/" and session.graph then
    local partial, list = complete_path(text, session.graph)
    if #list > 0 then return partial, list end
  end
  return complete_file(text)
end

-- ---- commands -----------------------------------------------------------------------------------------------

-- Completes "PATH STATE".
local function complete_vertex_state(argument, session)
  local state = argument:match "%s(%S*)$"
  if state then return state, starting(core.states, state) end
  return complete_path(argument, session.graph)
end

-- Completes the id of a job.
local function jobs_of(argument, session)
  local partial, ids = argument:match "%S*$", {}
  for i, a in ipairs(session.engine:jobs() or {}) do ids[i] = ("%d"):format(a.id) end
  return partial, starting(ids, partial)
end

local function complete_command(left, session)
  local name, argument = left:match "^%s*:(%a+)%s+(.*)$"
  if not name then
    local partial = left:match "^%s*:(%a*)$" or ""
    return partial, starting(session:command_names(), partial)
  end
  local words = session:command_words(name)
  if words == "shape" then return complete_shape(argument, session.graph) end
  if words == "jobs" then return jobs_of(argument, session) end
  if words == "file" then return complete_file(argument) end
  if words == "policy" then words = session.remote and session.engine:policies() or policy_names() end
  if words == "methods" then words = session.remote.ask("methods").methods end
  if words == "path" then return complete_vertex_state(argument, session) end
  if words == "name" then return complete_name(argument, session.env) end
  return argument, starting(words or {}, argument)
end

-- ---- entry points ----------------------------------------------------------------------------------------

--- Returns the word typed so far at the end of `left`, and a list of whole words for completion.
function M.candidates(left, session)
  if left:match "^%s*:" then return complete_command(left, session) end
  local text, before = open_string(left)
  if text then return complete_string(text, before, session) end
  local partial, list = complete_option(left)
  if partial then return partial, list end
  return complete_name(left, session.env)
end

local function common(list)
  local text = list[1]
  for _, word in ipairs(list) do
    local n = 0
    while n < #text and text:byte(n + 1) == word:byte(n + 1) do n = n + 1 end
    text = text:sub(1, n)
  end
  return text
end

local MOST_SHOWN, MOST_SORTED = 120, 5000

-- Formats names in columns, at most MOST_SHOWN names.
local function columns(list, width)
  local widest, shown = 0, math.min(#list, MOST_SHOWN)
  for i = 1, shown do widest = math.max(widest, utf8.len(list[i]) or #list[i]) end
  local across = math.max(1, width // (widest + 2))
  local down, lines = (shown + across - 1) // across, {}
  for row = 1, down do
    local cells = {}
    for i = row, shown, down do cells[#cells + 1] = list[i] .. (" "):rep(widest - (utf8.len(list[i]) or #list[i])) end
    lines[row] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  if #list > shown then lines[#lines + 1] = ("... %d more"):format(#list - shown) end
  return table.concat(lines, "\n") .. "\n"
end

--- Completion for the line editor. Returns the text to insert at byte `at` of the line; or nil and a list to print
--- below the line.
function M.tab(session, line, at)
  local partial, list = M.candidates(line:sub(1, at), session)
  if #list == 0 then return nil end
  local more = common(list):sub(#partial + 1)
  if #list == 1 or more ~= "" then return more end
  if #list <= MOST_SORTED then table.sort(list, natural) end
  return nil, columns(list, session.width or 80)
end

return M
