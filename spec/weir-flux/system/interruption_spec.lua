-- Commands that are stopped, or cannot write: exit statuses, and no half-written files.

local pty = require "pty"
local shell = require "spec.support.shell"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:8"
local LARGE = "cluster:1 rack:10 node:20 core:8"
local SIGHUP, SIGINT, SIGTERM = 1, 2, 15

local dir, fifo

local function quote(word) return "'" .. word:gsub("'", [['\'']]) .. "'" end

local function quoted(words)
  local list = {}
  for i, word in ipairs(words) do list[i] = quote(word) end
  return table.concat(list, " ")
end

local function listing()
  local pipe <close> = assert(io.popen("ls -A " .. quote(dir)))
  return pipe:read "a"
end

local function reset()
  assert(os.execute(("rm -rf %s; mkdir %s"):format(quote(dir), quote(dir))))
end

-- "@/x" is a file in the temporary directory, "@FIFO" a pipe that never has any data.
local function filled(words)
  local list = {}
  for i, word in ipairs(words) do list[i] = word:gsub("^@FIFO", fifo):gsub("^@", dir) end
  return list
end

-- Runs a script of sh, with the words of weir as "$@": returns the status and the text on stderr.
local function sh(script, words)
  local command = ("set -- %s %s; { %s ; } 2>&1 >/dev/null"):format(quote(shell.bin), quoted(words), script)
  local pipe = assert(io.popen(("sh -c %s"):format(quote(command))))
  local text = pipe:read "a"
  local _, how, status = pipe:close()
  return how == "exit" and status or -status, text
end

setup(function()
  dir = os.tmpname()
  os.remove(dir)
  fifo = dir .. ".fifo"
  assert(os.execute("mkfifo " .. quote(fifo)))
  reset()
end)

teardown(function() os.execute(("rm -rf %s %s"):format(quote(dir), quote(fifo))) end)

before_each(reset)

-- ---- signals ------------------------------------------------------------------------------------------------

local function field(status, name) return status:match("\n" .. name .. ":%s*(%S+)") end

local CAUGHT = 1 << (SIGINT - 1) | 1 << (SIGTERM - 1)
-- Checks in a row in which the process sleeps, so that it waits for input and not for a disk or a child.
local STILL = 10

-- Waits until a process handles signals itself, and (blocked) sleeps.
local function wait_ready(t, blocked)
  local still, last = 0, nil
  for _ = 1, 100000 do
    local file = io.open(("/proc/%d/status"):format(t:pid()))
    local status = file and file:read "a" or ""
    if file then file:close() end
    local catches = tonumber(field(status, "SigCgt") or "0", 16) & CAUGHT == CAUGHT
    local woken = field(status, "voluntary_ctxt_switches")
    still = catches and field(status, "State") == "S" and woken == last and still + 1 or 0
    last = woken
    if catches and not blocked or still >= STILL then return end
    t:wait_for("\0never\0", 0.001)
  end
  error("it did not get ready: " .. select(2, t:finish(0)))
end

local BUSY = 50 -- hundredths of a second of computing: more than a start takes

-- Waits until a process has computed for some time.
local function wait_busy(t)
  for _ = 1, 10000 do
    local file <close> = io.open(("/proc/%d/stat"):format(t:pid()))
    local ticks = file and file:read "a":match "%) %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ (%d+)"
    if tonumber(ticks or 0) >= BUSY then return end
    t:wait_for("\0never\0", 0.01)
  end
  error("it does not compute: " .. select(2, t:finish(0)))
end

-- Starts weir with the silent pipe as standard input.
local function start(words)
  local script = ('exec "$@" <>%s 2>%s'):format(quote(fifo), quote(dir .. "/stderr"))
  return pty.spawn({ "sh", "-c", script, "sh", shell.bin, table.unpack(filled(words)) },
    { XDG_STATE_HOME = dir .. "/state", TERM = "xterm" })
end

local LOOP = "while true do end"

-- Commands that wait for input, or (true) compute until stopped.
local STOPPED = {
  { "match", { "match", "-r", MACHINE, "-" } },
  { "match, on the machine", { "match", "-r", "@FIFO", "slot=1/node" } },
  { "explain", { "explain", "-r", MACHINE, "-" } },
  { "show", { "show", "-r", "@FIFO" } },
  { "show, for a file", { "show", "-r", "@FIFO", "--svg", "-o", "@/out.svg" } },
  { "show --dot that computes", { "show", "-r", "cluster:1 rack:100 node:100 core:100", "--all", "--dot", "-o", "@/out.dot" }, true },
  { "find", { "find", "-r", "@FIFO", "type=node" } },
  { "list", { "list", "-" } },
  { "convert", { "convert", "-", "@/out.json" } },
  { "convert, of a file", { "convert", "@FIFO", "@/out.db" } },
  { "diff", { "diff", "@FIFO", MACHINE } },
  { "query", { "query", "-L", "@/machine.json", "-f", "jgf", "-d" } },
  { "repl as a filter", { "repl", "-r", MACHINE } },
  { "repl that computes", { "repl", "-r", MACHINE, "-c", LOOP }, true },
  { "run", { "run", "-" } },
  { "run that computes", { "run", "@/loop.lua" }, true },
  { "test", { "test", "@/loop_scenario.lua" }, true },
  { "replay", { "replay", "-r", "core:4", "--jobs", "@/jobs.csv", "-" } },
  { "tune", { "tune", "-r", "core:4", "-q", "hybrid", "--report", "@/a", "-" } },
  { "test of made up scenarios", { "test", "--random", "100000000" }, true },
  { "replay that computes", { "replay", "-r", "core:400", "--jobs", "@/jobs.csv", "--generate", "10000000" }, true },
  { "replay that is to have a report", { "replay", "-r", "core:400", "--generate", "10000000", "--report", "@/a/b" }, true },
  { "replay that is to compare", { "replay", "-r", "core:400", "--generate", "10000000", "--report", "@/a", "--compare", "easy fcfs" } },
  { "replay that writes", { "replay", "-r", "core:400", "--generate", "10000000", "--jobs", "@/out.csv", "--evalys", "@/e.csv" }, true },
  { "policy bench", { "policy", "bench", "low", "--rounds", "1000000" }, true },
  { "policy check", { "policy", "check", "@FIFO" } },
}

local function write_inputs()
  shell.path(dir, "loop.lua", LOOP)
  shell.path(dir, "loop_scenario.lua", ('it("never ends", function() %s end)\nit("is not reached", function() end)'):format(LOOP))
  assert(weir.synthetic(MACHINE):save(dir .. "/machine.json"))
end

-- These two commands need a service, and have specs of their own below.
local SERVICES = { serve = true, top = true }
-- These commands read nothing, so that no signal finds them waiting.
local AT_ONCE = { completion = true }

-- The commands without a row in any of the tables.
local function left_out(rows, without)
  local seen, list = {}, {}
  for _, case in ipairs(rows) do seen[case[2][1]] = true end
  for _, name in ipairs(require("weir.cli").commands) do
    if not seen[name] and not SERVICES[name] and not (without or {})[name] then list[#list + 1] = name end
  end
  return list
end

-- A service with files of its own, and its socket.
local function serving()
  local t = start { "serve", "-r", MACHINE, "-l", "unix:" .. dir .. "/s", "--state", "@/s.db", "--metrics-file", "@/m", "--record", "@/r" }
  for _ = 1, 10000 do
    if os.execute("test -S " .. quote(dir .. "/s")) then return t, "unix:" .. dir .. "/s" end
    t:wait_for("\0never\0", 0.01)
  end
  error("it does not serve: " .. select(2, t:finish(0)))
end

local SIGNALS = { { "SIGINT", SIGINT, 130 }, { "SIGTERM", SIGTERM, 143 } }

-- Runs weir with a standard input that never has data, and never ends.
local function reading_the_pipe(words)
  return pty.spawn { "sh", "-c", ('exec "$@" <>%s'):format(quote(fifo)), "sh", shell.bin, table.unpack(words) }
end

describe("a signal", function()
  for _, case in ipairs(STOPPED) do
    for _, signal in ipairs(SIGNALS) do
      it(("%s ends weir %s with status %d, and leaves nothing behind"):format(signal[1], case[1], signal[3]), function()
        write_inputs()
        local before = listing()
        local t <close> = start(case[2])
        wait_ready(t, not case[3])
        t:signal(signal[2])
        assert.equal(signal[3], (t:finish(60)))
        local said = shell.slurp(dir .. "/stderr")
        os.remove(dir .. "/stderr")
        assert.equal(before, listing())
        assert.is_nil(said:match "traceback" or said:match "internal error")
      end)
    end
  end

  for _, signal in ipairs(SIGNALS) do
    for _, words in ipairs { {}, { "-k" } } do
      it(("%s ends weir repl %s in the middle of a statement with status %d"):format(signal[1], words[1] or "", signal[3]), function()
        local t <close> = start { "repl", "-r", MACHINE, "-c", "io.stdout:write 'begun' io.stdout:flush() " .. LOOP,
          "-c", "print 'not reached'", table.unpack(words) }
        assert(t:wait_for("begun", 60))
        t:signal(signal[2])
        local status, said = t:finish(60)
        assert.equal(signal[3], status)
        assert.is_nil(said:match "not reached")
        os.remove(dir .. "/stderr")
      end)
    end
  end

  it("is tried on each command", function() assert.same({}, left_out(STOPPED, AT_ONCE)) end)

  for _, signal in ipairs(SIGNALS) do
    it(("%s ends a service with status 0, without its socket, and who looks at it with %d"):format(signal[1], signal[3]), function()
      local t <close>, socket = serving()
      local top <close> = pty.spawn { shell.bin, "top", "-s", socket, "-n", "100000" }
      assert(top:wait_for("matches", 20))
      top:signal(signal[2])
      assert.equal(signal[3], (top:finish(20)))
      t:signal(signal[2])
      assert.equal(0, (t:finish(60)))
      assert.equal("m\nr\ns.db\nstderr\n", listing())
    end)
  end

  it("is no fault of the queue policy that it meets", function()
    local path = shell.path(dir, "endless.lua", 'return { name = "endless", schedule = function() while true do end end }')
    local t <close> = start { "replay", "-r", "core:4", "-q", path, "--generate", "10", "--quiet" }
    wait_busy(t)
    t:signal(SIGINT)
    assert.equal(130, (t:finish(60)))
    assert.equal("", shell.slurp(dir .. "/stderr"))
  end)

  it("SIGHUP ends it with status 129", function()
    local t <close> = start { "run", "-" }
    wait_ready(t, true)
    t:signal(SIGHUP)
    assert.equal(129, (t:finish(60)))
  end)

  it("that was ignored from the start, as under nohup, stays so", function()
    local path = shell.path(dir, "ready.lua", "io.write 'ready' io.stdout:flush() while true do end")
    local t <close> = pty.spawn { "sh", "-c", 'trap "" INT; exec "$@"', "sh", shell.bin, "run", path }
    assert(t:wait_for("ready", 20))
    t:signal(SIGINT)
    t:signal(SIGTERM)
    assert.equal(143, (t:finish(60)))
  end)

  it("SIGTERM ends the REPL on a terminal, which is left as it was", function()
    local t <close> = pty.spawn({ shell.bin, "repl", "-r", MACHINE }, { XDG_STATE_HOME = dir, TERM = "xterm" })
    assert(t:wait_for("weir> ", 20))
    t:signal(SIGTERM)
    local status, rest = t:finish(60)
    assert.equal(143, status)
    assert.matches("\27%[%?2004l", rest)
  end)

  it("SIGTERM ends the REPL while it computes", function()
    local t <close> = pty.spawn({ shell.bin, "repl", "-r", MACHINE }, { XDG_STATE_HOME = dir, TERM = "xterm" })
    assert(t:wait_for("weir> ", 20))
    t:write 'print "gone"; while true do end\r'
    assert(t:wait_for("gone\r\n", 20))
    t:signal(SIGTERM)
    assert.equal(143, (t:finish(60)))
  end)

  it("that arrives before a read from a pipe stops the reading", function()
    local path = shell.path(dir, "finalizer.lua", [[
      local weir = require "weir"
      local ok, why = pcall(function()
        setmetatable({}, { __gc = function() io.popen("kill -INT $PPID"):close() end })
        collectgarbage()
        weir.load "/dev/stdin"
      end)
      print(ok, why)]])
    local t <close> = reading_the_pipe { "run", path }
    assert(t:wait_for("false\tinterrupted", 20))
    assert.equal(0, (t:finish(60)))
  end)

  for _, format in ipairs { "dot", "svg", "tree" } do
    it(("stops the writing of %s"):format(format), function()
      local path = shell.path(dir, "endless.lua", ([[
        local g = require("weir").synthetic "cluster:1 rack:10 node:20 core:8"
        io.write "ready"
        io.stdout:flush()
        while true do g:format "%s" end]]):format(format))
      local t <close> = pty.spawn { shell.bin, "run", path }
      assert(t:wait_for("ready", 20))
      t:signal(SIGINT)
      assert.equal(130, (t:finish(60)))
    end)
  end

  it("stops the reading of a machine, which leaves no graph", function()
    local path = shell.path(dir, "interrupted.lua", [[
      local weir = require "weir"
      local killer = io.popen "sleep 0.05; kill -INT $PPID"
      print(pcall(weir.load, "/dev/stdin"))
      killer:close()]])
    local t <close> = reading_the_pipe { "run", path }
    assert(t:wait_for("false\tinterrupted", 20))
    assert.equal(0, (t:finish(60)))
  end)
end)

-- ---- standard output ----------------------------------------------------------------------------------------

-- Commands that print, and the status of a full disk.
local PRINTS = {
  { "help", { "--help" } },
  { "the version", { "--version" } },
  { "match", { "match", "-r", MACHINE, "slot=1/node" } },
  { "match, refused", { "match", "--json", "-r", MACHINE, "slot=99/node" } },
  { "explain", { "explain", "-r", MACHINE, "slot=9/node" } },
  { "show", { "show", "-r", MACHINE } },
  { "show --csv", { "show", "-r", LARGE, "--csv" } },
  { "find", { "find", "-r", LARGE, "size>0" } },
  { "list", { "list", MACHINE } },
  { "convert", { "convert", LARGE, "-" } },
  { "completion", { "completion", "bash" } },
  { "diff", { "diff", MACHINE, LARGE } },
  { "query", { "query", "-L", "@/machine.json", "-f", "jgf", "-d" }, "help" },
  { "repl", { "repl", "-r", LARGE, "-c", 'g:find "size>0"' } },
  { "run", { "run", "@/print.lua" } },
  { "replay", { "replay", "-r", "core:4", "@/trace.swf" } },
  { "replay --json", { "replay", "-r", "core:4", "--quiet", "--json", "@/trace.swf" } },
  { "replay --jobs -", { "replay", "-r", "core:4", "--quiet", "--jobs", "-", "@/trace.swf" } },
  { "tune", { "tune", "-r", "core:4", "--quiet", "-q", "hybrid", "--budget", "2", "@/trace.swf" } },
  { "policy list", { "policy", "list" } },
  { "policy check", { "policy", "check", "low" } },
  { "policy bench", { "policy", "bench", "low", "--rounds", "1" } },
  { "test", { "test", "@/scenario.lua" } },
  { "test --list", { "test", "--list", "@/scenario.lua" } },
}

local function write_trace()
  local lines = {}
  for i = 1, 60 do lines[i] = ("%d %d 0 10 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1\n"):format(i, i) end
  shell.path(dir, "trace.swf", "; MaxProcs: 4\n" .. table.concat(lines))
end

local function write_printers()
  write_trace()
  shell.path(dir, "print.lua", "for i = 1, 1e5 do io.write(i, '\\n') end")
  shell.path(dir, "scenario.lua", 'it("passes", function() end)')
  assert(weir.synthetic(MACHINE):save(dir .. "/machine.json"))
end

-- Where output goes, as a redirection of sh, and the status that follows. In a pipe without a reader every write fails.
local SINKS = {
  { "a full disk", "%s >/dev/full", 2, "^weir: cannot write the output: No space left on device\n$" },
  { "a closed standard output", "%s >&-", 2, "^weir: cannot write the output: Bad file descriptor\n$" },
  { "a pipe whose reader is gone", "exec 3<>$FIFO; exec 4>$FIFO; exec 3<&-; %s >&4", 141, "^$" },
}

describe("standard output", function()
  for _, case in ipairs(PRINTS) do
    for _, sink in ipairs(SINKS) do
      it(("that is %s makes weir %s end with %d"):format(sink[1], case[1], sink[3]), function()
        write_printers()
        local run = ('printf "%%s" %s | "$@"'):format(quote(case[3] or ""))
        local script = sink[2]:gsub("%$FIFO", fifo):gsub("%%s", function() return case[3] and "{ " .. run .. "; }" or '"$@"' end)
        local status, said = sh(script, filled(case[2]))
        assert.equal(sink[3], status)
        assert.matches(sink[4], case[1] == "match, refused" and said:gsub("weir: slot=[^\n]*\n", "") or said)
      end)
    end
  end

  it("is tried on each command", function() assert.same({}, left_out(PRINTS)) end)

  for _, sink in ipairs(SINKS) do
    it(("that is %s makes weir top end with %d"):format(sink[1], sink[3]), function()
      local t <close>, socket = serving()
      local own = dir .. "/pipe" -- the service has the main pipe open
      assert(os.execute("mkfifo " .. quote(own)))
      local status, said = sh(sink[2]:gsub("%$FIFO", own):gsub("%%s", '"$@"'), { "top", "-s", socket, "-n", "1" })
      t:signal(SIGTERM)
      assert.equal(sink[3], status)
      assert.matches(sink[4], said)
    end)
  end

  it("that is closed does not make a file that is opened the output", function()
    shell.path(dir, "print.lua", [[
      local g = weir.synthetic "node:2"
      print "this must not get into the database"
      io.stdout:flush()
      assert(g:save(arg[1]))]])
    sh('"$@" >&-', filled { "run", "@/print.lua", "@/out.db" })
    assert.equal(3, assert(weir.load(dir .. "/out.db")):count())
    assert.is_nil(shell.slurp(dir .. "/out.db"):find("this must not", 1, true))
  end)
end)

-- ---- input without an end ---------------------------------------------------------------------------------

describe("a device that has no end", function()
  for _, case in ipairs {
    { "a machine", { "show", "-r", "/dev/zero" } }, { "standard input", { "show", "-r", "-" } },
    { "a state", { "serve", "-r", MACHINE, "--state", "/dev/full" } },
  } do
    it("is refused as " .. case[1] .. ", and not read", function()
      local status, said = sh('ulimit -t 10; "$@" </dev/zero', filled(case[2]))
      assert.equal(2, status)
      assert.matches("^weir: [^:]+: is a device that has no end, expected a file\n$", said)
    end)
  end
end)

-- ---- files --------------------------------------------------------------------------------------------------

-- Commands that write a file, and the name of the file. The last column: the status, where it is not 2.
local WRITES = {
  { "convert", { "convert", LARGE, "@/out.json" }, "out.json" },
  { "convert to csv", { "convert", LARGE, "@/out.csv" }, "out.csv" },
  { "convert to a recipe", { "convert", LARGE, "@/out.lua" }, "out.lua" },
  { "convert to a database", { "convert", LARGE, "@/out.db" }, "out.db" },
  { "show --dot", { "show", "-r", LARGE, "--all", "--dot", "-o", "@/out.dot" }, "out.dot" },
  { "show --svg", { "show", "-r", LARGE, "--svg", "-o", "@/out.svg" }, "out.svg" },
  { "show --csv", { "show", "-r", LARGE, "--csv", "-o", "@/out.csv" }, "out.csv" },
  { "query", { "query", "-L", "@/machine.json", "-f", "jgf", "-d", "-o", "@/out" }, "out.dot", 1 },
  { "g:save", { "run", "@/save.lua", "@/out.json" }, "out.json" },
  { "g:save to a database", { "run", "@/save.lua", "@/out.db" }, "out.db" },
  { "save in the REPL", { "repl", "-r", LARGE, "-c", 'assert(save "@/out.json")' }, "out.json", 1 },
  { "replay", { "replay", "-r", "core:4", "@/trace.swf", "--jobs", "@/out.csv" }, "out.csv" },
  { "replay --evalys", { "replay", "-r", "core:4", "--evalys", "@/out.csv", "@/trace.swf" }, "out.csv" },
  { "policy new", { "policy", "new", "mine", "--directory", "@" }, "mine.lua" },
}

local function write_savers()
  write_trace()
  shell.path(dir, "save.lua", ('local ok, why = weir.synthetic %q:save(arg[1]) if not ok then io.stderr:write(why) os.exit(2) end')
    :format(LARGE))
  assert(weir.synthetic(LARGE):save(dir .. "/machine.json"))
end

local function words_of(case)
  local words = filled(case[2])
  for i, word in ipairs(words) do words[i] = word:gsub("@/", dir .. "/") end
  return words
end

-- Limits files to one block of 512 bytes, as on a disk that gets full.
local SMALL = '(ulimit -f 1; "$@" </dev/null)'

-- The options that name a file or a directory, by command, and the use of the file. A command that writes has a row
-- above, or in (spec) a spec of its own; a stream is written while the command runs.
local FILES = {
  convert = { types = "read" }, list = { config = "read" }, show = { output = "row" }, policy = { directory = "spec" },
  query = { ["load-file"] = "read", ["test-output"] = "stream" },
  replay = { jobs = "row", evalys = "row", report = "spec", anonymize = "spec" }, tune = { report = "spec" },
  serve = { config = "read", record = "spec", ["metrics-file"] = "spec", ["token-file"] = "spec",
    ["tls-cert"] = "read", ["tls-key"] = "read", ["parent-token-file"] = "read", ["parent-ca"] = "read" },
  top = { ["token-file"] = "read", ca = "read" },
}

-- Whether an option stands in a row.
local function in_a_row(command, option)
  for _, case in ipairs(WRITES) do
    for _, word in ipairs(case[2][1] == command and case[2] or {}) do
      if word == "--" .. option[2] or option[1] and word == "-" .. option[1] then return true end
    end
  end
  return false
end

describe("each option that names a file", function()
  for _, name in ipairs(require("weir.cli").commands) do
    it("of weir " .. name .. " is known here", function()
      local unknown, files = {}, FILES[name] or {}
      for _, option in ipairs(require("weir.cli." .. name).options or {}) do
        local use = files[option[2]]
        if (option[3] == "FILE" or option[3] == "DIR") and (not use or use == "row" and not in_a_row(name, option)) then
          unknown[#unknown + 1] = option[2]
        end
      end
      assert.same({}, unknown)
    end)
  end
end)

describe("a report that cannot be written", function()
  for _, case in ipairs {
    { "on a full disk", SMALL, "@/a/b", "a/b/jobs.csv: [^\n]+" },
    { "below a file", '"$@"', "@/trace.swf/b", "trace.swf/b: the directory cannot be made" },
  } do
    it(case[1] .. " leaves no directory", function()
      write_trace()
      local before = listing()
      local status, said = sh(case[2], filled { "replay", "-r", "core:4", "--quiet", "@/trace.swf", "--report", case[3] })
      assert.equal(2, status)
      assert.matches(case[4], said)
      assert.equal(before, listing())
    end)
  end
end)

describe("a file that cannot be written", function()
  for _, case in ipairs(WRITES) do
    it("whole is not there after " .. case[1], function()
      write_savers()
      local before = listing()
      local status, said = sh(SMALL, words_of(case))
      assert.equal(case[4] or 2, status)
      assert.matches("out%.%w+: [^\n]+", said:gsub("mine%.lua", "out.lua"))
      assert.equal(before, listing())
    end)
  end

  for _, case in ipairs(WRITES) do
    local kept = case[3]
    if not kept:find "%.db$" and kept ~= "mine.lua" then
      it("whole is what it was after " .. case[1], function()
        write_savers()
        shell.path(dir, kept, "old")
        local before = listing()
        sh(SMALL, words_of(case))
        assert.equal("old", shell.slurp(dir .. "/" .. kept))
        assert.equal(before, listing())
      end)
    end
  end

  it("whole is the database that it was", function()
    assert(weir.synthetic(MACHINE):save(dir .. "/out.db"))
    write_savers()
    sh(SMALL, words_of { "", { "run", "@/save.lua", "@/out.db" } })
    assert.equal(75, assert(weir.load(dir .. "/out.db")):count())
  end)

  for _, case in ipairs(WRITES) do
    it("makes " .. case[1] .. " fail where there is no such directory", function()
      write_savers()
      local words = words_of(case)
      for i, word in ipairs(words) do words[i] = word:gsub("/out", "/none/out"):gsub("^" .. dir .. "$", dir .. "/none") end
      local status, said = sh('"$@" </dev/null', words)
      assert.equal(case[4] or 2, status)
      assert.matches("none/[^\n]+: [^\n]+", said)
    end)
  end
end)

describe("a file that is written", function()
  it("keeps its mode", function()
    local path = shell.path(dir, "out.json", "old")
    os.execute("chmod 640 " .. quote(path))
    assert.equal(0, sh('"$@"', { "convert", MACHINE, path }))
    local pipe <close> = assert(io.popen("stat -c %a " .. quote(path)))
    assert.equal("640\n", pipe:read "a")
  end)

  it("stays where links lead to", function()
    shell.path(dir, "real.json", "old")
    os.execute(("ln -s real.json %s/link.json"):format(quote(dir)))
    assert.equal(0, sh('"$@"', { "convert", MACHINE, dir .. "/link.json" }))
    assert.equal("{", shell.slurp(dir .. "/real.json"):sub(1, 1))
    assert.is_true(os.execute(("test -L %s/link.json"):format(quote(dir))))
  end)

  it("does not take the place of somebody's file with the name of the draft", function()
    shell.path(dir, "out.json.new", "mine")
    assert.equal(0, sh('"$@"', { "convert", MACHINE, dir .. "/out.json" }))
    assert.equal("mine", shell.slurp(dir .. "/out.json.new"))
    assert.equal("out.json\nout.json.new\n", listing())
  end)

  it("can have the longest name that there is", function()
    local path = dir .. "/" .. ("n"):rep(250) .. ".json"
    assert.equal(0, sh('"$@"', { "convert", MACHINE, path }))
    assert.equal("{", shell.slurp(path):sub(1, 1))
  end)

  for _, device in ipairs { "/dev/full", "/dev/stdout" } do
    it("may be " .. device .. ", which stays what it is", function()
      local pipe <close> = assert(io.popen("stat -c '%F %i' " .. device))
      local before = pipe:read "a"
      sh('"$@"', { "convert", "-F", "rlite", MACHINE, device })
      local again <close> = assert(io.popen("stat -c '%F %i' " .. device))
      assert.equal(before, again:read "a")
    end)
  end

  it("may be a pipe", function()
    local pipe <close> = assert(io.popen(("cat %s & %s convert -F rlite node:2 %s; wait"):format(quote(fifo), quote(shell.bin),
      quote(fifo))))
    assert.equal('[{"rank":"0-1","children":{"core":""}}]\n', pipe:read "a")
  end)
end)

-- ---- the REPL -----------------------------------------------------------------------------------------------

describe("what the REPL keeps", function()
  local function open()
    local t = pty.spawn({ shell.bin, "repl", "-r", MACHINE }, { XDG_STATE_HOME = dir, TERM = "xterm" })
    assert(t:wait_for("weir> ", 20))
    return t
  end

  it("is its own: others cannot read the history", function()
    local t <close> = open()
    t:write "1 + 1\r"
    assert(t:wait_for("weir> ", 20))
    local pipe <close> = assert(io.popen(("stat -c %%a %s/weir/history; tail -n 1 %s/weir/history"):format(quote(dir), quote(dir))))
    assert.equal("600\n1\\040+\\0401\n", pipe:read "a")
  end)

  it("is missed once, where the history cannot be written", function()
    assert(os.execute("mkdir -p " .. quote(dir .. "/weir/history")))
    local t <close> = open()
    t:write "1 + 1\r"
    assert.matches("weir: the history is not kept: [^\n]*history: [^\n]+", (t:wait_for("\27[?2004hweir> ", 20)))
    t:write "2 + 2\r"
    assert.is_nil((t:wait_for("\27[?2004hweir> ", 20)):find("not kept", 1, true))
  end)

  it("is a recording that says where it ends, when the disk is full", function()
    local status, said = sh('"$@"', { "repl", "-r", MACHINE, "-k", "-c", ":record /dev/full", "-c", 'e:match "slot=1/node"' })
    assert.equal(1, status)
    assert.matches("/dev/full: No space left on device", said)
  end)
end)
