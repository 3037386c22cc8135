--- weir query: Fluxion's resource-query with equal options, commands and output. The implementation and all quirks of
-- resource-query are in weir.query.*, not in the engine.

local core = require "weir.core"
local files = require "weir.files"
local options = require "weir.query.options"
local out = require "weir.cli.output"
local session = require "weir.query.session"
local shell = require "weir.query.shell"
local tables = require "weir.tables"

local M = { name = "query", doc = "Fluxion's resource-query: its options, commands and output.", raw = true,
  options = options.list }

local function fail(text)
  io.stdout:flush()
  io.stderr:write(text)
  return 1
end

-- Prints the load time and the size of the graph, for -e.
local function show_load(machine, elapsed)
  local found = machine.census
  out.line(("INFO: Graph Load Time: %g"):format(elapsed))
  out.line(("INFO: Vertex Count: %d"):format(found.vertices))
  out.line(("INFO: Edge Count: %d"):format(found.edges))
  out.line(("INFO: by_type Key-Value Pairs: %d"):format(tables.size(found.types)))
  out.line(("INFO: by_name Key-Value Pairs: %d"):format(tables.size(found.names)))
  out.line(("INFO: by_path Key-Value Pairs: %d"):format(tables.size(found.paths)))
  for rank, n in tables.sorted(found.ranks) do out.line(("INFO: number of vertices with rank %d: %d"):format(rank, n)) end
end

function M.run(words)
  local o, why = options.read(words)
  if not o then return fail(("%s\n\n%s"):format(why, options.help())) end
  if o.help then return out.write(options.help()) or 0 end
  local started = os.clock()
  local s
  s, why = session.new(o)
  if not s then return fail((": Runtime error: %s\n"):format(why)) end
  if o.elapsed then show_load(s.machine, os.clock() - started) end
  local file
  for input, name in pairs { [o.load_file or ""] = "the file of --load-file", ["-"] = "standard input" } do
    if o.test_output and files.same(o.test_output, input) then
      return fail(("[ERROR] --test-output: %s is %s, and is not replaced\n"):format(o.test_output, name))
    end
  end
  if o.test_output then
    file, why = io.open(o.test_output, "w")
    if not file then return fail(("[ERROR] cannot write --test-output: %s\n"):format(why)) end
  end
  local done
  done, why = shell.new(s, { out = file }, not o.no_prompt and core.is_terminal(0)):loop(function() return files.line(io.stdin) end)
  if file then file:close() end
  return done and 0 or fail(("ERROR: %s\n"):format(why))
end

return M
