-- layers.lua - fails on a call, an #include or a require that points upward, on a circle of more than eight files that
-- call each other, on folders that do, on a line of C of more than 120 columns, where weir names a scheduler, and where the
-- rock of a package needs other packages than the package. Run from the project's root, after the build: lua5.4
-- spec/tools/layers.lua
--
-- A folder of the core may use itself, and the folders above in ROOMS.
local ROOMS = {
  "base", "idset", "hostlist", "graph", "aggregate", "structure", "index", "time", "flow", "job", "copy", "hierarchy", "request",
  "query", "match", "explain", "format", "rset", "store", "registry", "queue",
}
local OBJECTS = "build/obj/release/"

local rank = {}
for level, name in ipairs(ROOMS) do rank[name] = level end

local problems, files = {}, 0
local function problem(...) problems[#problems + 1] = string.format(...) end

local function lines_of(command)
  local pipe <close> = assert(io.popen(command))
  local list = {}
  for line in pipe:lines() do list[#list + 1] = line end
  return list
end

local function each_file(find, fn)
  for _, path in ipairs(lines_of("find " .. find)) do
    files = files + 1
    fn(path, path:match("[^/]+$"))
  end
end

local function check_use(path, own, other, what)
  if rank[other] > rank[own] then
    problem("%s: %s, in core/%s, which stands on core/%s", path, what, other, own)
  end
end

local function check_includes(path)
  local own = path:match "^core/([^/]+)/"
  if not own then
    if path ~= "core/weir.h" then problem("%s: lies in no folder", path) end
    return
  end
  if not rank[own] then return problem("%s: core/%s is not in ROOMS of spec/tools/layers.lua", path, own) end
  for line in io.lines(path) do
    local quoted = line:match '^%s*#%s*include%s+"([^"]+)"'
    local other = quoted and quoted:match "^([^/]+)/"
    if line:match '^%s*#%s*include%s+[<"]l[ua][ua]' then problem("%s: the core includes Lua: %s", path, line) end
    if quoted and quoted ~= "weir.h" then
      if not rank[other] then problem("%s: includes %s, which names no folder of the core", path, quoted)
      else check_use(path, own, other, "includes " .. quoted) end
    end
  end
end

local function is_there(path)
  local file <close> = io.open(path)
  return file ~= nil
end

local CIRCLE = 8

-- Returns the files that a file calls, by itself or through others. `calls` has a set of files by file.
local function reached(calls, file)
  local seen, open = {}, { file }
  while #open > 0 do
    for other in pairs(calls[table.remove(open)] or {}) do
      if not seen[other] then
        seen[other] = true
        open[#open + 1] = other
      end
    end
  end
  return seen
end

-- Reports each group of more than CIRCLE files of which every one calls every other, by itself or through others.
local function check_circles(calls)
  local from, told = {}, {}
  for file in pairs(calls) do from[file] = reached(calls, file) end
  for file, others in pairs(from) do
    local circle = { file }
    for other in pairs(others) do
      if other ~= file and from[other] and from[other][file] then circle[#circle + 1] = other end
    end
    if #circle > CIRCLE and not told[file] then
      table.sort(circle)
      for _, other in ipairs(circle) do told[other] = true end
      problem("%d files call each other in a circle, at most %d may: %s", #circle, CIRCLE, table.concat(circle, " "))
    end
  end
end

-- Reports folders that call each other, by themselves or through others.
local function check_folders(calls)
  local by_folder = {}
  for file, others in pairs(calls) do
    local folder = file:match "^(.*)/"
    by_folder[folder] = by_folder[folder] or {}
    for other in pairs(others) do
      local called = other:match "^(.*)/"
      if called ~= folder then by_folder[folder][called] = true end
    end
  end
  for folder in pairs(by_folder) do
    if reached(by_folder, folder)[folder] then problem("%s calls folders that call it", folder) end
  end
end

-- Returns which files of a folder call which, from the symbols of the object files: a set of files by file. Calls
-- found(file, other, symbol) for each.
local function calls_of(folder, found)
  local home, needs, sources, calls = {}, {}, {}, {}
  for _, line in ipairs(lines_of("find " .. OBJECTS .. folder .. " -name '*.o' | sort | xargs nm -A")) do
    local object, kind, symbol = line:match "^([^:]+):%x*%s+(%a) ([%w_]+)$"
    if object then
      local file = object:gsub("^build/obj/release/", ""):gsub("o$", "c")
      if sources[file] == nil then sources[file] = is_there(file) end
      if not sources[file] then goto next_symbol end -- the object of a moved file
      if kind == "U" then needs[#needs + 1] = { file, symbol }
      elseif kind:match "[TDBR]" then home[symbol] = file end
    end
    ::next_symbol::
  end
  if not next(home) then problem("%s%s: no objects there; run make build first", OBJECTS, folder) end
  for _, need in ipairs(needs) do
    local file, other = need[1], home[need[2]]
    if other then
      found(file, other, need[2])
      calls[file] = calls[file] or {}
      calls[file][other] = true
    end
  end
  return calls
end

local function check_calls()
  local calls = calls_of("core", function(file, other, symbol)
    check_use(file, file:match "^core/([^/]+)/", other:match "^core/([^/]+)/", "calls " .. symbol)
  end)
  check_circles(calls)
  check_folders(calls)
  check_circles(calls_of("bindings/weir", function() end))
end

-- ---- packages ----

-- What a package has stands in lua/NAME and bindings/NAME, and which it may use is said by the table that it registers.
local uses = {}
for _, path in ipairs(lines_of "ls lua/*/packages/*.lua") do
  local package = dofile(path)
  uses[package.name] = { [package.name] = true }
  for _, name in ipairs(package.needs) do uses[package.name][name] = true end
end

-- Checks that the rock of a package depends on the packages that the package needs.
local function check_rock(path)
  local rock = {}
  assert(loadfile(path, "t", rock))()
  local needed = { [rock.package] = true }
  for _, name in ipairs(rock.dependencies) do
    if name:find "^weir" then needed[name] = true end
  end
  for name in pairs(uses) do
    if ((uses[rock.package] or {})[name] == nil) ~= (needed[name] == nil) then
      problem("%s: the dependency %s differs from `needs` of the package", path, name)
    end
  end
end

local function package_of(path) return path:match "^%a+/(weir[%w-]*)/" end

local function check_package(path, other_path, how)
  local own, other = package_of(path), package_of(other_path)
  if not uses[own][other] then problem("%s: %s, of the package %s, which %s does not need", path, how, other, own) end
end

-- Returns the first of several paths that is there.
local function first_of(...)
  for _, path in ipairs { ... } do
    if is_there(path) then return path end
  end
end

-- Headers of the core, besides weir.h, that a folder of the bindings includes: the queue is no part of the library's interface.
local INNER = { ["bindings/weir/queue/"] = "queue/flat.h" }

local function check_bindings(path)
  for line in io.lines(path) do
    local quoted = line:match '^%s*#%s*include%s+"([^"]+)"'
    local own = quoted and first_of(path:match "^.*/" .. quoted, "bindings/weir/" .. quoted)
    if own then check_package(path, own, "includes " .. quoted)
    elseif quoted and quoted ~= "weir.h" and quoted ~= INNER[path:match "^.*/"] then
      problem("%s: includes %s; bindings see weir.h only", path, quoted)
    end
  end
end

-- Returns the source of a module of weir, or nil for a compiled or generated one.
local function source_of(module)
  local name = module:gsub("^weir%.?", ""):gsub("%.", "/")
  for package in pairs(uses) do
    local stem = "lua/" .. package .. "/" .. name
    local found = first_of(stem .. ".lua", (stem .. "/init.lua"):gsub("//", "/"))
    if found then return found end
  end
end

local function check_requires(allow)
  return function(path)
    for line in io.lines(path) do
      local code = line:gsub("%-%-.*$", "")
      for name in code:gmatch "require%s*%(?%s*[\"']([^\"']+)[\"']" do
        if not allow(name, path) then problem("%s: requires %s", path, name) end
      end
      for name in code:gmatch "[\"'](weir%.[%w_.]+)[\"']" do -- required here, or registered
        local source = package_of(path) and source_of(name)
        if source then check_package(path, source, "names " .. name) end
      end
    end
  end
end

-- Checks that no function reads or writes numbers by the locale of the process.
local function check_numbers(path)
  if path == "core/base/number.c" then return end
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    local code = line:gsub("/%*.-%*/", "")
    local name = code:match "%f[%w_](strto[df]l?)%s*%(" or code:match "%f[%w_](ato[f])%s*%(" or code:match "%f[%w_](v%a*printf)%s*%("
      or code:match "%f[%w_](%a*printf)%s*%([^;]*%%[-+ #0-9.*]*[aefgAEFG]"
      or code:match "%f[%w_](%a*scanf)%s*%([^;]*%%[0-9l]*[aefgAEFG]"
    if name then problem("%s:%d: %s() goes by the locale; see core/base/number.c", path, n, name) end
  end
end

local COLUMNS = 120

local function check_columns(path)
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    local columns = utf8.len(line) or #line
    if columns > COLUMNS then problem("%s:%d: %d columns, expected %d", path, n, columns, COLUMNS) end
  end
end

-- ---- names of other schedulers ----

-- Words that name a format, its reader or a command that prints it. Other uses of these names belong to weir-flux.
local FORMAT_WORDS = { '\\?"fluxion\\?"', '"fluxion:jgf_shorthand"', '"flux"', "weir%.machine%.flux", "flux config get", "flux kvs get",
  "^ +flux %(the output of", "^  flux = function" }
local FORMAT_READER = "lua/weir/machine/flux.lua"

local function check_names(path)
  if path == FORMAT_READER then return end
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    for _, word in ipairs(FORMAT_WORDS) do line = line:gsub(word, "") end
    local name = line:lower():match "resource%-query" or line:lower():match "%f[%a]flux%a*"
    if name then problem("%s:%d: names %s; only formats are named after a scheduler in weir", path, n, name) end
  end
end

each_file("core bindings/weir lua/weir policies -type f -name '*.[chl]*'", check_names)
for name in pairs(uses) do
  local path = name .. "-scm-1.rockspec"
  if is_there(path) then check_rock(path) else problem("%s: the package %s has no rockspec", path, name) end
end
each_file("core -name '*.[ch]'", check_includes)
each_file("core bindings -name '*.[ch]'", check_columns)
each_file("core bindings -name '*.c'", check_numbers)
check_calls()
each_file("bindings -type f -name '*.[ch]'", check_bindings)
-- The event loop is for the service and the client only.
local LOOP = {}
for _, name in ipairs { "server", "copies", "listen", "client", "peer_connection", "clock", "shadow", "store/sqlite" } do
  LOOP["lua/weir-serve/serve/" .. name .. ".lua"] = true
end
-- Scenarios are specs.
local TESTING = { ["lua/weir/cli/test.lua"] = true, ["lua/weir/cli/test_busted.lua"] = true, ["lua/weir/scenario/plan.lua"] = true }
each_file("lua -name '*.lua'", check_requires(function(name, path)
  return name:match "^weir" or (name == "luv" and LOOP[path]) or (TESTING[path] and (name:match "^busted" or name == "luassert"))
end))
each_file("policies -name '*.lua'", check_requires(function(name) return name == "weir" end))

for _, text in ipairs(problems) do io.stderr:write(text, "\n") end
print(string.format("layers: %d files, %d problems", files, #problems))
os.exit(#problems == 0 and 0 or 1)
