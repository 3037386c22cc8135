--- stream.lua - a recording of the acquisition protocol (RFC 28; weir serve --record) replayed in a scenario: the
--- machine has the targets acquired first, and targets come, go, and change state at the recorded times.
---
--- Jobs on targets taken by a shrink fail, as by the exception raised in a service; in the newer wording jobs run to
--- their end, and the target is removed afterwards. Jobs on offline targets continue.

local broker = require "weir.sim.broker"
local blame = require "weir.scenario.error_location"
local core = require "weir.core"
local files = require "weir.files"
local recording = require "weir.acquire.recording"
local rset = require "weir.rset"
local targets = require "weir.acquire.targets"

local M = {}

local fail = blame.fail

local function graph_of(R)
  local set, why = rset.new(R, "resources")
  local graph
  if set then graph, why = set:graph() end
  return graph or fail("scenario: stream: resources: %s", why)
end

local function set_of(text) return core.idset(text or "") end

-- ---- effects of responses -------------------------------------------------------------------------------------

local function put(self, what, state)
  for v in self.targets:each(set_of(what) & self.targets.all) do v.state = state end
end

-- Removes leaving targets without jobs; the rest is tried again when a job has ended.
local function sweep(self)
  broker.drop_reservations(self.s.sim)
  for target in (self.leaving & self.targets.all):ids() do
    if not next(self.targets:jobs(target)) then
      self.targets:unlink(target)
      self.leaving = self.leaving - core.idset { target }
    end
  end
end

local function take(self, what, fatal)
  local set = set_of(what) & self.targets.all
  put(self, what, "down")
  if fatal then
    for v in self.targets:each(set) do self.end_jobs_on(v) end
  end
  self.leaving = self.leaving | set
  sweep(self)
end

local function property(self, map, value)
  for name, what in pairs(map or {}) do
    for v in self.targets:each(set_of(what) & self.targets.all) do v.properties[name] = value end
  end
end

local function grow(self, response)
  local set = assert(rset.new(response.resources, "resources"))
  local all, up = set_of(set:ranks()), set_of(response.online or response.up)
  local part <close> = graph_of(response.resources)
  local ok, why = self.s.graph:merge(part)
  if not ok then fail("scenario: stream: %s", why) end
  self.targets:scan()
  put(self, tostring(all - up), "down")
  put(self, tostring(up), "up")
end

local TYPED = {
  shrink = function(self, r) take(self, r.targets, true) end,
  online = function(self, r) put(self, r.targets, "up") end,
  offline = function(self, r) put(self, r.targets, "down") end,
  grow = grow,
}

local function act(self, response)
  if TYPED[response.type] then return TYPED[response.type](self, response) end
  if response.resources then return grow(self, response) end
  take(self, response.shrink, false)
  put(self, response.down, "down")
  put(self, response.up, "up")
  property(self, response["property-add"], true)
  property(self, response["property-remove"], nil)
end

-- ---- from outside -----------------------------------------------------------------------------------------------

--- Reads a recording. Returns {graph =, begin =, entries =}; an unreadable recording ends the scenario.
function M.read(path)
  local text, why = files.read(path, "recording")
  local entries
  if text then entries, why = recording.read(text) end
  if not entries then fail("scenario: stream: %s: %s", path, why) end
  local responses = {}
  for _, entry in ipairs(entries) do
    if entry.response then responses[#responses + 1] = { at = entry.at or 0, response = entry.response } end
  end
  local first = responses[1] and responses[1].response
  if not first or type(first.resources) ~= "table" then fail("scenario: stream: %s: it does not begin with resources", path) end
  return { graph = graph_of(first.resources), first = table.remove(responses, 1), rest = responses }
end

--- Replays a recording in a scenario, from the recording's first time on. end_jobs_on(v) ends jobs on a vertex;
--- changed() is called after changes of the machine. Returns a function to be called when a job has ended, to remove
--- targets that waited for the end.
function M.follow(s, stream, end_jobs_on, changed)
  local self = { s = s, targets = targets.of(s.graph), leaving = core.idset(), end_jobs_on = end_jobs_on }
  local response = stream.first.response
  put(self, tostring(self.targets.all - set_of(response.online or response.up)), "down")
  for _, entry in ipairs(stream.rest) do
    s:at(s.sim.now + math.max(0, entry.at - stream.first.at), function()
      act(self, entry.response)
      changed()
    end)
  end
  return function()
    if self.leaving:empty() then return end
    s.sim:at(s.sim.now, function()
      sweep(self)
      changed()
    end)
  end
end

return M
