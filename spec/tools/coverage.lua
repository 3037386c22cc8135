-- coverage.lua - the lines and branches of core/ and bindings/ that the tests ran, from gcov's data of the build
-- V=cov.
--
--   lua5.4 spec/tools/coverage.lua DIRECTORY           lines and branches of each file, worst first, and in all
--   lua5.4 spec/tools/coverage.lua DIRECTORY FILE...   the lines of these files that were not run
--
-- A branch is a way out of a condition: `a && b` has four. A line of a header counts as run when any file that
-- includes the header runs the line. Fails below LINES and BRANCHES per cent, and where a line that never ran has no
-- reason in REASONS.
local LINES, BRANCHES = 95, 85
local SHOWN = 50 -- lines shown without a reason

local REASONS = require "spec.tools.coverage_reasons"

local files = {} -- name -> line number -> {text, n, branches, within}; n: runs of the line; within: the function

-- ---- reading the output of gcov ----

local function line_of(file, number, text, within)
  local line = file[number]
  if not line then
    line = { text = text, n = 0, branches = {}, within = within }
    file[number], file.last = line, math.max(file.last, number)
  end
  return line
end

-- "5*: 12:text", "#####: 12:text"; nil: no code.
local function counted(row)
  local count, number, text = row:match "^%s*([%d#=%-]+)%*?:%s*(%d+):(.*)$"
  if not count then return nil end
  return tonumber(count) or (count == "-" and -1 or 0), tonumber(number), text
end

-- The name of the function beginning with a line.
local function function_of(text)
  if not text:find "^[%a_]" or text:find ";%s*$" then return nil end
  return text:gsub("__attribute__%s*%b()", ""):match "([%w_]+)%("
end

-- Takes a row of gcov; at: the current file, line and function. A line may come several times, once for each variant
-- of its function.
local function take(at, row)
  local source = row:match "^%s*%-:%s*0:Source:(.*)$"
  if source then
    local ours = source:match "^core/" or source:match "^bindings/"
    files[source] = ours and (files[source] or { last = 0 }) or nil
    at.file, at.line, at.within = files[source], nil, nil
    return
  end
  local branch, taken = row:match "^branch%s+(%d+) (.*)$"
  if branch and at.line then
    branch = tonumber(branch)
    at.line.branches[branch] = (at.line.branches[branch] or 0) + (tonumber(taken:match "^taken (%d+)") or 0)
    return
  end
  local n, number, text = counted(row)
  if not n or not at.file or number == 0 then return end
  at.line, at.within = nil, function_of(text) or at.within
  if n >= 0 then
    at.line = line_of(at.file, number, text, at.within)
    at.line.n = at.line.n + n
  end
end

local function read(directory)
  local at = {}
  local notes = ("find '%s'/core '%s'/bindings -name '*.gcno'"):format(directory, directory)
  local pipe = assert(io.popen(notes .. " | xargs gcov -b -c -t 2>/dev/null"))
  for row in pipe:lines() do take(at, row) end
  pipe:close()
end

-- ---- counting ----

-- The number of branches of a line, and of branches that ran.
local function branches_of(line)
  local all, taken = 0, 0
  for _, n in pairs(line.branches) do
    all, taken = all + 1, taken + (n > 0 and 1 or 0)
  end
  return all, taken
end

local used = {}

-- Whether a reason is one for a line; the reason's text may be "in NAME" for all lines of a function.
local function fits(one, line, called)
  local within = one[2]:match "^in ([%w_]+)$"
  if within then return line.within == within end
  return called and line.text:find(one[2], 1, true) ~= nil
end

-- The reason why a group of lines need not run; nil: the lines should run. called: whether their function was called.
local function reason(name, lines, called)
  for i, one in ipairs(REASONS) do
    for _, line in ipairs(name:find(one[1]) and lines or {}) do
      if fits(one, line, called) then
        used[i] = true
        return one[3]
      end
    end
  end
end

-- Numbers of the lines of code, in order.
local function numbers_of(file)
  local list = {}
  for number = 1, file.last do
    if file[number] then list[#list + 1] = number end
  end
  return list
end

-- A reason counts for a group: lines of a function that never ran, and the line before the group, mostly a condition.
-- A function without calls needs a reason "in NAME". Returns line number -> reason.
local function reasons_of(name, file)
  local list, why, i = numbers_of(file), {}, 1
  while i <= #list do
    local first, line = i, file[list[i]]
    while list[i] and file[list[i]].n == 0 and file[list[i]].within == line.within do i = i + 1 end
    if i == first then
      local all, taken = branches_of(line)
      why[list[i]] = taken < all and reason(name, { line }, true) or nil
      i = i + 1
    else
      local before, lines = file[list[first - 1]], { line }
      if before and before.within == line.within then
        lines = { before }
        for k = first, i - 1 do lines[#lines + 1] = file[list[k]] end
      end
      local said = reason(name, lines, not function_of(line.text))
      for k = first, i - 1 do why[list[k]] = said end
    end
  end
  return why
end

local function count(name, file)
  local sum = { name = name, lines = 0, ran = 0, branches = 0, taken = 0, excused = 0, bare = {} }
  local why = reasons_of(name, file)
  for _, number in ipairs(numbers_of(file)) do
    local line = file[number]
    local all, taken = branches_of(line)
    sum.lines, sum.ran = sum.lines + 1, sum.ran + (line.n > 0 and 1 or 0)
    sum.branches, sum.taken = sum.branches + all, sum.taken + taken
    if line.n == 0 and why[number] then sum.excused = sum.excused + 1 end
    -- A brace alone is the end of a function without return.
    if line.n == 0 and not why[number] and line.text ~= "}" then sum.bare[#sum.bare + 1] = ("%s:%d %s"):format(name, number, line.text) end
  end
  return sum
end

local function per_cent(part, all) return all == 0 and 100 or 100 * part / all end

local function row(name, sum)
  print(("%7.1f %7.1f %7d %9d %8d  %s"):format(per_cent(sum.ran, sum.lines), per_cent(sum.taken, sum.branches),
    sum.lines - sum.ran, sum.branches - sum.taken, sum.excused, name))
end

-- ---- telling ----

local function table_of_files()
  local list, all = {}, { lines = 0, ran = 0, branches = 0, taken = 0, excused = 0 }
  for name, file in pairs(files) do
    local sum = count(name, file)
    list[#list + 1] = sum
    for key in pairs(all) do all[key] = all[key] + sum[key] end
  end
  all.list = list
  table.sort(list, function(a, b)
    local x, y = a.lines - a.ran, b.lines - b.ran
    if x ~= y then return x > y end
    x, y = a.branches - a.taken, b.branches - b.taken
    return x ~= y and x > y or x == y and a.name < b.name
  end)
  print "lines % branch %  not run not taken  excused"
  for _, sum in ipairs(list) do row(sum.name, sum) end
  row(("in all, %d lines and %d branches"):format(all.lines, all.branches), all)
  return all
end

local function tell(name)
  local file = assert(files[name], name .. ": no file of core/ or bindings/ that was compiled")
  local why = reasons_of(name, file)
  for _, number in ipairs(numbers_of(file)) do
    local line = file[number]
    local all, taken = branches_of(line)
    local what = line.n == 0 and "not run" or taken < all and ("%d of %d"):format(taken, all)
    if what then
      local told = why[number] and "   <- " .. why[number] or ""
      print(("%s:%-4d %-8s %s%s"):format(name, number, what, line.text, told))
    end
  end
end

-- Prints the lines that never ran and have no reason; returns the number of lines.
local function tell_bare(list)
  local n = 0
  for _, sum in ipairs(list) do
    for _, text in ipairs(sum.bare) do
      n = n + 1
      if n <= SHOWN then print(text) end
    end
  end
  print(("%d lines that nothing runs have no reason in spec/tools/coverage_reasons.lua%s"):format(n,
    n > SHOWN and "; above are the first " .. SHOWN or ""))
  return n
end

read(assert(arg[1], "usage: coverage.lua DIRECTORY [FILE...]"))
if arg[2] then
  for i = 2, #arg do tell(arg[i]) end
  return
end
local all = table_of_files()
for i, one in ipairs(REASONS) do
  if not used[i] then print(("reason without a line: %s: %s"):format(one[1], one[2])) end
end
local bare = tell_bare(all.list)
if per_cent(all.ran, all.lines) < LINES or per_cent(all.taken, all.branches) < BRANCHES then
  print(("less than %d %% of the lines or %d %% of the branches"):format(LINES, BRANCHES))
  os.exit(1)
end
if bare > 0 then os.exit(1) end
