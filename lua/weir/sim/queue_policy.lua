--- queue_policy.lua - queue policies, found by name in policies/queue or by path; each runs in a sandbox.

local core = require "weir.core"
local files = require "weir.files"
local policy = require "weir.policy"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

M.SECONDS = 60 -- of a call of a policy, unless the budget says otherwise

local library

-- The text of the library of queue policies, read once: a copy of a service cannot read files.
local function runtime()
  library = library or assert(files.read((assert(package.searchpath("weir.sim.queue_runtime", package.path))), "policy"))
  return library
end

--- Returns the sources by path that open() needs for a queue policy, given by name, so that it can be opened where no file
--- can be read; or nil, message, code.
function M.texts(x)
  runtime()
  local path, why = M.find(x:match "^[^:]*")
  if not path then return nil, why, "unknown" end
  local text, code
  text, why, code = files.read(path, "policy")
  if not text then return nil, why, code end
  return { [path] = text }
end

--- Returns all queue policies as {name =, path =}, by ascending name.
function M.list()
  local list = policy.list(tables.map(policy.path(), function(dir) return dir .. "/queue" end))
  return tables.sort(list, "name")
end

--- Returns the file of a queue policy; or nil, message.
local function find(name)
  if policy.is_path(name) then return name end
  local path = policy.search(name, "/queue")
  if path then return path end
  if policy.find(name) then
    return nil, ('"%s" is a placement policy, which says where jobs start: -p takes it; there is no queue policy of this name'):format(name)
  end
  return nil, ('there is no queue policy "%s"%s'):format(name, suggest.among(name, tables.column(M.list(), "name")))
end

M.find = find

--- Whether a text names a queue policy: a file whose table has the fields of one, or a name that no placement policy has.
--- Only regular files are looked into: a pipe could not be read again to load the policy.
function M.names(x)
  local name = x:match "^[^:]*"
  if not policy.is_path(name) then return not policy.find(name) and find(name) ~= nil end
  local _, _, regular = core.file_mode(name)
  if regular ~= true then return false end
  local loaded, why = core.policy_source(files.read(name, "policy") or "", name)
  return not loaded and why:find("this is a queue policy", 1, true) ~= nil
end

-- Splits "name:k=4,mode=strict" or {"name", k = 4} into the name, and the options as lines.
local function split(x)
  local lines = {}
  if type(x) == "table" then
    for key, value in pairs(x) do
      if key ~= 1 then lines[#lines + 1] = key .. "=" .. tostring(value) end
    end
    return x[1], table.concat(lines, "\n")
  end
  local name, rest = x:match "^([^:]*):(.*)$"
  return name or x, rest and rest:gsub(",", "\n") or ""
end

-- Returns a message that names the policy, once.
local function about(name, message)
  return ("queue policy %s"):format(message:find(name .. ":", 1, true) == 1 and message or name .. ": " .. message)
end

--- Opens a queue policy in a sandbox. `x`: a name or path with options ("hybrid:k=2"), or {"hybrid", k = 2}.
--- bridge(...) answers queries of the policy. `texts`: sources by path, for paths not readable here. Or nil, message,
--- code.
function M.open(x, bridge, budget, texts)
  local name, options = split(x)
  local path, why = find(name)
  if not path then return nil, why, "unknown" end
  local text = texts and texts[path]
  if not text then text, why = files.read(path, "policy") end
  if not text then return nil, why, "io" end
  budget = budget or {}
  local sandbox, message, code = core.sandbox_open(text, path, {
    prelude = runtime(), bridge = bridge, seconds = budget.seconds or M.SECONDS, instructions = budget.instructions or 2000000000,
    memory = budget.memory or (1 << 30),
  })
  if not sandbox then return nil, about(name, message), code end
  local ok
  ok, message, code = sandbox:call("options", options)
  if not ok then return nil, about(name, message), code end
  return sandbox, name
end

-- ---- the state ----------------------------------------------------------------------------------------------

--- Returns the root whose data have the states of policies: the first without a rank, as hosts may leave the machine; else the first,
--- or nil.
function M.root_of(graph)
  local roots = graph:roots()
  for _, root in ipairs(roots) do
    if not root.rank then return root end
  end
  return roots[1]
end

-- Returns the key of the state: the name of the policy, for a user's file with a hash of the path, and `line` where several
-- policies are in use at once.
local function key_of(name, x, line)
  local path = find((split(x)))
  local _, hash = policy.origin(path or name, "/queue")
  if not path or not path:find "/" then hash = nil end -- a text without a file
  return "weir.policy.queue:" .. name .. (hash and "@" .. hash or "") .. (line and line ~= "" and "#" .. line or "")
end

--- Gives an open queue policy the state that a machine keeps for it. x: as for open(). line: the queues that it serves, where
--- several policies are in use; nil: all. Returns a function that saves the state with the machine where the policy has
--- changed it, and returns true, or nil, message where it is none that can be saved; and the key of the root's data. nil for a
--- policy without a state.
function M.keep(sandbox, x, graph, line)
  local _, name, _, has = sandbox:call "about"
  if not has then return nil end
  local key, root = key_of(name or (split(x)):match "([^/]*)$":gsub("%.lua$", ""), x, line), M.root_of(graph)
  local saved = root and root.data[key]
  assert(sandbox:call("restore", type(saved) == "table" and core.json_encode(saved) or nil))
  return function()
    local ok, text = sandbox:call "state"
    if not ok then return nil, text end
    root = M.root_of(graph)
    if text and root then root.data[key] = core.json_decode(text) end
    return true
  end, key
end

--- Returns the state that a machine keeps under a key, as a table; nil for none.
function M.state(graph, key)
  local root = key and M.root_of(graph)
  local saved = root and root.data[key]
  return type(saved) == "table" and core.json_decode(core.json_encode(saved)) or nil
end

-- The value of an option as its type reads it.
local function typed(kind, text)
  if text == "" and kind ~= "string" then return nil end
  if kind == "integer" or kind == "number" then return tonumber(text) end
  if kind == "boolean" then return text == "true" end
  return text
end

--- Returns the options that an open queue policy declares, by name: {type =, default =, min =, max =, choices =, doc =},
--- like policy.options of a placement policy.
function M.options(sandbox)
  local options = {}
  local _, text = sandbox:call "declared"
  for line in text:gmatch "[^\n]+" do
    local name, kind, default, min, max, choices, doc = line:match("^" .. ("(.-)\t"):rep(6) .. "(.*)$")
    local list
    for word in choices:gmatch "[^,]+" do
      list = list or {}
      list[#list + 1] = word
    end
    options[name] = { type = kind, default = typed(kind, default), min = tonumber(min), max = tonumber(max), choices = list,
      doc = doc ~= "" and doc or nil }
  end
  return options
end

return M
