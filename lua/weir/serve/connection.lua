--- connection.lua - one connection as the server has it: what it sends, what it is owed, what it may cost.
--
-- Invariant: nothing is written but by `flush`, which the server calls after what the answers tell was saved. A client that does
-- not read is not read from any more, once `high` bytes wait for it; its streams may pile up to `most` bytes
-- besides one answer of any length, then it is dropped.

local core = require "weir.core"
local wire = require "weir.serve.wire"

local M = {}

local Client = {}
Client.__index = Client

local STRANGE = 4096               -- bytes of a line of a client that nobody knows yet
local PAGE, PAGE_BYTES = 200, 1 << 16 -- entries and, about, bytes of a page

-- ---- calls ---------------------------------------------------------------------------------------------------------------------

local function finished(self, call)
  if call.over then return end
  call.over = true
  self.calls[call.id] = nil
  self.ncalls = self.ncalls - 1
end

local function put(self, call, text)
  if self.gone or call and call.over then return end
  local n = #self.out + 1
  self.out[n], self.whose[n] = text, call or false
  self.out_bytes = self.out_bytes + #text
  if #text > self.largest then self.largest = #text end
  if not self.touched then self.touch(self) end
end

-- The pages of a list that is made while it is sent: as many entries at once as fit.
local function next_page(page)
  local bytes, list = 0, {}
  while page.at < page.n and #list < PAGE and bytes < PAGE_BYTES do
    page.at = page.at + 1
    local entry = page.make(page.at)
    if entry ~= nil then
      list[#list + 1] = entry
      bytes = bytes + (type(entry) == "table" and 200 or #entry)
    end
  end
  return list, page.at >= page.n
end

--- The next page of a list, {name =, n =, at =, make(i) =}, as a result; and whether it is the last one.
function M.page(page)
  local list, last = next_page(page)
  return { [page.name] = core.array(list), total = page.n }, last
end

local function send_page(self, call)
  local result, last = M.page(call.page)
  put(self, call, wire.answer(call.id, result, not last))
  if last then finished(self, call) end
  return last
end

-- What a method can do with its call; each is made when it is asked for, as most calls need one of them.
local ACTS = {}

function ACTS.answer(call)
  return function(result)
    put(call.client, call, wire.answer(call.id, result))
    finished(call.client, call)
  end
end

function ACTS.more(call)
  return function(result) put(call.client, call, wire.answer(call.id, result, true)) end
end

function ACTS.fail(call)
  return function(why, code)
    call.client.failed(code or "error")
    put(call.client, call, wire.error(call.id, why, code))
    finished(call.client, call)
  end
end

--- What a copy of the service has answered (copies.lua), as it is.
function ACTS.pass(call)
  return function(text, last)
    put(call.client, call, text)
    if last then finished(call.client, call) end
  end
end

function ACTS.finish(call)
  return function() call.answer { ended = true } end
end

-- Raises as params.lua does, as what asks for a stream or for pages is a method.
local function too_many(what, most)
  error({ misuse = ("%d %s are in flight, which is as many as may be"):format(most, what), code = "limit" }, 0)
end

function ACTS.stream(call)
  return function()
    local n = 0
    for _, other in pairs(call.client.calls) do n = n + (other.streams and 1 or 0) end
    if n >= call.client.limits.streams then too_many("streams", n) end
    call.streams = true
  end
end

function ACTS.pages(call)
  return function(name, n, make)
    local self = call.client
    if #self.paging >= self.limits.lists then too_many("lists", #self.paging) end
    call.page = { name = name, n = n, at = 0, make = make }
    if not send_page(self, call) then self.paging[#self.paging + 1] = call end
  end
end

local Call = {
  __index = function(call, name)
    local make = ACTS[name]
    return make and make(call)
  end,
}

--- A call on this connection, for one request.
function Client:call(request)
  local call = setmetatable({ client = self, id = request.id, method = request.method, params = request.params, over = false }, Call)
  self.calls[call.id] = call
  self.ncalls = self.ncalls + 1
  return call
end

-- A stranger's lines are short.
local function become(self, role, name)
  self.role, self.name = role, name
  self.lines.most = role == "anyone" and math.min(STRANGE, self.limits.line) or self.limits.line
end

--- Somebody else from now on, after "login": true; or nil and why there is no room for one more of them.
function Client:login(role, name)
  local ok, why = self.identify(role, name)
  if not ok then return nil, why end
  become(self, role, name)
  return true
end

--- Whether nothing is under way.
function Client:is_idle() return self.ncalls == 0 and self.lines:waiting() == 0 and self:waiting() == 0 end

--- The stream with an id, or nil.
function Client:find(id)
  local call = id ~= nil and self.calls[id] or nil
  return call and call.streams and call or nil
end

-- ---- requests ------------------------------------------------------------------------------------------------------------------

--- Answers the next request that has arrived, by handle(call). "done", "none", or "bad": the connection is to be closed.
function Client:step(handle)
  local line = self.lines:next()
  if line == nil then return "none" end
  if line == false then
    put(self, nil, wire.error(nil, ("a line may have %d bytes"):format(self.lines.most), "limit"))
    return "bad"
  end
  if line == "" or line:find "^%s*$" then return "done" end
  local request, why, id = wire.request(line)
  if not request then
    put(self, nil, wire.error(id, why, "parse"))
  elseif self.calls[request.id] then
    put(self, nil, wire.error(request.id, "a request with this id is in flight", "exists"))
  elseif self.ncalls >= self.limits.calls then
    put(self, nil, wire.error(request.id, ("%d requests are in flight, which is as many as may be"):format(self.ncalls), "limit"))
  else
    local call = self:call(request)
    call.size = #line
    handle(call)
  end
  return "done"
end

--- Sends more of what comes in pages, as long as the client takes it. Whether there is still more.
function Client:continue()
  while self.paging[1] and self:waiting() < self.limits.high do
    if send_page(self, self.paging[1]) then table.remove(self.paging, 1) end
  end
  return self.paging[1] ~= nil
end

-- ---- going out ------------------------------------------------------------------------------------------------------------------

--- Bytes that wait for the client to read.
function Client:waiting() return self.out_bytes + self.queued() end

--- The answers were not saved: each of them is an error now. Calls that came in pages or streams end.
function Client:revoke(why, code)
  local told, out, whose = {}, self.out, self.whose
  self.out, self.whose, self.out_bytes, self.paging = {}, {}, 0, {}
  for i, call in ipairs(whose) do
    if not call then
      put(self, nil, out[i])
    elseif not told[call] then
      told[call] = true
      put(self, nil, wire.error(call.id, why, code))
      finished(self, call)
    end
  end
end

--- Hands over what is to be written: a text, or nil.
function Client:flush()
  local out, n = self.out, #self.out
  if n == 0 then return nil end
  local text = n == 1 and out[1] or table.concat(out)
  self.out, self.whose, self.out_bytes = {}, {}, 0
  return text
end

--- A connection. opts: role and name (see roles.lua); identify(role, name), as `login`; limits (see server.lua); queued(): bytes that
--- were handed over and not written yet; touch(client): it has something to be written; failed(code): a call of it has failed;
--- array(list): marks a list for JSON.
function M.new(opts)
  local self = setmetatable({
    lines = wire.lines(opts.limits.line), limits = opts.limits, queued = opts.queued, touch = opts.touch, failed = opts.failed,
    identify = opts.identify, array = opts.array, out = {}, whose = {}, out_bytes = 0, largest = 0, calls = {}, ncalls = 0,
    paging = {}, touched = false,
  }, Client)
  become(self, opts.role, opts.name)
  return self
end

return M
