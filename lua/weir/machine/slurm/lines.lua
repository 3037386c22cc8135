--- lines.lua - the lines of Slurm's configuration files: comments, lines that go on behind a backslash, Include, and
--- pairs of keys and values. An error is a failure (failure.lua) with the file and the line.

local bounds = require "weir.machine.bounds"
local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"
local texts = require "weir.texts"

local M = {}

local DEPTH = 16          -- files included in each other
local HOSTS = bounds.HOSTS
local LINE_MAX = 1 << 20  -- bytes of a line with all lines that continue it

--- Raises an error at a place, {file =, line =}; `code` is "parse" unless given.
function M.fail(place, text, ...)
  failure.raise(("%s:%d: %s"):format(place.file, place.line, texts.plain(text:format(...))), "parse")
end

-- Returns a line up to its comment. A "#" behind a backslash belongs to the line.
local function uncommented(line)
  local at = 1
  while true do
    local hash = line:find("#", at, true)
    if not hash then return line end
    if line:sub(hash - 1, hash - 1) ~= "\\" then return line:sub(1, hash - 1) end
    line = line:sub(1, hash - 2) .. line:sub(hash)
    at = hash
  end
end

--- Fails for a line with control characters, which no name may have.
function M.check_text(line, place)
  if line:find "[^\t\32-\126\128-\255]" then M.fail(place, "a control character is in the line") end
end

-- Calls f(text, line number) for each logical line of a text.
local function each_line(text, file, f)
  local number, first, parts, size = 0, nil, {}, 0
  text = texts.utf8(text) -- comments may be in any encoding
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    line = uncommented((line:gsub("\r$", "")))
    M.check_text(line, { file = file, line = number })
    local more = line:match "^(.*)\\%s*$"
    first, size = first or number, size + #line
    if size > LINE_MAX then M.fail({ file = file, line = first }, "the line is longer than %d bytes", LINE_MAX) end
    parts[#parts + 1] = more or line
    if not more then
      local whole = table.concat(parts, " ")
      if whole:find "%S" then f(whole, first) end
      first, parts, size = nil, {}, 0
    end
  end
  if #parts > 0 and table.concat(parts):find "%S" then f(table.concat(parts, " "), first) end
end

-- Returns the word that begins at a position, with the position behind: a quoted text, or all up to a blank.
local function value_at(line, at, place)
  if line:sub(at, at) ~= '"' then return line:match("^(%S*)()", at) end
  local value, behind = line:match('^"([^"]*)"()', at)
  if not value then M.fail(place, 'a quote is not closed: %s', line:sub(at, at + 40)) end
  return value, behind
end

--- Returns the pairs of a line as a table of values by key in lower case, the keys as they are written in the order of
--- the line, and the place. Raises an error for what is no pair.
function M.pairs(line, place)
  local values, keys, at = {}, {}, line:match "^%s*()"
  while at <= #line do
    local key, behind = line:match("^([%w_]+)%s*=%s*()", at)
    if not key then M.fail(place, 'expected Key=Value, not "%s"', (line:match("^%S*", at):sub(1, 40))) end
    local value
    value, behind = value_at(line, behind, place)
    keys[#keys + 1], values[key:lower()] = key, value
    at = line:match("^%s*()", behind)
  end
  return values, keys
end

local function beside(file, name)
  return name:find "^/" and name or (file:match "^(.*/)[^/]*$" or "") .. name
end

M.beside = beside

-- Reads a file that a line includes.
local function include(name, place, f, depth, entries)
  if depth >= DEPTH then M.fail(place, "Include: more than %d files are included in each other", DEPTH) end
  local path = beside(place.file, name)
  if name:find "[*?%[]" then M.fail(place, 'Include: "%s": expected the name of one file, without * and ?', name) end
  local text, why = files.read(path, "settings")
  if not text then M.fail(place, "Include: %s", why) end
  M.each(text, path, f, depth + 1, entries)
end

--- Calls f(line, place) for each logical line of a text and of the files included. `file`: the name of the text, next to
--- which included files are looked for. The places of a text share a counter of entries, see count().
function M.each(text, file, f, depth, entries)
  entries = entries or bounds.entries()
  each_line(text, file, function(line, number)
    local place = { file = file, line = number, entries = entries }
    local name = line:match "^%s*[Ii][Nn][Cc][Ll][Uu][Dd][Ee]%s+(%S+)%s*$"
    if name then include(name, place, f, depth or 0, entries) else f(line, place) end
  end)
end

--- Counts n entries of the text of a place: names, features or resources that a line of it lists. Fails where they are too many.
function M.count(place, n, key)
  local many = place.entries(n)
  if many then M.fail(place, "%s: %s", key, many) end
end

-- ---- lists of hosts -----------------------------------------------------------------------------------------

-- Calls f(item) for each item of a list at commas outside of brackets.
local function each_item(text, f)
  local depth, from = 0, 1
  for at, c in text:gmatch "()([%[%],])" do
    if c == "[" then depth = depth + 1 elseif c == "]" then depth = depth - 1 end
    if c == "," and depth == 0 then
      f(text:sub(from, at - 1))
      from = at + 1
    end
  end
  f(text:sub(from))
end

-- Appends the names of an item, which may have several brackets: "r[0-1]n[0-3]".
local function expand(item, names, place, key)
  local head, rest = item:match "^([^%[]*%b[])(.+)$"
  local list, why = core.hostlist(head or item)
  if not list then M.fail(place, "%s=%s: %s", key, item, why) end
  if list:count() > HOSTS - #names then M.fail(place, "%s: more than %d names", key, HOSTS) end
  M.count(place, list:count(), key)
  if not rest then
    for i = 1, list:count() do names[#names + 1] = list[i] end
    return
  end
  local tails = {}
  expand(rest, tails, place, key)
  if list:count() * #tails > HOSTS - #names then M.fail(place, "%s: more than %d names", key, HOSTS) end
  M.count(place, list:count() * #tails, key)
  for i = 1, list:count() do
    for _, tail in ipairs(tails) do names[#names + 1] = list[i] .. tail end
  end
end

--- Returns the names of a list of hosts, such as "cn[001-128],login1" or "r[0-1]n[0-3]". They count as entries of the text.
function M.hosts(text, place, key)
  local names = {}
  each_item(text, function(item)
    if item ~= "" then expand(item, names, place, key) end
  end)
  return names
end

--- Returns the items of a list with commas as a list, without empty ones.
function M.items(text)
  local list = {}
  each_item(text, function(item)
    if item:find "%S" then list[#list + 1] = item:match "^%s*(.-)%s*$" end
  end)
  return list
end

-- ---- values -------------------------------------------------------------------------------------------------

local FACTORS = { [""] = 1, k = 1 << 10, m = 1 << 20, g = 1 << 30, t = 1 << 40, p = 1 << 50 }

--- Returns a whole number; with `suffixes`, K, M, G, T and P behind it count in powers of 1,024.
function M.whole(text, place, key, suffixes)
  local digits, suffix = text:match "^(%d+)(%a?)$"
  local factor = suffix and (suffix == "" or suffixes) and FACTORS[suffix:lower()]
  local n = factor and math.tointeger(tonumber(digits))
  if not n or n > (1 << 62) // factor then
    M.fail(place, '%s=%s: expected a whole number%s', key, text, suffixes and ", with K, M, G or T behind it" or "")
  end
  return n * factor
end

--- Returns a duration in seconds: "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours",
--- "days-hours:minutes", "days-hours:minutes:seconds"; math.huge for UNLIMITED and INFINITE; nil for another text.
function M.duration(text)
  local word = text:lower()
  if word == "unlimited" or word == "infinite" or word == "-1" then return math.huge end
  local days, rest = word:match "^(%d+)%-(.+)$"
  local parts = {}
  for part in (rest or word):gmatch "[^:]+" do parts[#parts + 1] = part:find "^%d+%.?%d*$" and tonumber(part) or nil end
  local a, b, c = table.unpack(parts)
  local _, colons = (rest or word):gsub(":", ":")
  if #parts ~= colons + 1 or #parts > 3 then return nil end
  if days then return tonumber(days) * 86400 + a * 3600 + (b or 0) * 60 + (c or 0) end
  if #parts == 3 then return a * 3600 + b * 60 + c end
  return a * 60 + (b or 0)
end

return M
