--- journal.lua - the changes of a session, so that undo() can revert all changes of the last input that made any.
--
-- The journal follows match, release, grow and shrink of every engine while open, and every assignment to a vertex: a
-- state, a tag, a property, data. A restored job keeps the job number, units and times; the policy of the original
-- match is lost. Before other changes, of the structure or of allocations, the journal keeps a duplicate of the
-- machine, and undo() gives the session that machine: handles of the changed one stay with the changed one.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}
M.__index = M

local MOST = 1000

-- Returns the id, times and picks of a job, to allocate again.
local function image(a)
  local picks = tables.map(a:vertices(), function(pick) return { vertex = pick.vertex, amount = pick.amount } end)
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
  if self.reverting then return end
  self[#self + 1] = { text = text, back = back, input = self.session and self.input or {} }
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
  if type(engine) ~= "userdata" then return function() end end -- the method raises
  local _, policy = engine:policy()
  local root, key = engine:resources():root(), policy and policy.state_key
  local kept = root and key and root.data[key]
  return function()
    if root and key then root.data[key] = kept end
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

-- Returns the image of a job; nil for wrong arguments, which the method reports.
local function image_of(engine, id)
  local known, a = pcall(function() return engine:job(id) end)
  return known and a and image(a) or nil
end

function FOLLOW.release(self, original, engine, id, ...)
  local was = image_of(engine, id)
  local ok, why, code = original.release(engine, id, ...)
  if ok and was then note(self, ("job %d has its resources again"):format(was.id), function() return book(was) end) end
  return ok, why, code
end

local function follow_change(name)
  FOLLOW[name] = function(self, original, engine, id, what)
    local was, restore_state = image_of(engine, id), state_of(engine)
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

-- ---- assignments to vertices ------------------------------------------------------------------------------------

-- Returns the metamethod of assignments to vertices and to views of vertices, which notes the earlier value.
local function follow_assignments(self, original)
  return function(x, key, value)
    local known, was = pcall(function() return x[key] end)
    original(x, key, value)
    if not known then return end
    note(self, ("%s.%s is %s again"):format(tostring(x), tostring(key), tostring(was)), function()
      x[key] = was
      return true
    end)
  end
end

-- ---- other changes ----------------------------------------------------------------------------------------------

local CHANGES = {
  graph = { "add", "add_edge", "merge", "unlink", "advance" },
  vertex = { "allocate", "release" },
}

-- Keeps a duplicate of the session's machine, one for each input.
local function keep_machine(self, what)
  local session, last = self.session, self[#self]
  if self.reverting or last and last.machine and last.input == self.input then return end
  local kept = session.graph:dup()
  if not kept then return end
  note(self, ("the machine is as it was before %s"):format(what), function() return session:take(kept) end)
  self[#self].machine = true
end

-- Returns a method that keeps a duplicate of the session's machine before a change of that machine.
local function follow_structure(self, class, name, original)
  return function(x, ...)
    local graph = class == "graph" and x or x:graph()
    if self.session and graph == self.session.graph then keep_machine(self, name) end
    return original(x, ...)
  end
end

-- ---- the journal ------------------------------------------------------------------------------------------------

-- Puts a function in place of a field of a table until the journal closes.
local function replace(self, t, name, f)
  self.replaced[#self.replaced + 1] = { t = t, name = name, original = t[name] }
  t[name] = f
end

--- Starts to follow all engines and the machine of a session; without a session all engines, and each change is an
--- input of its own. Returns the journal.
function M.open(session)
  local self, methods = setmetatable({ original = {}, replaced = {}, session = session, input = 0 }, M), core.methods "engine"
  for name, follow in pairs(FOLLOW) do
    self.original[name] = methods[name]
    replace(self, methods, name, function(...) return follow(self, self.original, ...) end)
  end
  for class, names in pairs(CHANGES) do
    local own = core.methods(class)
    for _, name in ipairs(names) do replace(self, own, name, follow_structure(self, class, name, own[name])) end
  end
  local mt = debug.getregistry()["weir.vertex"]
  replace(self, mt, "__newindex", follow_assignments(self, mt.__newindex))
  return self
end

--- Marks the begin of a new input: undo() reverts the changes of one input.
function M:begin() self.input = self.input + 1 end

--- Stops following.
function M:close()
  for i = #self.replaced, 1, -1 do
    local r = self.replaced[i]
    r.t[r.name] = r.original
  end
  self.replaced = {}
end

local function revert(self, last)
  self.reverting = true
  local ok, done, why = pcall(last.back)
  self.reverting = nil
  if not ok then done, why = nil, done end
  if not done then return nil, "cannot be taken back: " .. tostring(why) end
  return last.text
end

--- Reverts the changes of the last input that made changes, the last change first. Returns the descriptions of the
--- changes; or nil and a reason.
function M:undo()
  local input, texts = self[#self] and self[#self].input, {}
  while #self > 0 and self[#self].input == input do
    local text, why = revert(self, table.remove(self))
    if not text then return nil, why end
    texts[#texts + 1] = text
  end
  if #texts == 0 then return nil, "there is nothing to take back" end
  if #texts > 4 then return ("%s, and %d more"):format(table.concat(texts, "; ", 1, 3), #texts - 3) end
  return table.concat(texts, "; ")
end

return M
