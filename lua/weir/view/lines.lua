--- lines.lua - draws a tree of {label=, note=, used=, kids={...}} as lines.

local texts = require "weir.texts"

local M = {}

M.ascii = { fork = "|-- ", last = "`-- ", pass = "|   ", gap = "    " }
M.utf8 = { fork = "├── ", last = "└── ", pass = "│   ", gap = "    " }

local function plain(text) return text end

local WIDTH = 8

-- Returns a bar for the used part, from 0 to 1. A bar is drawn full or empty only for exactly 1 or 0.
local function bar(used, marks)
  local n = used <= 0 and 0 or used >= 1 and WIDTH or math.max(1, math.min(WIDTH - 1, math.floor(used * WIDTH + 0.5)))
  return "  " .. marks[1]:rep(n) .. marks[2]:rep(WIDTH - n)
end

local function draw(node, first, rest, style, emit)
  local note = node.note ~= "" and node.note and texts.plain(node.note)
  local measure = style.bar and node.used and style.dim(bar(node.used, style.bar)) or ""
  emit(style.dim(first) .. style.bold(texts.plain(node.label)) .. measure .. (note and "  " .. style.note(note) or ""))
  for i, kid in ipairs(node.kids or {}) do
    local last = i == #node.kids
    draw(kid, rest .. (last and style.guides.last or style.guides.fork),
      rest .. (last and style.guides.gap or style.guides.pass), style, emit)
  end
end

--- Calls `emit` with each line of a tree. style: guides (M.ascii or M.utf8), bold, dim and note (functions of a
--- text), and bar (the marks for used and free units in bars next to pools; nil for no bars).
function M.draw(node, emit, style)
  style = style or {}
  draw(node, "", "", { guides = style.guides or M.ascii, bold = style.bold or plain, dim = style.dim or plain,
    note = style.note or style.dim or plain, bar = style.bar }, emit)
end

return M
