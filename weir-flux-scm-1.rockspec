rockspec_format = "3.0"
package = "weir-flux"
version = "scm-1"
source = { url = "." } -- `luarocks make` in a clone
description = {
  summary = "What a site with Flux expects of weir",
  detailed = "Fluxion's resource-query on weir, its policies, and the Lua side of the scheduler module, which `make install-weir-flux` installs.",
  license = "MIT",
}
dependencies = { "lua ~> 5.4", "weir", "weir-sim", "weir-serve" }
build = {
  type = "make",
  build_pass = false,
  install_target = "install-modules-weir-flux",
  install_variables = { LUA_SHARE = "$(LUADIR)/weir" },
}
