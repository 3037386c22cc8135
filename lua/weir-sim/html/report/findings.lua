--- findings.lua - a page with findings: three sentences first, then pictures, then tables. Without a script.
---
---   findings.html { title = "weir tune", sentences = { "..." }, paste = "-q hybrid:k=2",
---     figures = { { title = "What was tried", svg = figures.points(...) } },
---     tables = { { title = "Values", head = { "", "now" }, rows = { { "wait, mean", "5 s" } } } } }

local files = require "weir.files"
local markup = require "weir.html.picture.markup"

local M = {}

local escape = markup.escape

-- A text, in which a long word such as priority:age=1,fair=2 may be broken behind a comma.
local function broken(text) return (escape(text):gsub(",(%S)", ",<wbr>%1")) end

-- A cell: a number is right-aligned, and so is every column but the first where the table says so.
local function cell(tag, value, right) return ("<%s%s>%s</%s>"):format(tag, right and ' class="number"' or "", broken(value), tag) end

local function row_of(tag, row, wide)
  local cells = {}
  for i, value in ipairs(row) do cells[i] = cell(tag, value, i > 1 and not (wide and wide[i])) end
  return "<tr>" .. table.concat(cells) .. "</tr>\n"
end

local function table_of(t)
  local parts = { ('<section><h2>%s</h2>\n<div class="scroll"><table class="findings">\n<thead>%s</thead>\n<tbody>\n'):format(
    escape(t.title), row_of("th", t.head, t.wide)) }
  for _, row in ipairs(t.rows) do parts[#parts + 1] = row_of("td", row, t.wide) end
  parts[#parts + 1] = "</tbody></table></div></section>\n"
  return table.concat(parts)
end

--- Returns the page as text. page: title; sentences, texts; paste, a line to paste, or nil; figures {title, svg}; tables
--- {title, head, rows, wide}, cells are texts, and columns from the second on are right-aligned unless wide[column]; notes, texts.
function M.html(page)
  local parts = { ("<h1>%s</h1>\n"):format(escape(page.title)) }
  for _, sentence in ipairs(page.sentences) do parts[#parts + 1] = ('<p class="said">%s</p>\n'):format(broken(sentence)) end
  if page.paste then parts[#parts + 1] = ("<pre>%s</pre>\n"):format(broken(page.paste)) end
  for _, figure in ipairs(page.figures or {}) do
    parts[#parts + 1] = ("<section><h2>%s</h2>\n%s\n</section>\n"):format(escape(figure.title), figure.svg)
  end
  for _, t in ipairs(page.tables or {}) do parts[#parts + 1] = table_of(t) end
  for _, note in ipairs(page.notes or {}) do parts[#parts + 1] = ('<p class="soft">%s</p>\n'):format(escape(note)) end
  return markup.document(page.title, { "weir.html.picture.common", "weir.html.report.findings" },
    "<main>\n" .. table.concat(parts) .. "</main>\n")
end

--- Writes DIR/index.html, in a directory that is there. Returns the path; or nil, message, code.
function M.write(dir, page)
  local path = dir:gsub("/*$", "") .. "/index.html"
  local ok, why, code = files.write(path, M.html(page))
  if not ok then return nil, why, code end
  return path
end

return M
