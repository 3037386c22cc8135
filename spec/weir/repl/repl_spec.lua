-- The REPL: typed at through a pseudo-terminal, and as a filter.

local pty = require "pty"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local PROMPT, MORE = "weir> ", "  ... "
local MACHINE = "cluster:1 rack:2 node:3 core:4"
local CTRL_C, CTRL_D, TAB = "\3", "\4", "\t"

local state -- a directory for the history

local function shell(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

-- A REPL on a terminal, past its first prompt.
local function open(arguments, env)
  local words = { BIN, "repl", table.unpack(arguments or { "-r", MACHINE }) }
  local all = { XDG_STATE_HOME = state, TERM = "xterm", NO_COLOR = "1", LC_ALL = "C.UTF-8" }
  for name, value in pairs(env or {}) do all[name] = value end
  local t = pty.spawn(words, all)
  assert(t:wait_for(PROMPT, 20))
  return t
end

-- The screen's text for an input, without the escape sequences.
local function say(t, text, prompt)
  t:write(text .. "\r")
  local shown, rest = t:wait_for((prompt or "\27[?2004h" .. PROMPT), 20)
  if not shown then error("no prompt came after " .. text .. ", but " .. tostring(rest)) end
  return (shown:gsub("\27%[[%d;?]*[%a@]", ""):gsub("\r", ""):gsub(PROMPT .. "$", ""):gsub("^[^\n]*\n", "", 1))
end

-- The completions listed at Tab behind a beginning.
local function completed(t, text)
  t:write(text .. TAB)
  t:wait_for("\n", 10)
  return t:wait_for("\n", 10)
end

describe("weir repl on a terminal", function()
  setup(function() state = shell "mktemp -d":gsub("\n", "") end)
  teardown(function() shell("rm -rf " .. state) end)

  for _, case in ipairs {
    { "an expression without return", "1 + 2", "3\n" },
    { "a statement", "x = 5", "" },
    { "a string as it would be written", '"a\\nb" .. "c"', "a\nbc\n" },
    { "a short string quoted", '"abc"', '"abc"\n' },
    { "nil", "nothing", "nil\n" },
    { "a vertex with its key facts", 'g"/cluster0/rack0/node1"', "/cluster0/rack0/node1  node, up, 4 core\n" },
    { "a graph as a tree", "g", "cluster0  ░░░░░░░░\n└── rack[0-1]  ░░░░░░░░\n    └── 3 node  ░░░░░░░░\n        └── 4 core  ░░░░░░░░\n" },
    { "a list of vertices as a table", 'find "type=rack"',
      "path             type  state  free  size\n/cluster0/rack0  rack  up        1     1\n/cluster0/rack1  rack  up        1     1\n" },
    { "a failure as one", 'e:match "slot=9/node"', "no: the request can never be met on these resources  (infeasible)\n" },
    { "a table readably", '{ 1, "x", k = { true } }', '{ 1, "x", k = { true } }\n' },
    { "a table that has itself", "(function() local t = {} t.t = t return t end)()", "{ t = { ... again } }\n" },
    { "an error as one line", "error('no luck', 0)", "weir: no luck\n" },
    { "where a typing error is", "x = = 1", "weir: unexpected symbol near '='\n" },
    { "an unknown command, with a suggestion", ":polcy", 'weir: there is no command :polcy (did you mean ":policy"?); :help lists them\n' },
  } do
    it("[K3] shows " .. case[1], function()
      local t <close> = open()
      assert.equal(case[3], say(t, case[2]))
    end)
  end

  it("shows the way to an error of the policy", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write "local function f(v)\n  return v.x\nend\nreturn { name = 'mine', evaluate = function(v)\n  local s = f(v)\n  return s end }"
    file:close()
    local t <close> = open()
    assert.equal("there was no error\n", say(t, ":trace"))
    say(t, ("e:use(%q)"):format(path .. "")) -- no ending .lua: a path by its slash
    say(t, 'x = e:match "slot=1/node"')
    assert.equal(("policy mine\n%s:2: in 'f'\n%s:5: in evaluate, for /cluster0/rack0/node0\n"):format(path, path), say(t, ":trace"))
    os.remove(path)
  end)

  it("shows an allocation as its tree", function()
    local t <close> = open()
    assert.equal("job 1  allocated, start 0 s, no end\ncluster0\n└── rack0\n    └── node[0-1]  each whole: 4 core\n",
      say(t, 'e:match "slot=2/node"'))
  end)

  it("keeps a local of one input for the next, and the last value as _", function()
    local t <close> = open()
    say(t, "local x = 20")
    assert.equal("21\n", say(t, "x + 1"))
    assert.equal("42\n", say(t, "_ * 2"))
  end)

  it("goes on over lines until the input is whole", function()
    local t <close> = open()
    say(t, "for i = 1, 2 do", MORE)
    say(t, "print(i)", MORE)
    assert.equal("1\n2\n", say(t, "end"))
  end)

  it("takes several pasted lines as one input", function()
    local t <close> = open()
    t:write "\27[200~for i = 1, 2 do\nprint('line ' .. i)\nend\n\27[201~"
    assert.matches("line 1\nline 2\n", say(t, ""))
  end)

  it("drops a line at Ctrl-C", function()
    local t <close> = open()
    t:write("x = 7" .. CTRL_C)
    assert.truthy(t:wait_for("^C\r\n\27[?2004h" .. PROMPT, 5))
    assert.equal("nil\n", say(t, "x"))
  end)

  for _, case in ipairs {
    { "a loop", "while true do end" },
    { "a loop of pcall", "while true do pcall(function() while true do end end) end" },
    { "a coroutine", "coroutine.wrap(function() while true do end end)()" },
    { "a walk", "while true do for v in g:walk() do end end" },
    { "a match", 'while true do e:match("slot=1/node", {mode = "preview"}) end' },
    { "a filter of a match", "e:use{evaluate = function() while true do end end} e:match 'slot=1/node'" },
  } do
    it("interrupts " .. case[1] .. " and leaves everything consistent", function()
      local t <close> = open()
      t:write(case[2] .. "\r")
      t:wait_for("\27[?2004l", 5) -- the command runs
      t:write(CTRL_C)
      assert.truthy(t:wait_for("interrupted", 5))
      t:wait_for(PROMPT, 5)
      assert.equal("true\n", say(t, "g:check()"))
    end)
  end

  it("leaves at Ctrl-D with status 0", function()
    local t <close> = open()
    t:write(CTRL_D)
    assert.equal(0, (t:finish(10)))
  end)

  it("leaves at :quit", function()
    local t <close> = open()
    t:write ":quit\r"
    assert.equal(0, (t:finish(10)))
  end)

  it("finds what was said in another session", function()
    do
      local t <close> = open()
      say(t, "remembered = 77")
      t:write(CTRL_D)
      t:finish(10)
    end
    local t <close> = open()
    t:write "\27[A\r"
    t:wait_for(PROMPT, 5)
    assert.equal("77\n", say(t, "remembered"))
  end)

  it("keeps each line once in the history, where it was said last", function()
    local t <close> = open()
    for _, line in ipairs { "once=1", "twice=2", "once=1" } do say(t, line) end
    t:write(CTRL_D)
    t:finish(10)
    local kept = shell("cat " .. state .. "/weir/history")
    assert.equal(1, select(2, kept:gsub("once=1", "")))
    assert.is_true(kept:find("twice=2", 1, true) < kept:find("once=1", 1, true))
  end)

  it("searches the history backwards", function()
    local t <close> = open()
    say(t, "needle = 12")
    say(t, "other = 1")
    say(t, "needle = needle + 1")
    t:write "\18needle = 12\r\r"
    t:wait_for(PROMPT, 5)
    t:wait_for(PROMPT, 1)
    assert.equal("12\n", say(t, "needle"))
  end)

  describe("completes with Tab", function()
    for _, case in ipairs {
      { "a global", "tostr", "tostring" },
      { "a field of a table", "string.for", "string.format" },
      { "a method", "g:agg", "g:aggregate" },
      { "a field of a vertex", "v.proper", "v.properties" },
      { "a path", 'g"/cluster0/rack0/nod', 'g"/cluster0/rack0/node' },
      { "a type in an expression", 'find "type=clu', 'find "type=cluster' },
      { "a state in an expression", 'find "state=drai', 'find "state=draining' },
      { "a property in an expression", 'find "property=big', 'find "property=bigmem' },
      { "a tag in an expression", 'find "tag=main', 'find "tag=maintenance' },
      { "a policy", 'e:use "best', 'e:use "best_fit' },
      { "a command", ":pol", ":policy" },
      { "a method after a dot", "g.coars", "g.coarsen" },
      { "an element of a list", "list[1].proper", "list[1].properties" },
      { "an option of a call", 'e:match("slot=1/node", { mode = "now", dur', "duration = " },
      { "a type in a shape", 'e:match "slot=1/no', 'e:match "slot=1/node' },
      { "a file", 'load "core/base/number.', 'load "core/base/number.c' },
    } do
      it(case[1], function()
        local t <close> = open()
        say(t, 'v = g"/cluster0/rack0/node1" v.properties.bigmem = "" v.tags.maintenance = "" list = { v }')
        t:write(case[2] .. TAB .. "\r")
        local shown = (t:wait_for("\27[?2004l", 10) or ""):gsub("\27%[[%d;?]*[%a@]", ""):gsub("[\r\n]", "")
        assert.is_not_nil((shown:find(case[3], 1, true)), ("%q"):format(shown))
      end)
    end

    it("lists what there is when several fit", function()
      local t <close> = open()
      assert.matches("node0/", completed(t, 'g"/cluster0/rack0/node'))
    end)
  end)

  it("[K3] takes back the last change to the books", function()
    local t <close> = open()
    say(t, 'e:match "slot=2/node"')
    say(t, "e:release(1)")
    assert.equal('"job 1 has its resources again"\n', say(t, "undo()"))
    assert.equal("4\n", say(t, "g:aggregate().node.free"))
    assert.equal('"job 1 is taken back"\n', say(t, "undo()"))
    assert.equal("6\n", say(t, "g:aggregate().node.free"))
    assert.equal("no: there is nothing to take back\n", say(t, "undo()"))
  end)

  for _, case in ipairs {
    { "a state, a tag and a property", 'v.state = "down" v.tags.x = "1" v.properties.big = ""', "{ v.state, v.tags.x, v.properties.big }" },
    { "an earlier value", 'v.properties.colour = "red"', "{ v.properties.colour }" },
    { "a vertex taken away", "g:unlink(v)", '{ g"/cluster0/rack0/node1" ~= nil, g:count() }' },
    { "a vertex added", 'g:add(v, { type = "gpu", id = 0 })', "{ g:count(), g:check() }" },
    { "an allocation by hand", "v:allocate { job = 3 }", "{ #e:jobs(), v.free, g:check() }" },
    { "several changes of one input", 'e:match "slot=1/node" v.state = "down" e:match "slot=1/node"', "{ #e:jobs(), v.state }" },
  } do
    it("[K3] takes back " .. case[1], function()
      local t <close> = open()
      say(t, 'v = g"/cluster0/rack0/node1" v.properties.colour = "blue"')
      local before = say(t, case[3])
      say(t, case[2])
      assert.are_not.equal(before, say(t, case[3]))
      say(t, "undo()")
      assert.equal(before, say(t, 'v = g"/cluster0/rack0/node1" ; return ' .. case[3]))
      assert.equal(before, say(t, case[3]))
    end)
  end

  it("colours errors, states and what is in use, unless NO_COLOR is set", function()
    local t <close> = open(nil, { NO_COLOR = "" })
    local function raw(text)
      t:write(text .. "\r")
      return (t:wait_for("\27[?2004h" .. PROMPT, 20))
    end
    assert.matches("\27%[31mweir: no luck", raw "error('no luck', 0)")
    raw 'g"/cluster0/rack0/node1".state = "down"'
    assert.matches("\27%[31mdown", raw "g")
    assert.matches("node  \27%[31mdown", raw 'find "type=node"')
    raw 'e:match "slot=1/core=2"'
    assert.matches("\27%[33m%d+ of %d+ free", raw "tree()")
  end)

  it("saves the machine with its books, and goes on from there", function()
    local t <close> = open()
    local path = state .. "/session.db"
    say(t, 'e:match "slot=2/node"')
    say(t, ('save "%s"'):format(path))
    say(t, "e:release(1)")
    say(t, ('load "%s"'):format(path))
    assert.equal("4\n", say(t, "g:aggregate().node.free"))
  end)

  it("records a session as a script that runs again", function()
    local t <close> = open()
    local path = state .. "/recorded.lua"
    say(t, ":record " .. path)
    say(t, 'e:match "slot=2/node"')
    say(t, "error 'on purpose'")
    say(t, "e:release(1)")
    say(t, ":record off")
    local text, status = shell(("%s run %s"):format(BIN, path))
    assert.equal("", text)
    assert.equal(0, status)
    shell(("sed -i 's/slot=2/slot=3/' %s"):format(path))
    text, status = shell(("%s run %s"):format(BIN, path))
    assert.matches("the books came out differently", text)
    assert.equal(1, status)
  end)

  it("records from where it is: with the jobs there are", function()
    local t <close> = open()
    local path = state .. "/later.lua"
    say(t, 'e:match "slot=2/node"')
    say(t, 'e:match("slot=1/core=2", { mode = "reserve", at = 50, duration = 20 })')
    say(t, ":record " .. path)
    say(t, 'e:match "slot=1/node"')
    say(t, "e:release(1)")
    say(t, ":record off")
    local text, status = shell(("%s run %s"):format(BIN, path))
    assert.equal("", text)
    assert.equal(0, status)
  end)

  it("records what undo() took back, and the policy that was chosen", function()
    local t <close> = open()
    local path = state .. "/undone.lua"
    say(t, ":record " .. path)
    say(t, 'e:match "slot=1/node"')
    say(t, ":policy high")
    say(t, 'e:match "slot=1/node"')
    say(t, 'e:match "slot=1/core=1"')
    say(t, "undo()")
    say(t, ":record off")
    local text, status = shell(("%s run %s"):format(BIN, path))
    assert.equal("", text)
    assert.equal(0, status)
  end)

  it("tells where it records, and records on", function()
    local t <close> = open()
    local path = state .. "/on.lua"
    say(t, ":record " .. path)
    assert.equal(("recording in %s; :record off ends it\n"):format(path), say(t, ":record"))
    assert.equal(("recorded in %s\n"):format(path), say(t, ":record off"))
  end)

  it("tells in :help what the reference tells", function()
    local t <close> = open()
    assert.matches(":policy", say(t, ":help"))
    assert.matches("Units by type below a vertex", say(t, ":doc g:aggregate"))
  end)

  it("never floods: a large value ends with how much more there is", function()
    local t <close> = open { "-r", "cluster:1 node:5000 core:2" }
    local shown = say(t, 'find "type=core"')
    assert.matches("%.%.%. [%d,]+ more", shown)
    assert.is_true(select(2, shown:gsub("\n", "")) <= 40)
  end)

  it("tells what the hooks of the policy cost", function()
    local t <close> = open()
    say(t, ":policy best_fit")
    say(t, ":profile on")
    say(t, 'e:match "slot=1/node"')
    assert.matches("evaluate +%d+ calls +[%d.]+ ms", say(t, ":profile"))
  end)

  it("does the same on half a million vertices", function()
    local t <close> = open { "-r", "cluster:1 rack:560 node:18 core:50" }
    assert.matches("^cluster0  [^\n]+\n.*rack%[0%-559%].*18 node.*50 core", say(t, "g"))
    t:write('g"/cluster0/rack17/node30' .. TAB .. "\r")
    assert.truthy(t:wait_for("node30", 10))
    t:write '"\r'
    t:wait_for("\27[?2004h" .. PROMPT, 10)
    local shown = say(t, 'find "type=core"')
    assert.matches("%.%.%. [%d,]+ more", shown)
    assert.is_true(select(2, shown:gsub("\n", "")) <= 40)
  end)

  it("changes the policy", function()
    local t <close> = open()
    assert.matches("policy high@%x+", say(t, ":policy high"))
    assert.matches("^high@%x+  Highest id first", say(t, ":policy"))
    assert.matches("node5", say(t, 'e:match "slot=1/node"'))
  end)
end)

describe("weir repl as a filter", function()
  local function filter(input, options)
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write(input)
    file:close()
    local text, status = shell(("%s repl -r '%s' %s < %s"):format(BIN, MACHINE, options or "", name))
    os.remove(name)
    return text, status
  end

  for _, case in ipairs {
    { "a value a line, as JSON", "1 + 1\n'x'\n", '2\n"x"\n', 0 },
    { "vertices as JSON", 'find "type=cluster"',
      '[{"free":1,"id":0,"name":"cluster0","path":"/cluster0","size":1,"state":"up","type":"cluster"}]\n', 0 },
    { "inputs of several lines", "for i = 1, 2 do\n  print(i)\nend\n", "1\n2\n", 0 },
    { "the first error, and ends there", "error('first', 0)\nprint 'not reached'\n",
      "weir: first\nweir: line 1 has failed, so the lines after it were not run; --keep-going runs them\n", 1 },
    { "an error in the last line, without a word on lines after it", "1\nerror('last', 0)\n\n", "1\nweir: last\n", 1 },
    { "a failed match, and where it ends", '\ne:match "slot=9/node"\n1\n',
      'null\n"the request can never be met on these resources"\n"infeasible"\n'
      .. "weir: line 2 has failed, so the lines after it were not run; --keep-going runs them\n", 1 },
    { "an unfinished input as an error", "for i = 1, 2 do\n", "weir: the input ends in the middle\n", 1 },
  } do
    it("gives " .. case[1], function()
      local text, status = filter(case[2])
      assert.equal(case[3], text)
      assert.equal(case[4], status)
    end)
  end

  it("goes on after an error when told so, and still says that there was one", function()
    local text, status = filter("error('first', 0)\n1\n", "--keep-going")
    assert.equal("weir: first\n1\n", text)
    assert.equal(1, status)
  end)

  it("writes CSV", function()
    assert.equal("path,type,state,free,size\n/cluster0/rack0,rack,up,1,1\n/cluster0/rack1,rack,up,1,1\n",
      (filter('find "type=rack"', "-m csv")))
  end)
end)

describe("weir.repl()", function()
  it("has the locals of the caller, and leaves them what they were given", function()
    local weir = require "weir"
    local g = weir.synthetic(MACHINE)
    local count = 3
    weir.repl { resources = g, input = "count = count + g:count()" }
    assert.equal(3 + 33, count)
  end)
end)
