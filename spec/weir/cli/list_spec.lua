-- weir list: the free, allocated and down resources, byte for byte as flux-core's `flux resource list` prints;
-- formats and failures.

local columns = require "weir.cli.columns"
local missing = require "spec.support.missing"
local shell = require "spec.support.shell"
local tables = require "spec.support.tables"
local weir = require "weir"

local function lines(...) return table.concat({ ... }, "\n") .. "\n" end

local function R(ranks, hosts, more)
  local execution = { R_lite = weir.array { ranks ~= "" and { rank = ranks, children = { core = "0-3", gpu = "0" } } or nil },
    nodelist = hosts and { hosts } or nil }
  for key, value in pairs(more or {}) do execution[key] = value end
  return { version = 1, execution = execution }
end

-- 8 nodes: 2 are debug, rank 2 has a property that is no queue; 7 is down; two cores are allocated on 0 and on 1.
local ANSWER = {
  all = R("0-7", "c[10-17]", { properties = { batch = "0-5", debug = "6-7", ["größe"] = "2" }, starttime = 5, expiration = 90.5 }),
  down = R("7", "c17", { properties = { debug = "7" } }),
  allocated = { version = 1, execution = { R_lite = { { rank = "0-1", children = { core = "0-1" } } }, nodelist = { "c[10-11]" },
    properties = { batch = "0-1" } } },
}
local QUEUES = { queues = { batch = { requires = { "batch" } }, debug = { requires = { "debug" } }, any = { parent = "batch" } } }

describe("weir list", function()
  local dir, answer, config

  setup(function()
    dir = shell.directory()
    answer = shell.path(dir, "answer.json", weir.json.encode(ANSWER))
    config = shell.path(dir, "queues.json", weir.json.encode(QUEUES))
  end)
  teardown(shell.clean)

  -- The words with the names of files in their places.
  local function run(words, stdin)
    local given = { "list" }
    for _, word in ipairs(words) do
      given[#given + 1] = (word:gsub("^ANSWER$", answer):gsub("^QUEUES$", config):gsub("^DIR/", dir .. "/"))
    end
    return shell.weir(given, stdin)
  end

  local function assert_prints(expected, words, stdin)
    local r = run(words, stdin)
    assert.same({ err = "", out = expected, status = 0 }, r)
  end

  -- {title, words, output}
  local PRINTS = {
    { "lines by state and properties, in columns for programs", { "ANSWER" }, lines(
      "     STATE PROPERTIES NNODES   NCORES    NGPUS",
      "      free batch           5       16        5",
      "      free batch,größe      1        4        1",
      "      free debug           1        4        1",
      " allocated batch           2        4        0",
      "      down debug           1        4        1") },
    { "the format for people", { "-o", "default", "ANSWER" }, lines(
      "     STATE PROPERTIES NNODES NCORES NGPUS NODELIST",
      "      free batch           5     16     5 c[10-11,13-15]",
      "      free batch,grö+      1      4     1 c12",
      "      free debug           1      4     1 c16",
      " allocated batch           2      4     0 c[10-11]",
      "      down debug           1      4     1 c17") },
    { "the resources themselves", { "-s", "allocated,down", "-o", "rlist", "ANSWER" }, lines(
      "     STATE PROPERTIES NNODES NCORES NGPUS LIST",
      " allocated batch           2      4     0 rank[0-1]/core[0-1]",
      "      down debug           1      4     1 rank7/core[0-3],gpu0") },
    { "queues, whose properties are then no more to be seen", { "-c", "QUEUES", "-o", "default", "ANSWER" }, lines(
      "     STATE QUEUE PROPERTIES NNODES NCORES NGPUS NODELIST",
      "      free batch                 5     16     5 c[10-11,13-15]",
      "      free batch größe           1      4     1 c12",
      "      free debug                 1      4     1 c16",
      " allocated batch                 2      4     0 c[10-11]",
      "      down debug                 1      4     1 c17") },
    { "one queue", { "-c", "QUEUES", "-q", "debug", "-o", "{state} {queue} {nnodes}", "ANSWER" },
      lines("STATE QUEUE NNODES", "free debug 1", "allocated debug 0", "down debug 1") },
    { "a queue that is a part of another", { "-c", "QUEUES", "-q", "any", "-s", "free", "-no", "{queue} {ranks}", "ANSWER" },
      lines("any 0-5") },
    { "states in the order asked for", { "-s", "down,up,all", "-no", "{state}:{ranks}", "ANSWER" }, lines("down:7", "up:0-6", "all:0-7") },
    { "some ranks, and no empty lines then", { "-i", "3-4", "-no", "{state} {ranks} {properties}", "ANSWER" }, lines("free 3-4 batch") },
    { "some hosts", { "-i", "c[16-99]", "-no", "{state} {nodelist}", "ANSWER" }, lines("free c16", "down c17") },
    { "empty lines where they are asked for", { "-i", "3", "--no-skip-empty", "-no", "{state} {nnodes}", "ANSWER" },
      lines("free 1", "allocated 0", "down 0") },
    { "no empty lines where they are not", { "--skip-empty", "-no", "{state} {nnodes}", "node:2 core:2" }, lines("free 2") },
    { "nothing of a field that stands alone and is empty", { "-s", "down", "-no", "{nodelist}", "node:2 core:2" }, "" },
    { "the totals of all", { "--info", "ANSWER" }, lines "8 Nodes, 32 Cores, 8 GPUs" },
    { "the totals of some states", { "--info", "-s", "down", "ANSWER" }, lines "1 Nodes, 4 Cores, 1 GPUs" },
    { "an R of some states, with the times of all", { "-R", "-s", "down,allocated", "ANSWER" }, lines(
      '{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-1"}},{"rank":"7","children":{"core":"0-3","gpu":"0"}}],'
        .. '"nodelist":["c[10-11,17]"],"properties":{"batch":"0-1","debug":"7"},"starttime":5,"expiration":90.5}}') },
    { "a synthetic machine", { "node:3 core:4" }, lines(
      "     STATE PROPERTIES NNODES   NCORES    NGPUS",
      "      free                 3       12        0",
      " allocated                 0        0        0",
      "      down                 0        0        0") },
    { "a machine with jobs on it", { "-j", "slot=2/node", "-j", "slot=1/core=1", "-no", "{state} {nnodes} {ncores}", "node:4 core:4" },
      lines("free 2 7", "allocated 3 9", "down 0 0") },
    { "nothing of nothing", { "-no", "{state} {nnodes}", "DIR/empty.R" }, lines("free 0", "allocated 0", "down 0") },
  }
  for _, case in ipairs(PRINTS) do
    it("prints " .. case[1], function()
      shell.path(dir, "empty.R", '{"version":1,"execution":{"R_lite":[]}}')
      assert_prints(case[3], case[2])
    end)
  end

  it("prints what is down in a machine, and in the graph of an R", function()
    local g <close> = assert(weir.synthetic "cluster:1 node:3 core:2")
    g:vertex("/cluster0/node1").state = "down"
    for _, format in ipairs { "jgf", "rv1" } do
      local path = shell.path(dir, "machine." .. format, g:format(format))
      assert_prints(lines("free 0,2", "allocated ", "down 1"), { "-no", "{state} {ranks}", path })
    end
  end)

  it("prints several Rs as one, by rank", function()
    local a, b = shell.path(dir, "a.R", weir.json.encode(R("0-1", "a[0-1]"))), shell.path(dir, "b.R", weir.json.encode(R("2", "b2")))
    assert_prints(lines("free 0-2 a[0-1],b2"), { "-s", "free", "-no", "{state} {ranks} {nodelist}", a, b })
    local r = run { a, shell.path(dir, "other.R", weir.json.encode(R("1", "x"))) }
    assert.same({ "", 2 }, { r.out, r.status })
    assert.matches("^weir: [^\n]*other%.R: rank 1 is a1 in one set and x in the other[^\n]*\n$", r.err)
  end)

  it("reads standard input", function()
    assert_prints(lines "8 Nodes, 32 Cores, 8 GPUs", { "--info", "-" }, answer)
  end)

  it("writes JSON", function()
    local r = run { "--json", "-s", "free", "-i", "2,6", "-c", "QUEUES", "ANSWER" }
    assert.same({
      { state = "free", queue = "batch", nnodes = 1, ncores = 4, ngpus = 1, properties = { "batch", "größe" },
        ranks = "2", nodelist = "c12" },
      { state = "free", queue = "debug", nnodes = 1, ncores = 4, ngpus = 1, properties = { "debug" },
        ranks = "6", nodelist = "c16" },
    }, weir.json.decode(r.out))
  end)

  it("needs no reader for all it writes", function()
    local words = ("%s list --json 'node:50000 core:8'"):format(shell.bin)
    local pipe <close> = assert(io.popen(("{ %s; %s -R; } 2>&1 | head -c 1"):format(words, words)))
    assert.equal("[", pipe:read "a")
  end)

  -- {words, part of the line on stderr, status if not 2}
  local WRONG = {
    { { "none.R" }, "none.R: cannot open: No such file" },
    { { "/" }, "directory" },
    { { "DIR/bad.R" }, "bad.R: execution.nodelist: names 3 hosts, but R_lite has 4 ranks" },
    { { "DIR/torn.R" }, "torn.R:1:" },
    { { "DIR/down.json" }, "down.json: down: version: expected 1" },
    { { "DIR/text" }, "is no machine in a known format (GraphML recipe, JSON graph, R, hwloc XML, SQLite, \"node:4 core:8\", slurm.conf" },
    { { "-s", "broken", "ANSWER" }, "--states: there is no state broken; there is up, down, allocated, free, all" },
    { { "-s", ",", "ANSWER" }, "--states: expected a state" },
    { { "-o", "wide", "ANSWER" }, "--format: wide is neither default" },
    { { "-o", "{nodes}", "ANSWER" }, '--format: there is no field "nodes" (did you mean "nnodes"?)' },
    { { "-o", "{nnodes:x}", "ANSWER" }, '--format: "x" is not a field layout' },
    { { "-o", "{nnodes", "ANSWER" }, "--format: a field is not closed" },
    { { "-o", "nnodes}", "ANSWER" }, "--format: a single }" },
    { { "-o", "{state!d}", "ANSWER" }, "conversions are for times" },
    { { "-i", "c[", "ANSWER" }, "--include: expected ranks or hosts: " },
    { { "-q", "batch", "ANSWER" }, "-q needs --config" },
    { { "-q", "night", "-c", "QUEUES", "ANSWER" }, "--queue: night: there is no such queue" },
    { { "-c", "DIR/text", "ANSWER" }, "text: " },
    { { "-c", "DIR/queues", "ANSWER" }, "queues: queues.q: expected {requires = [...]} or {parent = a queue}" },
    { { "--info", "--json", "ANSWER" }, "--info and --json cannot be combined" },
    { { "-j", "slot=9/node", "node:2" }, "slot=9/node", 1 },
    { { "-j", "slot=1/node", "node:2", "node:2" }, "-j places jobs on one machine, and 2 are given" },
    { { "--state", "free", "ANSWER" }, 'unknown option --state (did you mean "--states"?)' },
  }
  for _, case in ipairs(WRONG) do
    it("refuses " .. table.concat(case[1], " "), function()
      shell.path(dir, "bad.R", weir.json.encode(R("0-3", "a[0-2]")))
      shell.path(dir, "torn.R", '{"version":1,"execution":{')
      shell.path(dir, "down.json", '{"all":null,"down":{"version":2}}')
      shell.path(dir, "text", "hello\n")
      shell.path(dir, "queues", '{"queues":{"q":{"parent":"none"}}}')
      local r = run(case[1])
      assert.same({ "", case[3] or 2 }, { r.out, r.status })
      assert.matches("^weir: [^\n]+\n$", r.err)
      assert.matches(case[2], r.err, 1, true)
    end)
  end

  it("tells of itself", function()
    local r = run { "--help" }
    assert.matches("^usage: weir list .*%-%-states.*%-%-include.*%-%-rset.*nodelist, rlist", r.out)
    assert.equal(0, r.status)
  end)
end)

describe("flux-core's listings", function()
  local NAMES = { "fluke", "fluxion", "missing", "normal-input", "normal-new", "null" }

  local function path(name) return tables.root .. "/r/flux-core-list/" .. name end

  -- {title, the file expected behind the name, words, whether the queues are printed}
  local WAYS = {
    { "the lines", ".expected", {} },
    { "the lines, of what comes in at standard input", ".expected", { "-" } },
    { "the lines with queues", ".expected", {}, true },
    { "the lines in that format", ".expected", { "-o", "{state:>10} {properties:<10} {nnodes:>6} {ncores:>8} {ngpus:>8}" } },
    { "the totals", "-info.expected", { "--info" } },
  }
  for _, name in ipairs(NAMES) do
    for _, way in ipairs(WAYS) do
      local file = "r/flux-core-list/" .. name .. way[2]
      local expected = tables.read(file)
      local test = missing.it_with(expected, missing.data(file), it, pending)
      if not way[4] or tables.read("r/flux-core-list/" .. name .. ".config") then
        test(("%s of %s are those of flux resource"):format(way[1], name), function()
          local words = { "list", table.unpack(way[3]) }
          if way[4] then table.move({ "-c", path(name .. ".config") }, 1, 2, #words + 1, words) end
          if way[3][1] ~= "-" then words[#words + 1] = path(name .. ".json") end
          assert.same({ out = expected, err = "", status = 0 }, shell.weir(words, path(name .. ".json")))
        end)
      end
    end

    local file = "r/flux-core-list/" .. name .. ".R"
    local text = tables.read(file)
    missing.it_with(text, missing.data(file), it, pending)("the R of all of " .. name .. " is that of flux resource", function()
      local r = shell.weir { "list", "-R", path(name .. ".json") }
      local ours, theirs = assert(weir.R(r.out)), assert(weir.R(text))
      assert.is_true(ours == theirs)
      assert.same({ ours:starttime(), ours:expiration() }, { theirs:starttime(), theirs:expiration() })
      for _, property in ipairs(theirs:properties()) do
        assert.equal(tostring(theirs:properties()[property]), tostring(ours:properties()[property]))
      end
      assert.equal(#theirs:properties(), #ours:properties())
    end)
  end
end)

describe("columns", function()
  local HEADINGS = { name = "NAME", n = "N", empty = "EMPTY" }
  local ROW = { name = "größe", n = 1234567, empty = "" }

  -- {format, the heading, the row}; "?:" and "+:" are applied to this one row
  local CASES = {
    { "{name}", "NAME", "größe" }, { "{name:8}|", "NAME    |", "größe   |" }, { "{name:>8}", "    NAME", "   größe" },
    { "{name:^9}|", "  NAME   |", "  größe  |" }, { "{name:*<7}", "NAME   ", "größe**" }, { "{name:é^7}", " NAME  ", "égrößeé" },
    { "{name:.3}", "NAME", "grö" }, { "{name:<6.4}|", "NAME  |", "größ  |" },
    { "{name:<4.4+}", "NAME", "grö+" }, { "{name:.9+}", "NAME", "größe" },
    { "{n}", "N", "1234567" }, { "{n:9}", "N        ", "  1234567" },
    { "{n:<9}|", "N        |", "1234567  |" }, { "{n:,}", "N", "1,234,567" },
    { "{n:09d}", "N        ", "001234567" }, { "{n:>3}", "  N", "1234567" },
    { "{empty:h}|", "EMPTY|", "-|" }, { "{empty:>7h}", "  EMPTY", "      -" }, { "{name:h}", "NAME", "größe" },
    { "{n} a ?:{empty} b", "N b", "1234567 b" }, { "?:{empty:9}{name}", "NAME", "größe" }, { "?:{name} x", "NAME x", "größe x" },
    { "+:{name:2}|", "NAME |", "größe|" }, { "+:{name:<2.2}|", "NAME |", "größe|" },
    { "?+:{empty:>9}.", ".", "." }, { "+:{empty:>2}.", "EMPTY.", "     ." },
    { "{{{name}}} {{}}", "{NAME} {}", "{größe} {}" }, { "x", "x", "x" }, { "", "", "" },
  }
  for _, case in ipairs(CASES) do
    it(("lay out by %q"):format(case[1]), function()
      local fitted = assert(columns.parse(case[1], HEADINGS)):fit({ ROW }, true)
      assert.same({ case[2], case[3] }, { fitted:header(), fitted:row(ROW) })
    end)
  end

  it("are as wide as the longest of all rows, headings aside where there are none", function()
    local format = assert(columns.parse("+:{name:>1} {n}", HEADINGS))
    local rows = { { name = "a", n = 1 }, { name = "abc", n = 2 } }
    assert.same({ "  a 1", "abc 2" }, { format:fit(rows, false):row(rows[1]), format:fit(rows, false):row(rows[2]) })
    assert.equal("   a 1", format:fit(rows, true):row(rows[1]))
  end)

  it("know their fields", function()
    local format = assert(columns.parse("{name} {n}", HEADINGS))
    assert.same({ true, false }, { format:has "name", format:has "empty" })
  end)

  for _, wrong in ipairs { "{", "}", "{name", "{none}", "{name:q}", "{name:5.}", "{name:99999}", "{}", "{name!s}" } do
    it(("refuse %q"):format(wrong), function()
      local format, why = columns.parse(wrong, HEADINGS)
      assert.is_nil(format)
      assert.is_string(why)
    end)
  end
end)
