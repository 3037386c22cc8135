-- A Flux instance by its configuration. spec/data/flux_jobs has what an instance of six brokers, flux-core 0.88, printed:
-- config.json of `flux config get`, R.json of `flux kvs get resource.R`.
local shell = require "spec.support.shell"
local weir = require "weir"

local DATA = "spec/data/flux_jobs/"

local QUEUES = {
  batch = { requires = { "batch" }, default = true, state = "up", default_time = 600 },
  debug = { requires = { "debug" }, state = "up", default_time = 600, max_time = 1800 },
}

local function hosts(g)
  local list = {}
  for v in g:walk { type = "node" } do
    local all = v:aggregate { all = true }
    list[#list + 1] = ("%s:%d core:%d gpu:%s"):format(v.name, all.core.total, all.gpu.total, v.properties.batch and "batch" or "debug")
  end
  return table.concat(list, " ")
end

local HOSTS = {}
for i = 0, 5 do HOSTS[i + 1] = ("fluke%d:8 core:2 gpu:%s"):format(i, i < 4 and "batch" or "debug") end

-- Wrong configurations, and a part of the message.
local WRONG = {
  { "that is cut off", '{"resource":{', "^config.json: " },
  { "without resources", '{"resource":{}}', "^config.json: it has no resources: expected resource.path, resource.config, or a file R" },
  { "of hosts without a name", '{"resource":{"config":[{"cores":"0-1"}]}}', "^config.json: resource.config%[1%]: hosts: " },
  { "of cores that are none", '{"resource":{"config":[{"hosts":"a","cores":"x"}]}}', "^config.json: resource.config%[1%].cores: " },
  { "of a time that is none",
    '{"resource":{"config":[{"hosts":"a","cores":"0"}]},"queues":{"q":{"policy":{"limits":{"duration":"soon"}}}}}',
    '^config.json: queues.q.policy.limits.duration: "soon": expected a duration such as "30m"' },
  { "of a virtual queue without its parent", '{"resource":{"config":[{"hosts":"a","cores":"0"}]},"queues":{"q":{"parent":"p"}}}',
    '^config.json: queues.q.parent: there is no queue "p"' },
  { "of queues that are none", '{"resource":{"config":[{"hosts":"a","cores":"0"}]},"queues":{"q":7}}',
    "^config.json: queues.q: expected a table, not a number" },
}

describe("the configuration of a Flux instance", function()
  it("tells hosts, properties and queues", function()
    local g <close> = assert(weir.load(DATA .. "config.json"))
    assert.equal(table.concat(HOSTS, " "), hosts(g))
    assert.same(QUEUES, g:root().data.queues)
  end)

  it("has the same machine by its R, named or beside it", function()
    local config = weir.json.decode(shell.slurp(DATA .. "config.json"))
    config.resource.config = nil
    local dir = shell.directory()
    local path = shell.path(dir, "config.json", weir.json.encode(config))
    local r = shell.path(dir, "R", shell.slurp(DATA .. "R.json"))
    local beside <close> = assert(weir.load(path))
    assert.equal(table.concat(HOSTS, " "), hosts(beside))
    assert.same(QUEUES, beside:root().data.queues)
    config.resource.path = "R"
    local named <close> = assert(weir.parse(weir.json.encode(config), { format = "flux", source = path }))
    assert.equal(table.concat(HOSTS, " "), hosts(named))
    os.remove(r)
    local g, why = weir.load(path)
    assert.is_nil(g)
    assert.matches("a file R or R.json next to it", why)
    shell.clean()
  end)

  it("has limits of all queues where a queue has none of its own", function()
    local g <close> = assert(weir.parse([[{"resource":{"config":[{"hosts":"a[0-3]","cores":"0-3"}]},
      "policy":{"limits":{"duration":"1h","job-size":{"max":{"nnodes":2}}}},
      "queues":{"a":{},"b":{"policy":{"limits":{"duration":"2d"}}}}}]], { format = "flux", source = "config.json" }))
    assert.same({ a = { state = "up", max_time = 3600, max_nodes = 2 }, b = { state = "up", max_time = 172800, max_nodes = 2 } },
      g:root().data.queues)
  end)

  it("has for a virtual queue what its parent has, except for limits of its own", function()
    local config = weir.json.decode(shell.slurp(DATA .. "config.json"))
    local limits = { limits = { duration = "1h", ["job-size"] = { max = { nnodes = 2 } } } }
    config.queues.batch.policy = limits
    config.queues.expedite = { parent = "batch", policy = { limits = { duration = "15m" } } }
    local g <close> = assert(weir.parse(weir.json.encode(config), { format = "flux", source = DATA .. "config.json" }))
    local queues = g:root().data.queues
    assert.same({ requires = { "batch" }, state = "up", default_time = 600, max_time = 900, max_nodes = 2 }, queues.expedite)
    assert.same({ requires = { "batch" }, default = true, state = "up", default_time = 600, max_time = 3600, max_nodes = 2 }, queues.batch)
  end)

  for _, case in ipairs(WRONG) do
    it("is refused where it is one " .. case[1], function()
      local g, why, code = weir.parse(case[2], { format = "flux", source = "config.json" })
      assert.is_nil(g)
      assert.matches(case[3], why)
      assert.equal("parse", code)
    end)
  end

  it("is no JGF and no R", function()
    for _, format in ipairs { "jgf", "rv1" } do
      local g <close> = assert(weir.load(DATA .. "config.json"))
      local again <close> = assert(weir.parse(g:format(format)))
      assert.equal(6, #again:find "type=node")
    end
  end)
end)
