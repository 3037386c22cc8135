-- manual.lua - makes the page of the policy contract and the annotations for editors (LuaCATS) from the comments in
-- the code, and a Lua module with the same content for :help. Usage, from the project's root: weir run
-- spec/tools/manual.lua PAGE ANNOTATIONS MODULE Fails when a function that a script can call is in no comment, or a
-- comment describes a function that does not exist.
--
--   @class NAME TEXT        in a comment of C; the entries after it describe this class
--   @field NAME: TYPE -- TEXT
--   @method NAME(ARGUMENTS): RESULTS -- TEXT
local core = require "weir.core"
require "weir"

local ORDER = {
  "policy", "choice", "vertex", "request", "job", "job_resource", "graph", "engine", "allocation", "loaded_policy",
  "queue_policy", "queue", "queue_job", "scenario", "scenario_job",
}
local OF_SCRIPTS = "script_graph" -- methods of a graph that no policy can call: for :doc and for editors
local TITLES = {
  policy = "The policy", choice = "A choice by name", vertex = "v: a vertex", request = "request", job = "job",
  job_resource = "A resource of a job", graph = "graph", engine = "The engine",
  allocation = "An allocation", loaded_policy = "A policy that was loaded",
  queue_policy = "The queue policy", queue = "queue: the queue", queue_job = "A job of a queue", scenario = "A scenario",
  scenario_job = "A job of a scenario",
}

local classes, problems = {}, {}
local function problem(...) problems[#problems + 1] = string.format(...) end

local function class(name)
  classes[name] = classes[name] or { text = "", members = {}, known = {} }
  return classes[name]
end

-- ---- reading ------------------------------------------------------------------------------------------------

local function add_member(to, kind, name, rest)
  local signature, text = rest:match "^(.-)%s*%-%-%s*(.*)$"
  if not signature or text == "" then problem("%s: expected a signature and a text, with -- between,", name) end
  if to.known[name] then problem("%s is described twice", name) end
  to.known[name] = true
  to.members[#to.members + 1] = { kind = kind, name = name, signature = signature or rest, text = text or "" }
end

local function read_entry(state, entry)
  local kind, name, rest = entry:match "^@(%a+)%s+([%w_]+)%s*(.*)$"
  if kind == "class" then
    state.class = class(name)
    if rest ~= "" then state.class.text = rest end
  elseif (kind == "field" or kind == "method") and state.class then
    add_member(state.class, kind, name, rest)
  else
    problem("cannot be read: %s", entry)
  end
end

-- The entries of one comment, each as one line.
local function read_comment(state, text)
  local entry
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    line = line:gsub("^%s*%*?%s?", ""):gsub("^%-%-%-?%s?", ""):gsub("%s+$", "")
    if line:find "^@%a" then
      if entry then read_entry(state, entry) end
      entry = line
    elseif entry and line ~= "" then
      entry = entry .. " " .. line:gsub("^%s+", "")
    elseif entry then
      read_entry(state, entry)
      entry = nil
    end
  end
  if entry then read_entry(state, entry) end
end

local function read_file(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function read_sources()
  local pipe <close> = assert(io.popen "find bindings -path bindings/weir-flux -prune -o -name '*.c' -print | sort")
  for path in pipe:lines() do
    for comment in read_file(path):gmatch "/%*(.-)%*/" do
      if comment:find "@class" then read_comment({}, comment) end
    end
  end
end

-- The methods of a class that are written in Lua: the comments above them.
local function read_methods(to, path)
  for block in (read_file(path) .. "\n"):gmatch "\n%-%-%- (@method.-)\n[^-]" do
    read_comment({ class = to }, (block:gsub("\n%-%-%-", "\n")))
  end
end

-- The head of a Lua file: its first comment.
local function read_head(path)
  read_comment({}, (read_file(path):match "^(.-)\n[^-]"))
end

-- ---- comparing the entries with the module ---------------------------------------------------------------------

local function check_class(name, there)
  local known = class(name).known
  for member in pairs(there) do
    if not known[member] then problem("%s: %s is in no comment", name, member) end
  end
  for member in pairs(known) do
    if not there[member] then problem("%s: %s is described, and not there", name, member) end
  end
end

local function keys(list)
  local t = {}
  for _, key in ipairs(list) do t[key] = true end
  return t
end

local function merged(names, more)
  local t = keys(more)
  for name in pairs(names) do t[name] = true end
  return t
end

local function check()
  local members = core.members()
  check_class("engine", core.methods "engine")
  check_class("vertex", members.vertex)
  check_class("policy", keys(members.policy))
  check_class("allocation", merged(members.allocation, { "id", "at", "end_", "duration", "state", "policy", "stage",
    "expires" }))
  check_class("graph", members.graph)
  local scenario = {}
  for name in pairs(getmetatable(require "weir.scenario" {})) do scenario[name] = not name:find "^__" or nil end
  check_class("scenario", scenario)
  local rest = {}
  for name in pairs(core.methods "graph") do rest[name] = not members.graph[name] or nil end
  check_class(OF_SCRIPTS, rest)
end

-- ---- writing ------------------------------------------------------------------------------------------------

local function page()
  local out = {
    "# The contract between weir and its policies\n", "Made from the source; `weir policy new NAME` writes a policy to start from.\n",
  }
  for _, name in ipairs(ORDER) do
    local c = class(name)
    out[#out + 1] = ("## %s\n\n%s\n"):format(TITLES[name], c.text)
    for _, m in ipairs(c.members) do
      out[#out + 1] = ("- `%s%s`  \n  %s"):format(m.name, m.signature, m.text)
    end
    out[#out + 1] = ""
    if name == "job_resource" then out[#out + 1] = read_file "doc/reference/policy-hooks.md" end
  end
  return table.concat(out, "\n")
end

-- Types that only editors know, see TABLES and annotations().
local MORE = { edge = true, option = true, jobspec = true, parsed_request = true, detached = true, rset = true, query = true,
  pieces = true, policies = true }

-- Adds the prefix weir. to the names of weir's types: vertex[] -> weir.vertex[]. A word before a colon is the name of
-- a parameter and stays, as does a word in quotation marks.
local function qualify(kind)
  return (kind:gsub('("?)([%a_][%w_.]*)(%s*:?)', function(quote, word, colon)
    if quote ~= "" or colon:find ":" then return nil end
    return (classes[word] or MORE[word]) and "weir." .. word .. colon
  end))
end

-- The type of a field; the type of a hook is at the beginning of its text.
local function type_of(m)
  local kind = m.signature:match "^:%s*(.*)$"
  local hook, text = m.text:match "^(fun%b():?[^.]*%.?%.?%.?)%. (.*)$"
  if kind:find "^function%??$" and hook then return hook, kind:find "%?" ~= nil, text end
  if kind:find "function" and hook then return (kind:gsub("function", function() return "(" .. hook .. ")" end)), false, text end
  local optional = kind:match "^([^|]*)%?$"
  return optional or kind, optional ~= nil, m.text
end

-- Tables of options, by method; and what editors know of them.
local OPTIONS = { ["engine:match"] = "weir.match_options", ["engine:levels"] = "weir.match_options",
  ["engine:grow"] = "weir.match_options" }
local TABLES = [[
---@class weir.option_declaration
---@field type? "boolean" | "integer" | "number" | "string" | "table"
---@field default? boolean | number | string | table
---@field min? number
---@field max? number
---@field choices? string[]
---@field doc? string

---@alias weir.option boolean | number | string | weir.option_declaration

---@class weir.about What the host of a match knows of a job.
---@field user? string | integer
---@field bank? string | integer
---@field project? string | integer
---@field queue? string | integer
---@field qos? string | number
---@field name? string | integer
---@field urgency? number
---@field priority? number
---@field submit? number

---@class weir.match_options See engine:match.
---@field mode? "now" | "reserve" | "feasible" | "preview"
---@field at? number
---@field duration? number
---@field job? integer
---@field about? weir.about
---@field policy? string
---@field trace? table
---@field inside? table
---@field stats? boolean
---@field brief? boolean
---@field stage? number
---@field lock? boolean
---@field within? weir.vertex
---@field without? string[]
---@field subsystem? string

---@class weir.engine_options
---@field resources weir.graph | weir.rset | table | string A graph, an R, a recipe, a file or a description such as "node:4 core:8".
---@field policy? string | table | weir.loaded_policy
---@field policies? string[]
---@field budget? { instructions?: integer, memory?: integer, seconds?: number }
---@field overrun? "hold" | "expire"
---@field scores? "remember" | "check" | "call"
---@field granularity? string

---@class weir.parsed_request A request as weir.request returns it.
---@class weir.rset A resource set (RFC 20), as weir.rset returns it.
---@class weir.query An expression as weir.query returns it.
---@class weir.pieces The parts of a graph that a save writes.
---@class weir.detached A job without a place in the schedules, as engine:detach returns it.
]]

-- Returns the arguments {name =, kind =, optional =} and the results of "(a: string, b: integer?): x, y".
local function parts_of(signature)
  local arguments, results = signature:match "^(%b())%s*:?%s*(.*)$"
  local list = {}
  for argument in arguments:sub(2, -2):gmatch "[^,]+" do
    local name, kind = argument:match "^%s*([%w_]+)%s*:%s*(.-)%s*$"
    local optional = kind:match "^(.*)%?$" or kind:match "^(.*) | nil$"
    list[#list + 1] = { name = name, kind = optional or kind, optional = optional ~= nil }
  end
  return list, results
end

-- Returns the type of a function with a signature.
local function function_type(signature)
  local arguments, results = parts_of(signature)
  for i, one in ipairs(arguments) do
    arguments[i] = ("%s%s: %s"):format(one.name, one.optional and "?" or "", qualify(one.kind))
  end
  return ("fun(%s)%s"):format(table.concat(arguments, ", "), results ~= "" and ": " .. qualify(results) or "")
end

-- Writes "(a: string, b: integer?): x, y" as annotations of one method.
local function annotate_method(out, owner, m)
  local names = {}
  out[#out + 1] = "--- " .. m.text
  local arguments, results = parts_of(m.signature)
  for i, one in ipairs(arguments) do
    local kind = one.name == "options" and OPTIONS[owner .. ":" .. m.name] or one.kind
    out[#out + 1] = ("---@param %s%s %s"):format(one.name, one.optional and "?" or "", qualify(kind))
    names[i] = one.name
  end
  if results ~= "" then out[#out + 1] = "---@return " .. qualify(results) end
  out[#out + 1] = ("function %s:%s(%s) end\n"):format(owner, m.name, table.concat(names, ", "))
end

local ENGINE = "fun(options: weir.engine_options): weir.engine?, string?, string?"

local ASSERTION = "fun(...: weir.scenario_job | string | number | table)"
local POLICIES = [[
---@class weir.policies
---@field chain fun(list: (string | table | weir.loaded_policy)[]): weir.loaded_policy
---@field weighted fun(weights: table): weir.loaded_policy
---@field list fun(): table[]
---@field print fun(on: boolean?): boolean
---@overload fun(policy: string | table | weir.loaded_policy, budget?: table): weir.loaded_policy?, string?, string?

--- Assertions of weir.scenario.
---@class luassert]]

-- The module and the assertions of scenarios, for editors.
local function annotate_rest(out)
  out[#out + 1] = "--- " .. class "weir".text .. "\n---@class weir.module"
  for _, m in ipairs(class "weir".members) do
    local kind = m.name == "policy" and "weir.policies" or m.name == "engine" and ENGINE or function_type(m.signature)
    out[#out + 1] = ("---@field %s %s %s"):format(m.name, kind, m.text)
  end
  out[#out + 1] = "local weir = {}\n\n" .. POLICIES
  local seen = {}
  for line in read_file "lua/weir/scenario/assertions.lua":gmatch "%-%-%-   (assert%.[^\n]*)" do
    for name in line:gsub("weir%.[%l_.]+", ""):gmatch "%.([%l_]+)%f[^%w_]" do
      if not seen[name] then out[#out + 1] = ("---@field %s %s %s"):format(name, ASSERTION, line) end
      seen[name] = true
    end
  end
  out[#out + 1] = "\nreturn weir"
end

-- The module weir.scenario, for editors.
local SCENARIO = [[
---@meta weir.scenario
---@class weir.scenarios
---@field each fun(options: table): fun(): string?, table?
---@field policies fun(): string[]
---@field queues fun(): string[]
---@overload fun(options?: table): weir.scenario
local scenario = {}
return scenario
]]

local function annotations()
  local out = {
    "---@meta weir\n-- Made from the source of weir: annotations for editors.\n",
    "---@class weir.edge\n---@field source weir.vertex\n---@field target weir.vertex\n---@field subsystem string",
    "---@field type string\n---@field back string?\n",
    TABLES,
    "--- A request, RFC 14.\n---@class weir.jobspec\n---@field version integer\n---@field resources weir.resource[]",
    "---@field attributes table\n---@field tasks table[]\n",
    "---@class weir.resource\n---@field type string\n---@field count integer | table | string\n---@field unit? string",
    "---@field label? string\n---@field exclusive? boolean\n---@field with? weir.resource[]\n",
  }
  for _, name in ipairs { "accumulator", table.unpack(ORDER) } do
    local c = class(name)
    out[#out + 1] = "--- " .. c.text
    out[#out + 1] = "---@class weir." .. name
    for _, m in ipairs(c.members) do
      if m.kind == "field" then
        local kind, optional, text = type_of(m)
        out[#out + 1] = ("---@field %s%s %s %s"):format(m.name, optional and "?" or "", qualify(kind), text)
      end
    end
    out[#out + 1] = ("local %s = {}\n"):format(name)
    for _, m in ipairs(c.members) do
      if m.kind == "method" then annotate_method(out, name, m) end
    end
    for _, m in ipairs(name == "graph" and class(OF_SCRIPTS).members or {}) do annotate_method(out, name, m) end
  end
  annotate_rest(out)
  return table.concat(out, "\n") .. "\n"
end

-- {class = {text =, members = {{kind =, name =, signature =, text =}}}} as a module.
local function module()
  local out = { "-- Made from the source of weir: what :help and :doc tell.", "return {" }
  for _, name in ipairs { "weir", OF_SCRIPTS, table.unpack(ORDER) } do
    local c = class(name)
    out[#out + 1] = ("  [%q] = { text = %q, members = {"):format(name, c.text)
    for _, m in ipairs(c.members) do
      out[#out + 1] = ("    { kind = %q, name = %q, signature = %q, text = %q },"):format(m.kind, m.name, m.signature, m.text)
    end
    out[#out + 1] = "  } },"
  end
  out[#out + 1] = "}\n"
  return table.concat(out, "\n")
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  assert(file:write(text))
  assert(file:close())
end

read_sources()
for _, file in ipairs { "engine", "explain/init", "staging" } do read_methods(class "engine", "lua/weir/" .. file .. ".lua") end
read_head "lua/weir/sim/queue_runtime.lua"
read_head "lua/weir/scenario/job.lua"
class "scenario".text = "What weir.scenario{machine =, policy =, queue =} returns: a machine, jobs and a clock that jumps."
read_methods(class "scenario", "lua/weir/scenario/init.lua")
class "weir".text = "The module: require \"weir\"."
read_methods(class "weir", "lua/weir/init.lua")
for _, m in ipairs(class "weir".members) do m.kind = "field" end -- functions, called with a dot
check()
for _, text in ipairs(problems) do io.stderr:write("manual: ", text, "\n") end
if #problems > 0 then os.exit(1) end
write(arg[1], page())
write(arg[2], annotations())
write((arg[2]:gsub("%.lua$", "/scenario.lua")), SCENARIO)
write(arg[3], module())
