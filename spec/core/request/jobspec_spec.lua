-- Requests: RFC 14 jobspecs, RFC 25 for version 1, RFC 45 counts, RFC 46 shapes; read, refused, and written.
--   J1 documents and their versions   J2 counts   J3 resources   J4 slots   J5 tasks   J6 attributes
--   J7 writing                        J8 shapes

local missing = require "spec.support.missing"
local weir = require "weir"
local cases = require "spec.support.cases"

local DATA = os.getenv "WEIR_DATA" or "../shared/data"

local function read(path)
  local file = io.open(path)
  if not file then return end
  local text = file:read "a"
  file:close()
  return text
end

-- The jobspecs of a folder of the data; none without the folder.
local function files(folder)
  local list = {}
  local names <close> = assert(io.popen(("ls %s/%s/*.yaml 2>/dev/null"):format(DATA, folder)))
  for name in names:lines() do list[#list + 1] = name end
  return list
end

-- Declares a test for each file of a folder, or a pending test.
local function each_file(title, folder, test)
  local list = files(folder)
  if #list == 0 then pending(("%s [%s]"):format(title, missing.data(folder))) end
  for _, path in ipairs(list) do it(title .. " " .. path:match "[^/]+/[^/]+$", function() test(path) end) end
end

local function decode(text) return assert(weir.json.decode(text)) end

-- ---- reading ------------------------------------------------------------------------------------------------

-- "slot:a=4(node!=1)": type, label, count, unit; ! stands for exclusive, ? for exclusive: false.
local outline

local function count_text(c)
  if c.set then return table.concat(c.set, ",") end
  if c.min == c.max then return tostring(c.min) end
  local text = c.max == math.huge and c.min .. "+" or c.min .. "-" .. c.max
  return c.operator == "+" and c.operand == 1 and text or ("%s:%d:%s"):format(text, c.operand, c.operator)
end

local function outline_one(r)
  local mark = r.exclusive == nil and "" or r.exclusive and "!" or "?"
  local text = r.type .. (r.label and ":" .. r.label or "") .. mark .. "=" .. count_text(r.count) .. (r.unit or "")
  return text .. (r.id and "#" .. r.id or "") .. (r.with and "(" .. outline(r.with) .. ")" or "")
end

function outline(list)
  local words = {}
  for i, r in ipairs(list) do words[i] = outline_one(r) end
  return table.concat(words, " ")
end

local CORE = { type = "core", count = 1 }
local function slot(more)
  local s = { type = "slot", count = 1, label = "s", with = { CORE } }
  for k, v in pairs(more or {}) do s[k] = v end
  return s
end

-- A version 1 jobspec, changed by f.
local function v1(f)
  local j = { version = 1, resources = { slot() }, attributes = { system = { duration = 60 } },
    tasks = { { command = { "app" }, slot = "s", count = { per_slot = 1 } } } }
  if f then f(j) end
  return j
end

local function full(f)
  local j = v1(f)
  j.version = 9999
  return j
end

-- Documents and their readings.
local READ = {
  { "[J1] version 1", v1(), "slot:s=1(core=1)" },
  { "[J1] version 1 with a node", v1(function(j) j.resources = { { type = "node", count = 2, exclusive = true, with = { slot() } } } end),
    "node!=2(slot:s=1(core=1))" },
  { "[J1] version 1 with whole nodes, as RFC 14 shows it", v1(function(j) j.resources = { slot { with = { { type = "node",
    count = 2 } } } } end),
    "slot:s=1(node=2)" },
  { "[J1] the full grammar, versions 999 and 9999", full(function(j) j.resources = { { type = "rack", count = 1, with = { slot() } } } end),
    "rack=1(slot:s=1(core=1))" },
  { "[J1] a jobspec without a version", { resources = { { type = "node", count = 1 } } }, "node=1" },
  { "[J1] YAML", "version: 9999\nresources:\n- {type: node, count: 3}\nattributes: ~\n"
    .. "tasks:\n- {command: [a], slot: x, count: {total: 1}}\n", "node=3" },
  { "[J1] JSON with a byte order mark", '\xef\xbb\xbf{"resources":[{"type":"node","count":1}]}', "node=1" },
  { "[J3] units, labels and ids", { resources = { { type = "memory", count = 4, unit = "GB", label = "m", id = "0-3" } } },
    "memory:m=4GB#0-3" },
  { "[J3] exclusive, told and not told", { resources = { { type = "a", count = 1, exclusive = true },
    { type = "b", count = 1, exclusive = false }, { type = "c", count = 1 } } }, "a!=1 b?=1 c=1" },
  { "[J3] empty units and ids as none", { resources = { { type = "a", count = 1, unit = "", id = "" } } }, "a=1" },
  { "[J4] several slots", { resources = { slot { label = "a" }, slot { label = "b", count = 2 } } }, "slot:a=1(core=1) slot:b=2(core=1)" },
  { "[J4] a lone slot without a label", { resources = { { type = "slot", count = 1, with = { CORE } } } }, "slot:default=1(core=1)" },
  { "[J4] a gpu count of 0 as none, in version 1", v1(function(j) j.resources[1].with = { CORE, { type = "gpu", count = 0 } } end),
    "slot:s=1(core=1)" },
  { "[J1] version 1 with types that RFC 25 does not have", v1(function(j) j.resources = { { type = "chassis", count = 4, with = {
    { type = "node", count = 8, exclusive = true, with = { slot() } }, { type = "ssd", count = 2752, exclusive = true } } } } end),
    "chassis=4(node!=8(slot:s=1(core=1)) ssd!=2752)" },
  { "[J1] version 1 with several resources at the top", v1(function(j)
    j.resources = { slot(), { type = "ssd", count = { min = 1, max = 8 }, id = "0-7" } }
  end), "slot:s=1(core=1) ssd=1-8#0-7" },
  { "[J1] version 1 with a slot of a gpu, and cores that are exclusive", v1(function(j)
    j.resources[1].with = { { type = "gpu", count = 1 }, { type = "core", count = 2, exclusive = true } }
  end), "slot:s=1(gpu=1 core!=2)" },
  { "[J1] version 1 with two tasks, one by resource", v1(function(j)
    j.tasks[2] = { command = { "b" }, slot = "s", count = { per_resource = { type = "core", count = 1 } } }
  end), "slot:s=1(core=1)" },
  { "[J4] slots in a slot as what is in them, so many times", { resources = { slot { label = "a", with = {
    { type = "node", count = 1, exclusive = true, with = { slot { label = "b", count = 3, with = { { type = "core", count = 2 },
      slot { label = "c", count = 2 } } } } }, { type = "ssd", count = "1-2" } } } } },
    "slot:a=1(node!=1(core=6 core=6) ssd=1-2)" },
  { "[J5] tasks of a slot in a slot", v1(function(j)
    j.resources = { slot { label = "whole", with = { { type = "node", count = 1, with = { slot() } } } } }
  end), "slot:whole=1(node=1(core=1))" },
  { "[J5] tasks by slot, by resource and in all", full(function(j)
    j.tasks = { { command = { "a" }, slot = "s", count = { per_resource = { type = "core", count = 2 } }, distribution = "cyclic" },
      { command = { "b", "-n" }, slot = "s", count = { total = 7 }, attributes = { environment = { FOO = weir.null } } } }
  end), "slot:s=1(core=1)" },
  { "[J6] attributes that RFC 14 does not know", v1(function(j)
    j.attributes.system["x-own"] = { 1, "two" }
    j.attributes.user = { anything = { "goes" } }
  end), "slot:s=1(core=1)" },
}

-- {name, jobspec, part of the reason}
local REFUSED = {
  { "[J1] an unknown version", v1(function(j) j.version = 2 end), "version 2 is not known; 1, 999 and 9999 are" },
  { "[J1] a version without its keys", { version = 1, resources = { slot() } }, "the key tasks is missing" },
  { "[J1] YAML that is none", "resources:\n  - type: node\n   count: 1\n", ":3:4: not valid YAML" },
  { "[J1] JSON that is none", '{"resources": [}', ":1:16: not valid JSON" },
  { "[J1] a key given twice", "a: 1\na: 2\n", ':2:1: key "a" is there twice' },
  { "[J1] documents nested without end", '{"resources":' .. ("["):rep(300) .. ("]"):rep(300) .. "}", "nested more than 256 deep" },
  { "[J3] an unknown key", { resources = { { type = "node", count = 1, coutn = 2 } } }, 'resources[0]: unknown key "coutn"; known: type,' },
  { "[J3] a resource without a type", { resources = { { count = 1 } } }, "resources[0]: type is missing" },
  { "[J3] an empty type", { resources = { { type = "", count = 1 } } }, "resources[0]: type must not be empty" },
  { "[J3] an exclusive that is no boolean", { resources = { { type = "a", count = 1, exclusive = "yes" } } },
    "resources[0]: exclusive must be true or false, not a string" },
  { "[J3] an empty list of children", { resources = { { type = "a", count = 1, with = weir.array {} } } },
    "resources[0]: with is an empty list" },
  { "[J3] a label given twice", { resources = { { type = "a", count = 1, label = "l" }, { type = "b", count = 1, label = "l" } } },
    'resources[1]: label "l" is there twice' },
  { "[J4] a slot without resources", { resources = { { type = "slot", count = 1, label = "s" } } },
    "a slot must have resources in it (with)" },
  { "[J4] a slot in a slot without a fixed count", { resources = { slot { with = { slot { label = "t", count = "1-2" } } } } },
    "a slot within a slot, whose count is not an integer of 1 or more" },
  { "[J4] a range in several slots of a slot", { resources = { slot { with = { slot { label = "t", count = 2, with = {
    { type = "core", count = "1-2" } } } } } } }, "a count within several slots of a slot must be an integer of 1 or more" },
  { "[J4] a slot in a slot of the same label", { resources = { slot { with = { slot { label = "t" }, slot { label = "t" } } } } },
    "a slot within a slot, whose label is there twice" },
  { "[J4] an empty slot in a slot", { resources = { slot { with = { { type = "slot", count = 1, label = "t" } } } } },
    "a slot must have resources in it (with)" },
  { "[J5] no task", full(function(j) j.tasks = weir.array {} end), "tasks: must be a list with a task in it" },
  { "[J5] a task of another slot, in version 1", v1(function(j) j.tasks[1].slot = "t" end),
    'tasks[0]: slot "t" is not the label of a slot, which is "s"' },
  { "[J5] a misspelt key", full(function(j) j.tasks[1].comand = "x" end), 'tasks[0]: unknown key "comand"; known: command, slot, count,' },
  { "[J5] a command that is no list", full(function(j) j.tasks[1].command = "x" end), "tasks[0]: command must be a list of strings" },
  { "[J5] a word of a command that is no string", full(function(j) j.tasks[1].command = { "x", 5 } end),
    "tasks[0]: command[1] must be a string, not" },
  { "[J5] tasks by a resource without a count", full(function(j) j.tasks[1].count = { per_resource = { type = "core" } } end),
    "tasks[0]: count.per_resource must have a type and a count of 1 or more" },
  { "[J5] tasks by nothing", full(function(j) j.tasks[1].count = { per_slot = 0 } end), "count.per_slot must be an integer of 1 or more" },
  { "[J5] attributes that are no dictionary", full(function(j) j.tasks[1].attributes = "x" end),
    "tasks[0]: attributes must be a dictionary, not a string" },
  { "[J5] a task that is none", full(function(j) j.tasks[1] = "x" end),
    "a task must be a dictionary with command, slot and count, not a string" },
  { "[J5] two counts", full(function(j) j.tasks[1].count.total = 2 end), "tasks[0]: count must be a dictionary with one of" },
  { "[J5] a distribution that is no string", full(function(j) j.tasks[1].distribution = 1 end), "tasks[0]: distribution must be a string" },
  { "[J6] a negative duration", v1(function(j) j.attributes.system.duration = -1 end), "must be 0 (no end) or more seconds, not -1" },
  { "[J6] a misspelt system", v1(function(j) j.attributes.sytem = {} end), 'unknown key "sytem" in attributes; known: user, system' },
  { "[J6] a queue that is no string", v1(function(j) j.attributes.system.queue = 3 end),
    "attributes.system.queue must be a string, not an integer" },
  { "[J6] an environment that is a list", v1(function(j) j.attributes.system.environment = { "A=1" } end),
    "attributes.system.environment must be a dictionary, not a list" },
  { "[J6] a dependency without a value", v1(function(j) j.attributes.system.dependencies = { { scheme = "afterok" } } end),
    "attributes.system.dependencies[0] must be a dictionary with a scheme and a value" },
  { "[J6] a job name that is no string", v1(function(j) j.attributes.system.job = { name = 7 } end),
    'attributes.system.job: "name" must be a string' },
  { "[J6] an unknown constraint", v1(function(j) j.attributes.system.constraints = { xor = weir.array {} } end),
    'attributes.system.constraints: unknown constraint operator "xor"' },
}

-- Why the files of invalid_v1 are refused. Those of BEYOND are no jobspecs of version 1 to RFC 25, but to Fluxion.
local BEYOND = { res_type_unknown = true, task_count_per_resource = true, with_toomany = true, with_whatnow = true }
local REASONS = {
  core_count_invalid = ":11:20: resources[0].with[0].with[0]: count must be 1 or more, not 0",
  gpu_count_invalid = ": resources[0].with[0].with[1]: count must be 1 or more, not -1",
  node_vertex_missing_count = ":3:5: resources[0]: count is missing",
  node_vertex_with_notarray = ": resources[0].with[0]: with must be a list of resources, not an integer",
  node_vertex_with_toomany = ":6:9: resources[0].with[0]: with must be a list of resources, not null",
  node_vertex_zero_count = ": resources[0]: count must be 1 or more, not 0",
  duration_missing = ': tasks[0]: slot "foo" is not the label of a slot, which is "task"',
  slot_node = ': tasks[0]: slot "foo" is not the label of a slot, which is "task"',
  version_wrong = ":1:10: version 2 is not known",
}

local function assert_says(wanted, why)
  assert.is_string(why)
  assert.is_truthy(why:find(wanted, 1, true), ("it says    %s\nand not    %s"):format(why, wanted))
end

describe("jobspecs", function()
  for _, case in ipairs(READ) do
    it(case[1] .. " is read", function() assert.equal(case[3], outline(assert(weir.request(case[2])):resources())) end)
  end
  for _, case in ipairs(REFUSED) do
    it(case[1] .. " is refused", function()
      local request, why = weir.request(case[2])
      assert.is_nil(request)
      assert_says(case[3], why)
    end)
  end

  it("[J6] tell their duration, constraint and strings", function()
    local r = assert(weir.request(v1(function(j)
      j.attributes.system = { duration = 0.25, queue = "debug", constraints = { properties = { "ssd" } } }
    end)))
    assert.same({ 0.25, "debug", true }, { r:duration(), r:attribute "queue", r:constrained() })
    assert.equal(math.huge, assert(weir.request(v1(function(j) j.attributes.system.duration = 0 end))):duration())
  end)

  each_file("[J1] reads", "jobspec/valid_v1", function(path) assert(weir.request(path)) end)
  each_file("[J1] reads", "jobspec/rfc14/spec_25", function(path) assert(weir.request(path)) end)
  each_file("[J1] reads", "jobspec/rfc14/spec_14", function(path) assert(weir.request(path)) end)
  each_file("[J1] refuses, but for what Fluxion takes,", "jobspec/invalid_v1", function(path)
    local request, why = weir.request(path)
    if BEYOND[path:match "([^/]+)%.yaml$"] then return assert(request, why) end
    assert.is_nil(request)
    assert_says(path .. ":", why)
    assert_says(REASONS[path:match "([^/]+)%.yaml$"] or ": ", why)
  end)
end)

-- ---- counts -------------------------------------------------------------------------------------------------

local function request_of_count(text)
  if text:find "^[{%[].*[\"{]" then return weir.request('{"resources":[{"type":"core","count":' .. text .. "}]}") end
  return weir.request(("core=%s"):format(text))
end

-- A count in its shortest form, or nil.
local function shortest(text)
  local r = request_of_count(text)
  return r and r:format("resources"):match "^core=?(.*)$"
end

-- The values of a count up to 40.
local function values(c)
  if c.set then return c.set end
  local list, v = {}, c.min
  local step = { ["+"] = function(x) return x + c.operand end, ["*"] = function(x) return x * c.operand end,
    ["^"] = function(x) return x ^ c.operand // 1 | 0 end }
  while v <= math.min(c.max, 40) do
    list[#list + 1] = v
    v = step[c.operator](v)
  end
  return list
end

local COUNTS = { -- text, shortest form, values up to 40
  { "1", "", "1" }, { "3-3", "3", "3" }, { "2-5:1:+", "2-5", "2,3,4,5" }, { "2-8:3", "2-8:3", "2,5,8" }, { "35+:2", "35+:2", "35,37,39" },
  { "[2-16:2:*]", "2-16:2:*", "2,4,8,16" }, { "2-16:2:^", "2-16:2:^", "2,4,16" }, { "3+:3:*", "3+:3:*", "3,9,27" },
  { "[4,9,16]", "4,9,16", "4,9,16" }, { "1-3,5", "1-3,5", "1,2,3,5" }, { "1,2,3", "1-3", "1,2,3" },
  { '{"min":2}', "2+" }, { '{"min":2,"max":5,"operand":3}', "2-5:3", "2,5" },
}

describe("counts", function()
  for _, case in ipairs(COUNTS) do
    it("[J2] " .. case[1], function()
      local r = assert(request_of_count(case[1]))
      assert.equal(case[2], shortest(case[1]))
      if case[3] then assert.equal(case[3], table.concat(values(r:resources()[1].count), ",")) end
    end)
  end
  for _, text in ipairs { "0", "01", "", "2-1", "2-8:1:*", "1-8:2:^", "2-8:2:/", "1,1", "3,2", "1-2x", "-5", "[2", "9007199254740993" } do
    it("[J2] refuse " .. text, function()
      local r, why = request_of_count(text)
      assert.is_nil(r)
      assert_says(('shape: count "%s'):format(text:match "[^/]*"), why)
    end)
  end

  local table_text = read(DATA .. "/codec/count.json")
  if not table_text then
    pending("[J2] " .. missing.data "codec/count.json")
    return
  end
  local tables = decode(table_text).tables
  for _, row in ipairs(tables.test_codec_inputs) do
    local input, flags, output = row[1], row[2], row[3]
    if input ~= weir.null and flags ~= 65535 then -- 65535: bits that are no flags of that library
      it(("[J2] codec/count.json %s, %s"):format(input, type(flags) == "table" and flags.expr or flags), function()
        local short = shortest(input)
        if output == weir.null then return assert.is_nil(short) end
        assert.equal(shortest(output), short)
        local flag = type(flags) == "table" and flags.expr or ""
        if flag == "COUNT_FLAG_SHORT" then assert.equal(output, short == "" and "1" or short) end
        if flag:find "BRACKETS" then assert.equal(output, short:find "%D" and "[" .. short .. "]" or short) end
      end)
    end
  end
  for _, row in ipairs(tables.test_iteration_inputs) do
    local input, output = row[1], row[3]
    if input ~= weir.null then
      it("[J2] codec/count.json values of " .. input, function()
        local r = weir.request('{"resources":[{"type":"core","count":' .. input:match "^%[(.*)%]$" .. "}]}")
        if output == weir.null then return assert.is_nil(r) end
        assert.equal(output, table.concat(values(r:resources()[1].count), ","))
      end)
    end
  end
end)

-- ---- writing ------------------------------------------------------------------------------------------------

-- Checks that a request written in every form reads back as an equal request.
local function assert_writes(request)
  local json = assert(request:format())
  for _, format in ipairs { "json", "yaml" } do
    local text = assert(request:format(format))
    local again, why = weir.request(text, "again")
    assert(again, ("%s\n%s"):format(why, text))
    assert.equal(json, again:format "json")
    assert.equal(text, again:format(format))
    assert.equal(request:duration(), again:duration())
  end
  local resources = assert(request:format "resources")
  local again = assert(weir.request(resources, "again"))
  assert.same(request:resources(), again:resources())
  assert.equal(resources, again:format "shape")
end

-- Strings that YAML and shapes could take for a different type.
local WORDS = { "", " ", "a b", "null", "~", "yes", "No", "TRUE", "0644", "1_000", "0x1f", "1:30:00", ".inf", "2020-01-01", "-", "- a",
  "a: b",
  "a:", "#a", "a #b", "[a]", "{a: b}", "a,b", "\"q\"", "'q'", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "?", "<<", "=", "\\", "a\\nb",
  "line\nline\n", "line\n  in\n\nline", "end\n\n", "\nstart", " x\ny", "x \ny", "tab\there", "cr\rlf", "\xc3\xa9", "\xe2\x82\xac", "\u{85}",
  "\u{2028}", "\u{FEFF}", "\u{FFFE}", "\u{1F600}", "\u{7f}", "\u{a0}", ("long "):rep(60), "---", "...", "a\n---\nb", "1e3", "+1", "1.",
    "0.5", "-0" }

local function word(rnd)
  if rnd:chance(70) then return rnd:pick(WORDS) end
  return rnd:pick(WORDS) .. rnd:pick(WORDS)
end

local function any_value(rnd, depth)
  local kind = rnd:between(1, depth < 4 and 9 or 6)
  if kind <= 3 then return word(rnd) end
  if kind == 4 then return rnd:between(0, 1000) - 500 end
  if kind == 5 then return rnd:pick { 0.5, -0.0, 1e300, 1e-300, 3600.0, 1 / 3, 123456789012.75 } end
  if kind == 6 then return rnd:pick { true, false, weir.null } end
  local box = kind == 7 and weir.array {} or {}
  for i = 1, rnd:between(0, 4) do box[kind == 7 and i or word(rnd)] = any_value(rnd, depth + 1) end
  return box
end

-- A random request as the matching specs make requests, with all fields that matching does not need.
local function random_jobspec(seed)
  local rnd = cases.random(seed)
  local _, levels = cases.machine(rnd)
  local jobspec = cases.request(rnd, levels)
  if rnd:chance(60) then
    jobspec.attributes.user = { [word(rnd)] = any_value(rnd, 1) }
    jobspec.attributes.system["x-" .. word(rnd)] = any_value(rnd, 1)
    jobspec[word(rnd) .. "-own"] = any_value(rnd, 1)
  end
  if rnd:chance(50) then
    jobspec.resources[#jobspec.resources + 1] = { type = "t" .. word(rnd), count = 1, unit = word(rnd), label = word(rnd), id = word(rnd) }
  end
  if rnd:chance(50) then
    jobspec.tasks = { { command = { word(rnd), word(rnd) }, slot = word(rnd), count = { total = 2 },
      attributes = { [word(rnd)] = word(rnd) } } }
  end
  return jobspec
end

describe("requests are written", function()
  for _, folder in ipairs { "jobspec/valid_v1", "jobspec/rfc14/spec_14", "jobspec/rfc14/spec_25", "fluxion/data/resource/jobspecs/*" } do
    each_file("[J7] and read back:", folder, function(path) assert_writes(assert(weir.request(path))) end)
  end
  it("[J7] and read back, whatever they are", function()
    local scale = tonumber(os.getenv "WEIR_SPEC_SCALE") or 1
    for seed = 1, math.max(40, math.floor(400 * scale)) do assert_writes(assert(weir.request(random_jobspec(seed)))) end
  end)

  it("[J7] with all that was in the document", function()
    local j = v1(function(j)
      j.attributes.system["x-own"] = { 1, "two", weir.null }
      j.attributes.user = { deep = { deeper = 0.5 } }
      j.extra = "kept"
    end)
    for _, format in ipairs { "json", "yaml" } do
      local back = decode(assert(weir.request(assert(weir.request(j)):format(format), "again")):format())
      assert.same(j, back)
    end
  end)

  it("[J7] completed where a text said less than RFC 14 wants", function()
    assert.equal('{"attributes":{"system":{}},"resources":[{"count":2,"label":"default","type":"slot","with":[{"count":1,"type":"node"}]}],'
      .. '"tasks":[{"command":["true"],"count":{"per_slot":1},"slot":"default"}],"version":9999}',
        weir.request("slot=2/node"):format "json")
  end)

  it("[J7] for people as YAML", function()
    assert.equal([[
version: 9999
resources:
- type: slot
  count:
    min: 2
    max: 8
    operator: '*'
    operand: 2
  label: default
  with:
  - type: memory
    count: 4
    unit: GB
tasks:
- command: ['true']
  slot: default
  count:
    per_slot: 1
attributes:
  system: {}
]], weir.request("slot=2-8:2:*/memory=4{unit:GB}"):format "yaml")
  end)

  it("[J7] in no other format", function()
    local r = assert(weir.request "node")
    assert.has_error(function() r:format "toml" end, "bad argument #1 to 'format' (invalid option 'toml')")
  end)
end)

-- ---- shapes -------------------------------------------------------------------------------------------------

-- RFC 46 and RFC 49: shape, its meaning, its shortest form where shorter.
local SHAPES = {
  { "slot=4/node", "slot:default=4(node=1)" },
  { "slot=3-30/node", "slot:default=3-30(node=1)" },
  { "slot=4{nodelevel}/node{-x}/socket=2+/core=4+", "slot:nodelevel=4(node?=1(socket=2+(core=4+)))" },
  { "slot=4{nodelevel}/node/socket=2/core=4", "slot:nodelevel=4(node=1(socket=2(core=4)))" },
  { "[cluster/slot=2{ib}/node/[memory=4{unit:GB};ib10g];switch/slot=2{bicore}/node/core=2]",
    "cluster=1(slot:ib=2(node=1(memory=4GB ib10g=1))) switch=1(slot:bicore=2(node=1(core=2)))" },
  { "cluster=2/slot/node=1+{-x}/core=30", "cluster=2(slot:default=1(node?=1+(core=30)))" },
  { "switch=3/slot/node=1+{-x}/core", "switch=3(slot:default=1(node?=1+(core=1)))" },
  { "slot=4,9,16,25/node", "slot:default=4,9,16,25(node=1)" },
  { "slot=10/core=2", "slot:default=10(core=2)" },
  { "node/[slot=10{read-db}/[core;memory=4{unit:GB}];slot{db}/[core=6;memory=24{unit:GB}]]",
    "node=1(slot:read-db=10(core=1 memory=4GB) slot:db=1(core=6 memory=24GB))" },
  { "slot=10/[memory=2+{unit:GB};core]", "slot:default=10(memory=2+GB core=1)" },
  { "slot=2{4GB-node}/node/memory=4+{unit:GB}", "slot:4GB-node=2(node=1(memory=4+GB))" },
  { "slot/node", "slot:default=1(node=1)" },
  { "slot=1/node=1/[core=8;gpu=1]", "slot:default=1(node=1(core=8 gpu=1))", "slot/node/[core=8;gpu]" },
  { "node/slot=8/[core=15;gpu=1]", "node=1(slot:default=8(core=15 gpu=1))", "node/slot=8/[core=15;gpu]" },
  { "slot=1/numa{x}", "slot:default=1(numa!=1)", "slot/numa{x}" },
  { "node{exclusive:true}", "node!=1", "node{x}" },
  { "node{+x}", "node!=1", "node{x}" },
  { "node{exclusive:false}", "node?=1", "node{-x}" },
  { "node{}", "node=1", "node" },
  { "[node]", "node=1", "node" },
  { '"my type"=2{ unit : "a,b" }', "my type=2a,b", '"my type"=2{unit:"a,b"}' },
  { 'slot=[2-8:2:*]{"a b",-x,unit:u}/[core]', "slot:a b?=2-8:2:*u(core=1)", 'slot=2-8:2:*{"a b",-x,unit:u}/core' },
  { "x=[1-3,7]{label:1x}", "x:1x=1,2,3,7", 'x=1-3,7{label:"1x"}' },
}

describe("shapes", function()
  for _, case in ipairs(SHAPES) do
    it("[J8] both ways: " .. case[1], function()
      local r = assert(weir.request(case[1]))
      assert.equal(case[2], outline(r:resources()))
      assert.equal(case[3] or case[1], r:format "shape")
    end)
  end

  local UNSAID = {
    { { resources = { CORE }, attributes = { system = { constraints = { ranks = { "0" } } } } }, "attributes.system.constraints" },
    { { resources = { CORE }, attributes = { system = {}, user = { a = 1 } } }, "attributes.user" },
    { { resources = { CORE }, tasks = { { command = { "app" }, slot = "s", count = { total = 1 } } } }, "tasks" },
    { { resources = { CORE }, extra = 1 }, "extra" },
  }
  for _, case in ipairs(UNSAID) do
    it("[J8] cannot say " .. case[2], function()
      local r = assert(weir.request(case[1]))
      local text, why, code = r:format "shape"
      local excess = 'a shape says resources and a duration only, not %s; format "resources" writes the resources alone'
      assert.same({ nil, excess:format(case[2]), "invalid" },
        { text, why, code })
      assert.equal("core", r:format "resources")
    end)
  end

  it("[J8] that are wrong say where and what would be right", function()
    for text, wanted in pairs {
      ["slot=4"] = ":1:7: shape: a slot needs resources in it, as in slot/node",
      ["slot/node core"] = ":1:10: shape: unexpected here; resources side by side look like [node=2;switch]",
      ["node{unit:}"] = ":1:11: shape: expected a value here",
      ["[node;core"] = ":1:11: shape: expected ';', '/' or ']' here",
      ["slot{a}/node/slot=1+{b}/core"] = ":1:14: resources: a slot within a slot",
      ["slot/[slot{b}/core;core]"] = "a slot without a label; only a slot that is the only one may do without",
    } do
      local r, why = weir.request(text, "the shape")
      assert.is_nil(r)
      assert_says(wanted, why)
    end
  end)
end)

-- ---- units --------------------------------------------------------------------------------------------------

describe("amounts", function()
  -- The amounts taken of two pools of 4096 in a unit: "memory0:4000".
  local function takes(pool_unit, count, unit)
    local pools = "cluster:1 node:1 memory:2(size=4096" .. (pool_unit and ",unit=" .. pool_unit or "") .. ")"
    local g <close> = assert(weir.synthetic(pools))
    local memory = { type = "memory", count = count, unit = unit }
    local a, _, code = weir.engine { resources = g }:match { resources = { slot { with = { memory } } } }
    local words = { code }
    for i, pick in ipairs(a and a:vertices() or {}) do words[i] = ("%s:%d"):format(pick.vertex.name, pick.amount) end
    assert(g:check())
    return table.concat(words, " ")
  end
  local ROWS = { -- unit of the pools, count, unit of the request, amounts taken
    { "MB", 2, "GB", "memory0:2000" }, { "MB", 5, "GB", "memory0:4096 memory1:904" }, { "MiB", 4, "GiB", "memory0:4096" },
    { "MB", 1, "GiB", "memory0:1074" }, { "GB", 1, "MB", "memory0:1" }, { "GB", 1500, "MB", "memory0:2" },
    { "kB", 1, "MB", "memory0:1000" }, { "KB", 1, "MB", "memory0:1000" }, { "MB", 9, "GB", "infeasible" },
    { "MB", { min = 1, max = 3 }, "GB", "memory0:3000" }, { "MB", { min = 1, max = 16, operator = "*", operand = 2 }, "GB",
      "memory0:4096 memory1:3904" }, { "MB", "1,3,7", "GB", "memory0:4096 memory1:2904" },
    { "MB", { min = 1 }, "GB", "memory0:4096 memory1:3904" },
    { "GB", 2, "GB", "memory0:2" }, { nil, 2, "GB", "memory0:2" }, { "GB", 2, nil, "memory0:2" },
    { "cards", 2, "GB", "infeasible" }, { "GB", 2, "cards", "infeasible" }, { "MB", 2, "Gb", "infeasible" },
  }
  for _, row in ipairs(ROWS) do
    it(("[J3] %s %s of pools in %s"):format(type(row[2]) == "table" and weir.json.encode(row[2]) or row[2], row[3] or "(no unit)",
      row[1] or "no unit"), function()
      assert.equal(row[4], takes(row[1], row[2], row[3]))
    end)
  end

  it("[J3] are reserved, and grow, in the unit of the pools", function()
    local g <close> = weir.synthetic "cluster:1 node:1 memory:1(size=4096,unit=MB)"
    local e = weir.engine { resources = g }
    local function ask(n)
      local memory = { type = "memory", count = n, unit = "GB" }
      return { resources = { slot { with = { memory } } }, attributes = { system = { duration = 60 } } }
    end
    local a = assert(e:match(ask(3)))
    local b = assert(e:match(ask(2), { mode = "reserve" }))
    assert.same({ 60, 2000 }, { b.at, b:vertices()[1].amount })
    assert.equal(4000, assert(e:grow(a.id, ask(1))):vertices()[1].amount)
    assert(g:check())
  end)
end)
