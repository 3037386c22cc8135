--- queues.lua - the queues of a machine, which slurm.conf calls partitions. They are kept in `data` of the root of
--- containment, so that JGF and databases keep them:
---
---   data.queues = { batch = { requires = {"batch"}, max_time = 86400, priority_tier = 1 } }
---   data.consumption = { unit = "core", memory = true, cpus_per_core = 2 }
---
--- A queue has: requires, the properties that each node of the queue has; default, true for the queue of jobs that name no
--- queue; state, "up" unless "down", "drain" or "inactive"; exclusive, true where jobs get whole nodes; max_time and
--- default_time in seconds; min_nodes, max_nodes; accounts and qos, the accounts and the QOS admitted, not_accounts, the
--- accounts refused (without a list all are admitted); priority_tier and priority_job_factor; cpus_per_core, the number of
--- processors that count as a core.

local M = {}

local FIELDS = { "requires", "default", "state", "exclusive", "max_time", "default_time", "min_nodes", "max_nodes", "accounts",
  "not_accounts", "qos", "priority_tier", "priority_job_factor", "cpus_per_core" }

--- Keeps queues by name, and what jobs are given, in the data of a root.
function M.set(root, queues, consumption)
  local kept = {}
  for name, queue in pairs(queues) do
    local one = {}
    for _, field in ipairs(FIELDS) do one[field] = queue[field] end
    kept[name] = one
  end
  if next(kept) then root.data.queues = kept end
  if consumption then root.data.consumption = consumption end
end

--- Returns the queues of a graph by name, and what jobs are given; empty tables where the machine has none.
function M.of(graph)
  local root = graph:roots()[1]
  if not root then return {}, {} end
  local kept, consumption = root.data.queues, root.data.consumption
  return type(kept) == "table" and kept or {}, type(consumption) == "table" and consumption or {}
end

return M
