-- doc/reference/policy-hooks.md, which the page of the contract has: what it says of hooks and of the sandbox is what they do.
local core = require "weir.core"
local weir = require "weir"

local function section(title)
  local file <close> = assert(io.open "doc/reference/policy-hooks.md")
  return (file:read "a":match("## " .. title .. "\n.-```\n(.-)```"))
end

-- The calls of hooks for a request, as the page shows them: types in the order of the machine, by hook and request.
local function calls_of(shape)
  local order, lines, seen = {}, {}, {}
  local function note(hook, v, r, more)
    local request = ("request %s, min %d%s%s"):format(r.type, r.min, r.below and ", below " .. r.below or "", more or "")
    local key = hook .. request
    if not seen[key] then
      seen[key] = { hook = hook, request = request, types = {} }
      order[#order + 1] = seen[key]
    end
    local types = seen[key].types
    if not types[v.type] then types[v.type], types[#types + 1] = true, v.type end
  end
  local e = assert(weir.engine { resources = "cluster:1 rack:2 node:2 socket:2 core:4 gpu:1", policy = {
    prune = function(v, r) note("prune", v, r) return true end,
    evaluate = function(v, r) note("evaluate", v, r) return 1 end,
    select = function(list, r, min) note("select", list[1], r, ("; min %d of %d candidates"):format(min, #list)) end,
  } })
  assert(e:match(shape))
  for i, call in ipairs(order) do
    lines[i] = ("  %-9s %-30s %s"):format(call.hook, table.concat(call.types, " "), call.request)
  end
  table.sort(lines)
  return lines
end

describe("the page of policies", function()
  local shape, said = nil, {}
  for line in section "What hooks see, request by request":gmatch "[^\n]+" do
    if line:find "^%S" then
      shape = line
      said[shape] = {}
    else
      table.insert(said[shape], line)
    end
  end
  for request, lines in pairs(said) do
    it("shows what hooks see of " .. request, function()
      table.sort(lines)
      assert.same(lines, calls_of(request))
    end)
  end

  it("lists what the sandbox has, and nothing else", function()
    local p = assert(core.policy_source([[
      local list, seen = {}, {}
      for name, value in pairs(_G) do
        if type(value) ~= "table" then list[#list + 1] = name end
      end
      for _, name in ipairs { "math", "string", "table", "utf8" } do
        for key in pairs(rawget(_G, name)) do list[#list + 1] = name .. "." .. key end
      end
      for i, name in ipairs(list) do if name == "_VERSION" then table.remove(list, i) end end
      table.sort(list)
      return { options = { all = { default = table.concat(list, " ") } } }]], "list"))
    local known, words = {}, {}
    for _, name in ipairs { "cosh", "sinh", "tanh", "pow", "frexp", "ldexp", "log10" } do known["math." .. name] = true end
    for word in p.options.all.value:gmatch "%S+" do
      if not known[word] then words[#words + 1] = word end -- where Lua has the functions of 5.2
    end
    local listed = {}
    for word in section "What the sandbox has":gmatch "%S+" do listed[#listed + 1] = word end
    table.sort(listed)
    assert.same(listed, words)
  end)

  it("is part of the page of the contract", function()
    local page <close> = assert(io.open "build/doc/policy.md")
    local text = page:read "a"
    for _, title in ipairs { "What the sandbox has", "The queue policy", "queue: the queue", "What hooks see" } do
      assert.is_truthy(text:find("\n## " .. title, 1, true), title)
    end
  end)
end)
