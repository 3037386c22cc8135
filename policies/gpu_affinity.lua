-- A core that feeds a gpu should sit beside it. What one slot wants is learnt from the jobspec; a domain (a NUMA domain,
-- or a socket) is good for as many slots as it has cores and gpus for, and gives only what these take.
local wanted = {} -- type -> how many in one slot

local function learn(resources, inside)
  for _, r in ipairs(resources) do
    local slot = inside or r.type == "slot"
    local count = type(r.count) == "table" and r.count.min or r.count
    if slot and (r.type == "core" or r.type == "gpu") then wanted[r.type] = math.tointeger(count) or 1 end
    learn(r.with or {}, slot)
  end
end

local function domain_of(v, options)
  for kind in options.domain:gmatch "[^+]+" do
    local domain = v:ancestor(kind)
    if domain then return domain end
  end
  return v:ancestor "node" or v
end

-- How many slots what is free in a domain is enough for.
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
