-- `luarocks make` in a clone installs a module that plain Lua finds, with the command and the policies.

local missing = require "spec.support.missing"
local quote = require("weir.files").quoted

local found = os.execute "command -v luarocks >/dev/null 2>&1" == true and os.execute "test -d .git -o -f .git" == true
local with_luarocks = missing.it_with(found, missing.program("luarocks", "luarocks"), it, pending)

local function run(command)
  local pipe <close> = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return status, text
end

describe("the rock", function()
  local dir

  setup(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. dir))
  end)

  teardown(function() os.execute("rm -rf " .. quote(dir)) end)

  with_luarocks("is made from a clone, and found by plain Lua", function()
    assert.equal(0, (run(("git clone -q . %s/clone"):format(dir))))
    -- Flags of a build around this one are not for the build of the rock.
    local status, text = run(("cd %s/clone && env -u MAKEFLAGS -u MAKELEVEL -u V luarocks --lua-version 5.4 --tree %s/tree make "
      .. "--deps-mode=none weir-scm-1.rockspec"):format(dir, dir))
    assert.equal(0, status, text)
    local script = [[local weir = require "weir" print(weir.synthetic "node:2":count(), #weir.policy.list() > 20,
      weir.engine { resources = "node:2 core:4", policy = "best_fit" }:match "slot=1/node".state)]]
    status, text = run(("cd / && env -u LUA_INIT LUA_PATH='%s/tree/share/lua/5.4/?.lua;%s/tree/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH='%s/tree/lib/lua/5.4/?.so' lua5.4 -e %s"):format(dir, dir, dir, quote(script)))
    assert.same({ 0, "3\ttrue\tallocated\n" }, { status, text })
  end)
end)
