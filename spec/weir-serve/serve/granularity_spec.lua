-- Services that give whole racks, and matches in other hierarchies by a service (RFC 4, granularity and subsystems).
local weir = require "weir"
local service = require "spec.support.service"
local shell = require "spec.support.shell"

after_each(service.clean)

local function start(...)
  return service.start(shell.directory(), { ... }):connect()
end

local function paths(answer)
  local list = {}
  for i, pick in ipairs(answer.vertices) do list[i] = pick.path end
  return table.concat(list, " ")
end

-- A machine with power units across racks, in a file.
local function powered()
  local g, nodes = weir.synthetic "cluster:1 rack:2 node:2 core:2", {}
  for v in g:walk { type = "node" } do nodes[#nodes + 1] = v end
  for i = 0, 1 do
    local pdu = assert(g:add(nil, { type = "pdu", id = i }))
    for n = 1, 4 do
      if n % 2 == i then assert(g:add_edge(pdu, nodes[n], { subsystem = "power", type = "supplies" })) end
    end
  end
  local path = shell.path(shell.directory(), "machine.json")
  assert(g:save(path))
  g:close()
  return path
end

describe("weir serve --granularity", function()
  it("[RFC4a:87][G10] gives whole racks, and explains by racks", function()
    local c = start("-r", "cluster:1 rack:2 node:2 core:2", "--granularity", "rack")
    assert.equal("/cluster0/rack0", paths(assert(c:ask("match", { request = "slot=1/core" }))))
    assert.equal("/cluster0/rack1", paths(assert(c:ask("match", { request = "slot=1/core" }))))
    assert.equal("busy", select(3, c:ask("match", { request = "slot=1/core" })))
    assert.equal("busy", assert(c:ask("explain", { request = "slot=1/core" })).verdict)
  end)

  it("[G6] searches in a hierarchy", function()
    local c = start("-r", powered(), "--granularity", "power")
    assert.equal("/cluster0/rack0/node1 /cluster0/rack1/node3", paths(assert(c:ask("match", { request = "pdu=1/slot=2/node" }))))
  end)

  it("[G6] may be asked by one match", function()
    local c = start("-r", powered())
    assert.equal("/cluster0/rack0/node1 /cluster0/rack1/node3",
      paths(assert(c:ask("match", { request = "pdu=1/slot=2/node", subsystem = "power" }))))
    assert.equal("busy", select(3, c:ask("match", { request = "slot=3/node", subsystem = "power" })))
    assert.equal("unknown", select(3, c:ask("match", { request = "slot=1/node", subsystem = "heat" })))
    assert.equal("invalid", select(3, c:ask("match", { request = "slot=1/node", subsystem = "a:b:c" })))
  end)

  it("[G6] may be asked by one stage", function()
    local c = start("-r", powered())
    local stage = assert(c:ask("stage", { request = "pdu=1/slot=2/node", subsystem = "power", lease = 60 }))
    assert.equal("/cluster0/rack0/node1 /cluster0/rack1/node3", paths(stage))
    assert.equal("busy", select(3, c:ask("match", { request = "slot=3/node" })))
  end)

  it("refuses what is neither a type nor a hierarchy", function()
    local socket = "unix:" .. shell.directory() .. "/s"
    local result = shell.weir { "serve", "-r", "rack:2", "--granularity", "rak", "-l", socket }
    assert.equal(2, result.status)
    assert.matches("there is no type and no hierarchy 'rak' %(did you mean \"rack\"%?%)", result.err)
  end)
end)
