-- The engine enforces the caps: `admit` adds the watts of a node to every node of the jobspec, and the engine takes
-- units of the power subsystem from each panel and distribution unit up to the source, or the job waits. `evaluate`
-- prefers cool racks, and in equally cool racks the nodes below the panel with the most free power.
--
-- Use it under caps of power, on a machine whose panels and distribution units are a subsystem.
local has_power = false -- the graph has the subsystem

-- Adds `options.watts` to each node of a jobspec unless the node has a number of watts already.
local function add_watts(resources, options)
  for _, r in ipairs(resources) do
    if r.type == "node" then
      r.with = r.with or {}
      for _, inside in ipairs(r.with) do
        if inside.type == options.subsystem then return end
      end
      table.insert(r.with, { type = options.subsystem, count = options.watts })
    else
      add_watts(r.with or {}, options)
    end
  end
end

local function heat_of(v, options)
  local rack = v:ancestor "rack"
  return rack and tonumber(rack.tags[options.heat]) or 0
end

-- The least number of free watts on the path to the source.
local function spare(v, options)
  local smallest = math.huge
  for up in v:graph():walk { start = v, subsystem = options.subsystem, upward = true } do
    if up ~= v then smallest = math.min(smallest, up.free) end
  end
  return smallest
end

return {
  name = "power",
  doc = "Within the power caps of panels and pdus, the coolest rack first; adds the watts of each node to the request.",
  options = {
    watts = { default = 400, min = 1, doc = "the watts of a node if the jobspec has none" },
    subsystem = { default = "power", doc = "the subsystem of panels and pdus, whose sizes are watts" },
    heat = { default = "temperature", doc = "the tag of a rack with its temperature" },
  },
  init = function(graph, options)
    has_power = false
    for _, name in ipairs(graph:subsystems()) do has_power = has_power or name == options.subsystem end
  end,
  admit = function(jobspec, options)
    if not has_power then return end
    add_watts(jobspec.resources, options)
    return jobspec
  end,
  evaluate = function(v, request)
    local options = request.options
    local room = has_power and v.type == "node" and spare(v, options) or 0
    return -heat_of(v, options) * 1e9 + math.min(room, 1e8), v.type ~= "node" -- true: the heat, for all siblings
  end,
}
