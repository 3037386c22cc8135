--- weir convert: converts machines and jobspecs from a format to another format.

local core = require "weir.core"
local files = require "weir.files"
local inputs = require "weir.cli.inputs"
local join = require "weir.machine.merge"
local out = require "weir.cli.output"
local script = require "weir.machine.script"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local weir = require "weir"

-- Output formats with the file extensions of each; the first is the default.
local MACHINES = {
  { "jgf", "json", "jgf" }, { "document", "weir" }, { "rv1", "R", "r" }, { "rv1_nosched" }, { "rlite" }, { "recipe", "lua" },
  { "sqlite", "db", "sqlite", "sqlite3" }, { "csv", "csv" }, { "tree", "txt" }, { "dot", "dot", "gv" }, { "svg", "svg" },
}
local JOBSPECS = { { "json", "json" }, { "yaml", "yaml", "yml" }, { "shape", "shape" }, { "resources" } }

local READERS = { "grug", "jgf", "document", "rv1", "hwloc", "rdl", "recipe", "synthetic", "sqlite", "slurm", "flux", "jobspec" }

-- The names of the formats that can be written: of machines first.
local function written()
  return table.move(tables.column(JOBSPECS, 1), 1, #JOBSPECS, #MACHINES + 1, tables.column(MACHINES, 1))
end

local M = {
  words = { from = READERS, format = written() }, -- for the completion of shells
  name = "convert",
  doc = "Convert machines and jobspecs from one format into another.",
  usage = "[OPTION...] IN... OUT",
  operand = "IN... OUT", min = 2,
  options = {
    { "f", "from", "FORMAT", "the format of IN; recognized by content if not given" },
    { "F", "format", "FORMAT", "the format of OUT; chosen by its name if not given" },
    { "n", "no-clobber", nil, "fail if OUT exists, instead of replacing it" },
    { nil, "apply", "DIFF", "apply a difference printed by weir diff to the machine, as a whole or not at all" },
    { nil, "hosts", "HOSTLIST", "the names of the nodes, one for each hwloc XML; with a single XML, that many nodes like it" },
    { nil, "types", "DIR", "a directory with types for RDL files; can be given several times", many = true },
  },
  notes = [[
IN is a file, - for standard input, "local" for this machine, a description or a shape. OUT is a file, or - for standard
output. OUT is written whole or not at all, must differ from every IN, and a link is followed.

  machines   read     grug, jgf, document, rv1, hwloc, rdl, recipe, synthetic, sqlite, slurm (slurm.conf),
                      flux (the output of flux config get, with R next to it)
             written  jgf (.json), document (.weir: JGF with clock and jobs), rv1 (.R), rv1_nosched, rlite,
                      recipe (.lua), sqlite (.db .sqlite), csv, tree (.txt), dot (.gv), svg
  jobspecs   read     jobspec: JSON, YAML or a shape
             written  json, yaml, resources (the resources alone, as a shape), shape (if nothing else is lost)

Several machines become one. hwloc XML files, one per node, become the nodes of one cluster, with the ranks 0, 1, ... in
the order given, named by their host names, or by their files if there is none; --hosts renames them, and makes many of one.
Other machines are merged: vertices with the same path are one, and a rank in use is replaced by the next free one.
Contents that a format cannot hold, such as the jobs of a machine, are reported on standard error; a document (.weir) and a
database hold everything. "-f hwloc:TYPES" chooses the types to read of a topology, such as hwloc:node,socket,L3cache,core.

  weir convert node*.xml cluster.json
  weir convert --hosts "cab[1-60]" node1.xml cluster.json
  weir convert cab.lua cab.db
  weir convert job.yaml -F resources -]],
}


-- ---- reading ------------------------------------------------------------------------------------------------

local BLOCK = 65536 -- bytes read to recognize the content of a file

local function head_of(path)
  local file = out.check(files.open(path))
  local head, why = file:read(BLOCK)
  file:close()
  if why then out.fail(2, "%s: %s", path, why) end
  return head or ""
end

-- Returns the format of a text: the name of a machine's format, or "jobspec".
local function guess(text)
  return script.by_content(text) or core.guess(text) or script.guess(text) == "rdl" and "rdl" or "jobspec"
end

local function jobspec(text, name)
  local request, why, code = weir.request(text, name)
  if request then return { name = name, request = request } end
  local hint = code == "parse" and " (it is no machine in a known format, so it was read as a jobspec)" or ""
  out.fail(2, "%s%s", why, hint)
end

local function options_for(format, opts)
  return { format = format, types = script.reads(format) and opts.types or nil }
end

local function read_text(text, name, opts)
  local format = opts.from or guess(text)
  if format == "jobspec" then return jobspec(text, name) end
  local settings = options_for(format, opts)
  settings.source = name
  return { name = name, format = format, graph = out.check(weir.parse(text, settings)) }
end

local function read_file(path, opts)
  local format = opts.from
  if not format then
    local head = head_of(path)
    format = path:match "%.lua$" and script.guess(head) or guess(head)
  end
  if format == "jobspec" then return jobspec(out.check(files.read(path, "jobspec")), path) end
  return { name = path, format = format, graph = out.check(weir.load(path, options_for(format, opts))) }
end

-- Reads an input that is not a file: the local machine, a synthetic string or a shape.
local function read_word(word, opts)
  if word == "local" then return { name = word, format = "hwloc", graph = out.check(weir.discover()) } end
  if opts.from ~= "jobspec" and core.guess(word) == "synthetic" then
    return { name = word, format = "synthetic", graph = out.check(weir.synthetic(word)) }
  end
  if weir.request_kind(word) == "file" then out.check(files.read(word, "machine")) end
  return jobspec(word, word)
end

local function read(name, opts)
  if name == "" then out.fail(2, 'convert: "" is no IN') end
  if name == "-" then return read_text(out.check(files.read("-", "machine")), "<stdin>", opts) end
  if files.exists(name) then return read_file(name, opts) end
  return read_word(name, opts)
end

local function check_from(format)
  local base = format:match "^[^:]*"
  if tables.has(READERS, base) then return end
  out.fail(2, 'convert: -f: "%s" is none of %s%s', format, table.concat(READERS, ", "), suggest.hint(base, READERS))
end

local function check_stdin(names)
  local n = 0
  for _, name in ipairs(names) do n = n + (name == "-" and 1 or 0) end
  if n > 1 then out.fail(2, "convert: - is given twice: there is one standard input") end
end

-- Returns the names of hosts, one for each input, or any number for a single input.
local function hosts_of(names, text)
  local ok, list = pcall(weir.hostlist, text)
  if not ok or not list then out.fail(2, "convert: --hosts: %q is no list of hosts, such as cab[1-60]", text) end
  local hosts = {}
  for i = 1, list:count() do hosts[i] = list[i] end
  if #hosts == 0 or #names > 1 and #hosts ~= #names then
    out.fail(2, "convert: --hosts: %d hosts for %d files; expected one per file", #hosts, #names)
  end
  return hosts
end

-- Merges all inputs. Returns {graph=} or {request=}.
local function read_all(names, opts)
  local graphs, nodes, first = {}, true, nil
  for i, name in ipairs(names) do
    local input = read(name, opts)
    first = first or input
    if input.request and #names > 1 then
      out.fail(2, "convert: %s is a jobspec; these are converted one by one", input.name)
    end
    graphs[i], nodes = input.graph, nodes and input.format and input.format:find "^hwloc" ~= nil
  end
  if opts.hosts then
    if not nodes then out.fail(2, "convert: --hosts names the nodes of hwloc XML files, and %s is none", first.name) end
    return { graph = out.check(join.nodes(graphs, names, hosts_of(names, opts.hosts))) }
  end
  if #names == 1 then return first end
  return { graph = out.check((nodes and join.nodes or join.merged)(graphs, names)) }
end

-- ---- writing ------------------------------------------------------------------------------------------------

local function by_extension(list, path)
  local extension = path:match "%.(%w+)$"
  for _, row in ipairs(list) do
    for i = 2, #row do
      if row[i] == extension then return row[1] end
    end
  end
end

-- Returns the output format for a path, from a list of formats. `what` names the kind of input in error messages.
local function format_of(list, what, path, opts)
  local names = tables.column(list, 1)
  local known = table.concat(names, ", ")
  if opts.format and not tables.has(names, opts.format) then
    out.fail(2, "convert: -F %s: %s can be written as %s%s", opts.format, what, known, suggest.hint(opts.format, names))
  end
  if opts.format then return opts.format end
  if path == "-" then return list[1][1] end
  return by_extension(list, path)
    or out.fail(2, "convert: %s: the name implies no format that %s can be written in; -F chooses one: %s", path, what, known)
end

local function put(text, path)
  text = text:gsub("\n*$", "\n")
  if path == "-" then return out.write(text) end
  out.check(files.write(path, text))
end

-- Warns the user about data that the format cannot hold.
local function tell_losses(g, path, format)
  local lost = g:losses(format)
  if lost and #lost > 0 then
    out.warn(("%s: left out, as a %s cannot say it: %s"):format(path, format, table.concat(lost, ", ")))
  end
end

local function write_machine(g, path, format)
  if format == "sqlite" then
    if path == "-" then out.fail(2, "convert: a database is written to a file, not to standard output") end
    return out.check(g:save(path, { format = format }))
  end
  local text, why, code = g:format(format)
  if not text then out.fail(2, "convert: %s: %s (%s)", path, why, code) end
  put(text, path)
  tell_losses(g, path, format)
end

-- Applies a difference to the machine that was read.
local function applied(g, path)
  if not g then out.fail(2, "convert: --apply: a difference is for machines") end
  return out.check(g:apply(out.check(files.read(path, "machine")), path == "-" and "<stdin>" or path))
end

function M.run(opts)
  local path, names = opts[#opts], table.move(opts, 1, #opts - 1, 1, {})
  check_stdin(names)
  if path == "" then out.fail(2, 'convert: "" is no OUT') end
  if opts.from then check_from(opts.from) end
  inputs.check_output(path, "convert: OUT", names)
  if opts["no-clobber"] and path ~= "-" and files.exists(path) then out.fail(2, "convert: %s is there already", path) end
  local input = read_all(names, opts)
  if input.request then
    if opts.apply then applied() end
    local format = format_of(JOBSPECS, "a jobspec", path, opts)
    put(out.check(input.request:format(format)), path)
  else
    write_machine(opts.apply and applied(input.graph, opts.apply) or input.graph, path, format_of(MACHINES, "a machine", path, opts))
  end
end

return M
