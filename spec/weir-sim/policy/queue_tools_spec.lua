-- weir policy, for queue policies: from nothing to a tested one.
local core = require "weir.core"
local weir_bin = os.getenv("WEIR_BIN") or "build/weir"

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

local function weir(arguments)
  local pipe = assert(io.popen(("%s %s 2>&1"):format(quote(weir_bin), arguments)))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

local function contents(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

describe("weir policy, of queue policies,", function()
  local dir

  before_each(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. quote(dir)))
  end)
  after_each(function() os.execute("rm -rf " .. quote(dir)) end)

  local function write(name, text)
    local file <close> = assert(io.open(dir .. "/" .. name, "w"))
    file:write(text)
    return dir .. "/" .. name
  end

  it("new writes a policy and its spec, which hold, and what an editor needs", function()
    local text, status = weir("policy new --queue mine -o " .. dir)
    assert.equal(0, status)
    assert.equal(("%s/mine.lua\n%s/mine_spec.lua\n%s/.luarc.json\n"):format(dir, dir, dir), text)
    text, status = weir("test " .. dir .. "/mine_spec.lua")
    assert.equal(0, status, text)
    assert.matches("3 successes / 0 failures / 0 errors", text, 1, true)
    text, status = weir("policy check " .. dir .. "/mine.lua")
    assert.equal(0, status, text)
    assert.matches("mine.lua: ok", text, 1, true)
    local editor = assert(core.json_decode(contents(dir .. "/.luarc.json")))
    local annotations = contents(editor["workspace.library"][1] .. "/weir.lua")
    for class in ("queue_policy queue queue_job job policy vertex request jobspec scenario module"):gmatch "%S+" do
      assert.matches("---@class weir." .. class .. "\n", annotations, 1, true)
    end
    assert.matches("\nreturn weir\n", annotations, 1, true)
    local defined = {}
    for name in annotations:gmatch "\n%-%-%-@%l+ (weir%.[%l_]+)" do defined[name] = true end
    for line in annotations:gmatch "\n(%-%-%-@[pr]%l+ [^\n]*)" do
      for name in line:gmatch "weir%.[%l_]+" do assert.is_true(defined[name], line) end
    end
    for name in contents "lua/weir/scenario/assertions.lua":gmatch "\nfunction CHECK%.([%w_]+)" do
      assert.matches("---@field " .. name .. " fun", annotations, 1, true)
    end
    for name in contents "lua/weir/sim/queue_runtime.lua":gmatch "\nfunction queue%.([%w_]+)" do
      assert.matches("function queue:" .. name .. "(", annotations, 1, true)
    end
    assert.matches("---@class weir.scenarios\n", contents(editor["workspace.library"][1] .. "/weir/scenario.lua"), 1, true)
  end)

  it("new leaves an editor's settings that are there", function()
    write(".luarc.json", "{}")
    assert.equal(0, (select(2, weir("policy new mine -o " .. dir))))
    assert.equal("{}", contents(dir .. "/.luarc.json"))
  end)

  it("list has those that come with weir, with their options", function()
    local text = weir "policy list --queue -v"
    for _, line in ipairs { "conservative  Conservative", "easy  EASY", "\n    k = 4  integer", "\n    half_life = 604800" } do
      assert.is_truthy(text:find(line, 1, true), line)
    end
    local rows = assert(core.json_decode((weir "policy list --queue --json")))
    assert.equal("conservative", rows[1].name)
  end)

  it("check tries all that come with weir", function()
    local text, status = weir "policy check easy fcfs conservative hybrid:k=2 priority sjbf preempt policies/queue/easy.lua"
    assert.equal(0, status, text)
    assert.equal(8, select(2, text:gsub(": ok  ", "")))
    assert.equal(8, select(2, text:gsub("200 jobs started, 0 did not; ", "")))
  end)

  for what, row in pairs {
    ["a method misspelt"] = { "schedule = function(queue)\n queue:strat(1) end",
      ":2: a queue has no field or method 'strat' (did you mean \"start\"?)" },
    ["a field misspelt"] = { "schedul = function() end",
      "there is no field 'schedul' (did you mean \"schedule\"?); a policy has" },
    ["jobs that never start"] = { "schedule = function() end", "200 of 200 jobs never started, though the machine was idle in the end" },
    ["a loop"] = { "schedule = function() while true do end end", ":1: it used up its budget of 20000000 instructions" },
    ["a global"] = { "schedule = function() n = 1 end", ":1: the global 'n' is set: write `local n`" },
    ["a missing library"] = { "schedule = function() os.time() end", ":1: there is no 'os' in the sandbox of a policy" },
  } do
    it("check tells " .. what, function()
      local text, status = weir("policy check " .. write("mine.lua", "return { " .. row[1] .. " }\n"))
      assert.equal(1, status)
      assert.matches("FAILED", text)
      assert.is_truthy(text:find(row[2], 1, true), text)
      assert.equal(1, select(2, text:gsub("  error  ", "")))
    end)
  end

  it("check notes an order with reservations that are never given up", function()
    local body = "order = function(job) return job.estimate end, schedule = function(queue)\n local head = queue:first()\n"
      .. " while head and queue:reserve(head) do head = queue:first() end\n%s for job in queue:pending() do queue:start(job) end end"
    for keeps, more in pairs { [true] = "", [false] = " for job in queue:pending() do queue:unreserve(job) end\n" } do
      local text, status = weir("policy check " .. write("mine.lua", "return { " .. body:format(more) .. " }\n"))
      assert.equal(0, status, text)
      assert.equal(keeps, text:find("note   order may put another job first after reserve: queue:unreserve(job)", 1, true) ~= nil, text)
    end
    assert.is_nil((weir "policy check priority sjbf easy"):find("order may put", 1, true))
  end)

  it("check shows the way to an error", function()
    local path = write("mine.lua", "local function f(job)\n  return job.x.y\nend\n"
      .. "return { schedule = function(queue)\n  f(queue:first()) f() end }\n")
    local text = weir("policy check " .. path)
    assert.matches("mine.lua:2: in 'f'\n *[^\n]*mine.lua:5: in 'schedule'\n", text)
  end)

  it("check names an option that is none", function()
    local text, status = weir "policy check hybrid:kk=1"
    assert.equal(1, status)
    assert.matches("there is no option 'kk'; it has k", text, 1, true)
  end)

  it("a policy in the place of the other kind is told apart", function()
    local text, status = weir "match -r node:1 -p policies/queue/easy.lua slot=1/node"
    assert.equal(2, status)
    assert.matches("there is no field 'schedule' here: this is a queue policy", text, 1, true)
    text, status = weir "replay -r 'node:2 core:1' -q policies/best_fit.lua --generate 3"
    assert.equal(2, status)
    assert.matches("there is no field 'evaluate' here: this is a placement policy", text, 1, true)
  end)

  it("bench and profile count", function()
    local rows = assert(core.json_decode((weir "policy bench easy low -n 1 --json")))
    assert.same({ "low", "easy" }, { rows[1].policy, rows[2].policy })
    assert.is_true(rows[2].queue.passes > 1000 and rows[2].queue.matches > 1000)
    local text, status = weir "policy profile -p policies/queue/priority.lua"
    assert.equal(0, status)
    assert.matches("^1000 jobs in ", text)
    assert.matches("\nschedule +%d+ ", text)
    assert.matches("%% +39  ", text)
    assert.equal(2, (select(2, weir "policy bench no_such -n 1")))
  end)
end)
