-- Makes the man page from the tables that the commands read their options by. From the project's root:
-- weir run spec/support/manpage.lua PAGE

local cli = require "weir.cli"
local core = require "weir.core"
local files = require "weir.files"
local query_options = require "weir.query.options"

local page = {}
local function put(text, ...) page[#page + 1] = select("#", ...) > 0 and text:format(...) or text end

-- ---- roff ---------------------------------------------------------------------------------------------------

-- Text as it is: no line of it is a request, and hyphens are the ones that people type.
local function plain(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("'", "\\(aq"):gsub("%^", "\\(ha"):gsub("~", "\\(ti")
    :gsub("`", "\\(ga"):gsub("%f[^\n\0]%.", "\\&."))
end

local function bold(text) return "\\fB" .. plain(text) .. "\\fR" end

local function italic(text) return "\\fI" .. plain(text) .. "\\fR" end

-- Notes: what is indented or in columns stays as it is, the rest is filled.
local function put_block(lines)
  local kept = false
  for _, line in ipairs(lines) do kept = kept or line:find "^%s" ~= nil end
  put(".PP")
  if not kept then return put(plain(table.concat(lines, "\n"))) end
  local i = 1
  while lines[i] and not lines[i]:find "^%s" do
    put(plain(lines[i]))
    i = i + 1
  end
  put(".nf")
  for k = i, #lines do put(plain(lines[k])) end
  put(".fi")
end

local function put_notes(text)
  local lines = {}
  for line in (text .. "\n\n"):gmatch "([^\n]*)\n" do
    if line ~= "" then
      lines[#lines + 1] = line
    elseif #lines > 0 then
      put_block(lines)
      lines = {}
    end
  end
end

-- ---- commands -----------------------------------------------------------------------------------------------

local function put_option(option)
  local names = (option[1] and bold("-" .. option[1]) .. ", " or "") .. bold("--" .. option[2])
  put(".TP\n%s%s", names, option[3] and " " .. italic(option[3]) or "")
  put(plain(option[4] .. (option.choices and ": " .. table.concat(option.choices, ", ") or "")))
end

local function put_usage(name, usage)
  put(".PP\n%s %s", bold("weir " .. name), plain(usage))
end

local function put_command(name)
  local command = require("weir.cli." .. name)
  put(".SS weir %s", name)
  put(plain(command.doc))
  put_usage(name, command.usage or "[OPTION...]")
  for _, option in ipairs(command.raw and query_options.list or command.options or {}) do put_option(option) end
  if command.notes then put_notes(command.notes) end
end

-- ---- the page -----------------------------------------------------------------------------------------------

local INTRODUCTION = [[
weir holds a machine as a graph of resource pools, and finds, allocates, reserves and releases parts of it for jobs.
What is preferred among what fits is said by policies, which are short Lua files.

RESOURCES is a machine: a file in JSON Graph Format, R version 1, GRUG, hwloc XML, SQLite, RDL or a recipe in Lua; one line
that describes one, such as "rack:2 node:4 core:8"; or "local", this machine. A JOB is a jobspec in YAML or JSON, or a
shape such as slot=2/node.

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

local function put_list(title, rows)
  put(".SH %s", title)
  for _, row in ipairs(rows) do put(".TP\n%s\n%s", bold(row[1]), plain(row[2])) end
end

local function make()
  put('.\\" Made from the tables of options.')
  put('.TH WEIR 1 "" "weir %s" "User Commands"', core.version)
  put(".SH NAME\nweir \\- match jobs to the resources of a machine, by policies written in Lua")
  put(".SH SYNOPSIS\n%s %s [%s...] [%s...]\n.br\n%s %s %s\n.br\n%s %s", bold "weir", italic "COMMAND", italic "OPTION",
    italic "ARGUMENT", bold "weir", italic "COMMAND", bold "--help", bold "weir", bold "--version")
  put ".SH DESCRIPTION"
  put_notes(INTRODUCTION)
  put ".SH COMMANDS"
  for _, name in ipairs(cli.commands) do put_command(name) end
  put_list("EXIT STATUS", STATUSES)
  put_list("ENVIRONMENT", ENVIRONMENT)
  put(".SH SEE ALSO\n.BR lua5.4 (1),\n.BR hwloc (7)\n.PP\n%s",
    plain "The contract of policies is policy.md in the directory of weir's documentation.")
end

make()
assert(files.write(arg[1], table.concat(page, "\n") .. "\n"))
