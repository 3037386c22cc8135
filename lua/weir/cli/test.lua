--- weir test: runs scenarios with busted.

local core = require "weir.core"
local files = require "weir.files"
local out = require "weir.cli.output"
local queue_policy = require "weir.sim.queue_policy"
local weir = require "weir"

local M = {
  name = "test",
  doc = "Run scenarios: scripted tests of what must happen on a machine.",
  usage = "[OPTION...] [SCENARIO.lua | DIRECTORY]...",
  options = {
    { "f", "filter", "PATTERN", "only scenarios whose name matches this Lua pattern", many = true },
    { nil, "filter-out", "PATTERN", "not those whose name matches this Lua pattern", many = true },
    { "l", "list", nil, "print the names and run nothing" },
    { nil, "json", nil, "as JSON" },
    { nil, "tap", nil, "in the Test Anything Protocol" },
    { "o", "output", "HANDLER", "any other output handler of busted: junit, gtest, plainTerminal, ..." },
    { "r", "resources", "RESOURCES", "the machine of scenarios that name none" },
    { "p", "policy", "POLICY", "the placement policy of scenarios that name none" },
    { "q", "queue", "QUEUE", "the queue policy of scenarios that name none" },
    { nil, "granularity", "TYPE", "for scenarios that name none: jobs get whole vertices of this type, such as rack; or HIERARCHY:TYPE, or "
      .. "HIERARCHY, in which jobs are searched for" },
    { nil, "random", "COUNT", "run this many random scenarios instead, and print the first that fails as a file to run", kind = "some",
      max = 1000000000 },
    { nil, "seed", "NUMBER", "random: the first seed; 1 if not given", kind = "count" },
    { nil, "steps", "COUNT", "random: the length of each; 30 if not given", kind = "count", max = 100000 },
    { nil, "calm", nil, "random: no failures, no nodes that go down, no overruns" },
    { nil, "assert", "LINE", "random: a line of Lua that must hold at the end of the scenario s: 'assert.kept_promises()'", many = true },
  },
  notes = [[
Without arguments, the scenarios in spec/scenarios or scenarios of the current directory. Of a directory, every *.lua is run. A scenario is
a busted spec that begins with local scenario = require "weir.scenario"; busted runs it, too.

  weir test -f backfill spec/scenarios
  weir test --random 100 --calm -q conservative --assert 'assert.kept_promises()'

Exit status: 0 all pass, 1 some fail, 2 wrong usage, a file that cannot be read, or busted is missing.]],
}

local RANDOM_ONLY = { "seed", "steps", "calm", "assert" }
local BUSTED_ONLY = { "filter", "filter-out", "list", "json", "tap", "output" }

local function check_options(opts)
  for _, name in ipairs(opts.random and BUSTED_ONLY or RANDOM_ONLY) do
    if opts[name] then out.fail(2, "test: --%s is %s --random", name, opts.random and "not for" or "for") end
  end
  if opts.random and opts[1] then out.fail(2, 'test: --random makes its own scenarios; "%s" is one too many', opts[1]) end
  if opts.json and opts.tap or opts.output and (opts.json or opts.tap) then
    out.fail(2, "test: one of --json, --tap and --output will do")
  end
end

-- ---- which files --------------------------------------------------------------------------------------------

local function in_directory(path)
  local list = {}
  local pipe = assert(io.popen("find -L " .. files.quoted(path:gsub("^%-", "./-")) .. " -name '*.lua' -type f 2>/dev/null | LC_ALL=C sort"))
  for file in pipe:lines() do list[#list + 1] = file end
  pipe:close()
  return list
end

local DEFAULTS = { "spec/scenarios", "scenarios" }

local function default_directory()
  for _, path in ipairs(DEFAULTS) do
    if files.is_directory(path) then return path end
  end
  out.fail(2, "test: there is no %s here; which SCENARIO.lua?", table.concat(DEFAULTS, " and no "))
end

-- Fails if a file has a comma in the name (a separator for busted), has another ending than .lua (busted would run nothing of
-- it), or does not compile.
local function check_file(path)
  if path:find(",", 1, true) then out.fail(2, "test: %s: busted takes no file with a comma in its name", path) end
  local text = out.check(files.read(path, "script")):gsub("^#[^\n]*", "")
  if not path:find "%.lua$" then out.fail(2, "test: %s: the name of a scenario ends in .lua; of other files nothing is run", path) end
  out.check(load(text, "@" .. path, "t"))
end

local function all_files(opts)
  local list = {}
  for i = 1, math.max(#opts, 1) do
    local path = opts[i] or default_directory()
    local found = files.is_directory(path) and in_directory(path) or { path }
    if #found == 0 then out.fail(2, "test: there is no *.lua in %s", path) end
    table.move(found, 1, #found, #list + 1, list)
  end
  for _, path in ipairs(list) do check_file(path) end
  return list
end

-- ---- running busted -----------------------------------------------------------------------------------------

local function words_for(opts, list)
  local config = assert(package.searchpath("weir.cli.test_busted", package.path))
  local words = { [0] = "weir test", "--config-file=" .. config, "--no-shuffle", "--lpath=", "--cpath=" }
  local function add(...) table.move({ ... }, 1, select("#", ...), #words + 1, words) end
  local handler = opts.json and "json" or opts.tap and "TAP" or opts.output
  if handler then add("--output", handler) end
  if opts.list then add "--list" end
  for _, name in ipairs { "filter", "filter-out" } do
    for _, pattern in ipairs(opts[name] or {}) do add("--" .. name .. "=" .. pattern) end
  end
  table.move(list, 1, #list, #words + 1, words)
  return words
end

-- Runs f, which calls busted. busted and its libraries take every error, also an interrupt, for a failed test or a missing
-- module, so an interrupt is guarded, and raised again. Returns the results of pcall.
local function guarded(f)
  local done, result = core.guarded(f)
  if not done and result == "interrupted" then error(result, 0) end
  return done, result
end

-- Returns a function that runs busted and returns the exit status. busted leaves by os.exit, replaced here by an
-- error with the status.
local function runner()
  if not package.searchpath("busted.runner", package.path) then
    out.fail(2, "test: busted is not installed for Lua 5.4 (Debian: lua-busted); scenarios need it")
  end
  local Exit = {}
  local there, run = guarded(function()
    require("busted.compatibility").exit = function(code) error(setmetatable({ code = code }, Exit), 0) end
    return require "busted.runner"
  end)
  if not there then out.fail(2, "test: busted cannot be loaded: %s", run) end
  return function(words)
    rawset(_G, "arg", words)
    local done, raised = guarded(function() run { standalone = false } end)
    if done then return 0 end
    if getmetatable(raised) ~= Exit then error(raised, 0) end
    return raised.code == 0 and 0 or 1
  end
end

-- Sets the defaults of scenarios. Modules loaded before busted begins are shared by all files.
local function prepare(opts)
  local scenario = require "weir.scenario"
  for option, name in pairs { resources = "machine", policy = "policy", queue = "queue", granularity = "granularity" } do
    scenario.defaults[name] = opts[option] or scenario.defaults[name]
  end
  return scenario
end

-- Fails if a machine, policy, queue or output handler of the command line does not exist, even if no scenario uses
-- the name.
local function check_names(opts)
  if opts.resources then out.check(weir.resources(opts.resources)) end
  if opts.policy then out.check(weir.policy(opts.policy)) end
  if opts.queue then out.check(queue_policy.open(opts.queue, function() end)) end
  local handler = opts.output
  if handler and not handler:find "%.lua$" and not package.searchpath("busted.outputHandlers." .. handler, package.path) then
    out.fail(2, 'test: busted has no output handler "%s"', handler)
  end
end

function M.run(opts)
  check_options(opts)
  local list = not opts.random and all_files(opts)
  local run = runner()
  check_names(opts)
  prepare(opts)
  if opts.random then return require("weir.cli.test_random")(opts) end
  return run(words_for(opts, list))
end

return M
