--- svg.lua - a picture of a machine and of the jobs that now use the machine.
---
--- A picture has at most M.BYTES bytes, or with `all` M.BYTES_ALL, however large the machine and however long the names:
--- a larger picture is drawn again with half as many boxes. Equal graphs give equal bytes.

local boxes = require "weir.html.picture.boxes"
local cells = require "weir.html.picture.cells"
local colours = require "weir.html.picture.colours"
local layout = require "weir.html.picture.layout"
local markup = require "weir.html.picture.markup"
local model = require "weir.html.picture.model"
local palette = require "weir.html.picture.palette"
local plain = require "weir.texts"
local tables = require "weir.tables"
local scene = require "weir.html.picture.scene"
local texts = require "weir.html.picture.svg_text"

local M = {}

M.BYTES, M.BYTES_ALL = 2000000, 100000000
local BOXES_ALL = 1000000
M.WIDTH_MIN, M.WIDTH_MAX = 320, 8000
local WIDTH, MARGIN, MIN_WIDTH, LINE = 1200, 24, 520, 20
local HEAD_ROOM = 6000 -- bytes reserved for the head of the picture
local LISTED = 30 -- entries of a legend

-- ---- heading ----------------------------------------------------------------------------------------------------

-- Returns the names of the roots, or the path of the start.
local function heading_of(page)
  if page.start then return plain.utf8(page.start.path) end
  local m, names = page.model, {}
  m:each_child(nil, function(v) if #names < 4 then names[#names + 1] = #names < 3 and m:name_of(v) or "\u{2026}" end end)
  return #names > 0 and table.concat(names, ", ") or "nothing"
end

-- Returns the common unit of all pools of a type, or "".
local function unit_of(m, type)
  local unit
  for _, kind in ipairs(m.kinds) do
    if kind.type == type and unit and unit ~= kind.unit then return "" end
    if kind.type == type then unit = kind.unit end
  end
  return unit or ""
end

-- Returns an amount of a type: "64 GB memory".
local function amount_text(m, type, n)
  local unit = unit_of(m, type)
  return ("%s %s%s"):format(plain.number(n), unit ~= "" and unit .. " " or "", type)
end

local TYPES_TOLD = 5

-- Returns totals: "40,960 core, 62 % in use", of nodes first, then of the types of leaves.
local function totals_of(page)
  local m, words = page.model, {}
  local totals, entry = m.top.totals, m:units(0, m.count, true)[1]
  local used = m.holder and totals or entry and entry.units or {}
  if (totals.node or 0) > 0 then words[1] = amount_text(m, "node", totals.node) end
  local most = TYPES_TOLD + #words
  for _, type in ipairs(page.types) do
    if #words < most and type ~= "node" and not m.inner[type] and (totals[type] or 0) > 0 then
      local fraction = (used[type] or 0) / totals[type]
      words[#words + 1] = amount_text(m, type, totals[type]) .. (fraction > 0 and ", " .. texts.percent(fraction) .. " in use" or "")
    end
  end
  return words
end

local function count_jobs(page)
  local jobs = {}
  if not page.heat then jobs = page.shades end
  for _, booking in ipairs(page.heat and page.model.scene.bookings or {}) do jobs[booking[1]] = true end
  local stages = 0
  for job in pairs(jobs) do stages = stages + (job < 0 and 1 or 0) end
  return tables.size(jobs) - stages, stages
end

-- Returns the facts about the picture below the heading.
local function facts_of(page)
  local m, words = page.model, totals_of(page)
  local counts, now = m:count_states(), m.scene.now
  local jobs, stages = count_jobs(page)
  for _, state in ipairs(scene.STATES) do
    if (counts[state] or 0) > 0 and state ~= "up" then
      words[#words + 1] = ("%s %s%s"):format(plain.number(counts[state]), m.top.totals.node and "node " or "", state)
    end
  end
  if jobs > 0 then words[#words + 1] = plain.counted(jobs, "job") end
  if stages > 0 then words[#words + 1] = plain.counted(stages, "stage") end
  if page.coarse > 1 or page.members or page.top_members > 1 then
    words[#words + 1] = "what is within small boxes is left out: --all draws it"
  end
  if now > 0 then words[#words + 1] = "at " .. plain.moment(math.floor(now), plain.number) end
  return words
end

-- Writes the facts in lines. Returns the y below.
local function write_facts(page, y, max_width)
  local line
  for _, word in ipairs(facts_of(page)) do
    local longer = line and line .. " \u{B7} " .. word or word
    if line and texts.width(longer, 12) > max_width then
      cells.text(page, "m", MARGIN, y, 12, line, max_width)
      longer, y = word, y + 18
    end
    line = longer
  end
  if not line then return y end
  cells.text(page, "m", MARGIN, y, 12, line, max_width)
  return y + 18
end

-- ---- legend -----------------------------------------------------------------------------------------------------

-- Appends the states of the picture to a list of entries {mark =, class =, text =, state =}.
local function add_states(page, list)
  for i, state in ipairs(scene.STATES) do
    if page.used_states[state] and page.by == "state" then
      list[#list + 1] = { mark = "fill", class = "s" .. i - 1, text = state }
    elseif page.used_states[state] and state ~= "up" then
      list[#list + 1] = { mark = "state", class = state == "degraded" and "f" or "x", text = state, state = state }
    end
  end
end

-- Returns the coloured jobs with most cells, by id, and the number of all coloured jobs.
local function largest_jobs(page)
  local jobs = tables.keys(page.shades)
  tables.sort(jobs, function(job) return -(page.weights[job] or 0) end, tables.itself)
  local list = tables.first(jobs, LISTED)
  table.sort(list)
  return list, #jobs
end

local JOB_TYPES = 3

local function add_jobs(page, list)
  local jobs, all = largest_jobs(page)
  for _, job in ipairs(jobs) do
    local words, picks = {}, page.model:picks(job)
    for i = 1, math.min(#picks, JOB_TYPES) do words[i] = amount_text(page.model, picks[i].type, picks[i].units) end
    list[#list + 1] = { mark = picks.reserved and "corner" or "fill", class = colours.job(page, job).class,
      text = ("%s%s%s"):format(plain.holder(job), #words > 0 and ": " or "", table.concat(words, ", ")) }
  end
  if all == #jobs then return end
  list[#list + 1] = { text = "and " .. plain.counted(all - #jobs, "more job") }
end

local function add_values(page, list)
  for i = 1, math.min(#page.words, LISTED) do
    list[#list + 1] = { mark = "fill", class = colours.nth(i - 1).class, text = plain.utf8(cells.value_text(page, page.words[i])) }
  end
  if #page.words <= LISTED then return end
  list[#list + 1] = { text = ("and %s more values"):format(plain.number(#page.words - LISTED)) }
end

local function entries_of(page)
  local list = {}
  if page.by == "job" or page.by == "map" then list[1] = { mark = "fill", class = "f", text = page.by == "job" and "free" or "none" } end
  for _, type in ipairs(page.by == "job" and page.types or {}) do
    if page.used_frees[type] then list[#list + 1] = { mark = "fill", class = colours.free(type).class, text = "free " .. type } end
  end
  if page.used_several then list[#list + 1] = { mark = "fill", class = "x", text = "several values" } end
  if page.by == "job" and page.used_next then list[#list + 1] = { mark = "corner", class = "t", text = "reserved" } end
  add_states(page, list)
  if page.by == "job" then add_jobs(page, list) elseif page.by ~= "state" then add_values(page, list) end
  return list
end

local function write_entry(page, entry, x, y, wide)
  if entry.class then cells.rect(page, entry.mark == "corner" and "f" or entry.class, x, y, 14, 14) end
  if entry.mark == "state" then cells.state(page, entry.state, x, y, 14, 14) end
  if entry.mark == "corner" then cells.corner(page, entry.class, x + 14, y, 8) end
  cells.text(page, "t", x + 22, y + 11, 12, entry.text, wide - 24)
end

-- Writes the scale of heat cells. Returns the y below.
local function write_scale(page, y)
  cells.text(page, "t", MARGIN, y + 11, 12, "in use: 1 %", 100)
  for i = 1, 10 do cells.rect(page, colours.heat(i / 10).class, MARGIN + 60 + 22 * i, y, 22, 14) end
  cells.text(page, "t", MARGIN + 60 + 22 * 11 + 8, y + 11, 12, "all", 100)
  return y + LINE
end

-- Writes the legend. Returns the y below.
local function write_legend(page, y, max_width)
  if page.heat and page.by == "job" then y = write_scale(page, y) end
  local list, wide = entries_of(page), 100
  for _, entry in ipairs(list) do wide = math.max(wide, texts.width(entry.text, 12) + 40) end
  wide = math.min(wide, max_width)
  local columns = max_width // wide
  for i, entry in ipairs(list) do
    write_entry(page, entry, MARGIN + (i - 1) % columns * wide, y + (i - 1) // columns * LINE, wide)
  end
  return y + (#list + columns - 1) // columns * LINE
end

-- ---- styles -----------------------------------------------------------------------------------------------------

local RULES = ".bg{fill:$page}.t{fill:$text}.m{fill:$soft}.w{fill:#fff}.k{fill:#1f2328}.b{fill:$block;stroke:$edge}"
  .. ".f{fill:$free}.fgpu{fill:$freegpu}.fmemory{fill:$freememory}.fstorage{fill:$freestorage}.fnic{fill:$freenic}"
  .. ".x{fill:$none}.o{fill:$others}.l{fill:none;stroke:$line;stroke-width:1.2}.bad{stroke:$bad;stroke-width:2}"
  .. ".hd{fill:$onhigh}.hl{fill:$onlow}.e{stroke:$page}"
  .. ".g{paint-order:stroke;stroke:$page;stroke-width:2px;stroke-linejoin:round}"
  .. ".u{paint-order:stroke;stroke:$page;stroke-width:3px;stroke-linejoin:round}"
local FIXED = [[text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}]]
  .. ".s{font-weight:600}.r{text-anchor:end}.c{text-anchor:middle}.cell:hover{opacity:.7}"
  .. ".q{fill:none;stroke:" .. palette.degraded .. ";stroke-width:2}.z{fill:none;stroke:#6e7781;stroke-dasharray:2 2}"
  .. ".v{fill:none;stroke:#8c96a0;stroke-opacity:.6}.d{fill:none;stroke:#8c96a0;stroke-dasharray:4 2}"

local STRIPES = "M-1 1l2-2M0 6l6-6M5 7l2-2"
-- The lines over a state, by state.
local LINES = { { "down", STRIPES .. "M-1 5l2 2M0 0l6 6M5-1l2 2" }, { "draining", STRIPES }, { "failing", STRIPES },
  { "unknown", "M2 3h2" }, { "null", "M0 3h6" } }

local function styles()
  local rules, words = { RULES }, { "<style>", FIXED }
  for i = 1, 10 do rules[#rules + 1] = (".h%d{fill:$heat%d}"):format(i - 1, i) end
  words[#words + 1] = palette.rules(table.concat(rules))
  for i = 0, 35 do words[#words + 1] = (".%s{fill:%s}"):format(colours.nth(i).class, palette.nth(i)) end
  for i, state in ipairs(scene.STATES) do words[#words + 1] = (".s%d{fill:%s}"):format(i - 1, palette.states[state]) end
  words[#words + 1] = "</style>\n<defs>"
  for _, row in ipairs(LINES) do
    words[#words + 1] = ('<pattern id="p-%s" width="6" height="6" patternUnits="userSpaceOnUse"><path class="%s" d="%s"/></pattern>')
      :format(row[1], row[1] == "failing" and "l bad" or "l", row[2])
  end
  return table.concat(words) .. "</defs>\n"
end

-- ---- the page ---------------------------------------------------------------------------------------------------

-- Writes the page without the frame. Returns width and height.
local function write_page(page, limit)
  local wide = page.width + 2 * MARGIN
  local width = math.max(MIN_WIDTH + 2 * MARGIN, wide)
  if limit and width > limit then width = math.max(wide, limit) end
  local max_width = width - 2 * MARGIN
  cells.text(page, "t s", MARGIN, MARGIN + 16, 20, heading_of(page), max_width * 7 // 8) -- bold letters are wider
  local y = write_facts(page, MARGIN + 40, max_width)
  cells.draw(page, MARGIN, y, page.most_bytes)
  return width, write_legend(page, y + page.height + MARGIN, max_width) + MARGIN - 6
end

local function frame(page, width, height)
  return ('<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
    .. 'viewBox="0 0 %d %d" role="img">\n<title>%s</title>\n%s<rect class="bg" x="0" y="0" width="%d" height="%d"/>\n%s</svg>\n')
    :format(width, height, width, height, markup.escape(texts.shorten(heading_of(page))), styles(), width, height,
      table.concat(page.out))
end

-- Returns by and, for the values of a map, the key and the word of the map in a scene; or nil, message, "invalid".
local function meaning_of(by)
  if by == nil or by == "job" or by == "state" or by == "type" then return by or "job" end
  local map, key = by:match "^(%a+)%.(.+)$"
  if map == "property" or map == "tag" then return "map", key, map .. ":" .. key end
  return nil, ('colours by "%s": expected one of job, state, type, property.KEY, tag.KEY'):format(by:sub(1, 64)), "invalid"
end

--- Draws a graph. opts: start (a vertex: only the vertex and everything below), by ("job", "state", "type",
--- "property.KEY", "tag.KEY"), width in pixels, 320 to 8000, all (up to a million boxes in place of 8,000). Returns the
--- text; or nil, message, code. Time is linear in the vertices.
function M.svg(g, opts)
  opts = opts or {}
  local by, key, word = meaning_of(opts.by)
  if not by then return nil, key, word end
  if opts.width and (opts.width < M.WIDTH_MIN or opts.width > M.WIDTH_MAX) then
    return nil, ("a width of %d: expected %d to %d"):format(opts.width, M.WIDTH_MIN, M.WIDTH_MAX), "invalid"
  end
  local m, limit = model.of(scene.of(g, opts.start), opts.start), opts.all and BOXES_ALL or boxes.MOST
  local page, width, height
  local property, types, plan = word and m:property(word), g:types(), layout.of(m, opts.width and opts.width - 2 * MARGIN)
  repeat
    page = boxes.choose(m, plan, limit, (opts.width or WIDTH) - 2 * MARGIN)
    page.start, page.by, page.key, page.property = opts.start, by, key and plain.utf8(key), property
    page.types, page.out, page.bytes, page.most_bytes = types, {}, 0, opts.all and M.BYTES_ALL or M.BYTES
    colours.choose(page)
    width, height = write_page(page, opts.width)
    limit = limit // 2
  until page.bytes <= page.most_bytes - HEAD_ROOM or limit == 0
  return frame(page, width, height)
end

return M
