-- query.lua - weir query in memory: sessions on small machines, with their output.

local options = require "weir.query.options"
local session = require "weir.query.session"
local shell = require "weir.query.shell"

local M = { RULE = "INFO: =============================\n" }

-- ---- files --------------------------------------------------------------------------------------------------

local made = {}

--- Registers a file for removal by clean().
function M.made(name)
  made[#made + 1] = name
  return name
end

--- A file with a text.
function M.file(text)
  local name = M.made(os.tmpname())
  local f = assert(io.open(name, "w"))
  f:write(text)
  f:close()
  return name
end

--- Removes all files.
function M.clean()
  for _, name in ipairs(made) do os.remove(name) end
end

-- ---- machines and jobs --------------------------------------------------------------------------------------

local HEAD = [[<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="root" for="node" attr.name="root" attr.type="int"><default>0</default></key>
<key id="type" for="node" attr.name="type" attr.type="string"/>
<key id="basename" for="node" attr.name="basename" attr.type="string"/>
<key id="size" for="node" attr.name="size" attr.type="long"><default>1</default></key>
<key id="subsystem" for="node" attr.name="subsystem" attr.type="string"><default>containment</default></key>
<key id="e_subsystem" for="edge" attr.name="e_subsystem" attr.type="string"><default>containment</default></key>
<key id="gen_method" for="edge" attr.name="gen_method" attr.type="string"><default>MULTIPLY</default></key>
<key id="scale" for="edge" attr.name="multi_scale" attr.type="int"><default>1</default></key>
<key id="id_scope" for="edge" attr.name="id_scope" attr.type="int"><default>0</default></key>
<key id="id_start" for="edge" attr.name="id_start" attr.type="int"><default>0</default></key>
<key id="id_stride" for="edge" attr.name="id_stride" attr.type="int"><default>1</default></key>
<graph id="G" edgedefault="directed">
]]

local function data(fields)
  local parts = {}
  for key, value in pairs(fields) do parts[#parts + 1] = ('<data key="%s">%s</data>'):format(key, value) end
  return table.concat(parts)
end

--- A recipe that resource-query reads too, so that each vertex has an id of its own: nodes {id, fields} and edges {source, target, fields}.
function M.recipe(nodes, edges)
  local lines = { HEAD }
  for _, n in ipairs(nodes) do
    n[2].basename = n[2].basename or n[2].type
    lines[#lines + 1] = ('<node id="%s">%s</node>'):format(n[1], data(n[2]))
  end
  for i, e in ipairs(edges) do
    lines[#lines + 1] = ('<edge id="e%d" source="%s" target="%s">%s</edge>'):format(i, e[1], e[2], data(e[3] or {}))
  end
  return table.concat(lines, "\n") .. "</graph></graphml>"
end

--- cluster0 with two nodes of two cores and 8 GB each.
M.RECIPE = M.recipe({
  { "c", { root = 1, type = "cluster" } }, { "n", { type = "node" } }, { "k", { type = "core" } },
  { "m", { type = "memory", size = 8 } },
}, { { "c", "n", { scale = 2 } }, { "n", "k", { scale = 2 } }, { "n", "m" } })

--- A jobspec in a file.
function M.job(resources, duration, more)
  return M.file(([[{"version": 9999, "resources": %s, "tasks": [{"command": ["a"], "slot": "s", "count": {"per_slot": 1}}],
    "attributes": {"system": {"duration": %s%s}}}]]):format(resources, duration or 60, more or ""))
end

function M.slot(inner) return ('[{"type": "slot", "count": 1, "label": "s", "with": [%s]}]'):format(inner) end

-- ---- sessions -----------------------------------------------------------------------------------------------

--- A file in memory, to be written to.
function M.sink()
  return {
    text = "",
    write = function(self, ...) self.text = self.text .. table.concat({ ... }) end,
    flush = function() end,
  }
end

--- Runs commands. Returns the text of the file of -t, the screen, the errors, and the session after a check of its
-- schedules.
function M.run(words, commands, machine)
  local o = assert(options.read(words))
  o.load_file = o.load_file or machine or M.file(M.RECIPE)
  local s = assert(session.new(o))
  local out, screen, errors = M.sink(), M.sink(), M.sink()
  assert(shell.new(s, { out = out, screen = screen, errors = errors }):loop(commands:gmatch "[^\n]+"))
  assert(s.machine.graph:check())
  return out.text, screen.text, errors.text, s
end

return M
