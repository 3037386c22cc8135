-- Fluxion's own cases of resource-query, byte for byte. Pending without the data.

local missing = require "spec.support.missing"
local options = require "weir.query.options"
local session = require "weir.query.session"
local shell = require "weir.query.shell"

local DATA = (os.getenv "WEIR_DATA" or "../shared/data") .. "/fluxion"

-- A file in memory, to be written to.
local function sink()
  return {
    parts = {},
    write = function(self, ...)
      for i = 1, select("#", ...) do self.parts[#self.parts + 1] = tostring((select(i, ...))) end
    end,
    flush = function() end,
    text = function(self) return table.concat(self.parts) end,
  }
end

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

local function words_of(text)
  local words = {}
  for word in text:gmatch "%S+" do words[#words + 1] = word:gsub("^resource/", DATA .. "/data/resource/") end
  return words
end

-- {test, options, commands, expected} by test.
local function cases()
  local by_test, order = {}, {}
  for line in (read(DATA .. "/MANIFEST.tsv") or ""):gmatch "[^\n]+" do
    local test, words, commands, expected = line:match "^([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)$"
    if test ~= "test" then
      if not by_test[test] then
        by_test[test] = {}
        order[#order + 1] = test
      end
      table.insert(by_test[test], { words = words, commands = commands, expected = expected })
    end
  end
  return by_test, order
end

-- Runs a case; returns the text of the file of -t, and the session.
local function run(case)
  local s = assert(session.new(assert(options.read(words_of(case.words)))))
  local out = sink()
  local text = read(DATA .. "/data/" .. case.commands):gsub("@TEST_SRCDIR@", (DATA:gsub("%%", "%%%%")))
  assert(shell.new(s, { out = out, screen = sink(), errors = sink() }):loop(text:gmatch "[^\n]+"))
  return out:text(), s
end

describe("weir query and resource-query's own cases", function()
  local by_test, order = cases()
  if #order == 0 then
    pending(missing.data(DATA))
    return
  end
  for _, test in ipairs(order) do
    it(("%s: the same %d outputs, and books that hold"):format(test, #by_test[test]), function()
      for _, case in ipairs(by_test[test]) do
        local name = case.words .. " < " .. case.commands
        local got, s = run(case)
        assert.is_true(got == read(DATA .. "/data/" .. case.expected), name)
        assert.is_true(s.machine.graph:check(), name)
      end
    end)
  end
end)
