--- wire.lua - one JSON object a line: requests {"id", "method", "params"}, answers {"id", "result"}, {"id", "result", "more": true} and
-- {"id", "error", "code"}.

local core = require "weir.core"

local M = {}

--- Lines out of what arrives in pieces. `most`: bytes of a line.
local Lines = {}
Lines.__index = Lines

function M.lines(most) return setmetatable({ text = "", at = 1, most = most, pieces = {}, size = 0 }, Lines) end

-- A piece of a line that goes on. A piece that is no shorter than the piece before is put together with that, so that few are kept,
-- however small they come, and each byte is copied a few times only.
local function keep(self, piece)
  local pieces = self.pieces
  self.size = self.size + #piece
  while #pieces > 0 and #pieces[#pieces] <= #piece do piece = table.remove(pieces) .. piece end
  pieces[#pieces + 1] = piece
end

-- A line that goes on is put together when its end is there: one of many megabytes comes in hundreds of pieces.
function Lines:put(piece)
  if self.seen and not piece:find("\n", 1, true) then return keep(self, piece) end
  if self.pieces[1] then
    piece = table.concat(self.pieces) .. piece
    self.pieces, self.size = {}, 0
  end
  self.text = self.at > #self.text and piece or self.text:sub(self.at) .. piece
  self.at = 1
end

--- The next line; nil: there is none yet; false: it is longer than it may be.
function Lines:next()
  local stop = self.text:find("\n", math.max(self.at, self.seen or 1), true)
  if not stop then
    self.seen = #self.text + 1
    local rest = #self.text - self.at + 1
    if rest + self.size > self.most then return false end
    if self.at > 1 then self.text, self.at, self.seen = self.text:sub(self.at), 1, rest + 1 end
    return nil
  end
  local line = self.text:sub(self.at, stop - 1)
  self.at, self.seen = stop + 1, nil
  if #line > self.most then return false end
  return line:byte(-1) == 13 and line:sub(1, -2) or line
end

--- Whether the end of a line is there.
function Lines:is_whole() return self.text:find("\n", math.max(self.at, self.seen or 1), true) ~= nil end

--- Bytes that wait.
function Lines:waiting() return #self.text - self.at + 1 + self.size end

local function is_id(id) return type(id) == "string" and #id <= 128 or type(id) == "number" and id == id end

--- A request, {id =, method =, params =}; or nil, message, and its id where that can be told.
function M.request(line)
  local ok, value, why = pcall(core.json_decode, line)
  if not ok or value == nil then return nil, "a request is a JSON object on a line: " .. tostring(ok and why or value) end
  if type(value) ~= "table" then return nil, "a request is a JSON object" end
  local id = value.id
  if not is_id(id) then return nil, "a request has an id, a number or a text of at most 128 bytes" end
  if type(value.method) ~= "string" then return nil, "a request has a method, a text", id end
  local params = value.params
  if params == nil or params == core.null then params = {} end
  if type(params) ~= "table" then return nil, "params are an object", id end
  value.params = params
  return value
end

local write = core.json_line

--- An answer. What cannot be written as JSON (a name that is not UTF-8) is an error in its place.
function M.answer(id, result, more)
  local ok, text = pcall(write, { id = id, result = result, more = more or nil })
  if ok then return text end
  return M.error(id, "the answer cannot be written: " .. tostring(text), "internal")
end

-- A text of any bytes as UTF-8: what is none shows as \xNN.
local function readable(text)
  local parts, at = {}, 1
  while true do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or 0) - 1)
    if not bad then return table.concat(parts) end
    parts[#parts + 1] = ("\\x%02x"):format(text:byte(bad))
    at = bad + 1
  end
end

--- An error keeps the id of its request, whatever was said: messages may come from a policy or a filter of anybody.
function M.error(id, why, code)
  local answer = { id = id == nil and core.null or id, error = tostring(why), code = code or "error" }
  local ok, text = pcall(write, answer)
  if ok then return text end
  answer.error = readable(answer.error)
  return write(answer)
end

return M
