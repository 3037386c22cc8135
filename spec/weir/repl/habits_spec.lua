-- What hands trained on other shells type, and how values and errors are printed; as a filter in the mode for people.

local BIN = os.getenv "WEIR_BIN" or "build/weir"

-- What a session prints for inputs, standard error included.
local function said(inputs, machine)
  local name = os.tmpname()
  local file = assert(io.open(name, "w"))
  file:write(inputs)
  file:close()
  local pipe = assert(io.popen(("PAGER=cat %s repl -r '%s' -k -m table < %s 2>&1"):format(BIN, machine or "node:2 core:2", name)))
  local text = pipe:read "a"
  pipe:close()
  os.remove(name)
  return text
end

describe("the REPL takes the spellings of other shells:", function()
  for _, case in ipairs {
    { "=x", "=1+1\n", "2\n" },
    { "x? for the documentation", "e.match?\n", "^engine:match%(" },
    { "?x for the documentation", "?e.match\n", "^engine:match%(" },
    { "the name of a method", "e:match\n", "^engine:match%(" },
    { "a wrong name of a method", "e:mach\n", "did you mean" },
    { "help", "help\n", "^g is the machine" },
    { "help of a name", "help find\n", "^find%(expression" },
    { "exit", "exit\n1\n", "^$" },
    { "quit()", "quit()\n1\n", "^$" },
    { "quit as a variable of the user", "quit = 5\nquit\n", "^5\n$" },
    { "an expression that goes on", "1 +\n2\n", "^3\n$" },
    { "a table that goes on", "{\n1 }\n", "^{ 1 }\n$" },
  } do
    it("[K3] " .. case[1], function() assert.matches(case[3], said(case[2])) end)
  end

  it("prints the value of an expression that ends several statements", function()
    local read = require "weir.repl.read"
    local env = setmetatable({}, { __index = _G })
    for _, case in ipairs {
      { "x = 2\nx * 3", 6 }, { "function f() return 7 end\nf()", 7 }, { "local t = { 1 }\nselect('#',\n  t, t)", 2 },
      { "for i = 1, 3 do x = i end", nil }, { "if x then\n  x = 1\nend", nil },
    } do
      local chunk = assert(read.chunk(case[1], env))
      assert.equal(case[2], (chunk()))
    end
  end)
end)

describe("the REPL says what a value is:", function()
  for _, case in ipairs {
    { "an engine", "e", "engine with 0 jobs on 2 nodes, policy low\n" },
    { "a walk", "g:walk()", "an iterator: for x in _ do print(x) end shows what it gives\n" },
    { "an iterator", 'g"/cluster0/node0":children()', "an iterator: for x in _ do print(x) end shows what it gives\n" },
    { "no jobs", "e:jobs()", "no jobs\n" },
    { "nobody at the top", "top()", "no jobs\n" },
    { "no vertex, with a near type", 'find "type=nod"',
      'no vertex matches type=nod (did you mean "node"?); the types here are cluster, node, core\n' },
    { "no vertex of a known type", 'find "type=node and free=9"', "no vertex matches type=node and free=9\n" },
    { "no jobs, kept in a variable", "x = e:jobs()\nx", "no jobs\n" },
    { "no vertex, kept in a table", 'x = { g:find "type=core and free=9" }\nx[1]', "no vertex matches type=core and free=9\n" },
    { "an empty list of one's own beside the word find", '(function() local t = {} return t end)() -- find "type=nod"', "{}\n" },
    { "a function of one's own", "(function() return function() end end)()", "function, line 1\n" },
    { "an empty map", 'g"/cluster0/node0".properties', "{}\n" },
    { "a table with a text of its own", 'setmetatable({ 1 }, { __tostring = function() return "mine" end })', "mine\n" },
  } do
    it("[K3] " .. case[1], function() assert.equal(case[3], said(case[2] .. "\n")) end)
  end

  it("gives JSON of an empty list to programs", function()
    local pipe = assert(io.popen(BIN .. " repl -r 'node:1' -m json -c 'find \"type=nod\"'"))
    assert.equal("[]\n", pipe:read "a")
    pipe:close()
  end)

  it("counts what a long list leaves out", function()
    local text = said "(function() local t = {} for i = 1, 500 do t[i] = i end return t end)()\n"
    assert.matches("^{\n  1, 2, 3, ", text)
    assert.matches("99, 100, %.%.%. 400 more\n}\n$", text)
  end)

  it("cuts a long text, with what is left", function()
    local text = said '("x"):rep(100000)\n'
    assert.matches("^x+%.%.%. 99,200 more bytes\n$", text)
  end)

  it("folds alike racks of a large allocation", function()
    local text = said('e:match "slot=3000/node"\n', "cluster:1 rack:200 node:18 core:2")
    assert.matches("rack%[0%-165%]\n.*18 node  each whole: 2 core\n.*rack166\n.*node%[2988%-2999%]", text)
  end)

  it("shows the dates of jobs whose clock is that of the wall", function()
    local text = said 'e:match("slot=1/node", { at = 1.7e9, duration = 60, mode = "reserve" })\ne:jobs()\n'
    assert.matches("2023%-11%-1[45] %d%d:%d%d:20", text:match "\nid.*$")
  end)
end)

describe("an error in the REPL", function()
  for _, input in ipairs { "find(5)", "e:match(5)", "why(3)", 'e:match("slot=1/node", { mod = 1 })', "save(3)", "load(3)" } do
    it("[K3] names no file of weir: " .. input, function()
      local text = said(input .. "\n")
      assert.matches("^weir: ", text)
      assert.is_nil(text:find("%.lua:%d"))
    end)
  end
end)

describe("the REPL knows what is meant by", function()
  -- {input, part of what is printed}
  for _, case in ipairs {
    { 'match "slot=1/node"', "(global 'match'); it is a method of the engine, e:match(...)" },
    { 'submit "slot=1/node"', 'e:match "slot=1/node" gives a job resources now' },
    { 'e:submit "slot=1/node"', "no method 'submit'; e:match" },
    { "cancel(1)", "e:release(1) ends job 1" },
    { "g:nodes()", 'find "type=node" are the nodes' },
    { "synthetic 'node:2'", "it is a function of the library, weir.synthetic" },
    { "match slot=1/node", 'e:match "slot=1/node" matches a job' },
    { "find type=node", 'texts need quotes: find "type=node"' },
    { 'e:match "slot=1/nod"', 'there is no "nod" here (did you mean "node"?)' },
    { 'e.match "slot=1/node"', "bad argument to 'match' (weir.engine expected, got string)" },
    { "e:release()", "bad argument #2 to 'release' (number expected, got nil)" },
  } do
    it("[K3] " .. case[1], function() assert.matches(case[2], said(case[1] .. "\n"), 1, true) end)
  end
end)

describe("help in the REPL", function()
  it("knows every name that it lists", function()
    for _, name in ipairs { "find", "tree", "top", "why", "undo", "save", "load", "g", "e", "e:match", "weir.idset", "weir.json",
      "v.free" } do
      assert.is_nil((said(":doc " .. name .. "\n"):find "nothing is known"), name)
    end
  end)

  it("breaks lines between words, within the width", function()
    for line in said(":help engine\n"):gmatch "[^\n]+" do
      if line:find "^  " then assert.is_true(#line <= 80, line) end
    end
  end)

  it("fits with the prompt on a screen of 24 lines", function()
    local _, lines = said(":help\n"):gsub("\n", "")
    assert.is_true(lines <= 23, lines)
  end)

  it("suggests a near name", function() assert.matches('did you mean "find"', said ":doc finf\n") end)
end)

describe("a recording", function()
  it("is played again by :source, with its checks", function()
    local path = os.tmpname() .. ".lua"
    said((':record %s\ne:match "slot=1/node"\n:record off\n'):format(path))
    local text = said((":source %s\ne:jobs()\n"):format(path))
    assert.matches("node0", text)
    assert.is_nil((text:find "weir: "))
    text = said(('e:match "slot=2/node"\n:source %s\n'):format(path))
    assert.matches("weir: the books came out differently: job 1 was recorded as allocated 0%+inf /cluster0/node0:1!, and is ", text)
    os.remove(path)
  end)

  it("of a large job has no long lines, and comes out again", function()
    local path = os.tmpname() .. ".lua"
    said((':record %s\ne:match "slot=60/node"\ne:match "slot=20/node"\n:record off\n'):format(path), "rack:9 node:9 core:2")
    for line in io.lines(path) do assert.is_true(#line <= 160, line) end
    assert.is_nil((said((":source %s\n"):format(path), "rack:9 node:9 core:2"):find "weir: "))
    os.remove(path)
  end)

  it("of another machine says on which it was made", function()
    local path = os.tmpname() .. ".lua"
    said((':record %s\ne:match "slot=2/node"\n:record off\n'):format(path))
    assert.matches(("weir: :source: %s: the last input has failed; "
      .. "it was recorded on node:2 core:2, and this machine is node:1 core:2"):format(path),
      said((":source %s\n1\n"):format(path), "node:1 core:2"), 1, true)
    os.remove(path)
  end)

  -- {what, inputs before, part of what is said}: the recording was made while job 1 had node0.
  for _, case in ipairs {
    { "where its jobs are", 'e:match "slot=1/node"\n', "\n2\n$" },
    { "where no job is", "", "^2\n$" },
    { "not where its job has other resources", 'e:match "slot=2/node"\n',
      "weir: job 1 of the recording has /cluster0/node0:1, and here /cluster0/node0:1 /cluster0/node1:1\n" },
    { "not where another job has its resources", 'e:match("slot=1/node", { job = 7 })\n',
      "weir: job 1 of the recording has 1 of /cluster0/node0; here: 1 units requested, 0 of 1 are free\n" },
    { "not where another job is", 'e:match "slot=1/node"\ne:match("slot=1/node", { job = 7 })\n',
      "weir: the books came out differently: " },
  } do
    it("made with jobs plays " .. case[1], function()
      local path = os.tmpname() .. ".lua"
      said(('e:match "slot=1/node"\n:record %s\ne:match "slot=1/node"\n:record off\n'):format(path))
      local text = said(("%s:source %s\nprint(#e:jobs())\n"):format(case[2], path))
      os.remove(path)
      assert.matches(case[3], text)
    end)
  end
end)

describe("weir FILE", function()
  local function run(words)
    local pipe = assert(io.popen(BIN .. " " .. words .. " 2>&1"))
    local text = pipe:read "a"
    local _, _, status = pipe:close()
    return text, status
  end

  local machine = os.tmpname()
  setup(function() require("weir").synthetic("node:2 core:2"):save(machine, { format = "jgf" }) end)
  teardown(function() os.remove(machine) end)

  it("shows a machine", function() assert.matches("^cluster0\n", (run(machine))) end)
  it("takes options of show", function() assert.matches("^type ", (run(machine .. " --totals"))) end)
  it("checks a policy", function() assert.matches("low%.lua: ok", (run "policies/low.lua")) end)
  -- {what, text of the script, output, status}
  for _, case in ipairs {
    { "runs a script that uses weir", 'print(weir.synthetic "node:2":count())', "^3\n$", 0 },
    { "runs a script that requires it", 'local weir = require "weir" -- scenario\nprint(#weir.policy.list() > 5)', "^true\n$", 0 },
    { "begins a traceback with it", 'weir.synthetic "node:2":write("x")', "\nstack traceback:\n[^\n]+:1: in main chunk\n$", 1 },
    { "ends a traceback with the script", 'local g = weir.synthetic "node:2"\nlocal function f() error "bad" end\nf()',
      "bad\nstack traceback:\n[^\n]+:2: in [^\n]+\n[^\n]+:3: in main chunk\n$", 1 },
  } do
    it(case[1], function()
      local path = os.tmpname() .. ".lua"
      local file <close> = assert(io.open(path, "w"))
      file:write(case[2])
      file:close()
      local text, status = run(path)
      os.remove(path)
      assert.matches(case[3], text)
      assert.equal(case[4], status)
    end)
  end

  it("is taken by show and repl, too", function()
    assert.matches("^cluster0\n", (run("show " .. machine)))
    assert.matches("^node0\n", (run("show " .. machine .. " /cluster0/node0")))
    assert.equal("7\n", (run("repl " .. machine .. " -c 'g:count()'")))
  end)
  it("that is not there is told", function()
    assert.matches("there is no such file", (run "repl /nowhere.json"))
  end)
end)

describe("the help of the REPL", function()
  local examples = require "weir.repl.examples"
  local repl = require "weir.repl"
  local weir = require "weir"

  -- By class of the reference: the class of the examples, and whether they run as they stand.
  local CLASSES = { weir = { "weir", true }, engine = { "engine", true }, graph = { "graph", true }, script_graph = { "graph", true },
    vertex = { "vertex", true }, allocation = { "allocation", true }, loaded_policy = { "loaded_policy", true }, policy = { "policy" },
    request = { "request" } }
  local ALONE = { ["weir.repl"] = true } -- takes over the input
  local EXPECTED = { ["weir.load"] = "io", ["engine.book"] = "busy" } -- codes of examples that tell why something fails

  -- Runs an example as the REPL does.
  local function try(class, name, text)
    local env = repl.environment { resources = "cluster:1 rack:2 node:2 core:4" }
    env.print, env.io = function() end, { stdout = io.tmpfile() }
    env.e:match "slot=1/node"
    local f = assert(load("return " .. text, "=example", "t", env) or load(text, "=example", "t", env))
    local value, why, code = f()
    local wanted = EXPECTED[class .. "." .. name]
    if wanted then assert.equal(wanted, code) else assert.is_true(value ~= nil or code == nil, why) end
  end

  for class, how in pairs(CLASSES) do
    it("[K3] has an example of each member of " .. class .. ", and they run", function()
      local dir = io.popen "mktemp -d":read "l"
      for _, m in ipairs(require "weir.reference"[class].members) do
        local text = examples[how[1]][m.name]
        assert.is_string(text, class .. "." .. m.name)
        text = text:gsub("machine%.db", dir .. "/machine.db")
        if how[2] and not ALONE[class .. "." .. m.name] then try(class, m.name, text) end
      end
      os.execute("rm -r " .. dir)
    end)
  end

  it("[K3] has policies for examples of the fields of policies", function()
    for name, text in pairs(examples.policy) do
      assert(weir.engine { resources = "cluster:1 rack:2 node:2 core:4", policy = assert(load("return " .. text))() }, name)
    end
  end)

  it("[K3] shows the example", function()
    assert.matches("example: e:jobs%(%)", said ":doc e.jobs\n")
    assert.matches("example: g:types%(%)", said ":help graph\n")
  end)

  it("[K3] takes names of grammars and of commands for :doc", function()
    assert.matches("^shapes %- ", said ":doc shapes\n")
    assert.matches("^:time on|off", said "time?\n")
  end)
end)
