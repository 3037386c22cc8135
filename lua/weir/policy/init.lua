--- policy/init.lua - finding policies by name, and loading policies.
--
-- A name with a "/" or the ending ".lua" is a path. Any further name is looked for as NAME.lua in the directories of
-- WEIR_POLICY_PATH (separated by colons), then among the bundled policies, then among those of installed packages.

local core = require "weir.core"
local files = require "weir.files"
local packages = require "weir.packages"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = { default = "low" }

-- The directory of the bundled policies: the directory that the command is configured with, or else the first that exists, seen
-- from weir's Lua files, in an installed prefix, a tree of LuaRocks, a build tree.
local function bundled()
  if core.prefix and core.prefix.policies then return core.prefix.policies end
  local here = package.searchpath("weir.engine", package.path) or ""
  local lib = here:match "^(.*)/[^/]*$" or "."
  for _, place in ipairs { "/../../../weir/policies", "/policies" } do
    local file <close> = io.open(lib .. place .. "/low.lua")
    if file then return lib .. place end
  end
  return lib .. "/../../../policies"
end

--- The directories of policies that come with weir and with installed packages.
function M.bundled() return { bundled(), table.unpack(packages.folders "policies") } end

--- The directories searched for policies, first to last.
function M.path()
  local dirs = tables.collect((os.getenv "WEIR_POLICY_PATH" or ""):gmatch "[^:]+")
  local own = M.bundled()
  return table.move(own, 1, #own, #dirs + 1, dirs)
end

-- The names of the Lua files in a directory, sorted; none if it cannot be read.
local function names_in(dir)
  local names = {}
  for _, entry in ipairs(core.list_directory(dir) or {}) do
    names[#names + 1] = entry:match "^(.+)%.lua$"
  end
  table.sort(names)
  return names
end

--- Returns the path of a policy file without symbolic links, which distinguishes files of one name, and the hash of the path; nil
--- for a file that comes with weir, wherever weir is installed. within: "/queue" for queue policies.
function M.origin(path, within) return core.policy_origin(path, bundled() .. (within or "")) end

--- Lists all policies on the path, or in the directories given, as {name=, path=}; without policies hidden by an
--- equal name in an earlier directory.
function M.list(dirs)
  local found, seen = {}, {}
  for _, dir in ipairs(dirs or M.path()) do
    for _, name in ipairs(names_in(dir)) do
      if not seen[name] then
        seen[name] = true
        found[#found + 1] = { name = name, path = dir .. "/" .. name .. ".lua" }
      end
    end
  end
  return found
end

local function unknown(name)
  local known = tables.column(M.list(), "name")
  local hint = suggest.hint(name, known)
  if hint == "" then hint = " (known: " .. table.concat(known, ", ") .. ")" end
  if M.search(name, "/queue") then hint = ": it is a queue policy, which says when jobs start and not where: -q of weir replay" end
  if files.exists(name .. ".lua") then hint = (" (the file here is ./%s.lua)"):format(name) end
  return nil, ('no policy "%s"%s'):format(name:sub(1, 64), hint), "unknown"
end

--- Whether a name of a policy is a path.
function M.is_path(name) return (name:find("/", 1, true) or name:find "%.lua$") ~= nil end

--- Returns the first file NAME.lua in the searched directories, or in their folders `within` ("/queue"); nil: there is none.
function M.search(name, within)
  for _, dir in ipairs(M.path()) do
    local path = dir .. (within or "") .. "/" .. name .. ".lua"
    if files.exists(path) then return path end
  end
end

--- Returns the file of a policy; or nil, message, "unknown".
function M.find(name)
  if M.is_path(name) then return name end
  local path = M.search(name)
  if path then return path end
  return unknown(name)
end

-- ---- reading ------------------------------------------------------------------------------------------------

-- Splits a text at commas outside of brackets.
local function words(text)
  local list, depth, from = {}, 0, 1
  for at, mark in text:gmatch "()([%[%]{},])" do
    if mark == "," and depth == 0 then
      list[#list + 1] = text:sub(from, at - 1)
      from = at + 1
    elseif mark ~= "," then
      depth = depth + ((mark == "[" or mark == "{") and 1 or -1)
    end
  end
  list[#list + 1] = text:sub(from)
  return list
end

--- Parses "classes:mode=strict,k=4". Returns "classes", {mode = "strict", k = "4"}; or nil, message, "parse".
function M.parse(text)
  local name, rest = text:match "^(.*[^/:]):([^/].*)$"
  if not name then return text, {} end
  local options = {}
  for _, word in ipairs(words(rest)) do
    local key, value = word:match "^([^=]+)=(.*)$"
    if not key then
      return nil, ('policy "%s": an option is NAME=VALUE, not "%s"'):format(name, word), "parse"
    end
    options[key] = value
  end
  return name, options
end

local SETTINGS = { "instructions", "memory", "seconds" }

-- The argument of the compiled module: options, origin and budget in a table.
local function settings(options, budget, origin)
  local t = { options = options, origin = origin }
  for _, key in ipairs(SETTINGS) do t[key] = budget and budget[key] end
  for key in pairs(budget or {}) do
    if t[key] == nil or key == "origin" then
      local hint = suggest.hint(tostring(key), SETTINGS)
      error(("a budget has instructions, memory and seconds, not '%s'%s"):format(tostring(key), hint), 0)
    end
  end
  return t
end

-- A copy of settings with an origin.
local function with_origin(given, origin)
  local t = { origin = origin }
  for key, value in pairs(given or {}) do t[key] = value end
  return t
end

--- Loads a policy from the text of a file that cannot be read here. given: options and budget. Returns as load().
function M.of_file(path, text, given) return core.policy_source(text, path, with_origin(given, path:find "/" and M.origin(path) or nil)) end

--- Loads a policy from a text, given: options and budget; as a new edition of a policy in use, whose state it takes over
--- where the names are equal. file: the name of the text in errors, or nil. Returns as load().
function M.of_text(text, given, current, file)
  file = file or "policy"
  local p, why, code = core.policy_source(text, file, given)
  if not p or not current or p.name ~= current.name or not current.origin then return p, why, code end
  return core.policy_source(text, file, with_origin(given, current.origin))
end

local function load_file(name, options, budget)
  local path, why, code = M.find(name)
  if not path then return nil, why, code end
  local loaded
  loaded, why, code = core.policy_load(path, settings(options, budget, (M.origin(path))))
  if loaded then return loaded end
  return nil, why:find(path, 1, true) and why or path .. ": " .. why, code
end

local function load_text(text, budget)
  local name, options, code = M.parse(text)
  if not name then return nil, options, code end
  return load_file(name, options, budget)
end

-- Loads {"classes", mode = "strict"}, {table, k = 4}, or the table of a policy.
local function load_table(t, budget)
  local what = t[1]
  if what == nil then return core.policy_table(t) end
  local options = {}
  for key, value in pairs(t) do
    if key ~= 1 then options[key] = value end
  end
  if type(what) == "table" then return core.policy_table(what, options) end
  if type(what) ~= "string" then
    error("a policy with options is {NAME, option = value, ...}, NAME a text or a table", 0)
  end
  return load_file(what, options, budget)
end

--- Loads a policy from a name, a path or "name:option=value,..."; from {name, option = value, ...}; from the table of a
--- policy, which then lives in the caller's state; a loaded policy is returned as is. Returns the policy; or nil,
--- message, code. `budget`: limits of a match, {instructions =, memory = bytes, seconds =}.
function M.load(policy, budget)
  if type(policy) == "string" then return load_text(policy, budget) end
  if type(policy) == "table" then return load_table(policy, budget) end
  return policy
end

-- ---- several in one -----------------------------------------------------------------------------------------

local COMBINED = [[
local parts = {...}
local combine = table.remove(parts, 1).policy
return combine.%s(parts, {%s})
]]

-- The values of a policy's options, by name.
local function values_of(policy)
  local values = {}
  for name, option in pairs(policy.options) do values[name] = option.value end
  return values
end

local function combine_source()
  return assert(files.read(assert(package.searchpath("weir.policy.chain", package.path)), "policy"))
end

-- The identity of a combination of policies: the names and origins of the parts.
local function names_of(policies)
  return table.concat(tables.map(policies, function(p) return p.name .. (p.origin and "@" .. p.origin or "") end), "\n")
end

-- Combines policies from files, in a sandbox of their own.
local function combine_files(kind, policies, weights)
  local parts = { { text = combine_source(), name = "chain.lua" } }
  for i, p in ipairs(policies) do
    parts[i + 1] = { text = p.source, name = p.path or p.name, options = values_of(p) }
  end
  local numbers = tables.map(weights, function(w) return ("%.17g"):format(w) end)
  return core.policy_source(COMBINED:format(kind, table.concat(numbers, ", ")), kind, { parts = parts, origin = names_of(policies) })
end

-- Combines tables of policies in the caller's state.
local function combine_tables(kind, definitions, weights)
  local parts = {}
  for i, t in ipairs(definitions) do
    local checked, why, code = core.policy_table(t)
    if not checked then return nil, why, code end
    parts[i] = { policy = t, options = values_of(checked) }
  end
  return core.policy_table(require("weir.policy.chain")[kind](parts, weights))
end

local function combined(kind, list, weights)
  local loaded, definitions = {}, {}
  for i, x in ipairs(list) do
    if type(x) == "table" and x[1] == nil then
      definitions[#definitions + 1] = x
    else
      local p, why, code = M.load(x)
      if not p then return nil, why, code end
      loaded[i] = p
    end
  end
  if #definitions == #list then return combine_tables(kind, definitions, weights) end
  if #definitions > 0 then error("policies from files and definitions of policies cannot be combined", 3) end
  return combine_files(kind, loaded, weights)
end

--- Makes a policy of several: the first decides, the second where the first sees no difference, and so on.
function M.chain(list)
  if type(list) ~= "table" or #list == 0 then error("weir.policy.chain: a list of policies expected", 2) end
  return combined("chain", list, {})
end

-- Turns {best_fit = 2, low = 1} into {{"best_fit", 2}, {"low", 1}}, sorted by name.
local function pairs_of(weights)
  if #weights > 0 then return weights end
  local list = {}
  for name, weight in pairs(weights) do list[#list + 1] = { name, weight } end
  table.sort(list, function(a, b) return tostring(a[1]) < tostring(b[1]) end)
  return list
end

--- Makes a policy of several: the sum of all scores, each times a weight: {best_fit = 2, low = 1}, or, for tables and
--- policies with options, {{policy, weight}, ...}.
function M.weighted(weights)
  if type(weights) ~= "table" or next(weights) == nil then
    error("weir.policy.weighted: {policy = weight, ...} expected", 2)
  end
  local list, numbers = {}, {}
  for i, pair in ipairs(pairs_of(weights)) do
    list[i], numbers[i] = pair[1], pair[2]
    if type(pair[2]) ~= "number" then error("weir.policy.weighted: a weight is a number", 2) end
  end
  return combined("weighted", list, numbers)
end

return M
