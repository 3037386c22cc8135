--- markup.lua - escaping for XML and HTML, and self-contained pages.

local core = require "weir.core"
local files = require "weir.files"
local palette = require "weir.html.picture.palette"
local texts = require "weir.texts"

local M = {}

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- Escapes a value for XML and HTML, in attributes too.
function M.escape(text)
  text = texts.utf8(tostring(text)):gsub("[%z\1-\8\11\12\14-\31\127]", "\u{FFFD}"):gsub("\239\191[\190\191]", "\u{FFFD}")
  return (text:gsub("[&<>\"']", ESCAPES))
end

-- A copy of a value with all texts made valid UTF-8.
local function cleaned(value)
  if type(value) == "string" then return texts.utf8(value) end
  if type(value) ~= "table" then return value end
  local out = getmetatable(value) and core.array {} or {}
  for k, x in pairs(value) do out[type(k) == "string" and texts.utf8(k) or k] = cleaned(x) end
  return out
end

--- A value as JSON, safe inside of a script element.
function M.json(value)
  local ok, text = pcall(core.json_encode, value, { sort = true })
  if not ok then text = core.json_encode(cleaned(value), { sort = true }) end
  return (text:gsub("<", "\\u003c"))
end

--- The contents of an asset beside the modules: asset("weir.html.picture.machine", "js").
function M.asset(name, kind)
  local path = assert(package.searchpath(name, (package.path:gsub("%.lua%f[%z;]", "." .. kind))))
  local text = assert(files.read(path, "script"))
  assert(not text:lower():find("</" .. (kind == "js" and "script" or "style"), 1, true), path)
  return text
end

-- The policy in the page's head forbids browsers to load anything.
local PAGE = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<noscript>This page draws with JavaScript, which is turned off.</noscript>
<script type="application/json" id="data">%s</script>
<script>
"use strict";
%s</script>
</body>
</html>
]]

local VARIABLES = ":root{--page:$page;--text:$text;--soft:$soft;--block:$block;--edge:$edge}"

--- Returns a page as text. page: {title =, data = a table for the scripts, css = names of assets, js = names of
--- assets}, in the order of loading.
function M.page(page)
  local css, js = {}, {}
  for i, name in ipairs(page.css) do css[i] = M.asset(name, "css") end
  for i, name in ipairs(page.js) do js[i] = M.asset(name, "js") end
  return PAGE:format(M.escape(page.title), palette.rules(VARIABLES) .. "\n" .. table.concat(css), M.json(page.data), table.concat(js))
end

return M
