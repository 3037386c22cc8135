rockspec_format = "3.0"
package = "weir"
version = "scm-1"
source = { url = "." } -- `luarocks make` in a clone
description = {
  summary = "A Lua-scriptable resource engine",
  detailed = "Models a machine as a graph of resource pools; finds, allocates, reserves and releases parts of it for jobs.",
  license = "MIT",
}
dependencies = { "lua ~> 5.4" }
external_dependencies = {
  JANSSON = { header = "jansson.h" },
  YAJL = { header = "yajl/yajl_parse.h" },
  HWLOC = { header = "hwloc.h" },
  YAML = { header = "yaml.h" },
  EXPAT = { header = "expat.h" },
  SQLITE = { header = "sqlite3.h" },
  EDIT = { header = "histedit.h" },
}
build = {
  type = "make",
  build_target = "build",
  install_target = "install-weir",
  build_variables = { PACKAGES = "weir" },
  -- The C library is not for LuaRocks to place: LIBDIR of the Makefile is a folder of the rock.
  install_variables = {
    PACKAGES = "weir", PREFIX = "$(PREFIX)", LIBDIR = "$(PREFIX)/c", LUA_SHARE = "$(LUADIR)/weir", LUA_LIB = "$(LIBDIR)/weir",
    POLICIES = "$(LUADIR)/weir/policies",
  },
}
