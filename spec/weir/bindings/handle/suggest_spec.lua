-- "did you mean" wherever a name is looked up: one function finds the word.
local core = require "weir.core"
local scenario = require "weir.scenario"
local weir = require "weir"

describe("the nearest word", function()
  local words = { "node", "socket", "core", "gpu", "memory", "schedule", "a" }
  for word, near in pairs {
    nod = "node", noed = "node", nodes = "node", NODE = "node", sokcet = "socket", sock = "socket", memroy = "memory", cor = "core",
    schedul = "schedule", scheduled = "schedule", gp = "gpu",
  } do
    it("to " .. word .. " is " .. near, function() assert.equal(near, core.nearest(word, words)) end)
  end
  for _, word in ipairs { "tpu", "x", "", "b", "kept", "switch", ("n"):rep(1000) } do
    it(("to %q is none"):format(word:sub(1, 10)), function() assert.is_nil(core.nearest(word, words)) end)
  end
  it("among equally near words is the first by letters", function()
    assert.equal("cart", core.nearest("cast", { "cost", "cart" }))
    assert.equal("cart", core.nearest("cast", { "cart", "cost" }))
  end)
end)

describe("a mistyped name is followed by the one that was meant:", function()
  local e, s
  setup(function()
    e = assert(weir.engine { resources = "cluster:1 node:2 core:2" })
    s = scenario { machine = "node:2" }
  end)
  local g = function() return e:resources() end
  for what, row in pairs {
    ["an option of an engine"] = { function() weir.engine { resorces = "x" } end, "resources" },
    ["an option of a match"] = { function() e:match("slot=1/node", { mod = "now" }) end, "mode" },
    ["an option of an explanation"] = { function() e:explain("slot=1/node", { wihtout = {} }) end, "without" },
    ["an option of a text"] = { function() g():format("svg", { widht = 3 }) end, "width" },
    ["an option of a walk"] = { function() g():walk { tpye = "node" } end, "type" },
    ["an option of a script"] = { function() weir.parse("", { format = "rdl", tpyes = "x" }) end, "types" },
    ["a part of an R"] = { function() weir.R('{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0"}}]}}'):subset {
      rank = "0" } end, "ranks" },
    ["a method of a graph"] = { function() g():wlak() end, "walk" },
    ["a method of an engine"] = { function() e:mach() end, "match" },
    ["a method of a request"] = { function() weir.request "slot=1/node":duraton() end, "duration" },
    ["a field of a vertex"] = { function() return g():root().nme end, "name" },
    ["a field of an allocation"] = { function() return e:match("slot=1/node", { mode = "preview" }).stat end, "state" },
    ["a method of a scenario"] = { function() s:drian "node0" end, "drain" },
    ["an action for later"] = { function() s:at(5):dwon "node0" end, "down" },
    ["an assertion"] = { function() assert.runing(s:submit { "slot=1/node" }) end, "running" },
    ["an assertion of two words"] = { function() assert.start_at(s:submit { "slot=1/node" }, 0) end, "starts_at" },
    ["a field of a job"] = { function() return s:submit { "slot=1/node" }.strat end, "start" },
  } do
    it(what, function()
      local ok, why = pcall(row[1])
      assert.is_false(ok)
      assert.is_truthy(tostring(why):find(('(did you mean "%s"?)'):format(row[2]), 1, true), tostring(why))
    end)
  end

  it("a type, in an explanation", function()
    local text = weir.explain.text(assert(e:explain "slot=1/nod"))
    assert.matches('there is no nod here (did you mean "node"?).', text, 1, true)
  end)

  it("assertions of luassert stay", function()
    assert.is_not.equal(1, 2)
    assert.is_not_equal(1, 2)
    assert.is_true(true)
    local ok, why = pcall(function() assert.no_such_thing(1) end)
    assert.is_false(ok)
    assert.matches("unknown modifier/assertion", why)
  end)
end)

describe("weir", function()
  local bin = os.getenv "WEIR_BIN" or "build/weir"
  for line, near in pairs {
    ["mach -r node:1 slot=1/node"] = "match", ["match --polcy low -r node:1 slot=1/node"] = "--policy",
    ["match -r node:1 -p lwo slot=1/node"] = "low", ["match -r node:1 slot=1/nod"] = "node", ["policy chekc low"] = "check",
    ["show -r node:1 --subsystem contaiment"] = "containment",
    ["policy check hybrid:kkk=1 -r node:1"] = false,
  } do
    it("suggests for " .. line, function()
      local pipe <close> = assert(io.popen(("%s %s 2>&1"):format(bin, line)))
      local text = pipe:read "a"
      assert.equal(near and true or false, text:find("did you mean", 1, true) ~= nil, text)
      if near then assert.is_truthy(text:find(('"%s"'):format(near), 1, true), text) end
    end)
  end
end)
