--- workers.lua - runs tasks side by side, each in a forked copy of the process. Results come in the order of the tasks,
--- and do not depend on the number of copies that run at once.
---
---   local list, why = workers.map({ 1, 2, 3 }, function(x) return { square = x * x } end)
---   print(list[3].square) --> 9
---
--- A copy writes frames, a line of JSON each: {"progress": value}, {"done": value}, {"failed": {message, code}} or {"raised":
--- message}.
---
--- Invariant: no copy outlives the call of map(), however the call ends: the list of copies is closed.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

local MOST, WAIT = 256, 3600 -- copies at once, as core.any_ready takes; seconds of a wait, after which the wait continues

-- ---- in the copy ------------------------------------------------------------------------------------------------

-- Runs a task, and writes the frames.
local function work_in_copy(work, task, write)
  local function frame(name, value) write(core.json_encode { [name] = value } .. "\n") end
  local ok, value, why, code = pcall(work, task, function(progress) frame("progress", progress) end)
  if not ok then return frame("raised", tostring(value)) end
  if value == nil then return frame("failed", { tostring(why), code }) end
  frame("done", value)
end

-- ---- in the parent ----------------------------------------------------------------------------------------------

-- Handles a frame of the copy at work on task i.
local function handle(self, run, line)
  local frame = assert(core.json_decode(line))
  if frame.progress ~= nil then
    if self.progress then self.progress(run.i, frame.progress) end
    return
  end
  run.over = true
  if frame.done ~= nil then
    self.results[run.i] = frame.done
    if self.done then self.done(run.i, frame.done) end
  else
    local failed = frame.failed or { frame.raised }
    self.wrong[run.i] = { failed[1], code = failed[2], raised = frame.raised ~= nil }
  end
end

-- Splits what a copy has written into lines.
local function take(self, run, piece)
  local at = 1
  while true do
    local stop = piece:find("\n", at, true)
    run.parts[#run.parts + 1] = piece:sub(at, (stop or 0) - 1)
    if not stop then return end
    local line = table.concat(run.parts)
    run.parts, at = {}, stop + 1
    handle(self, run, line)
  end
end

-- Removes the copy at index k of the list.
local function remove(self, k)
  local run = table.remove(self.runs, k)
  local _ <close> = table.remove(self.children, k)
  if not run.over then
    self.wrong[run.i] = { "the process that worked on it has ended without a result (was it killed, or is memory short?)" }
  end
end

-- Reads from the first copy that has something to report.
local function listen(self)
  local k = core.any_ready(self.children, WAIT)
  if not k then return end
  local piece = self.children[k]:read()
  if piece then take(self, self.runs[k], piece) else remove(self, k) end
end

-- Starts a copy for task i.
local function start(self, work, i, task)
  local child, why = core.worker(function(write) work_in_copy(work, task, write) end)
  if not child then
    self.wrong[i] = { why }
    return
  end
  self.children[#self.children + 1], self.runs[#self.runs + 1] = child, { i = i, parts = {} }
end

local function kill_all(children)
  for _, child in ipairs(children) do child:kill() end
  for _, child in ipairs(children) do
    local _ <close> = child
  end
end

-- The number of the first task that failed; nil for none.
local function first_wrong(self)
  local first
  for i in pairs(self.wrong) do first = math.min(first or i, i) end
  return first
end

--- Calls work(task, tell) for each task, in copies of the process. work returns a value that JSON can hold, other than
--- null; or nil, message, code; tell reports a value to opts.progress. Returns the list of the values; or nil, message,
--- the number of the first task that failed, when the tasks before have been done, and its code. Raises what work raises. opts:
---   workers   copies at once; as many as there are processors
---   progress(i, value)   called here with each report of task i
---   done(i, value)   called here with the value of task i, in the order in which the tasks end
function M.map(tasks, work, opts)
  opts = opts or {}
  local most = math.min(opts.workers or core.processors(), MOST)
  local self = { results = {}, wrong = {}, runs = {}, progress = opts.progress, done = opts.done,
    children = setmetatable({}, { __close = kill_all }) }
  local _ <close> = self.children
  local next_task, failed = 1, nil
  while true do
    while not failed and next_task <= #tasks and #self.runs < most do
      start(self, work, next_task, tasks[next_task])
      next_task, failed = next_task + 1, first_wrong(self)
    end
    local earlier = failed and tables.any(self.runs, function(run) return run.i < failed end)
    if #self.runs == 0 or failed and not earlier then break end
    listen(self)
    failed = first_wrong(self)
  end
  if not failed then return self.results end
  local wrong = self.wrong[failed]
  if wrong.raised then error(wrong[1], 0) end
  return nil, wrong[1], failed, wrong.code
end

return M
