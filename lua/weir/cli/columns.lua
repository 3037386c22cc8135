--- columns.lua - lines of fields, laid out by a format string in the syntax of Python's str.format:
---
---   "{state:>10} ?:{properties:<10.10+} {nnodes:>6} +:{ncores:>6} {nodelist}"
---
--- A field is {NAME} or {NAME:SPEC}. A spec is [[fill]align][0][width][,][.precision][type][h][+]: align is < > or ^,
--- type is s or d, h shows "-" for an empty value, + marks values cut at the precision. {{ and }} are braces. The
--- prefix "?:" drops a field that is empty in all lines, "+:" widens a field to the longest value, "?+:" does both.

local failure = require "weir.failure"
local suggest = require "weir.suggest"
local tables = require "weir.tables"

local M = {}
local Format = {}
Format.__index = Format

local fail = failure.fail

-- ---- reading ------------------------------------------------------------------------------------------------

local function read_spec(text)
  local spec, rest = {}, text
  local fill, align, after = rest:match("^(" .. utf8.charpattern .. ")([<>^])(.*)$")
  if fill then
    spec.fill, spec.align, rest = fill, align, after
  else
    spec.align, rest = rest:match "^([<>^]?)(.*)$"
  end
  local zero, width, grouped, precision, kind, hyphen, cut = rest:match "^(0?)(%d*)(,?)(%.?%d*)([sd]?)(h?)(%+?)$"
  if not zero or precision == "." or (precision ~= "" and precision:sub(1, 1) ~= ".") then
    fail('"%s" is not a field layout: expected one such as ">10" or "<10.10+"', text)
  end
  spec.align = spec.align ~= "" and spec.align or nil
  spec.zero, spec.width, spec.grouped = zero == "0", math.tointeger(tonumber(width)), grouped == ","
  spec.precision = math.tointeger(tonumber(precision:sub(2)))
  spec.kind, spec.hyphen, spec.cut = kind ~= "" and kind or nil, hyphen == "h", cut == "+"
  if (spec.width or 0) > 10000 then fail('"%s": expected a width of at most 10000', text) end
  return spec
end

local function check_field(name, headings)
  if headings[name] then return end
  fail('there is no field "%s"%s', name, suggest.among(name, tables.keys(headings)))
end

-- Reads a field from the byte after "{" on. Returns the field and the position after the closing "}".
local function read_field(text, at, headings)
  local inside, stop = text:match("^([^{}]*)}()", at)
  if not inside then fail "a field is not closed: } is missing" end
  local name, spec = inside:match "^([^:]*):?(.*)$"
  if name:find "!" then fail('"{%s}": conversions are for times, and there is none here', inside) end
  check_field(name, headings)
  return { field = name, spec = read_spec(spec) }, stop
end

local function read_format(text, headings)
  local entries, literal, at = {}, "", 1
  while at <= #text do
    local plain, brace, stop = text:match("^([^{}]*)([{}])()", at)
    if not plain then break end
    literal = literal .. plain
    if text:sub(stop, stop) == brace then
      literal, at = literal .. brace, stop + 1
    elseif brace == "}" then
      fail "a single }: write }}"
    else
      local entry
      entry, at = read_field(text, stop, headings)
      entry.text, literal = literal, ""
      entries[#entries + 1] = entry
    end
  end
  return { entries = entries, tail = literal .. text:sub(at), headings = headings }
end

--- Parses a format. headings: {field = heading} of all known fields. Returns a format, or nil and an error message.
function M.parse(text, headings)
  local format, why = failure.caught(nil, read_format, text, headings)
  if not format then return nil, why end
  return setmetatable(format, Format)
end

--- Returns whether the format contains a field.
function Format.has(self, field)
  return tables.any(self.entries, function(entry) return entry.field == field end)
end

-- ---- writing ------------------------------------------------------------------------------------------------

local EMPTY = { [""] = true, ["0s"] = true, ["0.0"] = true, ["0:00:00"] = true, ["1970-01-01T00:00:00"] = true }

local function length(text) return utf8.len(text) or #text end

-- Returns at most n characters of a text.
local function cut(text, n)
  if length(text) <= n then return text end
  return text:sub(1, (utf8.offset(text, n + 1) or n + 1) - 1)
end

local function pad(text, spec, align)
  local space = (spec.width or 0) - length(text)
  if space <= 0 then return text end
  local fill = spec.fill or spec.zero and "0" or " "
  local left = align == ">" and space or align == "^" and space // 2 or 0
  return fill:rep(left) .. text .. fill:rep(space - left)
end

local function write_value(value, spec)
  local text = tostring(value)
  local number = math.type(value) == "integer" and not spec.hyphen
  if spec.hyphen and EMPTY[text] then text = "-" end
  if number and spec.grouped then text = text:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "") end
  local short = spec.precision and not number and cut(text, spec.precision) or text
  local padded = pad(short, spec, spec.align or number and ">" or "<")
  if spec.cut and length(padded) < length(text) then padded = cut(padded, length(padded) - 1) .. "+" end
  return padded
end

-- Returns a line; value(entry) gives the text of a field.
local function compose(self, value)
  local parts = {}
  for i, entry in ipairs(self.entries) do parts[i] = entry.text .. value(entry) end
  return table.concat(parts) .. self.tail
end

--- Returns the line of headings.
function Format.header(self)
  return compose(self, function(entry)
    return write_value(self.headings[entry.field], { align = entry.spec.align, width = entry.spec.width })
  end)
end

--- Returns the line of a row {field = text or integer}.
function Format.row(self, row)
  return compose(self, function(entry) return write_value(row[entry.field], entry.spec) end)
end

-- ---- fitting ------------------------------------------------------------------------------------------------

local SENTINELS = { { "?+:", filter = true, widen = true }, { "?:", filter = true }, { "+:", widen = true } }

local function sentinel(entry)
  for _, s in ipairs(SENTINELS) do
    if entry.text:sub(-#s[1]) == s[1] then return s end
  end
end

local function longest(rows, field)
  local width = 0
  for _, row in ipairs(rows) do
    local text = tostring(row[field])
    if not EMPTY[text] then width = math.max(width, length(text)) end
  end
  return width
end

local function widened(spec, width)
  local copy = tables.copy(spec)
  copy.width = width
  if (copy.precision or 0) > 0 and copy.kind ~= "d" then copy.precision = math.max(copy.precision, width) end
  return copy
end

local function without_sentinels(text)
  for _, s in ipairs(SENTINELS) do
    text = text:gsub(s[1]:gsub("%p", "%%%0"), "")
  end
  return text
end

--- Returns the format with "?:" and "+:" resolved for some rows. header: whether headings count in widths.
function Format.fit(self, rows, header)
  local fitted = setmetatable({ entries = {}, tail = self.tail, headings = self.headings }, Format)
  for _, entry in ipairs(self.entries) do
    local s = sentinel(entry) or {}
    local width = (s.filter or s.widen) and longest(rows, entry.field) or 0
    if not (s.filter and width == 0) then
      local heading = header and length(self.headings[entry.field]) or 0
      local spec = s.widen and widened(entry.spec, math.max(entry.spec.width or 0, width, heading)) or entry.spec
      table.insert(fitted.entries, { text = without_sentinels(entry.text), field = entry.field, spec = spec })
    end
  end
  return fitted
end

return M
