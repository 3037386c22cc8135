--- formats.lua - the formats that are written in Lua: trees, recipes and pictures. Adds them to the methods format, write and
--- save of graphs and of allocations, in addition to the formats of the core.

local core = require "weir.core"
local files = require "weir.files"
local losses = require "weir.machine.losses"
local packages = require "weir.packages"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local view = require "weir.view"

-- The formats of a graph: `write(g, opts)` returns the text, or nil, message, code; `takes` has the options.
local GRAPHS = {
  recipe = { takes = {}, write = function(...) return require("weir.machine.recipe_write").text(...) end },
  tree = {
    takes = { start = true },
    write = function(g, opts)
      local trees = {}
      for i, v in ipairs(opts.start and { opts.start } or g:roots()) do trees[i] = view.vertex(v) end
      return view.text(trees)
    end,
  },
  dot = {
    takes = { start = true, all = true },
    write = function(...) return require("weir.view.dot").text(...) end,
  },
  svg = {
    takes = { start = true, by = true, width = true, all = true },
    write = function(...) return require("weir.html.picture.svg").svg(...) end,
  },
}

-- Options that formats of the core take.
local CORE = { start = true }

-- The formats of an allocation.
local ALLOCATIONS = { tree = { takes = {}, write = function(a) return view.text(view.allocation(a)) end } }

-- ---- options ----------------------------------------------------------------------------------------------------

local TYPES = { by = "string", width = "integer", all = "boolean" }

local function type_of(x) return math.type(x) == "integer" and "integer" or type(x) end

-- Returns the vertex named by the option `start`: a vertex of the graph, or a URI. Returns nil, message, code where
-- the graph has no such vertex.
local function start_of(g, start)
  if type(start) == "string" then return g:vertex(start) end
  local class = type(start) == "userdata" and debug.getmetatable(start)
  if not class or class.__name ~= "weir.vertex" then error "field 'start': a vertex or a URI expected" end
  if start:graph() ~= g then error "field 'start': the vertex is of another graph" end
  return start
end

-- Returns the options, with `start` as a vertex; or nil, message, code. Options of wrong types raise an error.
local function checked(g, name, takes, opts)
  local out = {}
  if opts ~= nil and type(opts) ~= "table" then error(("bad argument to 'format' (table expected, got %s)"):format(type(opts))) end
  for key, value in pairs(opts or {}) do
    if key ~= "start" and not TYPES[key] then
      error(("there is no option '%s' here%s"):format(tostring(key), suggest.hint(tostring(key), tables.keys(TYPES))))
    end
    if TYPES[key] and type_of(value) ~= TYPES[key] then error(("field '%s': %s expected"):format(key, TYPES[key])) end
    if value and not takes[key] then return nil, ('"%s" is written without the option `%s`'):format(name, key), "invalid" end
    out[key] = value
  end
  if out.start == nil then return out end
  local why, code
  out.start, why, code = start_of(g, out.start)
  if not out.start then return nil, why, code end
  return out
end

-- ---- methods ----------------------------------------------------------------------------------------------------

-- Adds the formats written in Lua to the message about an unknown format.
local function with_formats(formats, ok, ...)
  local why, code = ...
  if ok or type(why) ~= "string" then return ok, ... end
  local names = table.concat(tables.keys(formats), ", ")
  return ok, why:gsub("^(an? %l+ cannot be written as .*: expected one of .*)$", "%1, " .. names), code
end

-- Replaces the methods format(name, opts) and write(file, name, opts) of a class.
local function extend(class, formats)
  local methods = core.methods(class)
  local format, write = methods.format, methods.write

  function methods.format(self, name, opts)
    local made = formats[name]
    local set, why, code = checked(self, name, made and made.takes or CORE, opts)
    if not set then return nil, why, code end
    if not made then return with_formats(formats, format(self, name, set)) end
    return made.write(self, set)
  end

  function methods.write(self, file, name, opts)
    if not formats[name] then
      local set, why, code = checked(self, name, CORE, opts)
      if not set then return nil, why, code end
      return with_formats(formats, write(self, file, name, set))
    end
    if io.type(file) ~= "file" then error(io.type(file) and "the file is closed" or "FILE* expected") end
    local text, why, code = self:format(name, opts)
    if not text then return nil, why, code end
    local ok
    ok, why = file:write(text)
    if not ok then return nil, why, "io" end
    return true
  end
end

extend("graph", GRAPHS)
extend("allocation", ALLOCATIONS)

local graph = core.methods "graph"

--- Lists what of a graph its text in a format does not have: {"2 jobs", "the subsystem power"}; empty where the format holds
--- the whole state. Returns nil, message, code for a picture or an unknown format, which no reader takes.
function graph.losses(self, format)
  self:subsystems() -- raises an error for what is no graph
  if type(format) ~= "string" then error(("bad argument to 'losses' (string expected, got %s)"):format(type(format))) end
  local list = losses.of(self, format)
  if list then return list end
  return nil, ('"%s" is not a format that can be loaded again: expected one of %s'):format(format, table.concat(losses.formats, ", ")),
    "invalid"
end

local save = graph.save

-- Returns the text of a recipe; or nil, message, code where a recipe cannot express a part of the graph.
local function whole_recipe(g)
  local text, lost, code = require("weir.machine.recipe_write").text(g)
  if not text then return nil, lost, code end
  if #lost == 0 then return text end
  return nil, ('a recipe cannot have %s; a file of another kind can, and format = "recipe" leaves that out'):format(
    table.concat(lost, ", ")), "invalid"
end

local M = {}

--- Returns the module that reads and writes texts at "scheme:ADDRESS", by the scheme, and the address: nothing for the name of a
--- file. The module has read(address), which returns the text, and write(address, text); both nil, message, code on failure.
function M.place(path)
  local scheme, address = path:match "^(%a[%w]+):(.*)$"
  local place = scheme and packages.module("schemes", scheme)
  if place then return place, address end
end

-- Saves a graph at an address of a scheme, as a whole.
local function save_at(place, self, address, opts)
  if opts and opts.changed then return nil, "a key is written as a whole; a service has a state that is not: serve --state", "invalid" end
  local text, why, code = self:format(opts and opts.format or "jgf")
  if not text then return nil, why, code end
  return place.write(address, text)
end

--- Saves a graph to a file: see weir_graph_save() in weir.h; a file with the ending ".lua" is a recipe, and
--- etcd:http://HOST:PORT/KEY a key of an etcd. opts: format, changed.
function graph.save(self, path, opts)
  local name = type(opts) == "table" and opts.format
  if type(path) == "string" and (opts == nil or type(opts) == "table") then
    local place, address = M.place(path)
    if place then return save_at(place, self, address, opts) end
    if path:find "%.lua$" and not name and not (opts and opts.changed) then
      local text, why, code = whole_recipe(self)
      if not text then return nil, why, code end
      return files.write(path, text)
    end
  end
  if not (name and GRAPHS[name]) then return with_formats(GRAPHS, save(self, path, opts)) end
  if opts.changed then return nil, ('"%s" is written as a whole'):format(name), "invalid" end
  local text, why, code = self:format(name)
  if not text then return nil, why, code end
  return files.write(path, text)
end

return M
