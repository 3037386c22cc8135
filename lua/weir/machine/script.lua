--- script.lua - machines whose readers are written in Lua: recipes return nested tables, RDL files consist of statements;
--- files of Slurm and of the format "flux" are recognized by their content.

local core = require "weir.core"
local files = require "weir.files"
local recipe = require "weir.machine.recipe"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

local READERS = {
  recipe = recipe.parse,
  rdl = function(...) return require("weir.machine.rdl").parse(...) end,
  slurm = function(...) return require("weir.machine.slurm").parse(...) end,
  flux = function(...) return require("weir.machine.flux").parse(...) end,
}

local OPTIONS = { format = true, source = true, types = true, instructions = true, memory = true, seconds = true }

local function check_options(opts) suggest.check_options("", opts or {}, OPTIONS, 0) end

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

local MORE = ", slurm.conf, what scontrol show node or flux config get prints; recipes and RDL in files that end in .lua)"

--- Returns the results of a reader of the core. Errors for unknown formats name the formats of this module, too.
function M.with_formats(graph, why, code)
  if not graph and code == "parse" then why = why:gsub("(is no machine in a known format %(.*)%)$", "%1" .. MORE) end
  if not graph and code == "invalid" then
    why = why:gsub("^.*unknown format .* expected one of .*$", "%0, " .. table.concat(tables.keys(READERS), ", "))
  end
  return graph, why, code
end

--- Builds a graph from a text. Returns the graph; or nil, message, code. `name` is the name of the text in errors.
--- opts.format: "recipe" or "rdl", by default detected from the content; opts.types: directories with types for RDL, see
--- weir.rdl; budgets, see sandboxed_file.lua. format: the format where opts has none.
function M.parse(text, name, opts, format)
  check_options(opts)
  return READERS[opts and opts.format or format or M.guess(text)](text, name, opts)
end

local HEAD = 65536 -- bytes of a file that are looked at

--- Returns the format of a text, given the beginning of the text: "slurm" or "flux"; nil for a text that no reader of this module
--- reads.
function M.by_content(head)
  if head:find "^%s*<" then return nil end
  if head:find "^%s*{" then
    local may_be = head:find('"resource"', 1, true) or head:find('"queues"', 1, true)
    return may_be and require("weir.machine.flux").is(head) and "flux" or nil
  end
  return require("weir.machine.slurm").is(head) and "slurm" or nil
end

-- Whether standard input may be a text of this module. The readers of the core take texts that begin with a brace, a tag or a
-- blank, as they need not keep the whole text.
local function stdin_may_be()
  local byte = core.next_byte(io.stdin)
  return byte ~= nil and byte:find "[%a#]" ~= nil
end

--- Reads standard input whole where it may be a text of this module. Returns the text; nil where the input is left
--- unread; or nil, message, code.
function M.stdin()
  if not stdin_may_be() then return nil end
  return files.read("-", "machine")
end

--- The format of a regular file by its content, as by by_content().
function M.of_file(path)
  local mode, _, regular = core.file_mode(path)
  if not mode or regular ~= true then return nil end
  local file = io.open(path, "rb")
  if not file then return nil end
  local head = file:read(HEAD)
  file:close()
  return head and M.by_content(head)
end

--- Builds a graph from a file; "-" is standard input. Options and results are those of M.parse.
function M.load(path, opts)
  local text, why, code = files.read(path, "script")
  if not text then return nil, why, code end
  return M.parse(text, path == "-" and "<stdin>" or path, opts)
end

return M
