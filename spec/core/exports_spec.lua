-- The symbols of the shared objects: libweir.so exports all functions declared in core/weir.h and no more; the Lua
-- module exports its entry.
local OUT = assert(os.getenv "WEIR_BIN", "WEIR_BIN is not set: . build/test/env"):match "^(.*)/"

-- The path of libweir.so: in the build, or installed.
local function library()
  local file <close> = io.open(OUT .. "/libweir.so")
  return file and OUT .. "/libweir.so" or OUT .. "/../lib/libweir.so"
end

-- The sorted names of the dynamic symbols defined by a shared object.
local function offered(path)
  local pipe = assert(io.popen(("nm -D --defined-only '%s'"):format(path)))
  local names = {}
  for line in pipe:lines() do
    names[#names + 1] = line:match "^%x+ %a (%S+)"
  end
  assert(pipe:close())
  table.sort(names)
  return names
end

-- The sorted names of the functions declared by a header.
local function declared(path)
  local file <close> = assert(io.open(path))
  local text = file:read "a":gsub("/%*.-%*/", ""):gsub("\n%s*#[^\n]*", "\n"):gsub('extern "C" {', ""):gsub("%b{}", "{}")
  local names = {}
  for name in text:gmatch "%f[%w_](weir_[%w_]+)%s*%(" do names[#names + 1] = name end
  table.sort(names)
  return names
end

describe("shared objects offer", function()
  it("the functions of weir.h, in libweir.so", function()
    local names = declared "core/weir.h"
    assert.is_true(#names > 200)
    assert.same(names, offered(library()))
  end)

  it("the entry, in the Lua module", function()
    assert.same({ "luaopen_weir_core" }, offered(package.searchpath("weir.core", package.cpath)))
  end)
end)
