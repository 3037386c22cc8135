--- wire.lua - the protocol of the service, a JSON object a line: requests {"id", "method", "params"}; answers {"id",
-- "result"}, {"id", "result", "more": true} and {"id", "error", "code"}.

local core = require "weir.core"

local M = {
  --- The version of the protocol, reported by the method hello; increased when clients of the version before would fail.
  PROTOCOL = 1,
}

--- Makes a splitter of input into lines. `most`: bytes allowed in a line.
local Lines = {}
Lines.__index = Lines

function M.lines(most) return setmetatable({ text = "", at = 1, most = most, pieces = {}, size = 0 }, Lines) end

-- Keeps a piece of an unfinished line. A piece at least as long as its predecessor is joined with the predecessor, so
-- the pieces stay few however small they come, and each byte is copied a logarithmic number of times.
local function keep(self, piece)
  local pieces = self.pieces
  self.size = self.size + #piece
  while #pieces > 0 and #pieces[#pieces] <= #piece do piece = table.remove(pieces) .. piece end
  pieces[#pieces + 1] = piece
end

-- Takes a piece of input. The pieces of a long line are joined only when the line ends: a line of many megabytes comes
-- in hundreds of pieces.
function Lines:put(piece)
  if self.seen and not piece:find("\n", 1, true) then return keep(self, piece) end
  if self.pieces[1] then
    piece = table.concat(self.pieces) .. piece
    self.pieces, self.size = {}, 0
  end
  self.text = self.at > #self.text and piece or self.text:sub(self.at) .. piece
  self.at = 1
end

--- Returns the next line; nil if no whole line is waiting; false if the line is too long.
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

--- Returns true if a whole line is waiting.
function Lines:is_whole() return self.text:find("\n", math.max(self.at, self.seen or 1), true) ~= nil end

--- Returns the number of waiting bytes.
function Lines:waiting() return #self.text - self.at + 1 + self.size end

local function is_id(id) return type(id) == "string" and #id <= 128 or type(id) == "number" and id == id end

--- Parses a request. Returns {id =, method =, params =}; or nil, message, and the id if the line has a valid id.
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

--- Returns the line of an answer. A result that JSON cannot hold (a name not in UTF-8) becomes an error.
function M.answer(id, result, more)
  local ok, text = pcall(write, { id = id, result = result, more = more or nil })
  if ok then return text end
  return M.error(id, "the answer cannot be written: " .. tostring(text), "internal")
end

-- Returns a text as UTF-8; bytes not in UTF-8 show as \xNN.
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

--- Returns the line of an error, with the fields of `more`, if any. The id of the request is always kept, though a message may hold
-- any bytes, as messages
-- of policies and filters do.
function M.error(id, why, code, more)
  local answer = { id = id == nil and core.null or id, error = tostring(why), code = code or "error" }
  for key, value in pairs(more or {}) do answer[key] = value end
  local ok, text = pcall(write, answer)
  if ok then return text end
  answer.error = readable(answer.error)
  return write(answer)
end

return M
