-- Signals while a script keeps one function in C busy, or compares long texts: the process ends by the signal, and soon.
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"

-- Seconds allowed; without checks for signals the attacks take minutes, or never end.
local SOON = 5 * math.max(1, tonumber(os.getenv "WEIR_SPEC_SLOW") or 1)
local BUSY = 10 -- ticks of the processor after which the policy surely runs

local LONG = "local a, b = ('\\0'):rep(260000) .. 'a', ('\\0'):rep(260000) .. 'b' "

-- Endless code in a policy.
local ATTACKS = {
  { "compares long texts", LONG .. "while true do local x = a < b end" },
  { "makes a text long by concatenation, and compares it",
    "local a = '\\0' while #a < 60000 do a = a .. a end local b = a .. 'b' while true do local x = a .. a < b .. a end" },
  { "matches patterns", "local s = ('a'):rep(4000) while true do local x = s:find('.-b') end" },
  { "sorts", "local t = {} for i = 1, 200000 do t[i] = i * 7919 % 1000003 end while true do table.sort(t) end" },
  { "joins texts", "local t = {} for i = 1, 100000 do t[i] = '' end while true do local x = table.concat(t) end" },
  { "fills the memory and makes garbage", "local k = {} pcall(function() for i = 1, 400000 do k = {k} end end) "
    .. "while true do local t = {{}, {}} end" },
  { "walks, and none of it is told", "local g = v:graph() while true do for _ in g:walk { type = 'none' } do end end" },
  { "walks with functions in C", "local g = v:graph() while true do g:walk { prune = type, order_children = rawequal, type = 'none', "
    .. "evaluate = rawlen } end" },
}

local SCRIPT = [[
local core, weir = require "weir.core", require "weir"
local p = assert(core.policy_source(%q, "attack", { instructions = 1 << 60, memory = 64 << 20, seconds = 1000 }))
local e = assert(weir.engine { resources = "cluster:1 rack:8 node:64 core:16", policy = p })
print "ready"
io.stdout:flush()
print(e:match "slot=1/node")
]]

-- Ticks of the processor that a process took.
local function ticks(pid)
  local file = io.open(("/proc/%d/stat"):format(pid))
  local text = file and file:read "a" or ""
  if file then file:close() end
  local user, system = text:match "^%d+ %b() %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ %S+ (%d+) (%d+)"
  return tonumber(user or 0) + tonumber(system or 0)
end

-- Runs the loop until the process took some time of the processor, or ended.
local function wait_busy(process)
  local timer, from = uv.new_timer(), ticks(process.process:get_pid())
  timer:start(10, 10, function() end)
  service.wait("the policy to run", function() return process.code or ticks(process.process:get_pid()) - from >= BUSY end)
  timer:close()
end

describe("a signal ends a policy that", function()
  after_each(service.clean)

  for _, attack in ipairs(ATTACKS) do
    for _, case in ipairs { { "sigterm", 143 }, { "sigint", 130 } } do
      local signal, status = table.unpack(case)
      it(attack[1] .. ", " .. signal, function()
        local file = shell.path(shell.directory(), "attack.lua",
          SCRIPT:format(("return { evaluate = function(v) %s end }"):format(attack[2])))
        local process = service.spawn { "run", file }
        service.wait("the script", function() return process.out.text:find "ready" or process.code end)
        wait_busy(process)
        assert.is_nil(process.code, process.err.text .. process.out.text)
        local begin = uv.hrtime()
        process.process:kill(signal)
        assert.equal(status, process:exit())
        assert.is_true((uv.hrtime() - begin) / 1e9 < SOON)
      end)
    end
  end

  it("a command was given", function()
    local file = shell.path(shell.directory(), "attack.lua", ("return { evaluate = function(v) %s end }"):format(ATTACKS[1][2]))
    local process = service.spawn { "match", "-r", "node:4 core:2", "-p", file, "slot=1/node" }
    wait_busy(process)
    process.process:kill "sigterm"
    assert.equal(143, process:exit())
  end)
end)
