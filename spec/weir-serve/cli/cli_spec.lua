-- The command line: the output, the failures and the exit status of each command.
local weir = require "weir"
local figures = require "spec.support.figures"
local tables = require "weir.tables"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local MACHINE = "cluster:1 rack:2 node:4 core:8 memory:2(size=16,unit=GB)"
local SLURM = "spec/data/slurm/"

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function slurp(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local temporary = {}

-- A file with the given text, removed at the end.
local function write_file(text, extension)
  local path = os.tmpname()
  temporary[#temporary + 1] = path
  if extension then
    path = path .. extension
    temporary[#temporary + 1] = path
  end
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
  return path
end

-- A directory with a policy in it; returns the directory and the name of the policy.
local function write_policy(text)
  local dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir " .. quote(dir)))
  local file <close> = assert(io.open(dir .. "/mine.lua", "w"))
  file:write(text)
  temporary[#temporary + 1] = dir .. "/mine.lua"
  temporary[#temporary + 1] = dir
  return dir, "mine"
end

-- Runs weir with words; returns the output and the status. opts: stdin (a text), before (shell text in front).
local function run(words, opts)
  opts = opts or {}
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = quote(word) end
  local stdout, stderr = os.tmpname(), os.tmpname()
  local stdin = opts.stdin and write_file(opts.stdin) or "/dev/null"
  local _, how, status = os.execute(("%s %s %s <%s >%s 2>%s"):format(opts.before or "", quote(BIN),
    table.concat(quoted, " "), stdin, opts.stdout or stdout, stderr))
  local result = { out = slurp(stdout), err = slurp(stderr), status = how == "exit" and status or -status }
  os.remove(stdout)
  os.remove(stderr)
  return result
end

local function match(...) return run { "match", "-r", MACHINE, ... } end

local function assert_line(text)
  assert.matches("^weir: [^\n]+\n$", text)
  assert.is_nil(text:find("traceback", 1, true))
end

local JOBSPEC = [[
version: 9999
resources:
  - type: slot
    count: 2
    label: task
    with: [{type: node, count: 1}]
tasks: [{command: [a], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 60}}
]]

local POLICY = 'return { name = "last", doc = "The last first.", order = "-id" }'

describe("weir", function()
  teardown(function()
    for _, path in ipairs(temporary) do os.remove(path) end
  end)

  -- {words, pattern of the output}
  local PRINTS = {
    { { "--version" }, "^weir " .. weir.version:gsub("%.", "%%.") .. "\n$" },
    { { "--help" }, "usage: weir COMMAND.*match.*show.*find.*run.*policy" },
    { { "help", "match" }, "usage: weir match" },
    { { "match", "--help" }, "%-r, %-%-resources RESOURCES.*%-%-stats.*JOB" },
    { { "show", "-h" }, "usage: weir show.*%-%-totals" },
    { { "find", "--help" }, "EXPRESSION.*property=KEY" },
    { { "run", "--help" }, "SCRIPT.lua" },
    { { "policy", "--help" }, "WEIR_POLICY_PATH" },
  }

  for _, case in ipairs(PRINTS) do
    it("prints for " .. table.concat(case[1], " "), function()
      local r = run(case[1])
      assert.equal("", r.err)
      assert.equal(0, r.status)
      assert.matches(case[2], r.out)
    end)
  end

  -- {queue, part of the line on stderr}
  for _, case in ipairs {
    { "gpu", 'a match uses only the jobspec: the constraint {"properties": ["gpu"]} keeps to the nodes of queue gpu' },
    { "gp", 'the machine has no queue gp (did you mean "gpu"?); there is all, batch, debug' },
  } do
    it("says of --about queue=" .. case[1] .. " that a match does not keep to it", function()
      local r = run { "match", "-r", SLURM .. "slurm.conf", "--about", "queue=" .. case[1], "slot=1/node" }
      assert.equal(0, r.status)
      assert.matches(case[2], r.err, 1, true)
    end)
  end

  it("prints the overview of commands where no command is given", function()
    local r = run {}
    assert.equal(0, r.status)
    assert.equal(run { "--help" }.out, r.out)
  end)

  for _, machine in ipairs { "local", "node:4 core:8" } do
    it("shows a machine given without -r: " .. machine, function()
      local r = run { "show", machine, "--totals" }
      assert.equal(0, r.status)
      assert.equal(run { "show", "-r", machine, "--totals" }.out, r.out)
    end)
  end

  -- {words, part of the line on stderr, exit status where it is not 2}
  local WRONG = {
    { { "mach" }, 'unknown command "mach" (did you mean "match"?)' },
    { { "find", "-r", MACHINE, "partition=gpu" }, "property=NAME finds the nodes of a partition" },
    { { "find", "-r", MACHINE, "node3" }, "in: node3; name=node3 finds a vertex by its name" },
    { { "match", "-r", MACHINE, "--about", "partition=gpu", "slot=1/node" }, "--about: there is no 'partition': it is queue here" },
    { { "tune", "-r", SLURM .. "slurm.conf", SLURM .. "sacct.txt", "--budget", "3" }, "as -q priority and -p weighted have" },
    { { "match", "-r", MACHINE, "-p", "easy", "slot=1/node" }, 'no policy "easy": it is a queue policy, which says when' },
    { { "replay", "-r", "core:4", "--generate", "9", "-q", "low" }, '"low" is a placement policy, which says where jobs start' },
    { { "policy", "check", "--queue", "easy" }, "it detects the kind of a policy; --queue is not needed" },
    { { "policy", "low" }, "low.lua: weir policy check low tries it" },
    { { "submit", "slot=1/node" }, 'unknown command "submit": weir match -r MACHINE slot=1/node places a job, with -m reserve' },
    { { "match", "-r", MACHINE, "--reserve", "slot=1/node" }, "unknown option --reserve: -m reserve is meant" },
    { { "match", "-r", MACHINE, "slot=1/nod" }, 'never be met on these resources: there is no "nod" here (did you mean "node"?)', 1 },
    { { "match", "-r", MACHINE, "nod" }, 'there is no "nod" here, and no file of that name (did you mean "node"?)', 1 },
    { { "find", "-r", MACHINE, "type=nod" }, 'no vertex matches type=nod (did you mean "node"?); the types here are', 1 },
    { { "show", "-r", MACHINE, "core0" }, "'core0' names 8 vertices, /cluster0/rack0/node0/core0," },
    { { "explain", "-r", MACHINE, "--down", "nod3", "slot=1/node" }, 'there is no "nod3" on this machine (did you mean "node3"?)' },
    { { "try" }, "try is a command of a service: weir -s SOCKET try" },
    { { "--versoin" }, 'did you mean "--version"' },
    { { "match", "-r", MACHINE }, "JOB is missing" },
    { { "match", "slot=1/node" }, "-r RESOURCES is missing" },
    { { "match", "-r" }, "--resources needs an argument" },
    { { "match", "--resorces=x", "a" }, 'unknown option --resorces (did you mean "--resources"?)' },
    { { "match", "-z", "a" }, "unknown option -z" },
    { { "match", "-r", MACHINE, "--duration", "2w", "slot=1/node" },
      '--duration: expected a number of seconds, or with a unit, as in 90m, 1.5h or 2d, not "2w"' },
    { { "match", "-r", MACHINE, "-m", "reserv", "slot=1/node" }, '"reserv" is none of now, reserve' },
    { { "match", "-r", MACHINE, "-F", "rv2", "slot=1/node" }, '"rv2" is none of tree, rv1' },
    { { "match", "-r", MACHINE, "--at", "soon", "slot=1/node" }, '--at: expected a number' },
    { { "match", "-r", MACHINE, "--at=-1", "slot=1/node" }, '--at: expected a number' },
    { { "match", "-r", MACHINE, "--at", "1e300", "slot=1/node" }, '--at: expected a number of seconds' },
    { { "match", "-r", "", "slot=1/node" }, 'names no machine' },
    { { "policy" }, "ACTION is missing" },
    { { "match", "-r", MACHINE, "--quiet=1", "slot=1/node" }, "--quiet takes no argument" },
    { { "match", "-r", MACHINE, "--json", "-F", "rv1", "slot=1/node" }, "cannot be combined" },
    { { "match", "-r", MACHINE, "--stage", "9", "-m", "preview", "slot=1/node" }, "--stage: expected seconds above 0" },
    { { "match", "-r", MACHINE, "-S", "powr", "slot=1/node" }, "weir: there is no hierarchy 'powr' here; there is containment\n" },
    { { "match", "-r", MACHINE, "-p", "lo", "slot=1/node" }, 'no policy "lo" (did you mean "low"?)' },
    { { "match", "-r", MACHINE, "-S", "containment:nod", "slot=1/node" }, "there is no type 'nod' here (did you mean \"node\"?)" },
    { { "match", "-r", MACHINE, "-p", "lwo", "slot=1/node" }, 'no policy "lwo" (did you mean "low"?)' },
    { { "match", "-r", MACHINE, "-p", "/no/such.lua", "slot=1/node" }, "/no/such.lua" },
    { { "match", "-r", MACHINE, "no/such.yaml" }, "no/such.yaml: cannot open: No such file" },
    { { "match", "-r", MACHINE, "slot=1" }, "slot=1" },
    { { "match", "-r", MACHINE, "slot=0/node" }, "slot=0/node:1:6: " },
    { { "match", "-r", MACHINE, "slot=-1/node" }, "slot=-1/node:1:6: " },
    { { "match", "-r", MACHINE, "slot=9223372036854775808/node" }, "slot=9223372036854775808/node:1:6: " },
    { { "match", "-r", MACHINE, "" }, "JOB" },
    { { "match", "-r", MACHINE, "-", "-" }, "given twice" },
    { { "match", "-r", "/no/such.json", "slot=1/node" }, "/no/such.json: cannot open: No such file" },
    { { "match", "-r", "node:x", "slot=1/node" }, "count" },
    { { "show", "-r", "/" }, "directory" },
    { { "show", "-r", MACHINE, "/cluster0/rack9" }, "rack9" },
    { { "show", "-r", MACHINE, "power:/cluster0" }, "power" },
    { { "show", "-r", MACHINE, "--tree", "--totals" }, "--tree and --totals" },
    { { "show", "-r", MACHINE, "--dot", "--json" }, "not for --dot" },
    { { "show", "-r", MACHINE, "--svg", "/cluster0/rack9" }, "rack9" },
    { { "show", "-r", MACHINE, "--svg", "--csv" }, "--svg and --csv cannot be combined" },
    { { "show", "-r", MACHINE, "--svg", "--colour", "mood" }, 'colours by "mood": expected one of use, state, type, property:KEY' },
    { { "show", "-r", MACHINE, "--svg", "--colour", "tag:" }, 'colours by "tag:"' },
    { { "show", "-r", MACHINE, "--svg", "--width", "5" }, "a width of 5: expected 320 to 8000" },
    { { "show", "-r", MACHINE, "--csv", "--colour", "use" }, "--colour is for --svg and --html" },
    { { "show", "-r", MACHINE, "--svg", "--by", "node" }, "--by is for --timeline" },
    { { "show", "-r", MACHINE, "--timeline", "--by", "disk" }, 'there is no type "disk" here; there is' },
    { { "show", "-r", MACHINE, "--html", "--width", "900" }, "--width is for --svg and --timeline" },
    { { "show", "-r", MACHINE, "--timeline", "--width", "90" }, "a width of 90: expected 320 to 8000" },
    { { "show", "-r", MACHINE, "--html", "--colour", "property:x" }, "no vertex has the property x" },
    { { "show", "-r", MACHINE, "--html", "--timeline" }, "--html and --timeline cannot be combined" },
    { { "show", "-r", MACHINE, "--dot", "--width", "900" }, "--width is for --svg" },
    { { "show", "-r", MACHINE, "-o", "x" }, "--output is for --dot, --svg, --html, --timeline and --csv" },
    { { "show", "-r", MACHINE, "--csv", "-d", "2" }, "--depth is for trees, not for --csv" },
    { { "show", "-r", MACHINE, "--svg", "-o", "/nonexistent/x.svg" }, "/nonexistent/x.svg" },
    { { "show", "-r", MACHINE, "--depth", "0" }, "--depth" },
    { { "show", "-r", MACHINE, "--full" }, "--full shows one pool: expected its URI" },
    { { "show", "-r", MACHINE, "--full", "--totals", "/cluster0" }, "--totals and --full" },
    { { "show", "-r", MACHINE, "-S", "power" }, 'no subsystem "power" here; there is containment' },
    { { "show", "-r", MACHINE, "-S", "containment", "--totals" }, "-S containment is for trees" },
    { { "show", "-r", MACHINE, "-j", "slot=0/node" }, "slot=0/node:1:6: " },
    { { "find", "-r", MACHINE, "--graph", "svg", "type=node" }, '"svg" is none of tree, jgf, dot' },
    { { "find", "-r", MACHINE, "--graph", "dot", "-F", "json", "type=node" }, "cannot be combined" },
    { { "find", "-r", MACHINE, "--start", "/cluster0/rack9", "type=node" }, "rack9" },
    { { "show", "-r", MACHINE, "--depth", "x" }, "--depth: expected a whole number" },
    { { "show", "-r", MACHINE, "/a", "/b" }, "one URI too many" },
    { { "find", "-r", MACHINE }, "EXPRESSION is missing" },
    { { "find", "-r", MACHINE, "typ=node" }, 'column 1: unknown field "typ"' },
    { { "find", "-r", MACHINE, "-F", "xml", "type=node" }, '"xml" is none of' },
    { { "run" }, "SCRIPT.lua is missing" },
    { { "run", "/no/such.lua" }, "/no/such.lua: cannot open: No such file" },
    { { "run", "/" }, "directory" },
    { { "policy", "lits" }, 'did you mean "list"' },
    { { "policy", "bench", "low", "-n", "0" }, "--rounds: expected a whole number from 1 to 1000000" },
    { { "match", "-r", "-", "-" }, "- is given twice: there is one standard input" },
    { { "explain", "-r", "-", "-" }, "- is given twice" },
    { { "explain", "-r", "-", "-j", "-", "slot=1/node" }, "- is given twice" },
    { { "explain", "-r", MACHINE, "--job-policy", "lwo", "slot=1/node" }, 'no policy "lwo"' },
    { { "explain", "-r", MACHINE, "--constraint", '{"foo":["a"]}', "slot=1/node" },
      'slot=1/node: constraint: attributes.system.constraints: unknown constraint operator "foo"' },
    { { "show", "-r", MACHINE, "-p", "lwo" }, 'no policy "lwo"' },
    { { "show", "-r", MACHINE, "--reserve" }, "--reserve is for -j" },
    { { "show", "nope.xml" }, "show: nope.xml: there is no such file" },
    { { "convert", MACHINE, "" }, 'convert: "" is no OUT' },
    { { "convert", "/", "x.json" }, "/: is a directory, expected a file" },
    { { "replay", "-r", "core:4", "nope.swf.gz", "--compare", "easy fcfs" }, "nope.swf.gz: there is no such file" },
    { { "replay", "-r", "rack:4", "--generate", "5" }, "the machine has no core" },
    { { "hepl" }, 'did you mean "help"' },
    { { "test", "README.md" }, "README.md: the name of a scenario ends in .lua" },
    { { "test", "--random", "0" }, "--random: expected a whole number from 1 to 1000000000" },
    { { "replay", "-r", "core:4", "--generate", "0" }, "--generate: expected a whole number from 1 to 10000000" },
    { { "replay", "-r", "core:4", "--generate", "9", "--largest", "0" }, "--largest: expected a whole number from 1 to 1000000000" },
    { { "replay", "-r", "core:4", "--load", "0.5", "/dev/null" }, "--load is for --generate" },
    { { "replay", "-r", "core:4", "--generate", "9", "--map", "disk" }, 'there is no "disk" in the machine' },
    { { "replay", "-r", "core:4", "--map", "slot=N/disk", "/dev/null" }, 'replay: --map slot=N/disk: there is no "disk" in the machine' },
    { { "replay", "-r", "core:4", "/dev/null" }, "/dev/null: is empty, expected a trace" },
    { { "replay", "-r", "core:4", "--generate", "9", "--jobs", "/no/such.csv" }, "/no/such.csv: cannot be written: No such file" },
    { { "replay", "-r", "core:4", "--generate", "9", "--report", "/dev/null/x" }, "/dev/null/x: the directory cannot be made: Not a dir" },
    { { "top", "-s", "/no/socket", "-i", "0" }, "--interval: expected a number from 0.01 to 86400" },
    { { "top", "-s", "/no/socket", "-n", "0" }, "--count: expected a whole number from 1 to 1000000000" },
    { { "replay", "-r", "core:4", "--generate", "99999999999" },
      '--generate: expected a whole number from 1 to 10000000, not "99999999999"' },
    { { "replay", "-r", "core:4", "--generate", "99999999999999999999" }, "--generate: expected a whole number from 1 to 10000000" },
    { { "replay", "-r", "core:4", "--generate", "9", "--largest", "1000000001" }, "--largest: expected a whole number from 1" },
    { { "replay", "-r", "core:4", "--generate", "9", "--load", "1e-9" }, "--load: expected a number from 0.001 to 1000" },
    { { "replay", "-r", "core:4", "--generate", "9", "--load", "nan" }, "--load: expected a number from 0.001 to 1000" },
    { { "replay", "-r", "core:4", "--generate", "9", "--speed", "1e300" }, "--speed: expected a number from 1e-06 to 1e+06" },
    { { "replay", "-r", "core:4", "--generate", "9", "--until", "1e300" }, "--until: expected a number of seconds from 0 to 9e12" },
    { { "policy", "bench", "low", "-n", "1000001" }, "--rounds: expected a whole number from 1 to 1000000" },
    { { "test", "--random", "5", "--steps", "100001" }, "--steps: expected a whole number from 0 to 100000" },
    { { "top", "-s", "/no/socket", "-i", "1e300" }, "--interval: expected a number from 0.01 to 86400" },
  }

  for _, case in ipairs(WRONG) do
    it("refuses: weir " .. table.concat(case[1], " "), function()
      local r = run(case[1])
      assert.equal("", r.out)
      assert_line(r.err)
      assert.matches(case[2], r.err, 1, true)
      assert.equal(case[3] or 2, r.status)
    end)
  end

  -- Files that are not machines.
  local BAD_MACHINES = {
    { "is empty", "" }, { "is blank", " \n\n" }, { "is truncated JSON", '{"graph": {"nodes": [{"id": "0"' },
    { "is truncated XML", '<?xml version="1.0"?>\n<graphml><graph id="a"' }, { "is binary", ("\0\1\2\255"):rep(100) },
    { "is some other JSON", '{"a": 1}' }, { "is a list", "[1,2]" },
    { "has a name with a newline", 'cluster:1 node:1(basename=a\nb)' },
    { "has a name of 100,000 characters", "cluster:1 " .. ("n"):rep(100000) .. ":1" },
  }

  for _, case in ipairs(BAD_MACHINES) do
    it("refuses a machine that " .. case[1], function()
      local path = write_file(case[2])
      local r = run { "show", "-r", path }
      assert.equal("", r.out)
      assert_line(r.err)
      assert.matches(path, r.err, 1, true)
      assert.is_true(#r.err < 1100)
      assert.equal(2, r.status)
    end)
  end

  -- Files that are not jobs.
  local BAD_JOBS = {
    { "is empty", "" }, { "is truncated JSON", '{"version": 1, "resources": [' }, { "is truncated YAML", "resources: [a, {b: " },
    { "has no resources", "version: 1\ntasks: []\n" }, { "has an unknown key", (JOBSPEC:gsub("count: 2", "count: 2\n    colour: red")) },
    { "has a slot without children", JOBSPEC:gsub(" *with:[^\n]*\n", "") }, { "is binary", ("\0\1\2\255"):rep(50) },
    { "has a count of 0", (JOBSPEC:gsub("count: 2", "count: 0")) },
    { "has a count of 2^63", (JOBSPEC:gsub("count: 2", "count: 9223372036854775808")) },
  }

  for _, case in ipairs(BAD_JOBS) do
    it("refuses a job that " .. case[1] .. ", and matches nothing", function()
      local path = write_file(case[2])
      local r = match("slot=1/node", path)
      assert.equal("", r.out)
      assert_line(r.err)
      assert.matches(path, r.err, 1, true)
      assert.equal(2, r.status)
    end)
  end

  -- Files that are not policies.
  local BAD_POLICIES = {
    { "is empty", "", nil }, { "has a syntax error", "return {", nil }, { "raises", 'error "oops"', "oops" },
    { "returns no table", "return 7", nil }, { "has an unknown field", "return { odrer = 'id' }", "odrer" },
    { "has a field of the wrong type", "return { prune = 7 }", "prune" },
    { "raises in a hook", "return { evaluate = function() error 'hook' end }", "hook" },
    { "never ends", "return { evaluate = function() while true do end end }", nil },
  }

  for _, case in ipairs(BAD_POLICIES) do
    it("[K2] refuses a policy that " .. case[1], function()
      local path = write_file(case[2], ".lua")
      local r = match("-p", path, "slot=1/node")
      assert.equal("", r.out)
      assert_line(r.err)
      assert.matches(case[3] or path, r.err, 1, true)
      assert.equal(2, r.status)
    end)
  end
end)

describe("a command", function()
  -- The byte order mark that some editors write: kind of file, the words before the file, the words after.
  for _, case in ipairs {
    { "a policy", POLICY, { "match", "-r", MACHINE, "-p" }, { "slot=1/node" } },
    { "a script", "print(1)", { "run" }, {} },
    { "a jobspec", "slot=1/node", { "match", "-r", MACHINE }, {} },
    { "a machine", '{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-3"}}]}}', { "show", "-r" }, {} },
    { "a recipe", 'return { type = "node" }', { "show", "-r" }, {} },
    { "settings", '{"queues":{"a":{"requires":[]}}}', { "list", "-q", "a", "-c" }, { MACHINE } },
    { "a trace", "submit,runtime,procs\n0,5,1\n", { "replay", "--quiet", "-r", "core:2", "--malformed", "stop" }, {} },
    { "a trace of jobspecs", '{"submit":0,"runtime":5,"jobspec":"slot=1/core"}\n', { "replay", "--quiet", "-r", "core:2" }, {} },
  } do
    for _, ends in ipairs { "\n", "\r\n" } do
      it(("reads %s after a mark of UTF-8, lines ending in %q"):format(case[1], ends), function()
        local words = table.move(case[3], 1, #case[3], 1, {})
        words[#words + 1] = write_file("\xEF\xBB\xBF" .. case[2]:gsub("\n", ends) .. ends, case[2]:find "^return" and ".lua" or ".x")
        local r = run(table.move(case[4], 1, #case[4], #words + 1, words))
        assert.same({ "", 0 }, { r.err, r.status })
      end)
    end
  end
end)

describe("weir match", function()
  it("[A2] prints the tree of each job, one after the other on the same books", function()
    local r = match("slot=1/node", "slot=1/node{-x}/core=4")
    assert.equal("", r.err)
    assert.equal([[
job 1: slot=1/node  allocated  start 0 s  no end
cluster0
`-- rack0
    `-- node0  whole: 8 core, 32 memory
job 2: slot=1/node{-x}/core=4  allocated  start 0 s  no end
cluster0
`-- rack0
    `-- node1
        `-- core[0-3]
]], r.out)
    assert.equal(0, r.status)
  end)

  it("reads jobspecs from files and from standard input", function()
    local path = write_file(JOBSPEC, ".yaml")
    local r = run({ "match", "-r", MACHINE, path, "-" }, { stdin = JOBSPEC })
    assert.equal("", r.err)
    assert.matches("job 1: " .. path:gsub("%p", "%%%0") .. "  allocated  start 0 s  for 60 s\n.*node%[0%-1%]", r.out)
    assert.matches("job 2: %-  allocated.*node%[2%-3%]", r.out)
  end)

  it("[P13] shows amounts of pools in their units", function()
    local r = match "slot=1/node{-x}/[core=1;memory=8{unit:GB}]"
    assert.equal("", r.err)
    assert.matches("memory0  8 of 16 GB", r.out)
  end)

  it("says which jobs do not fit, and matches the others", function()
    local r = match("slot=8/node", "slot=1/node", "slot=1/quantum=1", "slot=9/node")
    assert.equal(1, r.status)
    assert.matches("^job 1: slot=8/node", r.out)
    assert.is_nil(r.out:find("job 2", 1, true))
    local lines = {}
    for line in r.err:gmatch "[^\n]+" do lines[#lines + 1] = line end
    assert.equal(3, #lines)
    assert.matches("weir: slot=1/node: ", lines[1], 1, true)
    assert.matches("weir: slot=1/quantum=1: .*no \"quantum\" here", lines[2])
    assert.matches("weir: slot=9/node: ", lines[3], 1, true)
  end)

  it("takes a machine as the first operand of each command, too", function()
    local file = write_file(weir.synthetic(MACHINE):format "jgf", ".json")
    for _, machine in ipairs { file, MACHINE, "local" } do
      for _, words in ipairs { { "match", "slot=1/core" }, { "explain", "slot=1/core" }, { "find", "type=core and id=0" },
        { "replay", "--quiet", "--generate=5", "--json" }, { "show" }, { "list" } } do
        local plain, short = tables.copy(words), tables.copy(words)
        table.insert(plain, 2, "-r")
        table.insert(plain, 3, machine)
        if words[1] == "list" then table.remove(plain, 2) end
        table.insert(short, 2, machine)
        local wanted, found = run(plain), run(short)
        assert.same({ wanted.out, wanted.err, 0 }, { found.out, found.err, found.status }, table.concat(short, " "))
      end
    end
    assert.matches("JOB is missing", run({ "match", MACHINE }).err, 1, true)
  end)

  it("takes no other file for the machine", function()
    local job, trace = write_file(JOBSPEC, ".yaml"), write_file("; a trace\n", ".swf")
    assert.matches("match: -r RESOURCES is missing", run({ "match", job, "slot=1/node" }).err, 1, true)
    assert.matches("replay: -r RESOURCES is missing", run({ "replay", trace }).err, 1, true)
    assert.matches("find: -r RESOURCES is missing", run({ "find", "type=node" }).err, 1, true)
  end)

  it("replays in nodes on a machine without cores", function()
    local words = { "replay", "node:8", "--generate", "20", "--json", "--quiet" }
    local nodes = run(words)
    assert.equal(0, nodes.status, nodes.err)
    assert.equal(nodes.out, run(tables.append(words, { "--map", "node" })).out)
  end)

  it("takes durations from options and shapes", function()
    local hour = match("-m", "reserve", "--duration", "1h", "slot=8/node", "slot=1{duration:5}/node").out
    assert.matches("job 1: slot=8/node  allocated  start 0 s  for 3600 s", hour, 1, true)
    assert.matches("job 2: slot=1{duration:5}/node  reserved  start 3600 s  for 3600 s", hour, 1, true)
    assert.matches("reserved  start 90 s  no end", match("-m", "reserve", "slot=8{duration:1.5m}/node", "slot=1/node").out, 1, true)
    assert.matches("reserved  start 60 s  for 7200 s", match("-m", "reserve", write_file(JOBSPEC:gsub("count: 2", "count: 8"), ".yaml"),
      "slot=1{duration:2h}/node").out, 1, true)
    assert.matches("for 5 s", match("--duration", "5", write_file(JOBSPEC, ".yaml")).out, 1, true)
    assert.matches("no end", match("--duration", "0", write_file(JOBSPEC, ".yaml")).out, 1, true)
  end)

  it("says that a reservation fails because jobs have no end", function()
    local endless = "no start time can be predicted: jobs in the way have no end time"
    assert.equal(("weir: slot=1/node: %s (--duration gives jobs an end)\n"):format(endless),
      match("-m", "reserve", "slot=8/node", "slot=1/node").err)
    assert.equal(("weir: slot=1/node: %s\n"):format(endless),
      match("-m", "reserve", "--duration", "0", "slot=8/node", "slot=1/node").err)
    assert.equal("weir: slot=1/node: the resources that would do are in use, down or reserved\n", match("slot=8/node", "slot=1/node").err)
  end)

  it("explains when jobs of a duration have ended", function()
    assert.matches("Earliest start: 120 s, once job 2 has ended",
      run({ "explain", "-r", MACHINE, "-j", "slot=7/node", "-j", "slot=1{duration:2m}/node", "slot=1/node" }).out, 1, true)
  end)

  it("has a mode for every question", function()
    local full = write_file(JOBSPEC:gsub("count: 2", "count: 8"), ".yaml")
    assert.matches("job 2: slot=1/node  reserved  start 60 s", match("-m", "reserve", full, "slot=1/node").out)
    assert.equal(("%s: feasible\nslot=1/node: feasible\n"):format(full), match("-m", "feasible", full, "slot=1/node").out)
    local preview = match("-m", "preview", full, "slot=1/node")
    assert.equal(0, preview.status)
    assert.matches("preview: slot=1/node  matched.*node0  whole", preview.out)
    assert.equal(1, match("-m", "feasible", "slot=9/node").status)
  end)

  it("[A8] starts jobs at the time asked for", function()
    assert.matches("start 12%.5 s", match("--at", "12.5", "slot=1/node").out)
    assert.matches("start 3600 s", match("--at=3600", "slot=1/node").out)
  end)

  it("[K1] chooses by a policy from a file, a name, or the path of policies", function()
    local dir, name = write_policy(POLICY)
    assert.matches("node7", match("-p", dir .. "/mine.lua", "slot=1/node").out)
    assert.matches("node7", match("-p", "high", "slot=1/node").out)
    local r = run({ "match", "-r", MACHINE, "-p", name, "slot=1/node" }, { before = "WEIR_POLICY_PATH=/nowhere:" .. dir })
    assert.matches("node7", r.out)
  end)

  for _, format in ipairs { "rv1", "rv1_nosched", "rlite", "jgf" } do
    it(("-F %s prints one document a job and line"):format(format), function()
      local r = match("-F", format, "slot=1/node", "slot=1/core=2")
      assert.equal("", r.err)
      local n = 0
      for line in r.out:gmatch "[^\n]+" do
        assert.is_table(weir.json.decode(line))
        n = n + 1
      end
      assert.equal(2, n)
    end)
  end

  it("[R2] gives a R that loads again", function()
    local r = match("-F", "rv1", "slot=2/node")
    local path = write_file(r.out, ".json")
    local again = run { "show", "-r", path, "--totals", "--json" }
    assert.equal("", again.err)
    assert.equal(16, weir.json.decode(again.out).core.total)
  end)

  it("says so where a word names neither a type nor a file", function()
    local r = run { "match", "-r", MACHINE, "jobspec" }
    assert.equal('weir: jobspec: the request can never be met on these resources: there is no "jobspec" here, and no file of that name\n',
      r.err)
    assert.equal(1, r.status)
  end)

  it("--json prints what each job got, or why not", function()
    local r = match("--json", "--stats", "slot=1/core=2", "slot=9/node")
    local first, second = r.out:match "^([^\n]+)\n([^\n]+)\n$"
    local got, refused = weir.json.decode(first), weir.json.decode(second)
    assert.equal("slot=1/core=2", got.request)
    assert.equal("allocated", got.state)
    assert.equal(1, got.job)
    assert.equal(weir.null, got.duration)
    assert.equal("/cluster0/rack0/node0/core0", got.vertices[1].path)
    assert.is_true(got.stats.visited > 0)
    assert.equal("infeasible", refused.code)
    assert.equal(1, r.status)
  end)

  it("--stats tells what the search cost, apart from documents", function()
    assert.matches("\nstats: visited %d+", match("--stats", "slot=1/node").out)
    local r = match("--stats", "-F", "rlite", "slot=1/node")
    assert.matches("^stats: visited %d+", r.err)
    assert.is_table(weir.json.decode(r.out))
  end)

  it("--quiet only sets the status", function()
    assert.same({ out = "", err = "", status = 0 }, match("-q", "slot=1/node"))
    assert.equal(1, match("-q", "slot=9/node").status)
  end)
end)

describe("weir show", function()
  it("[G2] draws a machine as a tree, alike pools in one line", function()
    local r = run { "show", "-r", MACHINE }
    assert.equal("", r.err)
    assert.equal([[
cluster0
`-- rack[0-1]
    `-- 4 node
        |-- 8 core
        `-- 2 memory  16 GB each
]], r.out)
  end)

  it("[G1] starts at a vertex that a path or a URI names", function()
    local expected = "node5\n|-- core[0-7]\n`-- memory[0-1]  16 GB each\n"
    for _, uri in ipairs { "/cluster0/rack1/node5", "containment:/cluster0/rack1/node5" } do
      assert.equal(expected, run({ "show", "-r", MACHINE, uri }).out)
    end
  end)

  it("stops at a depth, and sums up what is below", function()
    local r = run { "show", "-r", MACHINE, "--depth", "2" }
    assert.equal("cluster0\n`-- rack[0-1]  each: 4 node, 32 core, 128 memory\n", r.out)
  end)

  it("keeps pools apart that differ", function()
    local r = run { "show", "-r", "cluster:1 [node:2[core:2] node:1[core:4 gpu:1] node:1(basename=login)]" }
    assert.equal("cluster0\n|-- node[0-1]\n|   `-- 2 core\n|-- node2\n|   |-- core[0-3]\n|   `-- gpu0\n`-- login0\n", r.out)
  end)

  it("cuts long lists of siblings, unless --all is given", function()
    local words = {}
    for i = 1, 50 do words[i] = ("node:1[core:%d]"):format(i) end
    local machine = "cluster:1 [" .. table.concat(words, " ") .. "]"
    assert.matches("`%-%- %.%.%. 10 more\n$", run({ "show", "-r", machine }).out)
    assert.matches("node49\n    `%-%- core%[0%-49%]\n$", run({ "show", "--all", "-r", machine }).out)
  end)

  it("[M9] --totals sums by type", function()
    local r = run { "show", "-r", MACHINE, "--totals" }
    assert.equal("", r.err)
    assert.matches("type +total +free +idle +unit\n", r.out)
    assert.matches("core +64 +64 +64\n", r.out)
    assert.matches("memory +256 +256 +256 +GB\n", r.out)
    assert.matches("core +8 +8 +8\n", run({ "show", "-r", MACHINE, "-t", "/cluster0/rack0/node0" }).out)
  end)

  it("--json gives the tree and the totals", function()
    local tree = weir.json.decode(run({ "show", "-r", MACHINE, "--json", "/cluster0/rack0" }).out)
    assert.equal("/cluster0/rack0", tree.path)
    assert.equal(4, #tree.children)
    assert.equal("GB", tree.children[4].children[10].unit)
    local totals = weir.json.decode(run({ "show", "-r", MACHINE, "--json", "--totals" }).out)
    assert.equal(64, totals.core.total)
    assert.equal(2, totals.rack.free)
  end)

  it("[M13] tells used and free of each pool, once jobs are on it", function()
    local r = run { "show", "-r", MACHINE, "-j", "slot=1/node", "-j", "slot=1/node{-x}/[core=3;memory=4]", "/cluster0/rack0" }
    assert.equal("", r.err)
    assert.equal([[
rack0
|-- node0  used
|   |-- core[0-7]  0 of 8 free
|   `-- memory[0-1]  0 of 32 GB free
|-- node1
|   |-- core[0-7]  5 of 8 free
|   `-- memory[0-1]  28 of 32 GB free
`-- node[2-3]
    |-- 8 core
    `-- 2 memory  16 GB each
]], r.out)
  end)

  it("a job that does not fit ends it with status 1", function()
    local r = run { "show", "-r", MACHINE, "--job", "slot=9/node" }
    assert.equal(1, r.status)
    assert_line(r.err)
  end)

  -- The figures of RFC 4, with a node that is down, as a file.
  local function write_figures()
    local f = figures.unified()
    f.node[3].state = "down"
    f.node[1].tags.owner, f.node[1].properties.bigmem, f.node[1].data.note = "ops", true, { 1, 2 }
    local path = write_file(assert(f.graph:format "jgf"), ".json")
    f.graph:close()
    return path
  end

  it("[G6] -S draws the tree of another hierarchy", function()
    local path = write_figures()
    local expected = [[
PFS1  16 GB/s
|-- core_switch1  8 GB/s
|   |-- edge_switch1  4 GB/s
|   |   `-- node[0-1]
|   `-- edge_switch2  4 GB/s
|       |-- node2  down
|       `-- node3
`-- core_switch2  8 GB/s
    `-- edge_switch[3-4]  4 GB/s each
        `-- 2 node
]]
    assert.equal(expected, run({ "show", "-r", path, "-S", "bandwidth" }).out)
    assert.equal(expected, run({ "show", "-r", path, "bandwidth:/PFS1" }).out)
    local tree = weir.json.decode(run({ "show", "-r", path, "-S", "power", "--json" }).out)
    assert.equal("/cluster0/node3", tree.children[1].children[4].path)
  end)

  it("[G8] -S shows what a job takes of each link", function()
    local r = run { "show", "-r", write_figures(), "-S", "bandwidth", "-j", "slot=1/node/[core=2;power=2;bandwidth=3]" }
    assert.matches("PFS1  13 of 16 GB/s free.*core_switch1  5 of 8 GB/s free.*edge_switch1  1 of 4 GB/s free", r.out)
  end)

  it("[G3] -S draws what several lead to below each of them", function()
    assert.equal("PFS1  16 GB/s\n`-- gateway[1-2]  8 GB/s each\n    `-- 8 disk  5600 of 6400 GB free\n",
      run({ "show", "-r", write_figures(), "-S", "storage" }).out)
  end)

  it("[G6] -S comes to an end in a hierarchy with a loop", function()
    local g <close> = assert(weir.synthetic "cluster:1 node:3")
    local a, b, c = g "/cluster0/node0", g "/cluster0/node1", g "/cluster0/node2"
    for _, pair in ipairs { { a, b }, { b, c }, { c, b } } do
      assert(g:add_edge(pair[1], pair[2], { subsystem = "ring", type = "next" }))
    end
    local path = write_file(assert(g:format "jgf"), ".json")
    assert.equal("node0\n`-- node1\n    `-- node2\n        `-- node1\n", run({ "show", "-r", path, "-S", "ring" }).out)
  end)

  it("[P11] --totals has a column for each state when not all is up", function()
    local path = write_figures()
    local r = run { "show", "-r", path, "--totals" }
    assert.equal("", r.err)
    assert.matches("type +total +free +idle +up +down +unit\n", r.out)
    assert.matches("core +32 +28 +28 +28 +4\n", r.out)
    assert.matches("pdu +12 +12 +12 +12 +0 +kW\n", r.out)
    local totals = weir.json.decode(run({ "show", "-r", path, "-t", "--json" }).out)
    assert.same({ up = 28, down = 4 }, totals.core.states)
  end)

  it("[P11] --totals counts a state from above the start", function()
    local r = run { "show", "-r", write_figures(), "--totals", "/cluster0/node2" }
    assert.matches("core +4 +0 +0 +4\n", r.out)
    assert.matches("idle +down +unit\n", r.out)
  end)

  it("--full tells everything about one pool", function()
    local r = run { "show", "-r", write_figures(), "--full", "/cluster0/node0" }
    assert.equal("", r.err)
    for _, line in ipairs { "^/cluster0/node0\n", "\n  type        node\n", "\n  uuid        %x+%-", "\n  state       up\n",
      "\n  rank        0\n", "\n  properties  bigmem\n", "\n  tags        owner=ops\n", "\n  data        note = %[1,2%]\n",
      "\n  power       supplies %(back: from%) <%- /pdu1\n", "\n  bandwidth   conduit_of %(back: from%) <%- /edge_switch1\n",
      "\n  containment contains %(back: in%) <%- /cluster0\n", "\n  below       core: 4 of 4 free\n" } do
      assert.matches(line, r.out)
    end
  end)

  it("--full tells who has a pool, and its plan over time", function()
    local later = write_file(JOBSPEC:gsub("count: 2", "count: 8"):gsub("duration: 60", "duration: 30"), ".yaml")
    local path = write_file(JOBSPEC, ".yaml")
    local r = run { "show", "-r", MACHINE, "-j", path, "--full", "/cluster0/rack0/node0/memory0" }
    assert.matches("used by     job 1, from 0 s to 60 s, has /cluster0/rack0/node0 as a whole\n", r.out)
    assert.matches("in use      0 s %[########################################%] 60 s %[%.%] no end\n", r.out)
    assert.matches("from 0 s: 0 GB free\n +from 60 s: 16 GB free\n$", r.out)
    local pool = weir.json.decode(run({ "show", "-r", MACHINE, "-j", later, "--full", "--json", "/cluster0/rack0/node0" }).out)
    assert.same({ { start = 0, ["end"] = 30, available = 0 }, { start = 30, ["end"] = weir.null, available = 1 } }, pool.plan)
    assert.same({ job = 1, start = 0, ["end"] = 30, amount = 1, exclusive = true, vertex = "/cluster0/rack0/node0" }, pool.uses[1])
  end)

  it("--full says when a vertex above is not up", function()
    assert.matches("state       up, below /cluster0/node2, which is not up",
      run({ "show", "-r", write_figures(), "--full", "/cluster0/node2/core0" }).out)
  end)

  it("--dot writes a graph for Graphviz", function()
    local r = run { "show", "-r", "cluster:1 node:2", "--dot" }
    assert.equal("", r.err)
    assert.matches("^digraph.*node%[0%-1%] x2.*}\n$", r.out)
    assert.matches("^digraph.*node1.*}\n$", run({ "show", "-r", "cluster:1 node:2", "--dot", "--all" }).out)
  end)

  it("[L2] shows this machine when no other is named", function()
    local r = run { "show" }
    assert.equal("", r.err)
    assert.matches("^cluster0\n.*core", r.out)
    assert.equal(r.out, run({ "show", "-r", "local" }).out)
  end)

  it("[L1] shows a machine of a recipe file", function()
    local path = write_file("return { type = 'cluster', { type = 'node', count = 3, { type = 'core', count = 2 } } }", ".lua")
    assert.equal("cluster0\n`-- node[0-2]\n    `-- 2 core\n", run({ "show", "-r", path }).out)
  end)

  it("ends quietly when nobody reads", function()
    local big = "cluster:1 rack:100 node:100 core:4"
    local command = ("{ %s show --json -r '%s'; echo status $? >&2; } 2>&1 >/dev/full | head -c 2000"):format(BIN, big)
    local full <close> = assert(io.popen(command))
    assert.matches("^weir: cannot write the output: [^\n]+\nstatus 2\n$", full:read "a")
    local pipe <close> = assert(io.popen(("{ %s find -r '%s' 'size>0' | head -1 >/dev/null; } 2>&1"):format(BIN, big)))
    assert.equal("", pipe:read "a")
  end)
end)

describe("weir find", function()
  -- {words, output, status}
  local FINDS = {
    { { "type=node and id>=6" }, "/cluster0/rack1/node6\n/cluster0/rack1/node7\n", 0 },
    { { "type=node", "and", "id=3" }, "/cluster0/rack0/node3\n", 0 },
    { { "--format", "names", "name=node[2-3]" }, "node2\nnode3\n", 0 },
    { { "-F", "count", "type=core" }, "64\n", 0 },
    { { "-F", "count", "type=quark" }, "0\n", 1 },
    { { "type=node and id=99" }, "", 1 },
    { { "-F", "json", "type=quark" }, "[]\n", 1 },
    { { "-F", "count", "--start", "/cluster0/rack1", "type=core" }, "32\n", 0 },
    { { "-j", "slot=1/node", "-F", "names", "allocated and type=node" }, "node0\n", 0 },
    { { "-j", "slot=1/node", "-j", "slot=1/core=1", "job=2" }, "/cluster0/rack0/node1/core0\n", 0 },
    { { "--graph", "tree", "type=memory and id=1 and path=*/node3/*" },
      "cluster0\n`-- rack0\n    `-- node3\n        `-- memory1  16 GB\n", 0 },
    { { "--graph", "tree", "type=quark" }, "", 1 },
  }

  for _, case in ipairs(FINDS) do
    it("[M10] " .. table.concat(case[1], " "), function()
      local r = run { "find", "-r", MACHINE, table.unpack(case[1]) }
      assert.same({ out = case[2], err = "", status = case[3] }, r)
    end)
  end

  it("[M12] --graph writes the graph of the matches", function()
    local r = run { "find", "-r", MACHINE, "--graph", "jgf", "name=node[2-3]" }
    assert.equal("", r.err)
    local found <close> = assert(weir.parse(r.out))
    assert.equal(1 + 1 + 2 * 11, found:count())
    assert.matches("^%s*%a*graph.*node2.*}%s*$", run({ "find", "-r", MACHINE, "--graph=dot", "name=node2" }).out)
  end)

  it("[M10] --format json has the fields", function()
    local list = weir.json.decode(run({ "find", "-r", MACHINE, "-F", "json", "type=memory and id=1" }).out)
    assert.equal(8, #list)
    assert.equal("GB", list[1].unit)
    assert.equal(16, list[1].free)
  end)
end)

describe("weir run", function()
  it("runs a script with weir and arg at hand", function()
    local path = write_file([[#!/usr/bin/env weir
      print(weir.version == require "weir".version, arg[1], arg[2], ..., weir.synthetic("node:2"):count())]], ".lua")
    local r = run { "run", path, "--help", "b c" }
    assert.same({ out = "true\t--help\tb c\t--help\t3\n", err = "", status = 0 }, r)
  end)

  it("reads a script from standard input", function()
    assert.equal("7\n", run({ "run", "-", "7" }, { stdin = "print(...)" }).out)
  end)

  it("gives the status of the script", function()
    assert.equal(7, run({ "run", write_file("os.exit(7)", ".lua") }).status)
    local r = run { "run", write_file("error 'oops'", ".lua") }
    assert.equal(1, r.status)
    assert.matches("^weir: [^\n]*:1: oops\n", r.err)
  end)

  it("refuses a script with a syntax error", function()
    local r = run { "run", write_file("x =", ".lua") }
    assert_line(r.err)
    assert.equal(2, r.status)
  end)
end)

describe("weir policy", function()
  for _, action in ipairs { "bench", "check" } do
    it(action .. " tells once what it cannot read, with status 2", function()
      local r = run { "policy", action, "/dev/zero" }
      local said, times = (r.out .. r.err):gsub("is a device that has no end, expected a file\n", "")
      assert.same({ 1, 2 }, { times, r.status })
      assert.is_nil(said:find("/dev/zero: /dev/zero", 1, true))
    end)
  end

  it("check has status 1 for a file that is no policy", function()
    assert.equal(1, run({ "policy", "check", write_policy("return 1") .. "/mine.lua" }).status)
  end)

  it("lists the bundled policies, each with what it does", function()
    local r = run { "policy", "list" }
    assert.equal("", r.err)
    for _, name in ipairs { "first", "low", "high", "locality", "best_fit", "spread" } do
      assert.matches("\n" .. name .. " +%u[^\n]+", r.out)
    end
    assert.is_nil(r.out:find("cannot be read", 1, true))
  end)

  it("puts those of WEIR_POLICY_PATH first", function()
    local dir, name = write_policy(POLICY)
    local r = run({ "policy", "list", "--json" }, { before = "WEIR_POLICY_PATH=" .. dir })
    local found
    for _, entry in ipairs(weir.json.decode(r.out)) do
      if entry.name == name then found = entry end
    end
    assert.equal("The last first.", found.doc)
  end)
end)

describe("output", function()
  it("is plain when piped, and for a terminal has lines and bold", function()
    local function on_terminal(environment)
      local command = ("%s script -qec %s /dev/null </dev/null"):format(environment,
        quote(BIN .. " show -r 'cluster:1 node:1'"))
      local pipe <close> = assert(io.popen(command))
      return (pipe:read "a":gsub("\r", ""))
    end
    assert.is_nil(run({ "show", "-r", "cluster:1 node:1" }).out:find "[\27\128-\255]")
    local fancy = on_terminal "NO_COLOR= TERM=xterm LC_ALL=C.UTF-8"
    assert.matches("\27[1mnode0", fancy, 1, true)
    assert.matches("└── ", fancy, 1, true)
    assert.equal("cluster0  ░░░░░░░░\n└── node0\n", on_terminal "NO_COLOR=1 TERM=xterm LC_ALL=C.UTF-8")
    assert.equal("cluster0  ........\n`-- node0\n", on_terminal "NO_COLOR=1 TERM=xterm LC_ALL=C")
  end)

  it("has bars for pools on a terminal only", function()
    local words = BIN .. " show -r 'cluster:1 core:8' -j slot=1/core=2"
    local function on_terminal(environment)
      local pipe <close> = assert(io.popen(("%s script -qec %s /dev/null </dev/null"):format(environment, quote(words))))
      return (pipe:read "a":gsub("\r", ""))
    end
    assert.equal("cluster0  ██░░░░░░\n└── core[0-7]  ██░░░░░░  6 of 8 free\n",
      on_terminal "NO_COLOR=1 TERM=xterm LC_ALL=C.UTF-8")
    assert.equal("cluster0  ##......\n`-- core[0-7]  ##......  6 of 8 free\n", on_terminal "NO_COLOR=1 TERM=xterm LC_ALL=C")
    local pipe <close> = assert(io.popen(words))
    assert.equal("cluster0\n`-- core[0-7]  6 of 8 free\n", pipe:read "a")
  end)
end)
