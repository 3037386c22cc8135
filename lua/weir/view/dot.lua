--- dot.lua - writes a machine as a Graphviz digraph, from left to right.
---
--- A box is a vertex, or several identical vertices: "core[0-39] x40"; below a box of several vertices, ids are left out:
--- "core x40". The fill shows the use; the words name the job and the state. Arrows of subsystems other than
--- containment are dashed, with a colour for each subsystem. Names stay inside their quotes, with any characters in
--- a name.

local boxes = require "weir.view.boxes"
local core = require "weir.core"
local own_name = require "weir.plain".own_name
local texts = require "weir.texts"

local plain = texts.plain

local M = {}

local IDS_MAX = 40 -- limit for the bytes of a list of ids
local ID_MAX = 0xFFFFFFFE -- limit for the ids of an idset
local TYPES_TOLD = 4

-- Colours for subsystems, distinct with any kind of colour vision.
local COLOURS = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f" }

local FILLS = { free = "", part = ' fillcolor="#d6e6f4"', used = ' fillcolor="#8fbfe3"' }
local OUT = ' style="rounded,filled,dashed" fillcolor="%s"'

-- ---- labels -----------------------------------------------------------------------------------------------------

-- Returns a text of a label. Backslashes are doubled, as Graphviz replaces \N, \G and the like.
local function escape(text) return (plain(text):gsub('["\\]', "\\%0")) end

-- Appends the ids of a vertex and of identical neighbours to a list. Returns false where the vertex has a name of its own,
-- or an id that no idset has.
local function add_ids(ids, v, n)
  local first, step = v.handle and v.handle.id or v.run.id + v.i * v.run.step, v.run.step
  if v.handle and (not v.handle.id or own_name(v.handle)) then return false end
  for k = 0, n - 1 do ids[#ids + 1] = first + k * step end
  return first >= 0 and math.max(first, ids[#ids]) <= ID_MAX
end

-- Returns the ids of the vertices of a box as "[0-39]", cut at a comma where the list is long; nil where add_ids()
-- refuses a vertex.
local function ids_of(box)
  local ids = {}
  for _, member in ipairs(box.members) do
    if not add_ids(ids, member[1], member[2]) then return nil end
  end
  local text = tostring(core.idset(ids))
  if #text <= IDS_MAX then return "[" .. text .. "]" end
  return "[" .. (text:sub(1, IDS_MAX):match "^.*," or text) .. "...]"
end

local function name_of(box)
  local v, n = box.v, box.n
  local count = n > 1 and " x" .. n or ""
  if box.loose then return escape(v.kind.basename) .. count end
  local ids = n > 1 and ids_of(box)
  if ids then return escape(v.kind.basename) .. ids .. count end
  local name = v.handle and v.handle.name or v.kind.basename .. v.run.id + v.i * v.run.step
  return escape(name) .. (n > 1 and ", ..." or "") .. count
end

-- Returns the size of a pool, such as "64 GB" or "24 of 64 GB in use", or nil where there is none.
local function size_of(f, box)
  local size, unit, used = box.v.kind.size, box.v.kind.unit, box.look.units
  if size == 1 and unit == "" then return nil end
  local text = size .. (unit ~= "" and " " .. escape(unit) or "")
  if box.look.use ~= "part" or f.shapes or box.v.shape.count > 0 or used == 0 then return text end
  return ("%d of %s in use"):format(used, text)
end

-- Returns the only job on the first vertex of a box, or else on the nearest ancestor in use; nil if there are several
-- jobs or none.
local function only_job(box)
  while box.look.n == 0 and box.parent do box = box.parent end
  return box.look.job
end

local function use_text(f, box)
  if box.look.use == "part" and box.v.shape.count > 0 then return "partly in use" end
  if box.look.use ~= "used" then return nil end
  local job = not f.shapes and only_job(box)
  return job and texts.holder(job) or "in use"
end

-- Returns the resources below a cut box, such as "40 core, 4 gpu".
local function rest_of(f, v)
  local words, totals = {}, v.shape.totals
  for _, type in ipairs(f.types) do
    local n = totals[type] or 0
    if n > 0 and #words < TYPES_TOLD then words[#words + 1] = ("%d %s"):format(n, escape(type)) end
  end
  return #words > 0 and table.concat(words, ", ") or nil
end

local function label_of(f, box)
  local lines = { name_of(box) }
  lines[#lines + 1] = size_of(f, box)
  lines[#lines + 1] = use_text(f, box)
  lines[#lines + 1] = box.look.state ~= "up" and box.look.state or nil
  lines[#lines + 1] = box.cut and rest_of(f, box.v) or nil
  return table.concat(lines, "\\n")
end

-- ---- boxes and arrows -------------------------------------------------------------------------------------------

local function looks_of(box)
  local fill = box.look.out and OUT:format(box.look.use == "used" and "#8fa3b5" or "#d0d7de") or FILLS[box.look.use]
  return fill .. (box.look.state == "degraded" and ' color="#b7791f" penwidth=2' or "")
end

local function number_of(box) return box.v.p end

local function write_boxes(f, list, above, out)
  for _, box in ipairs(list) do
    if above then out[#out + 1] = ("  v%d -> v%d;\n"):format(number_of(above), number_of(box)) end
    out[#out + 1] = ('  v%d [label="%s"%s];\n'):format(number_of(box), label_of(f, box), looks_of(box))
    write_boxes(f, box.kids, box, out)
  end
end

-- Returns a list of arrows {source =, target =, subsystem =, type =, n = edges}. Edges between equal boxes share an
-- arrow.
local function arrows_of(f, g)
  local list, known = {}, {}
  for e in g:edges() do
    local source, target = boxes.box_of(f, e.source), boxes.box_of(f, e.target)
    if source and target then
      local key = ("%d %d %s\0%s"):format(number_of(source), number_of(target), e.subsystem, e.type)
      local arrow = known[key]
      if not arrow then
        arrow = { source = source, target = target, subsystem = e.subsystem, type = e.type, n = 0 }
        known[key], list[#list + 1] = arrow, arrow
      end
      arrow.n = arrow.n + 1
    end
  end
  return list
end

local function write_arrows(f, g, out)
  local colours = {}
  for i, name in ipairs(g:subsystems()) do colours[name] = COLOURS[(i - 2) % #COLOURS + 1] end
  for _, a in ipairs(arrows_of(f, g)) do
    local colour = colours[a.subsystem]
    out[#out + 1] = ('  v%d -> v%d [style=dashed color="%s" fontcolor="%s" label="%s: %s%s"];\n'):format(number_of(a.source),
      number_of(a.target), colour, colour, escape(a.subsystem), escape(a.type), a.n > 1 and " x" .. a.n or "")
  end
end

-- ---- the graph --------------------------------------------------------------------------------------------------

local HEAD = [[
digraph weir {
  graph [rankdir=LR nodesep=0.12 ranksep=0.4];
  node [shape=box style="rounded,filled" fillcolor=white color="#8c959f" fontname="Helvetica" fontsize=11 height=0.3 margin="0.12,0.05"];
  edge [color="#8c959f" arrowsize=0.6 fontname="Helvetica" fontsize=9];
]]

--- Returns the text of a graph. opts: start (a vertex: only the vertex and everything below), all (a box for every
--- vertex). Boxes are named by the number of the first vertex in preorder.
function M.text(g, opts)
  local f, out = boxes.of(g, opts.start, opts.all), { HEAD }
  f.types = g:types()
  write_boxes(f, f.top.kids, nil, out)
  write_arrows(f, g, out)
  out[#out + 1] = "}\n"
  return table.concat(out)
end

return M
