--- tree.lua - draws a tree of {label=, note=, kids={...}} as lines.

local M = {}

M.ascii = { fork = "|-- ", last = "`-- ", pass = "|   ", gap = "    " }
M.utf8 = { fork = "├── ", last = "└── ", pass = "│   ", gap = "    " }

local function plain(text) return text end

local function draw(node, first, rest, style, emit)
  local note = node.note ~= "" and node.note
  emit(style.dim(first) .. style.bold(node.label) .. (note and "  " .. style.dim(note) or ""))
  for i, kid in ipairs(node.kids or {}) do
    local last = i == #node.kids
    draw(kid, rest .. (last and style.guides.last or style.guides.fork),
      rest .. (last and style.guides.gap or style.guides.pass), style, emit)
  end
end

--- Gives each line to `emit`. style: guides (tree.ascii or tree.utf8), and functions bold and dim of a text.
function M.draw(node, emit, style)
  style = style or {}
  draw(node, "", "", { guides = style.guides or M.ascii, bold = style.bold or plain, dim = style.dim or plain }, emit)
end

return M
