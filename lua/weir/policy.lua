--- policy.lua - policies by name: where they lie, and reading them.
--
-- A name with a "/" in it or ending in ".lua" is a path. Any other is looked for as NAME.lua in the directories of
-- WEIR_POLICY_PATH (separated by colons), then among the bundled policies.

local core = require "weir.core"
local suggest = require "weir.suggest"

local M = { default = "low" }

-- Where the bundled policies are, seen from the directory of weir's Lua files: installed, and in a build tree.
local function bundled()
  if core.prefix and core.prefix.policies then return core.prefix.policies end
  local here = package.searchpath("weir.policy", package.path) or ""
  local lib = here:match "^(.*)/[^/]*$" or "."
  local installed = lib .. "/../../../weir/policies"
  local file = io.open(installed .. "/low.lua")
  if not file then return lib .. "/../../../policies" end
  file:close()
  return installed
end

--- The directories that names are looked for in, first to last.
function M.path()
  local dirs = {}
  for dir in (os.getenv "WEIR_POLICY_PATH" or ""):gmatch "[^:]+" do dirs[#dirs + 1] = dir end
  dirs[#dirs + 1] = bundled()
  return dirs
end

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

-- The names of the Lua files in a directory, sorted.
local function names_in(dir)
  local names = {}
  local pipe <close> = assert(io.popen("ls -1 -- " .. quote(dir) .. " 2>/dev/null"))
  for entry in pipe:lines() do
    local name = entry:match "^(.+)%.lua$"
    if name then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- All policies on the path, {name=, path=}; one that an earlier directory hides is left out.
function M.list()
  local found, seen = {}, {}
  for _, dir in ipairs(M.path()) do
    for _, name in ipairs(names_in(dir)) do
      if not seen[name] then
        seen[name] = true
        found[#found + 1] = { name = name, path = dir .. "/" .. name .. ".lua" }
      end
    end
  end
  return found
end

local function is_path(name) return name:find("/", 1, true) or name:match "%.lua$" end

local function readable(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local function unknown(name)
  local known = {}
  for _, entry in ipairs(M.list()) do known[#known + 1] = entry.name end
  local hint = suggest.hint(name, known)
  if hint == "" then hint = " (known: " .. table.concat(known, ", ") .. ")" end
  return nil, ('no policy "%s"%s'):format(name:sub(1, 64), hint), "unknown"
end

--- The file of a policy; or nil, message, "unknown".
function M.find(name)
  if is_path(name) then return name end
  for _, dir in ipairs(M.path()) do
    local path = dir .. "/" .. name .. ".lua"
    if readable(path) then return path end
  end
  return unknown(name)
end

--- What an engine takes: a table or a loaded policy as it is, a name or path as the policy that is read from there;
--- or nil, message, code.
function M.load(policy)
  if type(policy) ~= "string" then return policy end
  local path, why, code = M.find(policy)
  if not path then return nil, why, code end
  local loaded
  loaded, why, code = core.policy_load(path)
  if loaded then return loaded end
  return nil, why:find(path, 1, true) and why or path .. ": " .. why, code
end

return M
