-- completion.lua - makes the completion for bash from the tables of options of the commands. From the project's root:
-- weir run spec/tools/completion.lua FILE

local cli = require "weir.cli"
local files = require "weir.files"
local topics = require "weir.cli.topics"
local query_options = require "weir.query.options"

local HEAD = [[
# bash completion for weir                                 -*- shell-script -*-
# Made from the tables of options.

_weir_policies()
{
    "$1" policy list 2>/dev/null | { read -r _; while read -r name _; do echo "$name"; done; }
}

# What may follow an option of a command: words, "policy", "file", or nothing where the option is a flag.
_weir_argument()
{
    case $1 in
]]

local MIDDLE = [[
    esac
}

_weir_options()
{
    case $1 in
]]

local TAIL = [[

_weir()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} weir=${COMP_WORDS[0]} words
    local command=${COMP_WORDS[1]}

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="$(_weir_commands) help --help --version"
    elif [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; then
        words="$(_weir_commands) $(_weir_topics)"
    else
        words=$(_weir_argument "$command $previous")
        case $words in
        "") case $current in -*) words=$(_weir_options "$command") ;; *) words=$(_weir_operands "$command") ;; esac ;;
        file) return ;;
        policy) words=$(_weir_policies "$weir") ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

# Where nothing of it fits, files do.
complete -o default -F _weir weir
]]

local function options_of(name)
  local command = require("weir.cli." .. name)
  return command.raw and query_options.list or command.options or {}
end

-- The bundled queue policies.
local function queue_policies()
  local names = {}
  local pipe <close> = assert(io.popen "ls policies/queue")
  for name in pipe:read("a"):gmatch "([%w_]+)%.lua\n" do names[#names + 1] = name end
  return table.concat(names, " ")
end

local WORDS = { POLICY = "policy", QUEUE = queue_policies() }

-- The bash words that complete the arguments of options whose words depend on more than the option.
local FORMATS = require("weir.cli.convert").formats
local ARGUMENTS = { convert = { from = FORMATS.read, format = FORMATS.written } }

-- The bash words that complete the argument of an option; nil: the option has no argument.
local function argument(name, option)
  if not option[3] then return nil end
  local own = ARGUMENTS[name] and ARGUMENTS[name][option[2]]
  return own and table.concat(own, " ") or option.choices and table.concat(option.choices, " ") or WORDS[option[3]] or "file"
end

local function put_arguments(put, name)
  for _, option in ipairs(options_of(name)) do
    local what = argument(name, option)
    local short = option[1] and ('"%s -%s" | '):format(name, option[1]) or ""
    if what then put(('    %s"%s --%s") echo "%s" ;;'):format(short, name, option[2], what)) end
  end
end

local function put_options(put, name)
  local words = { "--help" }
  for _, option in ipairs(options_of(name)) do
    if option[2] ~= "help" then words[#words + 1] = "--" .. option[2] end
  end
  put(('    %s) echo "%s" ;;'):format(name, table.concat(words, " ")))
end

local function put_operands(put)
  put "    esac\n}\n\n_weir_operands()\n{\n    case $1 in"
  for _, name in ipairs(cli.commands) do
    local actions = require("weir.cli." .. name).actions
    if actions then put(('    %s) echo "%s" ;;'):format(name, table.concat(actions, " "))) end
  end
end

local function make()
  local lines = { HEAD:sub(1, -2) }
  local function put(text) lines[#lines + 1] = text end
  for _, name in ipairs(cli.commands) do put_arguments(put, name) end
  put(MIDDLE:sub(1, -2))
  for _, name in ipairs(cli.commands) do put_options(put, name) end
  put_operands(put)
  put "    esac\n}\n"
  put(("_weir_commands() { echo %q; }"):format(table.concat(cli.commands, " ")))
  put(("_weir_topics() { echo %q; }"):format(table.concat(topics.names, " ")))
  return table.concat(lines, "\n") .. "\n" .. TAIL
end

assert(files.write(arg[1], make()))
