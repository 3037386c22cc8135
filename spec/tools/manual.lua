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
  "queue_policy", "queue", "queue_job", "scenario",
}
local OF_SCRIPTS = "script_graph" -- methods of a graph that no policy can call: for :doc and for editors
local TITLES = {
  policy = "The policy", choice = "A choice by name", vertex = "v: a vertex", request = "request", job = "job",
  job_resource = "A resource of a job", graph = "graph", engine = "The engine",
  allocation = "An allocation", loaded_policy = "A policy that was loaded",
  queue_policy = "The queue policy", queue = "queue: the queue", queue_job = "A job of a queue", scenario = "A scenario",
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
  if not signature or text == "" then problem("%s: a signature and a text, with -- between, are expected", name) end
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
  for block in (read_file "lua/weir/engine.lua" .. read_file "lua/weir/explain/init.lua" ..
    read_file "lua/weir/staging.lua" .. "\n"):gmatch "\n%-%-%- (@method.-)\n[^-]" do
    read_comment({ class = class "engine" }, (block:gsub("\n%-%-%-", "\n")))
  end
end

-- The head of a Lua file: its first comment.
local function read_head(path)
  read_comment({}, (read_file(path):match "^(.-)\n[^-]"))
end

-- The methods of scenarios: the comment above each. Their arguments are described by the text.
local function read_scenario()
  local to, comment = class "scenario", nil
  to.text = "What weir.scenario{machine =, policy =, queue =} returns: a machine, jobs and a clock that jumps."
  for line in read_file "lua/weir/scenario/init.lua":gmatch "[^\n]*" do
    local separator, name, arguments = line:match "^function S([.:])([%w_]+)(%b())"
    name = name or line:match "^S%.([%w_]+) ="
    if name and comment then
      local names = {}
      for word in (arguments or "(x, fate)"):gmatch "[%w_]+" do
        if not (word == "s" and separator == "." and #names == 0) then names[#names + 1] = word .. ": any?" end
      end
      to.members[#to.members + 1] = { kind = "method", name = name, signature = ("(%s): any"):format(table.concat(names, ", ")),
        text = comment }
    end
    local text = line:match "^%-%-%-?%s*(.*)$"
    comment = text and (comment and comment .. " " .. text or line:find "^%-%-%-" and text) or nil
  end
end

-- The functions of the module: the comment above each.
local function read_module()
  local to = class "weir"
  to.text = "The module: require \"weir\"."
  local comment
  for line in read_file "lua/weir/init.lua":gmatch "[^\n]*" do
    local name, arguments = line:match "^function weir%.([%w_]+)(%b())"
    name = name or line:match "^weir%.([%w_]+) ="
    if name and comment then
      to.members[#to.members + 1] = { kind = "field", name = name, signature = arguments or "(...)", text = comment }
    end
    local text = line:match "^%-%-%-?%s*(.*)$"
    comment = text and (comment and comment .. " " .. text or line:find "^%-%-%-" and text) or nil
  end
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

-- Adds the prefix weir. to the names of weir's types: vertex[] -> weir.vertex[]. A word before a colon is the name of
-- a parameter and stays.
local function qualify(kind)
  return (kind:gsub("([%a_][%w_.]*)(%s*:?)", function(word, colon)
    if colon:find ":" then return nil end
    return (classes[word] or word == "edge" or word == "option" or word == "jobspec") and "weir." .. word .. colon
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
---@field default? any
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
---@field resources any A graph, a file or a description such as "node:4 core:8".
---@field policy? string | table | weir.loaded_policy
---@field policies? string[]
---@field budget? { instructions?: integer, memory?: integer, seconds?: number }
---@field overrun? "hold" | "expire"
---@field scores? "remember" | "check" | "call"
---@field granularity? string
]]

-- Writes "(a: string, b: integer?): x, y" as annotations of one method.
local function annotate_method(out, owner, m)
  local arguments, results = m.signature:match "^(%b())%s*:?%s*(.*)$"
  local names = {}
  out[#out + 1] = "--- " .. m.text
  for argument in (arguments or "()"):sub(2, -2):gmatch "[^,]+" do
    local name, kind = argument:match "^%s*([%w_]+)%s*:%s*(.-)%s*$"
    if name then
      local optional = kind:match "^(.*)%?$"
      kind = name == "options" and OPTIONS[owner .. ":" .. m.name] or kind
      if optional and kind:find "^weir%." then optional = kind end
      out[#out + 1] = ("---@param %s%s %s"):format(name, optional and "?" or "", qualify(optional or kind))
      names[#names + 1] = name
    end
  end
  if results and results ~= "" then out[#out + 1] = "---@return " .. qualify(results) end
  out[#out + 1] = ("function %s:%s(%s) end\n"):format(owner, m.name, table.concat(names, ", "))
end

-- The module and the assertions of scenarios, for editors.
local function annotate_rest(out)
  out[#out + 1] = "--- " .. class "weir".text .. "\n---@class weir.module"
  for _, m in ipairs(class "weir".members) do
    local names = {}
    for word in m.signature:gmatch "[%w_]+" do names[#names + 1] = word .. "?: any" end
    local kind = m.name == "policy" and "weir.policies" or ("fun(%s): any"):format(table.concat(names, ", "))
    kind = m.name == "engine" and "fun(options: weir.engine_options): weir.engine, string?, string?" or kind
    out[#out + 1] = ("---@field %s %s %s"):format(m.name, kind, m.text)
  end
  out[#out + 1] = "local weir = {}\n\n---@class weir.policies"
  out[#out + 1] = "---@field chain fun(list: any[]): weir.loaded_policy\n---@field weighted fun(weights: table): weir.loaded_policy"
  out[#out + 1] = "---@field list fun(): table[]\n---@field print fun(on: boolean?): boolean"
  out[#out + 1] = "---@overload fun(policy: any, budget?: table): weir.loaded_policy?, string?, string?\n"
  out[#out + 1] = "--- Assertions of weir.scenario.\n---@class luassert"
  local seen = {}
  for line in read_file "lua/weir/scenario/assertions.lua":gmatch "%-%-%-   (assert%.[^\n]*)" do
    for name in line:gsub("weir%.[%l_.]+", ""):gmatch "%.([%l_]+)%f[^%w_]" do
      if not seen[name] then out[#out + 1] = ("---@field %s fun(...): any %s"):format(name, line) end
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
read_head "lua/weir/sim/queue_runtime.lua"
read_scenario()
read_module()
check()
for _, text in ipairs(problems) do io.stderr:write("manual: ", text, "\n") end
if #problems > 0 then os.exit(1) end
write(arg[1], page())
write(arg[2], annotations())
write((arg[2]:gsub("%.lua$", "/scenario.lua")), SCENARIO)
write(arg[3], module())
