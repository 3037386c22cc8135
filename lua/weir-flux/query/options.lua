--- options.lua - the command line of resource-query, parsed as by getopt_long(): short options may be joined, values
-- may be attached or separate, and long names may be abbreviated while unambiguous.

local page = require "weir.cli.page"
local load = require "weir.query.load"
local writers = require "weir.query.writers"

local M = {}

-- Options: {short name, long name, name of the argument, help}.
local OPTIONS = {
  { "L", "load-file", "FILE", "the machine (default: conf/default)" },
  { "f", "load-format", "FORMAT", "its format: grug (default), hwloc, jgf, jgf_shorthand, rv1exec, rv1exec_force" },
  { "W", "load-allowlist", "TYPES", "types to load from hwloc, such as node,socket,core,gpu; default: all" },
  { "S", "match-subsystems", "SET", "CA (default), IBA, IBBA, PFS1BA, PA, C+IBA, C+PFS1BA, C+PA, IB+IBBA, C+P+IBA, VA,\n"
    .. "V+PFS1BA, ALL; the first subsystem is searched, the others are walked up" },
  { "P", "match-policy", "POLICY", "first (default), firstnodex, low, high, lonode, hinode, lonodex, hinodex, locality,\n"
    .. 'variation, or settings: "policy=high node_centric=true node_exclusive=true\nstop_on_1_matches=true"' },
  { "F", "match-format", "FORMAT", "how matches are written: simple (default), pretty_simple, jgf, jgf_shorthand, rlite,\n"
    .. "rv1, rv1_nosched, rv1_shorthand" },
  { "T", "traverser-policy", "KIND", "simple (default), or flexible: slots side by side are alternatives" },
  { "g", "graph-format", "FORMAT", "of the graph that -o writes: dot (default), graphml" },
  { "o", "graph-output", "NAME", "write the graph to NAME.dot or NAME.graphml at the end" },
  { "p", "prune-filters", "PAIRS", "what is counted where, such as ALL:core,rack:node (default: ALL:core,ALL:node)" },
  { "t", "test-output", "FILE", "write what is matched there, not to standard output" },
  { "r", "reserve-vtx-vec", "N", "vertices to make room for, up to 2000000" },
  { "e", "elapse-time", nil, "print times and the number of vertices visited" },
  { "d", "disable-prompt", nil, "no prompt" },
  { "h", "help", nil, "show this" },
}

--- The options, for the man page and for the completion of shells.
M.list = OPTIONS

local function by_short(letter)
  for _, option in ipairs(OPTIONS) do
    if option[1] == letter then return option end
  end
end

local function by_long(name)
  local found, several
  for _, option in ipairs(OPTIONS) do
    if option[2] == name then return option end
    if option[2]:sub(1, #name) == name then found, several = option, found ~= nil end
  end
  if several then return nil, ("option '--%s' is ambiguous"):format(name) end
  return found, ("unrecognized option '--%s'"):format(name)
end

local function read_long(words, i, put)
  local name, value = words[i]:match "^%-%-([^=]*)=?(.*)$"
  local attached = words[i]:find("=", 1, true)
  local option, why = by_long(name)
  if not option then return nil, why end
  if not option[3] then
    if attached then return nil, ("option '--%s' doesn't allow an argument"):format(option[2]) end
    return put(option, true) and i
  end
  if not attached then
    i = i + 1
    value = words[i]
    if not value then return nil, ("option '--%s' requires an argument"):format(option[2]) end
  end
  put(option, value)
  return i
end

local function read_short(words, i, put)
  local word, at = words[i], 2
  while at <= #word do
    local letter = word:sub(at, at)
    local option = by_short(letter)
    if not option then return nil, ("invalid option -- '%s'"):format(letter) end
    if option[3] then
      local value = word:sub(at + 1)
      if value == "" then
        i = i + 1
        value = words[i]
      end
      if not value then return nil, ("option requires an argument -- '%s'"):format(letter) end
      put(option, value)
      return i
    end
    put(option, true)
    at = at + 1
  end
  return i
end

-- Returns the list of {short name, value} in order; or nil and a reason.
local function split(words)
  local list, i = {}, 1
  local function put(option, value)
    list[#list + 1] = { option[1], value }
    return true
  end
  while i <= #words do
    local word, why = words[i]
    if word == "--" then return i == #words and list or nil, "operands are not taken" end
    if word:sub(1, 2) == "--" then
      i, why = read_long(words, i, put)
    elseif word:sub(1, 1) == "-" and #word > 1 then
      i, why = read_short(words, i, put)
    else
      return nil, ("'%s': operands are not taken"):format(word)
    end
    if not i then return nil, why end
    i = i + 1
  end
  return list
end

-- ---- values of options --------------------------------------------------------------------------------------

local MEANING = {}

function MEANING.L(o, value)
  local file = io.open(value)
  if not file then return ("[ERROR] file does not exist for --load-file: %s"):format(value) end
  local directory = not file:read(0) and file:seek "end" ~= 0
  file:close()
  if directory then return ("[ERROR] path passed to --load-file is a directory: %s"):format(value) end
  o.load_file = value
end

function MEANING.f(o, value)
  if not load.known(value) then return ("[ERROR] unknown format for --load-format: %s"):format(value) end
  o.load_format = value
end

function MEANING.W(o, value)
  if value:find "[^ ]" then o.allowlist = o.allowlist .. "cluster," .. value end
end

function MEANING.S(o, value) o.subsystems = value end
function MEANING.P(o, value) o.policy = value end
function MEANING.T(o, value) o.traverser = value end

function MEANING.F(o, value)
  if not writers.known(value) then
    return ("[ERROR] unknown format for --match-format: %s"):format(value)
  end
  o.match_format = value
end

function MEANING.g(o, value)
  local format = value:lower()
  if format ~= "dot" and format ~= "graphml" then
    return ("[ERROR] unknown format for --graph-format: %s"):format(value)
  end
  o.graph_format = format
end

function MEANING.o(o, value) o.graph_output = value end

function MEANING.p(o, value)
  if value:find "[^ ]" then o.prune_filters = o.prune_filters and o.prune_filters .. "," .. value or value end
end

function MEANING.t(o, value) o.test_output = value end

function MEANING.r(_, value)
  local n = tonumber(value:match "^%s*[+-]?%d+") or 0
  if n < 0 or n > 2000000 then
    io.stderr:write("WARN: out of range specified for --reserve-vtx-vec: ", value, "\n")
  end
end

function MEANING.e(o) o.elapsed = true end
function MEANING.d(o) o.no_prompt = true end
function MEANING.h(o) o.help = true end

--- Returns the options in a list of words; or nil and an error message.
function M.read(words)
  local list, why = split(words)
  if not list then return nil, why end
  local o = { load_format = "grug", allowlist = "", subsystems = "CA", policy = "first", traverser = "simple",
    match_format = "simple", graph_format = "dot" }
  for _, pair in ipairs(list) do
    why = MEANING[pair[1]](o, pair[2])
    if why then return nil, why end
    if o.help then break end
  end
  return o
end

--- Returns the text of --help.
function M.help()
  local lines = { "usage: weir query [OPTION...] < COMMANDS\n",
    "Takes the options and commands of Fluxion's resource-query, and prints the same.\n" }
  for _, o in ipairs(OPTIONS) do
    local head = ("  -%s, --%s%s"):format(o[1], o[2], o[3] and "=" .. o[3] or "")
    lines[#lines + 1] = ("%-32s%s"):format(head, o[4]:gsub("\n", "\n" .. (" "):rep(32)))
  end
  lines[#lines + 1] = '\nThe command "help" lists the commands. Exit status: 0 done, 1 wrong use or unreadable input.\n'
  return page.fitted(table.concat(lines, "\n"))
end

return M
