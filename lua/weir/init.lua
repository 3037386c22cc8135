--- weir - resource graphs, and policies that choose from resource graphs. See `weir.engine` for the usual way in.
--
-- Wrong use raises. An operation that can fail for reasons outside of the program returns nil, a message and a code
-- (a word such as "parse", "busy", "infeasible").

require "weir.lua_version"
require "weir.staging"

local coarse = require "weir.machine.coarsen"
local core = require "weir.core"
local engines = require "weir.engine"
local files = require "weir.files"
local formats = require "weir.formats"
local method_errors = require "weir.method_errors"
local policy = require "weir.policy"
local recipe = require "weir.machine.recipe"
local refine = require "weir.machine.refine"
local requests = require "weir.request"
local rset = require "weir.rset"
local script = require "weir.machine.script"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local weir = {
  version = core.version, states = core.states, null = core.null, array = core.array,
  json = { encode = core.json_encode, decode = core.json_decode },
  new = core.new, synthetic = core.synthetic, discover = core.discover,
  recipe = recipe.build, query = core.query, constraint = core.constraint,
  idset = core.idset, hostlist = core.hostlist, rset = rset.new, R = rset.new,
  check_R = rset.check,
}

--- @method load(path: string, options: table?): graph?, string?, string? -- Loads a graph from a file. The format is
---   recognized by the content, also of files of Slurm and of what `flux config get` prints; files with the ending
---   ".lua" are RDL or recipes, see weir.script, and etcd:http://HOST:PORT/KEY is a key of an etcd. options.format
---   forces a format; options.types: directories with types for an RDL file. Lua files run in a sandbox with the
---   budgets instructions, memory and seconds. Contradictions in the files of Slurm go to Lua's warn.
function weir.load(path, opts)
  if type(path) ~= "string" then error("weir.load: a file name expected, got " .. type(path), 2) end
  local format = opts and opts.format
  local place, address = formats.place(path)
  if place then
    local text, why, code = place.read(address)
    if not text then return nil, why, code end
    return weir.parse(text, { source = path, format = format })
  end
  if script.reads(format) or (format == nil and path:match "%.lua$") then return script.load(path, opts) end
  if format == nil and path == "-" then
    local text, why, code = script.stdin()
    if why then return nil, why, code end
    if text then return weir.parse(text, { source = "<stdin>" }) end
  end
  local reader = format == nil and script.of_file(path)
  if reader then return script.load(path, { format = reader }) end
  return script.with_formats(core.load(path, opts))
end

--- @method parse(text: string, options: table?): graph?, string?, string? -- Makes a graph from a text. options:
---   format, by default recognized by content, except for "recipe" and "rdl"; source, the name of the text in errors.
function weir.parse(text, opts)
  local format = opts and opts.format or script.by_content(text)
  if not script.reads(format) then return script.with_formats(core.parse(text, opts)) end
  return script.parse(text, opts and opts.source or "<string>", opts, format)
end

local function looks_synthetic(text)
  return text:find "^%s*[%a_][%w_.-]*[:%(%[]" or text:find "^%s*[%a_][%w_.-]*%s.*:"
end

--- @method resources(x: graph | rset | table | string, options: table?): graph?, string?, string? -- Returns a graph
---   from a graph, a resource set, a recipe's table, "local" for this machine, a file, or a synthetic string.
function weir.resources(x, opts)
  if type(x) == "table" then return recipe.build(x) end
  if rset.is(x) then return x:graph() end
  if type(x) ~= "string" then return x end
  if x == "local" then return core.discover(opts) end
  if not files.exists(x) and looks_synthetic(x) then return core.synthetic(x) end
  return weir.load(x, opts)
end

weir.request, weir.request_kind = requests.read, requests.kind

--- @method policy(policy: string | table | loaded_policy, budget: table?): loaded_policy?, string?, string? -- Makes a
---   policy: weir.policy(policy, budget) takes the arguments of policy.load. weir.policy.chain{...} and
---   weir.policy.weighted{...} make a policy of several. weir.policy.print(true) lets print in a policy from a file
---   write to standard error.
weir.policy = setmetatable({ chain = policy.chain, weighted = policy.weighted, list = policy.list, print = core.policy_print }, {
  __call = function(_, ...) return policy.load(...) end,
})

--- @method engine(options: table): engine?, string?, string? -- Makes an engine: weir.engine{resources = a graph or an
---   argument of weir.resources, policy = "low"}; see weir.engine in engine.lua for further options.
function weir.engine(opts)
  engines.check_options(opts)
  local graph, why, code = weir.resources(opts.resources)
  if not graph then return nil, why, code end
  return engines.new(opts, graph)
end

-- ---- methods that are written in Lua ------------------------------------------------------------------------

local graph = core.methods "graph"
local coarsen = graph.coarsen

--- Returns a coarse view and the map between view and graph: g:coarsen{keep = {"rack", "node"}}; see
--- machine/coarsen.lua.
function graph.coarsen(self, opts) return coarse.make(coarsen, self, opts) end

graph.follow = coarse.follow

--- Allocates on the fine graph the resources of an allocation on a view: view:expand(allocation, {job = 7}).
graph.expand = coarse.expand

graph.refine = refine.refine

local engine = core.methods "engine"

-- Described in explain/init.lua.
function engine.explain(self, request, opts) return require("weir.explain").of(self, request, opts) end

--- @method repl(options: table?): integer -- Starts a dialogue on the terminal, from any script: the caller's local
---   variables are available by name. options: resources, engine, policy, and input, a text to run instead. Returns
---   when the user leaves.
function weir.repl(opts)
  local status = require("weir.repl").here(opts, 1)
  return status
end

for _, class in ipairs { "allocation", "engine", "graph", "rset" } do method_errors.mend(core.methods(class)) end

-- weir.explain.text(report, columns), .headline(report), .plain(report): a report of e:explain() in words and for programs. Read
-- at the first use. Any other name that the module does not have is mostly mistyped.
return setmetatable(weir, {
  __index = function(_, name)
    if name == "explain" then return require "weir.explain" end
    error(("the module weir has no '%s'%s"):format(tostring(name), suggest.hint(tostring(name), tables.keys(weir))), 2)
  end,
})
