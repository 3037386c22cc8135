--- script.lua - machines in Lua files of two kinds: recipes return nested tables, RDL files consist of statements.

local files = require "weir.files"
local rdl = require "weir.machine.rdl"
local recipe = require "weir.machine.recipe"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local READERS = { recipe = recipe.parse, rdl = rdl.parse }

local OPTIONS = { format = true, source = true, types = true, instructions = true, memory = true, seconds = true }

local function check_options(opts)
  for key in pairs(opts or {}) do
    if not OPTIONS[key] then
      local hint = suggest.hint(tostring(key), tables.keys(OPTIONS))
      error(("there is no option '%s' here%s"):format(tostring(key):sub(1, 100), hint), 0)
    end
  end
end

-- A Lua text without comments.
local function code_of(text)
  return "\n" .. text:gsub("%-%-%[(=*)%[.-%]%1%]", " "):gsub("%-%-[^\n]*", "")
end

--- The format of a Lua text: "rdl" where a statement begins with Hierarchy or uses, otherwise "recipe".
function M.guess(text)
  local code = code_of(text)
  local said = code:find "\n%s*Hierarchy%s*[%(\"'%[]" or code:find "\n%s*uses%s*[%(\"'%[]"
  return said and "rdl" or "recipe"
end

--- Whether `format` is the name of a format of Lua files.
function M.reads(format) return READERS[format] ~= nil end

--- Builds a graph from a text. Returns the graph; or nil, message, code. `name` is the name of the text in errors.
--- opts.format: "recipe" or "rdl", by default told by content; opts.types: directories with types for RDL, see
--- weir.rdl; budgets, see sandboxed_file.lua.
function M.parse(text, name, opts)
  check_options(opts)
  return READERS[opts and opts.format or M.guess(text)](text, name, opts)
end

--- Builds a graph from a file; "-" is standard input. Options and results are those of M.parse.
function M.load(path, opts)
  local text, why, code = files.read(path, "script")
  if not text then return nil, why, code end
  return M.parse(text, path == "-" and "<stdin>" or path, opts)
end

return M
