--- tree.lua - draws a tree of {label=, note=, used=, kids={...}} as lines.

local M = {}

M.ascii = { fork = "|-- ", last = "`-- ", pass = "|   ", gap = "    " }
M.utf8 = { fork = "├── ", last = "└── ", pass = "│   ", gap = "    " }

local function plain(text) return text end

local WIDTH = 8

-- A bar of the part that is in use, from 0 to 1; full and empty only when it is.
local function bar(used, marks)
  local n = used <= 0 and 0 or used >= 1 and WIDTH or math.max(1, math.min(WIDTH - 1, math.floor(used * WIDTH + 0.5)))
  return "  " .. marks[1]:rep(n) .. marks[2]:rep(WIDTH - n)
end

local function draw(node, first, rest, style, emit)
  local note = node.note ~= "" and node.note
  local measure = style.bar and node.used and style.dim(bar(node.used, style.bar)) or ""
  emit(style.dim(first) .. style.bold(node.label) .. measure .. (note and "  " .. style.dim(note) or ""))
  for i, kid in ipairs(node.kids or {}) do
    local last = i == #node.kids
    draw(kid, rest .. (last and style.guides.last or style.guides.fork),
      rest .. (last and style.guides.gap or style.guides.pass), style, emit)
  end
end

--- Gives each line to `emit`. style: guides (tree.ascii or tree.utf8), functions bold and dim of a text, and bar: the
--- marks for used and free of the bars beside pools; without it there are none.
function M.draw(node, emit, style)
  style = style or {}
  draw(node, "", "", { guides = style.guides or M.ascii, bold = style.bold or plain, dim = style.dim or plain,
    bar = style.bar }, emit)
end

return M
