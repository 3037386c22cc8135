--- site.lua - makes the manual as HTML: the pages of doc/, the man pages, a page for each policy, and the contract of policies, with a
--- sidebar and a search box that works without a server. cmark-gfm converts Markdown, mandoc converts man pages. From the
--- project's root: weir run spec/tools/site.lua DIRECTORY, which has policy.md and man/ and gets index.html.

local core = require "weir.core"
local files = require "weir.files"
local json = require("weir").json
local markup = require "weir.html.picture.markup"
local policies = require "spec.tools.site.policies"

local M = {}

local escape, quoted = markup.escape, files.quoted

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  local text = pipe:read "a"
  return pipe:close() and text or error(command .. " failed", 0)
end

local function read(path) return assert(files.read(path, "script")) end

-- ---- conversion -------------------------------------------------------------------------------------------------------

-- The anchor of a heading, as forges make it: "What `v` is" is "what-v-is".
local function slug(html)
  return (html:gsub("<[^>]*>", ""):gsub("&[%w#]+;", ""):lower():gsub("[^%w%s_-]", ""):gsub("%s", "-"))
end

-- Headings get anchors; links to pages in Markdown lead to the HTML.
local function with_anchors(html)
  local seen = {}
  html = html:gsub("<h([1-6])>(.-)</h%1>", function(level, text)
    local id = slug(text)
    seen[id] = (seen[id] or 0) + 1
    if seen[id] > 1 then id = id .. "-" .. seen[id] - 1 end
    return ('<h%s id="%s">%s</h%s>'):format(level, id, text, level)
  end)
  return (html:gsub('href="([^":]-)%.md([#"])', 'href="%1.html%2'))
end

--- Returns a text in Markdown as HTML.
function M.markdown(text)
  local path = os.tmpname()
  assert(files.write(path, text))
  local html = output_of("cmark-gfm -e table " .. quoted(path))
  os.remove(path)
  return with_anchors(html)
end

-- A man page as HTML, its sections as h2.
local function man_page(path)
  local html = output_of("mandoc -T html -O fragment,man=%N.html " .. quoted(path))
  html = html:gsub('<table class="head">.-</table>', ""):gsub('<table class="foot">.-</table>', "")
  html = html:gsub("<pre>.-</pre>", function(pre) return (pre:gsub("^<pre>\n<br/>", "<pre>"):gsub("\n<br/>", "")) end)
  html = html:gsub("<(/?)h2", "<%1h3"):gsub("<(/?)h1", "<%1h2")
  html = html:gsub('(<h2[^>]*><a[^>]*>)(%u)([^<]*)</a>', function(open, first, rest) return open .. first .. rest:lower() .. "</a>" end)
  return (html:gsub("<b>(weir[%l-]*)</b>(%(%d%))", '<a href="%1.html">%1%2</a>'))
end

-- ---- the pages --------------------------------------------------------------------------------------------------------

-- The sections of doc/README.md: {title =, pages = {title =, path = without the suffix, markdown =}}. The page of the contract of
-- policies is the one made from the source, which includes that of doc/.
local function sections_of(readme, contract)
  local sections = {}
  for line in readme:gmatch "[^\n]+" do
    local heading = line:match "^## ([^:]+)"
    local title, path = line:match "^%- %[(.-)%]%((.-)%.md%)"
    if heading then sections[#sections + 1] = { title = heading, pages = {} } end
    if title then
      local source = path == "reference/policy-hooks" and contract or "doc/" .. path .. ".md"
      table.insert(sections[#sections].pages, { title = title, path = path, markdown = read(source) })
    end
  end
  return sections
end

-- The man pages of the packages that are built, as two sections, by name.
local function manual_pages(directory)
  local commands, others = { title = "Commands", pages = {} }, { title = "Grammars and protocol", pages = {} }
  for path in output_of(("find %s/man -name '*.[17]'"):format(quoted(directory))):gmatch "[^\n]+" do
    local name, section = path:match "([^/]+)%.(%d)$"
    table.insert((section == "1" and commands or others).pages, { title = ("%s(%s)"):format(name, section), path = "man/" .. name,
      html = ("<h1>%s(%s)</h1>\n%s"):format(name, section, man_page(path)) })
  end
  for _, section in ipairs { commands, others } do table.sort(section.pages, function(a, b) return a.path < b.path end) end
  return commands, others
end

-- The header of the C library, a part for each of its sections.
local function header_page()
  local parts = { "# The C library: weir.h\n" }
  for part in ("\1" .. read("core/weir.h"):gsub("\n/%* %-%-%-%- ", "\n\1%0")):gmatch "\1([^\1]+)" do
    local title = part:match "^\n/%* %-%-%-%- (.-) %-%-%-"
    parts[#parts + 1] = ("%s```c\n%s\n```\n"):format(title and "## " .. title:sub(1, 1):upper() .. title:sub(2) .. "\n\n" or "",
      part:gsub("^\n[^\n]*%-%-%- %*/\n", ""):gsub("^\n+", ""):gsub("\n+$", ""))
  end
  return { title = "The C library: weir.h", path = "reference/weir-h", markdown = table.concat(parts, "\n") }
end

-- The functions of the module, and the methods of graphs that policies cannot call.
local function module_page()
  local reference = require "weir.reference"
  local parts = { "# The module weir\n" }
  for _, row in ipairs { { "weir", "Functions of the module", "weir." }, { "script_graph", "Methods of graphs for scripts", "g:" } } do
    parts[#parts + 1] = ("## %s\n\n%s\n"):format(row[2], reference[row[1]].text)
    for _, m in ipairs(reference[row[1]].members) do
      parts[#parts + 1] = ("- `%s%s%s`  \n  %s"):format(row[3], m.name, m.signature, m.text)
    end
    parts[#parts + 1] = ""
  end
  return { title = "The module weir", path = "reference/module", markdown = table.concat(parts, "\n") }
end

-- A section with a page for each policy, after a page that lists them.
local function policy_section(title, path, pages)
  local rows = { ("# %s\n\n| policy | what it does |\n| --- | --- |"):format(title) }
  for i, page in ipairs(pages) do
    page.path = "policies/" .. page.name
    rows[i + 1] = ("| [%s](%s.md) | %s |"):format(page.title, page.name, page.doc)
  end
  return { title = title, pages = { { title = title, path = path, markdown = table.concat(rows, "\n") .. "\n" }, table.unpack(pages) } }
end

local function policy_pages()
  local placement, queue = {}, {}
  for _, page in ipairs(policies.pages()) do table.insert(page.svg and placement or queue, page) end
  return policy_section("Placement policies", "policies/placement", placement), policy_section("Queue policies", "policies/queue", queue)
end

--- Returns the sections of the manual in the order of the sidebar. directory: of policy.md and man/.
function M.sections(directory)
  local sections = sections_of(read "doc/README.md", directory .. "/policy.md")
  local reference
  for i, section in ipairs(sections) do
    if section.title == "Reference" then reference = i end
  end
  table.insert(sections[reference].pages, 2, module_page())
  table.insert(sections[reference].pages, 3, header_page())
  local commands, others = manual_pages(directory)
  local placement, queue = policy_pages()
  for i, section in ipairs { commands, others, placement, queue } do table.insert(sections, reference + i, section) end
  return sections
end

-- ---- the frame --------------------------------------------------------------------------------------------------------

local FRAME = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s - weir %s</title>
<link rel="stylesheet" href="%ssite.css">
</head>
<body data-root="%s">
<header><a class="home" href="%sindex.html">weir %s</a><button id="menu" aria-label="Contents">Contents</button>
<input id="search" type="search" placeholder="Search the manual" aria-label="Search the manual" autocomplete="off"></header>
<nav>
%s</nav>
<main>
<div id="results" hidden></div>
<article>
%s</article>
<footer>%s</footer>
</main>
<script src="%ssearch.js"></script>
<script src="%ssite.js"></script>
</body>
</html>
]]

local function root_of(path) return path:find "/" and "../" or "" end

local function sidebar(sections, current)
  local parts, root = {}, root_of(current.path)
  for _, section in ipairs(sections) do
    local items, here = {}, false
    for _, page in ipairs(section.pages) do
      here = here or page == current
      items[#items + 1] = ('<li><a href="%s%s.html"%s>%s</a></li>\n'):format(root, page.path, page == current and ' class="here"' or "",
        escape(page.title))
    end
    parts[#parts + 1] = ("<details%s><summary>%s</summary>\n<ul>\n%s</ul></details>\n"):format(
      (here or current.path == "index") and " open" or "", escape(section.title), table.concat(items))
  end
  return table.concat(parts)
end

local function neighbours(list, i)
  local parts, root = {}, root_of(list[i].path)
  for _, row in ipairs { { -1, "previous", "Previous: " }, { 1, "next", "Next: " } } do
    local page = list[i + row[1]]
    if page then
      parts[#parts + 1] = ('<a class="%s" rel="%s" href="%s%s.html">%s%s</a>'):format(row[2], row[2]:sub(1, 4), root, page.path, row[3],
        escape(page.title))
    end
  end
  return table.concat(parts, "\n")
end

local function page_of(sections, list, i)
  local page, version = list[i], core.version
  local root = root_of(page.path)
  local html = page.html:gsub("<table>", '<div class="wide"><table>'):gsub("</table>", "</table></div>")
  return FRAME:format(escape(page.title), version, root, root, root, version, sidebar(sections, page), html, neighbours(list, i),
    root, root)
end

-- {title of the page, title of the section, address, text} of each part of a page that begins with a heading.
local function index_of(page, entries)
  local ENTITIES = { lt = "<", gt = ">", quot = '"', amp = "&", nbsp = " " }
  local function text_of(html)
    return (html:gsub("<[^>]*>", " "):gsub("&(%a+);", ENTITIES):gsub("&#(%d+);", function(n) return utf8.char(n) end):gsub("%s+", " "))
  end
  for part in ("\1" .. page.html:gsub("<h[1-3]", "\1%0")):gmatch "\1([^\1]+)" do
    local id, title = part:match '^<h[1-3][^>]-id="([^"]*)"[^>]*>(.-)</h[1-3]>'
    entries[#entries + 1] = { page.title, title and text_of(title) or page.title, page.path .. ".html" .. (id and "#" .. id or ""),
      text_of(part:gsub("^<h[1-3].-</h[1-3]>", "")) }
  end
end

local function is_of_markdown(page) return page.markdown ~= nil end

--- Writes the manual into a directory.
function M.write(directory)
  local sections = M.sections(directory)
  local list, entries = { { title = "The weir manual", path = "index", markdown = read "doc/README.md" } }, {}
  for _, section in ipairs(sections) do table.move(section.pages, 1, #section.pages, #list + 1, list) end
  for i, page in ipairs(list) do
    if is_of_markdown(page) then page.html = M.markdown(page.markdown) end
    assert(files.make_directory(directory .. "/" .. (page.path:match "^(.*)/" or "")))
    index_of(page, entries)
    assert(files.write(("%s/%s.html"):format(directory, page.path), page_of(sections, list, i)))
    if page.svg then assert(files.write(("%s/%s.svg"):format(directory, page.path), page.svg)) end
  end
  assert(files.write(directory .. "/search.js", "const INDEX = " .. json.encode(entries) .. ";\n"))
  for _, name in ipairs { "site.css", "site.js" } do assert(files.write(directory .. "/" .. name, read("spec/tools/site/" .. name))) end
end

if arg and arg[0] and arg[0]:find "site%.lua$" then M.write(arg[1]) end

return M
