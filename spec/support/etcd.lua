--- etcd.lua - a private etcd on loopback, its data in a temporary directory; and ways to cut a service off from etcd.

local core = require "weir.core"
local net = require "weir.serve.net"
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local uv = require "luv"

local M = {}

local running, spaces, made = {}, {}, {}

--- Whether etcd is installed.
function M.available() return os.execute "command -v etcd >/dev/null 2>&1" == true end

local function free_port()
  local tcp = uv.new_tcp()
  tcp:bind("127.0.0.1", 0)
  local port = tcp:getsockname().port
  tcp:close()
  return port
end

local Etcd = {}
Etcd.__index = Etcd

local function run(self)
  local peer = "http://127.0.0.1:" .. self.peer
  local output = uv.fs_open(self.dir .. "/log", "a", 420)
  local args = {
    "--data-dir", self.dir .. "/data", "--listen-client-urls", self.listens, "--advertise-client-urls", self.url,
    "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" .. peer,
    "--heartbeat-interval", "10", "--election-timeout", "100", "--quota-backend-bytes", tostring(self.quota), "--logger", "zap",
  }
  self.code = nil
  local process, pid = uv.spawn("etcd", { args = args, stdio = { nil, output, output } }, function(code)
    self.code = code
    self.process:close()
    running[self] = nil
  end)
  self.process = assert(process, pid)
  uv.fs_close(output)
  running[self] = true
end

--- Sends a request to the gateway and waits: the answer as a table, or nil.
function Etcd:ask(path, body)
  local request <close> = self.http:post(self.url .. "/v3/" .. path, core.json_encode(body), 5)
  while request:status() == false do self.http:step(0.05) end
  local text = request:take()
  if request:status() == 200 then return core.json_decode(text) end
  return nil, text
end

--- The texts of all keys below a prefix.
function Etcd:all(prefix)
  local last = prefix:sub(1, -2) .. string.char(prefix:byte(-1) + 1)
  local found = {}
  local answer = assert(self:ask("kv/range", { key = net.base64(prefix), range_end = net.base64(last) }))
  for _, kv in ipairs(answer.kvs or {}) do found[net.unbase64(kv.key)] = net.unbase64(kv.value or "") end
  return found
end

function Etcd:put(key, text) return assert(self:ask("kv/put", { key = net.base64(key), value = net.base64(text) })) end

function Etcd:wait()
  local late = core.clock() + 20
  repeat
    uv.run "nowait"
    assert(not self.code and core.clock() < late, "etcd does not start")
    self.http:step(0.02)
  until self:ask("kv/range", { key = net.base64 "x" })
end

--- Kills etcd as a crash does; `again` starts etcd on the same data.
function Etcd:kill()
  if not self.code then self.process:kill "sigkill" end
  service.wait("etcd to end", function() return self.code end)
end

function Etcd:again()
  run(self)
  self:wait()
end

function Etcd:signal(name) self.process:kill(name) end

--- Starts etcd. opts: addresses (to listen on besides loopback), quota (bytes).
function M.start(opts)
  opts = opts or {}
  local dir = shell.directory()
  made[#made + 1] = dir
  local self = setmetatable({ dir = dir, port = free_port(), peer = free_port(), http = net.http {}, quota = opts.quota or 0 }, Etcd)
  self.url = "http://127.0.0.1:" .. self.port
  local listens = { self.url }
  for _, address in ipairs(opts.addresses or {}) do listens[#listens + 1] = ("http://%s:%d"):format(address, self.port) end
  self.listens = table.concat(listens, ",")
  run(self)
  self:wait()
  return self
end

-- ---- cutting off --------------------------------------------------------------------------------------------------

local Proxy = {}
Proxy.__index = Proxy

-- Passes bytes from one end to the far end while the proxy is open, and drops them otherwise.
local function pass(self, from, to)
  from:read_start(function(err, piece)
    if err or not piece then
      if not to:is_closing() then to:close() end
      if not from:is_closing() then from:close() end
    elseif self.open and not to:is_closing() then
      to:write(piece)
    end
  end)
end

local function accept(self)
  local client, server = uv.new_tcp(), uv.new_tcp()
  self.listener:accept(client)
  server:connect("127.0.0.1", self.port, function(err)
    if err or client:is_closing() then
      if not client:is_closing() then client:close() end
      return server:close()
    end
    pass(self, client, server)
    pass(self, server, client)
  end)
end

--- Nothing passes any more, and nobody is told.
function Proxy:cut() self.open = false end

function Proxy:heal() self.open = true end

--- A service's way to an etcd: {url =, cut(), heal(), wrap = {}}.
function M.proxy(etcd)
  local self = setmetatable({ open = true, port = etcd.port, wrap = {} }, Proxy)
  self.listener = uv.new_tcp()
  self.listener:bind("127.0.0.1", 0)
  self.listener:listen(16, function(err)
    if not err then accept(self) end
  end)
  self.url = "http://127.0.0.1:" .. self.listener:getsockname().port
  return self
end

local Space = {}
Space.__index = Space

local function sh(...) return os.execute((string.format(...)) .. " >/dev/null 2>&1") == true end

function Space:cut() assert(sh("ip link set %s down", self.outer)) end

function Space:heal()
  assert(sh("ip link set %s up", self.outer))
end

--- Makes a network namespace with one link to the host, the far end at self.address: self.wrap are the words that run
--- a program inside. Returns nil where the machine does not allow namespaces.
function M.space()
  local id = uv.hrtime() >> 10 & 0x3fff
  local self = setmetatable({ name = "weir" .. id, outer = "wo" .. id }, Space)
  local namespace = ("10.%d.%d"):format(200 + (id >> 8), id & 255)
  self.address, self.wrap = namespace .. ".1", { "ip", "netns", "exec", self.name }
  if not sh("ip netns add %s", self.name) then return nil end
  spaces[self] = true
  local ok = sh("ip link add %s type veth peer name wi%d netns %s", self.outer, id, self.name)
    and sh("ip addr add %s.1/30 dev %s", namespace, self.outer) and sh("ip link set %s up", self.outer)
    and sh("ip -n %s addr add %s.2/30 dev wi%d", self.name, namespace, id) and sh("ip -n %s link set wi%d up", self.name, id)
  if ok then return self end
  M.drop(self)
  return nil
end

function M.drop(space)
  sh("ip link del %s", space.outer)
  sh("ip netns del %s", space.name)
  spaces[space] = nil
end

--- Everything goes: for `after_each`, before service.clean.
function M.clean()
  for etcd in pairs(running) do etcd:kill() end
  for _, dir in ipairs(made) do os.execute(("rm -rf '%s'"):format(dir)) end
  made = {}
  for space in pairs(spaces) do M.drop(space) end
end

return M
