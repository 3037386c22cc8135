-- `luarocks make` of each rockspec, in a clone: the rock of weir has the command and a module that plain Lua finds, and the rock of
-- weir-sim brings weir along, from a server that is a folder here.

local missing = require "spec.support.missing"
local shell = require "spec.support.shell"
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

  -- Runs luarocks in the clone, for one tree. Flags of a build around this one are not for the build of the rock.
  local function luarocks(tree, arguments)
    local status, text = run(("cd %s/clone && env -u MAKEFLAGS -u MAKELEVEL -u V luarocks --lua-version 5.4 --tree %s/%s %s"):format(
      dir, dir, tree, arguments))
    assert.equal(0, status, text)
    return text
  end

  -- Returns what a script prints in plain Lua with the modules of a tree.
  local function plain(tree, script)
    local _, text = run(("cd / && env -u LUA_INIT LUA_PATH='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' "
      .. "LUA_CPATH='%s/lib/lua/5.4/?.so' lua5.4 -e %s"):gsub("%%s", dir .. "/" .. tree, 3):format(quote(script)))
    return text
  end

  -- The lines of `weir --help` that name packages.
  local function packages(tree)
    local _, text = run(("cd / && env -u LUA_PATH -u LUA_CPATH %s/%s/bin/weir --help"):format(dir, tree))
    local list = {}
    for name in text:gmatch "\n(weir[%w-]*): " do list[#list + 1] = name end
    return list
  end

  setup(function()
    if not found then return end
    dir = shell.directory()
    assert.equal(0, (run(("git clone -q . %s/clone"):format(dir))))
    luarocks("alone", "make --deps-mode=none weir-scm-1.rockspec")
  end)

  teardown(function() if dir then os.execute("rm -rf " .. quote(dir)) end end)

  with_luarocks("of weir is found by plain Lua, and has the command", function()
    assert.equal("3\ttrue\tallocated\n", plain("alone", [[local weir = require "weir" print(weir.synthetic "node:2":count(),
      #weir.policy.list() > 20, weir.engine { resources = "node:2 core:4", policy = "best_fit" }:match "slot=1/node".state)]]))
    assert.same({ "weir" }, packages "alone")
  end)

  with_luarocks("of weir-sim pulls weir; weir-serve and weir-flux join them", function()
    assert(os.execute(("mkdir %s/server && cd %s/server && luarocks --lua-version 5.4 --tree %s/alone pack weir >/dev/null "
      .. "&& luarocks-admin --lua-version 5.4 make_manifest . >/dev/null"):gsub("%%s", dir)))
    local text = luarocks("all", ("make --only-server %s/server weir-sim-scm-1.rockspec"):format(dir))
    assert.matches("Installing [^\n]*/server/weir%-scm%-1", text)
    assert.same({ "weir", "weir-sim" }, packages "all")
    -- luv is from Debian here.
    luarocks("all", "make --deps-mode=none weir-serve-scm-1.rockspec")
    luarocks("all", "make --deps-mode=none weir-flux-scm-1.rockspec")
    assert.same({ "weir", "weir-sim", "weir-serve", "weir-flux" }, packages "all")
    assert.equal("table\tfunction\n", plain("all",
      [[print(type(require "weir.serve.net"), type(require "weir.query.session".new))]]))
  end)
end)
