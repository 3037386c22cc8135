-- Both wordings of RFC 28, statement by statement (spec/support/acquire_text.lua), and specs for statements without a
-- spec elsewhere.
local scheduler_client = require "weir.acquire.scheduler_client"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local statements = require "spec.support.acquire_text"
local weir = require "weir"

local MACHINE = "cluster:1 rack:2 node:4 core:4"

-- A scheduler with MACHINE acquired; sent: requests; said: the reason for the end, and the unsatisfiable requests.
local function scheduler(style)
  local it = { sent = {}, said = {} }
  it.f = scheduler_client.new {
    style = style, policy = "low", send = function(method, payload) table.insert(it.sent, { method, payload }) end,
    on = {
      exit = function(why) table.insert(it.said, "exit " .. why) end, exception = function() table.insert(it.said, "exception") end,
      unsatisfiable = function(name) table.insert(it.said, "unsatisfiable " .. name) end,
    },
  }
  it.f:start()
  local R = weir.synthetic(MACHINE):rset { scheduling = true }:table "rv1"
  local typed = { type = "grow", resources = R, online = "0-7", offline = "" }
  it.f:receive("default", style == "keyed" and { resources = R, up = "0-7" } or typed)
  return it
end

local function ranks(a) return tostring(a:rset():ranks()) end

describe("the text of the acquisition protocol", function()
  local texts = setmetatable({}, { __index = function(all, path)
    all[path] = shell.slurp(path)
    return all[path]
  end })

  for _, statement in ipairs(statements) do
    it("is proven where it says: " .. statement[1], function()
      for i = 2, #statement, 2 do
        local name = statement[i + 1]
        assert.is_truthy(texts[statement[i]]:find('"' .. name, 1, true) or texts[statement[i]]:find(name, 1, true), name)
      end
    end)
  end
end)

describe("a scheduler that follows", function()
  it("[Q5] all of a target is up or down at once", function()
    local it = scheduler()
    it.f:receive("default", { type = "offline", targets = "0" })
    assert.equal(28, #it.f.engine:resources():find "type=core and state=up and idle")
    assert.equal("1", ranks(it.f:match("slot=1/core", { mode = "preview" })))
  end)

  it("[Q5] a job on what is offline is freed as any other", function()
    local it = scheduler()
    local a = it.f:match "slot=2/node"
    it.f:receive("default", { type = "offline", targets = "0-1" })
    assert.is_true(it.f:free(a.id))
    assert.same({}, it.said)
    assert.equal("2", ranks(it.f:match("slot=1/node", { mode = "preview" })))
    it.f:receive("default", { type = "online", targets = "0" })
    assert.equal("0", ranks(it.f:match("slot=1/node", { mode = "preview" })))
    assert.equal(1, #it.sent) -- no target is released
  end)

  it("[Q6] resources that do not fit to those that are there end it", function()
    local it = scheduler()
    it.f:receive("default", { type = "shrink", targets = "0" })
    local other = weir.synthetic "cluster:1(size=2) rack:1 node:1 core:4"
    local R = other:rset { scheduling = true }:table "rv1"
    R.execution.R_lite[1].rank = "0"
    it.f:receive("default", { type = "grow", resources = R, online = "0", offline = "" })
    assert.matches("^exit .*grow: resources: .*size", it.said[1])
  end)

  it("[Q6] an error response to a release ends it", function()
    local it = scheduler()
    it.f:receive("default", { type = "shrink", targets = "0" })
    assert.equal("resource.release", it.sent[2][1])
    it.f:error("default", "target 0 was not in a shrink")
    assert.matches("^exit .*was not in a shrink", it.said[1])
    assert.equal("protocol", select(3, it.f:match "slot=1/node"))
  end)

  it("[Q10] a property that goes makes unsatisfiable what needs it", function()
    local it = scheduler "keyed"
    it.f:receive("default", { ["property-add"] = { fast = "0-1" } })
    local spec = weir.json.decode(weir.request("slot=2/node"):format "json")
    spec.attributes.system.constraints = { properties = { "fast" } }
    it.f:pend("a", weir.request(spec))
    it.f:receive("default", { ["property-remove"] = { fast = "5" } })
    assert.same({}, it.said)
    it.f:receive("default", { ["property-remove"] = { fast = "1" } })
    assert.same({ "unsatisfiable a" }, it.said)
  end)

  it("a key that is not known is passed over", function()
    local it = scheduler "keyed"
    assert.is_true(it.f:receive("default", { up = "3-6", down = "2,6", shink = "6" })) -- the example of the text
    assert.equal("0-7", tostring(it.f.consumer:acquired()))
    assert.equal("0-1,3-5,7", tostring(it.f.consumer:online()))
  end)
end)

describe("a service", function()
  after_each(service.clean)

  it("[Q1] an inventory that hwloc has found is acquired, from this machine and from a file of another one", function()
    local file = io.popen "ls spec/data/hwloc/*.xml":read "l"
    for _, resources in ipairs { "local", file } do
      local s = service.start(shell.directory(), { "-r", resources, "-a", "none" })
      local raw = s:raw()
      raw.send '{"id":1,"method":"resource.acquire","params":{"group":"default"}}\n'
      service.wait("resources", function() return #raw.lines == 1 end)
      local grow = raw.lines[1].result
      assert.same({ "grow", "0", "" }, { grow.type, grow.online, grow.offline })
      assert.is_true(weir.rset(grow.resources):count "core" > 0)
    end
  end)

  it("[Q8] the answer to a release is empty", function()
    local s = service.start(shell.directory(), { "-r", MACHINE, "-g", "batch=4-7" })
    local raw, c = s:raw(), s:connect()
    raw.send '{"id":1,"method":"resource.acquire","params":{"group":"batch"}}\n'
    service.wait("resources", function() return #raw.lines == 1 end)
    c:ask("resource.include", { targets = "7" })
    raw.send '{"id":2,"method":"resource.release","params":{"group":"batch","targets":"7"}}\n'
    service.wait("the answer", function() return #raw.lines == 3 end)
    assert.same({ id = 2, result = {} }, raw.lines[3])
  end)

  it("adds what a file describes, and removes it", function()
    local s = service.start(shell.directory(), { "-r", MACHINE })
    local text = weir.synthetic("cluster:1 rack:3 node:4 core:4"):rset { scheduling = true }:subset { ranks = "8-9" }:format "rv1"
    local file = shell.path(shell.directory(), "more.json", text)
    assert.matches("default  0%-9", shell.weir({ "-s", s.path, "resource", "add", file }).out)
    assert.equal(1, shell.weir({ "-s", s.path, "resource", "add", file }).status)
    assert.matches("default  0%-7,9", shell.weir({ "-s", s.path, "resource", "remove", "8" }).out)
    assert.equal(2, shell.weir({ "-s", s.path, "resource", "add" }).status)
    assert.equal(2, shell.weir({ "-s", s.path, "resource", "add", shell.path(shell.directory(), "none", "3") }).status)
  end)

  it("tells about its parent, and asks it, by weir -s SOCKET parent", function()
    local s = service.start(shell.directory(), { "-r", MACHINE })
    assert(s:connect():ask("match", { request = "slot=2/node" }))
    local c = service.start(shell.directory(), { "--parent", "unix:" .. s.path .. "#1" })
    local function parent(...) return shell.weir { "-s", c.path, "parent", ... } end
    assert.matches("#1 +yes +0%-1 +0%-1", parent().out)
    assert.matches("yes +0%-2 ", parent("grow", "slot=1/node").out)
    assert.equal("1-2", weir.json.decode(parent("shrink", "0", "--json").out).acquired)
    for _, words in ipairs { { "nope" }, { "grow" }, { "status", "x" } } do assert.equal(2, parent(table.unpack(words)).status) end
    assert.equal(1, shell.weir({ "-s", s.path, "parent" }).status - 1)
  end)
end)
