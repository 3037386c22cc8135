-- manpage.lua - makes the man pages of a package from the tables of its commands: weir-COMMAND(1) for each command; of the package
-- weir also weir(1), and a page in section 7 for each grammar. From the project's root: weir run spec/tools/manpage.lua
-- PACKAGE DIRECTORY, which gets man1/ and man7/.

local topics = require "weir.cli.topics"
local core = require "weir.core"
local files = require "weir.files"
local packages = require "weir.packages"
local roff = require "spec.tools.roff"

local PACKAGE, DIRECTORY = arg[1], arg[2]
local plain, bold, italic = roff.plain, roff.bold, roff.italic

local function save(page, name, section)
  local folder = ("%s/man%d"):format(DIRECTORY, section)
  assert(files.make_directory(folder))
  assert(files.write(("%s/%s.%d"):format(folder, name, section), page:text()))
end

local function new_page(name, section, doc)
  local page = roff.page()
  page:put('.\\" Made from the tables of the commands.')
  page:put('.TH %s %d "" "weir %s" "%s"', name:upper(), section, core.version, section == 1 and "User Commands" or "Miscellanea")
  page:put(".SH NAME\n%s \\- %s", plain(name), plain((doc:gsub("%.$", ""))))
  return page
end

-- ---- commands -----------------------------------------------------------------------------------------------

-- The paragraphs of the notes of a command: those of the description, lines of examples, the exit status.
local function parts_of(notes)
  local description, examples, status = {}, {}, nil
  for paragraph in ((notes or "") .. "\n\n"):gmatch "(.-)\n\n+" do
    if paragraph:find "^  weir [^\n]*" and not paragraph:find "\n%S" then
      examples[#examples + 1] = paragraph
    elseif paragraph:find "^Exit status: " then
      status = paragraph:sub(#"Exit status: " + 1)
    elseif paragraph ~= "" then
      description[#description + 1] = paragraph
    end
  end
  return table.concat(description, "\n\n"), table.concat(examples, "\n\n"), status
end

local function put_command(name)
  local command = require("weir.cli." .. name)
  local page = new_page("weir-" .. name, 1, command.doc:sub(1, 1):lower() .. command.doc:sub(2))
  local description, examples, status = parts_of(command.notes)
  page:put(".SH SYNOPSIS\n%s %s", bold("weir " .. name), plain(command.usage or "[OPTION...]"))
  page:put(".SH DESCRIPTION\n%s", plain(command.doc))
  page:notes(description)
  if command.options then page:put ".SH OPTIONS" end
  for _, option in ipairs(command.options or {}) do page:option(option) end
  if examples ~= "" then
    page:put ".SH EXAMPLES"
    page:notes(examples)
  end
  if status then page:put(".SH EXIT STATUS\n%s", plain(status)) end
  page:put ".SH SEE ALSO\n.BR weir (1)"
  save(page, "weir-" .. name, 1)
end

-- ---- the overview -------------------------------------------------------------------------------------------

local INTRODUCTION = [[
weir is a resource engine for job schedulers. It models a machine as a graph of resource pools, and finds, allocates, reserves and
releases parts of it for jobs. Policies, which are Lua files, decide which of the fitting resources a job gets.

RESOURCES is a machine: a file in JSON Graph Format, R version 1, GRUG, hwloc XML, SQLite, RDL, a recipe in Lua, slurm.conf or the
output of flux config get; a line such as "rack:2 node:4 core:8"; or "local", this machine. A JOB is a jobspec in YAML or JSON, or a
shape such as slot=2/node.

Every command prints its options with --help.]]

local STATUSES = {
  { "0", "Done: all jobs matched, something was found, all checks passed." },
  { "1", "A job did not match, nothing was found, or a check failed." },
  { "2", "Wrong usage, or something cannot be read or written." },
  { "129, 130, 143", "Ended by SIGHUP, SIGINT or SIGTERM. Files are as they were before." },
  { "141", "The reader of the output closed it." },
}

local ENVIRONMENT = {
  { "WEIR_POLICY_PATH", "Directories, separated by colons, that are searched for policies before the bundled ones." },
  { "WEIR_POLICY_PRINT", "1: print in a policy writes to standard error." },
  { "WEIR_VERTICES", "The greatest number of vertices of a graph." },
  { "WEIR_TRACE", "1: errors are printed with a traceback." },
  { "NO_COLOR", "If not empty, nothing is coloured." },
  { "XDG_STATE_HOME", "The directory of weir/history, the history of the REPL; ~/.local/state if not set." },
}

local function put_overview()
  local page = new_page("weir", 1, "match jobs to the resources of a machine, by policies written in Lua")
  page:put(".SH SYNOPSIS\n%s %s [%s...] [%s...]\n.br\n%s %s %s\n.br\n%s %s", bold "weir", italic "COMMAND", italic "OPTION",
    italic "ARGUMENT", bold "weir", italic "COMMAND", bold "--help", bold "weir", bold "--version")
  page:put ".SH DESCRIPTION"
  page:notes(INTRODUCTION)
  page:put ".SH COMMANDS"
  for _, package in ipairs(packages.list()) do
    page:put(".SS %s: %s", plain(package.name), plain(package.doc))
    for _, name in ipairs(package.commands) do
      page:put(".TP\n.BR weir-%s (1)\n%s", plain(name), plain(require("weir.cli." .. name).doc))
    end
  end
  page:put ".SH GRAMMARS"
  for _, name in ipairs(topics.names) do page:put(".TP\n.BR weir-%s (7)\n%s", plain(name), plain(topics[name].doc)) end
  page:list("EXIT STATUS", STATUSES)
  page:list("ENVIRONMENT", ENVIRONMENT)
  page:put(".SH SEE ALSO\n.BR lua5.4 (1),\n.BR hwloc (7)\n.PP\n%s",
    plain "The manual is index.html, the contract of policies policy.md, in the directory of weir's documentation.")
  save(page, "weir", 1)
end

local function put_topic(name)
  local page = new_page("weir-" .. name, 7, topics[name].doc)
  page:put ".SH DESCRIPTION"
  page:notes(topics[name].text)
  page:put ".SH EXAMPLES"
  for _, example in ipairs(topics[name].examples) do page:put(".TP\n%s\n%s", italic(example[1]), plain(example[2])) end
  page:put ".SH SEE ALSO\n.BR weir (1)"
  save(page, "weir-" .. name, 7)
end

for _, package in ipairs(packages.list()) do
  if package.name == PACKAGE then
    for _, name in ipairs(package.commands) do put_command(name) end
  end
end
if PACKAGE == "weir" then
  put_overview()
  for _, name in ipairs(topics.names) do put_topic(name) end
elseif PACKAGE == "weir-serve" then
  local serve = require "spec.tools.manpage_serve"
  save(serve.protocol(new_page("weir-protocol", 7, serve.PROTOCOL_DOC)), "weir-protocol", 7)
  save(serve.remote(new_page("weir-remote", 1, serve.REMOTE_DOC)), "weir-remote", 1)
end
