--- topics.lua - pages of `weir help TOPIC`: the grammars of shapes, of machines in a line, and of expressions.
--
-- A topic is {doc =, text =, examples = a list of {input, meaning}}; the spec of this file runs every example.

local page = require "weir.cli.page"

local M = {}

M.shapes = {
  doc = "what a job needs, in a line: slot=4/node/core=8",
  text = [[
A shape (RFC 46) says what a job needs. `weir match`, `explain`, e:match and scenarios take a shape wherever they take a jobspec.

  shape    = resource | "[" resource { ";" resource } "]"
  resource = type [ "=" count ] [ "{" item { "," item } "}" ] [ "/" shape ]
  count    = n | n "+" | n "-" m | n "-" m ":" step [ ":" operator ] | n "," m ... (RFC 14: operator is +, * or ^)
  item     = key ":" value | key | "+" key | "-" key           x is short for exclusive

What follows a "/" is inside what precedes it; resources in brackets are side by side. A slot is the unit in which a job
counts: slot=4/node is four slots of a node each. The first entry of a slot's braces is its label. Without a node around it, a slot of
cores is in one node. Words with any of []{};=/,: or blanks are quoted. An item
duration:TIME of any resource is the duration of the job: seconds, or a number with the unit ms, s, m, h or d.]],
  examples = {
    { "slot=4/node/core=8", "4 slots, each with a whole node of at least 8 cores" },
    { "slot=2/node{x}", "2 whole nodes" },
    { "slot=16/core", "16 slots of a core" },
    { "slot=1/[core=4;gpu=1]", "4 cores and a gpu together in one node" },
    { "rack=2/slot=3/node", "3 nodes in each of 2 racks" },
    { "slot=2-8/node", "as many nodes as there are, at least 2 and at most 8" },
    { "slot=4{duration:1h}/node", "4 whole nodes for an hour" },
    { "slot=1/node/memory=64{unit:GB}", "an amount of a pool, with its unit" },
  },
}

M.machines = {
  doc = "a machine in a line: cluster:1 rack:2 node:4 core:8",
  text = [[
A machine in a line is taken wherever a machine is: -r, weir.resources, scenarios.

  machine   = word { word }
  word      = type [ ":" count ] [ "(" attribute { "," attribute } ")" ] [ "[" machine "]" ]
  attribute = size=N | unit=TEXT | basename=TEXT | id=FIRST | scope=local | scope=global | exclusive | PROPERTY | property=KEY[=VALUE]

A word is inside the nearest word before it that can contain something: core, gpu, memory, storage, pu, ssd and nic contain nothing, unless
brackets follow. Nothing after the brackets is inside them. Several pools at the top are put into cluster0. Ids count over the machine,
below a node over the node, with scope=local over the parent. Nodes get the ranks 0, 1, ... in order.]],
  examples = {
    { "node:4 core:8", "4 nodes of 8 cores" },
    { "cluster:1 rack:2 node:4 socket:2 core:8 gpu:1 memory:1(size=64,unit=GB)", "sockets with cores, a gpu and a pool of 64 GB each" },
    { "cluster:1[node:2(bigmem)[core:16] node:6[core:8]]", "2 nodes with the property bigmem, and 6 smaller ones" },
    { "rack:2[node:4[core:8] storage:1(size=1000,unit=GiB)]", "a pool of storage next to the nodes of a rack" },
    { "cluster:1 node:2(basename=gpu-,id=10) core:4", "nodes named gpu-10 and gpu-11" },
  },
}

M.expressions = {
  doc = "vertices by what they are: type=node and state=up",
  text = [[
An expression selects vertices, for `weir find`, g:find and find in the REPL, and weir.query.

  expression = all { "or" all }        all = one { "and" one }        one = "not" one | "(" expression ")" | test
  test       = FIELD op VALUE | property.KEY [op VALUE] | tag.KEY [op VALUE] | data.KEY [op VALUE] | flag
  op         = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="

Fields with a text (* and ? match any part and any character): type, basename, name, path, unit, uuid. With numbers: size, free, allocated.
With sets of ids (0-3,7): id, rank, job. state is one of up, down, degraded, failing, draining, unknown, null. property=KEY and tag=KEY ask
whether there is such a key. Flags: idle (none of it is allocated), leaf, exclusive, free and allocated (some of it is).]],
  examples = {
    { "type=node and state=up", "nodes that are up" },
    { "type=node and idle", "nodes of which nothing is allocated" },
    { "name=node? and rank=0-3", "by pattern, and by ranks" },
    { "type=memory and free>=16", "pools with at least 16 units free" },
    { "not (type=core or type=gpu)", "everything but cores and gpus" },
    { "property=bigmem or tag.owner=ann", "by a property, or by the value of a tag" },
    { "path=/cluster0/rack0/* and leaf", "what contains nothing, below a rack" },
  },
}

--- The names of the topics, in the order of their listing.
M.names = { "shapes", "machines", "expressions" }

--- Returns the page of a topic as lines.
function M.lines(name)
  local topic = M[name]
  local lines = { ("%s - %s\n"):format(name, topic.doc), page.fitted(topic.text), "" }
  for _, example in ipairs(topic.examples) do lines[#lines + 1] = ("  %s\n      %s"):format(example[1], example[2]) end
  return lines
end

return M
