-- weir query where it once differed from resource-query. The expected outputs were seen from resource-query, on these machines, whose
-- recipes give each vertex an id of its own: without a default of id_stride resource-query gives all vertices of a type the id 0. Weir's
-- own are the words "execution.nodelist is missing" and "no subsystem power": resource-query refuses both, and does not say why.

local query = require "spec.support.query"
local shell = require "spec.support.shell"

local file, job, run, slot = query.file, query.job, query.run, query.slot

local CORE = slot '{"type": "core", "count": 1}'
local NODE = slot '{"type": "node", "count": 1}'

-- cluster0 with two nodes, each of two sockets of two cores.
local SOCKETS = query.recipe({
  { "c", { root = 1, type = "cluster" } }, { "n", { type = "node" } }, { "s", { type = "socket" } }, { "k", { type = "core" } },
}, { { "c", "n", { scale = 2 } }, { "n", "s", { scale = 2 } }, { "s", "k", { scale = 2 } } })

-- The lines of an output that tell of success, in short: "No. matching resources".
local function told(out)
  local list = {}
  for line in out:gmatch "INFO: ([^=\n][^\n]*)\n" do list[#list + 1] = line end
  return table.concat(list, ", ")
end

describe("weir query, as resource-query,", function()
  teardown(function()
    query.clean()
    shell.clean()
  end)

  for _, format in ipairs { "jgf", "rv1" } do
    it("finds in the shorthand of " .. format .. " what it finds in full", function()
      local full = run({ "-F", format }, "find status=up")
      assert.equal(full, (run({ "-F", format .. "_shorthand" }, "find status=up")))
      assert.truthy(full:find('"containment": "/cluster0/node0/core1"', 1, true))
    end)
  end

  describe("takes no level for granted within a slot:", function()
    local cores = slot '{"type": "node", "count": 1, "with": [{"type": "core", "count": 2}]}'
    local sockets = slot('{"type": "node", "count": 1, "with": [{"type": "socket", "count": 1, "with": ['
      .. '{"type": "core", "count": 2}]}]}')
    for operation, expected in pairs {
      satisfiability = "Unsatisfiable request", allocate = "No matching resources found, JOBID=1",
      allocate_with_satisfiability = "No matching resources found, Unsatisfiable request, JOBID=1",
      allocate_orelse_reserve = "No matching resources found, Unsatisfiable request, JOBID=1",
    } do
      it(operation .. " of cores below sockets", function()
        assert.equal(expected, told((run({ "-P", "low" }, ("match %s %s"):format(operation, job(cores)), file(SOCKETS)))))
      end)
    end

    it("all levels named", function()
      assert.equal("JOBID=1, RESOURCES=ALLOCATED, SCHEDULED AT=Now",
        told((run({ "-P", "low" }, "match allocate " .. job(sockets), file(SOCKETS)))))
    end)
  end)

  describe("tells what can never be by what -p counts:", function()
    local three = '[{"type": "slot", "count": 3, "label": "s", "with": [{"type": "node", "count": 1}]}]'
    for counted, expected in pairs {
      ["ALL:node"] = "No matching resources found, JOBID=1",
      ["ALL:core"] = "No matching resources found, Unsatisfiable request, JOBID=1",
      ["cluster:node"] = "No matching resources found, JOBID=1",
    } do
      it(counted, function()
        assert.equal(expected, told((run({ "-P", "low", "-p", counted }, "match allocate_orelse_reserve " .. job(three)))))
      end)
    end

    for counted, expected in pairs {
      ["ALL:node"] = "JOBID=2, RESOURCES=RESERVED, SCHEDULED AT=60", ["ALL:core"] = "No matching resources found, JOBID=2",
    } do
      it("a job behind one that is not counted, " .. counted, function()
        local two = job '[{"type": "slot", "count": 2, "label": "s", "with": [{"type": "node", "count": 1}]}]'
        local out = run({ "-P", "low", "-p", counted }, ("match allocate %s\nmatch allocate_orelse_reserve %s"):format(two, two))
        assert.equal("JOBID=1, RESOURCES=ALLOCATED, SCHEDULED AT=Now, " .. expected, told(out))
      end)
    end
  end)

  for count, reason in pairs {
    ['{"min": 1, "max": 2, "operand": 1}'] = 'All or none of "max", "operator", and "operand" must be specified',
    ['{"min": 1, "max": 2}'] = 'All or none of "max", "operator", and "operand" must be specified',
    ['{"max": 2, "operator": "+", "operand": 1}'] = 'Key "min" missing from count',
  } do
    it("refuses the count " .. count, function()
      local _, _, errors = run({}, "match allocate " .. job(slot(('{"type": "core", "count": %s}'):format(count))))
      assert.truthy(errors:find(reason, 1, true), errors)
    end)
  end

  it("refuses a jobspec without a version", function()
    local _, _, errors = run({}, "match allocate " .. file('{"resources": ' .. CORE .. "}"))
    assert.truthy(errors:find('Missing key "version"', 1, true), errors)
  end)

  it("reads a machine of hwloc 1 with a NUMA node on top", function()
    local out = run({ "-f", "hwloc" }, "find status=up", "spec/fuzz/corpus/hwloc/numanode1")
    assert.truthy(out:find("---------numanode0[1:x]\n      ------box1[1:x]\n", 1, true), out)
  end)

  local LITE = '"R_lite": [{"rank": "0-1", "children": {"core": "0"}}], "starttime": 0, "expiration": 0'

  it("refuses an R without a nodelist", function()
    local ran = shell.weir { "query", "-f", "rv1exec", "-L", file('{"version": 1, "execution": {' .. LITE .. "}}") }
    assert.equal(1, ran.status)
    assert.truthy(ran.err:find("execution.nodelist is missing", 1, true), ran.err)
  end)

  it("reads and writes hosts with leading zeros of their own", function()
    local R = file('{"version": 1, "execution": {' .. LITE .. ', "nodelist": ["node[07,8]"]}}')
    local out = run({ "-f", "rv1exec", "-F", "rv1_nosched" }, "find status=up\nget-status /cluster0/node8", R)
    assert.truthy(out:find('"nodelist": ["node[07,8]"]', 1, true), out)
    assert.truthy(out:find("/cluster0/node8 is up", 1, true), out)
  end)

  it("keeps the paths of a fragment, whose racks are not in it", function()
    local nodes, edges = {}, {}
    for i, v in ipairs { { "cluster", "/c0", -1 }, { "node", "/c0/rack1/node3", 3 }, { "core", "/c0/rack1/node3/core0", 3 } } do
      nodes[i] = ('{"id": "%d", "metadata": {"type": "%s", "id": %d, "rank": %d, "paths": {"containment": "%s"}}}'):format(i + 4, v[1],
        v[2]:match "%d$", v[3], v[2])
      edges[i - 1] = ('{"source": "%d", "target": "%d"}'):format(i + 3, i + 4)
    end
    local text = ('{"graph": {"nodes": [%s], "edges": [%s]}}'):format(table.concat(nodes, ","), table.concat(edges, ","))
    local out = run({ "-f", "jgf", "-F", "jgf" }, "match allocate " .. job(CORE) .. "\nget-status /c0/rack1/node3", file(text))
    assert.truthy(out:find('{"id": "6", "metadata": {"type": "node", "id": 3, "rank": 3, "paths": {"containment": "/c0/rack1/node3"}}}', 1,
      true), out)
    assert.truthy(out:find("/c0/rack1/node3 is up", 1, true), out)
  end)

  local POWER = query.recipe({
    { "c", { root = 1, type = "cluster" } }, { "n", { type = "node" } },
    { "p", { root = 1, type = "panel", subsystem = "power" } }, { "u", { type = "pdu", subsystem = "power" } },
  }, { { "c", "n", { scale = 2 } }, { "p", "u", { scale = 3, e_subsystem = "power" } } })

  for _, set in ipairs { "CA", "PA", "C+PA" } do
    it("counts the whole machine for -e, not only the subsystems of -S " .. set, function()
      local ran = shell.weir { "query", "-e", "-d", "-S", set, "-L", file(POWER) }
      assert.equal(0, ran.status)
      assert.truthy(ran.out:find("Vertex Count: 7\nINFO: Edge Count: 5\nINFO: by_type Key-Value Pairs: 4\n", 1, true), ran.out)
    end)
  end

  it("wants all subsystems of -S", function()
    local ran = shell.weir { "query", "-S", "C+PA", "-L", file(query.RECIPE) }
    assert.equal(1, ran.status)
    assert.truthy(ran.err:find("no subsystem power", 1, true), ran.err)
  end)

  it("knows that a node as a slot is what it says", function() -- NODE has no levels inside
    assert.equal("Satisfiable request", told((run({}, "match satisfiability " .. job(NODE)))))
  end)
end)
