--- certificate.lua - the certificate and the private key of a service for TLS, from files that can be read again.

local core = require "weir.core"
local net = require "weir.serve.net"

local M = {}

local Certificate = {}
Certificate.__index = Certificate

--- Reads the files again. Returns true; or nil, message, code, and the certificate known before stays.
function Certificate:reload()
  local bits = core.file_mode(self.key)
  if bits and bits & 63 ~= 0 then return nil, ("%s: others may read it (mode %o); chmod 600"):format(self.key, bits & 511), "forbidden" end
  local context, why, code = net.tls_server(self.path, self.key)
  if not context then return nil, why, code end
  self.context = context
  return true
end

--- Returns a TLS session for a new connection, with the certificate read last.
function Certificate:session() return self.context:session() end

--- Reads a certificate with its chain, and its private key, in PEM form. Returns the certificate; or nil, message, code.
function M.open(path, key)
  local self = setmetatable({ path = path, key = key }, Certificate)
  local ok, why, code = self:reload()
  if not ok then return nil, why, code end
  return self
end

return M
