--- log.lua - the log of a service: an event a line on stderr, as text or as JSON.
--
--   local log = require("weir.serve.log").new { format = "json", level = "info", write = f, now = f }
--   log("a client was dropped", { level = "warn", client = "alice" })

local core = require "weir.core"

local M = {}

M.LEVELS = { "debug", "info", "warn", "error" }

-- BURST: lines of a kind that clients can cause at will, logged at once; EACH: seconds until a further line is
-- allowed. The log grows by at most 1.5 MB a day and kind.
local BURST, EACH = 10, 6

local OWN = { level = true, often = true } -- fields for the log itself, not printed

local RANK = {}
for i, name in ipairs(M.LEVELS) do RANK[name] = i end

-- Returns valid UTF-8 for any bytes that a client has sent.
local function clean(value)
  if type(value) ~= "string" or utf8.len(value) then return value end
  return (value:gsub("[\128-\255]", "?"))
end

local function stamp(now)
  return os.date("!%Y-%m-%dT%H:%M:%S", now // 1 | 0) .. (".%03dZ"):format((now % 1) * 1000 // 1 | 0)
end

local function as_json(self, level, text, fields)
  local entry = { time = stamp(self.now()), level = level, event = clean(text) }
  for key, value in pairs(fields) do
    if not OWN[key] then entry[key] = clean(value) end
  end
  return (core.json_encode(entry, { sort = true }))
end

local function as_text(_, _, text, fields)
  local names = {}
  for key in pairs(fields) do
    if not OWN[key] then names[#names + 1] = key end
  end
  table.sort(names)
  for _, key in ipairs(names) do text = ("%s  %s=%s"):format(text, key, tostring(fields[key])) end
  return text
end

local WRITERS = { text = as_text, json = as_json }

-- Returns true if the rate limit of the kind allows a line. Field `left_out` of the line counts the lines suppressed
-- before.
local function has_room(self, fields)
  local now = self.now()
  local kind = self.kinds[fields.often] or { tokens = BURST, at = now, left_out = 0 }
  self.kinds[fields.often] = kind
  kind.tokens, kind.at = math.min(BURST, kind.tokens + math.max(0, now - kind.at) / EACH), now
  if kind.tokens < 1 then
    kind.left_out = kind.left_out + 1
    return false
  end
  fields.left_out = kind.left_out > 0 and kind.left_out or nil
  kind.tokens, kind.left_out = kind.tokens - 1, 0
  return true
end

--- Makes a log: a function of a text and fields. Two fields are not printed: `level` ("warn" by default), and `often`,
--- the kind (or true) of a line that clients can cause at will, to be rate limited. opts: format ("text" or "json"),
--- level (lowest level logged), write(line), now() in seconds since 1970.
function M.new(opts)
  local self, min = { now = opts.now, kinds = {} }, RANK[opts.level]
  local make = WRITERS[opts.format]
  return function(text, fields)
    fields = fields or {}
    local level = fields.level or "warn"
    if RANK[level] < min or fields.often and not has_room(self, fields) then return end
    opts.write(make(self, level, text, fields))
  end
end

return M
