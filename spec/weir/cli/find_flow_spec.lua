-- weir find --flow: how many units of a subsystem reach what is found, and the units that stop more.
local weir = require "weir"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local file

-- 3 switches of 100 units below one of 250, two nodes behind each; a job has 70 of the first.
local function machine()
  local g = weir.synthetic "cluster:1 node:6"
  local nodes = g:find "type=node"
  local top = assert(g:add(nil, { type = "spine", id = 0, size = 250 }))
  for i = 0, 2 do
    local switch = assert(g:add(nil, { type = "switch", id = i, size = 100 }))
    assert(g:add_edge(top, switch, { subsystem = "net", type = "conduit_of" }))
    for n = 1, 2 do assert(g:add_edge(switch, nodes[2 * i + n], { subsystem = "net", type = "conduit_of" })) end
    if i == 0 then assert(switch:allocate { job = 1, amount = 70 }) end
  end
  return g
end

local function run(...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = "'" .. word .. "'" end
  local pipe <close> = assert(io.popen(("%s find -r %s %s 2>&1"):format(BIN, file, table.concat(words, " "))))
  return pipe:read "a", select(3, pipe:close())
end

describe("weir find --flow [G8][RFC4b:141]", function()
  setup(function()
    file = os.tmpname() .. ".db"
    local g <close> = machine()
    assert(g:save(file))
  end)
  teardown(function() os.remove(file) end)

  for name, case in pairs {
    ["the most that reaches all"] = { { "--flow", "net" }, "230 units of net reach 6 vertices\nswitch0 has 30 of 100 left\n"
      .. "switch[1-2] have 100 in all each\n", 0 },
    ["each gets what it wants"] = { { "--flow", "net=15" }, "90 of 90 units of net reach 6 vertices\n", 0 },
    ["some get less"] = { { "--flow", "net=40" }, "190 of 240 units of net reach 6 vertices\nswitch0 has 30 of 100 left\n", 1 },
    ["one vertex"] = { { "--flow", "net=100", "id=2 and" }, "100 of 100 units of net reach 1 vertex\n", 0 },
    ["no way"] = { { "--flow", "net", "type=cluster or id=9 and" },
      "0 units of net reach 1 vertex\nno further way leads there from a source\n", 1 },
    ["nothing found"] = { { "--flow", "net", "id=9 and" }, "", 1 },
    ["no such subsystem"] = { { "--flow", "nat" }, "weir: there is no subsystem 'nat'\n", 2 },
    ["no number"] = { { "--flow", "net=x" }, "weir: find: %-%-flow net=x: expected a subsystem such as network", 2 },
    ["a graph"] = { { "--flow", "net", "--graph", "dot" }, "a few lines, or JSON with %-F json", 2 },
  } do
    it("tells: " .. name, function()
      local words = case[1]
      local tests = words[#words]:find " " and table.remove(words) .. " " or ""
      table.insert(words, tests .. "type=node")
      local said, status = run(table.unpack(words))
      assert.equal(case[3], status, said)
      if case[3] == 2 then
        assert.matches(case[2], said)
      else
        assert.equal(case[2], said)
      end
    end)
  end

  it("is a table for programs", function()
    local said = weir.json.decode((run("--flow", "net=40", "-F", "json", "id=0-1 and type=node")))
    assert.same({ amount = 30, all = false, cut = { { path = "/switch0", left = 30, size = 100 } } },
      { amount = said.amount, all = said.all, cut = said.cut })
    assert.equal(30, said.served[1].amount + said.served[2].amount)
  end)
end)
