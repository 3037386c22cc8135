--- output.lua - the output and the failures of commands.
--
-- A command fails by raising: fail(status, ...) prints a line on stderr and sets the exit status. Colours and line
-- drawing appear only for people: on a terminal, without NO_COLOR, in a UTF-8 locale.

local core = require "weir.core"
local lines = require "weir.view.lines"
local texts = require "weir.texts"

local M = {}

local Failure = {}
Failure.__index = Failure

--- Ends the command with a status and a line on stderr; silently without a text.
function M.fail(status, text, ...)
  error(setmetatable({ status = status, text = text and select("#", ...) > 0 and text:format(...) or text }, Failure), 0)
end

--- Returns the {status, text} raised by `fail`, or nil for any other value.
function M.failure(raised)
  return getmetatable(raised) == Failure and raised or nil
end

--- Returns the arguments unchanged; or, given nil and a message, fails with status 2.
function M.check(value, why, ...)
  if value == nil then M.fail(2, why or "failed without saying why") end
  return value, why, ...
end

-- Escapes control characters and shortens the text, so that the message fits on a line.
local function one_line(text)
  text = texts.utf8(text):gsub("[%c\127]", function(c) return c == "\n" and "\\n" or ("\\x%02x"):format(c:byte()) end)
  text = text:gsub("\xC2[\x80-\x9F]", function(c) return ("\\x%02x"):format(utf8.codepoint(c)) end)
  if #text <= 1000 then return text end
  return text:sub(1, 700) .. "..." .. text:sub(-200)
end

--- Colours an error; a dialogue on a terminal sets it.
function M.paint_error(text) return text end

--- Prints a line on stderr.
function M.warn(text)
  io.stdout:flush()
  io.stderr:write(M.paint_error("weir: " .. one_line(tostring(text))), "\n")
end

-- Ends the command after a failed write. The host prints the reason, except for closed pipes.
local function check_written(ok)
  if not ok then M.fail(2) end
end

function M.write(...) check_written(io.stdout:write(...)) end

function M.line(text) check_written(io.stdout:write(text, "\n")) end

function M.flush() check_written(io.stdout:flush()) end

function M.json(value) M.line(core.json_encode(value, { sort = true })) end

-- ---- for people ---------------------------------------------------------------------------------------------

local terminal

--- Returns whether standard output is a terminal.
function M.is_terminal()
  if terminal == nil then terminal = core.is_terminal(1) end
  return terminal
end

local function has_utf8()
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local value = os.getenv(name)
    if value and value ~= "" then return value:upper():find "UTF%-?8" ~= nil end
  end
  return false
end

local function has_colours()
  local no, term = os.getenv "NO_COLOR", os.getenv "TERM"
  return (no == nil or no == "") and term ~= "dumb"
end

local function painter(code)
  return function(text) return text == "" and "" or ("\27[%sm%s\27[0m"):format(code, text) end
end

local function plain(text) return text end

local STATES = { down = true, failing = true, draining = true, degraded = true }

--- Returns the name of the colour of M.style() for a cell of a table that is a state other than up; else nil.
function M.state_colour(cell) return STATES[cell] and "bad" or nil end

-- Colours a note of a tree part by part: states other than up red, what is in use yellow, the rest dim.
local function paint_note(text)
  local dim, red, yellow, parts = painter "2", painter "31", painter "33", {}
  for part in (text .. ", "):gmatch "(.-), " do
    local used = part == "used" or part:find "^%d+ of .* free$"
    parts[#parts + 1] = (STATES[part] and red or used and yellow or dim)(part)
  end
  return table.concat(parts, dim ", ")
end

--- Returns a function that colours errors as this terminal can show them.
function M.error_painter() return has_colours() and painter "31" or plain end

local style

--- Returns {bold=, dim=, good=, bad=, note=, guides=, blocks=, bar=}: functions of a text, the lines of trees, whether block characters
--- are available, and the marks of bars (on a terminal only).
function M.style()
  if style then return style end
  local person = M.is_terminal()
  local colours, blocks = person and has_colours(), person and has_utf8()
  style = {
    bold = colours and painter "1" or plain, dim = colours and painter "2" or plain,
    good = colours and painter "32" or plain, bad = colours and painter "31" or plain,
    note = colours and paint_note or plain, guides = blocks and lines.utf8 or lines.ascii, blocks = blocks,
    bar = person and (blocks and { "█", "░" } or { "#", "." }) or nil,
  }
  return style
end

function M.tree(node) lines.draw(node, M.line, M.style()) end

local function widths_of(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, utf8.len(cell) or #cell) end
  end
  return widths
end

local function pad(cell, width, right)
  local space = (" "):rep(width - (utf8.len(cell) or #cell))
  return right and space .. cell or cell .. space
end

--- Prints rows of texts in columns; the first row has the headings. `right[i]` aligns column i to the right, for
--- numbers. `paint(cell)`, if given, returns the name of a colour of M.style() for a cell, or nil.
function M.table(rows, right, paint)
  local widths = widths_of(rows)
  for n, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local colour = paint and paint(cell)
      cells[i] = pad(cell, widths[i], right and right[i])
      if colour then cells[i] = M.style()[colour](cells[i]) end
    end
    local text = table.concat(cells, "  "):gsub("%s+$", "")
    M.line(n == 1 and M.style().bold(text) or text)
  end
end

M.seconds = texts.seconds

--- Returns the words for the duration of an allocation: "for 10 s", "no end".
function M.lasting(duration) return duration == math.huge and "no end" or "for " .. M.seconds(duration) end

--- Formats a point in time, as texts.moment does.
function M.moment(t) return texts.moment(t) end

return M
