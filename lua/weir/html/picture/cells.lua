--- cells.lua - draws the boxes of a picture as SVG. A box is drawn before the boxes inside, and each cell is one <g> of
--- the class "cell", with a <title> that describes the cell in words.

local colours = require "weir.html.picture.colours"
local layout = require "weir.html.picture.layout"
local boxes = require "weir.html.picture.boxes"
local markup = require "weir.html.picture.markup"
local model = require "weir.html.picture.model"
local palette = require "weir.html.picture.palette"
local scene = require "weir.html.picture.scene"
local texts = require "weir.html.picture.svg_text"
local words = require "weir.texts"

local M = {}

local SLIVER = 0.05 -- smallest drawn fraction of a job, so that each job is visible
local WHOLE = 0.999
local LETTERS_MIN = 7

-- ---- shapes -----------------------------------------------------------------------------------------------------

local function say(page, ...)
  local text = string.format(...)
  page.out[#page.out + 1], page.bytes = text, page.bytes + #text
end

M.say = say

--- Draws a rectangle.
function M.rect(page, class, x, y, w, h)
  if w > 0 and h > 0 then say(page, '<rect class="%s" x="%d" y="%d" width="%d" height="%d"/>', class, x, y, w, h) end
end

--- Writes a text, cut to the width `room`; nothing, if too little of the text would be left.
function M.text(page, class, x, y, size, text, room)
  local cut = texts.cut(text, size, room)
  if cut then say(page, '<text class="%s" x="%d" y="%d" font-size="%d">%s</text>', class, x, y, size, markup.escape(cut)) end
end

local function is_available(state) return state == "up" or state == "degraded" end

--- Draws the mark of a state other than "up".
function M.state(page, state, x, y, w, h)
  if state == "degraded" and w > 4 then
    M.rect(page, "q", x + 1, y + 1, w - 2, h - 2)
  elseif not is_available(state) and w > 0 then
    say(page, '<rect fill="url(#p-%s)" x="%d" y="%d" width="%d" height="%d"/>', state, x, y, w, h)
  end
end

--- Draws the mark of a reservation: a corner at the upper right.
function M.corner(page, class, right, y, side)
  say(page, '<path class="%s e" d="M%d %dh%dv%dz"/>', class, right - side, y, side, side)
end

-- ---- titles -----------------------------------------------------------------------------------------------------

--- Returns the size of a pool, "1,024 GB".
local function size_of(kind) return words.number(kind.size) .. (kind.unit ~= "" and " " .. kind.unit or "") end

local function is_pool(box)
  return box.members == 1 and box.shape.count == 0 and (box.kind.size ~= 1 or box.kind.unit ~= "")
end

local function where(box)
  if box.members == 1 then return { box.path } end
  return { box.path, ("to %s (%d)"):format(box.last, box.members) }
end

local function job_text(job) return job and words.holder(job) or "other jobs" end

local function add_states(lines, cell)
  for _, state in ipairs(scene.STATES) do
    local fraction = state ~= "up" and cell.fractions[state]
    if fraction then lines[#lines + 1] = fraction < 1 and texts.percent(fraction) .. " " .. state or state end
  end
end

local function add_jobs(lines, cell)
  if cell.heat and cell.used > 0 then lines[#lines + 1] = texts.percent(cell.used) .. " in use" end
  for _, share in ipairs(cell.heat and {} or cell.shares) do
    lines[#lines + 1] = job_text(share.job) .. (share.fraction < 1 and ": " .. texts.percent(share.fraction) or "")
  end
  if cell.next then lines[#lines + 1] = "reserved for " .. words.holder(cell.next) end
end

--- Returns the words for a value of a property, such as "class: 2".
function M.value_text(page, value)
  if value == model.SEVERAL then value = "several values" end
  return value == "" and page.key or page.by == "map" and page.key .. ": " .. value or value
end

local function title(page, lines)
  for i, line in ipairs(lines) do lines[i] = markup.escape(texts.shorten(line)) end
  say(page, "<title>%s</title>", table.concat(lines, "\n"))
end

local function cell_title(page, cell)
  local lines = where(cell)
  if is_pool(cell) then lines[#lines + 1] = size_of(cell.kind) end
  add_states(lines, cell)
  add_jobs(lines, cell)
  if page.by == "map" and cell.value ~= nil then lines[#lines + 1] = M.value_text(page, cell.value) end
  title(page, lines)
end

-- ---- fills ------------------------------------------------------------------------------------------------------

-- Returns the x coordinate for a fraction, from 0 to 1, of the width of a cell.
local function at(cell, fraction) return cell.x + math.floor(fraction * cell.w + 0.5) end

local function fill_jobs(page, cell)
  local sum, from = 0, 0
  for _, share in ipairs(cell.shares) do sum = sum + math.max(share.fraction, SLIVER) end
  for _, share in ipairs(cell.shares) do
    local fraction = math.max(share.fraction, SLIVER) / math.max(1, sum)
    local x, stop = at(cell, from), at(cell, from + fraction)
    if stop == x and x < cell.x + cell.w then stop = stop + 1 end
    M.rect(page, colours.job(page, share.job).class, x, cell.y, stop - x, cell.h)
    from = from + fraction
  end
end

local function fill_states(page, cell)
  local from = 0
  for i, state in ipairs(scene.STATES) do
    local fraction = cell.fractions[state] or 0
    M.rect(page, "s" .. i - 1, at(cell, from), cell.y, at(cell, from + fraction) - at(cell, from), cell.h)
    from = from + fraction
  end
end

-- Returns the most frequent state of a cell, except "up", with its fraction; "up", 0 if the whole cell is up.
local function worst_state(cell)
  local worst, most = "up", 0
  for _, state in ipairs(scene.STATES) do
    local fraction = state ~= "up" and cell.fractions[state] or 0
    if fraction > most then worst, most = state, fraction end
  end
  return worst, most
end

-- Draws the mark of a state over the whole cell, or over the fraction of the state at the right end.
local function mark_states(page, cell)
  local worst, fraction = worst_state(cell)
  if fraction <= 0 or page.by == "state" then return end
  if fraction >= WHOLE then return M.state(page, worst, cell.x, cell.y, cell.w, cell.h) end
  if worst == "degraded" then return end
  local right = cell.x + cell.w
  local x = math.max(cell.x, math.min(at(cell, 1 - fraction), right - 3))
  M.rect(page, "x", x, cell.y, right - x, cell.h)
  M.state(page, worst, x, cell.y, right - x, cell.h)
end

local function fill_use(page, cell)
  local worst, fraction = worst_state(cell)
  if cell.used < WHOLE then
    M.rect(page, not is_available(worst) and fraction >= WHOLE and "x" or colours.free(cell.type).class, cell.x, cell.y, cell.w, cell.h)
  end
  if not cell.heat then return fill_jobs(page, cell) end
  if cell.used > 0 then M.rect(page, colours.heat(cell.used).class, cell.x, cell.y, cell.w, cell.h) end
end

local function fill(page, cell)
  if page.by == "state" then return fill_states(page, cell) end
  if page.by == "job" then return fill_use(page, cell) end
  M.rect(page, colours.value(page, cell.value).class, cell.x, cell.y, cell.w, cell.h)
end

-- ---- letters ----------------------------------------------------------------------------------------------------

local function on(paint) return paint.dark and "w c" or "k c" end

-- Returns the class of the letters on a cell: light on dark colours, with an outline on several colours.
local function letters_on(page, cell)
  if page.by == "state" then return (cell.state == "down" or cell.state == "failing") and "w c" or "k c" end
  if page.by ~= "job" then
    return (cell.value == nil or cell.value == model.SEVERAL) and "t c" or on(colours.value(page, cell.value))
  end
  if worst_state(cell) ~= "up" then return "t c g" end
  if cell.heat and cell.used > 0 then return colours.heat(cell.used).dark and "hd c" or "hl c" end
  if #cell.shares == 0 then return "t c" end
  return #cell.shares == 1 and cell.used >= WHOLE and on(colours.job(page, cell.shares[1].job)) or "t c g"
end

-- Returns the name of a cell, or, if the name is too wide, the id; nil if neither fits. Returns the font size, too.
local function name_of(cell, size)
  if not cell.id or texts.width(cell.name, size) <= cell.w - 2 then return cell.name, size end
  if size > LETTERS_MIN + 1 and texts.width(cell.name, size - 1) <= cell.w - 1 then return cell.name, size - 1 end
  local id = tostring(cell.id)
  while size > LETTERS_MIN and texts.width(id, size) > cell.w - 2 do size = size - 1 end
  return texts.width(id, size) <= cell.w and id or nil, size
end

-- Returns the value of a property of the vertex of a cell, a text; or nil.
local function own_value(page, word, cell)
  page.own = page.own or {}
  page.own[word] = page.own[word] or page.model:property(word)
  local value = page.model:value(page.own[word], cell.p, cell.p + 1)
  return type(value) == "string" and value ~= "" and value or nil
end

-- Returns the lines of a cell below the name: the job, or the fraction in use; the model of a device or the size of a pool; the
-- address of a device and of its bridge to the host; the cache of a core.
local function details_of(page, cell)
  if cell.heat then return { texts.percent(cell.used) } end
  local lines = {}
  if page.by == "job" and #cell.shares == 1 and cell.used >= WHOLE then lines[1] = job_text(cell.shares[1].job) end
  if cell.members > 1 or cell.shape.count > 0 then return lines end
  local device = palette.frees[cell.kind.type]
  lines[#lines + 1] = device and own_value(page, "property:model", cell) or is_pool(cell) and size_of(cell.kind) or nil
  local address = device and own_value(page, "property:pci", cell)
  lines[#lines + 1] = address and "PCI " .. address or cell.note
  local bridges = address and own_value(page, "property:bridges", cell)
  lines[#lines + 1] = bridges and "bridge " .. bridges:match "^%S+"
  return lines
end

-- Writes the lines of a cell that fit: the name in the middle, the others below.
local function write_letters(page, cell)
  local size = math.floor(math.max(LETTERS_MIN, math.min(cell.h * 0.32, cell.w / 4.2, 13)))
  if cell.h < size + 2 or cell.w < 9 or cell.members > 1 and cell.parent.named then return end
  local class, lines, small = letters_on(page, cell), {}, math.max(LETTERS_MIN, size - 1)
  local name, fit = name_of(cell, size)
  local room = (cell.h - size - 8) // (small + 3)
  for _, line in ipairs(room > 0 and details_of(page, cell) or {}) do
    if #lines < room and texts.width(line, small) <= cell.w - 2 then lines[#lines + 1] = line end
  end
  local x, y = cell.x + cell.w // 2, cell.y + cell.h // 2 - #lines * (small + 3) // 2
  if name then M.text(page, class, x, y + fit // 3 + 1, fit, name, cell.w) end
  for i, line in ipairs(lines) do M.text(page, class, x, y + size // 3 + 1 + i * (small + 3), small, line, cell.w) end
end

-- ---- boxes ------------------------------------------------------------------------------------------------------

local function draw_cell(page, cell)
  local side = cell.h < 16 and (cell.h + 1) // 2 or cell.h < 36 and (cell.h + 2) // 3 or 12
  say(page, '<g class="cell">')
  cell_title(page, cell)
  fill(page, cell)
  mark_states(page, cell)
  if cell.next and page.by == "job" then
    M.corner(page, cell.heat and "t" or colours.job(page, cell.next).class, cell.x + cell.w, cell.y, side)
  end
  write_letters(page, cell)
  say(page, "</g>\n")
end

-- Draws the parts of a block that are no pools: frames around cells with a common cache, and network adapters.
local function draw_extras(page, box)
  local plan, k = box.layout or page.plan.page, page.scale
  local function rect_of(r)
    local x, y = box.fx + k * (plan.pad + r.x), box.fy + k * (plan.head + r.y)
    local left, top = math.floor(x + 0.5), math.floor(y + 0.5)
    return left, top, math.floor(x + k * r.w + 0.5) - left, math.floor(y + k * r.h + 0.5) - top
  end
  local caches = #plan.frames > 0 and own_value(page, layout.CACHES, box)
  for _, r in ipairs(caches and plan.frames or {}) do
    local x, y, w, h = rect_of(r)
    local size = math.min(10, math.floor(k * 0.3 * 0.8))
    say(page, '<rect class="v" rx="3" x="%d" y="%d" width="%d" height="%d"/>', x, y, w, h)
    if size >= LETTERS_MIN then M.text(page, "m", x + 4, y + size + 1, size, r.text, w - 6) end
  end
  local nics = #plan.notes > 0 and layout.nics(own_value(page, layout.NICS, box) or "") or {}
  for i, r in ipairs(plan.notes) do
    local x, y, w, h = rect_of(r)
    local name, address = (nics[i] or ""):match "^(.-)%s+(%x+:%x+:%x+%.%x+)$"
    name = name or nics[i]
    if name and w > 20 and h > 8 then
      local size = math.floor(math.max(LETTERS_MIN, math.min(h * 0.3, 12)))
      say(page, '<rect class="d" rx="3" x="%d" y="%d" width="%d" height="%d"/>', x, y, w, h)
      local two = address and h >= 2 * size + 6 and texts.width("PCI " .. address, size - 1) <= w - 4
      M.text(page, "m c", x + w // 2, y + h // 2 + (two and -2 or size // 3), size, "nic " .. name, w - 4)
      if two then M.text(page, "m c", x + w // 2, y + h // 2 + size, size - 1, "PCI " .. address, w - 4) end
    end
  end
end

-- Returns the name of a block; behind the name of a socket the caches, where these are no frames around cores.
local function head_of(page, box)
  local caches = #box.layout.frames == 0 and box.kind.type == "socket" and own_value(page, layout.CACHES, box)
  return caches and box.name .. "   " .. caches or box.name
end

-- Draws the name of a block: in its line, or, where a line is too low, later over what is in the block.
local function draw_name(page, box)
  local head, pad = box.layout.head * page.scale, math.floor(box.layout.pad * page.scale)
  if head >= boxes.HEAD and box.w >= boxes.HEAD_WIDTH then
    local size = math.floor(math.max(8, math.min(head * 0.75, 12)))
    local y = box.y + math.floor((head + size) / 2 + 0.5) - 1
    if texts.width(box.name, size) > box.w - 2 * pad - 2 then size = 8 end
    M.text(page, "m", box.x + pad + 2, y, size, head_of(page, box), box.w - 2 * pad - 2)
    box.named = true
  elseif box.h >= 12 and not box.parent.named then
    local id = box.id and tostring(box.id)
    local name = texts.width(box.name, 9) <= box.w - 4 and box.name or id and texts.width(id, 9) <= box.w - 4 and id
    if name then page.over[#page.over + 1] = { box = box, name = name } end
    box.named = name ~= nil
  end
  box.named = box.named or box.parent.named
end

local function draw_block(page, box)
  local lines = where(box)
  if box.state ~= "up" then lines[#lines + 1] = box.state end
  local caches = box.kind.type == "socket" and own_value(page, layout.CACHES, box)
  if caches then lines[#lines + 1] = caches end
  say(page, '<g class="block">')
  title(page, lines)
  say(page, '<rect class="b" rx="3" x="%d" y="%d" width="%d" height="%d"/>', box.x, box.y, box.w, box.h)
  draw_name(page, box)
  draw_extras(page, box)
  say(page, "</g>\n")
end

--- Draws all boxes, with the upper left corner of the page at (x, y), until `most` bytes are there.
function M.draw(page, x, y, most)
  say(page, '<g transform="translate(%d %d)">\n', x, y)
  page.over = {}
  draw_extras(page, page[1])
  for i = 2, #page do
    if page.bytes > most then break end
    if page[i].kids then draw_block(page, page[i]) else draw_cell(page, page[i]) end
  end
  for _, entry in ipairs(page.over) do
    if page.bytes > most then break end
    M.text(page, "t c u", entry.box.x + entry.box.w // 2, entry.box.y + entry.box.h // 2 + 3, 9, entry.name, entry.box.w)
  end
  say(page, "</g>\n")
end

return M
