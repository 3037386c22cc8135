--- show.lua - prints values by kind: a vertex with key facts, a graph or an allocation as a tree, lists of handles as
--- tables, Lua tables readably. Output is limited to a screenful.

local core = require "weir.core"
local kinds = require "weir.repl.kinds"
local out = require "weir.cli.output"
local rows = require "weir.repl.rows"
local tables = require "weir.tables"
local texts = require "weir.texts"
local view = require "weir.view"

local M = { lines = 40, width = 80 }

-- ---- lines --------------------------------------------------------------------------------------------------

-- Returns the number of lines of a tree; counting stops beyond `most`.
local function height(tree, most)
  local n = 1
  for _, kid in ipairs(tree.kids or {}) do
    if n > most then break end
    n = n + height(kid, most)
  end
  return n
end

local function draw(trees, most)
  local left = most
  for _, tree in ipairs(trees) do
    require("weir.view.lines").draw(tree, function(line)
      left = left - 1
      if left >= 0 then out.line(line) end
    end, out.style())
  end
  if left < 0 then out.line(("... %d more lines"):format(-left)) end
end

-- ---- graphs -------------------------------------------------------------------------------------------------

local PATIENCE = 0.25 -- seconds after which no deeper tree is tried

-- Returns the trees with the largest depth that fits on the screen.
local function fitting(roots, most)
  local best
  for depth = 1, 64 do
    local began, trees, n = core.clock(), {}, 0
    for i, root in ipairs(roots) do
      if n > most then break end
      trees[i] = view.vertex(root, { depth = depth, limit = most })
      n = n + height(trees[i], most)
    end
    if best and (n > most or n == best.n) then return best.trees end
    best = { trees = trees, n = n }
    if n > most or core.clock() - began > PATIENCE then return trees end
  end
  return best.trees
end

function M.tree(x)
  local kind = kinds.of(x)
  if kind ~= "graph" and kind ~= "vertex" then
    error(("tree: expected a machine or a vertex, such as g or g%q; this is a %s"):format("/cluster0", kind), 0)
  end
  if kinds.is_remote(x) then return draw(x:trees { depth = 3 }, M.lines - 4) end
  draw(fitting(kinds.of(x) == "graph" and x:roots() or { x }, M.lines - 4), M.lines - 4)
end

-- Summarizes the descendants of a vertex, types in alphabetical order: "40 core, 1 of 2 gpu free".
local function below(v)
  local parts = {}
  for type, row in tables.sorted(v:nchildren() > 0 and v:aggregate { all = true } or {}) do
    if row.total > 0 and row.free < row.total then
      parts[#parts + 1] = ("%d of %d %s free"):format(row.free, row.total, type)
    elseif row.total > 0 then
      parts[#parts + 1] = ("%d %s"):format(row.total, type)
    end
  end
  return table.concat(parts, ", ")
end

-- Describes a vertex on a line.
local function vertex_line(v)
  local unit, style = v.unit or "", out.style()
  local parts = { v.type, v.state }
  if v.size ~= 1 or unit ~= "" or v.free ~= v.size then
    parts[#parts + 1] = ("%d of %d%s free"):format(v.free, v.size, unit ~= "" and " " .. unit or "")
  end
  for _, text in ipairs { below(v), rows.words(v.properties), rows.words(v.tags) } do
    if text ~= "" then parts[#parts + 1] = text end
  end
  return style.bold(v.path) .. "  " .. style.note(table.concat(parts, ", "))
end

-- ---- allocations --------------------------------------------------------------------------------------------

local function allocation_line(a)
  return ("%s  %s, start %s, %s"):format(out.style().bold(a.state == "matched" and "preview" or "job " .. a.id), a.state,
    out.moment(a.at), out.lasting(a.duration))
end

-- Returns the trees of an allocation, with identical subtrees folded if the trees do not fit on the screen otherwise.
local function trees_of(a)
  if kinds.is_remote(a) then return a:trees() end
  local trees, n = view.allocation(a), 0
  for _, tree in ipairs(trees) do n = n + height(tree, M.lines) end
  return n > M.lines - 5 and view.allocation(a, { fold = true }) or trees
end

local function show_allocation(a)
  out.line(allocation_line(a))
  draw(trees_of(a), M.lines - 5)
end

-- ---- Lua tables ---------------------------------------------------------------------------------------------

local MOST_ENTRIES, DEEPEST = 100, 4

local function quoted(text)
  if #text > 2000 then text = text:sub(1, 2000) .. "..." end
  return '"' .. text:gsub('[%c"\\]', function(c)
    return c == "\n" and "\\n" or c == "\t" and "\\t" or c:find "%c" and ("\\%d"):format(c:byte()) or "\\" .. c
  end) .. '"'
end

-- Returns the text of a function: with its line, if a script typed in defines the function.
local function function_text(f)
  local info = debug.getinfo(f, "S")
  if info.what ~= "C" and info.source:sub(1, 1) ~= "@" then return "function, line " .. info.linedefined end
  return "function"
end

local function own_text(x)
  local mt = debug.getmetatable(x)
  return type(mt) == "table" and rawget(mt, "__tostring") and tostring(x) or nil
end

local function engine_text(e)
  local g, n = e:resources(), #e:jobs()
  local row = g:aggregate(nil, { all = true }).node
  local size = row and row.total > 0 and texts.counted(row.total, "node") or texts.number(g:count()) .. " vertices"
  return ("engine with %s on %s, policy %s"):format(texts.counted(n, "job"), size, (e:policy()))
end

local KINDS = {
  engine = engine_text, walk = function() return "walk" end, ["function"] = function_text,
}

local function scalar(x)
  if x == kinds.null then return "null" end
  if type(x) == "string" then return quoted(x) end
  if kinds.of(x) == "vertex" then return tostring(x) end
  if KINDS[kinds.of(x)] and not kinds.is_remote(x) then return KINDS[kinds.of(x)](x) end
  if type(x) == "number" and math.type(x) == "float" and x == math.floor(x) and math.abs(x) < 1e15 then return ("%.1f"):format(x) end
  return tostring(x)
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do
    if not (math.type(key) == "integer" and key >= 1 and key <= #t) then keys[#keys + 1] = key end
  end
  return tables.sort(keys, type, function(key) return type(key) == "number" and key or tostring(key) end)
end

local function key_text(key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return key end
  return "[" .. scalar(key) .. "]"
end

local inspect

-- Returns the entries of a table as texts, the list part first.
local function entries(t, depth, seen)
  local parts, n = {}, 0
  for i = 1, #t do
    n = n + 1
    if n > MOST_ENTRIES then break end
    parts[n] = inspect(t[i], depth + 1, seen)
  end
  local keys = sorted_keys(t)
  for _, key in ipairs(keys) do
    n = n + 1
    if n > MOST_ENTRIES then break end
    parts[n] = key_text(key) .. " = " .. inspect(t[key], depth + 1, seen)
  end
  return parts, #t + #keys - #parts
end

-- Joins entries to lines that fit the width, several entries to a line if all entries are short.
local function packed(parts, indent)
  local widest = 0
  for _, part in ipairs(parts) do widest = math.max(widest, part:find "\n" and math.huge or #part) end
  if widest > 24 or #parts < 20 then return table.concat(parts, ",\n" .. indent) end
  local lines, line = {}, ""
  for _, part in ipairs(parts) do
    if #line > 0 and #indent + #line + #part + 3 > M.width then lines[#lines + 1], line = line .. ",", "" end
    line = line .. (#line > 0 and ", " or "") .. part
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n" .. indent)
end

-- Formats a table on a single line if the line is short enough, else with a line for each entry.
function inspect(x, depth, seen)
  if type(x) ~= "table" then return scalar(x) end
  if seen[x] then return "{ ... again }" end
  if own_text(x) then return own_text(x) end
  if next(x) == nil then return "{}" end
  if depth >= DEEPEST then return "{ ... }" end
  seen[x] = true
  local parts, left = entries(x, depth, seen)
  seen[x] = nil
  if left > 0 then parts[#parts + 1] = ("... %s more"):format(texts.number(left)) end
  local flat = "{ " .. table.concat(parts, ", ") .. " }"
  local indent = ("  "):rep(depth + 1)
  if #flat + #indent <= M.width and not flat:find "\n" then return flat end
  return "{\n" .. indent .. packed(parts, indent) .. "\n" .. ("  "):rep(depth) .. "}"
end

-- Cuts a line that is longer than a few lines of the screen.
local function shortened(line)
  local most = 10 * M.width
  if #line <= most then return line end
  return line:sub(1, (utf8.offset(line, 0, most + 1) or most + 1) - 1) .. ("... %s more bytes"):format(texts.number(#line - most))
end

local function show_lines(text)
  local n, rest = 0, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    n = n + 1
    if n <= M.lines then out.line(shortened(line)) else rest = rest + 1 end
  end
  if rest > 0 then out.line(("... %d more lines"):format(rest)) end
end

-- Prints a list of handles, or of flat tables, as columns.
local function show_table(heads, list, total)
  local right = tables.map(heads, rows.is_number)
  table.insert(list, 1, heads)
  out.table(list, right, tables.has(heads, "state") and out.state_colour or nil)
  if total > #list - 1 then out.line(("... %s more"):format(texts.number(total - #list + 1))) end
end

local SHOW = {
  graph = M.tree,
  vertex = function(x)
    if not rows.is_view(x) then return out.line(vertex_line(x)) end
    local words = rows.words(x)
    out.line(words ~= "" and words or "{}")
  end,
  allocation = show_allocation,
  string = function(x) show_lines((x:find "\n" or #x > M.width) and x or quoted(x)) end,
  table = function(x)
    if own_text(x) then return show_lines(own_text(x)) end
    local heads, list, total = rows.of(x, M.lines - 4)
    if heads then show_table(heads, list, total) else show_lines(inspect(x, 0, {})) end
  end,
}

--- Prints a value.
function M.value(x)
  local show = SHOW[kinds.of(x)]
  if show then return show(x) end
  show_lines(scalar(x))
end

return M
