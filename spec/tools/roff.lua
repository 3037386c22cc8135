--- roff.lua - writes man pages: a page is a list of lines.

local M = {}

local Page = {}
Page.__index = Page

function M.page() return setmetatable({}, Page) end

function Page:put(text, ...) self[#self + 1] = select("#", ...) > 0 and text:format(...) or text end

function Page:text() return table.concat(self, "\n") .. "\n" end

-- ---- text ---------------------------------------------------------------------------------------------------

--- Escapes text, so that no line is a request and hyphens are the ASCII hyphens that people type.
function M.plain(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("'", "\\(aq"):gsub("%^", "\\(ha"):gsub("~", "\\(ti")
    :gsub("`", "\\(ga"):gsub("%f[^\n\0]%.", "\\&."):gsub("%f[^%s\0]%$?%w+_[%w_]*", "\\%%%0")) -- no hyphens in names
end

--- Escapes text to be typed as printed: a line break in the text never adds a hyphen.
function M.example(text)
  local words = M.plain(text):gsub("%f[^%s\0]%S", "\\%%%0")
  return (words:gsub('([,:])(["{%[])', "%1\\:%2"))
end

function M.bold(text) return "\\fB" .. M.plain(text) .. "\\fR" end

function M.italic(text) return "\\fI" .. M.plain(text) .. "\\fR" end

-- Keeps text that is indented or in columns, and fills the rest.
local function put_block(page, lines)
  local kept = false
  for _, line in ipairs(lines) do kept = kept or line:find "^%s" ~= nil end
  page:put(".PP")
  if not kept then return page:put(M.plain(table.concat(lines, "\n"))) end
  local i = 1
  while lines[i] and not lines[i]:find "^%s" do
    page:put(M.plain(lines[i]))
    i = i + 1
  end
  page:put(".nf")
  for k = i, #lines do page:put(M.plain(lines[k])) end
  page:put(".fi")
end

--- Paragraphs.
function Page:notes(text)
  local lines = {}
  for line in (text .. "\n\n"):gmatch "([^\n]*)\n" do
    if line ~= "" then
      lines[#lines + 1] = line
    elseif #lines > 0 then
      put_block(self, lines)
      lines = {}
    end
  end
end

--- Adds an option of a command, a row of the command's table.
function Page:option(option)
  local names = (option[1] and M.bold("-" .. option[1]) .. ", " or "") .. M.bold("--" .. option[2])
  self:put(".TP\n%s%s", names, option[3] and " " .. M.italic(option[3]) or "")
  self:put(M.plain(option[4] .. (option.choices and ": " .. table.concat(option.choices, ", ") or "")))
end

--- Adds terms and their descriptions, {term, text} each.
function Page:list(title, rows)
  self:put(".SH %s", title)
  for _, row in ipairs(rows) do self:put(".TP\n%s\n%s", M.bold(row[1]), M.plain(row[2])) end
end

return M
