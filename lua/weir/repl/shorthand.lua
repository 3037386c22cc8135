--- shorthand.lua - functions of the REPL other than g and e: find, tree, top, why, undo, save, load.

local core = require "weir.core"
local results = require "weir.repl.results"
local show = require "weir.repl.show"
local tables = require "weir.tables"
local weir = require "weir"

local M = {}

-- A result without output.
M.quiet = setmetatable({}, { __name = "quiet" })

-- Returns the units by type of a job.
local function units_of(a)
  local sums = {}
  for _, pick in ipairs(a:vertices()) do
    local v = pick.vertex
    sums[v.type] = (sums[v.type] or 0) + pick.amount
    if pick.exclusive and v:nchildren() > 0 then
      for type, row in pairs(v:aggregate { all = true }) do sums[type] = (sums[type] or 0) + row.total end
    end
  end
  return sums
end

--- Returns the resources of jobs: a row for each job, the largest first.
local function top(session)
  local list = {}
  for i, a in ipairs(session.engine:jobs()) do
    local row = units_of(a)
    row.job, row.state, row.at = a.id, a.state, a.at
    row["end"] = a.duration < math.huge and a.at + a.duration or nil
    list[i] = row
  end
  tables.sort(list, function(row) return -(row.node or 0) * 1e6 - (row.core or 0) end, "job")
  return results.note(core.array(list), true)
end

local function why(session, request, opts)
  local explain = require "weir.explain"
  local report, message, code = session.engine:explain(request, opts)
  if not report then return nil, message, code end
  return explain.text(report, session.width)
end

local FORMATS = { db = "sqlite", sqlite = "sqlite", json = "jgf" }

--- Writes the machine with all jobs to a file: SQLite (.db) or JGF (.json).
local function save(session, path)
  if type(path) ~= "string" then error("save: expected a file name, such as save \"session.db\"", 2) end
  local format = FORMATS[path:match "%.(%a+)$" or "db"]
  if not format then return nil, path .. ": expected a name that ends in .db or .json", "invalid" end
  return session.graph:save(path, { format = format })
end

local function load(session, path)
  local g, message, code = weir.resources(path)
  if not g then return nil, message, code end
  local ok
  ok, message, code = session:take(g)
  if not ok then return nil, message, code end
  return g
end

--- Adds the functions to an environment that a session with a service has, too.
function M.fill_common(env, session)
  env.find = function(expression, opts) return session.graph:find(expression, opts) end
  env.tree = function(v)
    show.tree(v or session.graph)
    return M.quiet
  end
end

--- Adds the functions to an environment.
function M.fill(env, session)
  M.fill_common(env, session)
  env.top = function() return top(session) end
  env.why = function(request, opts) return why(session, request, opts) end
  env.undo = function() return session.journal:undo() end
  env.save = function(path) return save(session, path) end
  env.load = function(path) -- loads a machine; for a text that is no file name, a chunk, as usual in Lua
    if type(path) == "function" or type(path) == "string" and path:find "[\n=(]" then return _G.load(path) end
    return load(session, path)
  end
end

return M
