-- What the package weir-flux registers; the fields are described in lua/weir/packages.lua.

return {
  name = "weir-flux", needs = { "weir", "weir-sim", "weir-serve" }, doc = "the scheduler of a Flux instance, and Fluxion's resource-query",
  commands = { "query" },
  policies = "flux/policies",
}
