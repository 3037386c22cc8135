-- weir repl -s: a running service explored, typed at through a pseudo-terminal, and as a filter.

local pty = require "pty"
local service = require "spec.support.service"
local shell = require "spec.support.shell"

local PROMPT = "weir> "
local TAB, CTRL_C, CTRL_D = "\t", "\3", "\4"
local MACHINE = "cluster:1 rack:2 node:3 core:4"

local s, home

-- A REPL on a terminal, past its first prompt.
local function open()
  local t = pty.spawn({ shell.bin, "repl", "-s", s.path }, { XDG_STATE_HOME = home, TERM = "xterm", NO_COLOR = "1", LC_ALL = "C.UTF-8" })
  local shown = assert(t:wait_for(PROMPT, 20))
  return t, shown
end

-- The screen's text for an input, without the escape sequences.
local function say(t, text)
  t:write(text .. "\r")
  local shown, rest = t:wait_for("\27[?2004h" .. PROMPT, 20)
  if not shown then error("no prompt came after " .. text .. ", but " .. tostring(rest)) end
  return (shown:gsub("\27%[[%d;?]*[%a@]", ""):gsub("\r", ""):gsub(PROMPT .. "$", ""):gsub("^[^\n]*\n", "", 1))
end

local function filter(input, ...)
  return shell.weir({ "repl", "-s", s.path, ... }, shell.path(shell.directory(), "input", input))
end

describe("weir repl -s", function()
  before_each(function()
    home = shell.directory()
    shell.path(home, "weir")
    shell.path(home .. "/weir", "history")
    s = service.start(shell.directory(), { "-r", MACHINE, "--clock", "manual" })
  end)
  after_each(service.clean)

  it("greets with what the service has", function()
    local t, shown = open()
    t:close()
    assert.matches(s.path .. ": 33 vertices  policy low", shown, 1, true)
  end)

  for _, case in ipairs {
    { "the machine as a tree", { "g" },
      "cluster0  ░░░░░░░░\n└── rack[0-1]  ░░░░░░░░\n"
        .. "    └── 3 node  ░░░░░░░░  each: 4 core\n" },
    { "a vertex with its key facts", { 'g"/cluster0/rack0/node1"' }, "/cluster0/rack0/node1  node, up, 4 core\n" },
    { "vertices as a table", { 'find "type=rack"' },
      "path             type  state  free  size\n/cluster0/rack0  rack  up        1     1\n/cluster0/rack1  rack  up        1     1\n" },
    { "what a job got", { 'e:match "slot=2/node"' },
      "job 1  allocated, start 0 s, no end\ncluster0\n└── rack0\n    └── node[0-1]  each whole: 4 core\n" },
    { "a refusal", { 'e:match "slot=9/node"' }, "no: the request can never be met on these resources  (infeasible)\n" },
    { "a shape that is none", { 'e:match "slot="' }, "^no: .*  %(parse%)\n$", pattern = true },
    { "the jobs", { ":match slot=1/node", ":jobs" },
      "^id  state      at  policy +has\n 1  allocated   0  low@%x+ +/cluster0/rack0/node0\n$", pattern = true },
    { "what a job has", { ":match slot=1/node", "e:job(1):vertices()" },
      "path                   amount  whole\n/cluster0/rack0/node0       1  yes\n" },
    { "the tree of a job", { ":match slot=1/node", 'e:job(1):format "tree"' }, "cluster0\n`-- rack0\n    `-- node0  whole: 4 core\n\n" },
    { "R of a job", { ":match slot=1/node", 'e:job(1):format "rlite"' }, [["[{\"children\":{\"core\":\"0-3\"},\"rank\":\"0\"}]"]] .. "\n" },
    { "that a job is gone", { ":match slot=1/node", ":release 1", ":release 1" }, "weir: there is no job 1\n" },
    { "why a job does not fit", { ":explain slot=9/node" }, "infeasible: never on this machine as it is\n", find = true },
    { "who uses what", { ":match slot=2/node", "top()" }, "job  state      at  node\n1    allocated   0  2\n" },
    { "a state that was changed", { ":state /cluster0/rack0/node2 down", "g'/cluster0/rack0/node2'.state" }, '"down"\n' },
    { "a state by assignment", { 'g"/cluster0/rack0/node2".state = "down"', 'e:match("slot=6/node", {mode = "preview"})' },
      "no: the resources that would do are in use, down or reserved  (busy)\n" },
    { "tags", { 'v = g"/cluster0/rack0"', 'v.tags.disk = "old"', "v.tags.disk" }, '"old"\n' },
    { "what is drained", { ":drain 3 disk" },
      "group    targets  online   offline  acquired  leaving\ndefault  0-5      0-2,4-5  3        yes\ndrained: 3  disk\n" },
    { "a growing job", { ":match slot=1/node", 'e:grow(1, "slot=1/node")', 'e:shrink(1, {ranks = "0"})' },
      "job 1  allocated, start 0 s, no end\ncluster0\n└── rack0\n    └── node1  whole: 4 core\n" },
    { "the policy", { ":policy spread", "e:policy()" }, '"spread"', find = true },
    { "the clock", { "e:advance(5)", "e:now()" }, "5\n" },
    { "what any method says", { ':call find {"expression": "type=rack", "fields": "path"}' }, '"/cluster0/rack1"', find = true },
    { "vertices by a filter", { 'g:walk{filter = "return {evaluate = function(v) return v.id end}", type = "rack"}[1].vertex.path' },
      '"/cluster0/rack1"\n' },
    { "Lua of its own", { "n = 0 for v in g:root():children() do n = n + v:nchildren() end", "n" }, "6\n" },
    { "that a method is not there", { "e:detach(1)" }, "weir: e:detach is not there with a service; there is advance,", find = true },
    { "that the structure stays", { "g:unlink(1)" }, "weir: g:unlink is not there with a service", find = true },
    { "that properties stay", { 'g"/cluster0".properties.x = 1' }, "weir: properties are not changed on a service; tags are\n" },
    { "that undo is not there", { "undo()" }, "weir: undo is not there with a service: others may have built", find = true },
    { "that save is not there", { 'save "x.db"' }, "weir: save is not there with a service", find = true },
    { "that :record is not there", { ":record x" }, "weir: :record is not there with a service", find = true },
    { "that :show is not there", { ":show x.svg" }, "weir: :show is not there with a service", find = true },
    { "its commands", { ":help" }, ":state PATH STATE", find = true },
    { "a command that is none, with a suggestion", { ":relase 1" }, 'did you mean ":release"', find = true },
  } do
    it("[K3] shows " .. case[1], function()
      local t <close> = open()
      local shown
      for _, input in ipairs(case[2]) do shown = say(t, input) end
      if case.pattern or case.find then assert.matches(case[3], shown, 1, case.find) else assert.equal(case[3], shown) end
    end)
  end

  for _, case in ipairs {
    { "paths of vertices", 'g "/cluster0/ra', "ck" },
    { "the last step of a path", 'g "/cluster0/rack1/node5/co', "re" },
    { "commands", ":rel", "ease" },
    { "paths in a command", ":state /clu", "ster0/" },
    { "states in a command", ":state /cluster0 dra", "ining" },
    { "methods of the service", ":call resource.dr", "ain" },
    { "policies of the service", ":policy sprea", "d" },
    { "methods of the engine", "e:mat", "ch" },
    { "methods of the machine", "g:agg", "regate" },
    { "types in an expression", 'find "type=nod', "e" },
    { "tags in an expression", 'find "tag=dis', "k" },
    { "types in a shape", ":match slot=1/nod", "e" },
    { "methods in a call", 'call("resource.dr', "ain" },
    { "jobs", ":release 1", "7" },
    { "tags of a vertex", "r.tags.di", "sk" },
  } do
    it("completes " .. case[1], function()
      local t <close> = open()
      say(t, 'r = g"/cluster0" r.tags.disk = "old" e:match("slot=1/node", { job = 17 })')
      t:write(case[2] .. TAB)
      assert.truthy(t:wait_for("G" .. case[3], 10)) -- after the sequence that puts the cursor at the end of the input
    end)
  end

  it("may be left open by a script that ends", function()
    local script = shell.path(shell.directory(), "script.lua",
      ('local client = assert(require "weir.serve.client".connect %q)\nprint(client:ask("stats", nil, 5).vertices)\n'):format(s.path))
    assert.same({ 0, "33\n" }, { shell.weir({ "run", script }).status, shell.weir({ "run", script }).out })
  end)

  it("asks on when the service has gone and come back", function()
    local t <close> = open()
    s:kill()
    assert.matches("no: .*%(io%)", say(t, ":match slot=1/node") .. say(t, 'e:match "slot=1/node"'))
    s = service.start(s.path:match "^(.*)/s$", { "-r", MACHINE })
    assert.equal("33\n", say(t, "g:count()"))
  end)

  it("is interrupted while it waits for a service that does not answer", function()
    local t <close> = open()
    s.process:kill "sigstop"
    t:write "e:jobs()\r"
    t:wait_for("\27[?2004l", 5) -- the command runs
    t:write(CTRL_C)
    assert.truthy(t:wait_for("interrupted", 10))
    s.process:kill "sigcont"
    t:wait_for(PROMPT, 5)
    assert.equal("33\n", say(t, "g:count()"))
  end)

  it("leaves at the end of input with 0", function()
    local t <close> = open()
    t:write(CTRL_D)
    assert.equal(0, (t:finish(10)))
  end)

  it("is a filter: a line of JSON a value, status 1 at the first error", function()
    local ok = filter 'find "type=rack"\ne:match "slot=1/node"\n'
    assert.equal([[
[{"free":1,"id":0,"name":"rack0","path":"/cluster0/rack0","size":1,"state":"up","type":"rack"},]]
      .. [[{"free":1,"id":1,"name":"rack1","path":"/cluster0/rack1","size":1,"state":"up","type":"rack"}]
]]
      .. [[{"duration":null,"job":1,"start":0,"state":"allocated",]]
      .. [["vertices":[{"amount":1,"exclusive":true,"path":"/cluster0/rack0/node0","type":"node"}]}
]], ok.out)
    assert.equal(0, ok.status)
    assert.equal(1, filter("e:detach(1)\nprint 'not reached'\n").status)
    assert.equal("path,type,state,free,size\n/cluster0/rack0,rack,up,1,1\n/cluster0/rack1,rack,up,1,1\n",
      filter('find "type=rack"', "-m", "csv").out)
  end)

  it("says that no service is there, and that it has a machine of its own", function()
    local none = shell.weir { "repl", "-s", "/nope/s" }
    assert.equal(2, none.status)
    assert.matches("no service answers there", none.err)
    local both = shell.weir { "repl", "-s", s.path, "-r", MACHINE }
    assert.equal(2, both.status)
    assert.matches("-s excludes -r and -p", both.err, 1, true)
  end)
end)
