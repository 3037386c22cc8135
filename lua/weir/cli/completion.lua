--- weir completion: the completion of shells for the commands that are installed, from the tables of their options.

local out = require "weir.cli.output"
local packages = require "weir.packages"
local queue_policy = require "weir.sim.queue_policy"
local tables = require "weir.tables"
local topics = require "weir.cli.topics"

local M = {
  name = "completion", doc = "Print the completion for a shell: source <(weir completion bash)", usage = "bash",
  operand = "SHELL", min = 1, max = 1, actions = { "bash" },
}

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

local function command(name) return require("weir.cli." .. name) end

local function options_of(name) return command(name).options or {} end

local function words_for(metavar)
  if metavar == "POLICY" then return "policy" end
  if metavar == "QUEUE" then return table.concat(tables.column(queue_policy.list(), "name"), " ") end
  return "file"
end

-- The bash words that complete the argument of an option; nil: the option has no argument.
local function argument(name, option)
  if not option[3] then return nil end
  local own = command(name).words and command(name).words[option[2]] or option.choices
  return own and table.concat(own, " ") or words_for(option[3])
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
  for _, name in ipairs(packages.all "commands") do
    local actions = command(name).actions
    if actions then put(('    %s) echo "%s" ;;'):format(name, table.concat(actions, " "))) end
  end
end

local function make()
  local lines = { HEAD:sub(1, -2) }
  local function put(text) lines[#lines + 1] = text end
  for _, name in ipairs(packages.all "commands") do put_arguments(put, name) end
  put(MIDDLE:sub(1, -2))
  for _, name in ipairs(packages.all "commands") do put_options(put, name) end
  put_operands(put)
  put "    esac\n}\n"
  put(("_weir_commands() { echo %q; }"):format(table.concat(packages.all "commands", " ")))
  put(("_weir_topics() { echo %q; }"):format(table.concat(topics.names, " ")))
  return table.concat(lines, "\n") .. "\n" .. TAIL
end

function M.run(opts)
  if opts[1] ~= "bash" then out.fail(2, 'completion: there is none for "%s"; for bash: source <(weir completion bash)', opts[1]) end
  out.write(make())
end

return M
