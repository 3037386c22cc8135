-- Machines as Slurm has them written down: slurm.conf with the files beside it, and what scontrol prints. The files in
-- spec/data/slurm are of a cluster that a slurmctld 22.05.8 ran; scontrol.txt is what that one said of its nodes.
local weir = require "weir"

local DATA = "spec/data/slurm/"

local function slurp(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

local function parse(text) return weir.parse(text, { format = "slurm", source = "slurm.conf" }) end

local function shape(v)
  local all = v:aggregate { all = true }
  local words = {}
  for _, type in ipairs { "socket", "core", "memory", "gpu" } do
    if all[type] then words[#words + 1] = type .. "=" .. all[type].total end
  end
  return table.concat(words, " ")
end

-- One line of slurm.conf, and the shape of the node: as slurmctld 22.05.8 tells it.
local SHAPES = {
  { "nothing", "", "core=1 memory=1" },
  { "processors alone", "CPUs=16 RealMemory=2000", "core=16 memory=2000" },
  { "the old word for processors", "Procs=4", "core=4 memory=1" },
  { "sockets, cores, threads", "Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "socket=2 core=16 memory=1" },
  { "processors that are threads", "CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "socket=2 core=16 memory=1" },
  { "processors that are cores", "CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", "socket=2 core=16 memory=1" },
  { "no sockets, but processors", "CPUs=8 CoresPerSocket=4 ThreadsPerCore=2", "socket=1 core=4 memory=1" },
  { "boards", "Boards=2 SocketsPerBoard=2 CoresPerSocket=4", "socket=4 core=16 memory=1" },
  { "reserved cores", "Sockets=2 CoresPerSocket=8 CoreSpecCount=3", "socket=2 core=13 memory=1" },
  { "reserved memory", "RealMemory=1000 MemSpecLimit=100", "core=1 memory=900" },
  { "gpus", "Gres=gpu:4", "core=1 memory=1 gpu=4" },
  { "gpus of types", "Gres=gpu:a100:2,gpu:h100:1", "core=1 memory=1 gpu=3" },
  { "what is not consumed", "Gres=gpu:1,bandwidth:no_consume:4G", "core=1 memory=1 gpu=1" },
}

-- Wrong files, and a part of the message.
local WRONG = {
  { "no nodes", "ClusterName=a\n", "^slurm.conf: no line describes a node" },
  { "a line without a key", "NodeName=a\nwhat is this\n", '^slurm.conf:2: expected Key=Value, not "what"' },
  { "a mistyped key", "NodeName=a CoresPerSoket=4\n", '^slurm.conf:1: unknown key "CoresPerSoket" %(did you mean "CoresPerSocket"%?%)' },
  { "a core count that is none", "NodeName=a CoresPerSocket=four\n", "^slurm.conf:1: CoresPerSocket=four: expected a whole number" },
  { "no cores", "NodeName=a CoresPerSocket=0\n", "^slurm.conf:1: CoresPerSocket=0: expected 1 or more" },
  { "odd processors", "NodeName=a CPUs=7 Sockets=2 CoresPerSocket=8\n", "^slurm.conf:1: CPUs=7 does not match .*: expected 16 or 16" },
  { "a node twice", "NodeName=a\nNodeName=b,a\n", "^slurm.conf:2: NodeName=a: the node is described in line 1 already" },
  { "a list that ends too early", "NodeName=a[1-\n", "^slurm.conf:1: NodeName=a%[1%-: " },
  { "too many hosts", "NodeName=a[1-99999999]\n", "^slurm.conf:1: NodeName" },
  { "a state that is none", "NodeName=a State=DRIAN\n", '^slurm.conf:1: State=DRIAN: .*did you mean "drain"' },
  { "a partition of unknown nodes", "NodeName=a\nPartitionName=p Nodes=a,b\n", '^slurm.conf:2: Nodes=a,b: there is no node "b"' },
  { "a partition twice", "NodeName=a\nPartitionName=p Nodes=a\nPartitionName=p Nodes=a\n", "^slurm.conf:3: PartitionName=p: " },
  { "a time that is none", "NodeName=a\nPartitionName=p Nodes=a MaxTime=soon\n", "^slurm.conf:2: MaxTime=soon: expected a time such as" },
  { "a zero byte", "NodeName=a Features=x\0y\n", "^slurm.conf:1: a control character is in the line" },
  { "an open quote", 'NodeName=a Reason="bad\n', "^slurm.conf:1: a quote is not closed" },
  { "a file that is not there", "NodeName=a\nInclude nowhere.conf\n", "^slurm.conf:2: Include: nowhere.conf" },
  { "a file that includes itself", "Include " .. DATA .. "loop.conf\n", "loop.conf:1: Include: more than 16 files" },
  { "a switch of unknown switches", "NodeName=a\nSwitchName=s Switches=t\n", '^slurm.conf:2: Switches=t: there is no switch "t"' },
  { "switches below themselves", "NodeName=a\nSwitchName=s Switches=t\nSwitchName=t Switches=s\n", "the switch is below itself" },
  { "a line continued for ever", "NodeName=a" .. (" \\\n" .. ("x"):rep(60000)):rep(20), "^slurm.conf:1: the line is longer" },
}

describe("slurm.conf", function()
  for _, case in ipairs(SHAPES) do
    it("reads a node with " .. case[1], function()
      local g <close> = assert(parse("NodeName=n1 " .. case[2] .. "\n"))
      assert.equal(case[3], shape(g:vertex "/cluster/n1"))
    end)
  end

  for _, case in ipairs(WRONG) do
    it("tells where " .. case[1] .. (case[1]:find "^a" and " is" or " are") .. " wrong", function()
      local g, why, code = parse(case[2])
      assert.is_nil(g)
      assert.matches(case[3], why)
      assert.equal("parse", code)
    end)
  end

  it("reads DEFAULT lines, comments, lines that go on, and lists with several brackets", function()
    local g <close> = assert(parse [[
NodeName=DEFAULT CPUs=2 # two
NodeName=DEFAULT RealMemory=10 \
  Features=x
NodeName=r[0-1]n[01-03]
NodeName=DEFAULT CPUs=4
NodeName=login
]])
    local names = {}
    for v in g:walk { type = "node" } do
      names[#names + 1] = ("%s:%s:%s"):format(v.name, shape(v), v.properties.x and "x" or "")
    end
    assert.same({ "r0n01:core=2 memory=10:x", "r0n02:core=2 memory=10:x", "r0n03:core=2 memory=10:x", "r1n01:core=2 memory=10:x",
      "r1n02:core=2 memory=10:x", "r1n03:core=2 memory=10:x", "login:core=4 memory=10:x" }, names)
  end)

  it("takes comments in any encoding, and reserves at most the cores that there are", function()
    local g <close> = assert(parse "# caf\xe9\nNodeName=a CPUs=2 CoreSpecCount=3 Reason=caf\xe9\n")
    assert.equal("memory=1", shape(g:vertex "/cluster/a"))
    assert.equal("caf\u{FFFD}", g:vertex "/cluster/a".data.reason)
  end)

  it("leaves out nodes of the future, and takes DownNodes", function()
    local g <close> = assert(parse [[
NodeName=a[1-3]
NodeName=soon[1-4] State=FUTURE
DownNodes=a2 State=DRAIN Reason="a fan"
PartitionName=all Nodes=a[1-3],soon[1-4]
]])
    assert.equal(3, #g:find "type=node")
    assert.equal("draining", g:vertex "/cluster/a2".state)
    assert.equal("a fan", g:vertex "/cluster/a2".data.reason)
  end)

  it("keeps partitions as queues, also through JGF", function()
    local g <close> = assert(weir.load(DATA .. "slurm.conf"))
    local again <close> = assert(weir.parse(g:format "jgf"))
    for _, graph in ipairs { g, again } do
      local queues = graph:root().data.queues
      assert.same({ requires = { "batch" }, default = true, state = "up", max_time = 86400, priority_tier = 1, cpus_per_core = 2 },
        queues.batch)
      assert.same({ requires = { "debug" }, exclusive = true, state = "up", max_time = 1800, priority_tier = 5, priority_job_factor = 3,
        cpus_per_core = 2 }, queues.debug)
      assert.equal("down", queues.all.state)
      assert.same({ unit = "core", memory = true, cpus_per_core = 2 }, graph:root().data.consumption)
    end
  end)

  it("tells a queue by another property where a feature has its name", function()
    local g <close> = assert(parse "NodeName=a[1-2] Features=gpu\nNodeName=b\nPartitionName=gpu Nodes=b\n")
    assert.same({ "queue-gpu" }, g:root().data.queues.gpu.requires)
    assert.truthy(g:vertex "/cluster/b".properties["queue-gpu"])
  end)

  it("has the switches of topology.conf as a subsystem", function()
    local g <close> = assert(weir.load(DATA .. "slurm.conf"))
    local top = g:roots "network"[1]
    assert.equal("top", top.name)
    local below = {}
    for _, edge in ipairs(top:edges "network") do below[#below + 1] = edge.target.name end
    assert.same({ "s1", "s2", "s3" }, below)
    assert.equal(60, #g:find "type=node")
  end)

  it("takes the types of gpus from gres.conf", function()
    local g <close> = assert(weir.load(DATA .. "slurm.conf"))
    assert.truthy(g:vertex "/lab/gpu1/gpu3".properties.a100)
    assert.is_nil(g:vertex "/lab/gpu5/gpu3".properties.a100)
  end)

  -- {lines of gres.conf, the warnings; the nodes have four gpus each, in line 2 of slurm.conf}
  for _, case in ipairs {
    { "NodeName=a1 Name=gpu Count=2", { "gres.conf:1: a1: 2 gpu here, and 4 in DIR/slurm.conf:2, which counts" } },
    { "NodeName=a[1-3] Name=gpu File=/dev/nvidia[0-1]", {
      "gres.conf:1: a1 and 2 more nodes: 2 gpu here, and 4 in DIR/slurm.conf:2, which counts" } },
    { "NodeName=a2 Name=gpu Count=2\nNodeName=a2 Name=gpu Count=1", {
      "gres.conf:1: a2: 3 gpu here, and 4 in DIR/slurm.conf:2, which counts" } },
    { "NodeName=a1 Name=gpu Count=8", { "gres.conf:1: a1: 8 gpu here, and 4 in DIR/slurm.conf:2, which counts" } },
    { "NodeName=b1 Name=gpu Type=v100 Count=2", { "gres.conf:1: b1: 0 gpu:a100 here, and 2 in DIR/slurm.conf:3, which counts" } },
    { "\nNodeName=c1 Name=gpu Count=4", { "gres.conf:2: c1: there is no such node in slurm.conf" } },
    { "NodeName=a[1-3] Name=gpu Count=4\nNodeName=b1 Name=gpu Type=a100 Count=2", {} }, { "Name=gpu File=/dev/nvidia[0-7]", {} },
    { "AutoDetect=nvml", {} }, { "NodeName=a1 AutoDetect=nvml Name=gpu", {} }, { "NodeName=a2 Name=gpu AutoDetect=off", {
      "gres.conf:1: a2: 1 gpu here, and 4 in DIR/slurm.conf:2, which counts" } },
  } do
    it("keeps the counts of slurm.conf and warns of a gres.conf that contradicts it: " .. case[1], function()
      local dir = io.popen "mktemp -d":read "l"
      for name, text in pairs { ["slurm.conf"] = "ClusterName=lab\nNodeName=a[1-3] Gres=gpu:4\nNodeName=b1 Gres=gpu:a100:2\n",
        ["gres.conf"] = case[1] .. "\n" } do
        local file <close> = assert(io.open(dir .. "/" .. name, "w"))
        file:write(text)
      end
      local shell = require "spec.support.shell"
      local pipe = assert(io.popen(("%s show -r %s/slurm.conf --totals 2>&1 >%s/out"):format(shell.bin, dir, dir)))
      local expected, told = {}, pipe:read "a"
      pipe:close()
      for i, text in ipairs(case[2]) do expected[i] = ("weir: %s/%s\n"):format(dir, (text:gsub("DIR", dir))) end
      local totals = slurp(dir .. "/out")
      local g <close> = assert(weir.load(dir .. "/slurm.conf")) -- silent by default, as Lua's warnings are
      os.execute("rm -r " .. dir)
      assert.equal(table.concat(expected), told)
      assert.matches("gpu%s+14", totals)
      for i = 1, 3 do assert.matches("gpu=4", shape(g:vertex("/lab/a" .. i))) end
      assert.matches("gpu=2", shape(g:vertex "/lab/b1"))
    end)
  end

  it("is told by its content, in a file and on standard input", function()
    local shell = require "spec.support.shell"
    local pipe = assert(io.popen(("%s show -r - --totals < %sslurm.conf 2>&1"):format(shell.bin, DATA)))
    local text = pipe:read "a"
    pipe:close()
    -- The file on standard input has no directory, so its Include is looked for here.
    assert.matches("Include: nodes.conf: ", text)
    local g <close> = assert(weir.load(DATA .. "nodes.conf"))
    assert.equal(60, #g:find "type=node")
  end)
end)

describe("what scontrol prints", function()
  it("makes the nodes that slurm.conf makes, one by one", function()
    local told <close> = assert(weir.load(DATA .. "scontrol.txt"))
    local written <close> = assert(weir.load(DATA .. "slurm.conf"))
    local n = 0
    for v in told:walk { type = "node" } do
      local other = assert(written:vertex("/lab/" .. v.name), v.name)
      local properties, others = {}, {}
      for key in pairs(v.properties) do properties[key] = true end
      for key in pairs(other.properties) do others[key] = true end
      assert.equal(shape(other), shape(v), v.name)
      assert.same(others, properties, v.name)
      assert.equal(other.state, v.state, v.name)
      n = n + 1
    end
    assert.equal(60, n)
    local queues = told:root().data.queues
    for name, queue in pairs(written:root().data.queues) do
      queues[name].priority_tier, queue.priority_tier = queues[name].priority_tier or 1, queue.priority_tier or 1
      queues[name].priority_job_factor, queue.priority_job_factor = nil, nil
      queues[name].min_nodes = nil
      assert.same(queue, queues[name], name)
    end
  end)

  it("reads states with their flags", function()
    local BLOCK = "NodeName=n%d CoresPerSocket=1\n   CPUAlloc=0 CPUTot=1 RealMemory=1 Sockets=1 ThreadsPerCore=1 State=%s\n\n"
    local cases = { IDLE = "up", ["IDLE+DRAIN"] = "draining", ["DOWN*"] = "down", ["IDLE*"] = "unknown", ["MIXED+PLANNED"] = "up",
      ["DOWN+DRAIN+INVALID_REG"] = "down", ["IDLE+CLOUD+POWERED_DOWN"] = "up", FUTURE = "down" }
    for text, state in pairs(cases) do
      local g <close> = assert(weir.parse(BLOCK:format(1, text)))
      assert.equal(state, g:vertex "/cluster/n1".state, text)
    end
    local g, why = weir.parse(BLOCK:format(1, "HAPPY"), { source = "nodes.txt" })
    assert.is_nil(g)
    assert.matches("^nodes.txt:1: State=HAPPY: HAPPY is no state", why)
  end)

  it("tells where a text is cut off", function()
    local text = slurp(DATA .. "scontrol.txt")
    local g, why = weir.parse(text:sub(1, (text:find("RealMemory", 3000, true))), { source = "cut.txt" })
    assert.is_nil(g)
    assert.matches("^cut.txt:%d+: %w+ has no %w+=: is it cut off%?", why)
  end)
end)
