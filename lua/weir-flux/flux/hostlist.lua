--- hostlist.lua - lists of hosts as Flux reads and writes them. In RFC 29 the leading zeros of the first number in
-- brackets apply to all numbers: node[07,8] is node07 and node08. In Flux each number and range has its own: node07 and
-- node8. The R of a Flux instance is written so.

local M = {}

-- Iterates over the expressions of a list: prefix, numbers (nil without brackets), suffix.
local function expressions(text)
  local at = 1
  return function()
    at = text:find("[^%s,]", at)
    if not at then return nil end
    local prefix, stop = text:match("^([^%[%],%s]*)()", at)
    local numbers, suffix, after = text:match("^%[([^%]]*)%]([^,%s]*)()", stop)
    at = after or math.max(stop, at + 1)
    return prefix, numbers, suffix or ""
  end
end

-- Returns the number of digits that RFC 29 gives at least to all numbers next to a first one: 1 without leading zeros.
local function padding(range)
  local digits = range:match "^%d+" or ""
  return #digits > 1 and digits:sub(1, 1) == "0" and #digits or 1
end

--- Returns the text of a list in RFC 29 for the text of a list of Flux.
function M.read(text)
  if not text:find "%[0[^%]]*," then return text end
  local parts = {}
  for prefix, numbers, suffix in expressions(text) do
    if not numbers then
      parts[#parts + 1] = prefix
    else
      local group, min_width = {}, 1
      local function close()
        if #group > 0 then parts[#parts + 1] = ("%s[%s]%s"):format(prefix, table.concat(group, ","), suffix) end
        group = {}
      end
      for range in numbers:gmatch "[^,]+" do
        if #(range:match "^%d+" or "") < min_width then close() end
        if #group == 0 then min_width = padding(range) end
        group[#group + 1] = range
      end
      close()
    end
  end
  return table.concat(parts, ",")
end

--- Returns the text of a list of Flux for the text of a list in RFC 29 that read() or a hostlist made: neighbours with
--- one prefix share brackets, with any leading zeros.
function M.write(text)
  local parts, last = {}, nil
  for prefix, numbers, suffix in expressions(text) do
    local bare, digits = prefix:match "^(.-)(%d+)$"
    if not numbers and bare then prefix, numbers = bare, digits end
    if last and numbers and last.prefix == prefix and last.suffix == suffix then
      last.numbers, last.several = last.numbers .. "," .. numbers, true
    else
      last = { prefix = prefix, numbers = numbers, suffix = suffix, several = numbers and numbers:find "[,-]" ~= nil }
      parts[#parts + 1] = last
    end
  end
  for i, part in ipairs(parts) do
    local numbers = part.several and "[" .. part.numbers .. "]" or part.numbers or ""
    parts[i] = part.prefix .. numbers .. part.suffix
  end
  return table.concat(parts, ",")
end

--- Replaces the lists of hosts in a decoded R of Flux by lists in RFC 29.
function M.correct(document)
  local execution = type(document) == "table" and document.execution
  local list = type(execution) == "table" and execution.nodelist
  for i, some in ipairs(type(list) == "table" and list or {}) do
    if type(some) == "string" then list[i] = M.read(some) end
  end
  return document
end

return M
