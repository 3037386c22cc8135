--- options.lua - reads command lines by one table per command, and writes --help from the same table.
--
--   { name = "match", doc = "what it does", usage = "-r RESOURCES JOB...", notes = "more text",
--     options = { { "r", "resources", "RESOURCES", "help", choices = {...}, kind = "time" }, { nil, "json", nil, "help" } },
--     min = 1, max = 1, operand = "JOB", machine = true, stop = true, meant = { reserve = "-m reserve ..." } }
--
-- An option is {short, long, argument, help}; without an argument it is a flag. `stop` ends the options at the first
-- operand. `machine`: the machine may be the first operand, in place of -r. `meant` has what to write in place of options
-- that the command does not have. An option with `many` may be given several times; its value is a list. `min` and `max`
-- bound a number.

local failure = require "weir.failure"
local page = require "weir.cli.page"
local suggest = require "weir.suggest"
local tables = require "weir.tables"
local texts = require "weir.texts"

local M = {}

local HELP = { "h", "help", nil, "show this" }

local fail = failure.fail -- caught in M.parse

local function all_options(command)
  local list = table.move(command.options or {}, 1, #(command.options or {}), 1, {})
  list[#list + 1] = HELP
  return list
end

local function lookup(command, position, word)
  for _, option in ipairs(all_options(command)) do
    if option[position] == word then return option end
  end
end

local function unknown(command, word)
  local meant = command.meant and command.meant[word:match "^%-*([%w%-]*)"]
  local hint = meant and ": " .. meant or suggest.hint(word:match "^%-*(.-)=?$", tables.column(all_options(command), 2), "--")
  fail("unknown option %s%s", word, hint)
end

local KINDS = {}

-- A time in seconds; the upper limit is below the end of the engine's clock.
function KINDS.time(value)
  local n = tonumber(value)
  return n and n >= 0 and n <= 9e12 and n or nil, "a number of seconds from 0 to 9e12"
end

local UNITS = { ms = 1e-3, s = 1, m = 60, h = 3600, d = 86400, [""] = 1 }

-- A time in seconds, or with a unit as in 90m.
function KINDS.duration(value)
  local number, unit = value:match "^(.-)(%a*)$"
  local n, each = tonumber(number), UNITS[unit]
  return n and each and KINDS.time(n * each) or nil, "a number of seconds, or with a unit, as in 90m, 1.5h or 2d"
end

-- A whole number from option.min (0) to option.max.
function KINDS.count(value, option)
  local min, max = option.min or 0, option.max or math.maxinteger
  local n = value:find "^%d+$" and math.tointeger(tonumber(value))
  if n and n >= min and n <= max then return n end
  if max < math.maxinteger then return nil, ("a whole number from %d to %d"):format(min, max) end
  return nil, min > 0 and ("a whole number from %d on"):format(min) or "a whole number"
end

-- A count of at least 1.
function KINDS.some(value, option) return KINDS.count(value, { min = 1, max = option.max }) end

-- A number from option.min to option.max.
function KINDS.number(value, option)
  local n = tonumber(value)
  return n and n >= option.min and n <= option.max and n or nil, ("a number from %g to %g"):format(option.min, option.max)
end

function KINDS.share(value)
  local n = tonumber(value)
  return n and n >= 0 and n <= 1 and n or nil, "a number from 0 to 1"
end

local function check_choice(option, value)
  if tables.has(option.choices, value) then return value end
  fail('--%s: "%s" is none of %s%s', option[2], value, table.concat(option.choices, ", "),
    suggest.hint(value, option.choices))
end

local function convert(option, value)
  if option.choices then return check_choice(option, value) end
  if not option.kind then return value end
  local result, wanted = KINDS[option.kind](value, option)
  if result == nil then fail('--%s: expected %s, not "%s"', option[2], wanted, value) end
  return result
end

-- Stores an option with the argument `attached` or the next word. Returns the number of words consumed.
local function store(option, attached, words, i, out)
  if not option[3] then
    if attached then fail("--%s takes no argument", option[2]) end
    out[option[2]] = true
    return 1
  end
  local value = attached or words[i + 1]
  if not value then fail("--%s needs an argument: %s", option[2], option[3]) end
  local result = convert(option, value)
  if option.many then
    out[option[2]] = table.move({ result }, 1, 1, #(out[option[2]] or {}) + 1, out[option[2]] or {})
  else
    out[option[2]] = result
  end
  return attached and 1 or 2
end

local function read_long(command, words, i, out)
  local name, value = words[i]:match "^%-%-([^=]+)=?(.*)$"
  local option = name and lookup(command, 2, name)
  if not option then unknown(command, words[i]:match "^[^=]+") end
  return store(option, words[i]:find("=", 1, true) and value, words, i, out)
end

-- Reads short options: -q, -qj, -rFILE, -r FILE.
local function read_short(command, words, i, out)
  local rest = words[i]:sub(2)
  while true do
    local option = lookup(command, 1, rest:sub(1, 1))
    if not option then unknown(command, "-" .. rest) end
    rest = rest:sub(2)
    if option[3] or rest == "" then return store(option, rest ~= "" and rest or nil, words, i, out) end
    out[option[2]] = true
  end
end

local function read_words(command, words)
  local out, i = {}, 1
  while i <= #words do
    local word = words[i]
    if word == "--" then return table.move(words, i + 1, #words, #out + 1, out) end
    if word:sub(1, 2) == "--" then
      i = i + read_long(command, words, i, out)
    elseif word:sub(1, 1) == "-" and #word > 1 then
      i = i + read_short(command, words, i, out)
    elseif command.stop then
      return table.move(words, i, #words, #out + 1, out)
    else
      out[#out + 1], i = word, i + 1
    end
  end
  return out
end

local function check_operands(command, out)
  local operand = command.operand or "operand"
  if command.machine then require("weir.cli.guess").machine(out) end
  for _, option in ipairs(command.options or {}) do
    if option.required and not out[option[2]] then fail("-%s %s is missing", option[1], option[3]) end
  end
  if #out < (command.min or 0) then fail("%s is missing", operand) end
  if command.max and #out > command.max then fail('"%s" is one %s too many', out[command.max + 1], operand) end
end

--- Returns options by long name and operands by number; or nil and a message. With --help nothing else is checked.
function M.parse(command, words)
  return failure.caught(nil, function()
    local read = read_words(command, words)
    if not read.help then check_operands(command, read) end
    return read
  end)
end

-- "  -r, --resources RESOURCES"
local function synopsis(option)
  local short = option[1] and "-" .. option[1] .. ", " or "    "
  return "  " .. short .. "--" .. option[2] .. (option[3] and " " .. option[3] or "")
end

local COLUMN = 28

local function describe(option)
  local help = option[4] .. (option.choices and ": " .. table.concat(option.choices, ", ") or "")
  local left, lines = synopsis(option), {}
  for i, line in ipairs(texts.wrapped(help, page.WIDTH - COLUMN)) do
    lines[i] = ("%-" .. COLUMN .. "s%s"):format(i == 1 and #left < COLUMN and left or "", line)
  end
  if #left >= COLUMN then table.insert(lines, 1, left) end
  return table.concat(lines, "\n")
end

--- Returns the text of `weir COMMAND --help`.
function M.help(command)
  local usage = texts.wrapped(("%s %s"):format(command.name, command.usage), page.WIDTH, "usage: weir ", "         ")
  local lines = { table.concat(usage, "\n"), "", page.fitted(command.doc), "" }
  for _, option in ipairs(all_options(command)) do lines[#lines + 1] = describe(option) end
  if command.notes then lines[#lines + 1] = "\n" .. page.fitted((command.notes:gsub("%s+$", ""))) end
  return table.concat(lines, "\n") .. "\n"
end

return M
