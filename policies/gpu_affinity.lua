-- A core that feeds a gpu should be close to the gpu. A domain (a NUMA domain or a socket) can hold as many slots as the
-- free cores and gpus allow: the choice takes from each domain only the units for these slots.
--
-- Use it for jobs whose slots have cores and gpus, on nodes with more than one socket or NUMA domain.
return {
  name = "gpu_affinity",
  doc = "Cores and gpus of a slot from one NUMA domain or socket.",
  options = { domain = { default = "numanode+socket", doc = "types of domain, best first" } },
  order = { "node.id", "socket.id", "id" },
  select = { "beside", domain = "options.domain" },
}
