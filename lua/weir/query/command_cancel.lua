--- command_cancel.lua - cancel, partial-cancel, attach and remove: what takes away from jobs and from the machine.

local cancel = require "weir.query.cancel"
local errno = require "weir.query.errno"
local files = require "weir.files"
local idset = require "weir.query.idset"
local integer = require("weir.query.command_match").integer
local jgf = require "weir.query.jgf"
local report = require "weir.query.report"
local structure = require "weir.query.structure"

local M = {}

-- ---- jobs ---------------------------------------------------------------------------------------------------

local function is_known(session, job) return session.allocations[job] or session.reservations[job] end

local function forget(session, job)
  if session.jobs[job] then session.jobs[job].state = "CANCELED" end
  if session.allocations[job] then session.allocations[job] = nil else session.reservations[job] = nil end
end

function M.cancel(shell, words)
  if #words < 2 or #words > 3 then return shell:complain "ERROR: malformed command\n" end
  local session, job = shell.session, integer(words[2])
  if not is_known(session, job) then
    return shell:complain("cancel: ERROR: nonexistent job ", ("%u"):format(job), "\n")
  end
  local ok = cancel.job(session.traverser, job)
  session:sync(job)
  if not ok then return shell:complain(("cancel: ERROR: error encountered while removing job %d\n"):format(job)) end
  forget(session, job)
  if words[3] == "stats" then report.counts(shell, "") end
end

local function release_part(shell, job, reader, text)
  local session = shell.session
  local ok, all = cancel.part(session.traverser, job, session.reader(reader), text)
  session:sync(job)
  if not ok then
    shell:print(session.traverser.message)
    return false
  end
  if all then forget(session, job) end
  return true
end

M["partial-cancel"] = function(shell, words)
  if #words < 4 or #words > 5 then return shell:complain "ERROR: malformed command\n" end
  local session, job, reader = shell.session, integer(words[2]), words[3]
  if reader ~= "jgf" and reader ~= "rv1exec" then return shell:complain("ERROR: unsupported reader ", reader, "\n") end
  local text = files.read(words[4])
  if not text then return shell:complain("ERROR: can't open ", words[4], "\n") end
  if not session.allocations[job] then
    if not session.reservations[job] then return shell:complain(("ERROR: nonexistent job %d\n"):format(job)) end
    return shell:complain "ERROR: reservations not currently supported by partial cancel\n"
  end
  if not release_part(shell, job, reader, text) then
    shell:complain(("ERROR: error encountered while removing job %d\n"):format(job))
  end
  if words[5] == "stats" then report.counts(shell, "PARTIAL ") end
end

-- ---- the machine --------------------------------------------------------------------------------------------

local function cannot_attach(shell, why)
  shell:complain "ERROR: can't attach JGF subgraph \n"
  shell:complain("ERROR: add_subgraph: ERROR: add subgraph error: ", errno.text(), "\n", why, "\n")
end

function M.attach(shell, words)
  if #words ~= 2 then return shell:complain "ERROR: malformed command\n" end
  local session, text = shell.session, files.read(words[2])
  if not text then return shell:complain("ERROR: can't open ", words[2], "\n") end
  session.graph.types.closed = false
  local ok, why = jgf.load(session.graph, text)
  if ok and not session.traverser:initialize() then
    ok, why = false, "add_subgraph: ERROR: reinitializing traverser after adding subgraph. " .. session.traverser.message
  elseif not ok then
    why = "add_subgraph: ERROR: reader returned error: " .. why
  end
  session.graph.types.closed = true
  if session.books then session.books:attach() end
  if not ok then cannot_attach(shell, why .. "\n") end
end

-- Sees to it that the traverser and weir's books know that something is gone.
local function gone(session, roots)
  if session.books then session.books:detach(roots) end
  local ok = session.traverser:initialize()
  for job in pairs(session.jobs) do session:sync(job) end
  return ok
end

local function remove_path(shell, path)
  local session = shell.session
  session.traverser.message = ""
  local roots = structure.remove_path(session.graph, path, session.traverser.dominant)
  local why = not roots and "traverser returned error: "
    or not gone(session, roots) and "reinitialize traverser after subgraph removal. "
  if not why then return end
  shell:complain "ERROR: can't remove subgraph \n"
  shell:complain("ERROR: remove_subgraph: ERROR: remove_subgraph error: ", errno.text(), "\n", "remove_subgraph: ERROR: ",
    why, session.traverser.message, "\n\n")
end

local function remove_ranks(shell, text)
  local session, ranks = shell.session, idset.decode(text)
  if not ranks then return shell:complain "ERROR: failed to decode ranks.\n" end
  local t = session.traverser
  if not cancel.ranks(t, ranks) then
    return shell:complain("ERROR: can't partial cancel subgraph \n", "ERROR: ", t.message)
  end
  t.message = ""
  local roots = structure.remove_ranks(session.graph, ranks, t.dominant)
  if not roots then return shell:complain("ERROR: can't remove subgraph \n", "ERROR: ", t.message) end
  if not gone(session, roots) then
    shell:complain("ERROR: failed to update counts after partial cancel and remove \n", "ERROR: ", t.message)
  end
end

function M.remove(shell, words)
  if #words ~= 3 then return shell:complain "ERROR: malformed command\n" end
  if words[3] == "true" then return remove_path(shell, words[2]) end
  if words[3] == "false" then return remove_ranks(shell, words[2]) end
  shell:complain "ERROR: invalid path boolean input \n"
end

return M
