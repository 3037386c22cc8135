-- One tree under one name: format "tree", weir show, match, find, convert, the REPL and the service print the same lines.
local shell = require "spec.support.shell"
local view = require "weir.view"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 socket:2 core:2 memory:1(size=16,unit=GB)"

local function slurp(command) return shell.weir(command).out end

describe("the tree of a machine", function()
  local TREE = [[
cluster0
`-- rack[0-1]
    `-- 2 node
        `-- 2 socket
            |-- 2 core
            `-- 1 memory  16 GB
]]

  -- {where, lines}
  for _, case in ipairs {
    { "g:format", function(g) return g:format "tree" end },
    { "weir show", function() return slurp { "show", "-r", MACHINE } end },
    { "weir show --tree --all", function() return slurp { "show", "-r", MACHINE, "--tree", "--all" } end },
    { "weir convert", function() return slurp { "convert", "-F", "tree", MACHINE, "-" } end },
    { "weir find --graph tree", function() return slurp { "find", "-r", MACHINE, "--graph", "tree", "size>0" } end },
    { "g:write", function(g)
      local file <close> = assert(io.tmpfile())
      assert.is_true(g:write(file, "tree"))
      file:seek "set"
      return file:read "a"
    end },
    { "g:save", function(g)
      local path = os.tmpname()
      assert.is_true(g:save(path, { format = "tree" }))
      local file <close> = assert(io.open(path))
      os.remove(path)
      return file:read "a"
    end },
  } do
    it("is what it is elsewhere, from " .. case[1], function()
      local g <close> = weir.synthetic(MACHINE)
      assert.equal(TREE, case[2](g))
    end)
  end

  -- {what is done to /cluster0/rack1, lines of the tree of the rack}
  for _, case in ipairs {
    { "a node is down, and nothing in it is called used", function(_, g) g "/cluster0/rack1/node3".state = "down" end, [[
rack1
|-- node2
|   `-- socket[0-1]
|       |-- 2 core
|       `-- 1 memory  16 GB
`-- node3  down
    `-- socket[0-1]
        |-- 2 core
        `-- 1 memory  16 GB
]] },
    { "all of it is down", function(_, g) g "/cluster0".state = "down" end, [[
rack1
`-- node[2-3]
    `-- 2 socket
        |-- 2 core
        `-- 1 memory  16 GB
]] },
    { "parts are used", function(_, g)
      assert(g "/cluster0/rack1/node2/socket0":allocate { job = 8 })
      assert(g "/cluster0/rack1/node3/socket0/memory0":allocate { job = 9, amount = 4 })
    end, [[
rack1
|-- node2
|   |-- socket0  used
|   |   |-- core[0-1]  0 of 2 free
|   |   `-- memory0  0 of 16 GB free
|   `-- socket1
|       |-- core[2-3]
|       `-- memory1  16 GB
`-- node3
    |-- socket0
    |   |-- core[0-1]
    |   `-- memory0  12 of 16 GB free
    `-- socket1
        |-- core[2-3]
        `-- memory1  16 GB
]] },
  } do
    it("shows a part where " .. case[1], function()
      local g <close> = weir.synthetic(MACHINE)
      case[2](weir.engine { resources = g }, g)
      assert.equal(case[3], g:format("tree", { start = "/cluster0/rack1" }))
      assert.equal(case[3], g:format("tree", { start = g "/cluster0/rack1" }))
    end)
  end

  it("of nothing is no text", function()
    local g <close> = weir.new()
    assert.equal("", g:format "tree")
  end)

  it("shows names as valid UTF-8", function()
    local g <close> = weir.synthetic "node:1"
    assert(g:add(g "/node0", { type = "core", name = 'odd "\255' }))
    assert.equal('node0\n`-- odd "\u{FFFD}\n', g:format "tree")
  end)

  -- {options, part of the message, code: the call returns; nil: the call raises}
  for _, case in ipairs {
    { { all = true }, '"tree" is written without the option `all`', "invalid" },
    { { start = "/node9" }, "node9", "unknown" }, { { start = true }, "a vertex or a URI expected" },
    { { start = io.stdout }, "a vertex or a URI expected" }, { { depth = 1 }, "no option 'depth'" },
    { { width = "1" }, "field 'width': integer expected" }, { 5, "table expected" },
  } do
    it("checks its options: " .. case[2], function()
      local g <close> = weir.synthetic "node:1"
      local ok, text, why, code = pcall(g.format, g, "tree", case[1])
      assert.same({ case[3] ~= nil, case[3] }, { ok, code })
      assert.truthy((why or text):find(case[2], 1, true), why or text)
    end)
  end

  it("takes no start of another graph, and is not saved by its changes", function()
    local g <close> = weir.synthetic "node:1"
    local other <close> = weir.synthetic "node:1"
    assert.error_matches(function() g:format("tree", { start = other:root() }) end, "another graph")
    assert.equal("invalid", select(3, g:save("/nonexistent", { format = "tree", changed = true })))
    assert.equal("io", select(3, g:save("/nonexistent/x", { format = "tree" })))
    assert.matches("expected one of .*rlite.*tree", select(2, g:format "png"))
  end)

  it("goes into an open file only", function()
    local g <close> = weir.synthetic "node:1"
    local file = assert(io.tmpfile())
    file:close()
    assert.error_matches(function() g:write(file, "tree") end, "closed")
    assert.error_matches(function() g:write("x", "tree") end, "FILE")
    local full <close> = assert(io.open("/dev/full", "w"))
    full:setvbuf "no"
    assert.equal("io", select(3, g:write(full, "tree")))
  end)
end)

describe("the tree of an allocation", function()
  -- {request, lines}: jobs on one machine, one after the other
  local JOBS = {
    { "slot=2/node", [[
cluster0
`-- rack0
    `-- node[0-1]  each whole: 2 socket, 4 core, 32 memory
]] },
    { "slot=1/node{-x}/socket/[core=1;memory=6]", [[
cluster0
`-- rack1
    `-- node2
        `-- socket0  whole: 2 core, 16 memory
]] },
    { "slot=1/[core=2;memory=8]", [[
cluster0
`-- rack1
    `-- node2
        `-- socket1
            |-- core[2-3]
            `-- memory1  8 of 16 GB
]] },
  }

  it("names what is taken as a whole with what is in it, and the rest by its ids", function()
    local g <close> = weir.synthetic(MACHINE)
    local e = weir.engine { resources = g }
    for _, row in ipairs(JOBS) do
      local a = assert(e:match(row[1]))
      assert.equal(row[2], a:format "tree")
      assert.equal(row[2], view.text(view.allocation(a)))
      local file <close> = assert(io.tmpfile())
      assert.is_true(a:write(file, "tree"))
      file:seek "set"
      assert.equal(row[2], file:read "a")
    end
  end)

  it("is what weir match prints", function()
    local words, trees = { "match", "-r", MACHINE }, ""
    for i, row in ipairs(JOBS) do words[3 + i], trees = row[1], trees .. row[2] end
    assert.equal(trees, (slurp(words):gsub("job %d+:[^\n]*\n", "")))
  end)
end)

-- Names of vertices' own that end in numbers are told as hostlists.
describe("the tree of vertices with names of their own", function()
  -- {what, names, lines below the cluster}
  for _, case in ipairs {
    { "numbers filled with zeros", { "thin098", "thin099", "thin100", "thin101" }, "`-- thin[098-101]" },
    { "numbers as they are", { "n9", "n10", "n12" }, "`-- n[9-10,12]" },
    { "zeros that are not everywhere", { "r09", "r10", "r1" }, "|-- r[09-10]\n`-- r1" },
    { "other stems", { "a1", "b1" }, "|-- a1\n`-- b1" },
    { "names without numbers, or of numbers alone", { "login", "7", "8" }, "|-- login\n|-- 7\n`-- 8" },
    { "numbers too large", { "n1234567890123456", "n1234567890123457" }, "|-- n1234567890123456\n`-- n1234567890123457" },
  } do
    it("folds " .. case[1], function()
      local g <close> = weir.synthetic "cluster:1"
      for i, name in ipairs(case[2]) do g:add(g "/cluster0", { type = "node", id = 100 + i, name = name }) end
      assert.equal("cluster0\n" .. case[3] .. "\n", view.text { view.vertex(g "/cluster0") })
    end)
  end
end)

-- So io.write(g:format "jgf") writes a text and no more. A recipe comes with a list of what recipes cannot say.
describe("a text of format", function()
  local g = weir.synthetic(MACHINE)

  -- The types of all results, with blanks between.
  local function results(...)
    local types = {}
    for i = 1, select("#", ...) do types[i] = type((select(i, ...))) end
    return table.concat(types, " ")
  end

  local allocation = assert(weir.engine({ resources = g }):match "slot=1/node")

  for _, name in ipairs { "csv", "dot", "jgf", "rv1", "svg", "tree" } do
    it(name .. " is the only result for a graph", function() assert.equal("string", results(g:format(name))) end)
  end
  for _, name in ipairs { "jgf", "rlite", "rv1", "rv1_nosched", "tree" } do
    it(name .. " is the only result for an allocation", function() assert.equal("string", results(allocation:format(name))) end)
  end
end)

describe("the part in use that a tree shows beside a vertex", function()
  local lines = require "weir.view.lines"

  -- {title, jobs, depth, path of the vertex that is down, {label = used}}
  for _, case in ipairs {
    { "is all of a rack whose nodes are in use", { "slot=4/node" }, nil, nil, { rack0 = 1, rack1 = 0, cluster0 = 0.5 } },
    { "is that of the type of which most is in use", { "slot=2/gpu=1" }, nil, nil, { node0 = 1, ["node[1-3]"] = 0, rack0 = 0.25 } },
    { "counts levels that are not shown", { "slot=4/node" }, 2, nil, { rack0 = 1, rack1 = 0 } },
    { "leaves out what is down", {}, nil, "/cluster0/rack0/node0", { rack0 = 0, node0 = false } },
  } do
    it(case[1], function()
      local engine = assert(weir.engine { resources = assert(weir.synthetic "cluster:1 rack:2 node:4 [core:4 gpu:2]"), policy = "low" })
      for _, job in ipairs(case[2]) do assert(engine:match(job)) end
      if case[4] then engine:resources()(case[4]).state = "down" end
      local used = {}
      local function collect(node)
        used[node.label] = node.used or false
        for _, kid in ipairs(node.kids) do collect(kid) end
      end
      collect(view.vertex(engine:resources():root(), { depth = case[3] }))
      for label, part in pairs(case[5]) do assert.same({ label, part }, { label, used[label] }) end
    end)
  end

  it("is drawn as a bar where bars are drawn", function()
    local text = {}
    lines.draw({ label = "rack0", used = 0.5 }, function(line) text[#text + 1] = line end, { bar = { "#", "." } })
    assert.same({ "rack0  ####...." }, text)
  end)
end)
