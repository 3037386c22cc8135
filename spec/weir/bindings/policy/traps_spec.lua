-- Mistakes that a policy's author makes: each is refused where it happens, with the reason and what would be right.
local core = require "weir.core"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:1"

local function try(text, request, machine)
  local p, why = core.policy_source(text, "mine")
  if not p then return why end
  local e, wrong = weir.engine { resources = machine or MACHINE, policy = p }
  if not e then return wrong end
  local a, message, code = e:match(request or "slot=1/node")
  return message, code, a, p, e
end

describe("a policy is refused that", function()
  for what, row in pairs {
    ["orders by free units"] = { "order = function(v) return -v.free end", "mine:2: order may not read 'free', which changes" },
    ["orders by units below"] = { 'order = function(v) return v:below "core" end', "order may not read 'below', which changes" },
    ["orders by the state"] = { 'order = function(v) return v.state == "up" and 0 or 1 end', "order may not read 'state'" },
    ["orders by data"] = { "order = function(v) return v.data.x or 0 end", "order may not read 'data'" },
    ["orders by its jobs"] = { "order = function(v) return #v:jobs() end", "order may not read 'jobs'" },
    ["orders by what is available"] = { "order = function(v) return v:available() end", "order may not read 'available'" },
    ["orders by its children"] = { "order = function(v) return v:nchildren() end", "order may not read 'nchildren': the result" },
    ["orders by another subsystem"] = { "order = function(v) return #v:edges() end", "order may not read 'edges'" },
    ["orders by the tags of another vertex"] = {
      "init = function(g) other = g '/cluster0/rack0/node0' end, order = function(v) return tonumber(other.tags.x) or 0 end",
      "order may read 'tags' of the vertex and of the vertices above only", before = "local other" },
    ["mistypes a word of its order"] = { 'order = { "node.idd" }', "order field 'node.idd' is not known (did you mean \"id\"?); use id," },
    ["orders by a property without a name"] = { 'order = "properties."', "order field 'properties.' is not known" },
    ["orders by a type alone"] = { 'order = "-node"', "order field '-node' is not known" },
    ["forgets what order returns"] = { "order = function(v) end",
      "it must return up to 4 numbers, and returned nothing for /cluster0/rack0/" },
    ["forgets that prune returns true"] = { 'prune = function(v) if v.type == "node" then return true end end',
      "prune: mine:2: it must return true, or false to leave out a vertex, and returned nothing for /cluster0" },
    ["gives a text for a score"] = { 'evaluate = function(v) return "high" end', 'and returned "high" for /cluster0/rack0/node0' },
    ["gives a table for a score"] = { "evaluate = function(v) return {} end", "and returned a table for /cluster0" },
    ["gives a boolean as a key"] = { "order = function(v) return true, v.id end", "up to 4 numbers, and returned true for /cluster0" },
    ["gives five keys"] = { "order = function(v) return 1, 2, 3, 4, 5 end", "up to 4 numbers, not more, and returned 5 for /cluster0" },
    ["sets a global at load"] = { "", "mine:1: the global 'count' is set: write `local count`", before = "count = 0" },
    ["sets a global in a hook"] = { "\nevaluate = function(v) n = 1 return 1 end", "mine:3: the global 'n' is set: write `local n`" },
    ["reads a global that is none"] = { "evaluate = function(v) return mth.huge end", "there is no global 'mth' (did you mean \"math\"?)" },
    ["requires a module"] = { "", "mine:1: there is no 'require' in the sandbox of a policy; it has string,", before = "require 'weir'" },
    ["uses files"] = { 'evaluate = function(v) io.open "x" end', "there is no 'io' in the sandbox" },
    ["mistypes a field"] = { "evalute = function() end", "there is no field 'evalute' (did you mean \"evaluate\"?); a policy has name" },
    ["mistypes a vertex field"] = { "evaluate = function(v) return v.fre end", "no field or method 'fre' (did you mean \"free\"?)" },
    ["mistypes a method of the graph"] = { "init = function(g) g:walkk() end", "a graph has no method 'walkk' (did you mean \"walk\"?)" },
    ["mistypes an option"] = { "options = { pattern = 'x' }, prune = function(v, r) return r.options.patern == 'x' end",
      "mine:2: there is no option 'patern' (did you mean \"pattern\"?)" },
    ["mistypes a field of a request"] = { "evaluate = function(v, r) return r.cuont end",
      "mine:2: a request has no field 'cuont' (did you mean \"count\"?)" },
    ["mistypes a field of a job"] = { "evaluate = function(v, r) return r.job.usr and 1 or 2 end",
      "mine:2: a job has no field 'usr' (did you mean \"user\"?)" },
    ["mistypes a key of an option"] = { "options = { k = { mni = 1, default = 2 } }",
      "there is no 'mni' (did you mean \"min\"?); an option has" },
    ["mistypes a type of an option"] = { 'options = { k = { type = "integre" } }',
      "there is no type 'integre' (did you mean \"integer\"?)" },
  } do
    it(what, function()
      local why = try(("%s return {\n%s }"):format(row.before or "", row[1]))
      assert.is_truthy(why and why:find(row[2], 1, true), why)
    end)
  end
end)

describe("the module weir", function()
  it("raises for a name that it does not have, with the name that was meant", function()
    assert.error_matches(function() return weir.enginee end, "the module weir has no 'enginee' %(did you mean \"engine\"%?%)")
    assert.error_matches(function() return weir.frobnicate end, "the module weir has no 'frobnicate'$")
  end)
end)

describe("a policy may", function()
  it("leave out by false and by nil, and keep by any other value", function()
    local _, _, a = try 'return { prune = function(v) if v.type ~= "node" then return 1 end return v.id == 2 or nil end }'
    assert.equal("node2", a:vertices()[1].vertex.name)
  end)

  it("give no score to what is no candidate", function()
    local _, _, a = try "return { evaluate = function(v) if v.id == 3 then return 1 end end }"
    assert.equal("node3", a:vertices()[1].vertex.name)
  end)

  it("order by what init has found, also after the structure has changed", function()
    local p = assert(core.policy_source([[local first
      return { init = function(g) for v in g:walk { type = "node" } do first = v end end,
               order = function(v) return v == first and 0 or 1 end }]], "mine"))
    local e = assert(weir.engine { resources = MACHINE, policy = p })
    local function best() return assert(e:match("slot=1/node", { mode = "preview" })):vertices()[1].vertex.name end
    assert.equal("node3", best())
    e:resources():add(e:resources() "/cluster0/rack0", { type = "node", id = 9 })
    e:resources():add(e:resources() "/cluster0/rack1", { type = "node", id = 10 })
    assert.equal("node10", best())
    assert.is_true(e:resources():check())
  end)

  it("order siblings by equal numbers with one call for all of them, as init, tags and new vertices change", function()
    local p = assert(core.policy_source([[return { order = function(v)
      local node = v.type == "node" and v or v:ancestor "node"
      return tonumber(node.tags.age) or 9, node ~= v end }]], "mine"))
    local e = assert(weir.engine { resources = "cluster:1 rack:2 node:3 core:8", policy = p })
    local g = e:resources()
    p:profile(true)
    local function calls() return p:profile().hooks.order.calls end
    local function best(shape)
      local v = assert(e:match(shape, { mode = "preview" })):vertices()[1].vertex
      return v.type == "node" and v.name or v:parent().name .. " " .. v.name
    end
    assert.equal("node0 core0", best "core=3")
    assert.equal(6, calls()) -- a call a node
    g "/cluster0/rack1/node4".tags.age = "1"
    assert.equal("node4 core0", best "core=3")
    assert.equal(7, calls())
    assert.equal("node4", best "slot=1/node")
    assert.equal(13, calls()) -- no sharing between nodes
    g:add(g "/cluster0/rack1/node5", { type = "core", id = 9 })
    assert.equal("node4 core0", best "core=3")
    assert.equal(14, calls())
    assert.is_true(g:check())
  end)

  it("admit by what init has found, also after the structure has changed", function()
    local p = assert(core.policy_source([[local nodes = 0
      return { init = function(g) nodes = 0 for _ in g:walk { type = "node" } do nodes = nodes + 1 end end,
               admit = function(_, _, job)
                 if (job.wants.node or 0) * 2 > nodes then return false, "half of " .. nodes .. " nodes is the limit" end
               end }]], "mine"))
    local e = assert(weir.engine { resources = MACHINE, policy = p })
    local g, request = e:resources(), weir.request "slot=3/node"
    assert.matches("half of 4 nodes is the limit", (select(2, e:match(request))))
    for i = 10, 11 do g:add(g "/cluster0/rack0", { type = "node", id = i }) end
    assert.is_truthy(e:match(request, { mode = "preview" }))
    g:unlink(g "/cluster0/rack0/node11")
    assert.matches("half of 5 nodes is the limit", (select(2, e:match(request, { mode = "feasible" }))))
    assert.matches("half of 5 nodes is the limit", e:explain(request).reason or weir.explain.text(e:explain(request)))
  end)

  it("read options and fields of a request that have no value", function()
    assert.is_nil((try [[return { options = { k = { type = "string" } }, evaluate = function(v, r)
      return r.options.k == nil and r.unit == nil and r.label == nil and r.below == nil and 1 or nil end }]]))
  end)

  for code, wanted in pairs {
    ["x = 1"] = "the global 'x' is set: write `local x`",
    ["type = 1"] = "the global 'type' is set, which a policy needs as it is: write `local type`",
    ["_G.pairs = 1"] = "the global 'pairs' is set, which a policy needs as it is: write `local pairs`",
    ["math.max = math.min"] = "the function 'max' of a library is set: the libraries of a policy cannot be changed",
    ["rawset(_G, 'x', 1)"] = "rawset: a table that can only be read, such as _G, a library or a state",
    ["rawset(table, 'sort', nil)"] = "rawset: a table that can only be read, such as _G, a library or a state",
    ["setmetatable(_G, nil)"] = "protected metatable",
    ["setmetatable(string, {})"] = "protected metatable",
    ["getmetatable('').__index = {}"] = "the function '__index' of a library is set",
  } do
    it("neither change globals nor libraries: " .. code, function()
      assert.matches(wanted, (try(code .. " return {}")), 1, true)
      assert.matches(wanted, (try("return { evaluate = function(v) " .. code .. " return 1 end }")), 1, true)
    end)
  end

  it("read globals and libraries by all ways", function()
    local _, _, a = try [[return { evaluate = function()
      local names = {}
      for name in pairs(utf8) do names[#names + 1] = name end
      assert(table.concat(names, " ") == "char charpattern codepoint codes len offset", table.concat(names, " "))
      assert(rawget(_G, "pairs") == pairs and rawget(math, "max") == math.max and next(table) == "concat" and _G._G == _G)
      return 1 end }]]
    assert.is_truthy(a)
  end)

  for what, code in pairs {
    ["table.insert"] = "table.insert(list, { type = 'core', count = 1 }) table.remove(list)",
    ["table.insert in front"] = "table.insert(list, 1, list[1]) table.remove(list, 1)",
    ["table.sort"] = "table.sort(list, function(a, b) return a.type < b.type end)",
    ["table.concat"] = "local t = {} for i, r in ipairs(list) do t[i] = r.type end assert(table.concat(t, ' ') == 'core gpu')",
    ["table.unpack"] = "assert(select('#', table.unpack(list)) == 2)",
    ["table.move"] = "assert(#table.move(list, 1, #list, 1, {}) == 2 and #table.move({}, 1, 0, 1, list) == 2)",
    ["next"] = "assert(next(list) == 1 and next(list, nil) == 1)",
    ["pairs"] = "local n = 0 for _ in pairs(list) do n = n + 1 end assert(n == 2)",
    ["a table option's array"] = "table.sort(options.list) assert(table.concat(options.list, ' ') == '1 2 3')",
  } do
    it("use " .. what .. " on what the sandbox hands out", function()
      local text = "return { options = { list = { type = 'table', default = { 3, 1, 2 } } }, admit = function(job, options) "
        .. "local list = job.resources[1].with[1].with %s return job end }"
      local why, _, a = try(text:format(code), "slot=1/node/[core=2;gpu=1]")
      assert.is_truthy(a, why)
    end)
  end

  it("use next on properties and tags", function()
    local e = assert(weir.engine { resources = MACHINE, policy = assert(core.policy_source(
      "return { order = function(v) return next(v.tags) and 0 or 1 end }", "mine")) })
    e:resources() "/cluster0/rack1/node3".tags.first = true
    assert.equal("node3", e:match "slot=1/node":vertices()[1].vertex.name)
  end)

  it("not let table functions call metamethods", function()
    for _, event in ipairs { "__index", "__newindex", "__len" } do
      local why = try(([[return { evaluate = function()
        table.insert(setmetatable({}, { %s = function() end }), 1) return 1 end }]]):format(event))
      assert.matches("a table without " .. event .. " in the metatable expected", why)
    end
    local _, _, a = try [[return { evaluate = function()
      local t = setmetatable({}, { __tostring = function() return "t" end }) table.insert(t, 1) return #t end }]]
    assert.truthy(a)
  end)
end)

describe("a policy of the library", function()
  it("power adds watts to nodes with something in them", function()
    local g <close> = weir.synthetic "cluster:1 node:2 core:4"
    local panel = g:add(nil, { type = "panel", id = 0, size = 500, unit = "W" })
    for _, node in ipairs(g:find "type=node") do assert(g:add_edge(panel, node, { subsystem = "power", type = "supplies" })) end
    local e = assert(weir.engine { resources = g, policy = "power:watts=400" })
    assert(e:match "slot=1/node/core=2")
    assert.equal(100, panel.free)
    assert.same({ nil, "busy" }, { e:match "slot=1/node/core=2", (select(3, e:match "slot=1/node/core=2")) })
  end)
end)

describe("an error of a policy", function()
  local TEXT = [[
    local function deepest(v)
      return v.nothing.x
    end
    local function middle(v) local x = deepest(v) return x end
    return { evaluate = function(v)
      return middle(v) + 1
    end }]]

  it("has a traceback of the policy's own lines", function()
    local why, code, _, p = try(TEXT)
    assert.equal("policy", code)
    assert.matches("^policy mine: evaluate: mine:2: a vertex has no field or method 'nothing'", why)
    assert.equal("mine:2: in upvalue 'deepest'\nmine:4: in upvalue 'middle'\nmine:6: in evaluate, for /cluster0/rack0/node0",
      (p.traceback:gsub("in '(%w+)'", "in upvalue '%1'")))
  end)

  it("leaves no traceback of an earlier one", function()
    local _, _, _, p = try "return { evaluate = function() return 1 end }"
    assert.is_nil(p.traceback)
  end)
end)

-- What print writes goes to the standard error of a process, so these run weir.
describe("print in a policy", function()
  local path = os.tmpname()
  local function run(setting)
    local file <close> = assert(io.open(path, "w"))
    file:write 'return { evaluate = function(v) print(v, v.id, nil, {}) return 1 end }'
    file:close()
    local command = ("%s %s match -q -p %s -r node:1 slot=1/node 2>&1"):format(setting, os.getenv "WEIR_BIN", path)
    local pipe <close> = assert(io.popen(command))
    return pipe:read "a"
  end
  setup(function() os.rename(path, path .. ".lua") path = path .. ".lua" end)
  teardown(function() os.remove(path) end)

  it("writes nothing unless asked", function() assert.equal("", run "") end)
  it("writes a line with its place, on standard error", function()
    assert.matches(":1: /node0\t0\tnil\ttable\n$", run "WEIR_POLICY_PRINT=1")
  end)
end)
