-- weir convert: every readable format into every writable format; reading the output gives the input.
local grug = require "spec.support.grug"
local shell = require "spec.support.shell"
local weir = require "weir"

local HWLOC, RDL = "spec/data/hwloc/", "spec/data/rdl/"

local R = [[{"version":1,"execution":{"R_lite":[{"rank":"0-1","children":{"core":"0-3","gpu":"0"}},
  {"rank":"2","children":{"core":"0-1"}}],"nodelist":["tux[1-3]"],"properties":{"big":"0,2"},"starttime":0,"expiration":0}}]]

local RECIPE = [[return { type = "cluster", name = "tux", properties = { ["a b"] = 1, ["end"] = true },
  { type = "rack", count = 2, { type = "node", count = 3, basename = "tux", tags = { owner = "ops" },
      { type = "socket", count = 2, { type = "core", count = 2 } },
      { type = "memory", count = 2, size = 64, unit = "GB", exclusive = true } } },
  { type = "node", rank = 20, count = 2, id = 40, { type = "core", id = 7 } } }]]

local SYNTHETIC = "cluster:1 rack:2 node:2 socket:2 core:3 gpu:1 memory:1(size=16,unit=GB)"

-- Machines in each readable format: name of the format, file or text.
local MACHINES = {
  { "grug", ".graphml", grug(1) },
  { "hwloc", HWLOC .. "box7.xml" },
  { "rdl", RDL .. "small.lua" },
  { "recipe", ".lua", RECIPE },
  { "synthetic", SYNTHETIC },
  { "rv1", ".json", R },
  { "jgf", ".json" },
  { "sqlite", ".db" },
}

-- The content of a machine kept by all formats for machines.
local function inventory(g)
  local lines = {}
  for v in g:walk {} do
    local maps = {}
    for _, map in ipairs { "properties", "tags" } do
      for key, value in pairs(v[map]) do maps[#maps + 1] = ("%s.%s=%s"):format(map, key, tostring(value)) end
    end
    table.sort(maps)
    lines[#lines + 1] = ("%s %s %s %s %d %s %s %s %s"):format(v.path, v.type, v.basename, tostring(v.id), v.size, v.unit,
      tostring(v.rank), tostring(v.exclusive), table.concat(maps, ","))
  end
  return table.concat(lines, "\n")
end

-- The content of a machine kept by R_lite: for each rank the number of cores and gpus.
local function by_rank(g)
  local lines = {}
  for v in g:walk { type = "node" } do
    local below = v:aggregate { all = true }
    lines[#lines + 1] = v.rank and ("%d %s %d %d"):format(v.rank, v.name, below.core and below.core.total or 0,
      below.gpu and below.gpu.total or 0)
  end
  return table.concat(lines, "\n")
end

local function again(text, format) return assert(weir.parse(text, { format = format })) end

-- The comparison of an output with the machine: format -> function(graph, text).
local WRITTEN = {}

function WRITTEN.jgf(g, text)
  local back <close> = again(text, "jgf")
  assert(g:compare(back))
end

function WRITTEN.sqlite(g, text)
  local back <close> = again(text, "sqlite")
  assert(g:compare(back, true))
end

function WRITTEN.rv1(g, text)
  local back <close> = again(text, "rv1")
  assert.equal(by_rank(g), by_rank(back))
end

WRITTEN.rv1_nosched, WRITTEN.rlite = WRITTEN.rv1, function(g, text)
  local back <close> = again('{"version":1,"execution":{"R_lite":' .. text .. "}}", "rv1")
  assert.equal((by_rank(g):gsub(" [^ \n]+ ", " ")), (by_rank(back):gsub(" [^ \n]+ ", " ")))
end

function WRITTEN.recipe(g, text)
  local back <close> = again(text, "recipe")
  assert.equal(inventory(g), inventory(back))
end

function WRITTEN.csv(g, text) assert.equal(g:count(), select(2, text:gsub("\n", "\n")) - 1) end

function WRITTEN.tree(g, text) assert.equal(1, (text:find(g:root().name, 1, true))) end

function WRITTEN.dot(_, text) assert.matches("^digraph.*}\n$", text) end

function WRITTEN.svg(_, text) assert.matches("<svg.*</svg>\n$", text) end

local FORMATS = {}
for name in pairs(WRITTEN) do FORMATS[#FORMATS + 1] = name end
table.sort(FORMATS)

-- One job three times: format, extension, text.
local JOBSPECS = {
  { "yaml", ".yaml", [[
version: 9999
resources: [{type: slot, count: 2, label: default, with: [{type: node, count: 1, with: [{type: core, count: 4}]}]}]
tasks: [{command: ["true"], slot: default, count: {per_slot: 1}}]
attributes: {system: {}}
]] },
  { "json", ".json", [[{"version":9999,"resources":[{"type":"slot","count":2,"label":"default","with":[{"type":"node","count":1,
"with":[{"type":"core","count":4}]}]}],"tasks":[{"command":["true"],"slot":"default","count":{"per_slot":1}}],
"attributes":{"system":{}}}]] },
  { "shape", "slot=2/node/core=4" },
}

-- Refused conversions: words, a part of the message.
local REFUSED = {
  { "no OUT", { "x.json" }, "IN... OUT is missing" },
  { "a file that is not there", { "nosuch.xml", "-" }, "nosuch.xml: cannot open: No such file" },
  { "a directory", { "spec", "-" }, "spec: is a directory, expected a file" },
  { "an empty name", { "", "-" }, '"" is no IN' },
  { "two standard inputs", { "-", "-", "-" }, "- is given twice" },
  { "a name that tells nothing", { SYNTHETIC, "x.foo" }, "x.foo: the name implies no format" },
  { "a jobspec's format for a machine", { SYNTHETIC, "x.yaml" }, "x.yaml: the name implies no format that a machine" },
  { "a machine's format for a jobspec", { "slot=1/node", "x.db" }, "x.db: the name implies no format that a jobspec" },
  { "a format that is only read", { "-F", "grug", SYNTHETIC, "-" }, "-F grug: a machine can be written as jgf, document, rv1" },
  { "a mistyped format", { "-F", "yam", "slot=1/node", "-" }, 'did you mean "yaml"' },
  { "an unknown format to read", { "-f", "toml", "README.md", "-" }, '-f: "toml" is none of grug, jgf' },
  { "an unknown type of hwloc", { "-f", "hwloc:core,nose", HWLOC .. "box7.xml", "-" }, '"nose" is no type' },
  { "a format that it is not", { "-f", "rdl", HWLOC .. "box7.xml", "-" }, "box7.xml:1: unexpected symbol" },
  { "what is neither", { "README.md", "-" }, "read as a jobspec" },
  { "a database on standard output", { "-F", "sqlite", SYNTHETIC, "-" }, "not to standard output" },
  { "several jobspecs", { "slot=1/node", "slot=1/core", "-" }, "one by one" },
  { "a machine with a jobspec", { SYNTHETIC, "slot=1/core", "-" }, "slot=1/core is a jobspec" },
  { "--hosts that are none", { "--hosts", "a[1-", HWLOC .. "box7.xml", "-" }, '"a[1-" is no list of hosts' },
  { "too many --hosts", { "--hosts", "a[1-3]", HWLOC .. "box7.xml", HWLOC .. "nameless3.xml", "-" }, "3 hosts for 2 files" },
  { "one of --hosts twice", { "--hosts", "a,a", "-F", "tree", HWLOC .. "box7.xml", "-" }, "the host a is in" },
  { "--hosts of a machine that is no hwloc", { "--hosts", "a", "-F", "tree", "node:1", "-" }, "node:1 is none" },
  { "one node twice", { HWLOC .. "box7.xml", HWLOC .. "box7.xml", "-" }, "the host box7 is in" },
  { "a directory that is not there", { SYNTHETIC, "/nonexistent/x.json" }, "/nonexistent/x.json: cannot be written: No such file" },
}

describe("weir convert", function()
  local dir, files = nil, {}

  -- A file of a machine, for each format; a row without a text is made from the recipe.
  setup(function()
    dir = shell.directory()
    for _, row in ipairs(MACHINES) do
      local name, where, text = row[1], row[2], row[3]
      files[name] = where:sub(1, 1) == "." and shell.path(dir, name .. where, text) or where
    end
    local g <close> = assert(weir.parse(RECIPE, { format = "recipe" }))
    g:root().data.note = { 1, "two" }
    g:vertex("/tux/rack1").state = "down"
    assert(g:save(files.jgf, { format = "jgf" }))
    assert(g:save(files.sqlite, { format = "sqlite" }))
  end)

  teardown(shell.clean)

  local function read(name)
    if name == "synthetic" then return assert(weir.synthetic(SYNTHETIC)) end
    return assert(weir.load(files[name]))
  end

  for _, row in ipairs(MACHINES) do
    for _, format in ipairs(FORMATS) do
      it(("[M1] turns %s into %s"):format(row[1], format), function()
        local path = shell.path(dir, row[1] .. "." .. format)
        local r = shell.weir { "convert", "-F", format, files[row[1]], path }
        assert.same({ "", 0 }, { r.out, r.status })
        local g <close> = read(row[1])
        WRITTEN[format](g, shell.slurp(path))
      end)
    end
  end

  for _, from in ipairs(JOBSPECS) do
    for _, to in ipairs(JOBSPECS) do
      it(("turns a jobspec from %s into %s"):format(from[1], to[1]), function()
        local input = from[3] and shell.path(dir, "job" .. from[2], from[3]) or from[2]
        local r = shell.weir { "convert", "-F", to[1], input, "-" }
        assert.same({ "", 0 }, { r.err, r.status })
        assert.same(assert(weir.request(from[3] or from[2])):resources(), assert(weir.request(r.out)):resources())
      end)
    end
  end

  for extension, format in pairs { json = "jgf", R = "rv1", lua = "recipe", db = "sqlite", sqlite3 = "sqlite", gv = "dot",
    svg = "svg", csv = "csv", txt = "tree" } do
    it(("writes %s to a file called .%s"):format(format, extension), function()
      local path = shell.path(dir, "out." .. extension)
      assert.equal(0, shell.weir({ "convert", SYNTHETIC, path }).status)
      local g <close> = read "synthetic"
      WRITTEN[format](g, shell.slurp(path))
    end)
  end

  it("writes the shape of a jobspec that says more, where that is asked for", function()
    local path = shell.path(dir, "long.yaml", (JOBSPECS[1][3]:gsub("system: {}", "system: {queue: batch}")))
    local r = shell.weir { "convert", path, shell.path(dir, "long.shape") }
    assert.equal(2, r.status)
    assert.matches("attributes.system.queue", r.err)
    assert.equal("slot=2/node/core=4\n", shell.weir({ "convert", "-F", "resources", path, "-" }).out)
  end)

  it("reads standard input, and writes standard output", function()
    local r = shell.weir({ "convert", "-", "-" }, RDL .. "plain.lua")
    assert.same({ "", 0 }, { r.err, r.status })
    local g <close> = assert(weir.load(RDL .. "plain.lua"))
    local h <close> = again(r.out, "jgf")
    assert.equal(inventory(g), inventory(h))
    assert.equal("- type: slot", shell.weir({ "convert", "-F", "yaml", "-", "-" }, shell.path(dir, "shape", "slot=2/node"))
      .out:match "\n(%- type: slot)\n")
  end)

  it("tells what a format cannot say", function()
    local r = shell.weir { "convert", RDL .. "small.lua", shell.path(dir, "lost.csv") }
    assert.same({ "", 0 }, { r.out, r.status })
    assert.matches("^weir: .*lost.csv: left out, as a csv cannot say it: the subsystem power, the subsystem network\n$", r.err)
  end)

  it("writes recipes of odd machines", function()
    local text = [[return { type = "cluster", id = false, { type = "node", name = "login", id = false, rank = false, { type = "core" } },
      { type = "node", rank = 7, exclusive = true, unit = "x", size = 0 }, { type = "rack", rank = 3, { type = "node", count = 3 } },
      { type = "node", id = 3, count = 2 }, { type = "node", id = 5, tags = { ["do"] = "a\n\"b", x = true } } }]]
    local g <close> = again(text, "recipe")
    WRITTEN.recipe(g, (g:format "recipe"))
  end)

  it("writes short recipes of large machines", function()
    local text = assert(weir.synthetic "cluster:1 node:1000 socket:2 core:48"):format "recipe"
    assert.is_true(#text < 500, text)
  end)

  it("names nodes by --hosts, and makes many of one", function()
    local r = shell.weir { "convert", "--hosts", "cab[08-10],login", "-F", "rv1_nosched", HWLOC .. "box7.xml", "-" }
    local execution = weir.json.decode(r.out).execution
    assert.same({ { "cab[08-10],login" }, "0-3" }, { execution.nodelist, execution.R_lite[1].rank })
    local two = shell.weir { "convert", "--hosts", "a1,b", "-F", "tree", HWLOC .. "box7.xml", HWLOC .. "nameless3.xml", "-" }
    assert.matches("|%-%- a1\n.*`%-%- b\n", two.out)
  end)

  it("[L2] makes one cluster of the nodes that hwloc describes", function()
    local names = { "box7.xml", "nameless3.xml", "box08-hwloc1.xml" }
    local words = { "convert" }
    for _, name in ipairs(names) do words[#words + 1] = HWLOC .. name end
    words[#words + 1] = shell.path(dir, "cluster.json")
    assert.same({ out = "", err = "", status = 0 }, shell.weir(words))
    local g <close> = assert(weir.load(words[#words]))
    local nodes = {}
    for v in g:walk { type = "node" } do nodes[#nodes + 1] = ("%d %s %d"):format(v.rank, v.path, v:aggregate { all = true }.core.total) end
    assert.same({ "0 /cluster0/box7 4", "1 /cluster0/nameless3 2", "2 /cluster0/box08 2" }, nodes)
    local alone <close> = assert(weir.load(HWLOC .. "box7.xml"))
    local before, after = inventory(alone):match "\n(.*)", inventory(g):match "\n(.*)\n/cluster0/nameless3 "
    assert.equal(before, after)
  end)

  it("chooses what of a topology is read", function()
    local r = shell.weir { "convert", "-f", "hwloc:socket,L3cache,core", "-F", "jgf", HWLOC .. "box7.xml", "-" }
    local g <close> = again(r.out, "jgf")
    assert.equal("/cluster0/box7/socket1/L3cache1/core3", g:find("name=core3")[1].path)
    assert.equal(2 * 8192, g:aggregate().cache.total)
  end)

  it("[M4] merges machines of other kinds", function()
    local other = shell.path(dir, "other.lua", 'return { type = "cluster", name = "tux", { type = "rack", id = 9 } }')
    local r = shell.weir { "convert", files.recipe, other, "-" }
    local g <close> = again(r.out, "jgf")
    assert.equal(3, g:aggregate().rack.total)
    assert.equal("/tux/rack9", g:vertex("/tux/rack9").path)
  end)

  it("[M4] gives no rank twice where it merges machines", function()
    local words = { "convert" }
    for i = 0, 2 do
      words[i + 2] = shell.path(dir, ("part%d.lua"):format(i),
        ('return { type = "cluster", { type = "node", id = %d, count = 2, { type = "core", count = 4 } } }'):format(i))
    end
    words[5] = shell.path(dir, "parts.R")
    assert.equal(0, shell.weir(words).status)
    local g <close> = assert(weir.load(words[5]))
    local ranks = {}
    for v in g:walk { type = "node" } do ranks[#ranks + 1] = v.rank .. v.name end
    table.sort(ranks)
    assert.same({ "0node0", "1node1", "2node2", "3node3" }, ranks)
  end)

  it("finds an RDL file's own types where it is told", function()
    local path = shell.path(dir, "typed.lua", 'uses "Blade" Hierarchy "default" { Blade{ basename = "b", id = 1 } }')
    assert.equal(2, shell.weir({ "convert", path, "-" }).status)
    assert.equal(0, shell.weir({ "convert", "--types", RDL .. "types", path, "-" }).status)
  end)

  it("replaces OUT, but not with --no-clobber", function()
    local path = shell.path(dir, "there.json", "old")
    local r = shell.weir { "convert", "-n", SYNTHETIC, path }
    assert.same({ 2, "old" }, { r.status, shell.slurp(path) })
    assert.matches("^weir: convert: .*there.json is there already\n$", r.err)
    assert.equal(0, shell.weir({ "convert", SYNTHETIC, path }).status)
    assert.equal("{", shell.slurp(path):sub(1, 1))
  end)

  it("leaves OUT as it was where IN cannot be read", function()
    local path = shell.path(dir, "kept.json", "old")
    assert.equal(2, shell.weir({ "convert", RDL .. "bad/Broken.lua", path }).status)
    assert.equal("old", shell.slurp(path))
    assert.is_false(shell.exists(path .. ".new"))
  end)

  for _, case in ipairs(REFUSED) do
    it("refuses " .. case[1], function()
      local r = shell.weir { "convert", table.unpack(case[2]) }
      assert.same({ "", 2 }, { r.out, r.status })
      assert.matches("^weir: [^\n]+\n$", r.err)
      assert.truthy(r.err:find(case[3], 1, true), r.err)
    end)
  end
end)
