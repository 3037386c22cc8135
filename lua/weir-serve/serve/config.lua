--- config.lua - options of a command from a file: a JSON object, or Lua code returning a table; keys are the long names
-- of options.
--
--   return {
--     resources = "/etc/weir/machine.json",
--     listen = { "unix:/run/weir/weir.sock", "tls:0.0.0.0:4747" },
--     limit = { clients = 200 },         -- of options that take NAME=VALUE
--     allow = { reader = "*" },
--   }
--
-- Options of the command line win over the file.

local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"
local options = require "weir.cli.options"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

-- Returns the number of the first line with the key, for error messages; nil if the key is not found.
local function line_of(text, key)
  local n = 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    n = n + 1
    line = line:gsub("%-%-.*$", "")
    if line:find("%f[%w_-]" .. key:gsub("%p", "%%%0") .. "%f[^%w_-][\"']?%]?%s*[=:]") then return n end
  end
end

-- Returns the table of a file; or nil and a message.
local function read(path, text)
  if text:find "^%s*{" then
    local value, why = core.json_decode(text)
    if type(value) ~= "table" then return nil, ("%s: %s"):format(path, why or "expected an object") end
    return value
  end
  local chunk, why = load(text, "@" .. path, "t", {})
  if not chunk then return nil, why end
  local ok, value = pcall(chunk)
  if not ok then return nil, tostring(value) end
  if type(value) ~= "table" then return nil, path .. ": it returns no table; expected return { resources = ... }" end
  return value
end

-- ---- values as words of a command line ------------------------------------------------------------------------------

local function plain(value)
  if math.type(value) == "float" and value == value // 1 and math.abs(value) < 1e15 then return ("%d"):format(value) end
  return (type(value) == "string" or type(value) == "number") and tostring(value) or nil
end

-- Returns "NAME=VALUE" for each entry, in ascending order of names; a list stays a list. Nil for any value not plain.
local function entries(value)
  local list = tables.map(value, plain)
  if #list ~= #value then return nil end
  local names = tables.filter(tables.collect(pairs(value)), function(name) return type(name) == "string" end)
  table.sort(names)
  for _, name in ipairs(names) do
    local text = plain(value[name])
    if not text then return nil end
    list[#list + 1] = name .. "=" .. text
  end
  return list
end

-- Returns the words of a command line for an option with a value; or nil and a description of the values allowed.
local function words(option, value)
  local flag = "--" .. option[2]
  if not option[3] then
    if type(value) ~= "boolean" then return nil, "expected true or false" end
    return value and { flag } or {}
  end
  local list = option.many and type(value) == "table" and entries(value) or { plain(value) }
  if #list == 0 and not (option.many and type(value) == "table" and next(value) == nil) then
    return nil, option.many and "expected a text, a number, or a list of them" or "expected a text or a number"
  end
  return tables.map(list, function(text) return flag .. "=" .. text end)
end

local function find(command, name)
  if name == "config" then failure.fail "config: a file of options names no other one" end
  local longs = tables.column(command.options, 2)
  local option = tables.filter(command.options, function(one) return one[2] == name end)[1]
  return option or failure.fail('there is no option "%s"%s', tostring(name), suggest.hint(tostring(name), longs))
end

-- Parses an option of the file exactly as the command line does.
local function take(command, name, value)
  local option = find(command, name)
  local list, why = words(option, value)
  if not list then failure.fail("%s: %s", name, why) end
  local parsed, wrong = options.parse({ options = { option } }, list)
  if not parsed then failure.raise((wrong:gsub("^%-%-", ""))) end
  return parsed[name] == nil and {} or { parsed[name] }
end

--- Adds to `opts` of a command all options of a file that the command line does not set. Returns true; or nil and a
-- message.
function M.apply(command, path, opts)
  local text, why = files.read(path, "settings")
  if not text then return nil, why end
  local value
  value, why = read(path, text)
  if not value then return nil, why end
  local names = tables.collect(pairs(value))
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for _, name in ipairs(names) do
    local one
    one, why = failure.caught(nil, take, command, name, value[name])
    if not one then
      local line = line_of(text, tostring(name))
      return nil, ("%s:%s %s"):format(path, line and line .. ":" or "", why)
    end
    if opts[name] == nil then opts[name] = one[1] end
  end
  return true
end

return M
