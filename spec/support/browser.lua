--- browser.lua - the state of a page in headless Chromium; `found` is false where no Chromium is installed.

local core = require "weir.core"

local M = {}

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

M.found = os.execute "command -v chromium >/dev/null 2>&1" == true

local ENTITIES = { lt = "<", gt = ">", quot = '"', amp = "&", nbsp = " " }

--- Loads a page (text) at an address behind #, and returns the texts on it, "|" between elements, and the whole DOM without
--- styles and scripts. `script` is run last.
function M.load(html, hash, script)
  local dir = io.popen("mktemp -d"):read "l"
  local path = dir .. "/page.html"
  if script then html = html:gsub("</body>", function() return "<script>" .. script .. "</script></body>" end) end
  local file <close> = assert(io.open(path, "w"))
  file:write(html)
  file:close()
  local pipe = assert(io.popen(("timeout 100 chromium --headless --no-sandbox --disable-gpu --user-data-dir=%s/profile "
    .. "--virtual-time-budget=5000 --allow-file-access-from-files --window-size=1400,1000 "
    .. "--enable-logging=stderr --dump-dom %s 2>%s/log"):format(quote(dir),
    quote("file://" .. path .. (hash and "#" .. hash or "")), quote(dir))))
  local dom = pipe:read "a"
  pipe:close()
  local log = io.open(dir .. "/log"):read "a"
  os.execute("rm -rf " .. quote(dir))
  local complaint = log:match "CONSOLE[^\n]*"
  assert(not complaint, complaint)
  dom = dom:gsub("<script.->.-</script>", ""):gsub("<style.->.-</style>", "")
  local text = dom:gsub("<[^>]*>", "|"):gsub("&(%a+);", ENTITIES):gsub("|[|%s]*|", "|")
  return text, dom
end

local MARK = "\u{241E}" -- between texts

-- The texts of a page, for scripts in the page.
local TEXTS = [[
function texts() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), list = [];
  while (walker.nextNode())
    if (!walker.currentNode.parentNode.closest("script, style, noscript") && walker.currentNode.data.trim())
      list.push(walker.currentNode.data);
  return list.join("|");
}
]]

--- Loads a page once and goes to each address behind # in turn. cases: {address, script or nil} each. Returns two
--- lists: the texts at each address, and the values that the scripts returned.
function M.visit(html, cases)
  local steps = {}
  for i, case in ipairs(cases) do
    steps[i] = ("location.hash = %q; follow(); draw(); told.push(texts()); told.push(String((() => { %s })()));"):format(case[1],
      case[2] or "")
  end
  local _, dom = M.load(html, nil, TEXTS .. "{ const told = [];\n" .. table.concat(steps, "\n")
    .. '\ndocument.body.replaceChildren(el("pre", {}, told.join("' .. MARK .. '"))); }')
  local told, seen, results = dom:match("<pre>(.-)</pre>"):gsub("&(%a+);", ENTITIES), {}, {}
  for text in (told .. MARK):gmatch("(.-)" .. MARK) do
    local list = #seen == #results and seen or results
    list[#list + 1] = text
  end
  return seen, results
end

--- Returns how wide the contents of pages (texts) are where a page has `width` pixels: the width itself for a page that fits.
function M.widths(pages, width)
  local frames = {}
  for i, html in ipairs(pages) do frames[i] = core.json_encode(html):gsub("<", "\\u003c") end
  local _, dom = M.load(([[<body><pre></pre><script>
    for (const html of [%s]) {
      const frame = document.createElement("iframe");
      frame.width = %d;
      frame.height = 800;
      frame.style.border = 0;
      frame.srcdoc = html;
      const told = document.createElement("p");
      frame.onload = () => { told.textContent = frame.contentDocument.documentElement.scrollWidth; frame.remove(); };
      document.querySelector("pre").append(told);
      document.body.append(frame);
    }</script></body>]]):format(table.concat(frames, ","), width))
  local list = {}
  for n in dom:gmatch "<p>(%d+)</p>" do list[#list + 1] = tonumber(n) end
  return list
end

return M
