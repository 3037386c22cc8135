-- R and JGF of a job in a machine with further subsystems: what reaches a child instance of power and bandwidth.
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

after_each(function()
  service.clean()
  shell.clean()
end)

-- A file system of 100 GB/s behind two switches of 40 GB/s, two nodes behind each switch; a power unit of 10 kW above
-- each rack, of which nodes draw.
local function machine()
  local g = weir.synthetic "cluster:1 rack:2 node:2 core:2"
  local pfs = g:add(nil, { type = "pfs", name = "pfs", size = 100, unit = "GB/s" })
  for i = 0, 1 do
    local switch = g:add(nil, { type = "switch", id = i, size = 40, unit = "GB/s" })
    local pdu = g:add(nil, { type = "pdu", id = i, size = 10, unit = "kW" })
    g:add_edge(pfs, switch, { subsystem = "bw", type = "conduit_of", back = "conduit_in" })
    for k = 2 * i, 2 * i + 1 do
      local node = g:find("type=node and id=" .. k)[1]
      g:add_edge(switch, node, { subsystem = "bw", type = "conduit_of" })
      g:add_edge(pdu, node, { subsystem = "power", type = "supplies" })
    end
  end
  return g
end

-- The edges beside containment, as "subsystem source relation/back target".
local function edges(g)
  local list = {}
  for e in g:edges() do
    if e.subsystem ~= "containment" then
      list[#list + 1] = ("%s %s %s/%s %s"):format(e.subsystem, e.source.name, e.type, e.back or "", e.target.name)
    end
  end
  table.sort(list)
  return list
end

local function sizes(g)
  local list = {}
  for _, v in ipairs(g:find "type=pfs,switch,pdu") do list[v.name] = v.size end
  return list
end

describe("a job's part of further subsystems", function()
  for _, format in ipairs { "jgf", "rv1" } do
    it("[R6][G8] is in its " .. format .. ": the vertices with the amounts of the job, and the edges between them", function()
      local e = weir.engine { resources = machine() }
      local a = e:match "slot=2/node/[bw=5;power=2]"
      local part = weir.parse(a:format(format))
      assert.same({ "bw pfs conduit_of/conduit_in switch0", "bw switch0 conduit_of/ node0", "bw switch0 conduit_of/ node1",
        "power pdu0 supplies/ node0", "power pdu0 supplies/ node1" }, edges(part))
      assert.same({ pfs = 10, switch0 = 10, pdu0 = 4 }, sizes(part))
      assert.same({ "containment", "bw", "power" }, part:subsystems())
      assert.is_true(part:check())
      local child = weir.engine { resources = part }
      assert.is_truthy(child:match "slot=1/core/bw=7")
      assert.equal("busy", select(3, child:match "slot=1/core/bw=4"))
      assert.is_truthy(child:match "slot=1/core/bw=3")
      assert.equal("infeasible", select(3, child:match "slot=1/core/power=5"))
    end)
  end

  it("[R6] is nothing where the job took nothing of them", function()
    local e = weir.engine { resources = machine() }
    local part = weir.parse(e:match("slot=1/node"):format "rv1")
    assert.same({}, edges(part))
    assert.same({}, sizes(part))
  end)

  it("[R6] counts below a node that is taken as a whole, in the whole document and not in the shorthand", function()
    local g = weir.synthetic "cluster:1 node:1 core:2 gpu:2"
    for i = 0, 1 do
      g:add_edge(g:find("type=core and id=" .. i)[1], g:find("type=gpu and id=" .. i)[1], { subsystem = "near", type = "to" })
    end
    local a = weir.engine({ resources = g }):match "slot=1/node"
    assert.same({ "near core0 to/ gpu0", "near core1 to/ gpu1" }, edges(weir.parse(a:format "jgf")))
    assert.is_nil(a:format("jgf_shorthand"):find("near", 1, true))
  end)

  it("[R8] goes with the ranks of a part of R", function()
    local e = weir.engine { resources = machine() }
    local all = e:match("slot=4/node/bw=5"):rset()
    local part = all:on_ranks("0-1"):graph()
    assert.same({ "bw pfs conduit_of/conduit_in switch0", "bw switch0 conduit_of/ node0", "bw switch0 conduit_of/ node1" },
      edges(part))
    assert.same({ "pfs", "switch0" }, { part:find("type=pfs")[1].name, part:find("type=switch")[1].name })
    assert.equal(1, #part:find "type=switch")
    assert.equal(2, #part:find "type=node")
    assert.is_true(part:check())
  end)

  it("[R9][L3] is known to `convert` and to the service of a child instance", function()
    local dir = shell.directory()
    local file, r, json = shell.path(dir, "m.json"), dir .. "/job.R", shell.path(dir, "part.json")
    assert(machine():save(file))
    local out = shell.weir { "match", "-r", file, "-F", "rv1", "slot=2/node/bw=5" }
    assert.equal(0, out.status)
    shell.path(dir, "job.R", out.out)
    assert.equal(0, shell.weir({ "convert", r, json }).status)
    assert.equal(3, #edges(assert(weir.load(json))))
    local top = service.start(dir, { "-r", file })
    local c = top:connect()
    local a = assert(c:ask("match", { request = "slot=2/node/bw=7" }))
    local below = service.start(shell.directory(), { "--parent", "unix:" .. top.path .. "#" .. a.job })
    local d = below:connect()
    assert(d:ask("match", { request = "slot=1/core/bw=10" }))
    assert.equal("busy", select(3, d:ask("match", { request = "slot=1/core/bw=5" })))
    assert(d:ask("match", { request = "slot=1/core/bw=4" }))
  end)
end)
