-- manpage.lua - makes the man page of a package from the tables of options of its commands. From the project's root: weir run
-- spec/tools/manpage.lua PACKAGE PAGE

local topics = require "weir.cli.topics"
local core = require "weir.core"
local files = require "weir.files"
local packages = require "weir.packages"
local roff = require "spec.tools.roff"

local plain, bold, italic = roff.plain, roff.bold, roff.italic
local page = roff.page()
local function put(...) page:put(...) end

-- ---- commands -----------------------------------------------------------------------------------------------

local function put_usage(name, usage)
  put(".PP\n%s %s", bold("weir " .. name), plain(usage))
end

local function put_command(name)
  local command = require("weir.cli." .. name)
  put(".SS weir %s", name)
  put(plain(command.doc))
  put_usage(name, command.usage or "[OPTION...]")
  for _, option in ipairs(command.options or {}) do page:option(option) end
  if command.notes then page:notes(command.notes) end
end

-- ---- the page -----------------------------------------------------------------------------------------------

local INTRODUCTION = [[
weir holds a machine as a graph of resource pools, and finds, allocates, reserves and releases parts of it for jobs.
What is preferred among what fits is said by policies, which are short Lua files.

RESOURCES is a machine: a file in JSON Graph Format, R version 1, GRUG, hwloc XML, SQLite, RDL, a recipe in Lua, slurm.conf or what
flux config get prints; one line that describes one, such as "rack:2 node:4 core:8"; or "local", this machine. A JOB is a jobspec
in YAML or JSON, or a shape such as slot=2/node.

Every command tells its options with --help.]]

local STATUSES = {
  { "0", "It is done; all jobs matched, something was found, all checks went well." },
  { "1", "A job did not match, nothing was found, or a check failed." },
  { "2", "Wrong use, or something cannot be read or written." },
  { "129, 130, 143", "Ended by SIGHUP, SIGINT or SIGTERM. What was being written is as it was before." },
  { "141", "The reader of the output went away." },
}

local ENVIRONMENT = {
  { "WEIR_POLICY_PATH", "Directories, separated by colons, in which policies are looked for before those that come with weir." },
  { "WEIR_TRACE", "1: errors come with the way to them." },
  { "NO_COLOR", "When it is not empty, nothing is coloured." },
  { "XDG_STATE_HOME", "Where weir/history is, the history of the REPL; ~/.local/state if not set." },
}

local function put_head(name, doc)
  put('.\\" Made from the tables of options.')
  put('.TH %s 1 "" "weir %s" "User Commands"', name:upper(), core.version)
  put(".SH NAME\n%s \\- %s", plain(name), plain(doc))
end

local function put_commands(package)
  put ".SH COMMANDS"
  for _, name in ipairs(package.commands) do put_command(name) end
end

-- The page of the package weir has what holds for all commands, too.
local function put_weir(package)
  put_head("weir", "match jobs to the resources of a machine, by policies written in Lua")
  put(".SH SYNOPSIS\n%s %s [%s...] [%s...]\n.br\n%s %s %s\n.br\n%s %s", bold "weir", italic "COMMAND", italic "OPTION",
    italic "ARGUMENT", bold "weir", italic "COMMAND", bold "--help", bold "weir", bold "--version")
  put ".SH DESCRIPTION"
  page:notes(INTRODUCTION)
  put_commands(package)
  put ".SH GRAMMARS"
  for _, name in ipairs(topics.names) do
    put(".SS %s", plain(name:sub(1, 1):upper() .. name:sub(2)))
    page:notes(topics[name].text)
    for _, example in ipairs(topics[name].examples) do put(".TP\n%s\n%s", italic(example[1]), plain(example[2])) end
  end
  page:list("EXIT STATUS", STATUSES)
  page:list("ENVIRONMENT", ENVIRONMENT)
  put(".SH SEE ALSO\n.BR weir-sim (1),\n.BR weir-serve (1),\n.BR weir-flux (1),\n.BR lua5.4 (1),\n.BR hwloc (7)\n.PP\n%s",
    plain "The contract of policies is policy.md in the directory of weir's documentation.")
end

local function put_package(package)
  put_head(package.name, package.doc)
  put ".SH SYNOPSIS"
  for i, name in ipairs(package.commands) do put("%s%s [%s...]", i > 1 and ".br\n" or "", bold("weir " .. name), italic "ARGUMENT") end
  put_commands(package)
  put ".SH SEE ALSO\n.BR weir (1)"
end

for _, package in ipairs(packages.list()) do
  if package.name == arg[1] then (package.name == "weir" and put_weir or put_package)(package) end
end
assert(files.write(arg[2], page:text()))
