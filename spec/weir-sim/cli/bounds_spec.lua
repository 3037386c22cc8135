-- Inputs that describe more than a machine holds: each reader refuses them before it expands anything. Each is read by the command
-- line under a limit of 1 GB of memory (no limit under sanitizers, which map terabytes).

local grug = require "spec.support.grug"
local shell = require "spec.support.shell"
local weir = require "weir"

local KILOBYTES, SECONDS = 1000000, 120
local MACHINE = "cluster:1 node:4 core:4"
local VERTICES = "more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more)"
local PROCESSORS = "more than 10000000 processors in a node (WEIR_VERTICES=N in the environment allows more)"
local PROPERTIES = "more than 10000000 properties of vertices in all (WEIR_VERTICES=N in the environment allows more)"

-- Returns the texts f(1), ..., f(n) in one, with a separator.
local function many(n, f, between)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return table.concat(list, between)
end

local function numbered(text) return function(i) return (text:gsub("#", tostring(i))) end end

local function flux(entries) return '{"resource":{"config":[' .. entries .. ']},"queues":{}}' end

local function R(entry, more)
  return ('{"version":1,"execution":{"R_lite":[%s]%s}}'):format(entry, more or "")
end

local function jobspec(count, constraints)
  return ('{"version":1,"resources":[{"type":"slot","label":"a","count":1,"with":[{"type":"core","count":%s}]}],"tasks":[{"command":'
    .. '["a"],"slot":"a","count":{"per_slot":1}}],"attributes":{"system":{"duration":1%s}}}'):format(count, constraints or "")
end

local function recipe(text) return 'return { type = "cluster", ' .. text .. " }" end

local LISTED = "lists with more than 1000 hosts, features and resources in all (WEIR_VERTICES=N in the environment allows more)"
local NODES = "NodeName=a[0-99]\n" -- read with WEIR_VERTICES=1000

local CPUSETS = ' gp_index="1" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"'

-- A topology of hwloc with what is inside the machine.
local function hwloc(inside)
  return '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0"><object type="Machine" os_index="0"'
    .. ' allowed_cpuset="0x1" allowed_nodeset="0x1"' .. CPUSETS .. ">" .. inside
end

-- Entities, each ten times the one before: the last is 10^12 letters.
local function entities(root, inside)
  return '<?xml version="1.0"?><!DOCTYPE ' .. root .. ' [<!ENTITY e0 "a">' .. many(12, function(i)
    return ('<!ENTITY e%d "%s">'):format(i, ("&e" .. i - 1 .. ";"):rep(10))
  end) .. "]>" .. inside
end

-- A recipe of GRUG whose edges make `n` children each.
local function scaled(n) return (grug(1):gsub('<data key="multi_scale">%d+', '<data key="multi_scale">' .. n)) end

local function yaml(count)
  return "version: 9999\nresources:\n  - {type: slot, label: a, count: 1, with: [{type: core, count: " .. count
    .. "}]}\ntasks:\n  - {command: [a], slot: a, count: {per_slot: 1}}\nattributes: {system: {duration: 1}}\n"
end

-- Machines: name of the file, content, part of the message, environment. FILE is read by `weir show`.
local MACHINES = {
  { "slurm.conf of boards", "NodeName=a Boards=4000000000 SocketsPerBoard=2 CoresPerSocket=4\n",
    "slurm.conf:1: Boards=4000000000: " .. PROCESSORS },
  { "slurm.conf of boards and sockets", "NodeName=a Boards=10000 SocketsPerBoard=10000 CoresPerSocket=4\n",
    "slurm.conf:1: " .. PROCESSORS },
  { "slurm.conf of counts whose product is 2^64", "NodeName=a Boards=4611686018427387904 SocketsPerBoard=4\n", PROCESSORS },
  { "slurm.conf of processors", "NodeName=a CPUs=4294967295\n", "slurm.conf:1: CPUs=4294967295: " .. PROCESSORS },
  { "slurm.conf of reserved cores", "NodeName=a CoresPerSocket=400000000 CoreSpecCount=400000000\n", PROCESSORS },
  { "slurm.conf of nodes with cores", "NodeName=a[0-999] CoresPerSocket=10000\n", "slurm.conf: line 1: " .. VERTICES },
  { "slurm.conf of hosts", "NodeName=a[0-999999],b[0-9]\n", "slurm.conf:1: NodeName: more than 1000000 names" },
  { "slurm.conf of hosts in brackets", "NodeName=a[0-999]b[0-999]c[0-99]\n", "slurm.conf:1: NodeName: more than 1000000 names" },
  { "slurm.conf of gpus", "NodeName=a Gres=gpu:5000000000\n", "slurm.conf: line 1: " .. VERTICES },
  { "slurm.conf of gpus of several types", "NodeName=a Gres=" .. many(8, numbered "gpu:t#:4611686018427387904", ",") .. "\n", VERTICES },
  { "slurm.conf of features of nodes", NODES .. "NodeName=b[0-99] Features=" .. many(10, numbered "f#", ",") .. "\n",
    "slurm.conf:2: NodeName: " .. LISTED, "WEIR_VERTICES=1000" },
  { "slurm.conf of partitions", NODES .. many(10, numbered "PartitionName=p# Nodes=ALL\n"), "slurm.conf:11: Nodes: " .. LISTED,
    "WEIR_VERTICES=1000" },
  { "slurm.conf of node sets", NODES .. many(10, numbered "NodeSet=s# Nodes=a[0-99]\n"), "slurm.conf:11: Nodes: " .. LISTED,
    "WEIR_VERTICES=1000" },
  { "slurm.conf of sets in a partition", NODES .. "NodeSet=x Nodes=a0\nPartitionName=p Nodes=" .. ("x,"):rep(10) .. "x\n",
    "slurm.conf:3: Nodes: " .. LISTED, "WEIR_VERTICES=1000" },
  { "scontrol show node of sockets", "NodeName=a Arch=x CPUTot=4000000000 Sockets=4000000000 CoresPerSocket=1 ThreadsPerCore=1\n",
    PROCESSORS },
  { "scontrol show node of cores", "NodeName=a Arch=x CPUTot=4 Sockets=4611686018427387904 CoresPerSocket=4 ThreadsPerCore=1\n",
    PROCESSORS },
  { "flux config get of hosts", flux '{"cores":"0-3","hosts":"f[0-9999999]"}', "resource.config[1]: more than 1000000 hosts" },
  { "flux config get of all names", flux '{"cores":"0-3","hosts":"f[0-999999999999999]"}',
    "resource.config[1]: lists with more than 10000000 hosts" },
  { "flux config get of cores", flux '{"cores":"0-4294967294","hosts":"f"}', VERTICES },
  { "flux config get of gpus", flux '{"gpus":"0-4294967294","hosts":"f"}', VERTICES },
  { "flux config get of hosts with cores", flux '{"cores":"0-99","hosts":"f[0-199999]"}', VERTICES },
  { "flux config get of entries", flux(('{"cores":"0","hosts":"f[0-99]"},'):rep(10) .. '{"cores":"0","hosts":"g"}'),
    "resource.config[11]: " .. LISTED, "WEIR_VERTICES=1000" },
  { "flux config get of equal entries with a million names", flux(many(12, function() return '{"cores":"0","hosts":"f[0-999999]"}' end,
    ",")), "resource.config[11]: lists with more than 10000000 hosts" },
  { "an R of ranks and cores", R '{"rank":"0-99999","children":{"core":"0-199"}}', VERTICES },
  { "an R of cores", R '{"rank":"0","children":{"core":"0-4294967290"}}', VERTICES },
  { "an R of properties", R('{"rank":"0-99999","children":{"core":"0"}}', ',"properties":{' .. many(101, numbered '"p#":"0-99999"',
    ",") .. "}"),
    "execution.properties: " .. PROPERTIES },
  { "an R of properties of cores", R('{"rank":"0","children":{"core":"0-999"}}', ',"properties":{' .. many(11,
    numbered '"p#@core":"0"', ",") .. "}"),
    "execution.properties: more than 10000 properties of vertices in all", "WEIR_VERTICES=10000" },
  { "one line of words", "cluster:1 node:3000 core:4000", VERTICES },
  { "one line of properties", "cluster:1 core:1000000(" .. many(11, numbered "property=p#", ",") .. ")", PROPERTIES },
  { "recipe.lua of a count", recipe '{ type = "node", count = 9000000, { type = "core" } }', VERTICES },
  { "recipe.lua of properties", recipe('{ type = "core", count = 1000000, properties = {' .. many(11, numbered '"p#"', ",") .. "} }"),
    PROPERTIES },
  { "recipe.lua of data", recipe('{ type = "core", count = 1000000, data = { a = {' .. many(11, numbered "#", ",") .. "} } }"),
    PROPERTIES },
  { "rdl.lua of ids", 'Hierarchy "default" { Resource{ "a", children = { ListOf{ Resource, ids = "0-60000000", args = { "n" } } } } }',
    "are more numbers than the 1000000 that one range may have" },
  { "a JGF of nested lists", '{"graph":{"nodes":[' .. ("["):rep(2000000), "graph.nodes[0]: is an array" },
  { "a JGF of a size", '{"graph":{"nodes":[{"id":"0","metadata":{"type":"a","basename":"a","name":"a0","id":0,"uniq_id":0,"rank":-1,'
    .. '"size":9223372036854775807,"paths":{"containment":"/a0"}}}],"edges":[]}}', "the sizes of all pools add up to more than" },
  { "a GRUG of children", scaled "67108863", VERTICES },
  { "a GRUG of more children", scaled "4294967295", '"multi_scale" of "cluster2rack" is 4294967295' },
  { "a GRUG of entities", entities("graphml", '<graphml><graph id="&e12;"/></graphml>'), "XML: " },
  { "hwloc XML of levels", hwloc(('<object type="Group"' .. CPUSETS .. ">"):rep(100000)), "more than 200 elements inside each other" },
  { "hwloc XML of a processor", hwloc('<object type="PU" os_index="4294967295"' .. CPUSETS .. "/></object></topology>"),
    '<object type="PU"> has no os_index from 0 to 1048576' },
}

-- Other inputs: what they are, the words of the command with FILE, the content, part of the output.
local OTHERS = {
  { "an R that is counted", { "list", "FILE" }, R '{"rank":"0-4194303","children":{"core":"0-4294967290","gpu":"0-4294967290"}}',
    "4194304 18014398" },
  { "an R of ranks", { "list", "FILE" }, R '{"rank":"0-4294967290","children":{"core":"0"}}', "R_lite: more than 4194304 ranks" },
  { "an R of hosts", { "list", "FILE" }, R('{"rank":"0","children":{"core":"0"}}', ',"nodelist":["n[0-4294967294]"]'),
    "names 4294967295 hosts, but R_lite has 1 ranks" },
  { "a jobspec of a set of counts", { "match", "-r", MACHINE, "FILE" }, jobspec '"1-4294967294"', "job 1" },
  { "a jobspec of counts", { "match", "-r", MACHINE, "FILE" }, jobspec "9007199254740992", "can never be met" },
  { "a jobspec of hosts and ranks", { "match", "-r", MACHINE, "FILE" },
    jobspec("1", ',"constraints":{"and":[{"ranks":["0-4294967294"]},{"hostlist":["a[0-4294967294],b[0-999999999999]"]}]}'),
    "can never be met" },
  { "a jobspec in YAML of a count", { "match", "-r", MACHINE, "FILE" },
    yaml '{min: 1, max: 9007199254740992, operator: "*", operand: 2}', "job 1" },
  { "a jobspec in YAML of nested lists", { "match", "-r", MACHINE, "FILE" }, "version: 1\nresources: " .. ("["):rep(300000),
    "nested more than 256 deep" },
  { "a jobspec in YAML of aliases", { "match", "-r", MACHINE, "FILE" },
    "a0: &a0 [x, x]\n" .. many(30, function(i) return ("a%d: &a%d [*a%d, *a%d]\n"):format(i, i, i - 1, i - 1) end),
    "YAML aliases are not supported" },
  { "a shape of counts", { "match", "-r", MACHINE, "slot=9007199254740992/node=9007199254740992/core=9007199254740992" }, nil,
    "can never be met" },
  { "a shape of a set", { "match", "-r", MACHINE, "slot=1,3,5-4294967294/core" }, nil, "a set of more than 65536 values" },
  { "names of vertices", { "explain", "-r", MACHINE, "--down", "node[0-4294967294]", "slot=1/core" }, nil,
    'there is no "node4" on this machine' },
  { "an expression of names", { "find", "-r", MACHINE, "name=node[0-4294967294]" }, nil, "/cluster0/node3" },
  { "a trace in SWF of processors", { "replay", "-r", MACHINE, "FILE.swf" }, "1 0 0 9 4294967295 -1 -1 4294967295 9 -1 1 1 1 1 1 1 -1 -1\n",
    "it requests 4294967295 processors; left out" },
  { "a trace in CSV of nodes", { "replay", "-r", MACHINE, "FILE.csv" },
    "number,submit,runtime,procs,nodes\n1,0,10,4294967295,4294967295\n", "left out" },
  { "a trace in JSON of processors", { "replay", "-r", MACHINE, "FILE.jsonl" },
    '{"number":1,"submit":0,"runtime":10,"procs":9007199254740992}\n', "left out" },
  { "a trace of sacct of processors", { "replay", "-r", MACHINE, "FILE.sacct" }, "JobID|Submit|Start|End|State|NNodes|NCPUS|Timelimit\n"
    .. "1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|4294967295|4294967295|UNLIMITED\n",
    "it requests 4294967295 processors; left out" },
  { "a trace of sacct of an array", { "replay", "-r", MACHINE, "FILE.sacct" }, "JobID|Submit|Start|End|State|NNodes|NCPUS|Timelimit\n"
    .. "1_[0-4294967294]|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|COMPLETED|1|1|60\n", "jobs" },
  { "a number of generated jobs", { "replay", "-r", MACHINE, "--generate", "10000001" }, nil, "a whole number from 1 to 10000000" },
  { "a policy of tables", { "match", "-r", MACHINE, "-p", "./FILE.lua", "slot=1/core" },
    'local t = {} for i = 1, 1e9 do t[i] = {} end return { order = { "id" }, tags = t }', "not enough memory (it may have 64 MB)" },
  { "a policy of a long table", { "match", "-r", MACHINE, "-p", "./FILE.lua", "slot=1/core" },
    'local t = {} for i = 1, 4e5 do t[i] = "id" end return { order = t }', "field 'order': at most 4 entries" },
  { "a queue policy of a text", { "replay", "-r", MACHINE, "--generate", "2", "-q", "./FILE.lua" },
    'return { schedule = function() end, order = ("x"):rep(1 << 30) }', "not enough memory (a string may have 256 KB)" },
}

local dir

setup(function() dir = shell.directory() end)
teardown(shell.clean)

local function run(words, environment)
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = "'" .. word .. "'" end
  local pipe = assert(io.popen(("cd '%s'; ulimit -t %d; ulimit -v %s; %s '%s' %s 2>&1 </dev/null"):format(dir, SECONDS,
    shell.bin:find("/san/", 1, true) and "unlimited" or KILOBYTES, environment or "", shell.bin, table.concat(quoted, " "))))
  local text = pipe:read "a"
  local _, how, status = pipe:close()
  assert.equal("exit", how, text)
  return text, status
end

describe("within 1 GB of memory, weir refuses", function()
  for _, case in ipairs(MACHINES) do
    local what, content, message, environment = table.unpack(case)

    it(what, function()
      local name = what:match "^[%w_]+%.%w+" or "machine"
      shell.path(dir, name, content)
      local said, status = run({ "show", "-r", name, "--totals" }, environment)
      assert.is_truthy(said:find(message, 1, true), said)
      assert.equal(2, status)
    end)
  end
end)

describe("within 1 GB of memory, weir reads", function()
  for _, case in ipairs(OTHERS) do
    local what, words, content, message = table.unpack(case)

    it(what, function()
      local list = {}
      for i, word in ipairs(words) do list[i] = word:gsub("FILE", "input") end
      if content then shell.path(dir, "input" .. (table.concat(words, " "):match "FILE(%.%w+)" or ""), content) end
      assert.is_truthy(run(list):find(message, 1, true), run(list))
    end)
  end
end)

-- The greatest machines that the bounds allow cost steps by their size, refused ones none: instructions of Lua until the answer.
describe("a refusal takes few steps:", function()
  local MOST = 200000

  for _, case in ipairs(MACHINES) do
    local what, content, message, environment = table.unpack(case)
    local format = what:find "^slurm" and "slurm" or what:find "^scontrol" and "slurm" or what:find "^flux" and "flux"
    if format and not environment and not what:find "nodes with cores" and not what:find "hosts" then
      it(what, function()
        local steps = 0
        debug.sethook(function() steps = steps + 1000 end, "", 1000)
        local g, why = weir.parse(content, { format = format, source = "slurm.conf" })
        debug.sethook()
        assert.is_nil(g)
        assert.is_truthy(why:find(message, 1, true), why)
        assert.is_true(steps <= MOST, ("%d instructions"):format(steps))
      end)
    end
  end
end)
