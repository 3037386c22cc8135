-- A core that feeds a gpu should sit beside the gpu. `admit` reads from the jobspec how many cores and gpus a slot
-- needs. A domain (a NUMA domain or a socket) can hold as many slots as the free cores and gpus allow; `select` takes
-- from each domain only the units for these slots.
local wanted = {} -- type -> number in one slot

-- Fills `wanted` from the resources of a jobspec; `inside` is true below a slot.
local function learn(resources, inside)
  for _, r in ipairs(resources) do
    local slot = inside or r.type == "slot"
    local count = type(r.count) == "table" and r.count.min or r.count
    if slot and (r.type == "core" or r.type == "gpu") then wanted[r.type] = math.tointeger(count) or 1 end
    learn(r.with or {}, slot)
  end
end

-- The domain around v: of the first existing type in the option, else the node.
local function domain_of(v, options)
  for kind in options.domain:gmatch "[^+]+" do
    local domain = v:ancestor(kind)
    if domain then return domain end
  end
  return v:ancestor "node" or v
end

-- The number of slots held by the free cores and gpus of a domain.
local function slots_of(domain)
  local _, cores = domain:below "core"
  local _, gpus = domain:below "gpu"
  return math.min(cores // math.max(1, wanted.core or 0), gpus // math.max(1, wanted.gpu or 0))
end

return {
  name = "gpu_affinity",
  doc = "Cores and gpus of one NUMA domain: no slot has its cores on one side of the node and its gpu on the other.",
  options = { domain = { default = "numanode+socket", doc = "types of domain, the best one first" } },
  admit = function(jobspec)
    wanted = {}
    learn(jobspec.resources)
  end,
  order = { "node.id", "socket.id", "id" },
  select = function(candidates, request)
    local each = wanted[request.type]
    if not (each and wanted.core and wanted.gpu) then return nil end
    local left, good, rest = {}, {}, {}
    for i, v in ipairs(candidates) do
      local domain = domain_of(v, request.options)
      left[domain] = left[domain] or slots_of(domain) * each
      left[domain] = left[domain] - 1
      table.insert(left[domain] >= 0 and good or rest, i)
    end
    return table.move(rest, 1, #rest, #good + 1, good)
  end,
}
