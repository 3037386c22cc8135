-- Jobs without gpus use nodes without gpus, and gpu nodes only when nothing else is free. Jobs with gpus fill gpu
-- nodes node by node, so that whole nodes stay free. `admit` runs before the search and notes for `evaluate` the kind
-- of job.
--
-- Use it on a cluster in which only some nodes have gpus.
local wants_gpu = false

local function asks_for_gpu(resources)
  for _, r in ipairs(resources) do
    if r.type == "gpu" or asks_for_gpu(r.with or {}) then return true end
  end
  return false
end

return {
  name = "packed_gpu_nodes",
  doc = "Keeps gpu nodes free of jobs without gpus, and fills gpu nodes one by one.",
  admit = function(jobspec) wants_gpu = asks_for_gpu(jobspec.resources) end,
  order = { "node.id", "id" },
  evaluate = function(v)
    local node = v.type == "node" and v or v:ancestor "node"
    if not node then return 0 end
    local total, free = node:below "gpu"
    return wants_gpu and -free or -total, node ~= v -- true: inside a node, the score holds for all siblings
  end,
}
