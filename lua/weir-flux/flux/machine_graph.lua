--- machine_graph.lua - the graph of the machine of an instance: under "scheduling" in its R, or in the file of the setting load-file. A
-- graph that cannot be used is reported in the log, and the machine is that of R_lite; with as-fluxion it ends the scheduler, as it ends
-- Fluxion's, unless load-format is rv1exec_force.

local core = require "weir.core"
local fluxion_marks = require "weir.flux.fluxion_marks"
local nested = require "weir.flux.nested"
local weir = require "weir"

local M = {}

-- The formats of load-format, as weir.load knows them. A file without one is recognised by its content.
local FORMAT = { jgf = "jgf", jgf_shorthand = "jgf", grug = "grug", hwloc = "hwloc", rv1exec = "rv1", rv1exec_force = "rv1" }
local OF_FILES = { jgf = true, jgf_shorthand = true, grug = true, hwloc = true } -- those of no use without load-file

-- Says that a graph is not used. Returns true, or nil and the message where the scheduler is to end.
local function refuse(self, why, spared)
  if self.settings["as-fluxion"] == "true" and not spared then return nil, "Invalid argument: " .. why end
  self.log("err", why .. "; the machine is that of R_lite")
  return true
end

-- Gives an R the graph of the file of load-file, in place of its own. Returns true; or nil, message.
local function read_file(self, resources)
  local path, format = self.settings["load-file"], self.settings["load-format"]
  if not path then
    if not OF_FILES[format] or resources.scheduling then return true end
    return refuse(self, ("load-format=%s: there is no load-file, and the R of the instance has no graph"):format(format))
  end
  local file, missing = io.open(path)
  if not file then return refuse(self, ("opening %s: %s"):format(path, (missing:gsub("^.*: ", "", 1)))) end
  file:close()
  local graph, why = weir.load(path, { format = FORMAT[format or ""] })
  local text
  if graph then text, why = graph:format "rv1" end
  if not text then return refuse(self, ("error in reading %s string: %s"):format(format or "load-file", why)) end
  resources.scheduling = core.json_decode(text).scheduling
  return true
end

--- Makes the graph of the R of an instance, a table, fit to R_lite, or leaves it out. Returns true; or nil, message, after which the
--- scheduler is finished.
function M.take(self, resources)
  local ok, why = read_file(self, resources)
  if not ok then return nil, why end
  local marks = fluxion_marks.before(resources)
  nested.give_ranks(resources)
  nested.follow(resources)
  nested.complete(resources)
  why = nested.useless(resources)
  if not why then
    self.marks = marks and fluxion_marks.of(marks)
    return true
  end
  resources.scheduling = nil
  return refuse(self, ("the key scheduling in the R of the instance is not used: %s"):format(why),
    self.settings["load-format"] == "rv1exec_force")
end

return M
