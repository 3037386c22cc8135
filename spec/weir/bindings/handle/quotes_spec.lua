-- An error quotes only a part of a caller's long value.
local core = require "weir.core"
local weir = require "weir"

local LONG = ("ä"):rep(35000)

local e = assert(weir.engine { resources = "cluster:1 node:2 core:2" })
local g = e:resources()
local a = assert(e:match "slot=1/node")
local v, r, request = g:root(), assert(a:rset()), assert(weir.request "slot=1/node")

-- {title, function}
local CALLS = {
  { "r:format", function() return request:format(LONG) end }, { "rset:format", function() return r:format(LONG) end },
  { "g:format", function() return g:format(LONG) end }, { "a:format", function() return a:format(LONG) end },
  { "a method of a vertex", function() return v[LONG] end }, { "a method of an allocation", function() return a[LONG] end },
  { "a method of a hostlist", function() return core.hostlist "a"[LONG] end },
  { "a field of a policy", function() return weir.policy "low"[LONG] end },
  { "a field to set", function() v[LONG] = 1 end }, { "a state", function() v.state = LONG end },
  { "an option of match", function() return e:match("slot=1/node", { [LONG] = 1 }) end },
  { "a mode of match", function() return e:match("slot=1/node", { mode = LONG }) end },
  { "an option of explain", function() return e:explain("slot=1/node", { [LONG] = 1 }) end },
  { "an option of weir.engine", function() return weir.engine { resources = "node:1", [LONG] = 1 } end },
  { "a rule of weir.engine", function() return weir.engine { resources = "node:1", overrun = LONG } end },
  { "an option of weir.load", function() return weir.load("x.json", { [LONG] = 1 }) end },
  { "an option of weir.load of a recipe", function() return weir.load("x.lua", { [LONG] = 1 }) end },
  { "an option of subset", function() return r:subset { [LONG] = 1 } end },
  { "a key of an idset", function() return core.idset { [LONG] = 1 } end },
  { "an id of an idset", function() return core.idset { LONG } end },
  { "an idset", function() return core.idset(LONG) end }, { "a hostlist", function() return core.hostlist(LONG .. "[") end },
  { "an option of a walk", function() return g:walk { [LONG] = 1 } end },
  { "an order of a walk", function() return g:walk { order = LONG } end },
  { "a subsystem of a walk", function() return g:walk { subsystem = LONG } end },
  { "a field of a walk", function() return g:walk { fields = { LONG }, evaluate = print } end },
  { "a query", function() return g:find(LONG .. "=") end }, { "a kind of find", function() return g:find("type=node", { as = LONG }) end },
  { "a shape", function() return weir.request(LONG) end }, { "a machine", function() return weir.synthetic(LONG .. "(") end },
  { "a field of a policy's table", function() return e:use { [LONG] = 1 } end },
  { "an option of a policy", function() return e:use("packed_gpu_nodes:" .. LONG .. "=1") end },
  { "a key of JSON", function() return core.json_encode { 1, 2, [LONG] = 3 } end },
  { "a class", function() return core.methods(LONG) end },
}

describe("an error is short, and valid UTF-8, for", function()
  for _, call in ipairs(CALLS) do
    it(call[1], function()
      local results = table.pack(pcall(call[2]))
      local text = results[1] and results[3] or results[2]
      assert.is_string(text)
      assert.is_true(results[1] == false or results[2] == nil)
      assert.is_true(#text < 1100, #text .. ": " .. text:sub(1, 200))
      assert.truthy(utf8.len(text), text)
    end)
  end
end)
