-- Example of /etc/weir/serve.lua: options of weir serve. weir serve --help lists all options; the command line wins.
return {
  resources = "/etc/weir/machine.json",
  state = "/var/lib/weir/state.sqlite",
  listen = { "unix:/run/weir/weir.sock" },
  mode = "666", -- "allow" gives the permissions: users without a role are refused, except root
  allow = { reader = "*" },
  limit = { user = 128, clients = 1024, reserve = 16 }, -- connections: of a user, of all, in reserve for administrators
  log = "json",
}
