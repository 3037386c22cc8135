--- cli/init.lua - the command line: selects the command, reads the options, and returns the exit status.
--
-- Exit status 0: success. 1: no match, nothing found. 2: wrong usage, or a file cannot be read or written. For
-- signals see main.c.

local core = require "weir.core"
local options = require "weir.cli.options"
local out = require "weir.cli.output"
local packages = require "weir.packages"
local page = require "weir.cli.page"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local topics = require "weir.cli.topics"

local M = {}

--- The names of the commands of all installed packages, for help and completion; the module of a command is weir.cli.NAME.
M.commands = packages.all "commands"

local function is_command(name) return tables.has(M.commands, name) end

-- Fails for a word that is no command, with the command that was probably meant.
local function refuse(name)
  local package = packages.of_command(name)
  if package then out.fail(2, "the command %s is in the package %s, which is not installed", name, package) end
  local service = packages.module("services", "commands")
  if service and tables.has(service.names(), name) then
    out.fail(2, "%s is a command of a service: weir -s SOCKET %s; see weir serve --help", name, name)
  end
  local meant = packages.find("words", name)
  local hint = meant and ": " .. meant or suggest.hint(name, { "help", table.unpack(M.commands) })
  out.fail(2, 'unknown command "%s"%s; see weir --help', name, hint)
end

local function command(name)
  return is_command(name) and require("weir.cli." .. name) or refuse(name)
end

local function show_help()
  local lines = {}
  local function line(text) lines[#lines + 1] = text end
  line "usage: weir COMMAND [OPTION...] [ARGUMENT...]\n"
  line "Finds, allocates and releases parts of a machine for jobs, by policies written in Lua."
  for _, package in ipairs(packages.list()) do
    line(("\n%s: %s"):format(package.name, package.doc))
    for _, name in ipairs(package.commands or {}) do line(("  %-11s%s"):format(name, command(name).doc)) end
  end
  line "\n  weir FILE              shows a machine, runs a scenario or a script, checks a policy"
  line "  weir COMMAND --help    the options of a command\n  weir --version         the version"
  if packages.find("services", "commands") then
    line "  weir -s SOCKET COMMAND  runs a command on a service (weir serve); see weir -s SOCKET --help"
  end
  line "\nweir help TOPIC:"
  for _, name in ipairs(topics.names) do line(("  %-12s%s"):format(name, topics[name].doc)) end
  line "\nExit status: 0 done, 1 no match or a check failed, 2 wrong usage, or something cannot be read or written."
  out.line(page.fitted(table.concat(lines, "\n")))
end

local function show_version() out.line("weir " .. core.version) end

local GLOBAL = { ["--help"] = show_help, ["-h"] = show_help, ["--version"] = show_version, ["-V"] = show_version }

local function run_command(name, words)
  local chosen = command(name)
  if chosen.raw then return chosen.run(words) end -- the command parses the options
  local opts, why = options.parse(chosen, words)
  if not opts then out.fail(2, "%s: %s; see weir %s --help", name, why, name) end
  if opts.help then return out.write(options.help(chosen)) end
  return chosen.run(opts)
end

-- Runs `weir help NAME`: the page of a topic, or the options of a command.
local function show_help_of(name)
  if is_command(name) then return run_command(name, { "--help" }) end
  if not topics[name] or not topics[name].text then
    local known = table.move(topics.names, 1, #topics.names, #M.commands + 1, table.move(M.commands, 1, #M.commands, 1, {}))
    out.fail(2, 'there is no help on "%s"%s; see weir --help', name, suggest.hint(name, known))
  end
  out.line(table.concat(topics.lines(name), "\n"))
end

-- Runs a command; `weir help match` runs `weir match --help`. Returns the exit status; nothing means 0.
local function dispatch(words)
  local first = words[1]
  if not first then return show_help() end
  if GLOBAL[first] then return GLOBAL[first]() end
  if first == "help" and words[2] then return show_help_of(words[2]) end
  if first == "help" then return show_help() end
  local service = first == "-s" and packages.module("services", "commands")
  if service then return service.run(table.move(words, 2, #words, 1, {})) end
  if first:sub(1, 1) == "-" then
    out.fail(2, "unknown option %s%s; see weir --help", first, suggest.hint(first, { "--help", "--version" }))
  end
  local guessed = not is_command(first) and require("weir.cli.guess").words(first, words)
  if guessed then return run_command(guessed[1], table.move(guessed, 2, #guessed, 1, {})) end
  return run_command(first, table.move(words, 2, #words, 1, {}))
end

-- Raised values other than failures (see output.lua) are bugs of weir, and get a traceback for the bug report.
local function explain(raised)
  if raised == "interrupted" then return { status = 130 } end
  if raised == "not enough memory" then return { status = 2, text = "out of memory" } end
  return out.failure(raised) or { status = 2, text = "internal error: " .. tostring(raised), trace = debug.traceback("", 2) }
end

local function guarded(...)
  local ok, result = xpcall(...)
  if ok then return result or 0 end
  if type(result) == "string" then result = explain(result) end -- without memory Lua calls no message handler
  if result.text then out.warn(result.text) end
  if result.trace then io.stderr:write(result.trace:sub(2), "\n") end
  return result.status
end

--- Runs a command line (without the program's name) and returns the exit status.
function M.main(words)
  rawset(_G, "warn", function(...) out.warn(table.concat { ... }) end) -- of readers of machines
  local status = guarded(dispatch, explain, words)
  return math.max(status, guarded(out.flush, explain))
end

return M
