--- command_machine.lua - the commands that show or change the machine: find, properties, states, vertices.

local core = require "weir.core"
local files = require "weir.files"
local machine = require "weir.query.machine"
local matching = require "weir.query.matching"
local partial_cancel = require "weir.query.partial_cancel"
local quirks = require "weir.query.quirks"
local tables = require "weir.tables"
local update = require "weir.query.update"
local report = require "weir.query.report"
local search = require "weir.query.search"
local subsystems = require "weir.query.subsystems"
local weir = require "weir"
local writers = require "weir.query.writers"

local M = {}

-- ---- find ---------------------------------------------------------------------------------------------------

function M.find(shell, words)
  if #words < 2 then return shell:complain "ERROR: malformed command: \n" end
  local session, text = shell.session, table.concat(words, " ", 2)
  local tree = search.run(session, text)
  if tree == false then return shell:complain("findfind: invalid criteria: ", text, ".\n") end
  local format = quirks.format_of_find(session.options.match_format)
  local found, errno = writers.write(format, session.machine, tree, { start = 0, stop = 0 })
  if not found then return shell:complain("find: ERROR: find writer emit: ", report.errno(errno), "\n") end
  shell:put(found)
  report.expression(shell, text)
end

-- ---- why not ------------------------------------------------------------------------------------------------

local COLUMNS = 100

--- Explains why a jobspec does not fit now, or never will. resource-query has no equal command.
function M.why(shell, words)
  if #words < 2 or #words > 3 then return shell:complain "ERROR: malformed command\n" end
  local text = files.read(words[2], "jobspec")
  if not text then return shell:complain("ERROR: can't open ", words[2], "\n") end
  local found, wrong = matching.explain(shell.session, text, words[3])
  if not found then return shell:complain("why: ERROR: ", wrong, "\n") end
  shell:print(weir.explain.text(found, COLUMNS), "\n")
end

-- ---- properties ---------------------------------------------------------------------------------------------

M["set-property"] = function(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  local key, value = words[3]:match "^([^=]+)=(.+)$"
  if not key then
    return shell:put("Incorrect input format. \n", "Please use `set-property <resource> PROPERTY=VALUE`.\n")
  end
  local list = shell.session.machine:at(words[2])
  if not list then return shell:put("Couldn't find path ", words[2], " in resource graph.\n") end
  for _, v in ipairs(list) do v.properties[key] = value end
end

local function put_properties(shell, v, path)
  local properties = shell.session.machine:properties(v)
  if not next(properties) then
    local number = shell.session.machine.number[v]
    return shell:put(("No properties were found for %s (vtx's uniq_id=%d).\n"):format(path, number))
  end
  for key, value in tables.sorted(properties) do shell:put(key, "=", value, "\n") end
end

local function at_path(shell, path)
  local list = shell.session.machine:at(path)
  if not list then shell:put("Could not find path ", path, " in resource graph.\n") end
  return list
end

M["get-property"] = function(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  for _, v in ipairs(at_path(shell, words[2]) or {}) do put_properties(shell, v, words[2]) end
end

-- ---- states -------------------------------------------------------------------------------------------------

M["set-status"] = function(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  local list = at_path(shell, words[2])
  if not list then return end
  if words[3] ~= "up" and words[3] ~= "down" then return shell:complain "ERROR: unrecognized status\n" end
  for _, v in ipairs(list) do v.state = words[3] end
end

M["get-status"] = function(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  for _, v in ipairs(at_path(shell, words[2]) or {}) do
    shell:put(words[2], " is ", v.state == "down" and "down" or "up", "\n")
  end
end

-- ---- parts of the machine -----------------------------------------------------------------------------------

local function attach(session, path, text)
  local set = subsystems.named(session.options.subsystems)
  local function known(where) return (session.machine:at(where) or {})[1] end
  local more, why = machine.read(text, { format = "jgf", source = path, known = known }, set)
  if not more then return nil, why end
  local tops
  tops, why = session.machine:add(more)
  if not tops then return nil, why end
  session.stale:attach(tops, session:list())
  return true
end

function M.attach(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  local text = files.read(words[2], "machine")
  if not text then return shell:complain("ERROR: can't open ", words[2], "\n") end
  local ok, why = attach(shell.session, words[2], text)
  if ok then return end
  shell:complain("ERROR: can't attach JGF subgraph \n", "ERROR: add_subgraph: ERROR: add subgraph error: ",
    report.errno "EINVAL", "\nadd_subgraph: ERROR: reader returned error: ", why or "", "\n\n\n")
end

-- Removes the vertices of a list with all descendants, also from the displayed parts and the schedules of jobs.
-- Returns true, or nil and a reason.
local function take_away(session, list)
  local gone = tables.set(list)
  for _, job in ipairs(session:list()) do
    if job.held then partial_cancel.strike(session, job, gone) end
  end
  session.stale:gone(function(v) return partial_cancel.is_below(v, gone) end)
  for _, v in ipairs(list) do
    local ok, why = session.machine.graph:unlink(v, { force = true })
    if not ok then return nil, why end
  end
  session.machine:changed()
  return true
end

local function cannot_remove(shell, why) shell:complain("ERROR: can't remove subgraph \n", "ERROR: ", why, "\n") end

local function remove_path(shell, path)
  local list = shell.session.machine:at(path)
  if not list then return cannot_remove(shell, "there is no vertex " .. path) end
  local v = list[#list]
  if not v:parent() then return cannot_remove(shell, path .. " is a root") end
  local ok, why = take_away(shell.session, { v })
  if not ok then cannot_remove(shell, why) end
end

local function remove_ranks(shell, text)
  local ranks, list = core.idset(text), {}
  if not ranks then return shell:complain "ERROR: failed to decode ranks.\n" end
  for rank in ranks:ids() do
    local on_rank = shell.session.machine:on_rank(rank)
    if not on_rank then
      return shell:complain("ERROR: can't partial cancel subgraph \n", ("ERROR: there is nothing on rank %d\n"):format(rank))
    end
    for _, v in ipairs(on_rank) do list[#list + 1] = { vertex = v } end
  end
  local ok, why = take_away(shell.session, tables.column(update.topmost(list), "vertex"))
  if not ok then cannot_remove(shell, why) end
end

function M.remove(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  if words[3] == "true" then return remove_path(shell, words[2]) end
  if words[3] == "false" then return remove_ranks(shell, words[2]) end
  shell:complain "ERROR: invalid path boolean input \n"
end

return M
