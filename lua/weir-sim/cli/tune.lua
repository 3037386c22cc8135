--- weir tune: looks for the options of policies under which a trace would have waited least.

local core = require "weir.core"
local data = require "weir.replay.data"
local files = require "weir.files"
local findings = require "weir.html.report.findings"
local inputs = require "weir.cli.inputs"
local objective = require "weir.tune.objective"
local out = require "weir.cli.output"
local said = require "weir.tune.text"
local trace = require "weir.trace"
local tune = require "weir.tune"
local weir = require "weir"

local M = {
  name = "tune",
  doc = "Search for the options of policies under which the jobs of a trace would have waited least.",
  usage = "[-r] RESOURCES [OPTION...] TRACE",
  operand = "TRACE",
  machine = true,
  options = {
    { "r", "resources", "RESOURCES", inputs.resources_help, required = true },
    { "p", "policy", "POLICY", "the placement policy; options given with it are fixed; low if not given" },
    { "q", "queue", "QUEUE", "the queue policy; options given with it are fixed; easy if not given" },
    inputs.granularity_option,
    { nil, "minimise", "LIST", "the objectives, separated by commas; several give the compromises between them; mean_wait if not given: "
      .. "" .. table.concat(objective.names, ", ") },
    { nil, "budget", "N", "the work, in replays of the first part of the trace; 100 if not given", kind = "number",
      min = 2, max = 1e6 },
    { nil, "vary", "RANGE", "narrow the range of an option, NAME=MIN..MAX; can be given several times", many = true },
    { nil, "train", "SHARE", "the share of the jobs in the first part; 0.5 if not given", kind = "number", min = 0.1, max = 0.9 },
    { nil, "search", "HOW", "the search; random is a plain random search for comparison; halving if not given",
      choices = { "halving", "random" } },
    { nil, "seed", "S", "the seed of the search; 1 if not given", kind = "count" },
    { nil, "workers", "N", "trials that run at the same time; the number of processors if not given", kind = "some",
      max = 256 },
    { nil, "map", "MAP", "what a processor is, as with weir replay" },
    { nil, "format", "FORMAT", "the format of the trace; recognized by name and content if not given", choices = trace.formats },
    { nil, "overrun", "WHAT", "what happens to jobs that exceed their estimate; kill if not given", choices = { "kill", "run" } },
    { nil, "tau", "SECONDS", "the minimum run time in slowdowns; 10 if not given", kind = "time" },
    { nil, "report", "DIR", "write a report to this directory: index.html, a page with the results, and tune.json, its data" },
    { nil, "json", nil, "the results as JSON" },
    { nil, "keep-going", nil, "an error of a policy does not end the search: the settings with it are counted, and lose" },
    { nil, "quiet", nil, "print neither progress nor remarks" },
  },
  notes = [[
Options that the policies declare with a range (min and max, or choices; weir policy list -v) are varied: many settings on the pieces of
the first part of the trace in which jobs waited most, the best of them on more of it, few on all of it, then steps around the best.
The second part, which the search has not seen, shows whether the result holds. The last line can be pasted after weir replay.

Ctrl-C ends the search and prints the results so far, with exit status 130.

  weir tune -r "cluster:1 core:100" KTH-SP2.swf.gz -q priority --minimise mean_wait,p95_bsld --budget 20 --report out
  weir tune -r machine.json trace.csv -p weighted -q hybrid --vary k=1..64 --budget 20

Equal input and an equal seed give equal output. Exit status: 0 done, 1 a policy failed, 2 wrong usage or unreadable input, 130
interrupted.]],
}

-- ---- progress -----------------------------------------------------------------------------------------------

local WIDTH, EVERY = 24, 0.2

-- Returns functions for the progress of a search; nil where standard error is no terminal.
local function progress(quiet, first)
  if quiet or not core.is_terminal(2) then return nil end
  local last, name = -math.huge, ""
  local function line(text)
    io.stderr:write("\r\27[K", text)
    io.stderr:flush()
  end
  return {
    phase = function(given)
      name = given
      line(("tune  %s"):format(name))
    end,
    tick = function(share, best, now)
      if core.clock() - last < EVERY then return end
      last = core.clock()
      local full = math.floor(math.min(1, share) * WIDTH)
      line(("tune  %s  [%s%s] %3d %%  %s: %s, now %s"):format(name, ("="):rep(full), (" "):rep(WIDTH - full), math.floor(share * 100),
        first.name, objective.text(first, best), objective.text(first, now)))
    end,
    done = function() io.stderr:write "\r\27[K" end,
  }
end

-- ---- output -------------------------------------------------------------------------------------------------

local function write_report(dir, report)
  out.check(files.write(dir .. "/tune.json", core.json_encode(report, { sort = true }) .. "\n"))
  out.check(findings.write(dir, said.page(report)))
end

local function show(opts, report)
  if opts.json then return out.json(report) end
  for _, sentence in ipairs(said.sentences(report)) do out.line(sentence) end
  out.line ""
  out.table(said.rows(report), { [3] = true, [4] = true, [5] = true, [6] = true })
  out.line ""
  local rows = said.option_rows(report)
  for _, row in ipairs(rows) do row[7] = nil end
  out.table(rows, { [5] = true })
  if not opts.quiet then out.line("\n" .. said.note(report)) end
  out.line("\n" .. said.paste(report.found[1]))
end

local function check_outputs(opts, path)
  local read = { path, opts.resources, opts.policy or false, opts.queue and opts.queue:match "^[^:]*" or false }
  for _, name in ipairs { "tune.json", "index.html" } do
    inputs.check_output(opts.report and opts.report .. "/" .. name, "tune: --report", read)
  end
end

function M.run(opts)
  local path = opts[1]
  if opts.resources == "" then out.fail(2, '-r: "" names no machine') end
  if not path then out.fail(2, "tune: expected a TRACE; see weir tune --help") end
  if opts[2] then out.fail(2, 'tune: "%s" is one TRACE too many', opts[2]) end
  local objectives, wrong = objective.read(opts.minimise or "mean_wait")
  if not objectives then out.fail(2, "tune: --minimise: %s", wrong) end
  if path ~= "-" and not files.exists(path) then out.fail(2, "tune: %s: there is no such file", path) end
  check_outputs(opts, path)
  local _ <close> = opts.report and out.check(data.make(opts.report)) -- fails before a long search
  local bar = progress(opts.quiet, objectives[1])
  local graph = opts.granularity and out.check(weir.resources(opts.resources)) or opts.resources
  local report, why, code = tune.run {
    resources = graph, granularity = inputs.granularity(opts, graph), trace = path, map = opts.map, format = opts.format,
    overrun = opts.overrun, tau = opts.tau,
    policy = opts.policy or "low", queue = opts.queue or "easy", objectives = objectives, budget = opts.budget or 100, vary = opts.vary,
    train = opts.train, seed = opts.seed, workers = opts.workers, search = opts.search, progress = bar and bar.tick,
    keep_going = opts["keep-going"],
    phase = bar and bar.phase,
  }
  if bar then bar.done() end
  if not report then out.fail(code == "failed" and 1 or 2, "tune: %s", why) end
  if opts.report then write_report(opts.report, report) end
  show(opts, report)
  return report.interrupted and 130 or 0
end

return M
