-- Clients that close their writing half and wait: each request is answered, however it is worked on, and then the
-- connection is closed; streams end. Clients that are gone altogether leave nothing running.
local core = require "weir.core"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"

local LARGE = "cluster:1 rack:4 node:20 core:20" -- above 1000 vertices: find is answered by a copy
local ENDLESS = service.ENDLESS

local function serve(machine, more)
  return service.start(shell.directory(), { "-r", machine, "--filter-ms", "600000", "--limit", "filterms=600000",
    table.unpack(more or {}) })
end

local function request(id, method, params) return core.json_line { id = id, method = method, params = params } end

-- The lines received by a client that sent a text, closed its writing half, and read until the end.
local function ask_all(s, text)
  local raw = s:raw()
  raw.send(text)
  raw.shutdown()
  service.wait("the end of the connection", function() return raw.closed end)
  return raw.lines
end

after_each(service.clean)

describe("a connection", function()
  it("is hung up once both directions are closed", function()
    local path = shell.path(shell.directory(), "socket")
    local server, far, near = uv.new_pipe(false), uv.new_pipe(false), nil
    assert(server:bind(path))
    assert(server:listen(1, function()
      near = uv.new_pipe(false)
      server:accept(near)
    end))
    far:connect(path)
    service.wait("a connection", function() return near end)
    assert.is_false(core.hung_up(near:fileno()))
    far:shutdown()
    uv.run "nowait"
    assert.is_false(core.hung_up(near:fileno()))
    far:close()
    service.wait("the far end", function() return core.hung_up(near:fileno()) end)
    near:close()
    server:close()
  end)
end)

describe("a client that closes its writing half", function()
  -- {title, requests}: each is answered, the last line of each id without "more"
  local CASES = {
    { "a request answered at once", { { "hello" } } },
    { "an explanation", { { "explain", { request = "slot=9000/node" } } } },
    { "a walk with a filter", { { "walk", { filter = "return {evaluate = function() return 1 end}", type = "node" } } } },
    { "a long list", { { "find", { expression = "type=core" } } } },
    { "a match with a filter", { { "match", { request = "slot=2/node", filter = "return {evaluate = function(v) return v.id end}" } } } },
    { "all of these", { { "hello" }, { "explain", { request = "slot=9000/node" } }, { "find", { expression = "type=core" } },
      { "match", { request = "slot=2/node" } }, { "jobs" }, { "job", { job = 1 } }, { "nothing" } } },
  }
  for _, case in ipairs(CASES) do
    it("after " .. case[1] .. " reads the whole answer, then the end", function()
      local s, texts, answered = serve(LARGE), {}, 0
      for id, call in ipairs(case[2]) do texts[id] = request(id, call[1], call[2]) end
      for _, line in ipairs(ask_all(s, table.concat(texts))) do
        assert.is_truthy(line.result or line.code == "unknown", line.error)
        answered = answered + (line.more and 0 or 1)
      end
      assert.equal(#case[2], answered)
    end)
  end

  it("after very many requests reads an answer to each, though some are refused", function()
    local texts, seen, codes = {}, {}, {}
    for id = 1, 300 do texts[id] = request(id, id % 3 == 0 and "hello" or "explain", id % 3 > 0 and { request = "slot=9/node" } or nil) end
    for _, line in ipairs(ask_all(serve "cluster:1 node:4", table.concat(texts))) do
      seen[line.id] = (seen[line.id] or 0) + 1
      codes[line.code or "none"] = true
      assert.is_truthy(line.result or line.code == "busy" or line.code == "limit", line.error)
    end
    for id = 1, 300 do assert.equal(1, seen[id], id) end
    assert.is_true(codes.none)
  end)

  it("while a copy works for it leaves others served, and has what the copy chose booked", function()
    local s, raw, other, copy = service.with_copy_at_work(function(filter)
      local s = serve "cluster:1 node:4 core:2"
      local raw, other = s:raw(), s:connect()
      raw.send(request(1, "match", { request = "slot=1/node", filter = filter }))
      raw.shutdown()
      local copy = s:stopped_copy(function() return raw.closed end)
      return copy and s, raw, other, copy
    end)
    for _ = 1, 20 do assert(other:ask "hello") end
    assert.is_false(raw.closed)
    uv.kill(copy, "sigcont")
    service.wait("the end of the connection", function() return raw.closed end)
    assert.equal(1, raw.lines[1].result.job)
    assert.equal(1, #other:ask("jobs", {}).jobs)
    assert.equal(0, s:stop())
  end)

  it("has its streams ended with a last answer, before the answers that take long", function()
    local raw, other, copy = service.with_copy_at_work(function(filter)
      local s = serve("cluster:1 node:4", { "--acquire", "none" })
      local raw, other = s:raw(), s:connect()
      raw.send(request(1, "events") .. request(2, "resource.acquire") .. request(3, "walk", { filter = filter }))
      raw.shutdown()
      local copy = s:stopped_copy(function() return raw.closed end)
      return copy and raw, other, copy
    end)
    local again = other:send "resource.acquire"
    assert.equal("0-3", assert(other:next(again)).up)
    uv.kill(copy, "sigcont")
    service.wait("the end of the connection", function() return raw.closed end)
    local ended = {}
    for _, line in ipairs(raw.lines) do
      if not line.more and line.id < 3 then ended[line.id] = line.result end
    end
    assert.same({ { ended = true }, { ended = true } }, ended)
    assert.is_truthy(raw.lines[#raw.lines].id == 3 and raw.lines[#raw.lines].result)
  end)
end)

describe("a client that is gone", function()
  it("over a Unix socket leaves no copy at work", function()
    local s = serve "cluster:1 node:4"
    local raw = s:raw()
    raw.send(request(1, "walk", { filter = ENDLESS }))
    s:stopped_copy()
    raw.close()
    service.poll("the end of the copy", function() return #s:copies() == 0 end)
    service.wait("the client to leave", function() return s:connect():ask("stats").server.clients == 1 end)
  end)

  it("over TCP leaves no copy at work after a reset, nor beyond the limits", function()
    local dir = shell.directory()
    local tokens = shell.path(dir, "tokens", "alice-0123456789abcdef owner alice\n")
    assert(uv.fs_chmod(tokens, 384))
    for _, ending in ipairs { "close", "close_reset" } do
      local s = serve("cluster:1 node:4", { "-l", "tcp:127.0.0.1:0", "--token-file", tokens, "--limit", ending == "close" and "filterms=300"
        or "filterms=600000", "--filter-ms", ending == "close" and "100" or "600000" })
      local tcp, text = uv.new_tcp(), ""
      tcp:connect("127.0.0.1", math.tointeger(s.out.text:match "tcp:127.0.0.1:(%d+)"), function()
        tcp:write(request(1, "login", { token = "alice-0123456789abcdef" }) .. request(2, "walk", { filter = ENDLESS }))
        tcp:read_start(function(_, piece) text = text .. (piece or "") end)
      end)
      s:stopped_copy()
      service.wait("the login", function() return text:find "\n" end)
      tcp[ending](tcp)
      service.poll("the end of the copy", function() return #s:copies() == 0 end)
      s:stop()
    end
  end)
end)
