local hosts = { Resource{ "node", id = 0 }, Resource{ "node", id = 1 } }
Hierarchy "default" (Resource{ "cluster", children = hosts })
Hierarchy "cooling" { Resource{ "pump", children = hosts } }
