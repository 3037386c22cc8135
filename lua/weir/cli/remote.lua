--- remote.lua - weir -s SOCKET COMMAND: the usual commands, asked of a service.

local options = require "weir.options"
local out = require "weir.cli.output"
local suggest = require "weir.suggest"

local M = {}

-- In the order of the help; each is in the module weir.cli.remote.FILE.
local COMMANDS = {
  { "match", "jobs" }, { "release", "jobs" }, { "job", "jobs" }, { "jobs", "jobs" }, { "explain", "jobs" },
  { "find", "machine" }, { "show", "machine" }, { "policy", "service" }, { "stats", "service" }, { "resource", "service" },
  { "call", "service" },
}

local function names()
  local list = {}
  for i, entry in ipairs(COMMANDS) do list[i] = entry[1] end
  return list
end

local function command(name)
  for _, entry in ipairs(COMMANDS) do
    if entry[1] == name then return require("weir.cli.remote." .. entry[2])[name] end
  end
  out.fail(2, 'a service has no command "%s"%s; it has %s, top', name, suggest.hint(name, names()), table.concat(names(), ", "))
end

local function help()
  out.line "usage: weir -s SOCKET COMMAND [OPTION...] [ARGUMENT...]\n"
  out.line "Asks the service that listens at a socket (weir serve).\n"
  for _, name in ipairs(names()) do out.line(("  %-10s%s"):format(name, command(name).doc)) end
  out.line(("  %-10s%s"):format("top", require("weir.cli.top").doc))
  return 0
end

--- Connects, or fails with status 2.
function M.connect(socket)
  local clients = require "weir.serve.client"
  clients.interruptible()
  return out.check(clients.connect(socket))
end

local NO = { busy = true, infeasible = true, rejected = true, unknown = true, exists = true }

--- Asks, or fails: with status 1 where the answer is no, with 2 where the question was wrong.
function M.ask(client, method, params)
  local result, why, code = client:ask(method, params)
  if result == nil then out.fail(NO[code] and 1 or 2, "%s", why) end
  return result
end

function M.run(words)
  local socket, name = words[1], words[2]
  if not socket then out.fail(2, "-s needs an argument: SOCKET") end
  if socket == "--help" or name == "--help" or name == "-h" then return help() end
  if not name then out.fail(2, "a command is wanted: %s; see weir -s SOCKET --help", table.concat(names(), ", ")) end
  local rest = table.move(words, 3, #words, 1, {})
  if name == "top" then
    table.insert(rest, 1, socket)
    table.insert(rest, 1, "-s")
    local top = require "weir.cli.top"
    local opts, why = options.parse(top, rest)
    if not opts then out.fail(2, "top: %s", why) end
    return opts.help and (out.write(options.help(top)) or 0) or top.run(opts)
  end
  local chosen = command(name)
  local opts, why = options.parse(chosen, rest)
  if not opts then out.fail(2, "%s: %s; see weir -s SOCKET %s --help", name, why, name) end
  if opts.help then
    out.write(options.help(chosen))
    return 0
  end
  local client <close> = M.connect(socket)
  return chosen.run(client, opts)
end

return M
