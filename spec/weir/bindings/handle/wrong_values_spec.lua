-- Methods with wrong arguments: each method of each handle, with each wrong value in the place of an argument and of
-- each field of a table. A call gives an error, or nil, a message and a code; the message names the argument or
-- field, never a line of the library; and the graph is unchanged.
local core = require "weir.core"
local operations = require "spec.support.operations"
require "weir" -- adds methods

local VALUES = {
  { "a function", function() end }, { "true", true }, { "-1", -1 }, { "the least number", math.mininteger }, { "1e308", 1e308 },
  { "1.5", 1.5 }, { "nan", 0 / 0 }, { "infinity", -math.huge }, { "a zero byte", "a\0b" }, { "an empty text", "" },
  { "a long text", ("x"):rep(70000) }, { "no UTF-8", "\xff" }, { "a table", {} }, { "a list", { "x", {} } },
  { "a table by tables", { [{}] = 1 } }, { "a file", io.stdout },
}

-- Fields of the tables that methods take.
local FIELDS = {
  ["engine.match"] = "mode at duration job stats policy trace inside within without fewest "
    .. "brief follow strict_slots stage lock", ["engine.stage"] = "mode at duration job lease lock policy trace",
  ["engine.commit"] = "job", ["engine.allocate"] = "job start duration",
  ["engine.levels"] = "at within without follow", ["engine.explain"] = "at vertex down up release "
    .. "without constraint policy follow", ["engine.use"] = "watch failed", ["engine.shrink"] = "vertex amount ranks",
  ["graph.walk"] = "start subsystem order reverse upward type prune evaluate best visit order_children fields",
  ["graph.find"] = "start as", ["graph.coarsen"] = "keep", ["vertex.allocate"] = "job amount start duration",
  ["rset.remap"] = "ranks hosts", ["rset.with"] = "properties", ["graph.save"] = "path", ["graph.add"] = "type basename name id size unit "
    .. "rank properties tags exclusive uuid", ["graph.add_edge"] = "subsystem type back",
}
-- Arguments before a table of options.
local BEFORE = {
  ["engine.match"] = function() return "slot=1/core" end, ["engine.levels"] = function() return "slot=1/core" end,
  ["engine.explain"] = function() return "slot=1/core" end,
  ["engine.stage"] = function() return "slot=1/core" end, ["engine.commit"] = function() return 1 end,
  ["engine.allocate"] = function(w) return { w.v } end, ["engine.use"] = function() return "low" end,
  ["engine.shrink"] = function() return 1 end, ["graph.find"] = function() return "id=1" end,
  ["graph.add"] = function(w) return w.v end,
}
-- Methods that end the handle, wait, or write: left to further specs.
local LEFT_OUT = { ["graph.save"] = true, ["graph.write"] = true, ["allocation.write"] = true,
  ["engine.close"] = true, ["graph.close"] = true, ["editor.read"] = true }

local function methods_of(class)
  local metatable, list = debug.getregistry()["weir." .. class], {}
  local index = metatable.__index
  if type(index) == "function" then
    local _, methods = debug.getupvalue(index, 2)
    index = methods
  end
  for name, f in pairs(type(index) == "table" and index or {}) do
    if type(f) == "function" and not name:find "^__" and not LEFT_OUT[class .. "." .. name] then list[#list + 1] = { name, f } end
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

local HANDLES = {
  graph = function(w) return w.g end, vertex = function(w) return w.v end, engine = function(w) return w.e end,
  allocation = function(w) return w.a end, idset = function() return core.idset "1-3" end,
  hostlist = function() return core.hostlist "a,b" end, rset = function(w) return assert(core.rset(assert(w.a:format "rv1"))) end,
  request = function() return assert(core.request "slot=1/core") end, query = function() return assert(core.query "id=1") end,
  constraint = function() return assert(core.constraint { ranks = { "1" } }) end,
  pieces = function(w) return assert(w.g:pieces()) end,
  policy = function(w) return assert(core.policy_source(w.hooks)) end,
}

local function state_of(w) return assert(w.g:format "jgf") .. #w.e:jobs() .. w.g:now() end

-- The fault in the outcome of a call; nil: none.
local function complaint(ok, result, why, code)
  if ok and result == nil and why ~= nil and (type(why) ~= "string" or type(code) ~= "string") then
    return "nil without a message and a code"
  end
  local text = not ok and result or result == nil and why or ""
  if type(text) ~= "string" then return "an error that is a " .. type(text) end
  if text:find "lua/weir/" or text:find "%.lua:%d+: " and not text:find("spec/", 1, true) then return "a line of the library: " .. text end
  if text:find("attempt to", 1, true) or text:find("traceback", 1, true) or text:find("assertion failed", 1, true) then
    return "no words for it: " .. text
  end
end

-- Calls a method in a world of its own.
local function check(class, name, what, f, ...)
  local w = operations.world "."
  local before = state_of(w)
  local handle = HANDLES[class](w)
  local results = table.pack(pcall(f, handle, ...))
  local wrong = complaint(table.unpack(results, 1, 4))
  if not wrong and not (results[1] and results[2] ~= nil) and state_of(w) ~= before then wrong = "the graph is another one" end
  if not wrong and not w.g:check() then wrong = "the graph is broken" end
  w.e:close()
  w.g:close()
  return wrong and ("%s:%s, %s: %s"):format(class, name, what, wrong:sub(1, 300))
end

describe("wrong values", function()
  for class in pairs(HANDLES) do
    it("are told clearly by the methods of class " .. class, function()
      local found = {}
      for _, method in ipairs(methods_of(class)) do
        local name, f = table.unpack(method)
        for _, value in ipairs(VALUES) do
          found[#found + 1] = check(class, name, value[1], f, value[2])
          found[#found + 1] = check(class, name, "second " .. value[1], f, 1, value[2])
          for field in (FIELDS[class .. "." .. name] or ""):gmatch "%S+" do
            local w = operations.world "."
            local before = BEFORE[class .. "." .. name]
            local options = { [field] = value[2] }
            local what = ("field %s = %s"):format(field, value[1])
            if before and class == "graph" and name == "add" then
              found[#found + 1] = check(class, name, what, f, nil, options)
            elseif before then
              found[#found + 1] = check(class, name, what, f, before(w), options)
            else
              found[#found + 1] = check(class, name, what, f, options)
            end
            w.g:close()
          end
        end
      end
      assert.equal("", table.concat(found, "\n"))
    end)
  end
end)
