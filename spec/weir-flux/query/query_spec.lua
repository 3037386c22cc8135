-- weir query on a small machine: each command, its refusals, the options, and the output.

local core = require "weir.core"
local options = require "weir.query.options"
local query = require "spec.support.query"
local session = require "weir.query.session"

local RULE, RECIPE = query.RULE, query.RECIPE
local CORE, NODE = query.slot '{"type": "core", "count": 1}', query.slot '{"type": "node", "count": 1}'
local file, job, run, slot = query.file, query.job, query.run, query.slot

local R = '{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-1"}}], '
  .. '"nodelist": ["node[0-1]"], "starttime": 0, "expiration": 0}}'

local function info(lines) return RULE .. lines .. RULE end

local function allocated(n) return info(("INFO: JOBID=%d\nINFO: RESOURCES=ALLOCATED\nINFO: SCHEDULED AT=Now\n"):format(n)) end

describe("weir query", function()
  teardown(query.clean)

  -- ---- matching ---------------------------------------------------------------------------------------------

  it("allocates by the policy, and says what", function()
    local out = run({ "-P", "high" }, "match allocate " .. job(CORE))
    assert.equal("      ---------core1[1:x]\n      ------node0[1:s]\n      ---cluster0[1:s]\n" .. allocated(1), out)
  end)

  it("gives whole pools, whatever part of them is asked for", function()
    local out = run({ "-P", "low" }, "match allocate " .. job(slot '{"type": "memory", "count": 3}'))
    assert.equal("      ---------memory0[8:x]\n      ------node0[1:s]\n      ---cluster0[1:s]\n" .. allocated(1), out)
  end)

  it("reserves when nothing is free, and tells when", function()
    local j = job(NODE)
    local out = run({ "-P", "low" }, ("multi-match allocate_orelse_reserve %s %s %s"):format(j, j, j))
    assert.truthy(out:find("INFO: JOBID=3\nINFO: RESOURCES=RESERVED\nINFO: SCHEDULED AT=60\n", 1, true))
  end)

  it("tells whole seconds, whatever a job asks for", function()
    local j = job(slot '{"type": "core", "count": 2}', 2.5)
    local out = run({ "-P", "low", "-F", "rv1_nosched" }, "multi-match allocate_orelse_reserve " .. j:rep(3, " "))
    assert.truthy(out:find('"starttime": 3, "expiration": 6}', 1, true))
  end)

  local outcomes = {
    { "allocate", 'INFO: No matching resources found\nINFO: JOBID=1\n' },
    { "allocate_with_satisfiability", "INFO: No matching resources found\nINFO: Unsatisfiable request\nINFO: JOBID=1\n" },
    { "allocate_orelse_reserve", "INFO: No matching resources found\nINFO: JOBID=1\n" },
    { "satisfiability", "INFO: Unsatisfiable request\n" },
    { "without_allocating", "INFO: No matching resources found\nINFO: JOBID=1\n" },
  }
  for _, row in ipairs(outcomes) do
    it("says of what can never be, on " .. row[1], function()
      local out = run({}, "match " .. row[1] .. " " .. job(slot '{"type": "node", "count": 3}'))
      assert.truthy(out:sub(-#info(row[2])) == info(row[2]), out)
    end)
  end

  it("knows the types of the machine only", function()
    local out, _, errors = run({}, "match allocate " .. job(slot '{"type": "tape", "count": 1}'))
    assert.equal(info "INFO: No matching resources found\nINFO: JOBID=1\n", out)
    assert.truthy(errors:find("Jobspec error for 1: Value of \"type\" must be a resource type known", 1, true))
  end)

  it("knows the types of subsystems that are not searched", function()
    local machine = query.recipe({
      { "c", { root = 1, type = "cluster" } }, { "n", { type = "node" } }, { "k", { type = "core" } },
      { "p", { root = 1, type = "panel", subsystem = "power" } }, { "n2", { type = "node", subsystem = "power" } },
    }, { { "c", "n" }, { "n", "k", { scale = 2 } },
      { "p", "n2", { e_subsystem = "power", gen_method = "ASSOCIATE_IN" } } })
    for _, set in ipairs { "CA", "C+PA" } do
      local out, _, errors = run({ "-S", set }, "match allocate " .. job(slot '{"type": "panel", "count": 1}'), file(machine))
      assert.equal("", errors)
      assert.equal(info "INFO: No matching resources found\nINFO: JOBID=1\n", out)
    end
  end)

  -- Resource-query does not find this one: it comes to the shelves through the racks first, and looks at a vertex once.
  it("goes along the second parents of a recipe, and shows them", function()
    local machine = query.recipe({
      { "c", { root = 1, type = "cluster" } }, { "r", { type = "rack" } }, { "s", { type = "shelf" } }, { "d", { type = "ssd" } },
      { "t", { type = "store" } }, { "l", { type = "shelf" } },
    }, { { "c", "r", { scale = 2 } }, { "c", "t" }, { "r", "s" }, { "s", "d", { scale = 2 } },
      { "t", "l", { gen_method = "ASSOCIATE_IN" } } })
    local text = '[{"type": "store", "count": 1, "with": [{"type": "shelf", "count": 1, "with": '
      .. slot('{"type": "ssd", "count": 1}') .. '}]}]'
    local out = run({ "-P", "low" }, "match allocate " .. job(text), file(machine))
    assert.truthy(out:find("ssd0[1:x]\n      ---------shelf0[1:s]\n      ------store0[1:s]\n      ---cluster0[1:s]\n", 1, true), out)
  end)

  it("says why not of a jobspec with alternatives", function()
    local text = '[{"type": "slot", "count": 1, "label": "s", "with": [{"type": "core", "count": 3}]}, '
      .. '{"type": "slot", "count": 9, "label": "s", "with": [{"type": "core", "count": 1}]}]'
    local out, screen = run({ "-T", "flexible", "-P", "low" }, "why " .. job(text))
    assert.truthy((out .. screen):find("infeasible", 1, true), out .. screen)
  end)

  it("honours constraints", function()
    local out = run({ "-P", "low" }, "match allocate " .. job(CORE, 60, ', "constraints": {"hostlist": ["node[1-9]"]}'))
    assert.truthy(out:find("node1", 1, true))
  end)

  it("without_allocating takes nothing", function()
    local j = job(NODE)
    local _, _, _, s = run({}, ("match without_allocating %s\nmatch without_allocating %s"):format(j, j))
    assert.equal(1, s.counter)
    assert.is_nil(next(s.jobs))
  end)

  it("without_allocating counts as a use where the first that fits is taken", function()
    local j = job(NODE)
    local out = run({}, ("match without_allocating %s\n"):rep(4):format(j, j, j, j))
    local nodes = {}
    for name in out:gmatch "node%d" do nodes[#nodes + 1] = name end
    assert.same({ "node1", "node0", "node1", "node1" }, nodes)
  end)

  it("flexible: slots side by side are alternatives", function()
    local either = '[{"type": "slot", "count": 1, "label": "s", "with": [{"type": "core", "count": 3}]},'
      .. '{"type": "slot", "count": 1, "label": "s", "with": [{"type": "core", "count": 2}]}]'
    local j = job('[{"type": "node", "count": 1, "with": ' .. either .. "}]")
    assert.truthy(run({ "-T", "flexible", "-P", "low" }, "match allocate " .. j):find("core1[1:x]", 1, true))
    assert.truthy(run({ "-P", "low" }, "match allocate " .. j):find("No matching", 1, true))
  end)

  -- ---- writers ----------------------------------------------------------------------------------------------

  local formats = {
    { "pretty_simple", "      ---cluster0[1:shared]\n      ------node0[1:shared]\n      ---------core0[1:exclusive]\n" },
    { "jgf", '{"graph": {"nodes": [{"id": "3", "metadata": {"type": "core", "id": 0, "rank": -1, "exclusive": true, '
      .. '"paths": {"containment": "/cluster0/node0/core0"}}}, {"id": "1", "metadata": {"type": "node", "id": 0, "rank": 0, '
      .. '"paths": {"containment": "/cluster0/node0"}}}, {"id": "0", "metadata": {"type": "cluster", "id": 0, "rank": -1, '
      .. '"paths": {"containment": "/cluster0"}}}], "edges": [{"source": "1", "target": "3"}, '
      .. '{"source": "0", "target": "1"}]}}\n' },
    { "rlite", '[{"rank": "0", "children": {"core": "0"}}]\n' },
    { "rv1_nosched", '{"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0"}}], '
      .. '"nodelist": ["node0"], "starttime": 0, "expiration": 60}}\n' },
  }
  for _, row in ipairs(formats) do
    it("writes " .. row[1], function()
      local out = run({ "-P", "low", "-F", row[1] }, "match allocate " .. job(CORE))
      assert.equal(row[2], out:sub(1, #row[2]))
    end)
  end

  it("leaves out in shorthand what is below an exclusive vertex", function()
    local out = run({ "-P", "lonodex", "-F", "jgf_shorthand" }, "match allocate " .. job(CORE))
    assert.falsy(out:find('"core"', 1, true))
    assert.truthy(out:find('"writer": "fluxion:jgf_shorthand"', 1, true))
  end)

  -- ---- jobs -------------------------------------------------------------------------------------------------

  it("cancels, once", function()
    local out, _, errors = run({ "-P", "low" }, ("match allocate %s\ncancel 1 stats\ncancel 1"):format(job(NODE)))
    assert.truthy(out:find 'CANCEL PREORDER COUNT="%d+"')
    assert.equal("cancel: ERROR: nonexistent job 1\n", errors)
  end)

  it("books again what it wrote", function()
    for _, reader in ipairs { { "jgf", "jgf" }, { "jgf_shorthand", "jgf_shorthand" }, { "rv1_nosched", "rv1exec" } } do
      local words = { "-P", "lonodex", "-F", reader[1], "-f", "rv1exec", "-L", file(R) }
      local out = run(words, "match allocate " .. job(CORE))
      local again = run(words, ("update allocate %s %s 1 0 60"):format(reader[2], file(out:match "^[^\n]*")))
      assert.equal(out, again)
    end
  end)

  it("does not book what is taken", function()
    local r = file(run({ "-P", "low", "-F", "jgf" }, "match allocate " .. job(CORE)):match "^[^\n]*")
    local out, _, errors = run({ "-P", "low", "-F", "simple" },
      ("update allocate jgf %s 1 0 60\nupdate allocate jgf %s 2 0 60\nupdate allocate jgf %s 1 0 60"):format(r, r, r))
    assert.truthy(out:find("INFO: No matching resources found\nINFO: JOBID=2\n", 1, true))
    assert.truthy(errors:find("ERROR: traverser run () returned error \nERROR: ", 1, true))
    assert.truthy(errors:find("ERROR: existing Jobid", 1, true))
  end)

  it("gives back a part of a job", function()
    local whole = job(slot '{"type": "node", "count": 2}')
    local part = file '{"version": 1, "execution": {"R_lite": [{"rank": "1", "children": {"core": "0-1"}}]}}'
    local commands = ("match allocate %s\npartial-cancel 1 rv1exec %s\nfind sched-now=free"):format(whole, part)
    local out, _, errors = run({ "-P", "lonodex", "-F", "rlite", "-f", "rv1exec", "-L", file(R) }, commands)
    assert.equal("", errors)
    assert.truthy(out:find('[{"rank": "1", "children": {"core": "0-1"}}]', 1, true))
  end)

  -- ---- looking, and changing the machine --------------------------------------------------------------------

  local finds = {
    { "status=up and names=node[1-5]", "      ------node1[1:x]\n" }, { "status=down", "" },
    { "(status=down or names=node0) and property=fast", "      ------node0[1:x]\n" },
    { "sched-now=allocated agfilter=true", "" },
  }
  for _, row in ipairs(finds) do
    it("finds " .. row[1], function()
      local out = run({}, "set-property /cluster0/node0 fast=1\nfind " .. row[1])
      assert.equal(row[2] .. (row[2] ~= "" and "      ---cluster0[1:x]\n" or ""), out:match("^(.-)INFO"))
    end)
  end

  for _, text in ipairs { "status=sideways", "status", "(status=up", "names=n[", "status=up)" } do
    it("refuses to find " .. text, function()
      local _, _, errors = run({}, "find " .. text)
      assert.equal(("findfind: invalid criteria: %s.\n"):format(text), errors)
    end)
  end

  it("keeps down what is marked down", function()
    local out = run({ "-P", "low" }, ("t /cluster0/node0 down\ne /cluster0/node0\nm allocate %s"):format(job(CORE)))
    assert.equal("/cluster0/node0 is down\n", out:match "^[^\n]*\n")
    assert.truthy(out:find("node1", 1, true))
  end)

  it("attaches, and removes by path and by rank", function()
    local more = file [[{"graph": {"nodes": [
      {"id": "0", "metadata": {"type": "cluster", "id": 0, "paths": {"containment": "/cluster0"}}},
      {"id": "90", "metadata": {"type": "node", "id": 9, "rank": 9, "paths": {"containment": "/cluster0/node9"}}},
      {"id": "91", "metadata": {"type": "core", "id": 0, "rank": 9, "paths": {"containment": "/cluster0/node9/core0"}}}],
      "edges": [{"source": "0", "target": "90"}, {"source": "90", "target": "91"}]}}]]
    local commands = ("m allocate %s\nattach %s\nremove /cluster0/node1 true\nremove 0 false\nm allocate %s\nlist"):format(
      job(CORE), more, job(CORE))
    local out, screen, errors = run({ "-P", "low", "-f", "rv1exec", "-L", file(R) }, commands)
    assert.equal("", errors)
    assert.truthy(out:find("node9", 1, true))
    assert.truthy(screen:find "INFO: 1, ALLOCATED, 0, .*\nINFO: 2, ALLOCATED, 0, ")
  end)

  -- ---- wrong use --------------------------------------------------------------------------------------------

  local wrong = {
    { "match", "ERROR: malformed command\n" }, { "match dance x", "ERROR: unknown subcmd dance\n" },
    { "match allocate /nowhere", "ERROR: can't open /nowhere\n" }, { "multi-match allocate x", "ERROR: malformed command\n" },
    { "update dance jgf x 1 0 1", "ERROR: unknown subcmd dance\n" },
    { "update allocate csv x 1 0 1", "ERROR: unsupported reader csv\n" },
    { "partial-cancel 1 csv x", "ERROR: unsupported reader csv\n" }, { "info 7", "info: ERROR: nonexistent job 7\n" },
    { "get-status", "ERROR: malformed command\n" }, { "set-status /cluster0 sideways", "ERROR: unrecognized status\n" },
    { "remove /cluster0 maybe", "ERROR: invalid path boolean input \n" }, { "remove x false", "ERROR: failed to decode ranks.\n" },
    { "cat", "ERROR: malformed command\n" }, { "dance", "" },
  }
  for _, row in ipairs(wrong) do
    it("goes on after: " .. row[1], function()
      local out, _, errors = run({}, row[1] .. "\nget-status /cluster0")
      assert.equal(row[2], errors)
      assert.truthy(out:find("/cluster0 is up\n", 1, true))
    end)
  end

  it("quits", function() assert.equal("", (run({}, "quit\nget-status /cluster0"))) end)

  -- ---- options ----------------------------------------------------------------------------------------------

  it("reads options as getopt_long does", function()
    local o = assert(options.read { "-dPlow", "--match-f=jgf", "-p", "ALL:core", "--prune-filters", "ALL:node", "-e" })
    assert.same({ "low", "jgf", "ALL:core,ALL:node", true, true },
      { o.policy, o.match_format, o.prune_filters, o.no_prompt, o.elapsed })
  end)

  for _, words in ipairs { { "-z" }, { "--nothing" }, { "--match" }, { "-L" }, { "-L", "/nowhere" }, { "-F", "csv" },
    { "-f", "csv" }, { "-g", "png" }, { "operand" }, { "--help=yes" } } do
    it("refuses " .. table.concat(words, " "), function() assert.is_nil((options.read(words))) end)
  end

  for _, row in ipairs { { "-P", "nobody" }, { "-S", "XX" }, { "-S", "PA" }, { "-p", "core" }, { "-T", "random" } } do
    it("makes no session with " .. table.concat(row, " "), function()
      local o = assert(options.read(row))
      o.load_file = file(RECIPE)
      local s, why = session.new(o)
      assert.is_nil(s)
      assert.truthy(why:find("ERROR: can't", 1, true))
    end)
  end

  it("refuses a recipe that asks for millions", function()
    local o = assert(options.read {})
    o.load_file = file((RECIPE:gsub(">2</data>", ">5000000</data>", 1)))
    local s, why = session.new(o)
    assert.is_nil(s)
    assert.truthy(why:find("more than 10000000 vertices", 1, true), why)
  end)

  it("writes the graph", function()
    local name = file ""
    query.made(name .. ".dot")
    query.made(name .. ".graphml")
    run({ "-o", name }, "quit")
    run({ "-o", name, "-g", "graphml" }, "quit")
    local dot, graphml = io.open(name .. ".dot"):read "a", io.open(name .. ".graphml"):read "a"
    assert.truthy(dot:find('1[label="node0"];', 1, true))
    assert.truthy(graphml:find('<edge id="e0" source="n0" target="n1">', 1, true))
  end)

  -- ---- parts ------------------------------------------------------------------------------------------------

  it("gives documents as plain data, with their keys in order", function()
    assert.same({ "b", "a", a = { 1, 2 }, b = "x" },
      core.document("b: x\na: [1, 2]", { format = "yaml", keys = true }))
    assert.equal(4, #core.document(RECIPE, { format = "grug" }).nodes)
    local why, code = select(2, core.document("a: [", { format = "yaml", source = "f" }))
    assert.equal("parse", code)
    assert.truthy(why:find("f:", 1, true))
    assert.equal("invalid", (select(3, core.document("", { format = "csv" }))))
  end)
end)
