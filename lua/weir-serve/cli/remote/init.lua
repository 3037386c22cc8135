--- cli/remote/init.lua - weir -s SOCKET COMMAND: the usual commands, executed by a service.

local options = require "weir.cli.options"
local out = require "weir.cli.output"
local page = require "weir.cli.page"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}

-- Commands in the order of the help; the module of a command is weir.cli.remote.FILE.
local COMMANDS = {
  { "match", "jobs" }, { "commit", "jobs" }, { "drop", "jobs" }, { "stages", "jobs" }, { "release", "jobs" },
  { "job", "jobs" }, { "jobs", "jobs" }, { "explain", "jobs" },
  { "try", "forecast" }, { "shadow", "forecast" },
  { "find", "machine" }, { "show", "machine" }, { "policy", "service" }, { "stats", "service" }, { "resource", "service" },
  { "metrics", "service" }, { "parent", "parent" }, { "call", "service" },
}

--- Returns the names of the commands, in the order of the help.
function M.names() return tables.column(COMMANDS, 1) end

-- Words of other tools, and the commands that do that here.
local MEANT = {
  submit = "match slot=1/node", alloc = "match slot=1/node", run = "match slot=1/node", cancel = "release JOB", kill = "release JOB",
  queue = "jobs", status = "stats, and resource", health = "call health",
  drain = "resource drain TARGETS", undrain = "resource undrain TARGETS",
  exclude = "resource exclude TARGETS", include = "resource include TARGETS", nodes = "find type=node", why = "explain JOB",
  down = [[call state '{"uri": "node3", "state": "down"}']], up = [[call state '{"uri": "node3", "state": "up"}']],
  state = [[call state '{"uri": "node3", "state": "down"}']],
}

--- Returns the table of a command; fails with status 2 where there is none.
local function command(name)
  for _, entry in ipairs(COMMANDS) do
    if entry[1] == name then return require("weir.cli.remote." .. entry[2])[name] end
  end
  if MEANT[name] then out.fail(2, 'a service has no command "%s": weir -s SOCKET %s', name, MEANT[name]) end
  out.fail(2, 'a service has no command "%s"%s; it has %s, top', name, suggest.hint(name, M.names()), table.concat(M.names(), ", "))
end

M.command = command

local function help()
  local lines = {}
  local function line(text) lines[#lines + 1] = text end
  line "usage: weir -s SOCKET COMMAND [OPTION...] [ARGUMENT...]"
  line "       weir -s SOCKET [--token-file FILE] [--ca FILE] COMMAND [OPTION...] [ARGUMENT...]\n"
  line "Runs a command on the service at a socket (weir serve): unix:PATH, tcp:HOST:PORT on this machine, or tls:HOST:PORT.\n"
  line "  --token-file FILE  for TCP: a file whose first token is used; $WEIR_TOKEN_FILE if not given"
  line "  --ca FILE          for TLS: the trusted certificates, PEM; $WEIR_CA, or those of the system, if not given\n"
  for _, name in ipairs(M.names()) do line(("  %-10s%s"):format(name, command(name).doc)) end
  line(("  %-10s%s"):format("top", require("weir.cli.top").doc))
  out.line(page.fitted(table.concat(lines, "\n")))
end

--- Options of the connection, placed between SOCKET and COMMAND.
M.options = {
  { nil, "token-file", "FILE", "for TCP: a file whose first token is used; $WEIR_TOKEN_FILE if not given" },
  { nil, "ca", "FILE", "for TLS: the trusted certificates, PEM; $WEIR_CA, or those of the system, if not given" },
}

--- Connects, or fails with status 2.
function M.connect(socket, opts)
  local clients = require "weir.serve.client"
  clients.interruptible()
  return out.check(clients.connect(socket, {
    token_file = opts and opts["token-file"] or os.getenv "WEIR_TOKEN_FILE", ca = opts and opts.ca or os.getenv "WEIR_CA",
  }))
end

local NO = { forbidden = true, busy = true, infeasible = true, rejected = true, unknown = true, exists = true,
  failed = true }

--- Calls a method, or fails: with status 1 for a negative result, with status 2 for a wrong call.
function M.ask(client, method, params)
  local result, why, code = client:ask(method, params)
  if result == nil and why:find('not before "login" with a token', 1, true) then why = why .. ": --token-file FILE, before the command" end
  if result == nil then out.fail(NO[code] and 1 or 2, "%s", why) end
  return result
end

-- Runs weir top, also a command without SOCKET.
local function top(socket, access, words)
  local command_top = require "weir.cli.top"
  local opts, why = options.parse(command_top, table.move(words, 1, #words, 3, { "-s", socket }))
  if not opts then out.fail(2, "top: %s", why) end
  if opts.help then return out.write(options.help(command_top)) end
  for _, option in ipairs(M.options) do opts[option[2]] = opts[option[2]] or access[option[2]] end
  return command_top.run(opts)
end

function M.run(words)
  local socket = words[1]
  if not socket then out.fail(2, "-s needs an argument: SOCKET") end
  local access, wrong = options.parse({ options = M.options, stop = true }, table.move(words, 2, #words, 1, {}))
  if socket == "--help" or access and access.help then return help() end
  if not access then out.fail(2, "%s; see weir -s SOCKET --help", wrong) end
  local name = access[1]
  if not name then out.fail(2, "missing command: expected one of %s, top; see weir -s SOCKET --help", table.concat(M.names(), ", ")) end
  local rest = table.move(access, 2, #access, 1, {})
  if name == "top" then return top(socket, access, rest) end
  local chosen = command(name)
  local opts, why = options.parse(chosen, rest)
  if not opts then out.fail(2, "%s: %s; see weir -s SOCKET %s --help", name, why, name) end
  if opts.help then return out.write(options.help(chosen)) end
  local client <close> = M.connect(socket, access)
  return chosen.run(client, opts)
end

return M
