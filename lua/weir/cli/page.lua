--- page.lua - fits texts of help into 80 columns: paragraphs are filled; an indented line is a command, a row of a table with two columns,
--- or a row without columns.

local texts = require "weir.texts"

local M = {}

--- The columns of a page.
M.WIDTH = 80

local function put(lines, more) table.move(more, 1, #more, #lines + 1, lines) end

-- Appends the row of a table that is too long: the second column moves to the left, or below the first.
local function put_row(lines, line)
  local head, rest = line:match "^( +%S.-   *)(%S.*)$"
  if not head then head, rest = line:match "^( +%S+ += )(.*)$" end
  if not head then return put(lines, texts.wrapped(line, M.WIDTH, line:match "^ *", "      ")) end
  if #head <= 28 then return put(lines, texts.wrapped(rest, M.WIDTH, head, (" "):rep(#head))) end
  put(lines, texts.wrapped(head, M.WIDTH, "  ", "    "))
  put(lines, texts.wrapped(rest, M.WIDTH, "      ", "      "))
end

-- Appends an indented line. A command without a second column is broken so that it can still be copied.
local function put_line(lines, line)
  if #line <= M.WIDTH then
    lines[#lines + 1] = line
  elseif line:find "^  weir " and not line:find "%S   " then
    put(lines, { (table.concat(texts.wrapped(line, M.WIDTH - 2, "  ", "      "), " \\\n")) })
  else
    put_row(lines, line)
  end
end

--- Returns the text in lines of at most 80 columns, as far as words allow. Lines that are indented by 10 or more go on with the indented
--- line before them.
function M.fitted(text)
  local lines, paragraph, row = {}, {}, nil
  local function finish()
    if #paragraph > 0 then put(lines, texts.wrapped(table.concat(paragraph, " "), M.WIDTH)) end
    if row then put_line(lines, row) end
    paragraph, row = {}, nil
  end
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if row and line:find "^          +%S" then
      row = row .. " " .. line:match "%S.*"
    elseif line:find "^%S" then
      if row then finish() end
      paragraph[#paragraph + 1] = line
    else
      finish()
      if line == "" then lines[#lines + 1] = "" else row = line end
    end
  end
  finish()
  return table.concat(lines, "\n")
end

return M
