-- Each hook of a policy fails in each way: the error names the policy, the hook, and the file and line that Lua knows, and is
-- whole. Policies from a file run in a sandbox; tables of the caller's own run in the caller's state.
local core = require "weir.core"
local shell = require "spec.support.shell"
local sim = require "weir.sim"
local weir = require "weir"

after_each(shell.clean)

-- {name, the code of a hook, the message; %L: the line of the code}
local ERRORS = {
  { "an error with a text", "error 'oh'", "%L: oh" },
  { "an error without a place", "error('oh', 0)", "%L: oh" },
  { "an error with a zero byte", "error 'a\\0b'", "%L: a\\0b" },
  { "an error with a zero byte, without a place", "error('a\\0b: c', 0)", "%L: a\\0b: c" },
  { "an error with line ends", "error 'a\\nb\\tc'", "%L: a b c" },
  { "an error that is a table", "error {}", "%L: an error that is a table, no text" },
  { "an error that is a number", "error(5)", "%L: 5" },
  { "an error that is a boolean", "error(false)", "%L: an error that is a boolean, no text" },
  { "an error that is nil", "error(nil)", "%L: nil" },
  { "an error that tells of itself", "error(setmetatable({}, { __tostring = function() return 'me' end }))", "%L: me" },
  { "an error that fails to tell of itself", "error(setmetatable({}, { __tostring = function() error 'no' end }))", "%L: no" },
  { "an error that tells a table of itself", "error(setmetatable({}, { __tostring = function() return {} end }))",
    "%L: '__tostring' must return a string" },
  { "an operation on nil", "local x x = x.y", "%L: attempt to index a nil value (local 'x')" },
  { "a call in C", "string.rep()", "%L: bad argument #" },
}

-- Values that a hook may not return: {code, the message}
local RESULTS = {
  init = {},
  admit = {
    { "return 7", "%L: it must return nothing, false and a reason, or the jobspec to be matched" },
    { "return { x = 1 }", "%L: the jobspec that it wants instead: " },
    { "return { x = 0/0 }", "%L: " },
  },
  order = {
    { "return 'x'", "%L: it must return up to 4 numbers" }, { "return 0/0", "%L: it must return up to 4 numbers" },
    { "return 1, 2, 3, 4, 5", "%L: it must return up to 4 numbers" }, { "return {}", "%L: it must return up to 4 numbers" },
  },
  prune = {},
  evaluate = {
    { "return 'x'", "%L: it must return a number (the score) or nil (no candidate)" },
    { "return 0/0", "%L: it must return a number (the score) or nil (no candidate)" },
    { "return {}", "%L: it must return a number (the score) or nil (no candidate)" },
  },
  select = {
    { "return 7", "%L: it must return a list of candidates or of their positions, or nil" },
    { "return { 'x' }", "%L: it must return a list of candidates or of their positions, or nil" },
    { "return { 0 }", "%L: it chose what is no candidate" }, { "return { -1 }", "%L: it chose what is no candidate" },
    { "return { 1e15 // 1 | 0 }", "%L: it chose what is no candidate" },
    { "return { 1.5 }", "%L: it must return a list of candidates or of their positions, or nil" },
    { "return { 1, 1 }", "%L: it chose a candidate twice" },
    { "local c = ... return { c[1], 1 }", "%L: it chose a candidate twice" },
    { "local c = ... return { c[1]:graph():root() }", "%L: it chose what is no candidate" },
  },
  group = {
    { "return {}", "%L: it must return a string, a number, a vertex or nil" },
    { "return 0/0", "%L: it must return a string, a number, a vertex or nil" },
    { "return true", "%L: it must return a string, a number, a vertex or nil" },
  },
}

-- {name, a function of the text of a policy, which makes the policy}
local KINDS = {
  { "in a sandbox", function(text) return core.policy_source(text, "mine") end },
  { "of the caller", function(text) return assert(load(text, "@mine"))() end },
}

local function cases_of(hook)
  local list = table.move(ERRORS, 1, #ERRORS, 1, {})
  for _, row in ipairs(RESULTS[hook]) do list[#list + 1] = { row[1], row[1], row[2] } end
  return list
end

-- Matches with a policy; the message of the failure.
local function failure(policy)
  local e <close> = assert(weir.engine { resources = "node:3 core:2" })
  local ok, why, code = e:use(policy)
  if ok then ok, why, code = e:match "slot=2/node" end
  assert.same({ nil, "policy" }, { ok, code })
  assert.equal(0, #e:jobs())
  assert(e:resources():check())
  return why
end

for _, kind in ipairs(KINDS) do
  local where, make = table.unpack(kind)

  for _, hook in ipairs { "init", "admit", "order", "prune", "evaluate", "select", "group" } do
    describe(("%s of a policy %s, with"):format(hook, where), function()
      for _, case in ipairs(cases_of(hook)) do
        it(case[1], function()
          local form = hook == "group" and "select = { 'fewest', group = function(...) %s end }" or hook .. " = function(...) %s end"
          local text = ("return { name = 'mine',\n\n" .. form .. " }"):format(case[2])
          local wanted = ("policy mine: %s: %s"):format(hook, (case[3]:gsub("%%L", "mine:3")))
          assert.equal(wanted, failure(make(text)):sub(1, #wanted))
        end)
      end
    end)
  end
end

for _, hook in ipairs { "schedule", "order", "finished" } do
  describe(("%s of a queue policy, with"):format(hook), function()
    for _, case in ipairs(ERRORS) do
      it(case[1], function()
        local path = shell.path(shell.directory(), "mine.lua", ("return { %s\n\n%s = function() %s end }"):format(
          hook == "schedule" and "" or "schedule = function(q) for j in q:pending() do q:start(j) end end,", hook, case[2]))
        local s = assert(sim.new { resources = "node:3 core:2", queue = path })
        local ok, why = pcall(function()
          s:submit { request = "slot=1/node", estimate = 10 }
          s:run()
        end)
        assert.is_false(ok)
        assert.equal(s.failure, why)
        assert.truthy(why:find(("^queue policy %s: "):format(path:gsub("%p", "%%%0"))), why)
        local says = case[3]:gsub("%%L", "mine.lua:3")
        assert.truthy(why:find(says, 1, true), why)
      end)
    end
  end)
end
