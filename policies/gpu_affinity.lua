-- A core that feeds a gpu should sit beside the gpu. A domain (a NUMA domain or a socket) can hold as many slots as the
-- free cores and gpus allow: the choice takes from each domain only the units for these slots.
return {
  name = "gpu_affinity",
  doc = "Cores and gpus of one NUMA domain: no slot has its cores on one side of the node and its gpu on the other.",
  options = { domain = { default = "numanode+socket", doc = "types of domain, the best one first" } },
  order = { "node.id", "socket.id", "id" },
  select = { "beside", domain = "options.domain" },
}
