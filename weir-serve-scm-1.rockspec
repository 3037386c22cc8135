rockspec_format = "3.0"
package = "weir-serve"
version = "scm-1"
source = { url = "." } -- `luarocks make` in a clone
description = {
  summary = "A service with a machine and its jobs, for weir",
  detailed = "Keeps a machine and its jobs for many clients, with its state in SQLite or etcd; providers and acquirers of RFC 28.",
  license = "MIT",
}
dependencies = { "lua ~> 5.4", "weir", "weir-sim", "luv" }
-- libcurl too: its header is in a folder of the architecture, where LuaRocks does not look and the compiler does.
external_dependencies = {
  OPENSSL = { header = "openssl/ssl.h" },
  JANSSON = { header = "jansson.h" },
  YAJL = { header = "yajl/yajl_parse.h" },
  HWLOC = { header = "hwloc.h" },
  YAML = { header = "yaml.h" },
  EXPAT = { header = "expat.h" },
  SQLITE = { header = "sqlite3.h" },
}
build = {
  type = "make",
  build_target = "build/lua/weir/serve/net.so",
  install_target = "install-modules-weir-serve",
  install_variables = { LUA_SHARE = "$(LUADIR)/weir", LUA_LIB = "$(LIBDIR)/weir" },
}
