--- browser.lua - what a page becomes in headless Chromium; `found` is false where there is none.

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
    .. "--virtual-time-budget=5000 --window-size=1400,1000 --enable-logging=stderr --dump-dom %s 2>%s/log"):format(quote(dir),
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

return M
