-- The pages of grammars: every example is read as the page says.

local topics = require "weir.cli.topics"
local weir = require "weir"

local BIN = os.getenv "WEIR_BIN" or "build/weir"

local READ = {
  shapes = function(text) return weir.request(text, "shape") end,
  machines = function(text) return weir.synthetic(text) end,
  expressions = function(text) return weir.query(text) end,
}

local function run(words)
  local pipe = assert(io.popen(BIN .. " " .. words .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

describe("the page of", function()
  for _, name in ipairs(topics.names) do
    it(name .. " has examples that can be read", function()
      for _, example in ipairs(topics[name].examples) do assert(READ[name](example[1])) end
    end)

    it(name .. " is printed by weir help and by :help", function()
      local text, status = run("help " .. name)
      assert.equal(0, status)
      assert.matches("^" .. name .. " %- ", text)
      assert.equal(text, (run("repl -r node:1 -m table -c ':help " .. name .. "'")))
      assert.matches("\n  " .. name .. " ", (run "--help"))
    end)
  end
end)

describe("the machines of the page", function()
  local graphs = {}
  setup(function()
    for i, example in ipairs(topics.machines.examples) do graphs[i] = assert(weir.synthetic(example[1])) end
  end)

  -- {machine, expression, number of vertices}
  for _, row in ipairs {
    { 1, "type=core", 32 }, { 2, "type=memory and size=64 and unit=GB", 16 }, { 3, "type=node and property=bigmem", 2 },
    { 3, "type=core", 80 }, { 4, "path=/cluster0/rack*/storage*", 2 }, { 5, "name=gpu-1?", 2 }, { 1, "type=node and idle", 4 },
    { 1, "not (type=core or type=gpu)", 5 }, { 2, "path=/cluster0/rack0/* and leaf", 80 },
  } do
    it(("%d have %d of %s"):format(row[1], row[3], row[2]), function() assert.equal(row[3], #graphs[row[1]]:find(row[2])) end)
  end
end)

describe("a topic that is not there", function()
  it("is told with those near it", function()
    local text, status = run "help shaps"
    assert.equal(2, status)
    assert.matches('did you mean "shapes"', text)
  end)
end)
