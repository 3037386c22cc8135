--- weir - resource graphs, and policies that choose from them. See `weir.engine` for the usual way in.
--
-- Wrong use raises. What can fail for reasons outside of the program returns nil, a message and a code (a word such as
-- "parse", "busy", "infeasible").

local coarse = require "weir.coarse"
local core = require "weir.core"
local files = require "weir.files"
local part = require "weir.part"
local policy = require "weir.policy"
local recipe = require "weir.recipe"

local weir = {
  version = core.version, states = core.states, null = core.null, array = core.array,
  json = { encode = core.json_encode, decode = core.json_decode },
  new = core.new, parse = core.parse, synthetic = core.synthetic, discover = core.discover,
  recipe = recipe.build, query = core.query, constraint = core.constraint,
}

--- A graph from a file. The format is told by content, but for recipes, which are files that end in ".lua";
--- opts.format forces one.
function weir.load(path, opts)
  if type(path) ~= "string" then error("weir.load: a file name expected, got " .. type(path), 2) end
  local format = opts and opts.format
  if format == "recipe" or (format == nil and path:match "%.lua$") then return recipe.load(path) end
  return core.load(path, opts)
end

local function looks_synthetic(text)
  return text:find "^%s*[%a_][%w_.-]*[:%(%[]" or text:find "^%s*[%a_][%w_.-]*%s.*:"
end

--- A graph from whatever names one: a graph, a recipe's table, "local" for this machine, a file, a synthetic string.
function weir.resources(x, opts)
  if type(x) == "table" then return recipe.build(x) end
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
  local text, why, code = files.read(x)
  if not text then return nil, why, code end
  return named(x, core.request(text))
end

--- A policy by name or path, to be given to an engine; tables are given as they are.
function weir.policy(x)
  return policy.load(x)
end

--- An engine: weir.engine{resources = graph or what weir.resources takes, policy = "low"}.
function weir.engine(opts)
  if type(opts) ~= "table" then error("weir.engine: a table expected, {resources=..., policy=...}", 2) end
  for key in pairs(opts) do
    if key ~= "resources" and key ~= "policy" then
      error(("weir.engine: there is no option '%s' here"):format(tostring(key)), 2)
    end
  end
  local graph, why, code = weir.resources(opts.resources)
  if not graph then return nil, why, code end
  local chosen
  chosen, why, code = policy.load(opts.policy or policy.default)
  if not chosen then return nil, why, code end
  return core.engine { resources = graph, policy = chosen }
end

-- ---- methods that are written in Lua ------------------------------------------------------------------------

-- The methods of a class of handles, as the compiled module made them.
local function methods_of(class) return debug.getregistry()["weir." .. class].__index end

local graph, engine = methods_of "graph", methods_of "engine"

local coarsen, use, match, grow, shrink = graph.coarsen, engine.use, engine.match, engine.grow, engine.shrink

--- A coarse view and the map between the two: g:coarsen{keep = {"rack", "node"}}; see weir.coarse.
function graph.coarsen(self, opts)
  return coarse.remember(coarsen(self, opts))
end

--- Writes the graph to a file: g:save("x.json", {format = "jgf"}). Formats: jgf (the default), rv1, dot, tree.
function graph.save(self, path, opts)
  if type(path) ~= "string" then error("g:save: a file name expected, got " .. type(path), 2) end
  for key in pairs(opts or {}) do
    if key ~= "format" then error(("g:save: there is no option '%s' here"):format(tostring(key)), 2) end
  end
  local text, why, code = self:format(opts and opts.format or "jgf")
  if not text then return nil, why, code end
  return files.write(path, text)
end

--- Books on the fine graph what an allocation took on a view of it: view:expand(allocation, {job = 7}).
graph.expand = coarse.expand

--- Replaces the policy, by name, path, table or policy. The old one stays when the new one does not load.
function engine.use(self, x)
  local chosen, why, code = policy.load(x)
  if not chosen then return nil, why, code end
  return use(self, chosen)
end

-- Calls f(request, ...) with a text turned into a request.
local function with_request(request, f, ...)
  if type(request) ~= "string" then return f(request, ...) end
  local read, why, code = weir.request(request)
  if not read then return nil, why, code end
  return f(read, ...)
end

--- Matches what weir.request takes.
function engine.match(self, request, opts)
  return with_request(request, function(r) return match(self, r, opts) end)
end

--- Gives a job more: what a request finds.
function engine.grow(self, job, request)
  return with_request(request, function(r) return grow(self, job, r) end)
end

--- Takes a part away from a job: a vertex, a list of vertices, {ranks = "0-3"}, an R (text or table), or some units of
--- one pool, {vertex = v, amount = n}. Returns the job as it is then, or true when nothing is left of it.
function engine.shrink(self, job, what)
  return part.shrink(self, job, what, shrink)
end

return weir
