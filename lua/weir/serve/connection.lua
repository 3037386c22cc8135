--- connection.lua - one connection as the server has it: what it sends, what it is owed, what it may cost.
--
-- Invariant: nothing is written but by `flush`, which the server calls after what the answers tell was saved. A client that does
-- not read is not read from any more, once `high` bytes wait for it; its streams may pile up to `most` bytes, then it is dropped.

local wire = require "weir.serve.wire"

local M = {}

local Client = {}
Client.__index = Client

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
  self.out[#self.out + 1] = { text = text, call = call }
  self.out_bytes = self.out_bytes + #text
end

-- The pages of a list that is made while it is sent: as many entries at once as fit.
local function next_page(call)
  local page, bytes, list = call.page, 0, {}
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

local function send_page(self, call)
  local list, last = next_page(call)
  local result = { [call.page.name] = self.array(list), total = call.page.n }
  put(self, call, wire.answer(call.id, result, not last))
  if last then finished(self, call) end
  return last
end

--- A call on this connection, for one request.
function Client:call(request)
  local call = { client = self, id = request.id, method = request.method, params = request.params }
  function call.answer(result)
    put(self, call, wire.answer(call.id, result))
    finished(self, call)
  end
  function call.more(result) put(self, call, wire.answer(call.id, result, true)) end
  function call.fail(why, code)
    put(self, call, wire.error(call.id, why, code))
    finished(self, call)
  end
  function call.finish() call.answer { ended = true } end
  function call.stream() call.streams = true end
  function call.pages(name, n, make)
    call.page = { name = name, n = n, at = 0, make = make }
    if not send_page(self, call) then self.paging[#self.paging + 1] = call end
  end
  self.calls[call.id] = call
  self.ncalls = self.ncalls + 1
  return call
end

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
  if line:find "^%s*$" then return "done" end
  local request, why, id = wire.request(line)
  if not request then
    put(self, nil, wire.error(id, why, "parse"))
  elseif self.calls[request.id] then
    put(self, nil, wire.error(request.id, "a request with this id is in flight", "exists"))
  elseif self.ncalls >= self.limits.calls then
    put(self, nil, wire.error(request.id, ("%d requests are in flight, which is as many as may be"):format(self.ncalls), "limit"))
  else
    handle(self:call(request))
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
  local told, out = {}, self.out
  self.out, self.out_bytes, self.paging = {}, 0, {}
  for _, entry in ipairs(out) do
    local call = entry.call
    if not call then
      put(self, nil, entry.text)
    elseif not told[call] then
      told[call] = true
      put(self, nil, wire.error(call.id, why, code))
      finished(self, call)
    end
  end
end

--- Hands over what is to be written: a list of texts, or nil.
function Client:flush()
  if not self.out[1] then return nil end
  local texts = {}
  for i, entry in ipairs(self.out) do texts[i] = entry.text end
  self.out, self.out_bytes = {}, 0
  return texts
end

--- A connection. limits: line, calls, high, most (bytes, count); queued(): bytes that were handed over and not written yet;
--- array(list): marks a list for JSON.
function M.new(limits, queued, array)
  return setmetatable({
    lines = wire.lines(limits.line), limits = limits, queued = queued, array = array, out = {}, out_bytes = 0, calls = {}, ncalls = 0,
    paging = {},
  }, Client)
end

return M
