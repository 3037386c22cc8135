--- weir repl: an interactive session with a machine.

local core = require "weir.core"
local files = require "weir.files"
local guess = require "weir.cli.guess"
local inputs = require "weir.cli.inputs"
local modes = require "weir.repl.modes"
local out = require "weir.cli.output"
local packages = require "weir.packages"

local M = {
  name = "repl",
  doc = "Explore a machine interactively, in Lua; as a filter if standard input is not a terminal.",
  usage = "[-r RESOURCES] [-p POLICY] [OPTION...] [FILE] | -s SOCKET [OPTION...]",
  operand = "FILE", max = 1,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help .. "; local if not given" },
    { "p", "policy", "POLICY", "the placement policy: a name (see weir policy list) or a file; low if not given" },
    { "s", "socket", "SOCKET", "a running service (weir serve) in place of a machine" },
    { "m", "mode", "MODE", "how values are printed; table on a terminal and json as a filter if not given", choices = modes.names },
    { "c", "command", "INPUT", "run this input instead of reading standard input; can be given several times", many = true },
    { "k", "keep-going", nil, "as a filter: continue after an error" },
  },
  notes = [[
On a terminal: Tab completes, Ctrl-R searches the history, Ctrl-C interrupts, Ctrl-D leaves, :help lists the rest.
As a filter: no prompt, one line of JSON per value; ends at the first error with status 1, unless --keep-going is given.

  weir repl -r sierra.graphml
  weir repl -s /run/weir.sock
  echo 'e:match "slot=1/node"' | weir repl -r "node:4 core:8"
  weir repl -r "node:4 core:8" -m table -c 'find "type=node"']],
}

local function input_of(opts)
  if opts.command then return table.concat(opts.command, "\n") end
  if not core.is_terminal(0) then return out.check(files.read("-", "input")) end
end

-- Returns a connection to the service of -s, or nil without -s.
local function remote_of(opts)
  if not opts.socket then return nil end
  if opts.resources or opts.policy then out.fail(2, "repl: -s excludes -r and -p: the service has its own") end
  local services = packages.module("services", "repl") or out.fail(2, "repl: -s: no installed package connects to services")
  return out.check(services.connect(opts.socket))
end

function M.run(opts)
  guess.resources(opts, "repl")
  if opts[1] then out.fail(2, "repl: %s: there is no such file; -r takes other names of machines", opts[1]) end
  local input = input_of(opts)
  local remote = remote_of(opts)
  if not remote then inputs.policy(opts.policy or "low") end
  local status, why = require("weir.repl").run {
    resources = opts.resources, policy = opts.policy, remote = remote, input = input, go_on = opts["keep-going"],
    mode = opts.mode or input and not out.is_terminal() and "json" or "table",
  }
  if not status then out.fail(2, "%s", why) end
  return status
end

return M
