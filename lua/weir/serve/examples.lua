--- examples.lua - what stands beside each method in its file: a request, and a few words about it.

local files = require "weir.files"

local M = {}

local known

-- "{...}; words", of which the braces may hold others.
local function split(text)
  local request, words = text:match "^(%b{})[;:]?%s*(.*)$"
  return request, words ~= "" and words or nil
end

-- Comments that begin with a request, with the lines that go on.
local function read(text, found)
  local lines
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local part = line:match "^%-%-%- (.*)$"
    if part and part:find '^{"id"' then
      lines = { part }
    elseif part and lines then
      lines[#lines + 1] = part
    elseif lines then
      local request, words = split(table.concat(lines, " "))
      local name = request and request:match '"method":"([^"]+)"'
      if name then found[name] = { method = name, example = request, about = words } end
      lines = nil
    end
  end
end

--- {method =, example =, about =} of a method, or nil. modules: the files of methods, by the ends of their names.
function M.of(name, modules)
  if not known then
    known = {}
    for _, module in ipairs(modules) do
      local path = package.searchpath("weir.serve.methods." .. module, package.path)
      local text = path and files.read(path, "script")
      if text then read(text, known) end
    end
  end
  return known[name]
end

return M
