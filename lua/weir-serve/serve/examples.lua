--- examples.lua - for each method of the service the comment in front of the method in its file: an example request,
-- and a description.

local files = require "weir.files"

local M = {}

local known

-- Splits "{...}; words" or "{...}: words" at the balanced closing brace.
local function split(text)
  local request, words = text:match "^(%b{})[;:]?%s*(.*)$"
  return request, words ~= "" and words or nil
end

-- Collects all comments that begin with a request, including continuation lines.
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

--- Returns {method =, example =, about =} of a method, or nil. `modules`: names of the files in serve/methods. The
-- files are read once.
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
