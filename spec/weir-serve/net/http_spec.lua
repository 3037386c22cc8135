-- net.http: requests without waiting, results, and misuse without a crash; base64.
local core = require "weir.core"
local net = require "weir.serve.net"
local uv = require "luv"

-- A server with answer(text of the request) as its answers, or silent on nil.
local function server(answer)
  local listener = uv.new_tcp()
  listener:bind("127.0.0.1", 0)
  listener:listen(8, function()
    local client = uv.new_tcp()
    listener:accept(client)
    local text = ""
    client:read_start(function(_, piece)
      if not piece then return client:close() end
      text = text .. piece
      local head, length = text:match "^(.-)\r\n\r\n", tonumber(text:match "\r\nContent%-Length: (%d+)")
      if not head or #text < #head + 4 + length then return end
      local reply = answer(text)
      text = ""
      if reply then client:write(reply) end
    end)
  end)
  return "http://127.0.0.1:" .. listener:getsockname().port
end

local function reply(status, text) return ("HTTP/1.1 %s X\r\nContent-Length: %d\r\n\r\n%s"):format(status, #text, text) end

local function finish(http, request)
  while request:status() == false do
    http:step(0.005)
    uv.run "nowait"
  end
  return request
end

after_each(function()
  uv.walk(function(handle)
    if not handle:is_closing() then handle:close() end
  end)
  uv.run()
end)

describe("an http client", function()
  it("posts, and gives status and text", function()
    local http, seen = net.http {}, nil
    local url = server(function(text)
      seen = text
      return reply(201, "hello\0there")
    end)
    local r = finish(http, http:post(url .. "/a/b", "what is sent\0", 5))
    assert.same({ 201, "hello\0there", "" }, { r:status(), r:take(), r:take() })
    assert.matches("^POST /a/b HTTP/1%.1\r\n.*\r\n\r\nwhat is sent%z$", seen)
    assert.is_nil(seen:find "Expect")
  end)

  it("has several under way on few connections", function()
    local http, n = net.http {}, 0
    local url = server(function(text)
      n = n + 1
      return reply(200, text:match "\r\n\r\n(.*)$")
    end)
    local list = {}
    for i = 1, 20 do list[i] = http:post(url, tostring(i), 5) end
    for i = 1, 20 do assert.equal(tostring(i), finish(http, list[i]):take()) end
    assert.is_false(http:step())
    assert.equal(20, n)
  end)

  it("gives what has come while more is to come", function()
    local http = net.http {}
    local url = server(function() return "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n" end)
    local r, text = http:post(url, "", 0), ""
    while text == "" do
      http:step(0.005)
      uv.run "nowait"
      text = r:take()
    end
    assert.same({ "first", false }, { text, r:status() })
  end)

  local FAILS = {
    { "nobody who listens", "http://127.0.0.1:1", 5, "connect" },
    { "an address that is none", "http://", 5, "." },
    { "another protocol", "file:///etc/passwd", 5, "rotocol" },
  }
  for _, case in ipairs(FAILS) do
    it("fails with " .. case[1], function()
      local http = net.http {}
      local status, why, code = finish(http, http:post(case[2], "", case[3])):status()
      assert.same({ nil, "io" }, { status, code })
      assert.matches(case[4], why)
    end)
  end

  it("fails when time is up, and on an answer that is too long", function()
    local http = net.http { limit = 100 }
    local r = finish(http, http:post(server(function() end), "", 0.05))
    assert.matches("imed? ?out", select(2, r:status()))
    r = finish(http, http:post(server(function() return reply(200, ("x"):rep(101)) end), "", 5))
    assert.equal("the answer is longer than 100 bytes", (select(2, r:status())))
    r = finish(http, http:post(server(function() return reply(200, ("x"):rep(100)) end), "", 5))
    assert.equal(100, #r:take())
  end)

  it("outlives none of its requests, nor they it", function()
    local http = net.http {}
    local r = http:post("http://127.0.0.1:1", "", 5)
    http:close()
    http:close()
    assert.same({ nil, "it was given up", "io" }, { r:status() })
    assert.has_error(function() http:step() end, "this http client is closed")
    assert.has_error(function() http:post("http://x", "", 1) end, "this http client is closed")
    r:close()
    r:close()
    assert.equal("", r:take())
    for _ = 1, 10 do net.http({}):post("http://127.0.0.1:1", "", 5) end
    collectgarbage()
    collectgarbage()
  end)

  it("raises on wrong use", function()
    local http = net.http {}
    assert.has_error(function() net.http { nope = 1 } end)
    assert.has_error(function() http:post(nil, "", 1) end)
    assert.has_error(function() http:post("http://x", {}, 1) end)
    assert.has_error(function() http.step({}) end)
  end)
end)

describe("base64", function()
  -- RFC 4648, 10
  local VECTORS = { [""] = "", f = "Zg==", fo = "Zm8=", foo = "Zm9v", foob = "Zm9vYg==", fooba = "Zm9vYmE=", foobar = "Zm9vYmFy" }
  for plain, coded in pairs(VECTORS) do
    it(("of %q is %q"):format(plain, coded), function()
      assert.same({ coded, plain }, { net.base64(plain), net.unbase64(coded) })
    end)
  end

  it("has all bytes", function()
    local all = {}
    for i = 0, 255 do all[i + 1] = string.char(i) end
    local text = table.concat(all)
    for i = 1, 4 do assert.equal(text:sub(i), net.unbase64(net.base64(text:sub(i)))) end
  end)

  it("is nothing else", function()
    for _, text in ipairs { "Zg-_", "Z g=", "Zg==\n", "\0\0\0\0" } do assert.is_nil(net.unbase64(text)) end
  end)
end)

describe("pieces", function()
  it("raise on wrong use", function()
    local g = require("weir").synthetic "node:1 core:2"
    local p = g:pieces()
    assert.same({ "kinds/", nil }, { p:at(1) })
    assert.same({}, { p:at(0) })
    assert.same({}, { p:at(1000) })
    assert.is_true(p:stored(g))
    assert.equal("invalid", select(3, p:stored(g)))
    assert.has_error(function() p:put(1) end)
    assert.has_error(function() p:put("x", {}) end)
    local closed <close> = core.pieces()
    getmetatable(closed)
    g:close()
    assert.has_error(function() g:pieces() end)
    assert.has_error(function() p:stored(g) end)
  end)
end)
