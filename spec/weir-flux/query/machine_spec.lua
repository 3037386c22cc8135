-- weir query: reading, numbering and changing machines, and documents with the resources of jobs.

local query = require "spec.support.query"

local file, job, run, slot = query.file, query.job, query.run, query.slot

local CORE = slot '{"type": "core", "count": 1}'

-- "id:PATH" of all vertices of a JGF text, in its order.
local function ids(text)
  local list = {}
  for id, path in text:gmatch '{"id": "(%-?%d+)", "metadata": {.-"containment": "([^"]*)"' do list[#list + 1] = id .. ":" .. path end
  return list
end

-- A graph of {id, type, path, rank, more}, each below the vertex whose path begins its own path.
local function jgf(vertices, more)
  local nodes, edges, at = {}, {}, {}
  for i, v in ipairs(vertices) do
    nodes[i] = ('{"id": "%s", "metadata": {"type": "%s", "rank": %d, %s"paths": {"containment": "%s"}}}'):format(
      v[1], v[2], v[4] or -1, v[5] or "", v[3])
    at[v[3]] = v[1]
    local above = at[v[3]:match "^(.*)/[^/]*$"]
    if above then edges[#edges + 1] = ('{"source": "%s", "target": "%s"}'):format(above, v[1]) end
  end
  return ('{%s"graph": {"nodes": [%s], "edges": [%s]}}'):format(more or "", table.concat(nodes, ","), table.concat(edges, ","))
end

-- cluster0 -> node0, node1 -> core0; ids of types follow from the paths.
local function nodes_of(count, more)
  local list = { { "10", "cluster", "/cluster0", -1, '"id": 0, ' } }
  for i = 0, count - 1 do
    list[#list + 1] = { tostring(20 + i), "node", "/cluster0/node" .. i, i, ('"id": %d, %s'):format(i, more or "") }
    list[#list + 1] = { tostring(30 + i), "core", ("/cluster0/node%d/core0"):format(i), i, '"id": 0, "exclusive": true, ' }
  end
  return list
end

local JGF = { "-f", "jgf", "-F", "jgf", "-P", "low", "-L" }

local function on_jgf(text, commands, words)
  local all = table.move(JGF, 1, #JGF, 1, {})
  all[#all + 1] = file(text)
  return run(table.move(words or {}, 1, #(words or {}), #all + 1, all), commands)
end

describe("weir query and machines", function()
  teardown(query.clean)

  -- ---- reading ----------------------------------------------------------------------------------------------

  it("numbers what a recipe makes an edge at a time", function()
    local recipe = query.recipe({
      { "c", { root = 1, type = "cluster" } }, { "r", { type = "rack" } }, { "n", { type = "node" } }, { "k", { type = "core" } },
    }, { { "c", "r", { scale = 2 } }, { "r", "n", { scale = 2 } }, { "r", "k" } })
    assert.same({
      "3:/cluster0/rack0/node0", "4:/cluster0/rack0/node1", "7:/cluster0/rack0/core0", "1:/cluster0/rack0",
      "5:/cluster0/rack1/node0", "6:/cluster0/rack1/node1", "8:/cluster0/rack1/core0", "2:/cluster0/rack1", "0:/cluster0",
    }, ids((run({ "-F", "jgf" }, "find status=up", file(recipe)))))
  end)

  it("searches another subsystem as if it were the containment", function()
    local recipe = query.recipe({
      { "c", { root = 1, type = "cluster" } }, { "n", { type = "node" } },
      { "p", { root = 1, type = "panel", subsystem = "power" } }, { "w", { type = "power", subsystem = "power", size = 10 } },
      { "pn", { type = "node", subsystem = "power" } },
    }, {
      { "c", "n", { scale = 2 } }, { "p", "pn", { gen_method = "ASSOCIATE_IN", e_subsystem = "power" } },
      { "pn", "w", { e_subsystem = "power" } },
    })
    local panel = job '[{"type": "slot", "count": 1, "label": "s", "with": [{"type": "node", "count": 1}]}]'
    local out = run({ "-S", "PA", "-P", "low", "-F", "jgf" }, "match allocate " .. panel .. "\nfind status=up", file(recipe))
    assert.truthy(out:find('"paths": {"containment": "/cluster0/node0", "power": "/panel0/node0"}', 1, true))
    assert.truthy(out:find('{"source": "3", "target": "1", "metadata": {"subsystem": "power"}}', 1, true))
    assert.truthy(out:find('"power": "/panel0/node1/power0"', 1, true))
    assert.falsy(run({ "-S", "CA", "-F", "jgf" }, "find status=up", file(recipe)):find("panel0\"}", 1, true))
  end)

  it("takes every object that hwloc found", function()
    local out = run({ "-f", "hwloc", "-L", "spec/data/hwloc/box7.xml", "-W", "node,core,pu" }, "find status=up")
    assert.truthy(out:find("\n      ------box7[1:x]\n      ---cluster0[1:x]\n", 1, true))
    assert.truthy(out:match "^      ------------pu%d+%[1:x%]\n")
    assert.falsy(out:find("socket", 1, true))
  end)

  it("takes a graph that was written for a job as a machine", function()
    local out = on_jgf(jgf(nodes_of(2, '"exclusive": true, "unit": "kg", ')), "match allocate " .. job(CORE))
    assert.same({ "30:/cluster0/node0/core0", "20:/cluster0/node0", "10:/cluster0" }, ids(out))
    assert.falsy(out:find("kg", 1, true))
  end)

  it("names a node by the number at its end where no id is given", function()
    local text = jgf { { "0", "cluster", "/c", -1, '"name": "c", ' }, { "7", "node", "/c/n12", 0, '"name": "n12", ' } }
    assert.truthy(on_jgf(text, "find names=n12"):find('"type": "node", "name": "n12", "id": 12,', 1, true))
  end)

  it("reads an R by its ranks, whatever its graph says, and no host whose number does not fit", function()
    local R = '{"version": 1, "execution": {"R_lite": [{"rank": "3-4", "children": {"core": "0-1"}}], "nodelist": ["%s"], '
      .. '"starttime": 0, "expiration": 0}, "scheduling": {"graph": {"nodes": [], "edges": []}}}'
    local out = run({ "-f", "rv1exec", "-L", file(R:format "n[8-9]"), "-F", "rlite" }, "find status=up")
    assert.truthy(out:find('[{"rank": "3-4", "children": {"core": "0-1"}}]', 1, true))
    assert.has_error(function() run({ "-f", "rv1exec", "-L", file(R:format "n8,n9223372036854775808") }, "quit") end)
  end)

  it("tells on -e how much was looked at", function()
    local _, screen = run({ "-e", "-P", "low" }, "match allocate " .. job(CORE))
    assert.truthy(screen:find "INFO: ELAPSE=%d+%.%d+\nINFO: PREORDER VISIT COUNT=%d+\nINFO: POSTORDER VISIT COUNT=%d+\n")
  end)

  -- ---- resources in use ----------------------------------------------------------------------------------------

  it("counts on find what -p asks for", function()
    local commands = ("match allocate %s\nfind agfilter=t\nfind jobid-alloc=1 agfilter=t"):format(job(CORE))
    local out = run({ "-P", "low", "-F", "jgf", "-p", "node:core" }, commands)
    assert.truthy(out:find('/cluster0/node0"}, "agfilter": {"core": "used:1, total:2"}', 1, true))
    assert.truthy(out:find('/cluster0/node1"}, "agfilter": {"core": "used:0, total:2"}', 1, true))
    assert.truthy(out:find('"/cluster0"}, "agfilter": {"memory": "used:0, total:16"}', 1, true), "leaves that -p does not name")
  end)

  it("shows on find what -p counts below a vertex that counts nothing", function()
    local out = run({ "-P", "low", "-F", "jgf", "-p", "node:core,node:memory" }, "find agfilter=t")
    assert.falsy(out:find('"/cluster0"}', 1, true))
    assert.truthy(out:find('"edges": [{"source": "0", "target": "1"}, {"source": "0", "target": "2"}]', 1, true))
  end)

  it("carries labels of the jobspec, but those of slots", function()
    local j = job('[{"type": "node", "count": 1, "label": "here", "with": [{"type": "slot", "count": 1, "label": "s", "with": '
      .. '[{"type": "core", "count": 1, "label": "mine"}]}]}]')
    local out = run({ "-P", "low", "-F", "jgf" }, "match allocate " .. j)
    assert.truthy(out:find([[/cluster0/node0"}, "ephemeral": {"label": "here"}]], 1, true), out)
    assert.truthy(out:find('/core0"}, "ephemeral": {"label": "mine"}', 1, true))
    assert.falsy(out:find('"label": "s"', 1, true))
  end)

  it("counts what a cancellation looks at", function()
    local out = run({ "-P", "low" }, ("match allocate %s\ncancel 1 stats"):format(job(CORE)))
    assert.truthy(out:find('CANCEL PREORDER COUNT="6"\nINFO: CANCEL POSTORDER COUNT="3"', 1, true))
  end)

  -- ---- documents --------------------------------------------------------------------------------------------

  local part = nodes_of(1)
  part[2][5], part[3][5] = '"id": 0, ', '"id": 0, "exclusive": true, '

  it("books under any number, 0 too", function()
    local out, screen = on_jgf(jgf(nodes_of(2)), ("update allocate jgf %s 0 0 10\nfind jobid-alloc=0\ncancel 0\nlist"):format(
      file(jgf(part))))
    assert.truthy(out:find("INFO: JOBID=0\nINFO: RESOURCES=ALLOCATED", 1, true))
    assert.truthy(screen:find("INFO: 0, CANCELED, 0, ", 1, true))
  end)

  it("leaves out ranks that are free already", function()
    local _, _, errors, s = on_jgf(jgf(nodes_of(2)), ("update allocate jgf %s 1 0 10"):format(
      file(jgf(nodes_of(2), '"free_ranks": "0", '))))
    assert.equal("", errors)
    assert.equal(1, #s.jobs[1].parts)
  end)

  local wrong = {
    { "no JSON", "{", "" }, { "no graph", "{}", "expected a graph with nodes and edges" },
    { "a vertex that is not there", jgf { { "0", "cluster", "/nowhere" } }, "there is no vertex /nowhere" },
    { "a vertex of another type", jgf { { "0", "rack", "/cluster0" } }, "there is no vertex /cluster0" },
    { "a vertex twice", jgf { { "0", "cluster", "/cluster0" }, { "1", "cluster", "/cluster0" } }, "named twice" },
  }
  for _, row in ipairs(wrong) do
    it("does not book a document with " .. row[1], function()
      local out, _, errors, s = on_jgf(jgf(nodes_of(2)), ("update allocate jgf %s 5 0 10"):format(file(row[2])))
      assert.truthy(errors:find(row[3], 1, true))
      assert.truthy(out:find("INFO: No matching resources found\nINFO: JOBID=5\n", 1, true))
      assert.equal(0, #s.engine:jobs())
    end)
  end

  it("does not take an R of more ranks than there are vertices", function()
    local R = file('{"version": 1, "execution": {"R_lite": [{"rank": "0-4294967295", "children": {"core": "0"}}], '
      .. '"nodelist": ["node[0-4294967295]"], "starttime": 0, "expiration": 0}}')
    local _, _, errors = on_jgf(jgf(nodes_of(2)), "update allocate rv1exec " .. R .. " 1 0 10")
    assert.truthy(errors:find("more ranks than the machine has vertices", 1, true), errors)
  end)

  it("gives back only what the job has", function()
    local whole = slot '{"type": "node", "count": 1, "with": [{"type": "core", "count": 1}]}'
    local commands = ("match allocate %s\npartial-cancel 1 jgf %s"):format(job(whole), file(jgf(part)))
    local _, screen, errors = on_jgf(jgf(nodes_of(2)), commands)
    assert.truthy(screen:find("job 1 does not have /cluster0", 1, true))
    assert.equal("ERROR: error encountered while removing job 1\n", errors)
  end)

  -- ---- changes ----------------------------------------------------------------------------------------------

  it("does not attach a machine with another root", function()
    local _, _, errors = on_jgf(jgf(nodes_of(1)), "attach " .. file(jgf { { "0", "cluster", "/other0", -1, '"name": "other0", ' } }))
    assert.truthy(errors:find("ERROR: can't attach JGF subgraph \nERROR: add_subgraph: ERROR:", 1, true), errors)
  end)

  -- {what, the resources, when the fourth job is to begin}: seen from resource-query.
  for _, row in ipairs {
    { "counts whole nodes", slot '{"type": "node", "count": 1}', 60 }, { "does not count cores", CORE, 120 },
    { "does not count nodes of which cores are wanted", slot '{"type": "node", "count": 1, "with": [{"type": "core", "count": 1}]}', 120 },
  } do
    it(row[1] .. " that were attached when a reservation begins with a job that was planned before", function()
      local j = job(row[2], 60)
      local commands = { "multi-match allocate_orelse_reserve " .. j .. " " .. j, "attach " .. file(jgf(nodes_of(2))),
        "match allocate " .. j, "match allocate_orelse_reserve " .. j }
      local out = on_jgf(jgf(nodes_of(1)), table.concat(commands, "\n"))
      assert.equal(tostring(row[3]), out:match "INFO: JOBID=4\nINFO: RESOURCES=RESERVED\nINFO: SCHEDULED AT=(%d+)\n")
    end)
  end

  it("removes what jobs have, too", function()
    local commands = ("match allocate %s\nremove 0 false\nfind jobid-tag=1\nmatch allocate %s"):format(job(CORE), job(CORE))
    local out, _, errors = on_jgf(jgf(nodes_of(2)), commands)
    assert.equal("", errors)
    assert.same({ "31:/cluster0/node1/core0", "21:/cluster0/node1", "10:/cluster0" }, ids(out:match "jobid%-tag=1.*$"))
  end)

  -- ---- weir's own -------------------------------------------------------------------------------------------

  it("says why not, and takes nothing for that", function()
    local j = job(slot '{"type": "node", "count": 1}')
    local _, screen, errors, s = run({ "-P", "low" }, ("multi-match allocate %s %s\nwhy %s\nw %s /cluster0/node1"):format(j, j, j, j))
    assert.equal("", errors)
    assert.truthy(screen:find("busy: it fits once jobs have ended", 1, true))
    assert.equal(2, #s.engine:jobs())
  end)
end)
