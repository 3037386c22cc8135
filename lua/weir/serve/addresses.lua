--- addresses.lua - where a service listens: "unix:PATH" or PATH; "tcp:HOST:PORT", in the clear, so on this machine only;
-- "tls:HOST:PORT".

local M = {}

local WANTED = "unix:PATH is wanted, or tcp:HOST:PORT or tls:HOST:PORT"

--- Whether a host is this machine, whatever else it is called.
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

--- {kind = "unix", path =}, {kind = "tcp" or "tls", host =, port =}; or nil, message, code.
function M.parse(text)
  if text:find "^%w+://" then return nil, text .. ": " .. WANTED, "invalid" end
  local kind, rest = text:match "^(t%l%l):(.*)$"
  if kind == "tcp" or kind == "tls" then return net(kind, rest) end
  local path = text:gsub("^unix:", "")
  if path == "" then return nil, WANTED, "invalid" end
  if #path > 100 then return nil, path .. ": the path of a socket has at most 100 bytes", "limit" end
  return { kind = "unix", path = path }
end

--- As text.
function M.text(address)
  if address.kind == "unix" then return "unix:" .. address.path end
  return ((address.host:find ":" and "%s:[%s]:%d" or "%s:%s:%d"):format(address.kind, address.host, address.port))
end

return M
