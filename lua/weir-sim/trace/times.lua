--- times.lua - points in time as logs of schedulers write them, made seconds since 1970.

local M = {}

-- Days from 1970-01-01 to a day of the Gregorian calendar.
local function days_of(year, month, day)
  local y = month > 2 and year or year - 1
  local era = y // 400
  local of_era, of_year = y - era * 400, (153 * (month + (month > 2 and -3 or 9)) + 2) // 5 + day - 1
  return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
end

local LENGTHS = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

-- The last days met, as neighbours in a log share them.
local known, count = {}, 0

local function midnight(date)
  local found = known[date]
  if found ~= nil then return found end
  local year, month, day = date:match "^(%d%d%d%d)-(%d%d)-(%d%d)$"
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  found = year and month >= 1 and month <= 12 and day >= 1 and day <= LENGTHS[month] and days_of(year, month, day) * 86400 or false
  if count == 1000 then known, count = {}, 0 end
  known[date], count = found, count + 1
  return found
end

local ABSENT = { [""] = true, Unknown = true, None = true, ["N/A"] = true }

--- Returns the seconds since 1970 of a time: "2024-03-01T12:00:00" with "+0100", "+01:00" or "Z" behind, where without a
--- zone the clock is taken for one without summer time, so that differences are right but for the hour that summer time
--- adds; or a number of seconds. Returns nil for a time that is not known; nil and a message for another text.
function M.parse(text)
  local date, hour, minute, second, zone = text:match "^(%d+%-%d+%-%d+)[T ](%d%d):(%d%d):(%d%d%.?%d*)(.*)$"
  if not date then
    if ABSENT[text] then return nil end
    local n = text:find "^%d+%.?%d*$" and tonumber(text)
    if n then return math.tointeger(n) or n end
    return nil, ('"%s" is no time such as 2024-03-01T12:00:00'):format(text:sub(1, 40))
  end
  local start, h, m, s = midnight(date), tonumber(hour), tonumber(minute), tonumber(second)
  if not start or h > 23 or m > 59 or s >= 61 then return nil, ('"%s" is no time'):format(text:sub(1, 40)) end
  local t = start + h * 3600 + m * 60 + (math.tointeger(s) or s)
  if zone == "" or zone == "Z" then return t end
  local sign, oh, om = zone:match "^([+-])(%d%d):?(%d%d)$"
  if not sign then return nil, ('"%s": expected a zone such as +0100, +01:00 or Z'):format(text:sub(1, 40)) end
  local offset = tonumber(oh) * 3600 + tonumber(om) * 60
  return sign == "+" and t - offset or t + offset
end

return M
