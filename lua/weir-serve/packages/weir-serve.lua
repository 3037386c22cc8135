-- What the package weir-serve registers; the fields are described in lua/weir/packages.lua.

return {
  name = "weir-serve", needs = { "weir", "weir-sim" }, doc = "a service with a machine and its jobs",
  commands = { "serve", "top" },
  words = { start = "weir serve starts a service", daemon = "weir serve starts a service" },
  schemes = { etcd = "weir.serve.store.etcd" },
  services = { commands = "weir.cli.remote", repl = "weir.repl.remote" },
  scenario = { stream = "weir.scenario.stream" },
}
