--- meant.lua - what was meant by names and inputs that the REPL does not know: the words of other schedulers and shells.

local core = require "weir.core"

local M = {}

local END = "e:release(1) ends job 1"
local PLACE = 'e:match "slot=1/node" gives a job resources now'
local WAIT = 'e:match("slot=1/node", {mode = "reserve"}) takes the earliest start that is possible'

-- By a word of other tools: what does that here.
local WORDS = {
  submit = PLACE .. ", and " .. WAIT, run = PLACE, alloc = PLACE, allocate = PLACE, salloc = PLACE, srun = PLACE,
  sbatch = WAIT, reserve = WAIT, schedule = WAIT,
  cancel = END, free = END, scancel = END, kill = END,
  queue = "e:jobs() are the jobs", squeue = "e:jobs() are the jobs", explain = 'why "slot=9/node" says why',
  nodes = 'find "type=node" are the nodes', vertices = "g:walk() visits the vertices",
  drain = 'g"node3".state = "draining" drains one', down = 'g"node3".state = "down" takes one down',
  up = 'g"node3".state = "up" takes one up', show = "tree() prints the machine", tree = "tree() prints the machine",
  policy = ":policy NAME puts one in use",
}

local function methods_of(class)
  local mt = debug.getregistry()["weir." .. class]
  return mt and mt.__index
end

-- Whether a class has a method. Tables of methods raise for a missing key.
local function has_method(class, name)
  local methods = methods_of(class)
  return type(methods) == "table" and rawget(methods, name) ~= nil
end

local function method_named(name)
  if has_method("engine", name) then return ("it is a method of the engine, e:%s(...)"):format(name) end
  if has_method("graph", name) then return ("it is a method of the machine, g:%s(...)"):format(name) end
end

--- Returns "; " and what was meant by a call that failed with a message, or "".
function M.call(env, message)
  local global = message:match "^attempt to call a nil value %(global '([%w_]+)'%)"
  local name = global or message:match "^an? %a+ has no method '([%w_]+)'$"
  if not name then return "" end
  local words = WORDS[name] or global and method_named(name)
  if not words and global and type(env.weir) == "table" and rawget(env.weir, name) ~= nil then
    words = ("it is a function of the library, weir.%s"):format(name)
  end
  return words and "; " .. words or ""
end

--- Returns "; " and the input with quotes, where a text that is no Lua calls a function or a command of weir as a shell
--- would: find type=node; or "".
function M.quotes(env, text)
  local name, rest = text:match "^%s*([%a_][%w_]*)%s+([^%s\"'(]+)%s*$"
  if not name then return "" end
  if type(env[name]) == "function" then return ("; texts need quotes: %s %s"):format(name, core.json_encode(rest)) end
  if name == "match" or WORDS[name] and WORDS[name]:find "^e:match" then
    return ("; e:match %s matches a job"):format(core.json_encode(rest))
  end
  return ""
end

return M
