--- instant.lua - the times of simulators, scenarios, queue policies and Flux: whole microseconds, as in the engine. An
--- instant is written as the number of seconds that is nearest to its microseconds. So equal instants are equal numbers,
--- and the later one is the larger number. A sum of seconds is no instant: 0.1 + 0.2
--- is larger than 0.3, and a job that ends at the one would not make room for a job that starts at the other. Whoever
--- adds times makes an instant of the sum.
---
--- From 4e9 seconds on (142 years) a number has no room for microseconds beside the seconds; instants are whole seconds
--- there.

local floor, type_of = math.floor, math.type

local M = {}

local COARSE = 4e9

--- Returns the instant nearest to a number of seconds; infinity is itself. instant.of(0.1 + 0.2) == 0.3
function M.of(seconds)
  if type_of(seconds) == "integer" then return seconds end
  if floor(seconds) == seconds then return seconds end
  if seconds >= COARSE then return floor(seconds + 0.5) end
  return floor(seconds * 1e6 + 0.5) / 1e6
end

--- Returns the instant so many seconds after another.
function M.after(instant, seconds) return M.of(instant + seconds) end

return M
