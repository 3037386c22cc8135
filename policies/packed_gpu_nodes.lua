-- Jobs without gpus go where there are none, and fill gpu nodes only when nothing else is left; jobs with gpus fill one
-- gpu node after the other, so that whole ones stay free.
local wants_gpu = false

local function asks_for_gpu(resources)
  for _, r in ipairs(resources) do
    if r.type == "gpu" or asks_for_gpu(r.with or {}) then return true end
  end
  return false
end

return {
  name = "packed_gpu_nodes",
  doc = "Keeps gpu nodes free of jobs that want no gpu, and packs those that do.",
  admit = function(jobspec) wants_gpu = asks_for_gpu(jobspec.resources) end,
  order = { "node.id", "id" },
  evaluate = function(v)
    local node = v.type == "node" and v or v:ancestor "node"
    if not node then return 0 end
    local total, free = node:below "gpu"
    return wants_gpu and -free or -total
  end,
}
