--- store/kv.lua - a client of etcd's JSON gateway, with requests that wait for the answer and requests that do not.
--
-- Code "io": no answer came, or an answer that leaves open whether the request was done. With any different code the
-- request was refused and not done.

local core = require "weir.core"
local net = require "weir.serve.net"

local M = { TRY = 3 } -- seconds to wait for an answer, by default

local Kv = {}
Kv.__index = Kv

local PAGE = 200 -- keys in an answer

-- ---- requests -------------------------------------------------------------------------------------------------------

--- Begins a request to the current endpoint. Returns the request.
function Kv:begin(path, body, seconds)
  return self.http:post(self.endpoints[self.at] .. "/v3/" .. path, core.json_encode(body), seconds)
end

--- Lets begun requests go on; waits at most `seconds`.
function Kv:step(seconds) return self.http:step(seconds or 0) end

--- Switches to the next endpoint.
function Kv:turn() self.at = self.at % #self.endpoints + 1 end

-- codes of gRPC after which the request may have been done: cancelled, late, aborted, ...
local UNSURE = { [1] = true, [2] = true, [4] = true, [10] = true, [13] = true, [14] = true }
local WORDS = { [3] = "invalid", [5] = "unknown", [8] = "limit" }

local function refused(self, status, text)
  local ok, answer = pcall(core.json_decode, text)
  local where = self.endpoints[self.at]
  if not ok or type(answer) ~= "table" or not (answer.error or answer.message) then
    -- a proxy between service and etcd may be in trouble
    return nil, ("%s: what answers there is no etcd (HTTP %d)"):format(where, status), "io"
  end
  local code = answer.code or answer.grpc_code
  return nil, ("%s: %s"):format(where, answer.error or answer.message), UNSURE[code] and "io" or WORDS[code] or "refused"
end

--- Returns the result of a request: false while in flight; the answer; or nil, message, code.
function Kv:result(request)
  local status, why, code = request:status()
  if not status then
    if why then why = ("%s: %s"):format(self.endpoints[self.at], why) end
    return status, why, code
  end
  local text = request:take()
  if status ~= 200 then return refused(self, status, text) end
  local ok, answer = pcall(core.json_decode, text)
  if ok and type(answer) == "table" and answer.error and not answer.result then return refused(self, status, text) end
  answer = ok and type(answer) == "table" and (answer.result or answer)
  if type(answer) ~= "table" or type(answer.header) ~= "table" then return refused(self, status, "") end
  return answer
end

--- Sends a request and waits for the answer. meanwhile() is called repeatedly during the wait.
function Kv:ask(path, body, seconds, meanwhile)
  local request <close> = self:begin(path, body, seconds or M.TRY)
  while true do
    self:step(0.02)
    local answer, why, code = self:result(request)
    if answer ~= false then
      if code == "io" then self:turn() end
      return answer, why, code
    end
    if meanwhile then meanwhile() end
  end
end

--- Queries each endpoint once, until one answers.
function Kv:try(path, body, seconds)
  local answer, why, code
  for _ = 1, #self.endpoints do
    answer, why, code = self:ask(path, body, seconds)
    if answer or code ~= "io" then break end
  end
  return answer, why, code
end

-- ---- keys -----------------------------------------------------------------------------------------------------------

local b64 = net.base64

--- Returns the first key behind all keys with a prefix. The last byte of a prefix is "/" or a digit, never 255.
function M.after(prefix) return prefix:sub(1, -2) .. string.char(prefix:byte(-1) + 1) end

--- Operations of a transaction.
function M.put(key, text, lease) return { requestPut = { key = b64(key), value = b64(text), lease = lease } } end
function M.delete(key) return { requestDeleteRange = { key = b64(key) } } end
function M.delete_below(prefix) return { requestDeleteRange = { key = b64(prefix), range_end = b64(M.after(prefix)) } } end
function M.get(key) return { requestRange = { key = b64(key) } } end
--- Groups many operations: etcd takes at most 128 operations side by side, but counts nested operations separately.
function M.group(ops, each)
  if #ops <= each then return ops end
  local groups = {}
  for at = 1, #ops, each do
    groups[#groups + 1] = { requestTxn = { success = table.move(ops, at, math.min(at + each - 1, #ops), 1, {}) } }
  end
  return groups
end

function M.created(key, revision) return { key = b64(key), target = "CREATE", create_revision = tostring(revision) } end
function M.modified(key, revision) return { key = b64(key), target = "MOD", mod_revision = tostring(revision) } end

--- Converts a key as sent by the gateway to {key =, text =, created =, modified =}.
function M.entry(kv)
  return {
    key = net.unbase64(kv.key), text = kv.value and net.unbase64(kv.value) or "",
    created = math.tointeger(tonumber(kv.create_revision)), modified = math.tointeger(tonumber(kv.mod_revision)),
  }
end

--- Reads a key. Returns the entry; false if the key does not exist; or nil, message, code.
function Kv:get(key, seconds)
  local answer, why, code = self:try("kv/range", { key = b64(key) }, seconds)
  if not answer then return nil, why, code end
  return answer.kvs and answer.kvs[1] and M.entry(answer.kvs[1]) or false
end

--- Calls take(entry) for all keys with a prefix, all as of a single revision. Returns true; or nil, message, code.
function Kv:each(prefix, take, meanwhile)
  local from, revision = prefix, nil
  while true do
    local answer, why, code
    for _ = 1, #self.endpoints + 1 do
      answer, why, code = self:ask("kv/range", {
        key = b64(from), range_end = b64(M.after(prefix)), limit = tostring(PAGE), revision = revision,
      }, 4 * M.TRY, meanwhile)
      if answer or code ~= "io" then break end
    end
    if not answer then return nil, why, code end
    revision = revision or answer.header.revision
    local entry
    for _, kv in ipairs(answer.kvs or {}) do
      entry = M.entry(kv)
      take(entry)
    end
    if not answer.more or not entry then return true end
    from = entry.key .. "\0"
  end
end

-- ---- watching -------------------------------------------------------------------------------------------------------

local Watch = {}
Watch.__index = Watch

--- Watches a key, or with below = true all keys with a prefix, from a revision on (now by default). Returns the watch.
function Kv:watch(key, opts)
  opts = opts or {}
  local self_ = { kv = self, text = "" }
  self_.request = self:begin("watch", { create_request = {
    key = b64(key), range_end = opts.below and b64(M.after(key)) or nil, start_revision = opts.from and tostring(opts.from) or nil,
  } }, 0)
  return setmetatable(self_, Watch)
end

--- Returns the events since the last call, a list of {gone = true or nil, key =, text =, ...}; or nil, message, code if
-- the watch is over and has to start again.
function Watch:events()
  self.kv:step()
  self.text = self.text .. self.request:take()
  local list = {}
  for line in self.text:gmatch "([^\n]*)\n" do
    local ok, message = pcall(core.json_decode, line)
    local result = ok and type(message) == "table" and message.result
    if not result or result.canceled then return nil, "the watch has ended", "io" end
    self.ready = true
    for _, event in ipairs(result.events or {}) do
      local entry = M.entry(event.kv)
      entry.gone = event.type == "DELETE" or nil
      list[#list + 1] = entry
    end
  end
  self.text = self.text:match "[^\n]*$"
  if self.request:status() ~= false and #list == 0 then return nil, "the watch has ended", "io" end
  return list
end

function Watch:close() self.request:close() end

-- ---- opening --------------------------------------------------------------------------------------------------------

-- Parses "http://host:port,http://host:port/prefix". Returns endpoints and prefix ("/weir" by default); or nil,
-- message, code.
local function parse(text)
  local endpoints, rest, prefix = {}, text, nil
  while true do
    local endpoint, after = rest:match "^(https?://[%w%.%-%[%]:_]+)(.*)$"
    if not endpoint then break end
    endpoints[#endpoints + 1] = endpoint
    prefix, rest = after, after:match "^,(.*)$"
    if not rest then break end
  end
  if #endpoints == 0 or prefix:find "[,%s%c]" or (prefix ~= "" and prefix:sub(1, 1) ~= "/") then
    return nil, ("etcd:%s: expected http://HOST:PORT[,http://HOST:PORT...][/PREFIX]"):format(text), "invalid"
  end
  prefix = prefix:gsub("/+$", "")
  return endpoints, prefix ~= "" and prefix or "/weir"
end

--- Makes a client of an etcd at "http://host:port,http://host:port/prefix". Files for TLS are named by the variables of
-- etcdctl: ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY. Returns the client and the prefix, "/weir" by default; or nil, message,
-- code.
function M.open(address)
  local endpoints, prefix, wrong = parse(address)
  if not endpoints then return nil, prefix, wrong end
  local http, why, code = net.http { ca = os.getenv "ETCDCTL_CACERT", cert = os.getenv "ETCDCTL_CERT", key = os.getenv "ETCDCTL_KEY" }
  if not http then return nil, why, code end
  return setmetatable({ http = http, endpoints = endpoints, at = 1 }, Kv), prefix
end

function Kv:close() self.http:close() end

Kv.__close = Kv.close

return M
