--- gres.lua - generic resources of Slurm's nodes: Gres= of a node, and the lines of gres.conf.

local lines = require "weir.machine.slurm.lines"
local tables = require "weir.tables"

local M = {}

local fail = lines.fail

--- Reads Gres=, such as "gpu:a100:4,nvme:no_consume:2T" or scontrol's "gpu:tesla:2(S:0-1)". Returns a list of {name =,
--- kind = the type or nil, count =}; resources that jobs do not consume are left out.
function M.parse(text, place)
  local list = {}
  for _, item in ipairs(lines.items((text:gsub("%b()", "")))) do
    if item:lower() ~= "none" and item ~= "(null)" then
      local words = tables.collect(item:gmatch "[^:]+")
      local one = { name = words[1]:lower(), count = 1 }
      for i = 2, #words do
        if words[i]:find "^%d" then
          one.count = lines.whole(words[i], place, "Gres", true)
        elseif words[i]:lower() == "no_consume" then
          one.shared = true
        else
          one.kind = words[i]
        end
      end
      if not one.shared then list[#list + 1] = one end
    end
  end
  return list
end

--- Reads a line of gres.conf. Returns {names = of nodes or nil for all, name =, kind =, count = or nil, place =}.
function M.record(line, place)
  local values = lines.pairs(line, place)
  local files = values.file and #lines.hosts(values.file, place, "File")
  local count = values.count and lines.whole(values.count, place, "Count", true)
  if files and count and files ~= count and not values.flags then
    fail(place, "Count=%s: File names %d devices", values.count, files)
  end
  return { names = values.nodename and lines.hosts(values.nodename, place, "NodeName"), name = values.name and values.name:lower(),
    kind = values.type, count = count or files or values.multiplefiles and #lines.hosts(values.multiplefiles, place, "MultipleFiles"),
    place = place }
end

-- Returns by node the records of each resource: {[name of the node] = {[name of the resource] = {record, ...}}}.
local function by_node(build, records)
  local found = {}
  local function add(node, record)
    found[node] = found[node] or {}
    tables.push(found[node], record.name, record)
  end
  for _, record in ipairs(records) do
    if record.name and record.names then
      for _, name in ipairs(record.names) do
        local node = build.by_name[name]
        if not node and not build.future[name] then fail(record.place, 'NodeName=%s: there is no such node in slurm.conf', name) end
        if node then add(node, record) end
      end
    elseif record.name then
      lines.count(record.place, #build.nodes, "Name")
      for _, node in ipairs(build.nodes) do add(node, record) end
    end
  end
  return found
end

-- Gives a resource without a type the types that gres.conf has for it.
local function split(one, list, out)
  local left = one.count
  for _, record in ipairs(list) do
    local n = record.kind and math.min(record.count or 1, left) or 0
    if n > 0 then
      out[#out + 1] = { name = one.name, kind = record.kind, count = n }
      left = left - n
    end
  end
  if left > 0 then out[#out + 1] = { name = one.name, count = left } end
end

local function refine_node(node, found)
  local out = {}
  for _, one in ipairs(node.gres) do
    local list, devices = found[one.name], 0
    if list then lines.count(list[1].place, #list, "Name") end
    for _, record in ipairs(list or {}) do
      if not one.kind or not record.kind or record.kind == one.kind then devices = devices + (record.count or 1) end
    end
    if list and devices > 0 and devices < one.count then
      fail(list[1].place, "%s has %d of %s here, and %d in %s:%d", node.name, devices, one.name, one.count, node.place.file,
        node.place.line)
    end
    if list and not one.kind then split(one, list, out) else out[#out + 1] = one end
  end
  node.gres = out
end

--- Takes the types of resources from the records of a gres.conf. Fails where a node has fewer devices than its line says.
function M.refine(build, records)
  if #records == 0 then return end
  local found = by_node(build, records)
  for _, node in ipairs(build.nodes) do
    if found[node] then refine_node(node, found[node]) end
  end
end

return M
