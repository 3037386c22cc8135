--- recording.lua - recordings of the acquisition protocol as JSON lines, and replaying them.
--
-- A line is {"n": 1, "group": "default", "request": "resource.acquire", "payload": {...}}, or has "response" or
-- "error" in place of request and payload; "at" is the time in seconds since the first line.
-- Requests were sent by the scheduler: a replay must send equal requests.

local core = require "weir.core"

local M = {}

--- Returns a function for opts.record of a scheduler client: it writes each entry as a line through write(text). With
--- now(), in seconds, an entry has the time since the first entry as "at", which scenarios need.
function M.writer(write, now)
  local n, begin = 0, nil
  return function(entry)
    n = n + 1
    begin = begin or now and now()
    entry.n, entry.at = n, now and now() - begin or nil
    write(core.json_encode(entry, { sort = true }) .. "\n")
  end
end

local function entry_of(line, number)
  local entry, why = core.json_decode(line)
  if type(entry) ~= "table" or type(entry.group) ~= "string" then
    return nil, ("line %d: %s"):format(number, why or "expected an object with a group"), "parse"
  end
  return entry
end

--- Parses the text of a recording. Returns a list of entries; or nil, message, code.
function M.read(text)
  local entries, number = {}, 0
  for line in text:gmatch "[^\n]+" do
    number = number + 1
    local entry, why, code = entry_of(line, number)
    if not entry then return nil, why, code end
    entries[number] = entry
  end
  return entries
end

local function same(a, b)
  return core.json_encode(a, { sort = true }) == core.json_encode(b, { sort = true })
end

local function check(sent, entry)
  local got = table.remove(sent, 1)
  if not got then return nil, ("entry %d: %s was not sent"):format(entry.n, entry.request), "differs" end
  if got.method == entry.request and got.group == entry.group and same(got.payload, entry.payload) then return true end
  return nil, ("entry %d: %s %s was sent in place of %s %s"):format(entry.n, got.method, core.json_encode(got.payload), entry.request,
    core.json_encode(entry.payload)), "differs"
end

--- Replays a recording to a scheduler client made and started by make(send). before(entry, client), if given, is called
--- before each entry, to repeat matches and releases. Returns the client; or nil, message, code if the client sends a
--- request different from the recording.
function M.play(entries, make, before)
  local sent = {}
  local follower = make(function(method, payload, group) sent[#sent + 1] = { method = method, payload = payload, group = group } end)
  for _, entry in ipairs(entries) do
    if before then before(entry, follower) end
    if entry.request then
      local ok, why, code = check(sent, entry)
      if not ok then return nil, why, code end
    elseif entry.error then
      follower:error(entry.group, entry.error)
    else
      follower:receive(entry.group, entry.response)
    end
  end
  if sent[1] then return nil, ("%s was sent, and is not in the recording"):format(sent[1].method), "differs" end
  return follower
end

return M
