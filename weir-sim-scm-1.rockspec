rockspec_format = "3.0"
package = "weir-sim"
version = "scm-1"
source = { url = "." } -- `luarocks make` in a clone
description = {
  summary = "Replays of job traces for weir",
  detailed = "Replays traces, compares and tunes policies, forecasts and shadows a queue.",
  license = "MIT",
}
dependencies = { "lua ~> 5.4", "weir" }
build = {
  type = "make",
  build_pass = false,
  install_target = "install-modules-weir-sim",
  install_variables = { LUA_SHARE = "$(LUADIR)/weir" },
}
