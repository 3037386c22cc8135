--- progress.lua - a line on the terminal about the progress of a replay and the time left. Nothing is shown where
--- standard error is no terminal.

local core = require "weir.core"

local M = {}

local EVERY, WIDTH = 0.2, 24

local function is_terminal() return core.is_terminal(2) end

local function duration(s)
  if s < 60 then return ("%d s"):format(s) end
  if s < 3600 then return ("%d:%02d min"):format(s // 60, s % 60) end
  return ("%d:%02d h"):format(s // 3600, s % 3600 // 60)
end

-- The number of jobs of a trace, from the header; nil if unknown.
local function total_of(trace)
  local header = trace.header or {}
  return trace.jobs or tonumber(header.MaxRecords) or tonumber(header.MaxJobs)
end

-- The line shown. done: jobs ended; all: jobs expected, or nil; elapsed: seconds of processor time.
function M.line(name, done, all, elapsed)
  local rate = elapsed > 0 and done / elapsed or 0
  if not all or all < done then return ("%s  %d jobs  %.0f/s"):format(name, done, rate) end
  local share = all > 0 and done / all or 1
  local full = math.floor(share * WIDTH)
  local left = rate > 0 and math.ceil((all - done) / rate) or 0
  return ("%s  [%s%s] %3d %%  %d of %d jobs  %.0f/s  %s left"):format(name, ("="):rep(full), (" "):rep(WIDTH - full),
    math.floor(share * 100), done, all, rate, duration(left))
end

--- Returns a function for a replay in a copy of the process (workers.lua), which reports {ended, expected} jobs from time
--- to time.
function M.teller(tell)
  local last, ended = os.clock(), 0
  return function(_, trace)
    ended = ended + 1
    if ended % 256 ~= 0 or os.clock() - last < EVERY then return end
    last = os.clock()
    tell { ended, total_of(trace) }
  end
end

--- Returns {progress, finished, done} for n replays in copies of the process, which share a line; nil where standard error
--- is no terminal. progress(i, {ended, expected}) takes a report; finished(i) counts replay i as over.
function M.several(name, n)
  if not is_terminal() then return nil end
  local began, ended, expected, over, shown = core.clock(), {}, {}, 0, false
  local function show()
    local jobs, all, known = 0, 0, 0
    for i = 1, n do
      jobs, all = jobs + (ended[i] or 0), all + (expected[i] or 0)
      if expected[i] then known = known + 1 end
    end
    all = known > 0 and math.ceil(all / known * n) or nil
    shown = true
    io.stderr:write("\r\27[K", M.line(("%s  %d of %d"):format(name, over, n), jobs, all, core.clock() - began))
    io.stderr:flush()
  end
  return {
    progress = function(i, value)
      ended[i], expected[i] = value[1], value[2]
      show()
    end,
    finished = function(i)
      over, ended[i] = over + 1, expected[i] or ended[i]
      show()
    end,
    done = function()
      if shown then io.stderr:write "\r\27[K" end
    end,
  }
end

--- Returns {tick, done}; nil where standard error is no terminal.
function M.new(name)
  if not is_terminal() then return nil end
  local began, last, ended, shown = os.clock(), os.clock(), 0, false
  local function tick(_, trace)
    ended = ended + 1
    if ended % 256 ~= 0 or os.clock() - last < EVERY then return end
    last, shown = os.clock(), true
    io.stderr:write("\r\27[K", M.line(name, ended, total_of(trace), last - began))
    io.stderr:flush()
  end
  local function done()
    if shown then io.stderr:write "\r\27[K" end
  end
  return { tick = tick, done = done }
end

return M
