--- weir - resource graphs, and policies that choose from them. See `weir.engine` for the usual way in.
--
-- Wrong use raises. What can fail for reasons outside of the program returns nil, a message and a code (a word such as
-- "parse", "busy", "infeasible").

local coarse = require "weir.machine.coarsen"
local core = require "weir.core"
local engines = require "weir.engine"
local explain = require "weir.explain"
local files = require "weir.files"
local method_errors = require "weir.method_errors"
local policy = require "weir.policy"
local recipe = require "weir.machine.recipe"
local rset = require "weir.rset"
local recipe_write = require "weir.machine.recipe_write"
local script = require "weir.machine.script"

local weir = {
  version = core.version, states = core.states, null = core.null, array = core.array,
  json = { encode = core.json_encode, decode = core.json_decode },
  new = core.new, synthetic = core.synthetic, discover = core.discover,
  recipe = recipe.build, query = core.query, constraint = core.constraint,
  idset = core.idset, hostlist = core.hostlist, rset = rset.new, R = rset.new,
}

--- A graph from a file. The format is told by content; files that end in ".lua" are RDL or recipes, see weir.script.
--- opts.format forces one; opts.types: where an RDL file finds types of its own. Lua files run in a sandbox; instructions,
--- memory and seconds are its budgets.
function weir.load(path, opts)
  if type(path) ~= "string" then error("weir.load: a file name expected, got " .. type(path), 2) end
  local format = opts and opts.format
  if script.reads(format) or (format == nil and path:match "%.lua$") then return script.load(path, opts) end
  return core.load(path, opts)
end

--- A graph from a text. opts: format, told by content if not given, but for "recipe" and "rdl"; source, what errors call
--- the text.
function weir.parse(text, opts)
  local format = opts and opts.format
  if not script.reads(format) then return core.parse(text, opts) end
  return script.parse(text, opts.source or "<string>", opts)
end

local function looks_synthetic(text)
  return text:find "^%s*[%a_][%w_.-]*[:%(%[]" or text:find "^%s*[%a_][%w_.-]*%s.*:"
end

--- A graph from whatever names one: a graph, a resource set, a recipe's table, "local" for this machine, a file, a
--- synthetic string.
function weir.resources(x, opts)
  if type(x) == "table" then return recipe.build(x) end
  if rset.is(x) then return x:graph() end
  if type(x) ~= "string" then return x end
  if x == "local" then return core.discover(opts) end
  if not files.exists(x) and looks_synthetic(x) then return core.synthetic(x) end
  return weir.load(x, opts)
end

-- A name that can only be a file's: has an extension, or starts like a path.
local function looks_like_path(text)
  return text:find "^%.?%.?/" or text:find "%.%a+$"
end

--- What a text is as a request: "file" or "text" (a jobspec or a shape string).
function weir.request_kind(text)
  if text:find "[\n{]" then return "text" end
  return (files.exists(text) or looks_like_path(text)) and "file" or "text"
end

-- Puts the name of a text where the compiled module has a stand-in for it.
local function named(name, request, why, code)
  if request or not name then return request, why, code end
  local rest = why:match "^<request>(.*)$" or ": " .. why
  return nil, name .. rest, code
end

--- A request from a jobspec as a table, as YAML or JSON text, as the name of a file, or from a shape string.
--- `name`: what errors call a text; it is then never a file's name.
function weir.request(x, name)
  if type(x) ~= "string" or name or weir.request_kind(x) == "text" then return named(name, core.request(x)) end
  local text, why, code = files.read(x, "jobspec")
  if not text then return nil, why, code end
  return named(x, core.request(text))
end

--- A policy: weir.policy(x, budget) takes what policy.load takes. weir.policy.chain{...} and weir.policy.weighted{...}
--- make one of several.
weir.policy = setmetatable({ chain = policy.chain, weighted = policy.weighted, list = policy.list }, {
  __call = function(_, ...) return policy.load(...) end,
})

--- An engine: weir.engine{resources = graph or what weir.resources takes, policy = "low"}; see weir.engine in engine.lua
--- for the other options.
function weir.engine(opts)
  local graph, why, code = weir.resources(type(opts) == "table" and opts.resources)
  if type(opts) == "table" and not graph then return nil, why, code end
  return engines.new(opts, graph)
end

-- ---- methods that are written in Lua ------------------------------------------------------------------------

local graph = core.methods "graph"
local coarsen, format = graph.coarsen, graph.format

--- A coarse view and the map between the two: g:coarsen{keep = {"rack", "node"}}; see machine/coarsen.lua.
function graph.coarsen(self, opts)
  return coarse.remember(coarsen(self, opts))
end

--- The graph as a text: see the writers in weir.h, and "recipe", which returns also a list of what a recipe cannot say.
function graph.format(self, name, opts)
  if name == "recipe" then return recipe_write.text(self) end
  return format(self, name, opts)
end

--- Books on the fine graph what an allocation took on a view of it: view:expand(allocation, {job = 7}).
graph.expand = coarse.expand

--- A conversation on the terminal, from any script: what is local where it is called is at hand under its name. opts:
--- resources, engine, policy, and input, a text to run instead. Returns when the person leaves.
function weir.repl(opts)
  local status = require("weir.repl").here(opts, 1)
  return status
end

engines.reads(weir.request)

--- weir.explain.text(report, columns), .headline(report), .plain(report): what e:explain() gives, in words and for programs.
weir.explain = explain

for _, class in ipairs { "engine", "graph", "rset" } do method_errors.mend(core.methods(class)) end

return weir
