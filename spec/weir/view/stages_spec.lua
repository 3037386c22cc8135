-- Stages in whatever shows who has a machine: trees, pictures, timelines, pages. Schedules have a stage as
-- minus its number; nobody is to read "job -1".
local picture = require "weir.html.picture"
local shell = require "spec.support.shell"
local weir = require "weir"

-- A job with a core of node0, a stage with node1, a stage of units of node0's memory, and a stage of the future.
local function machine()
  local e = weir.engine { resources = "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)" }
  assert(e:match "slot=1/core")
  assert(e:stage("slot=1/node", { lease = 30 }))
  assert(e:stage("node/slot=1/memory=4", { lease = 30 }))
  assert(e:stage("slot=1/rack", { lease = 50, mode = "reserve", at = 10, duration = 20 }))
  return e:resources()
end

describe("[A6] stages are named", function()
  it("in trees", function()
    local g <close> = machine()
    assert.equal([[
cluster0
|-- rack0
|   |-- node0
|   |   |-- core[0-3]  3 of 4 free
|   |   `-- memory0  12 of 16 GB free, stage 2
|   `-- node1  stage 1
|       |-- core[0-3]  0 of 4 free
|       `-- memory0  0 of 16 GB free
`-- rack1
    `-- node[2-3]
        |-- 4 core
        `-- 1 memory  16 GB
]], g:format "tree")
  end)

  -- {what, its text, words in it}
  for _, case in ipairs {
    { "SVG", function(g) return g:format "svg" end, { "stage 1", "stage 2: 25 %", "reserved for stage 3", "1 job", "3 stages" } },
    { "timelines", function(g) return picture.timeline(g) end, { "stage 1: 0 s to no end", "stage 3, reserved: 10 s to 30 s" } },
    { "dot", function(g) return g:format "dot" end, { "stage 1" } },
    { "pages", function(g) return picture.html(g, {}) end, { '"stage "', "[-1,0,-1,0]", "[-3,10,30,1]" } },
  } do
    it("in " .. case[1], function()
      local g <close> = machine()
      local text = assert(case[2](g))
      for _, words in ipairs(case[3]) do assert.truthy(text:find(words, 1, true), words) end
      assert.is_nil(text:find "job %-%d")
    end)
  end

  it("and weir match --stage says that its locks end with the call", function()
    local done = shell.weir { "match", "-r", "node:2 core:2", "--stage", "9", "slot=1/node" }
    assert.equal(0, done.status)
    assert.truthy(done.err:find("the stages end with this call; a service keeps stages", 1, true))
    assert.equal("", shell.weir { "match", "-r", "node:2 core:2", "--stage", "9", "-F", "rlite", "slot=1/node" }.err)
  end)
end)
