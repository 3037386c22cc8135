--- command_look.lua - find, properties, states, and what there is to know of jobs.

local errno = require "weir.query.errno"
local integer = require("weir.query.command_match").integer
local report = require "weir.query.report"
local search = require "weir.query.search"
local store = require "weir.query.store"
local structure = require "weir.query.structure"

local M = {}

-- ---- find ---------------------------------------------------------------------------------------------------

function M.find(shell, words)
  if #words < 2 then return shell:complain "ERROR: malformed command: \n" end
  local session, text = shell.session, table.concat(words, " ", 2)
  if not search.run(session.traverser, session.writer, text) then
    return shell:complain("find", session.traverser.message)
  end
  local found = session.writer:found()
  if not found then return shell:complain("find: ERROR: find writer emit: ", errno.text(), "\n") end
  shell:put(found)
  report.expression(shell, text)
end

-- ---- properties ---------------------------------------------------------------------------------------------

M["set-property"] = function(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  local key, value = words[3]:match "^([^=]+)=(.+)$"
  if not key then
    return shell:put("Incorrect input format. \n", "Please use `set-property <resource> PROPERTY=VALUE`.\n")
  end
  local list = shell.session.graph.by_path[words[2]]
  if not list then return shell:put("Couldn't find path ", words[2], " in resource graph.\n") end
  for _, v in ipairs(list) do store.own(v, "properties")[key] = value end
end

local function put_properties(shell, v, path)
  local keys = {}
  for key in pairs(v.properties) do keys[#keys + 1] = key end
  table.sort(keys)
  if #keys == 0 then
    return shell:put(("No properties were found for %s (vtx's uniq_id=%d).\n"):format(path, v.uniq_id))
  end
  for _, key in ipairs(keys) do shell:put(key, "=", v.properties[key], "\n") end
end

local function at_path(shell, path)
  local list = shell.session.graph.by_path[path]
  if not list then shell:put("Could not find path ", path, " in resource graph.\n") end
  return list or {}
end

M["get-property"] = function(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  for _, v in ipairs(at_path(shell, words[2])) do put_properties(shell, v, words[2]) end
end

-- ---- states -------------------------------------------------------------------------------------------------

M["set-status"] = function(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  if #at_path(shell, words[2]) == 0 then return end
  if words[3] ~= "up" and words[3] ~= "down" then return shell:complain "ERROR: unrecognized status\n" end
  local session = shell.session
  structure.mark(session.graph, words[2], words[3] == "down", session.traverser.dominant)
end

M["get-status"] = function(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  for _, v in ipairs(at_path(shell, words[2])) do shell:put(words[2], " is ", v.down and "down" or "up", "\n") end
end

-- ---- jobs ---------------------------------------------------------------------------------------------------

local function put_job(shell, job)
  shell:print(("INFO: %d, %s, %d, %s, %g\n"):format(job.job, job.state, job.at, job.source, job.elapsed))
end

function M.list(shell)
  for _, id in ipairs(shell.session:job_ids()) do put_job(shell, shell.session.jobs[id]) end
end

function M.info(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  local id = integer(words[2])
  local job = shell.session.jobs[id]
  if not job then return shell:complain(("info: ERROR: nonexistent job %d\n"):format(id)) end
  put_job(shell, job)
end

function M.stat(shell, words)
  if #words ~= 1 then return shell:complain "ERROR: malformed command\n" end
  local session = shell.session
  local n = #session:job_ids()
  shell:print(("INFO: Num. of Jobs Matched: %d\n"):format(n))
  shell:print(("INFO: Min. Match Time: %g\n"):format(n > 0 and session.least or 0))
  shell:print(("INFO: Max. Match Time: %g\n"):format(session.most))
  shell:print(("INFO: Avg. Match Time: %g\n"):format(n > 0 and session.sum / n or 0))
end

function M.cat(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  local file = io.open(words[2])
  for line in file and file:lines() or function() end do shell:print(line, "\n") end
  if file then file:close() end
  shell:print("INFO: Jobspec in ", words[2], "\n")
end

return M
