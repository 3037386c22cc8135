-- Endless input, or a directory or device in place of a file: each reader has a limit, and the error names the input
-- and the limit.

local shell = require "spec.support.shell"

local MACHINE = "cluster:1 node:4 core:8"
local SECONDS, KILOBYTES = 60, 3000000 -- of processor and memory; a refusal stays far below

local dir, fifo

setup(function()
  dir = shell.directory()
  fifo = shell.path(dir, "fifo")
  assert(os.execute("mkfifo " .. fifo))
end)

teardown(shell.clean)

-- Runs a script of sh in which @/ is the temporary directory and "$@" weir with words; returns status and output.
local function sh(script, words)
  local quoted = { "'" .. shell.bin .. "'" }
  for _, word in ipairs(words) do quoted[#quoted + 1] = "'" .. word:gsub("^@/", dir .. "/") .. "'" end
  local command = ("ulimit -t %d; ulimit -v %s; set -- %s; { %s ; } 2>&1"):format(SECONDS,
    shell.bin:find("/san/", 1, true) and "unlimited" or KILOBYTES, table.concat(quoted, " "), script:gsub("@/", dir .. "/"))
  local pipe = assert(io.popen(("timeout 30 sh -c '%s'"):format(command:gsub("'", [['\'']]))))
  local text = pipe:read "a"
  local _, how, status = pipe:close()
  return how == "exit" and status or -status, text
end

-- The readers of a file, given as FILE; the limit, and the name of the content. false: the file is read as a stream,
-- by lines of at most 16 MiB.
local READERS = {
  { "match", { "match", "-r", MACHINE, "FILE" }, "64 MiB", "a jobspec" },
  { "explain", { "explain", "-r", MACHINE, "FILE" }, "64 MiB", "a jobspec" },
  { "match -p", { "match", "-r", MACHINE, "-p", "FILE", "slot=1/node" }, "1 MiB", "a policy" },
  { "match -r", { "match", "-r", "FILE", "slot=1/node" }, "1 GiB", "a machine" },
  { "show -r, in Lua", { "show", "-r", "FILE.lua" }, "16 MiB", "a script" },
  { "list", { "list", "FILE" }, "1 GiB", "an R" },
  { "list --config", { "list", "--config", "FILE", "--queue", "debug", MACHINE }, "1 MiB", "a file of settings" },
  { "run", { "run", "FILE" }, "16 MiB", "a script" },
  { "test", { "test", "FILE" }, "16 MiB", "a script" },
  { "convert", { "convert", "-f", "grug", "FILE", "-" }, "1 GiB", "a machine" },
  { "convert of a jobspec", { "convert", "-f", "jobspec", "FILE", "-" }, "64 MiB", "a jobspec" },
  { "replay", { "replay", "-r", "core:4", "FILE" }, false },
  { "tune", { "tune", "-r", "core:4", "-q", "hybrid", "FILE" }, false },
  { "replay -q", { "replay", "-r", "core:4", "--generate", "9", "-q", "./FILE" }, "1 MiB", "a policy" },
  { "policy check", { "policy", "check", "FILE" }, "1 MiB", "a policy" },
  { "policy bench", { "policy", "bench", "-n", "1", "FILE" }, "1 MiB", "a policy" },
  { "policy profile", { "policy", "profile", "-r", MACHINE, "-p", "FILE", "slot=1/node" }, "1 MiB", "a policy" },
  { "serve --config", { "serve", "-r", MACHINE, "--config", "FILE" }, "1 MiB", "a file of settings" },
  { "serve --state", { "serve", "-r", MACHINE, "-l", "unix:@/socket", "--state", "FILE" }, "1 GiB",
    "a machine", "huge: is no SQLite database" },
  { ":source in the REPL", { "repl", "-r", MACHINE, "-c", ":source FILE" }, "16 MiB", "an input of the REPL" },
  { "e:use in the REPL", { "repl", "-r", MACHINE, "-c", 'assert(e:use "FILE")' }, "1 MiB", "a policy" },
  { "weir.rset", { "repl", "-r", MACHINE, "-c", 'assert(weir.rset "FILE")' }, "1 GiB", "an R" },
  { "query -L", { "query", "-L", "FILE" }, "1 GiB", "a machine" },
}

-- The words with FILE replaced.
local function with(words, file)
  local list = {}
  for i, word in ipairs(words) do list[i] = word:gsub("%./FILE", "FILE"):gsub("FILE", (file:gsub("^@", dir))):gsub("@/", dir .. "/") end
  return list
end

describe("weir", function()
  for _, case in ipairs(READERS) do
    local name, words, most, what = table.unpack(case)
    local in_lua = table.concat(words, " "):find("FILE.lua", 1, true)

    it(name .. " refuses a file that is too large before it has read it", function()
      local path = shell.path(dir, "huge" .. (in_lua and ".lua" or ""))
      assert(os.execute("truncate -s 1073741825 " .. path))
      local status, said = sh('"$@" </dev/null', with(words, "@/huge"))
      os.remove(path)
      assert.is_true(status == 1 or status == 2)
      assert.matches(case[5] or most and ("huge[.lua]*: is longer than %s, the most that %s may have"):format(most, what)
        or "huge:1: a line is longer than 16 MiB", said)
    end)

    if not in_lua and name ~= "test" then -- these take directories
      it(name .. " says so where there is a directory", function()
        local status, said = sh('"$@" </dev/null', with(words, "@"))
        assert.is_true(status == 1 or status == 2)
        assert.matches("is a directory", said)
      end)
    end

    if not in_lua then
      it(name .. " refuses a device that has no end", function()
        local status, said = sh('"$@" </dev/null', with(words, "/dev/zero"))
        assert.is_true(status == 1 or status == 2)
        assert.matches(most and "/dev/zero: is a device that has no end, expected a file"
          or "/dev/zero:1: a line is longer than 16 MiB", said)
      end)
    end

    if not in_lua and most and most ~= "1 GiB" then
      it(name .. " ends reading a pipe that does not end", function()
        local status, said = sh('yes >@/fifo & "$@" </dev/null; s=$?; kill $! 2>/dev/null; exit $s', with(words, "@/fifo"))
        assert.is_true(status == 1 or status == 2)
        assert.matches(("fifo: is longer than %s, the most that %s may have"):format(most, what), said)
      end)
    end
  end
end)

describe("a policy from a pipe that ends is read once, by", function()
  for _, words in ipairs { { "policy", "bench", "-n", "1", "@/fifo" },
    { "policy", "profile", "-r", MACHINE, "-p", "@/fifo", "slot=1/node" } } do
    it("weir policy " .. words[2], function()
      local policy = [[echo "return { doc = \"d\", order = { \"id\" } }" >@/fifo & "$@" </dev/null]]
      local status, said = sh(policy, words)
      assert.equal(0, status, said)
    end)
  end
end)

-- Endless standard input, the words, and the message.
local ENDLESS = {
  { "yes", { "match", "-r", MACHINE, "-" }, "<stdin>: is longer than 64 MiB, the most that a jobspec may have" },
  { "yes", { "show", "-r", "-" }, "<stdin>: is longer than 1 GiB, the most that a machine may have" },
  { "yes", { "run", "-" }, "<stdin>: is longer than 16 MiB, the most that a script may have" },
  { "cat /dev/zero", { "run", "-" }, "<stdin>: is longer than 16 MiB" },
  { "cat /dev/urandom", { "run", "-" }, "<stdin>: is longer than 16 MiB" },
  { "yes", { "repl", "-r", MACHINE }, "<stdin>: is longer than 16 MiB, the most that an input of the REPL may have" },
  { "yes", { "replay", "-r", "core:4", "-" }, "not a trace" },
  { "{ echo ';'; yes; }", { "replay", "-r", "core:4", "-" }, 'no line of it makes sense as swf; line 2: "y" is no number' },
  { "{ echo submit,runtime,procs; yes; }", { "replay", "-r", "core:4", "-" }, "no line of it makes sense as csv" },
  { "yes {", { "replay", "-r", "core:4", "-" }, "lines have no job" },
  { "cat /dev/zero", { "replay", "-r", "core:4", "-" }, ":1: a line is longer than 16 MiB" },
  { "{ echo '; x'; cat /dev/zero; }", { "replay", "-r", "core:4", "-" }, ":2: a line is longer than 16 MiB" },
  { "cat /dev/zero", { "query", "-L", "@/machine.json", "-f", "jgf" }, "<stdin>: a line is longer than 16 MiB" },
  { [[{ printf "{\"version\":1,\"execution\":{\"R_lite\":["; yes "{},"; }]], { "show", "-r", "-" }, "a value of more than 256 MiB" },
  { [[{ printf "{\"graph\":\""; yes | tr -d "\n"; }]], { "show", "-r", "-" }, "a text of more than 16777216 bytes" },
}

describe("standard input without an end", function()
  for _, case in ipairs(ENDLESS) do
    it(("is refused by weir %s: %s"):format(table.concat(case[2], " "), case[1]), function()
      shell.path(dir, "machine.json", assert(require("weir").synthetic(MACHINE):format "jgf"))
      local status, said = sh(case[1] .. ' 2>/dev/null | "$@"', case[2])
      assert.is_true(status == 1 or status == 2, said)
      assert.is_truthy(said:find(case[3], 1, true), said)
    end)
  end
end)

describe("a pipe with an end", function()
  for _, case in ipairs {
    { "a jobspec", "printf slot=1/node", { "match", "-r", MACHINE, "@/fifo" } },
    { "a machine", "printf node:2", { "show", "-r", "@/fifo" } },
    { "a script", "echo 'print(1)'", { "run", "@/fifo" } },
    { "a policy", "echo 'return {}'", { "match", "-r", MACHINE, "-p", "@/fifo", "slot=1/node" } },
    { "a trace", "echo '1 0 0 9 1 1 1 1 9 1 1 1 1 1 1 1 1 1'", { "replay", "-r", "core:4", "--quiet", "@/fifo" } },
  } do
    it("is read as " .. case[1], function()
      assert.equal(0, (sh(case[2] .. ' >@/fifo & "$@"', case[3])))
    end)
  end
end)

describe("the library's sources", function()
  -- Reads without a limit, allowed where the input is written by weir itself or by the kernel, and so has an end.
  local UNBOUNDED = { '[%w_.]+:?read%s*%(?%s*["\']%*?[al]', "[%w_.]+:lines%s*%(", "io%.lines", "%f[%w]dofile", "%f[%w]loadfile" }
  local KNOWN = { ["pipe:lines("] = true, ['pipe:read("a'] = true, ['pipe:read "a'] = true, ['file:read "l'] = true,
    ["flat:lines("] = true } -- of a simulation

  it("read nothing whole without a limit", function()
    local found = {}
    for path in assert(io.popen "find lua -name '*.lua'"):lines() do
      local n = 0
      for line in io.lines(path) do
        n = n + 1
        for _, pattern in ipairs(UNBOUNDED) do
          local use = not line:find "^%s*%-%-" and line:match(pattern)
          if use and not KNOWN[use] then found[#found + 1] = ("%s:%d: %s"):format(path, n, use) end
        end
      end
    end
    assert.same({}, found)
  end)
end)
