std = "lua54"
max_line_length = 140
files["spec"] = { std = "+busted" }
exclude_files = { "spec/data" }
-- What an RDL file, and the types for it, can say.
files["lua/weir/machine/rdl"] = {
  globals = { "Resource", "ListOf", "Hierarchy", "Node", "Socket", "uses", "fail", "each_cpu", "unpack", "print" },
}
