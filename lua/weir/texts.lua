--- texts.lua - names and other texts of users, made safe for output.

local M = {}

--- Returns a text with U+FFFD in place of each byte outside of valid UTF-8.
function M.utf8(text)
  local parts, from = {}, 1
  while true do
    local length, bad = utf8.len(text, from)
    if length then break end
    parts[#parts + 1] = text:sub(from, bad - 1) .. "\u{FFFD}"
    from = bad + 1
  end
  if from == 1 then return text end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

--- Returns a text for people: valid UTF-8, with "?" in place of each control character: U+0080 to U+009F too, among
--- which terminals know an escape.
function M.plain(text)
  if not text:find "[%c\127-\255]" then return text end
  return (M.utf8(text):gsub("[%c\127]", "?"):gsub("\xC2[\x80-\x9F]", "?"))
end

--- Formats a whole number with thousands separated: "24,016".
function M.number(n)
  local digits = ("%d"):format(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (digits:gsub("^(%-?),", "%1"))
end

--- Returns the plural of a word: "nodes", "switches", "batteries".
function M.plural(word)
  if word:find "[^aeiou]y$" then return (word:gsub("y$", "ies")) end
  if word:find "s$" or word:find "x$" or word:find "ch$" or word:find "sh$" then return word .. "es" end
  return word .. "s"
end

--- Returns a number with a word, in the plural unless the number is 1: "1 job", "24,016 jobs".
function M.counted(n, word) return M.number(n) .. " " .. (n == 1 and word or M.plural(word)) end

-- The number of characters of a text, or of bytes if the text is no UTF-8.
local function length(text) return utf8.len(text) or #text end

--- Breaks a text at blanks into a list of lines of at most `width` characters, as far as the words are not longer. `first`
--- and `rest` are the indents of the first line and of the others, none if not given.
function M.wrapped(text, width, first, rest)
  local lines, line, empty = {}, first or "", true
  for word in text:gmatch "%S+" do
    if not empty and length(line) + 1 + length(word) > width then
      lines[#lines + 1], line, empty = line, rest or "", true
    end
    line, empty = line .. (empty and "" or " ") .. word, false
  end
  lines[#lines + 1] = line
  return lines
end

--- Formats a duration: "1.5 s", "3600 s". `number`, if given, formats whole seconds.
function M.seconds(t, number)
  local whole = t == math.floor(t)
  return (whole and (number and number(t) or ("%d"):format(t)) or ("%.6f"):format(t):gsub("0+$", "")) .. " s"
end

--- Times from here on (a second in 2001) are times of the wall clock, as in services and many traces.
M.WALL = 1e9

--- Formats a time of the wall clock: the local date and time.
function M.date(t) return os.date("%Y-%m-%d %H:%M:%S", math.floor(t)) --[[@as string]] end

--- Formats a point in time: seconds if the clock began at 0, else the date and time. `number` as in M.seconds.
function M.moment(t, number)
  return (t < M.WALL or t == math.huge) and M.seconds(t, number) or M.date(t)
end

--- Returns the unit, {seconds, name}, of an axis of times up to `most` seconds.
function M.unit_of_time(most)
  if most < 120 then return { 1, "seconds" } end
  return most < 7200 and { 60, "minutes" } or { 3600, "hours" }
end

--- Formats a length of time in the unit in which it is 2 or more: "90 s", "30 min", "2.5 h", "3.0 days".
function M.span(t)
  if t < 120 then return ("%.0f s"):format(t) end
  if t < 7200 then return ("%.0f min"):format(t / 60) end
  if t < 172800 then return ("%.1f h"):format(t / 3600) end
  return ("%.1f days"):format(t / 86400)
end

--- Formats the change from a number to another: "+12.5 %"; "" for none, and where it has no share.
function M.moved(from, to)
  if from == to or from == 0 then return "" end
  return ("%+.1f %%"):format((to - from) / math.abs(from) * 100)
end

--- Returns the name of the holder of a use: "job 7", or "stage 3" for minus the number of the stage.
function M.holder(job) return job < 0 and ("stage %d"):format(-job) or ("job %d"):format(job) end

return M
