-- Fails on a #include or a require that points upward. Run from the project's root: lua5.4 spec/support/layers.lua
-- A file may use its own layer and those above it in this list, nothing below.
local layers = {
  { "weir", "base", "text", "draft", "places", "names", "idset", "idset_private", "hostlist", "hostlist_private" },
  { "plan" },
  { "graph", "pool", "uuid", "vertex", "edge", "schema", "rows", "order", "index", "roster", "refusal", "changes", "run" },
  { "request", "count", "document", "jobspec", "shape", "constraint", "data" },
  { "walk", "accum" },
  { "book", "window", "pending", "calendar", "room", "taken", "job", "annotation" },
  { "query", "find" },
  { "copy", "edge_unlink", "dup", "compare", "merge", "coarsen" },
  { "listing", "search", "futile", "match", "candidate", "place", "contest", "slot", "mix", "runs", "channel", "fence", "later" },
  { "check" },
  { "explain" },
  { "format", "grug", "synthetic", "hwloc", "json", "jgf", "rv1", "rset", "treepool", "write", "tree", "dot", "svg",
    "csv", "sqlite", "pieces", "save" },
}
-- Pairs that hold the books of a graph together with it: the records live in one struct, so these see each other.
local allowed = { ["graph.c"] = { annotation = true, book = true, calendar = true, job = true, taken = true },
  ["rows.c"] = { index = true },
  ["edge.c"] = {}, ["graph.h"] = { plan = true } }

local rank = {}
for level, names in ipairs(layers) do
  for _, name in ipairs(names) do rank[name] = level end
end

-- The layer of a file: that of the longest known prefix of its name, up to an underscore.
local function layer_of(name)
  while name do
    if rank[name] then return rank[name] end
    name = name:match("^(.*)_[^_]*$")
  end
end

local problems, files = {}, 0
local function problem(...) problems[#problems + 1] = string.format(...) end

local function each_file(glob, fn)
  local list = assert(io.popen("ls " .. glob .. " 2>/dev/null"))
  for path in list:lines() do
    files = files + 1
    fn(path, path:match("[^/]+$"))
  end
  list:close()
end

local function check_core(path, file)
  local own = layer_of(file:gsub("%.[ch]$", ""))
  if not own then return problem("%s: in no layer; add it to spec/support/layers.lua", path) end
  for line in io.lines(path) do
    local quoted = line:match('^%s*#%s*include%s+"([^"]+)%.h"')
    if line:match("^%s*#%s*include%s+[<\"]l[ua][ua]") then problem("%s: the core includes Lua: %s", path, line) end
    if quoted then
      local other = layer_of(quoted)
      local excused = allowed[file] and allowed[file][quoted]
      if not other then problem("%s: includes %s.h, which is in no layer", path, quoted)
      elseif other > own and not excused then problem("%s: includes %s.h, a layer that stands on it", path, quoted) end
    end
  end
end

local function check_bindings(path)
  for line in io.lines(path) do
    local quoted = line:match('^%s*#%s*include%s+"([^"]+)"')
    local own = quoted and io.open("bindings/" .. quoted)
    if own then own:close()
    elseif quoted and quoted ~= "weir.h" then problem("%s: includes %s; bindings see weir.h only", path, quoted) end
  end
end

local function check_requires(allow)
  return function(path)
    for line in io.lines(path) do
      local code = line:gsub("%-%-.*$", "")
      for name in code:gmatch("require%s*%(?%s*[\"']([^\"']+)[\"']") do
        if not allow(name, path) then problem("%s: requires %s", path, name) end
      end
    end
  end
end

each_file("core/*.c core/*.h", check_core)
each_file("bindings/*.c bindings/*.h", check_bindings)
-- The event loop is for the service and its client.
local LOOP = {}
for _, name in ipairs { "server", "listen", "client", "link" } do LOOP["lua/weir/serve/" .. name .. ".lua"] = true end
-- Scenarios are specs.
local TESTING = { ["lua/weir/cli/test.lua"] = true, ["lua/weir/cli/test_busted.lua"] = true, ["lua/weir/scenario/plan.lua"] = true }
each_file("lua/weir/*.lua lua/weir/*/*.lua lua/weir/*/*/*.lua", check_requires(function(name, path)
  return name:match "^weir" or (name == "luv" and LOOP[path]) or (TESTING[path] and (name:match "^busted" or name == "luassert"))
end))
each_file("policies/*.lua policies/*/*.lua", check_requires(function(name) return name == "weir" end))

for _, text in ipairs(problems) do io.stderr:write(text, "\n") end
print(string.format("layers: %d files, %d problems", files, #problems))
os.exit(#problems == 0 and 0 or 1)
