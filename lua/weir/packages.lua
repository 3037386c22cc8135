--- packages.lua - the packages that are installed. Each registers what it adds in a table, which its module
--- weir.packages.NAME returns; so no package names one that is built on it. Fields, all but name, doc and needs optional:
---
---   name, doc, needs   the name, a line for `weir --help`, and the names of the packages that it uses
---   commands           names of commands, in the order of the help; the module of a command is weir.cli.NAME
---   words              {word = hint}: words of other tools, and the command for that purpose
---   kinds              kinds of files for `weir FILE`: see cli/guess.lua
---   schemes            {scheme = module}: where "scheme:ADDRESS" is loaded from and saved to: see lua/weir/formats.lua
---   policies           a folder of placement policies, among the modules of the package
---   services           {name = module} for what talks to a running service: `commands` for weir -s, `repl` for the REPL
---   scenario           {option = module} for options of scenarios: see scenario/init.lua

local core = require "weir.core"

local M = {}

-- Returns the set of the names of the packages on Lua's path.
local function names()
  local found = {}
  for template in package.path:gmatch "[^;]+" do
    local folder = template:match "^(.*)%?%.lua$"
    for _, file in ipairs(folder and core.list_directory(folder .. "weir/packages") or {}) do
      local name = file:match "^(.+)%.lua$"
      if name then found[name] = true end
    end
  end
  return found
end

-- Appends a package to the list, after those that it needs.
local function put(list, tables, name)
  local one = tables[name]
  if not one then return end
  tables[name] = nil
  table.sort(one.needs)
  for _, other in ipairs(one.needs) do put(list, tables, other) end
  list[#list + 1] = one
end

local installed

--- Returns the tables of the installed packages, each after those that it needs.
function M.list()
  if installed then return installed end
  local tables, order = {}, {}
  for name in pairs(names()) do
    tables[name] = require("weir.packages." .. name)
    order[#order + 1] = name
  end
  table.sort(order)
  installed = {}
  for _, name in ipairs(order) do put(installed, tables, name) end
  return installed
end

--- Returns the entries of a list that packages have, such as "commands", in the order of the packages.
function M.all(field)
  local list = {}
  for _, one in ipairs(M.list()) do table.move(one[field] or {}, 1, #(one[field] or {}), #list + 1, list) end
  return list
end

--- Returns the paths of a folder that packages have, such as "policies".
function M.folders(field)
  local list = {}
  for _, one in ipairs(M.list()) do
    local table = one[field] and package.searchpath("weir.packages." .. one.name, package.path)
    if table then list[#list + 1] = table:gsub("packages/[^/]*$", one[field]) end
  end
  return list
end

--- Returns what the first package with an entry `key` in its table `field` has there; nil where no package has one.
function M.find(field, key)
  for _, one in ipairs(M.list()) do
    local value = one[field] and one[field][key]
    if value ~= nil then return value end
  end
end

--- Returns the module registered as `key` in a table of modules; nil where no package has it.
function M.module(field, key)
  local name = M.find(field, key)
  return name and require(name)
end

--- Returns the name of the package that has a command which is not installed; nil for a word that is no command of weir.
function M.of_command(name) return require("weir.known_commands")[name] end

return M
