-- Two racks of two hosts, fed by two power distribution units, on one switch; three hierarchies.
uses "Node"
uses "Blade"

Hierarchy "default" {
  Resource{ "cluster", name = "tux", properties = { "small", owner = "ops" }, children = {
    Resource{ "rack", id = 0, children = {
      ListOf{ Node, ids = "1-2", args = {
        basename = "tux", sockets = { "0-3", "4-7" }, memory_per_socket = 64, tags = { max_bw = 80 } } } } },
    Resource{ "rack", id = 1, children = {
      ListOf{ Blade, ids = "3-4", args = { basename = "tux" } } } },
  } }
}

Hierarchy "default:/tux/rack1/tux3" { Resource{ "memory", count = 128, unit = "GB" } }

Hierarchy "power" {
  Resource{ "panel", name = "main", size = 1000, children = {
    Resource{ "pdu", id = "1", size = 500, children = {
      ListOf{ Node, ids = "1-2", args = { basename = "tux", sockets = { "0" }, size = 300 } } } },
    Resource{ "pdu", id = "2", size = 500, children = {
      ListOf{ Resource, ids = "3-4", args = { "node", "tux" } } } },
  } }
}

Hierarchy "network" {
  Resource{ "switch", name = "edge", children = {
    ListOf{ Resource, ids = "[1-4]", args = { "node", "tux", tags = { port = "lan" } } } } }
}
