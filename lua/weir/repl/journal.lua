--- journal.lua - the changes of allocations in a session, so that undo() can revert the last change.
--
-- The journal follows match, release, grow and shrink of every engine while open. A restored job keeps the job
-- number, units and times; the policy of the original match is lost.

local core = require "weir.core"

local M = {}
M.__index = M

local MOST = 1000

-- Returns the id, times and picks of a job, to allocate again.
local function image(a)
  local picks = {}
  for i, pick in ipairs(a:vertices()) do picks[i] = { vertex = pick.vertex, amount = pick.amount } end
  return { id = a.id, at = a.at, duration = a.duration, picks = picks }
end

local function book(was)
  for _, pick in ipairs(was.picks) do
    local ok, why = pick.vertex:allocate { job = was.id, amount = pick.amount, start = was.at, duration = was.duration }
    if not ok then return nil, why end
  end
  return true
end

local function note(self, text, back)
  self[#self + 1] = { text = text, back = back }
  if #self > MOST then table.remove(self, 1) end
end

-- Restores a job to an earlier image.
local function restore(engine, original, was)
  if engine:job(was.id) then
    local ok, why = original.release(engine, was.id)
    if not ok then return nil, why end
  end
  return book(was)
end

local FOLLOW = {}

-- Returns a function that restores the state kept by the policy of an engine.
local function state_of(engine)
  local root, key = engine:resources():root(), "weir.policy." .. engine:policy()
  local kept = root and engine:state() and root.data[key]
  return function()
    if root and engine:state() then root.data[key] = kept end
  end
end

function FOLLOW.match(self, original, engine, request, opts)
  local restore_state = state_of(engine)
  local a, why, code = original.match(engine, request, opts)
  if type(a) == "userdata" and a.state ~= "matched" then
    local id = a.id
    note(self, ("job %d is taken back"):format(id), function()
      restore_state()
      return original.release(engine, id)
    end)
  end
  return a, why, code
end

function FOLLOW.release(self, original, engine, id)
  local a = engine:job(id)
  local was = a and image(a)
  local ok, why, code = original.release(engine, id)
  if ok and was then note(self, ("job %d has its resources again"):format(was.id), function() return book(was) end) end
  return ok, why, code
end

local function follow_change(name)
  FOLLOW[name] = function(self, original, engine, id, what)
    local a = engine:job(id)
    local was, restore_state = a and image(a), state_of(engine)
    local done, why, code = original[name](engine, id, what)
    if done and was then
      note(self, ("job %d is as it was"):format(was.id), function()
        restore_state()
        return restore(engine, original, was)
      end)
    end
    return done, why, code
  end
end
follow_change "grow"
follow_change "shrink"

--- Starts to follow all engines. Returns the journal.
function M.open()
  local self, methods = setmetatable({ original = {} }, M), core.methods "engine"
  for name, follow in pairs(FOLLOW) do
    self.original[name] = methods[name]
    methods[name] = function(...) return follow(self, self.original, ...) end
  end
  return self
end

--- Stops following.
function M:close()
  local methods = core.methods "engine"
  for name, f in pairs(self.original) do methods[name] = f end
end

--- Reverts the last change. Returns the description of the change; or nil and a reason.
function M:undo()
  local last = table.remove(self)
  if not last then return nil, "there is nothing to take back" end
  local ok, why = last.back()
  if not ok then return nil, "cannot be taken back: " .. tostring(why) end
  return last.text
end

return M
