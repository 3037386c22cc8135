-- The Makefile: what is built after dependencies are installed, and which packages are left out for want of a library.

local missing = require "spec.support.missing"
local shell = require "spec.support.shell"

local with_make = missing.it_with(os.execute "test -f Makefile" == true, "a tree with a Makefile", it, pending)

-- Returns the rules and variables of make as text, given further arguments. V=none: a build of its own, as make removes the
-- modules of packages that are left out.
local function database(arguments)
  local pipe <close> = assert(io.popen(("env -u MAKEFLAGS -u MAKELEVEL -u V make -pn help V=none %s 2>/dev/null"):format(arguments)))
  return pipe:read "a"
end

describe("make", function()
  with_make("builds nothing at the same time as it installs dependencies", function()
    local n = 0
    for target, prerequisites in database(""):gmatch "\n([%w-]+):([^\n=]*%f[%w]deps%f[^%w-][^\n]*)" do
      n = n + 1
      assert.equal("deps", prerequisites:match "^%s*(.-)%s*$", target)
    end
    assert.is_true(n >= 6)
  end)

  -- {header that is not there, packages that are left out}
  for _, case in ipairs {
    { "none.h", "" }, { "openssl/ssl.h", "weir-serve weir-flux" }, { "curl/curl.h", "weir-serve weir-flux" },
  } do
    with_make("leaves out what needs a header that is not there: " .. case[1], function()
      local dir = shell.directory()
      finally(function() os.execute("rm -rf " .. dir) end)
      os.execute(("mkdir -p %s/openssl %s/curl"):format(dir, dir))
      local file = assert(io.open(dir .. "/" .. case[1], "w"))
      file:write "#error not there\n"
      file:close()
      assert.equal(case[2], database(("CC='gcc -I%s'"):format(dir)):match "\nLEFT_OUT := ([^\n]*)")
    end)
  end
end)
