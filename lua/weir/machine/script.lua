--- script.lua - machines in Lua files, which are of two kinds: recipes return nested tables, RDL has statements.

local files = require "weir.files"
local rdl = require "weir.machine.rdl"
local recipe = require "weir.machine.recipe"

local M = {}

local READERS = { recipe = recipe.parse, rdl = rdl.parse }

local OPTIONS = { format = true, source = true, types = true, instructions = true, memory = true, seconds = true }

local function check_options(opts)
  for key in pairs(opts or {}) do
    if not OPTIONS[key] then error(("there is no option '%s' here"):format(tostring(key)), 0) end
  end
end

-- A text without its comments.
local function code_of(text)
  return "\n" .. text:gsub("%-%-%[(=*)%[.-%]%1%]", " "):gsub("%-%-[^\n]*", "")
end

--- "rdl" where a statement begins with Hierarchy or uses, "recipe" for any other Lua text.
function M.guess(text)
  local code = code_of(text)
  local said = code:find "\n%s*Hierarchy%s*[%(\"'%[]" or code:find "\n%s*uses%s*[%(\"'%[]"
  return said and "rdl" or "recipe"
end

--- Whether this is the name of a format that is read here.
function M.reads(format) return READERS[format] ~= nil end

--- A graph from a text; or nil, message, code. `name` is what errors call it. opts.format: "recipe" or "rdl", told by
--- content if not given; opts.types: where an RDL file finds types of its own, see weir.rdl; budgets, see sandboxed_file.lua.
function M.parse(text, name, opts)
  check_options(opts)
  return READERS[opts and opts.format or M.guess(text)](text, name, opts)
end

--- The same for a file.
function M.load(path, opts)
  local text, why, code = files.read(path, "script")
  if not text then return nil, why, code end
  return M.parse(text, path == "-" and "<stdin>" or path, opts)
end

return M
