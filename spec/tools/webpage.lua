-- webpage.lua - makes the manual as one HTML page: the README, the guides in doc/, the man pages and the contract of
-- policies, from the same files. From the project's root: weir run spec/tools/webpage.lua PAGE DIRECTORY, where DIRECTORY
-- has weir.1, weir-serve.1 and policy.md.

local core = require "weir.core"
local files = require "weir.files"
local tables = require "weir.tables"
local markup = require "weir.html.picture.markup"

local M = {}

local escape = markup.escape

-- The anchor of a heading: "Why does my job not run?" is "why-does-my-job-not-run", behind the name of the document.
local function anchor(prefix, title)
  return prefix .. "-" .. title:gsub("<[^>]*>", ""):gsub("&[%w#]+;", ""):lower():gsub("[^%w]+", "-"):gsub("^%-", ""):gsub("%-$", "")
end

-- ---- a document -----------------------------------------------------------------------------------------------------

local Document = {}
Document.__index = Document

-- A document of the page. name: a word for anchors; links: by path of a file, the name of the document made from it.
local function document(name, links)
  return setmetatable({ name = name, links = links or {}, parts = {}, contents = {}, known = {} }, Document)
end

function Document:put(...)
  for _, text in ipairs { ... } do self.parts[#self.parts + 1] = text end
end

function Document:heading(level, html)
  local id = anchor(self.name, html)
  self.known[id] = (self.known[id] or 0) + 1
  if self.known[id] > 1 then id = id .. "-" .. self.known[id] end
  self.contents[#self.contents + 1] = { level = level, html = html, id = id }
  self:put(("<h%d id=\"%s\">%s</h%d>\n"):format(level, id, html, level))
end

-- ---- Markdown -------------------------------------------------------------------------------------------------------

-- Code, bold words and links of a line. A link to a file of the manual leads to its part of the page; to any other file of the
-- project it is text.
local function inline(doc, text)
  local codes = {}
  text = escape(text):gsub("`([^`]+)`", function(code)
    codes[#codes + 1] = code
    return "\1" .. #codes .. "\2"
  end)
  text = text:gsub("%[([^%]]+)%]%(([^)]+)%)", function(words, target)
    local name = doc.links[target:gsub("^.*/", "")]
    if name then return ('<a href="#%s">%s</a>'):format(name, words) end
    return target:find "^https?:" and ('<a href="%s">%s</a>'):format(target, words) or words
  end)
  text = text:gsub("%*%*([^*]+)%*%*", "<b>%1</b>")
  return (text:gsub("\1(%d+)\2", function(i) return "<code>" .. codes[tonumber(i)] .. "</code>" end))
end

-- The cells of a row of a table; "\|" is a bar inside a cell.
local function cells_of(line)
  local cells = {}
  for cell in (line:gsub("\\|", "\1"):gsub("^%s*|", "")):gmatch "([^|]*)|" do
    cells[#cells + 1] = cell:gsub("\1", "|"):match "^%s*(.-)%s*$"
  end
  return cells
end

local function put_table(doc, lines)
  doc:put "<table>\n"
  for i, line in ipairs(lines) do
    if i ~= 2 then
      local tag, row = i == 1 and "th" or "td", {}
      for k, cell in ipairs(cells_of(line)) do row[k] = ("<%s>%s</%s>"):format(tag, inline(doc, cell), tag) end
      doc:put("<tr>", table.concat(row), "</tr>\n")
    end
  end
  doc:put "</table>\n"
end

local function put_list(doc, lines)
  local items = {}
  for _, line in ipairs(lines) do
    local item = line:match "^%s*[-*] (.*)$" or line:match "^%s*%d+%. (.*)$"
    if item then items[#items + 1] = item else items[#items] = items[#items] .. " " .. line:match "^%s*(.*)$" end
  end
  doc:put "<ul>\n"
  for _, item in ipairs(items) do doc:put("<li>", inline(doc, item), "</li>\n") end
  doc:put "</ul>\n"
end

local function put_paragraph(doc, lines)
  if #lines == 0 then return end
  if lines[1]:find "^%s*|" then return put_table(doc, lines) end
  if lines[1]:find "^%s*[-*] " or lines[1]:find "^%s*1%. " then return put_list(doc, lines) end
  doc:put("<p>", inline(doc, table.concat(lines, "\n")), "</p>\n")
end

local function put_code(doc, lines, language)
  doc:put(('<pre class="%s">%s</pre>\n'):format(language ~= "" and language or "text", escape(table.concat(lines, "\n"))))
end

-- Adds a document in Markdown; headings are `deeper` levels lower than there.
local function put_markdown(doc, text, deeper)
  local lines, language = {}, nil
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    local marks, title = line:match "^(#+) (.*)$"
    if language then
      if line:find "^```" then
        put_code(doc, lines, language)
        lines, language = {}, nil
      else
        lines[#lines + 1] = line
      end
    elseif line:find "^```" or marks or line == "" then
      put_paragraph(doc, lines)
      lines, language = {}, line:match "^```(%w*)"
      if marks then doc:heading(#marks + deeper, inline(doc, title)) end
    else
      lines[#lines + 1] = line
    end
  end
  put_paragraph(doc, lines)
end

-- ---- man pages ------------------------------------------------------------------------------------------------------

local ESCAPES = { ["\\(aq"] = "'", ["\\(ha"] = "^", ["\\(ti"] = "~", ["\\(ga"] = "`" }

-- A text of a man page, without fonts, as HTML.
local function roff_text(text)
  text = text:gsub("\\%(%a%a", ESCAPES):gsub("\\[%%:&]", ""):gsub("\\%-", "-"):gsub("\\e", "\\")
  return escape(text)
end

local TAGS = { B = "b", I = "i" }

-- Fonts as elements.
local function fonts(text)
  local open
  local html = text:gsub("\\f([BIR])", function(font)
    local close = open and "</" .. open .. ">" or ""
    open = TAGS[font]
    return close .. (open and "<" .. open .. ">" or "")
  end)
  return open and html .. "</" .. open .. ">" or html
end

-- A line of a man page as HTML.
local function roff_inline(text)
  local parts, at = {}, 1
  for from, font, to in text:gmatch "()\\f([BIR])()" do
    parts[#parts + 1] = roff_text(text:sub(at, from - 1)) .. "\\f" .. font
    at = to
  end
  parts[#parts + 1] = roff_text(text:sub(at))
  return fonts(table.concat(parts))
end

local Roff = {}
Roff.__index = Roff

function Roff:close()
  if self.open then self.doc:put("</", self.open, ">\n") end
  self.open = nil
end

function Roff:enter(tag)
  if self.open == tag then return end
  self:close()
  self.doc:put("<", tag, ">")
  self.open = tag
end

local REQUESTS = {}

function REQUESTS.SH(r, text)
  r:close()
  r.doc:heading(3, roff_inline(text:sub(1, 1) .. text:sub(2):lower()))
end

function REQUESTS.SS(r, text)
  r:close()
  r.doc:heading(4, roff_inline(text))
end

function REQUESTS.PP(r) r:close() end

function REQUESTS.TP(r)
  r:close()
  r.term = true
end

function REQUESTS.nf(r)
  r:close()
  r:enter "pre"
end

function REQUESTS.fi(r) r:close() end

function REQUESTS.br(r) r.doc:put "<br>" end

function REQUESTS.BR(r, text)
  r:enter "p"
  r.doc:put("<b>", roff_inline((text:gsub(" ", "", 1))), "</b> ")
end

local function put_roff(doc, text)
  local r = setmetatable({ doc = doc }, Roff)
  for line in text:gmatch "([^\n]*)\n" do
    local name, rest = line:match "^%.(%a%a)%s*(.*)$"
    if REQUESTS[name] then
      REQUESTS[name](r, rest)
    elseif not line:find "^%.[\\%a]" then
      if r.term then
        doc:put("<dl><dt>", roff_inline(line), "</dt><dd>")
        r.term, r.open = nil, "dd></dl"
      else
        if not r.open then r:enter "p" end
        doc:put(roff_inline(line), "\n")
      end
    end
  end
  r:close()
end

-- ---- the page -------------------------------------------------------------------------------------------------------

local CSS = [[
body { max-width: 62em; margin: 0 auto; padding: 0 1em 4em; font: 15px/1.5 system-ui, sans-serif; color: #1f2328; background: #fff; }
nav { columns: 3 16em; font-size: 13px; border: 1px solid #d1d9e0; border-radius: 6px; padding: 8px 16px; }
nav a { display: block; }
nav .part { font-weight: 600; margin-top: 4px; } nav .section { padding-left: 12px; } nav a { break-inside: avoid; }
a { color: #0550ae; text-decoration: none; } a:hover { text-decoration: underline; }
h1, h2 { border-bottom: 1px solid #d1d9e0; } h2 { margin-top: 2em; }
pre { background: #f5f7f9; padding: 8px 12px; overflow-x: auto; border-radius: 6px; font-size: 13px; line-height: 1.35; }
code { background: #f5f7f9; padding: 0 3px; border-radius: 3px; font-size: 90%; }
table { border-collapse: collapse; } td, th { border: 1px solid #d1d9e0; padding: 3px 8px; text-align: left; vertical-align: top; }
dl { margin: 4px 0; } dd { margin-left: 2em; } :target { background: #fff8c5; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3; } pre, code { background: #151b23; }
  a { color: #79b8ff; } nav, h1, h2, td, th { border-color: #30363d; } :target { background: #3a2d00; } }
@media print { nav { columns: 2; } pre { white-space: pre-wrap; } h2 { break-before: page; } }
]]

--- The documents of the manual: {name, title, path, kind}. Paths without a slash lie in the directory of what is built.
M.DOCUMENTS = {
  { "start", "First steps", "./README.md", "markdown" },
  { "explore-a-machine", "Explore a machine", "doc/tutorials/explore-a-machine.md", "markdown" },
  { "first-policy", "Write your first placement policy", "doc/tutorials/first-policy.md", "markdown" },
  { "first-scenario", "Write your first scenario", "doc/tutorials/first-scenario.md", "markdown" },
  { "replay-slurm-history", "Replay your own Slurm history", "doc/tutorials/replay-slurm-history.md", "markdown" },
  { "install", "Install weir", "doc/guides/install.md", "markdown" },
  { "cluster-files", "Read the files of your cluster", "doc/guides/cluster-files.md", "markdown" },
  { "replay", "Replay a trace", "doc/guides/replay.md", "markdown" },
  { "tune-a-queue", "Tune a queue", "doc/guides/tune-a-queue.md", "markdown" },
  { "try-and-shadow", "Try a policy on a running system", "doc/guides/try-and-shadow.md", "markdown" },
  { "team-service", "Run a service for a team", "doc/guides/team-service.md", "markdown" },
  { "flux", "Run weir as the scheduler of a Flux instance", "doc/guides/flux.md", "markdown" },
  { "switching-from-fluxion", "Switch from Fluxion to weir, and back", "doc/guides/switching-from-fluxion.md", "markdown" },
  { "power-feeds", "Schedule several power feeds", "doc/guides/power-feeds.md", "markdown" },
  { "coarse-views", "Schedule a coarse view of a machine", "doc/guides/coarse-views.md", "markdown" },
  { "lua", "Call weir from Lua", "doc/guides/lua.md", "markdown" },
  { "c", "Call weir from C", "doc/guides/c.md", "markdown" },
  { "scenarios", "Scenarios", "doc/reference/scenarios.md", "markdown" },
  { "graphs", "Machines from Lua", "doc/reference/graphs.md", "markdown" },
  { "formats", "Formats", "doc/reference/formats.md", "markdown" },
  { "limits", "Limits", "doc/reference/limits.md", "markdown" },
  { "error-codes", "Error codes", "doc/reference/error-codes.md", "markdown" },
  { "flux-settings", "Settings of sched-weir", "doc/reference/flux-settings.md", "markdown" },
  { "fluxion-tests", "Fluxion's own tests", "doc/reference/fluxion-tests.md", "markdown" },
  { "requirement-codes", "Requirement codes", "doc/reference/requirement-codes.md", "markdown" },
  { "architecture", "Architecture", "doc/explanation/architecture.md", "markdown" },
  { "free-time", "When a resource is free", "doc/explanation/free-time.md", "markdown" },
  { "performance", "Performance", "doc/explanation/performance.md", "markdown" },
  { "specifications", "Decisions on the specifications", "doc/explanation/specifications.md", "markdown" },
  { "policies", "The contract of policies", "policy.md", "markdown" },
  { "weir", "weir(1): commands", "weir.1", "roff" },
  { "sim", "weir-sim(1): replays and forecasts", "weir-sim.1", "roff" },
  { "serve", "weir-serve(1): the service", "weir-serve.1", "roff" },
  { "fluxweir", "weir-flux(1): for Flux instances", "weir-flux.1", "roff" },
}

-- The lowest level of headings in the contents, by document: commands and first steps are looked for by name.
local DEEP = setmetatable({ start = 4, weir = 4 }, { __index = function() return 3 end })

local function contents(documents)
  local parts = { "<nav>\n" }
  for _, doc in ipairs(documents) do
    parts[#parts + 1] = ('<a class="part" href="#%s">%s</a>\n'):format(doc.name, escape(doc.title))
    for _, entry in ipairs(doc.contents) do
      if entry.level <= DEEP[doc.name] then
        parts[#parts + 1] = ('<a class="section" href="#%s">%s</a>\n'):format(entry.id, entry.html)
      end
    end
  end
  parts[#parts + 1] = "</nav>\n"
  return table.concat(parts)
end

--- Returns a text in Markdown, or of a man page, as HTML. kind: "markdown" or "roff".
function M.html(text, kind)
  local doc = document "x"
  if kind == "roff" then put_roff(doc, text) else put_markdown(doc, text, 1) end
  return table.concat(doc.parts)
end

--- Returns the page, without the man pages of packages that are not built. directory: of the man pages and policy.md.
function M.page(directory)
  local links, documents, bodies = {}, {}, {}
  local function path_of(row) return row[3]:find "/" and row[3] or directory .. "/" .. row[3] end
  local rows = tables.filter(M.DOCUMENTS, function(row) return files.exists(path_of(row)) end)
  for _, row in ipairs(rows) do links[row[3]:match "[^/]*$"] = row[1] end
  for i, row in ipairs(rows) do
    local doc = document(row[1], links)
    local text = assert(files.read(path_of(row), "script"))
    doc.title = row[2]
    if row[4] == "roff" then put_roff(doc, text) else put_markdown(doc, text:gsub("^# [^\n]*\n", ""), 1) end
    documents[i] = doc
    bodies[i] = ('<section>\n<h2 id="%s">%s</h2>\n%s</section>\n'):format(row[1], escape(row[2]), table.concat(doc.parts))
  end
  return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>weir %s: the manual</title>\n'
    .. "<style>\n%s</style>\n</head>\n<body>\n<h1>weir %s: the manual</h1>\n%s%s</body>\n</html>\n"):format(core.version, CSS, core.version,
    contents(documents), table.concat(bodies))
end

if arg and arg[0] and arg[0]:find "webpage%.lua$" then assert(files.write(arg[1], M.page(arg[2]))) end

return M
