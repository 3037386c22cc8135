--- gres.lua - generic resources of Slurm's nodes: Gres= of a node, and the lines of gres.conf.

local lines = require "weir.machine.slurm.lines"
local tables = require "weir.tables"

local M = {}

local fail = lines.fail

local MOST = 10 -- warnings about one gres.conf

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

--- Reads a line of gres.conf. Returns {names = of nodes or nil for all, name =, kind =, count = or nil, detected =
--- whether the node finds its devices itself, place =}.
function M.record(line, place)
  local values = lines.pairs(line, place)
  local files = values.file and #lines.hosts(values.file, place, "File")
  local count = values.count and lines.whole(values.count, place, "Count", true)
  if files and count and files ~= count and not values.flags then
    fail(place, "Count=%s: File names %d devices", values.count, files)
  end
  local devices = count or files or values.multiplefiles and #lines.hosts(values.multiplefiles, place, "MultipleFiles")
  return { names = values.nodename and lines.hosts(values.nodename, place, "NodeName"), name = values.name and values.name:lower(),
    kind = values.type, count = devices, detected = values.autodetect and values.autodetect:lower() ~= "off", place = place }
end

-- Notes that a line of gres.conf contradicts slurm.conf about a node. Slurm's daemons log it, and keep what slurm.conf says.
-- notes: a list of {head, tail, node, more = the number of further nodes of which the same is to be said}.
local function note(notes, record, node, text, ...)
  local head, tail = ("%s:%d: "):format(record.place.file, record.place.line), text:format(...)
  local one = notes[head .. tail]
  if one then
    one.more = one.more + 1
    return
  end
  one = { head = head, node = node, tail = tail, more = 0 }
  notes[#notes + 1], notes[head .. tail] = one, one
end

-- Returns by node the records of each resource: {[name of the node] = {[name of the resource] = {record, ...}}}.
local function by_node(build, records, notes)
  local found = {}
  local function add(node, record)
    found[node] = found[node] or {}
    tables.push(found[node], record.name, record)
  end
  for _, record in ipairs(records) do
    if record.name and record.names then
      for _, name in ipairs(record.names) do
        local node = build.by_name[name]
        if not node and not build.future[name] then note(notes, record, name, "there is no such node in slurm.conf") end
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

local function refine_node(node, found, notes)
  local out = {}
  for _, one in ipairs(node.gres) do
    local list, devices, named, detected = found[one.name], 0, false, false
    if list then lines.count(list[1].place, #list, "Name") end
    for _, record in ipairs(list or {}) do
      if not one.kind or not record.kind or record.kind == one.kind then devices = devices + (record.count or 1) end
      named, detected = named or record.names ~= nil, detected or record.detected
    end
    -- a line for all nodes may list the devices of the largest one
    if list and not detected and (devices < one.count or devices > one.count and named) then
      note(notes, list[1], node.name, "%d %s here, and %d in %s:%d, which counts", devices,
        one.kind and one.name .. ":" .. one.kind or one.name, one.count, node.place.file, node.place.line)
    end
    if list and not one.kind then split(one, list, out) else out[#out + 1] = one end
  end
  node.gres = out
end

--- Takes the types of resources from the records of a gres.conf. What contradicts slurm.conf goes to Lua's warn.
function M.refine(build, records)
  if #records == 0 then return end
  local notes = {}
  local found = by_node(build, records, notes)
  for _, node in ipairs(build.nodes) do
    if found[node] then refine_node(node, found[node], notes) end
  end
  for _, one in ipairs(tables.first(notes, MOST)) do
    warn(one.head, one.node, one.more > 0 and (" and %d more nodes: "):format(one.more) or ": ", one.tail)
  end
  if #notes > MOST then warn(("%d more lines of gres.conf contradict slurm.conf"):format(#notes - MOST)) end
end

return M
