--- connection.lua - a connection of a client: lines received, answers owed, and limits on both.
--
-- Invariant: only `flush` writes, and the server calls `flush` after the state reported by the answers was saved. While
-- more than `high` bytes wait for a client, no request of the client is read. The streams of the client may add up to
-- `most` bytes in addition to a single answer of any length; beyond `most` the client is dropped.

local core = require "weir.core"
local failure = require "weir.failure"
local wire = require "weir.serve.wire"

local M = {}

local Client = {}
Client.__index = Client

local STRANGE = 4096               -- bytes of a line before the login
local PAGE, PAGE_BYTES = 200, 1 << 16 -- entries of a page; a page ends at the entry that exceeds PAGE_BYTES

-- ---- calls ----------------------------------------------------------------------------------------------------------

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

-- Returns the next page of a list made while being sent: as many entries as fit.
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

--- Returns the next page of a list {name =, n =, at =, make(i) =} as a result, and true for the last page.
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

-- ACTS are the functions a method may use of its call. Each is made on first use, as most calls need only a few.
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
  return function(why, code, more)
    call.client.failed(code or "error")
    put(call.client, call, wire.error(call.id, why, code, more))
    finished(call.client, call)
  end
end

--- Passes on the answer of a copy of the service (copies.lua), a line.
function ACTS.pass(call)
  return function(text, last)
    put(call.client, call, text)
    if last then finished(call.client, call) end
  end
end

function ACTS.finish(call)
  return function() call.answer { ended = true } end
end

-- Raises like params.fail: streams and pages are started from within methods.
local function too_many(what, most)
  failure.raise(("%d %s are in flight, which is as many as may be"):format(most, what), "limit")
end

function ACTS.stream(call)
  return function()
    local n = #call.client:in_flight()
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

--- Makes the call for a request on the connection.
function Client:call(request)
  local call = setmetatable({ client = self, id = request.id, method = request.method, params = request.params, over = false }, Call)
  self.calls[call.id] = call
  self.ncalls = self.ncalls + 1
  return call
end

-- Sets role and name. Lines are short until the login.
local function become(self, role, name)
  self.role, self.name = role, name
  self.lines.most = role == "anyone" and math.min(STRANGE, self.limits.line) or self.limits.line
end

--- Changes role and name after "login" with a token {token =, role =, name =}. Returns true; or nil and why no further
--- connection of the user fits.
function Client:login(token)
  local ok, why = self.identify(token.role, token.name)
  if not ok then return nil, why end
  become(self, token.role, token.name)
  self.token = token
  return true
end

--- Returns true if no call is in flight and no byte waits in either direction.
function Client:is_idle() return self.ncalls == 0 and self.lines:waiting() == 0 and self:waiting() == 0 end

--- Returns the streams in flight as a list, and the number of all other calls in flight.
function Client:in_flight()
  local streams = {}
  for _, call in pairs(self.calls) do streams[#streams + 1] = call.streams and call or nil end
  return streams, self.ncalls - #streams
end

--- Returns the stream with an id, or nil.
function Client:find(id)
  local call = id ~= nil and self.calls[id] or nil
  return call and call.streams and call or nil
end

-- ---- requests -------------------------------------------------------------------------------------------------------

--- Takes the next request received and calls handle(call). Returns "done"; "none" if no whole line is waiting; or "bad"
-- if the connection must be closed.
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
    call.size, call.line = #line, line
    handle(call)
  end
  return "done"
end

--- Sends further pages while the client reads them. Returns true if pages are left.
function Client:continue()
  while self.paging[1] and self:waiting() < self.limits.high do
    if send_page(self, self.paging[1]) then table.remove(self.paging, 1) end
  end
  return self.paging[1] ~= nil
end

-- ---- going out ------------------------------------------------------------------------------------------------------

--- Returns the number of bytes not yet read by the client.
function Client:waiting() return self.out_bytes + self.queued() end

--- Replaces unsent answers by an error, after a failed save. Calls with pages or streams end.
function Client:revoke(why, code)
  local notified, out, whose = {}, self.out, self.whose
  self.out, self.whose, self.out_bytes, self.paging = {}, {}, 0, {}
  for i, call in ipairs(whose) do
    if not call then
      put(self, nil, out[i])
    elseif not notified[call] then
      notified[call] = true
      put(self, nil, wire.error(call.id, why, code))
      finished(self, call)
    end
  end
end

--- Returns the text to be written, or nil, and forgets it.
function Client:flush()
  local out, n = self.out, #self.out
  if n == 0 then return nil end
  local text = n == 1 and out[1] or table.concat(out)
  self.out, self.whose, self.out_bytes = {}, {}, 0
  return text
end

--- Makes a connection. opts: role and name (see roles.lua); identify(role, name), as `login`; limits (see server.lua);
--- queued(): bytes queued but not yet written; touch(client), called when the client has output; failed(code),
--- called for each error answer; array(list), marks a list for JSON.
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
