--- machine/slurm - machines as Slurm describes them: slurm.conf with the files next to it, and what `scontrol show
--- node` prints.

local description = require "weir.machine.description"
local failure = require "weir.failure"

local M = {}

-- Whether a text is what scontrol prints: the first record continues with Arch= or CoresPerSocket= and has CPUAlloc=.
local function printed(text)
  local record = text:match "^%s*NodeName=%S+(.-)\n%s*NodeName=" or text:match "^%s*[NP]%a+Name=%S+(.*)$"
  return record ~= nil and (record:find("CPUAlloc=", 1, true) or record:find("AllocNodes=", 1, true)) ~= nil
end

--- Whether the beginning of a text looks like one of these files: a line begins with a key that only Slurm has.
function M.is(text)
  text = "\n" .. text
  for _, key in ipairs { "NodeName", "ClusterName", "PartitionName", "SlurmctldHost", "ControlMachine" } do
    local pattern = key:gsub("%a", function(c) return ("[%s%s]"):format(c:upper(), c:lower()) end)
    if text:find("\n[ \t]*" .. pattern .. "[ \t]*=") then return true end
  end
  return text:find "\n[ \t]*[Ii]nclude[ \t]+%S" ~= nil
end

--- Builds a graph from a text. `name`: the name of the text in errors, next to which further files are looked for.
--- Returns the graph; or nil, message, code.
function M.parse(text, name)
  local reader = require(printed(text) and "weir.machine.slurm.scontrol" or "weir.machine.slurm.conf")
  local read, why, code = failure.caught("parse", reader.read, text, name)
  if not read then return nil, why, code end
  local graph
  graph, why, code = description.build(read)
  if graph then return graph end
  return nil, ("%s: %s"):format(name, why), code
end

return M
