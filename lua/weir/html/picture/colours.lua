--- colours.lua - the use, the states and the colours of the cells of a picture.
---
--- The id of a job gives its hue and its shade (see palette.lua), so that a job looks the same in all pictures. If two
--- jobs with equal hue and shade meet, the second job gets a different shade.

local model = require "weir.html.picture.model"
local palette = require "weir.html.picture.palette"
local tables = require "weir.tables"

local M = {}

local HUES, SHADES, HEATS = 12, 3, 10
local SHARES = 6 -- jobs distinguished in a cell

-- ---- the use of a cell ------------------------------------------------------------------------------------------

-- Returns the units of a type in a cell.
local function total_of(m, cell, type)
  if cell.members == 1 then return (cell.shape.totals[type] or 0) + (cell.kind.type == type and cell.kind.size or 0) end
  local total, p = 0, cell.p
  while p < cell.q do
    local v = m:vertex_at(p)
    local n = math.min(v.run.count - v.i, (cell.q - p) // v.run.each)
    total = total + n * ((v.shape.totals[type] or 0) + (v.kind.type == type and v.kind.size or 0))
    p = p + n * v.run.each
  end
  return total
end

-- Returns the largest fraction that a job has of a type: one job may have all cores, and a second job all gpus.
local function fraction_of(m, cell, units, totals)
  local fraction = 0
  for type, n in pairs(units) do
    totals[type] = totals[type] or total_of(m, cell, type)
    if totals[type] > 0 then fraction = math.max(fraction, n / totals[type]) end
  end
  return fraction
end

-- Returns the largest shares, by id of the job, and one share for all other jobs.
local function largest(shares)
  local out, others = {}, 0
  tables.sort(shares, "-fraction", "job")
  for i, share in ipairs(shares) do
    if i <= SHARES then out[i] = share else others = others + share.fraction end
  end
  tables.sort(out, "job")
  if others > 0 then out[#out + 1] = { fraction = others } end
  return out
end

-- Returns the shares of jobs in a cell, and the fraction in use. The shares are scaled to a sum of at most 1.
local function shares_of(m, cell)
  local shares, totals, sum = {}, {}, 0
  for i, entry in ipairs(m:units(cell.p, cell.q, cell.heat)) do
    shares[i] = { job = entry.job, fraction = fraction_of(m, cell, entry.units, totals) }
  end
  for _, share in ipairs(shares) do sum = sum + share.fraction end
  if #shares > 1 then shares = largest(shares) end
  for _, share in ipairs(shares) do share.fraction = share.fraction / math.max(1, sum) end
  return shares, math.min(1, sum)
end

-- Sets shares = {job =, fraction =} of a cell by job, used = fraction in use by all jobs, next = job of the first reservation,
-- fractions = by state, the fraction of the vertices. The job of a share is nil where jobs are not distinguished.
local function find_use(m, cell)
  if cell.holder then
    cell.shares, cell.used = { { job = cell.holder, fraction = 1 } }, 1
  else
    cell.shares, cell.used = shares_of(m, cell)
  end
  cell.next = cell.next or m:next_job(cell.p, cell.q)
  cell.fractions = m:states(cell.p, cell.q)
end

-- ---- shades of jobs ---------------------------------------------------------------------------------------------

-- Whether the job of a neighbour is a different job of the hue of `job` in a shade.
local function clashes(shades, job, other, shade)
  return other and other ~= job and other % HUES == job % HUES and shades[other] == shade
end

local function choose_shade(shades, cell, before, job, inside)
  if not job or shades[job] then return end
  local shade, beside, over = job // HUES % SHADES, before and before.main, cell.over and cell.over.main
  for _ = 2, SHADES do
    if not (clashes(shades, job, beside, shade) or clashes(shades, job, over, shade) or clashes(shades, job, inside, shade)) then
      break
    end
    shade = (shade + 1) % SHADES
  end
  shades[job] = shade
end

-- Gives the jobs of a cell their shades; cell.main becomes the job with the largest fraction.
local function colour_jobs(page, cell, before)
  local most = -1
  for i, share in ipairs(cell.shares) do
    if share.fraction > most then most, cell.main = share.fraction, share.job end
    if share.job then
      page.weights[share.job] = (page.weights[share.job] or 0) + share.fraction + 1e-6
      choose_shade(page.shades, cell, before, share.job, i > 1 and cell.shares[i - 1].job)
    end
  end
  choose_shade(page.shades, cell, before, cell.next)
end

--- Returns {class =, dark = whether white letters are readable} for the n-th category, n from 0.
function M.nth(n)
  local hue, shade = n % HUES, n // HUES % SHADES
  return { class = ("j%s%d"):format(string.char(97 + hue), shade), dark = palette.is_dark(palette.nth(n)) }
end

--- Returns the paint of free cells of a type; nil means no common type.
function M.free(type)
  local name = type and palette.frees[type]
  return { class = name and "f" .. name:sub(5) or "f" }
end

--- Returns the paint of a job; of other jobs, for nil.
function M.job(page, job)
  if not job then return { class = "o", dark = true } end
  return M.nth(job % HUES + HUES * (page.shades[job] or 0))
end

local DARK_HEAT = 6

--- Returns the paint of a fraction in use.
function M.heat(fraction)
  local level = math.max(1, math.min(HEATS, math.floor(fraction * HEATS + 0.5)))
  return { class = "h" .. level - 1, dark = level > DARK_HEAT }
end

-- ---- values -----------------------------------------------------------------------------------------------------

-- Compares numbers by size, and sorts numbers before words.
local function before(a, b)
  local x, y = tonumber(a), tonumber(b)
  if x and y and x ~= y then return x < y end
  if (x ~= nil) ~= (y ~= nil) then return x ~= nil end
  return a < b
end

-- Returns the type of a cell, or model.SEVERAL.
local function type_of(page, cell)
  return cell.members == 1 and cell.kind.type or page.model:common_type(cell.p, cell.q)
end

local function find_values(page, cells)
  local seen = {}
  for _, cell in ipairs(cells) do
    if page.by == "type" then cell.value = type_of(page, cell)
    else cell.value = page.model:value(page.property, cell.p, cell.q) end
    if cell.value == model.SEVERAL then page.used_several = true
    elseif cell.value ~= nil then seen[cell.value] = true end
  end
  for word in pairs(seen) do page.words[#page.words + 1] = word end
  table.sort(page.words, before)
  for i, word in ipairs(page.words) do page.place[word] = i - 1 end
end

--- Returns the paint of the value of a cell.
function M.value(page, value)
  if value == nil then return { class = "f" } end
  return value == model.SEVERAL and { class = "x" } or M.nth(page.place[value])
end

-- ---- the picture ------------------------------------------------------------------------------------------------

--- Finds the use of all cells of a page, and gives each job, or each value, a colour. page.by: "job", "state", "type" or
--- "map".
function M.choose(page)
  local cells, last = {}, nil
  page.shades, page.weights, page.words, page.place, page.used_states = {}, {}, {}, {}, {}
  page.used_frees = {}
  page.used_several, page.used_next = false, false
  for i = 2, #page do
    local cell = page[i]
    if not cell.kids then
      find_use(page.model, cell)
      colour_jobs(page, cell, last and last.parent == cell.parent and last or nil)
      for state in pairs(cell.fractions) do page.used_states[state] = true end
      cell.type = not cell.heat and type_of(page, cell) or nil
      if palette.frees[cell.type] then page.used_frees[cell.type] = true end
      page.used_next = page.used_next or cell.next ~= nil
      cells[#cells + 1] = cell
    end
    last = cell
  end
  if page.by == "type" or page.by == "map" then find_values(page, cells) end
  page.cells = cells
end

return M
