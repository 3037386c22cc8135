-- A core that feeds a gpu should sit beside the gpu. A domain (a NUMA domain or a socket) can hold as many slots as the
-- free cores and gpus allow; `select` takes from each domain only the units for these slots.

-- The domain around v: of the first existing type in the option, else the node.
local function domain_of(v, options)
  for kind in options.domain:gmatch "[^+]+" do
    local domain = v:ancestor(kind)
    if domain then return domain end
  end
  return v:ancestor "node" or v
end

-- The number of slots held by the free cores and gpus of a domain.
local function slots_of(domain, slot)
  local _, cores = domain:below "core"
  local _, gpus = domain:below "gpu"
  return math.min(cores // math.max(1, slot.core), gpus // math.max(1, slot.gpu))
end

return {
  name = "gpu_affinity",
  doc = "Cores and gpus of one NUMA domain: no slot has its cores on one side of the node and its gpu on the other.",
  options = { domain = { default = "numanode+socket", doc = "types of domain, the best one first" } },
  order = { "node.id", "socket.id", "id" },
  select = function(candidates, request)
    local slot, type = request.slot, request.type
    if type ~= "core" and type ~= "gpu" or not (slot and slot.core and slot.gpu) then return nil end
    local left, good, rest = {}, {}, {}
    for i, v in ipairs(candidates) do
      local domain = domain_of(v, request.options)
      left[domain] = left[domain] or slots_of(domain, slot) * slot[type]
      left[domain] = left[domain] - 1
      table.insert(left[domain] >= 0 and good or rest, i)
    end
    return table.move(rest, 1, #rest, #good + 1, good)
  end,
}
