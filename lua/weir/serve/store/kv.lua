--- store/kv.lua - etcd through its JSON gateway: requests that wait for their answer, and others that do not.
--
-- "io" as a code means: no answer, or one that says nothing about what was done. Anything else was refused, and is not done.

local core = require "weir.core"

local M = { TRY = 3 } -- seconds for an answer, unless told otherwise

local Kv = {}
Kv.__index = Kv

local PAGE = 200 -- keys of an answer

-- ---- requests ------------------------------------------------------------------------------------------------------------------

--- Begins a request to the endpoint in use.
function Kv:begin(path, body, seconds)
  return self.http:post(self.endpoints[self.at] .. "/v3/" .. path, core.json_encode(body), seconds)
end

--- Lets requests that have begun go on; waits for at most so many seconds.
function Kv:step(seconds) return self.http:step(seconds or 0) end

--- Takes the next endpoint from here on.
function Kv:turn() self.at = self.at % #self.endpoints + 1 end

local UNSURE = { [1] = true, [2] = true, [4] = true, [10] = true, [13] = true, [14] = true } -- of gRPC: cancelled, late, aborted, ...
local WORDS = { [3] = "invalid", [5] = "unknown", [8] = "limit" }

local function refused(self, status, text)
  local ok, told = pcall(core.json_decode, text)
  local where = self.endpoints[self.at]
  if not ok or type(told) ~= "table" or not (told.error or told.message) then
    return nil, ("%s: what answers there is no etcd (HTTP %d)"):format(where, status), "io" -- something between may be in trouble
  end
  local code = told.code or told.grpc_code
  return nil, ("%s: %s"):format(where, told.error or told.message), UNSURE[code] and "io" or WORDS[code] or "refused"
end

--- What a request has come to: false: it is under way; the answer; or nil, message, code.
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

--- Asks, and waits. meanwhile(): called while it waits.
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

--- Asks each endpoint once, until one knows.
function Kv:try(path, body, seconds)
  local answer, why, code
  for _ = 1, #self.endpoints do
    answer, why, code = self:ask(path, body, seconds)
    if answer or code ~= "io" then break end
  end
  return answer, why, code
end

-- ---- keys -----------------------------------------------------------------------------------------------------------------------

local b64 = core.base64

--- The first key that does not begin with a prefix. The last byte of a prefix is "/" or a digit, never 255.
function M.after(prefix) return prefix:sub(1, -2) .. string.char(prefix:byte(-1) + 1) end

--- Parts of transactions.
function M.put(key, text, lease) return { requestPut = { key = b64(key), value = b64(text), lease = lease } } end
function M.delete(key) return { requestDeleteRange = { key = b64(key) } } end
function M.delete_below(prefix) return { requestDeleteRange = { key = b64(prefix), range_end = b64(M.after(prefix)) } } end
function M.get(key) return { requestRange = { key = b64(key) } } end
--- Many of them as one: etcd takes at most 128 operations side by side, but those within each other count anew.
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

--- A key as the gateway tells it: {key =, text =, created =, modified =}.
function M.entry(kv)
  return {
    key = core.unbase64(kv.key), text = kv.value and core.unbase64(kv.value) or "",
    created = math.tointeger(tonumber(kv.create_revision)), modified = math.tointeger(tonumber(kv.mod_revision)),
  }
end

--- One key: its entry; false: it is not there; or nil, message, code.
function Kv:get(key, seconds)
  local answer, why, code = self:try("kv/range", { key = b64(key) }, seconds)
  if not answer then return nil, why, code end
  return answer.kvs and answer.kvs[1] and M.entry(answer.kvs[1]) or false
end

--- Calls take(entry) for all keys that begin with a prefix, as of one moment: true; or nil, message, code.
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

-- ---- watching -------------------------------------------------------------------------------------------------------------------

local Watch = {}
Watch.__index = Watch

--- Watches a key, or with below = true all that begin with it, from a revision on (now, if not given).
function Kv:watch(key, opts)
  opts = opts or {}
  local self_ = { kv = self, text = "" }
  self_.request = self:begin("watch", { create_request = {
    key = b64(key), range_end = opts.below and b64(M.after(key)) or nil, start_revision = opts.from and tostring(opts.from) or nil,
  } }, 0)
  return setmetatable(self_, Watch)
end

--- What has happened since: a list of {gone = true or nil, key =, text =, ...}; or nil, message, code: it is over, begin anew.
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

-- ---- opening --------------------------------------------------------------------------------------------------------------------

--- "http://host:port,http://host:port/prefix": endpoints and prefix ("/weir" if there is none); or nil, message, code.
function M.address(text)
  local endpoints, rest, prefix = {}, text, nil
  while true do
    local endpoint, after = rest:match "^(https?://[%w%.%-%[%]:_]+)(.*)$"
    if not endpoint then break end
    endpoints[#endpoints + 1] = endpoint
    prefix, rest = after, after:match "^,(.*)$"
    if not rest then break end
  end
  if #endpoints == 0 or prefix:find "[,%s%c]" or (prefix ~= "" and prefix:sub(1, 1) ~= "/") then
    return nil, ("etcd:%s: http://HOST:PORT[,http://HOST:PORT...][/PREFIX] is wanted"):format(text), "invalid"
  end
  prefix = prefix:gsub("/+$", "")
  return endpoints, prefix ~= "" and prefix or "/weir"
end

--- A client of an etcd. Files for TLS are named as etcdctl has them, in ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY.
function M.open(endpoints)
  local http, why, code = core.http { ca = os.getenv "ETCDCTL_CACERT", cert = os.getenv "ETCDCTL_CERT", key = os.getenv "ETCDCTL_KEY" }
  if not http then return nil, why, code end
  return setmetatable({ http = http, endpoints = endpoints, at = 1 }, Kv)
end

function Kv:close() self.http:close() end

Kv.__close = Kv.close

return M
