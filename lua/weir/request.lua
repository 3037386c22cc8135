--- request.lua - requests from jobspecs and shapes, given as tables, as texts or as files.

local core = require "weir.core"
local files = require "weir.files"

local M = {}

-- Whether a text can only be the name of a file: with an extension, or with the beginning of a path.
local function looks_like_path(text)
  return text:find "^%.?%.?/" or text:find "%.%a+$"
end

--- The kind of a text given as a request: "file" or "text" (a jobspec or a shape string).
function M.kind(text)
  if text:find "[\n{]" then return "text" end
  return (files.exists(text) or looks_like_path(text)) and "file" or "text"
end

-- Puts the name of a text into a message of the compiled module, in place of a placeholder.
local function named(name, request, why, code)
  if request or not name then return request, why, code end
  local rest = why:match "^<request>(.*)$" or ": " .. why
  return nil, name .. rest, code
end

--- Makes a request from a jobspec as a table, as YAML or JSON text, as the name of a file, or from a shape string.
--- `name`: the name of a text in errors; with a name, x is never the name of a file. `duration`: seconds, in place of the request's
--- own; math.huge: no end.
function M.read(x, name, duration)
  if type(x) ~= "string" or name or M.kind(x) == "text" then return named(name, core.request(x, duration)) end
  local text, why, code = files.read(x, "jobspec")
  if not text then return nil, why, code end
  return named(x, core.request(text, duration))
end

return M
