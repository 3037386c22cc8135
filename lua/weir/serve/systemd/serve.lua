-- An example of /etc/weir/serve.lua: the options of weir serve. weir serve --help tells what there is; the command line counts more.
return {
  resources = "/etc/weir/machine.json",
  state = "/var/lib/weir/state.sqlite",
  listen = { "unix:/run/weir/weir.sock" },
  mode = "666", -- who may do what, "allow" says: others than root are refused but for that
  allow = { reader = "*" },
  limit = { user = 128, clients = 1024, reserve = 16 }, -- connections: of one user, of all, more for administrators
  log = "json",
}
