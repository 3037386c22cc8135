--- addresses.lua - addresses on which a service listens: "unix:PATH" or PATH, "tcp:HOST:PORT", "tls:HOST:PORT". TCP
-- without TLS is allowed on loopback only.

local M = {}

local WANTED = "expected unix:PATH, tcp:HOST:PORT or tls:HOST:PORT"

--- Returns true if `host` is a name or address of loopback.
function M.is_loopback(host) return host == "localhost" or host == "::1" or host:find "^127%.%d+%.%d+%.%d+$" ~= nil end

local function net(kind, rest)
  local host, port = rest:match "^%[([%x:.]+)%]:(%d+)$"
  if not host then host, port = rest:match "^([%w.-]+):(%d+)$" end
  port = math.tointeger(tonumber(port))
  if not host or not port or port > 65535 then return nil, ("%s:%s: %s"):format(kind, rest, WANTED), "invalid" end
  if kind == "tcp" and not M.is_loopback(host) then
    return nil, ("tcp:%s: in the clear only on this machine, such as tcp:127.0.0.1:%d; tls:%s takes a certificate"):format(rest, port,
      rest), "forbidden"
  end
  return { kind = kind, host = host, port = port }
end

--- Parses an address. Returns {kind = "unix", path =} or {kind = "tcp" or "tls", host =, port =}; or nil, message,
-- code.
function M.parse(text)
  if text:find "^%w+://" then return nil, text .. ": " .. WANTED, "invalid" end
  local kind, rest = text:match "^(t%l%l):(.*)$"
  if kind == "tcp" or kind == "tls" then return net(kind, rest) end
  local path = text:gsub("^unix:", "")
  if path == "" then return nil, WANTED, "invalid" end
  if #path > 100 then return nil, path .. ": the path of a socket has at most 100 bytes", "limit" end
  return { kind = "unix", path = path }
end

--- Returns an address as text; M.parse of the text gives an equal address.
function M.text(address)
  if address.kind == "unix" then return "unix:" .. address.path end
  return ((address.host:find ":" and "%s:[%s]:%d" or "%s:%s:%d"):format(address.kind, address.host, address.port))
end

return M
