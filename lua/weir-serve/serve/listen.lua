--- listen.lua - the listening sockets of a service, opened by address or inherited from the service manager.

local addresses = require "weir.serve.addresses"
local core = require "weir.core"
local uv = require "luv"

local M = {}

local BACKLOG = 1024 -- connections waiting to be accepted
local FIRST_FD = 3 -- first descriptor inherited from the service manager (sd_listen_fds(3))

local function failed(what, why) return nil, ("%s: %s"):format(what, why), "io" end

-- ---- Unix sockets ---------------------------------------------------------------------------------------------------

-- Returns true if a process accepts connections at a path.
local function answers(path)
  local pipe, result = uv.new_pipe(false), nil
  pipe:connect(path, function(err)
    result = not err
    pipe:close()
  end)
  while result == nil do uv.run "once" end
  uv.run "nowait"
  return result
end

local function is_socket(path)
  local stat = uv.fs_lstat(path)
  return stat and stat.type == "socket"
end

-- Returns why a path cannot be bound. libuv says EACCES for a missing directory, too.
local function reason(path, why, name)
  local directory = path:match "^(.*)/" or "."
  if name == "EACCES" and not uv.fs_stat(directory == "" and "/" or directory) then return "there is no directory " .. directory end
  if name == "EADDRINUSE" and not is_socket(path) then return "is there already, and no socket" end
  return why
end

-- Binds a path. A socket left by a killed service is removed; a socket in use is an error.
local function bind(pipe, path)
  local ok, why, name = pipe:bind(path)
  if not ok and name == "EADDRINUSE" and is_socket(path) then
    if answers(path) then return nil, path .. ": another service listens there", "exists" end
    uv.fs_unlink(path)
    ok, why, name = pipe:bind(path)
  end
  if not ok then return failed(path, reason(path, why, name)) end
  return true
end

local Open = {}

-- Opens a Unix socket. The umask sets the mode: chmod by path afterwards could hit a file put in place of the socket.
function Open.unix(address, opts)
  local pipe = uv.new_pipe(false)
  local mask = core.umask(511 & ~(opts.mode or 384))
  local ok, why, code = bind(pipe, address.path)
  core.umask(mask)
  if not ok then
    pipe:close()
    uv.run "nowait"
    return nil, why, code
  end
  return { kind = "unix", handle = pipe, address = addresses.text(address), path = address.path }
end

-- ---- TCP ------------------------------------------------------------------------------------------------------------

--- Returns the IP address of a host; or nil and a message.
function M.resolve(host)
  local found, why = uv.getaddrinfo(host, nil, { socktype = "stream" })
  if not found or not found[1] then return nil, ("%s: %s"):format(host, tostring(why or "not known")) end
  return found[1].addr
end

-- Returns why an address needs more options, or nil: connections over the net need tokens, TLS needs a certificate.
local function refusal(address, opts)
  if not opts.tokens then return addresses.text(address) .. ": --token-file FILE is missing: who connects over TCP has to have a token" end
  if address.kind == "tls" and not opts.tls then return addresses.text(address) .. ": --tls-cert FILE and --tls-key FILE are missing" end
end

-- Returns the listener of a bound handle; or nil, message, code. libuv reports an address in use only when the handle is
-- used.
local function listener(handle, kind, opts, wanted)
  local name, why, code = handle:getsockname()
  if not name then
    handle:close()
    uv.run "nowait"
    if code == "EADDRINUSE" then return nil, addresses.text(wanted) .. ": another program listens there", "exists" end
    return failed(addresses.text(wanted), why)
  end
  local address = { kind = kind, host = name.ip, port = name.port }
  return { kind = kind, handle = handle, address = addresses.text(address), tls = kind == "tls" and opts.tls or nil }
end

local function open_net(address, opts)
  local why = refusal(address, opts)
  if why then return nil, why, "invalid" end
  local ip, unknown = M.resolve(address.host)
  if not ip then return nil, unknown, "io" end
  local handle = uv.new_tcp()
  local ok
  ok, why = handle:bind(ip, address.port)
  if ok then return listener(handle, address.kind, opts, address) end
  handle:close()
  return failed(addresses.text(address), why)
end

Open.tcp, Open.tls = open_net, open_net

--- Opens and binds an address. Returns {kind =, handle =, address = text, path =, tls =}; or nil, message, code. opts:
--- mode, of Unix sockets; tokens and tls, for TCP.
function M.open(address, opts) return Open[address.kind](address, opts) end

-- ---- inherited sockets ----------------------------------------------------------------------------------------------

local function adopt(fd, opts)
  local family, why, code = core.inherited(fd)
  if not family then return nil, why, code end
  if family == "unix" then
    local pipe = uv.new_pipe(false)
    pipe:open(fd)
    return { kind = "unix", handle = pipe, address = "unix:" .. (pipe:getsockname() or "") }
  end
  local handle = uv.new_tcp()
  handle:open(fd)
  local name = handle:getsockname()
  local kind = opts.tls and "tls" or "tcp"
  local address = { kind = kind, host = name.ip, port = name.port }
  if kind == "tcp" and not addresses.is_loopback(name.ip) then
    return nil, ("%s: inherited socket without TLS, which is allowed on this machine only: --tls-cert and --tls-key are missing"):format(
      addresses.text(address)), "forbidden"
  end
  local wrong = refusal(address, opts)
  if wrong then return nil, wrong, "invalid" end
  return listener(handle, kind, opts, address)
end

--- Returns a list of the sockets inherited from the service manager (sd_listen_fds(3)), as of `open`; or nil, message,
-- code. The list is empty without a service manager.
function M.inherited(opts)
  local n = math.tointeger(tonumber(os.getenv "LISTEN_FDS")) or 0
  if math.tointeger(tonumber(os.getenv "LISTEN_PID")) ~= uv.os_getpid() then return {} end
  local list = {}
  for fd = FIRST_FD, FIRST_FD + n - 1 do
    local one, why, code = adopt(fd, opts)
    if not one then return nil, why, code end
    list[#list + 1] = one
  end
  return list
end

--- Starts to listen. Returns true; or nil, message, code.
function M.start(one, on_connection)
  local ok, why = one.handle:listen(BACKLOG, on_connection)
  if not ok then return failed(one.address, why) end
  return true
end

return M
