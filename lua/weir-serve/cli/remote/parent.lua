--- weir -s SOCKET parent: the parent of a child service.

local inputs = require "weir.cli.inputs"
local out = require "weir.cli.output"
local remote = require "weir.cli.remote"

local M = {}

M.parent = {
  name = "-s SOCKET parent", doc = "Show what a child service has from its parent; request more, or return some.",
  usage = "[status | grow JOB | shrink TARGETS] [OPTION...]", max = 2,
  options = {
    { nil, "force", nil, "shrink: also targets in use; their jobs get a fatal exception, and targets are returned after them" },
    { nil, "pass", nil, "shrink: pass the targets on to the parent's parent" },
    { nil, "json", nil, "as one line of JSON" },
  },
  notes = [[
A JOB is a jobspec or a shape, as for weir match: the additional resources, on targets that the child does not have yet.

  weir -s child.sock parent grow slot=2/node
  weir -s child.sock parent shrink 4-5]],
}

local function show(status)
  out.table {
    { "parent", "connected", "acquired", "online", "leaving" },
    { ("%s#%s"):format(status.parent, status.job or status.group), status.connected and "yes" or "no", status.acquired, status.online,
      status.leaving },
  }
  if status.problem then out.line(status.problem) end
end

local ASK = {}

function ASK.status(client) return remote.ask(client, "parent.status") end

function ASK.grow(client, word)
  local job = inputs.jobs({ word })[1]
  return remote.ask(client, "parent.grow", { request = job.request:format "json" })
end

function ASK.shrink(client, word, opts)
  return remote.ask(client, "parent.shrink", { targets = word, force = opts.force, pass = opts.pass })
end

function M.parent.run(client, opts)
  local what = opts[1] or "status"
  if not ASK[what] then out.fail(2, 'parent: expected status, grow or shrink, not "%s"', what) end
  if (what == "status") ~= (opts[2] == nil) then
    out.fail(2, "parent: expected status, grow JOB or shrink TARGETS")
  end
  local status = ASK[what](client, opts[2], opts)
  if opts.json then out.json(status) else show(status) end
end

return M
