-- Documents: JSON graphs with the whole state. A document of a graph made of a document has equal bytes, whatever the
-- machine, and the engine on the loaded graph goes on as the engine on the saved graph does.
local dice = require "spec.support.dice"
local documents = require "spec.support.documents"
local shell = require "spec.support.shell"
local weir = require "weir"

local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

after_each(shell.clean)

local function document(g) return assert(g:format "document") end

-- A document without UUIDs: that of a pool that is added depends on its place, which a load numbers anew.
local function unmarked(g) return (document(g):gsub('"uuid":"[^"]*",', "")) end

-- Fails at the first line that differs.
local function equal(a, b, what)
  if a == b then return end
  local lines = {}
  for line in b:gmatch "[^\n]*" do lines[#lines + 1] = line end
  local i = 0
  for line in a:gmatch "[^\n]*" do
    i = i + 1
    if line ~= lines[i] then error(("%s, line %d:\n%s\n%s"):format(what, i, line, tostring(lines[i])), 2) end
  end
  error(what .. ": lines are missing", 2)
end

describe("a document", function()
  it("[A161][M1][L8] of a random machine is loaded as it was saved", function()
    for seed = 1, math.ceil(40 * SCALE) do
      local w = documents.machine(seed, 40)
      local text = document(w.g)
      local again <close> = assert(weir.parse(text, { source = "seed " .. seed }))
      equal(text, document(again), "seed " .. seed)
      assert(w.g:compare(again, { books = true }))
      assert(again:check())
      w.g:close()
    end
  end)

  -- A load numbers vertices in preorder, and the number decides where a policy prefers neither of two vertices: so no
  -- vertex is added or removed before the save.
  it("[A161][L8] is loaded into an engine that goes on as the engine of the saved graph does", function()
    for seed = 1, math.ceil(20 * SCALE) do
      local w = documents.machine(seed, 30, true)
      local other = documents.like(w, assert(weir.parse(document(w.g))))
      assert.same(documents.steps(w, dice(seed + 7), 25), documents.steps(other, dice(seed + 7), 25))
      equal(unmarked(w.g), unmarked(other.g), "after more steps, seed " .. seed)
      other.g:close()
      w.g:close()
    end
  end)

  it("[L5][M1] of each machine among the samples is loaded as it was saved, with jobs", function()
    local root = os.getenv "WEIR_DATA" or "../shared/data"
    local list = {}
    local files <close> = io.popen(("find '%s/machines' -type f -size -600k 2>/dev/null | sort"):format(root))
    for path in files:lines() do
      local g = not path:find "%.tsv$" and weir.load(path)
      if g then
        list[#list + 1] = path
        local e = weir.engine { resources = g }
        for _, request in ipairs { "slot=1/node", "slot=2/core=2", "slot=1/core" } do
          e:match(request)
          e:match(request, { mode = "reserve", duration = 10 })
        end
        local text = document(g)
        local again <close> = assert(weir.parse(text))
        equal(text, document(again), path)
        assert(g:compare(again, { books = true }))
        g:close()
      end
    end
    if #list == 0 then pending("no machines in " .. root) end
  end)

  it("[L8][A8] keeps jobs, reservations, clock, rule of expiry and the next id", function()
    local g = weir.synthetic "cluster:1 node:2 core:4 memory:1(size=16,unit=GB)"
    local e = weir.engine { resources = g, overrun = "expire" }
    assert(e:match("slot=1/node", { duration = 10 }))
    assert(e:match("slot=1/memory=6", { duration = 100 }))
    assert(e:match("slot=2/node", { mode = "reserve", duration = 10 }))
    assert(e:release(e:match("slot=1/core", { duration = 1 })))
    assert(e:advance(3))
    local path = shell.path(shell.directory(), "m.weir")
    assert(g:save(path))
    local h = assert(weir.load(path))
    local f = weir.engine { resources = h }
    assert.equal(3, f:now())
    assert.same({ "allocated", "allocated", "reserved" }, { f:job(1).state, f:job(2).state, f:job(3).state })
    assert.equal(e:job(3):format "tree", f:job(3):format "tree")
    assert.same({ true, { { event = "expire", job = 1, time = 10 } } }, { f:advance(11) })
    assert(f:release(2))
    assert.equal(5, assert(f:match("slot=1/memory=1", { at = 11, duration = 1 })).id)
  end)

  it("[A161] does not depend on the order in which keys were set, or on the numbers of vertices", function()
    local function machine(keys, gap)
      local g = weir.synthetic "cluster:1 node:2 core:2"
      local v = g "/cluster0/node1"
      if gap then g:unlink(g:add(g:root(), { type = "gone", id = 0 })) end
      for _, key in ipairs(keys) do v.tags[key] = key v.data[key] = key v.properties[key] = key end
      g:add(g:root(), { type = "node", id = 2, uuid = "00000000-0000-4000-8000-000000000001" })
      return g
    end
    local a, b = machine { "x", "y", "z" }, machine({ "z", "x", "y" }, true)
    equal(document(a), document(b), "the same state")
  end)

  it("keeps pools that left containment and are in further subsystems", function()
    local g = weir.synthetic "cluster:1 node:3 core:2"
    local pdu = g:add(nil, { type = "pdu", size = 5 })
    for i = 0, 2 do g:add_edge(pdu, g("/cluster0/node" .. i), { subsystem = "power" }) end
    assert(g:unlink(g "/cluster0/node1"))
    assert(g:unlink(g "/cluster0/node0"))
    local text = document(g)
    local h = assert(weir.parse(text))
    equal(text, document(h), "loaded")
    assert(g:compare(h, true))
    assert.equal(select(2, text:gsub('"detached":true', "")), 2)
    assert.equal(g:count(), h:count())
    assert(g:unlink(pdu))
    equal(document(g), document(assert(weir.parse(document(g)))), "without edges")
    text = document(g)
    local whole = weir.synthetic "cluster:1 node:3 core:2"
    equal(document(assert(whole:apply(assert(whole:diff(g))))), text, "made by a difference")
    equal(document(assert(g:apply(assert(g:diff(whole))))), document(whole), "and back")
  end)

  it("has no stage: a stage ends with the engine that made it", function()
    local g = weir.synthetic "cluster:1 node:2 core:2"
    local e = weir.engine { resources = g }
    assert(e:match "slot=1/core")
    local before = document(g)
    assert(e:stage("slot=1/node", { lease = 60 }))
    equal(document(g), before, "with a stage")
    assert.equal(1, #weir.engine({ resources = assert(weir.parse(document(g))) }):jobs())
    local text = assert(weir.parse(before):diff(g))
    equal(document(assert(weir.parse(before):apply(text))), before, "no difference")
  end)

  it("[L5] is a JSON graph like others: a reader that knows no documents takes the machine of it", function()
    local g = weir.synthetic "cluster:1 node:2 core:2"
    weir.engine({ resources = g }):match "slot=1/core"
    local doc = weir.json.decode(document(g))
    assert.equal(1, #doc.graph.metadata.weir.jobs)
    doc.graph.metadata = nil
    local plain = assert(weir.parse(weir.json.encode(doc)))
    assert(g:compare(plain))
    assert.equal(0, #weir.engine({ resources = plain }):jobs())
  end)

  it("keeps what a rank says of its vertex, also where the vertex above has the same", function()
    local g = weir.synthetic "cluster:1 node:1 socket:1 core:1"
    g("/cluster0/node0/socket0").rank = 0
    local h = assert(weir.parse(document(g)))
    g("/cluster0/node0").rank, h("/cluster0/node0").rank = 5, 5
    assert.same({ 0, 0 }, { g("/cluster0/node0/socket0").rank, h("/cluster0/node0/socket0").rank })
    equal(document(g), document(h), "ranks")
  end)

  it("[A161] refuses texts that it cannot hold, and names their place", function()
    local g = weir.synthetic "cluster:1 node:2 core:2"
    g("/cluster0/node1").tags.owner = "\xff"
    local text, why, code = g:format "document"
    assert.is_nil(text)
    assert.equal("invalid", code)
    assert.matches("/cluster0/node1: ", why, 1, true)
    g("/cluster0/node1").tags.owner = nil
    assert(g:format "document")
  end)
end)

describe("a document with a fault", function()
  local base = weir.synthetic "cluster:1 node:2 core:2 memory:1(size=16)"

  -- The document of a machine with `weir` as its metadata.
  local function with(text)
    local made, n = document(base):gsub('"weir":%b{}', function() return '"weir":' .. text end)
    assert.equal(1, n)
    return made
  end

  local function job(fields)
    return with('{"version":1,"jobs":[{' .. fields .. "}]}")
  end

  local FAULTS = {
    { with "3", "graph.metadata.weir: expected an object" },
    { with "{}", "graph.metadata.weir.version: is missing" },
    { with '{"version":2}', "graph.metadata.weir.version: expected an integer from 1 to 1" },
    { with '{"version":1,"now":-1}', "graph.metadata.weir.now: expected an integer from 0" },
    { with '{"version":1,"next_job":0}', "next_job: expected an integer from 1" },
    { with '{"version":1,"expire":1}', "expire: expected true or false" },
    { with '{"version":1,"subsystems":[""]}', "subsystems: expected names of subsystems" },
    { with '{"version":1,"subsystems":{}}', "subsystems: expected names of subsystems" },
    { with '{"version":1,"jobs":{}}', "jobs: expected an array" },
    { with '{"version":1,"jobs":[1]}', "jobs: expected objects" },
    { job '"start":0,"picks":[]', "jobs[0].id: is missing" },
    { job '"id":1,"picks":[]', "jobs[0].start: is missing" },
    { job '"id":0,"start":0,"picks":[]', "jobs[0].id: expected an integer from 1" },
    { job '"id":1,"start":5,"end":5,"picks":[]', "jobs[0].end: is not after the start" },
    { job '"id":1,"start":0,"nslots":0', "nslots: expected an integer from 1" },
    { job '"id":1,"start":0,"policy":7', "policy: expected a string" },
    { job '"id":1,"start":0,"picks":[[1,1,1]]', "picks: expected an integer from -1" },
    { job '"id":1,"start":0,"picks":[[1,1,1,0,0]]', "picks: has too many numbers" },
    { job '"id":1,"start":0,"picks":[3]', "picks: expected arrays" },
    { job '"id":1,"start":0,"picks":[[99,1,0,0]]', "picks name vertex 99; there are 9 nodes" },
    { job '"id":1,"start":0,"picks":[[4,3,1,0]]', "an exclusive pick has 3 of 16 units" },
    { job '"id":1,"start":0,"picks":[[4,17,0,0]]', "jobs have more of it at the same time than there is" },
    { job '"id":1,"start":0,"picks":[[4,1,0,0],[4,1,0,0]]', "a job has it twice" },
    { job '"id":1,"start":0,"picks":[[4,1,0,0]]},{"id":1,"start":0,"picks":[]', "job 1 is there already" },
    { job '"id":1,"start":0,"picks":[[1,1,1,0]]},{"id":2,"start":0,"picks":[[2,1,1,0]]',
      "a job has something of it while one has all that is above it" },
    { job '"id":1,"start":0,"picks":[[4,1,0,0]],"flows":[[1,2,1]]', "flows of job 1 name a vertex that the job does not hold" },
    { job '"id":1,"start":0,"picks":[],"flows":[[1,99,1]]', "flows name vertex 99" },
    { with '{"version":1,"valid_from":5,"valid_until":5}', "valid_until: is not after valid_from" },
    { with '{"version":1,"jobs":[{"id":1,"start":0,"picks":[]}],"jobs":[]}', "jobs: is given twice" },
    { with '{"version":1,"expire":]}', "JSON" }, { with '{"version":1,"now":]}', "JSON" },
    { job '"id":1,"start":0,"picks":[[4,1,0,0]],"picks":[]', "picks: is given twice" },
    { job('"id":1,"start":0,"queue":"' .. ("q"):rep(65537) .. '"'), "queue: is longer than 65536 bytes" },
    { job '"id":1,"start":0,"picks":[],"flows":[[1,"2",1]]', "flows: expected an integer from 0" },
    { job '"id":1,"start":0,"picks":[],"flows":[[1,2,1]', "JSON" }, { job '"id":1,"start":0,]', "JSON" },
    { (document(base):gsub('"weir":%b{}', '%0,"weir":{}', 1)), "graph.metadata.weir: is given twice" },
  }
  it("[L5] is none with keys that nobody knows: they are left out", function()
    local g <close> = assert(weir.parse(with '{"more":{"a":[1]},"version":1,"jobs":[{"id":1,"colour":[2],"start":0,"picks":[[4,1,0,0]]}]}'))
    local plain <close> = assert(weir.parse(job '"id":1,"start":0,"picks":[[4,1,0,0]]'))
    assert.equal(document(plain), document(g))
  end)

  for i, fault in ipairs(FAULTS) do
    it(("[L5] (%d) is refused: %s"):format(i, fault[2]), function()
      local g, why, code = weir.parse(fault[1], { source = "doc" })
      assert.is_nil(g)
      assert.matches(fault[2], why, 1, true)
      assert.is_true(code == "invalid" or code == "parse" or code == "exists", code)
    end)
  end
end)

describe("a text that is no UTF-8", function()
  local BAD = "x\xff"
  for _, case in ipairs {
    { "a type", function(g, root) g:add(root, { type = BAD }) end, "the text of the type" },
    { "a name", function(g, root) g:add(root, { type = "node", name = BAD }) end, "the text of the name" },
    { "a unit", function(g, root) g:add(root, { type = "memory", unit = BAD }) end, "the text of the unit" },
    { "a tag", function(_, root) root.tags.note = BAD end, "is no UTF-8" },
    { "a property", function(_, root) root.properties.class = BAD end, "is no UTF-8" },
    { "a subsystem", function(g, root) g:add_edge(root, g:add(nil, { type = "pdu" }), { subsystem = BAD, type = "feeds" }) end,
      "a subsystem, a relation of an edge" },
    { "the relation of an edge", function(g, root) g:add_edge(root, g:add(nil, { type = "pdu" }), { subsystem = "power", type = BAD }) end,
      "a subsystem, a relation of an edge" },
  } do
    it("is told where a document is written: " .. case[1], function()
      local g <close> = assert(weir.synthetic "cluster:1 node:2")
      local added = pcall(case[2], g, g:root())
      local text, why, code = g:format "document"
      if not added then return assert.is_string(text) end -- refused when it was given
      assert.same({ nil, "invalid" }, { text, code })
      assert.matches(case[3], why, 1, true)
    end)
  end
end)
