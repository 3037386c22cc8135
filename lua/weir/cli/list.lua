--- weir list: free, allocated and down resources, by state.

local core = require "weir.core"
local columns = require "weir.cli.columns"
local files = require "weir.files"
local inputs = require "weir.cli.inputs"
local listing = require "weir.rset.resource_list"
local out = require "weir.cli.output"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {
  name = "list",
  doc = "List free, allocated and down resources.",
  usage = "[OPTION...] [R...]",
  operand = "R",
  options = {
    { "s", "states", "STATE,...", "which states: free, allocated, down, up, all; free,allocated,down if not given" },
    { "i", "include", "TARGETS", "only these ranks (0-3,7) or hosts (node[0-3]); absent ones are ignored" },
    { "q", "queue", "QUEUE,...", "only resources of these queues of --config" },
    { "c", "config", "FILE", 'queues and the properties they require: {"queues": {"batch": {"requires": ["batch"]}}}' },
    { "o", "format", "FORMAT", "the format of a line: default, fixed, rlist, or a text with fields; see below" },
    { "n", "no-header", nil, "no line of headings" },
    { nil, "skip-empty", nil, "no lines for states without resources; the default with -i" },
    { nil, "no-skip-empty", nil, "print such lines also with -i" },
    { nil, "info", nil, "the totals in one line; of all states if -s is not given" },
    { "R", "rset", nil, "the resource set of these states as R version 1; of all states if -s is not given" },
    { nil, "json", nil, "the lines as JSON" },
    { nil, "check", nil, "check that each R conforms to RFC 20: print all faults with their places; status 1 if there are any" },
    inputs.job_options[1], inputs.job_options[2],
  },
  notes = [[
An R is a file with an R version 1, with the response of a scheduler ({"all": R, "down": R, "allocated": R}), or any machine
that weir can read; "-" is standard input, a name that is not a file a description such as "node:4 core:8", "local" (the
default) this machine. Several are listed together, by rank.

Fields of -o, in braces: state, queue, properties, propertiesx (those that name no queue), nnodes, ncores, ngpus, ranks,
nodelist, rlist. {nnodes:>6} is 6 wide and right-aligned; ?: before a field omits it where it is empty, +: makes it as
wide as necessary. default is for people, with the nodelist; fixed, for programs, is used for a pipe:

  {state:>10} {properties:<10} {nnodes:>6} {ncores:>8} {ngpus:>8}

  weir list R.json
  weir list -s free,down -i node[0-15] -no "{nodelist}" R.json
  weir list -j slot=2/node machine.graphml]],
}

local FORMATS = {
  default = "{state:>10} ?+:{queue:<5} ?:{propertiesx:<10.10+} {nnodes:>6} +:{ncores:>6} ?+:{ngpus:>5} {nodelist}",
  rlist = "{state:>10} ?+:{queue:<5} ?:{propertiesx:<10.10+} {nnodes:>6} +:{ncores:>6} ?+:{ngpus:>5} {rlist}",
  fixed = "{state:>10} {properties:<10} {nnodes:>6} {ncores:>8} {ngpus:>8}",
  info = "{nnodes} Nodes, {ncores} Cores, {ngpus} GPUs",
}

local HEADINGS = {
  state = "STATE", queue = "QUEUE", properties = "PROPERTIES", propertiesx = "PROPERTIES", nnodes = "NNODES",
  ncores = "NCORES", ngpus = "NGPUS", ranks = "RANKS", nodelist = "NODELIST", rlist = "LIST",
}

-- ---- inputs -------------------------------------------------------------------------------------------------

local function read(name, opts)
  if not opts.job and (name == "-" or files.exists(name)) then
    local text = out.check(files.read(name, "R"))
    if listing.reads(text) then return out.check(listing.parse(text, name == "-" and "<stdin>" or name)) end
  end
  local g <close> = inputs.booked { resources = name, job = opts.job, policy = opts.policy }
  return out.check(listing.of_graph(g))
end

local function read_all(opts)
  if opts.job and #opts > 1 then out.fail(2, "list: -j places jobs on one machine, and %d are given", #opts) end
  local all
  for i = 1, math.max(#opts, 1) do
    local name = opts[i] or "local"
    local one = read(name, opts)
    local joined, why = one, nil
    if all then joined, why = listing.join(all, one) end
    all = joined or out.fail(2, "%s: %s", name, why)
  end
  return all
end

local function split(text) return tables.collect(text:gmatch "[^,]+") end

local function states_of(opts)
  local list = split(opts.states or (opts.info or opts.rset) and "all" or "free,allocated,down")
  for _, state in ipairs(list) do
    if not tables.has(listing.STATES, state) then
      out.fail(2, "--states: there is no state %s%s", state, suggest.among(state, listing.STATES))
    end
  end
  if #list == 0 then out.fail(2, "--states: expected a state") end
  return list
end

-- ---- queues and targets -------------------------------------------------------------------------------------

local function read_queues(opts)
  if not opts.config then return {} end
  local config, why = core.json_decode(out.check(files.read(opts.config, "settings")))
  if not config then out.fail(2, "%s: %s", opts.config, why) end
  local queues = type(config) == "table" and config.queues or {}
  if type(queues) ~= "table" then out.fail(2, "%s: queues: expected a table of queues", opts.config) end
  for name, entry in pairs(queues) do
    local fine = type(entry) == "table" and (entry.requires == nil or type(entry.requires) == "table")
      and (entry.parent == nil or queues[entry.parent] ~= nil)
    if not fine then out.fail(2, "%s: queues.%s: expected {requires = [...]} or {parent = a queue}", opts.config, name) end
  end
  return queues
end

-- Returns the queues to show: the requested queues, or all except virtual queues.
local function shown_queues(opts, queues)
  if opts.queue then return split(opts.queue) end
  local names = {}
  for name, entry in pairs(queues) do
    if not entry.parent then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function restrict(sets, opts, queues)
  if opts.queue then
    local ranks = core.idset()
    for _, name in ipairs(split(opts.queue)) do
      local own = listing.queue_ranks(sets, queues, name)
      ranks:add(own or out.fail(2, "--queue: %s: there is no such queue; --config names them", name))
    end
    sets = listing.on_ranks(sets, ranks)
  end
  if not opts.include then return sets end
  local ranks = core.idset(opts.include)
  if not ranks then
    local hosts, why = core.hostlist(opts.include)
    if not hosts then out.fail(2, "--include: expected ranks or hosts: %s", why) end
    ranks = sets.all:on_hosts(hosts):ranks()
  end
  return listing.on_ranks(sets, ranks)
end

-- ---- output -------------------------------------------------------------------------------------------------

local function format_of(opts)
  local name = opts.info and "info" or opts.format or (out.is_terminal() and "default" or "fixed")
  local text = FORMATS[name] or name
  if not FORMATS[name] and not name:find "[{}]" then
    out.fail(2, "--format: %s is neither default, fixed, rlist nor a text with fields in braces", name)
  end
  local format, why = columns.parse(text, HEADINGS)
  return format or out.fail(2, "--format: %s", why)
end

local function print_rset(sets, states)
  local set = out.check(core.rset():with { starttime = sets.all:starttime() or 0, expiration = sets.all:expiration() or 0 })
  for _, state in ipairs(states) do set = set + sets[state] end
  out.line(out.check(set:format "rv1_nosched"))
end

local function print_json(rows)
  local list = core.array {}
  for i, row in ipairs(rows) do
    list[i] = { state = row.state, queue = row.queue ~= "" and row.queue or nil, nnodes = row.nnodes, ncores = row.ncores,
      properties = core.array(split(row.properties)), ngpus = row.ngpus, ranks = row.ranks, nodelist = row.nodelist }
  end
  out.json(list)
end

local function print_table(rows, format, header)
  local fitted = format:fit(rows, header)
  if header then out.line(fitted:header()) end
  for _, row in ipairs(rows) do
    local line = fitted:row(row)
    if line:find "%S" then out.line(line) end
  end
end

-- Prints the faults of each R. Returns the exit status.
local function check_each(opts)
  local status = 0
  for i = 1, math.max(#opts, 1) do
    local name = opts[i] or out.fail(2, "list: --check wants an R")
    local faults = out.check(core.check_R((out.check(files.read(name, "R")))))
    for _, fault in ipairs(faults) do
      out.line(("%s: %s%s"):format(name, fault.place ~= "" and fault.place .. ": " or "", fault.text))
      status = 1
    end
  end
  return status
end

local function check_options(opts)
  local one = {}
  for _, name in ipairs { "format", "info", "rset", "json", "check" } do
    if opts[name] then one[#one + 1] = "--" .. name end
  end
  if #one > 1 then out.fail(2, "list: %s cannot be combined", table.concat(one, " and ")) end
  if opts.queue and not opts.config then out.fail(2, "list: -q needs --config, which defines the queues") end
end

function M.run(opts)
  check_options(opts)
  if opts.check then return check_each(opts) end
  local states, format, queues = states_of(opts), format_of(opts), read_queues(opts)
  local sets = restrict(read_all(opts), opts, queues)
  if opts.rset then return print_rset(sets, states) end
  local function shown(field) return opts.json or (format:has(field) and (#format.entries > 1 or field == "state")) end
  local view, rows = { queues = queues, names = shown_queues(opts, queues) }, {}
  local skip = opts["skip-empty"] or (opts.include and not opts["no-skip-empty"])
  for _, line in ipairs(listing.lines(sets, states, shown, view)) do
    if #line.set > 0 or not skip then rows[#rows + 1] = listing.fields(line.state, line.set, view, line.queue) end
  end
  if opts.json then
    print_json(rows)
  else
    print_table(rows, format, not (opts["no-header"] or opts.info))
  end
end

return M
