--- markup.lua - escaping for XML and HTML, and self-contained pages.

local core = require "weir.core"
local files = require "weir.files"
local palette = require "weir.html.picture.palette"
local tables = require "weir.tables"
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

--- The contents of an asset next to the modules: asset("weir.html.picture.machine", "js").
function M.asset(name, kind)
  local path = assert(package.searchpath(name, (package.path:gsub("%.lua%f[%z;]", "." .. kind))))
  local text = assert(files.read(path, "script"))
  assert(not text:lower():find("</" .. (kind == "js" and "script" or "style"), 1, true), path)
  return text
end

-- The policy in the page's head forbids browsers to load anything.
local DOCUMENT = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
%s</style>
</head>
<body>
%s</body>
</html>
]]

local SCRIPTS = [[
<noscript>This page draws with JavaScript, which is turned off.</noscript>
<script type="application/json" id="data">%s</script>
<script>
"use strict";
%s</script>
]]

local VARIABLES = ":root{--page:$page;--text:$text;--soft:$soft;--block:$block;--edge:$edge}"

local function assets(names, kind)
  local parts = tables.map(names, function(name) return M.asset(name, kind) end)
  return table.concat(parts)
end

--- Returns a page around a body of markup. css: names of assets, in the order of loading; policy: what the body may do
--- in addition to having styles ("; script-src 'unsafe-inline'"), or nil.
function M.document(title, css, body, policy)
  return DOCUMENT:format(policy or "", M.escape(title), palette.rules(VARIABLES) .. "\n" .. assets(css, "css"), body)
end

--- Returns a page that scripts draw. page: {title =, data = a table for the scripts, css = names of assets, js = names of
--- assets}, in the order of loading.
function M.page(page)
  return M.document(page.title, page.css, SCRIPTS:format(M.json(page.data), assets(page.js, "js")), "; script-src 'unsafe-inline'")
end

return M
