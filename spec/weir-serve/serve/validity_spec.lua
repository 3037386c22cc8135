-- The validity of resources in services: a machine that ends, jobs cut by a new end, and children that know the time of
-- their job (RFC 20, starttime and expiration).
local service = require "spec.support.service"
local shell = require "spec.support.shell"

after_each(service.clean)

local function start(...)
  local dir = shell.directory()
  local s = service.start(dir, { ... })
  return s, s:connect(), "unix:" .. dir .. "/s"
end

local function listen(s)
  local heard = {}
  local raw = s:raw(function(answer)
    local e = answer.result
    if e and (e.event == "cut" or e.event == "requeue" or e.event == "validity") then
      heard[#heard + 1] = ("%s %s %s"):format(e.event, e.job or "-", e.at or e.expiration or "-")
    end
  end)
  raw.send '{"id":1,"method":"events"}\n'
  service.wait("the stream", function() return #raw.lines == 1 end)
  return heard
end

describe("the end of the resources of a service", function()
  it("[R5] is set by an administrator: jobs are cut, reservations dropped, and streams told", function()
    local s, c = start("-r", "node:2 core:4", "--clock", "manual", "-a", "default")
    local heard = listen(s)
    assert(c:ask("match", { request = "slot=2/node", duration = 40 }))
    assert(c:ask("match", { request = "slot=1/node", duration = 20, mode = "reserve" }))
    assert(c:ask("resource.expiration", { expiration = 50 }))
    assert(c:ask("resource.expiration", { expiration = 30 }))
    service.wait("the events", function() return #heard >= 4 end)
    table.sort(heard)
    assert.same({ "cut 1 30", "requeue 2 -", "validity - 30", "validity - 50" }, heard)
    assert.equal("infeasible", select(3, c:ask("match", { request = "slot=1/core", duration = 31, mode = "reserve" })))
    assert.equal(30, c:ask("job", { job = 1 }).duration)
    assert(c:ask("resource.expiration", { expiration = 0 }))
    assert.equal(30, c:ask("match", { request = "slot=1/core", duration = 300, mode = "reserve" }).start)
  end)

  it("[R5][R9] is the end of the job for a child, and follows the job", function()
    local top, ask, address = start("-r", "node:4 core:4")
    local job = assert(ask:ask("match", { request = "slot=2/node", duration = 1000 }))
    local child, c = start("--parent", address .. "#" .. job.job)
    local heard = listen(child)
    local function code(params) return select(3, c:ask("match", params)) end
    assert.equal("infeasible", code { request = "slot=1/core", duration = 1001 })
    assert.equal("infeasible", code { request = "slot=1/core", mode = "reserve", at = 99999999999 })
    local a = assert(c:ask("match", { request = "slot=1/node" }))
    assert.is_true(math.abs(job.start + job.duration - a.start - a.duration) < 1e-3)
    assert(top)
    local stop = math.floor(job.start) + 500
    assert(ask:ask("resource.expiration", { expiration = stop }))
    service.wait("the new end", function() return #heard == 2 end)
    table.sort(heard)
    local cut, validity = heard[1]:gsub("%.0$", ""), heard[2]:gsub("%.0$", "")
    assert.same({ ("cut %d %d"):format(a.job, stop), ("validity - %d"):format(stop) }, { cut, validity })
    assert.equal("infeasible", code { request = "slot=1/core", duration = 501 })
  end)
end)
