--- help.lua - the texts of :help and :doc: the classes of the reference, the shorthand of the session, and any other
--- value by its members. Texts wrap at words; on a terminal, texts longer than the screen go through a pager.

local examples = require "weir.repl.examples"
local out = require "weir.cli.output"
local show = require "weir.repl.show"
local suggest = require "weir.suggest"
local texts = require "weir.texts"
local topics = require "weir.cli.topics"

local M = {}

local function reference() return require "weir.reference" end

-- ---- layout -------------------------------------------------------------------------------------------------

-- Returns a text with line breaks between words, so that lines with the indent fit into the width of the screen.
local function wrapped(text, indent) return table.concat(texts.wrapped(text, show.width, indent, indent), "\n") end

-- Prints lines; through a pager if the output is a terminal with fewer lines.
local function page(list)
  local text = table.concat(list, "\n") .. "\n"
  if not out.is_terminal() or select(2, text:gsub("\n", "")) < show.lines then return out.write(text) end
  out.flush()
  local pager = os.getenv "PAGER"
  local pipe = io.popen(pager and pager ~= "" and pager or "less -FRX", "w")
  pipe:write(text)
  if pipe:close() == nil then out.write(text) end
end

-- ---- entries ------------------------------------------------------------------------------------------------

-- The functions of a session other than g and e: the signature, the text, and an example.
local SHORTHAND = {
  find = { "(expression, opts): vertex[]", "The vertices of g that match an expression; opts as in g:find.",
    'find "type=node and state=up"' },
  tree = { "(vertex)", "Prints the machine, or the resources below a vertex, as a tree.", 'tree(g"/cluster0/rack0")' },
  top = { "(): table[]", "A row for each job with the resources of the job, the largest job first.", "top()" },
  why = { "(request, opts): string", "Why a request matches now, later or never; opts as in e:explain.", 'why "slot=9/node"' },
  undo = { "(): string", "Takes back all changes of the last input that made any: jobs, states, tags, properties, the structure.",
    "undo()" },
  save = { "(path)", "Writes the machine with all jobs: SQLite (.db) or JGF (.json).", 'save "session.db"' },
  load = { "(path): graph", "Loads a machine with its jobs; g and e are then that machine and a new engine.", 'load "session.db"' },
  g = { ": graph", "The machine of the session; :help graph lists the methods.", 'g"/cluster0/node0"' },
  e = { ": engine", "The engine of the session; :help engine lists the methods.", 'e:match "slot=1/node"' },
  _ = { "", "The value of the last input.", "#_" },
}

local function entry(title, text, example)
  local lines = { out.style().bold(title), wrapped(text, "  ") }
  if example then lines[#lines + 1] = "  example: " .. example end
  return table.concat(lines, "\n")
end

-- Classes of the reference; the further methods of scripts are those of graphs.
local OWNERS = { script_graph = "graph" }

local function member(owner, m, class)
  local list = examples[OWNERS[class] or class]
  return entry(owner .. m.name .. m.signature, m.text, list and list[m.name])
end

local function class_page(name, class)
  local lines = { wrapped(class.text, "") }
  for _, m in ipairs(class.members) do
    lines[#lines + 1] = member(name == "weir" and "weir." or m.kind == "method" and ":" or ".", m, name)
  end
  return lines
end

local CLASSES = { "weir", "engine", "graph", "script_graph", "vertex", "allocation", "policy", "request", "loaded_policy" }

-- Returns the entries of a name in the reference: all members of the name, of any class.
local function in_reference(last)
  local lines = {}
  for _, class in ipairs(CLASSES) do
    for _, m in ipairs((reference()[class] or { members = {} }).members) do
      if m.name == last then lines[#lines + 1] = member((OWNERS[class] or class) .. (m.kind == "method" and ":" or "."), m, class) end
    end
  end
  return lines
end

-- Returns the comment of "---" lines above a function that is written in Lua, or nil.
local function comment_of(f)
  local info = debug.getinfo(f, "S")
  local file = info.source:sub(1, 1) == "@" and io.open(info.source:sub(2))
  if not file then return nil end
  local comment = {}
  for n = 1, info.linedefined - 1 do
    local line = file:read "l"
    local text = line and n < info.linedefined and line:match "^%-%-%- ?(.*)$"
    if text then comment[#comment + 1] = text else comment = {} end
  end
  file:close()
  return #comment > 0 and table.concat(comment, " ") or nil
end

local function sorted_names(t)
  local names = {}
  for name in pairs(t) do
    if type(name) == "string" and name:sub(1, 2) ~= "__" then names[#names + 1] = name end
  end
  table.sort(names)
  return table.concat(names, ", ")
end

-- Returns the entry of a value for which the reference has no entry, or nil.
local function of_value(name, value)
  if type(value) == "function" then
    local comment = comment_of(value)
    local mt = debug.getregistry()["weir." .. (name:match "[%w_]+$" or "")]
    local methods = type(mt) == "table" and type(mt.__index) == "table" and sorted_names(mt.__index)
    local text = comment or methods and "Makes one; it has the methods " .. methods .. "."
    return text and entry(name .. "(...)", text)
  elseif type(value) == "table" and next(value) ~= nil then
    return entry(name, "A table with " .. sorted_names(value) .. ".")
  elseif type(value) ~= "nil" then
    return entry(name, "A " .. type(value) .. ": " .. tostring(value))
  end
end

-- Returns the value of "a.b.c" or "a:b" in an environment.
local function value_of(name, env)
  local value = env
  for part in name:gmatch "[%a_][%w_]*" do
    local ok, next_value = pcall(function() return value[part] end)
    if not ok then return nil end
    value = next_value
  end
  return value
end

-- Returns all names that have documentation, for suggestions.
local function known_names()
  local names = {}
  for name in pairs(SHORTHAND) do names[#names + 1] = name end
  for _, class in ipairs(CLASSES) do
    for _, m in ipairs((reference()[class] or { members = {} }).members) do names[#names + 1] = m.name end
  end
  return names
end

--- Prints lines of help.
M.page = page

--- Returns the lines of a class or of a topic, or nil if there is neither.
function M.class(name)
  if topics[name] and topics[name].text then return topics.lines(name) end
  local class = reference()[name]
  if not class then return nil end
  local lines = class_page(name, class)
  for other, owner in pairs(OWNERS) do
    for _, line in ipairs(owner == name and class_page(other, reference()[other]) or {}) do lines[#lines + 1] = line end
  end
  return lines
end

--- Returns the lines about a name, such as "e:match", "v.free", "find" or "weir.idset"; or nil and a message.
function M.name(name, env)
  local short = SHORTHAND[name]
  if short then return { entry(name .. short[1], short[2], short[3]) } end
  local last = name:match "[%w_]+$" or name
  local owner = name:match "^([%w_]+)[.:]"
  local lines = {}
  if owner == "weir" then
    for _, m in ipairs(reference().weir.members) do
      if m.name == last then lines[1] = member("weir.", m, "weir") end
    end
  else
    lines = in_reference(last)
  end
  if #lines > 0 then return lines end
  local text = of_value(name, value_of(name, env))
  if text then return { text } end
  return nil, ("nothing is known about %s%s; :help lists what there is"):format(name, suggest.hint(last, known_names()))
end

return M
