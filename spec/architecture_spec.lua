-- architecture_spec.lua - doc/explanation/architecture.md names files, folders and functions that are there, and names each folder.

local DOC = "doc/explanation/architecture.md"

local function lines_of(command)
  local list, pipe <close> = {}, assert(io.popen(command))
  for line in pipe:lines() do list[#list + 1] = line end
  return list
end

local function read(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

-- Returns the texts in single backquotes, outside of blocks of code.
local function quoted(text)
  local list = {}
  for word in text:gsub("```.-```", ""):gmatch "`([^`\n]+)`" do list[#list + 1] = word end
  return list
end

describe("doc/explanation/architecture.md", function()
  local text = read(DOC)
  local files = lines_of "find core bindings lua policies spec doc -type f"
  local words = quoted(text)

  -- Whether a file of the tree has a path that ends with, or for a folder contains, the name.
  local function is_there(name)
    for _, path in ipairs(files) do
      local found = name:sub(-1) == "/" and ("/" .. path):find("/" .. name, 1, true) or ("/" .. path):sub(-#name - 1) == "/" .. name
      if found then return true end
    end
    return false
  end

  it("names files and folders that are there", function()
    local missing = {}
    for _, word in ipairs(words) do
      local is_path = word:find "^[%w_./]+/$" or word:find "^[%w_./]+%.[chl]u?a?$" or word:find "^[%w_./]+%.md$"
      if is_path and not is_there(word) then missing[#missing + 1] = word end
    end
    assert.same({}, missing)
  end)

  it("names functions that are there", function()
    local source, missing = {}, {}
    for _, path in ipairs(files) do
      if path:find "^core/.*%.[ch]$" then source[#source + 1] = read(path) end
    end
    source = table.concat(source, "\n")
    for _, word in ipairs(words) do
      local name = word:match "^weir_[%w_]+"
      if name and not source:find("%f[%w_]" .. name .. "%f[^%w_]") then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)

  it("names each folder of the core, of the bindings and of the library", function()
    local missing = {}
    for _, path in ipairs(lines_of "find core bindings bindings/weir lua lua/weir -mindepth 1 -maxdepth 1 -type d") do
      if not text:find("%f[%w_]" .. path:match("[^/]+$"):gsub("%-", "%%-") .. "/") then missing[#missing + 1] = path end
    end
    assert.same({}, missing)
  end)

  it("has no word twice in the glossary", function()
    local seen, twice = {}, {}
    for word in text:match("## Glossary(.-)\n## "):gmatch "\n| ([^|]-) |" do
      if seen[word] then twice[#twice + 1] = word end
      seen[word] = true
    end
    assert.same({}, twice)
  end)
end)
