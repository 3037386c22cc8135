-- All faults of an R by RFC 20: each SHALL and MUST of the text, broken one by one in a valid document.
local core = require "weir.core"
local shell = require "spec.support.shell"
local weir = require "weir"

after_each(shell.clean)

local UUID = "11111111-0000-4000-8000-00000000000"

local function vertex(id, type, rank)
  return {
    id = tostring(id),
    metadata = { type = type, uuid = UUID .. id, basename = type, name = type .. id, id = id, properties = {}, size = 1,
      unit = "", rank = rank },
  }
end

local function edge(source, target)
  return { source = tostring(source), target = tostring(target), metadata = { subsystem = "containment", relationship = "contains" } }
end

local function valid()
  return {
    version = 1,
    execution = {
      R_lite = { { rank = "0", children = { core = "2", gpu = "3" } } }, nodelist = { "node1" },
      properties = { fast = "0", ["mi50@gpu"] = "0" },
      starttime = 1000.5, expiration = 2000,
    },
    scheduling = { graph = {
      nodes = { vertex(0, "cluster"), vertex(1, "node", 0), vertex(2, "core"), vertex(3, "gpu") },
      edges = { edge(0, 1), edge(1, 2), edge(1, 3) },
    } },
    attributes = { system = { scheduler = { queue = "batch" } } },
  }
end

-- Writes a document; an empty `properties` of a vertex is a dictionary.
local function text(R)
  return (core.json_encode(R, { sort = true }):gsub('"properties":%[%]', '"properties":{}'))
end

local function faults(R)
  local list = {}
  for i, fault in ipairs(weir.check_R(text(R))) do list[i] = ("%s: %s"):format(fault.place, fault.text) end
  return list
end

-- Sets the value at a path such as "execution.R_lite.1.rank" of a valid document; nil removes it.
local function broken(path, value)
  local R = valid()
  local at, last = R, nil
  for key in path:gmatch "[^.]+" do
    if last then at = at[last] end
    last = math.tointeger(tonumber(key)) or key
  end
  at[last] = value
  return R
end

local E, N, G = "execution", "scheduling.graph.nodes", "scheduling.graph.edges"

local CASES = {
  { "version", nil, ': the key "version" is missing' }, { "version", "1", "version: expected 1" },
  { "version", 2, "version: expected 1" },
  { "more", 1, ': the key "more" is none of version, execution, scheduling and attributes' },
  { "execution", 5, "execution: expected a dictionary" },
  { "execution.R_lite", nil, E .. ': the key "R_lite" is missing' },
  { "execution.R_lite", { rank = "0" }, E .. ".R_lite: expected a list of dictionaries" },
  { "execution.nodelist", "node1", E .. ".nodelist: expected a list of strings" },
  { "execution.nodelist", { "node[1-" },
    E .. '.nodelist[0]: "node[1-" is no hostlist: hostlist: ends at column 8: expected a number' },
  { G .. ".1.source", 0, G .. "[0]: source: expected a string" },
  { "execution.R_lite.1.rank", nil, E .. '.R_lite[0]: the key "rank" is missing' },
  { "execution.R_lite.1.rank", 0, E .. '.R_lite[0].rank: expected a string with an idset, such as "0-3,7"' },
  { "execution.R_lite.1.children", nil, E .. '.R_lite[0]: the key "children" is missing' },
  { "execution.R_lite.1.children.core", nil, E .. '.R_lite[0].children: the key "core" is missing' },
  { "execution.R_lite.1.children.gpu", 3, E .. '.R_lite[0].children.gpu: expected a string with an idset, such as "0-3,7"' },
  { "execution.nodelist", nil, E .. ': the key "nodelist" is missing' },
  { "execution.nodelist", { "node[1-2]" }, E .. ".nodelist: names 2 hosts, but R_lite has 1 ranks" },
  { "execution.nodelist", { 5 }, E .. '.nodelist[0]: expected a string with hosts, such as "node[0-3]"' },
  { "execution.properties.a|b", "0", E .. [[.properties: the name "a|b" has a '|' in it; none of !&'"^`|() may be]] },
  { "execution.properties", { "fast" }, E .. ".properties: expected a dictionary" },
  { "execution.expiration", "x", E .. ".expiration: expected a number of seconds since 1970" },
  { "scheduling.graph.nodes", { a = 1 }, "scheduling.graph.nodes: expected a list" },
  { "scheduling.graph.edges", { a = 1 }, "scheduling.graph.edges: expected a list" },
  { "execution.properties.fast", "0-1", E .. ".properties.fast: rank 1 is not in R_lite" },
  { "execution.starttime", -1, E .. ".starttime: is before 1970" },
  { "execution.starttime", "now", E .. ".starttime: expected a number of seconds since 1970" },
  { "execution.expiration", 1000.5, E .. ".expiration: is not after the starttime" },
  { "scheduling.graph", nil, 'scheduling: the key "graph" is missing' },
  { "scheduling.graph.nodes", nil, 'scheduling.graph: the key "nodes" is missing' },
  { "scheduling.graph.edges", nil, 'scheduling.graph: the key "edges" is missing' },
  { N .. ".1.id", nil, N .. '[0]: the key "id" is missing' }, { N .. ".1.id", 0, N .. "[0].id: expected a string" },
  { N .. ".3.id", "1", N .. '[2].id: "1" is the id of an earlier vertex, too' },
  { N .. ".1.metadata", nil, N .. '[0]: the key "metadata" is missing' },
  { N .. ".1.metadata.properties", core.array { "a" }, N .. "[0].metadata: properties: expected a dictionary" },
  { N .. ".1.metadata.size", "1", N .. "[0].metadata: size: expected an integer" },
  { G .. ".1.source", nil, G .. '[0]: the key "source" is missing' }, { G .. ".1.target", "9", G .. '[0]: target: there is no vertex "9"' },
  { G .. ".1.metadata", nil, G .. '[0]: the key "metadata" is missing' },
  { G .. ".1.metadata.subsystem", nil, G .. '[0].metadata: the key "subsystem" is missing' },
  { G .. ".1.metadata.relationship", 5, G .. "[0].metadata: relationship: expected a string" },
  { "attributes", { foo = 1 }, 'attributes: the key "system" is missing' },
  { "attributes.system.scheduler", "x", "attributes.system.scheduler: expected a dictionary" },
  { "execution.R_lite.1.children.core", "7", ": scheduling.graph: rank 0 has no core 7, which R_lite names" },
}
for _, key in ipairs { "type", "uuid", "basename", "name", "id", "properties", "size", "unit" } do
  CASES[#CASES + 1] = { N .. ".2.metadata." .. key, nil, N .. ('[1].metadata: the key "%s" is missing'):format(key) }
end

-- Every SHALL and MUST of the text of RFC 20, by line, 38 in all: the paths of CASES that break the statement, or "=" and what
-- it says that no document can break.
local STATEMENTS = {
  [102] = "=names the documents", [104] = "more", [106] = "version", [108] = "execution.R_lite", [110] = "scheduling.graph",
  [111] = "=says what attributes are for", [120] = "version", [127] = "execution.nodelist", [132] = "execution.R_lite",
  [136] = "execution.R_lite.1.rank", [138] = "=says what ranks mean", [143] = "execution.R_lite.1.children",
  [148] = "execution.R_lite.1.children.core", [152] = "execution.R_lite.1.children.gpu", [156] = "execution.nodelist",
  [164] = "execution.properties", [165] = "execution.properties.fast", [167] = "=a text that is not UTF-8 is no JSON: see below",
  [168] = "execution.properties.a|b", [175] = "=says to whom a property applies: [RFC20:174]",
  [179] = "=says to whom a property applies: [RFC20:174]", [186] = "execution.starttime", [188] = "execution.starttime",
  [194] = "execution.expiration", [197] = "execution.expiration", [210] = N, [221] = N .. ".3.id", [224] = N .. ".2.metadata.uuid",
  [249] = G, [250] = G .. ".1.target", [252] = G .. ".1.source", [253] = G .. ".1.target", [254] = G .. ".1.metadata",
  [256] = G .. ".1.metadata.relationship", [259] = G .. ".1.metadata.subsystem", [264] = G .. ".1.metadata.relationship",
  [266] = "=says where the words of relations are defined: a subsystem has any words", [273] = "attributes",
}

describe("weir.check_R", function()
  it("[R1][R6] breaks each SHALL and MUST of the text", function()
    local cases, n, told = {}, 0, 0
    for _, case in ipairs(CASES) do cases[case[1]] = true end
    for line, path in pairs(STATEMENTS) do
      n, told = n + 1, told + (path:find "^=" and 1 or 0)
      assert.is_true(path:find "^=" ~= nil or cases[path] or false, ("line %d: %s"):format(line, path))
    end
    assert.same({ 38, 7 }, { n, told })
  end)

  it("[R1][R2][R3][R4][R5][R6][R7] finds nothing in a valid R, in R of weir, and in the example of the text", function()
    assert.same({}, faults(valid()))
    local g = weir.synthetic "cluster:1 rack:2 node:2 core:4 gpu:1"
    local e = weir.engine { resources = g }
    assert.same({}, weir.check_R(g:format "rv1"))
    assert.same({}, weir.check_R(e:match("slot=3/node", { duration = 10 }):format "rv1"))
    assert.same({}, weir.check_R(e:match("slot=2/core", { duration = 10 }):format "rv1_nosched"))
  end)

  for _, case in ipairs(CASES) do
    it(("[R1][R6] %s = %s"):format(case[1], type(case[2]) == "table" and "a table" or tostring(case[2])), function()
      local found = faults(broken(case[1], case[2]))
      assert.equal(case[3], found[1])
      for i = 2, #found do assert.truthy(found[i]:find("there is no vertex", 1, true), found[i]) end -- of an id that is gone
    end)
  end

  it("[R1][R2] wants an R_lite that is not empty", function()
    local found = faults(broken("execution.R_lite", core.array {}))
    assert.equal(E .. ".R_lite: is empty", found[1])
  end)

  it("[R1] finds all faults, not only the first", function()
    local R = valid()
    R.version, R.execution.nodelist, R.scheduling.graph.nodes[2].metadata.uuid, R.attributes = 3, nil, nil, {}
    assert.equal(3, #weir.check_R(text(R)) - 1)
    assert.equal(2, #weir.check_R(text(R), 2))
    R = { version = 1 }
    assert.same({ ": neither execution nor scheduling is there" }, faults(R))
  end)

  it("[R3] a host is there twice, a rank is there twice, a name is no hostlist", function()
    local R = valid()
    R.scheduling = nil
    R.execution.properties = nil
    R.execution.R_lite[1].rank, R.execution.nodelist = "0-1", { "a", "a" }
    assert.same({ E .. '.nodelist: the host "a" is there twice' }, faults(R))
    R.execution.R_lite[2], R.execution.nodelist = { rank = "1", children = { core = "0" } }, { "a", "b" }
    assert.same({ E .. ".R_lite[1].rank: rank 1 is in an earlier entry, too" }, faults(R))
  end)

  it("[R1] a text that is no JSON, a list, and texts cut anywhere", function()
    assert.truthy(weir.check_R("{1}")[1].text:find("line 1", 1, true))
    assert.same({ { place = "", text = "expected a dictionary" } }, weir.check_R "[]")
    assert.is_true(#weir.check_R((text(valid()):gsub("fast", "f\xffst"))) > 0)
    local whole = text(valid())
    for n = 1, #whole - 1, 7 do assert.is_true(#weir.check_R(whole:sub(1, n)) > 0) end
    assert.has_error(function() weir.check_R(text(valid()), 0) end)
    assert.equal("io", select(3, weir.check_R "/nowhere/at/all"))
  end)

  it("[R1] weir list --check prints them, and the status says whether there are any", function()
    local dir = shell.directory()
    local good, bad = shell.path(dir, "good.json", text(valid())), shell.path(dir, "bad.json", text(broken("version", 2)))
    assert.same({ status = 0, out = "", err = "" }, shell.weir { "list", "--check", good })
    assert.same({ status = 1, out = bad .. ": version: expected 1\n", err = "" }, shell.weir { "list", "--check", good, bad })
  end)
end)
