-- The examples of the README print the output shown beside them.
local weir_bin = os.getenv("WEIR_BIN") or "build/weir"

local function read(path)
  local f = assert(io.open(path))
  local text = f:read("a")
  f:close()
  return text
end

-- The fenced blocks of a language, each with the line number of its start.
local function blocks(language, document)
  local found, current, number = {}, nil, 0
  for line in (read(document or "README.md")):gmatch("([^\n]*)\n") do
    number = number + 1
    if current and line == "```" then
      found[#found + 1], current = current, nil
    elseif current then
      current.lines[#current.lines + 1] = line
    elseif line == "```" .. language then
      current = { at = number, lines = {} }
    end
  end
  return found
end

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read("a")
  pipe:close()
  return text
end

local function quote(s) return "'" .. s:gsub("'", "'\\''") .. "'" end

describe("the README", function()
  it("has examples of each kind", function()
    assert.is_true(#blocks "console" >= 3 and #blocks "lua" >= 2)
  end)

  for _, block in ipairs(blocks "console") do
    it("shows what the command of line " .. block.at .. " prints", function()
      local command = assert(block.lines[1]:match("^%$ weir (.*)$"))
      local expected = table.concat(block.lines, "\n", 2) .. "\n"
      assert.equal(expected, run(quote(weir_bin) .. " " .. command))
    end)
  end

  it("shows what the REPL prints", function()
    local inputs, shown = {}, {}
    for line in read("README.md"):match "\n```\n(weir> .-\n)```\n":gmatch "([^\n]*)\n" do
      local input = line:match "^weir> (.*)$"
      if input then inputs[#inputs + 1] = " -c " .. quote(input) else shown[#shown + 1] = line end
    end
    local command = weir_bin .. " repl -m table -r 'cluster:1 rack:2 node:3 core:8 gpu:2'"
    assert.equal(table.concat(shown, "\n") .. "\n", run(command .. table.concat(inputs)))
  end)

  local scripts = blocks "lua"
  for _, block in ipairs(blocks("lua", "doc/graphs.md")) do scripts[#scripts + 1] = block end
  for _, block in ipairs(scripts) do
    it("shows what the script of line " .. block.at .. " prints", function()
      local path, expected = os.tmpname(), {}
      local f = assert(io.open(path, "w"))
      f:write(table.concat(block.lines, "\n"), "\n")
      f:close()
      for _, line in ipairs(block.lines) do expected[#expected + 1] = line:match("^%-%->%s?(.*)$") end
      local got = run(quote(weir_bin) .. " run " .. path)
      os.remove(path)
      assert.equal(table.concat(expected, "\n") .. "\n", got)
    end)
  end
end)

describe("the page on one's own cluster", function()
  for _, block in ipairs(blocks("console", "doc/cluster.md")) do
    it("shows what the command of line " .. block.at .. " prints", function()
      local command = assert(block.lines[1]:match("^%$ weir (.*)$"))
      assert.equal(table.concat(block.lines, "\n", 2) .. "\n", run(quote(weir_bin) .. " " .. command))
    end)
  end
end)

describe("the page of scenarios", function()
  for _, block in ipairs(blocks("lua", "doc/scenarios.md")) do
    it("has a scenario in line " .. block.at .. " that holds", function()
      local path = os.tmpname() .. ".lua"
      local f = assert(io.open(path, "w"))
      f:write(table.concat(block.lines, "\n"), "\n")
      f:close()
      local got = run(quote(weir_bin) .. " test " .. path)
      os.remove(path)
      assert.matches("1 success", got)
      assert.matches("0 failures / 0 errors", got)
    end)
  end

  it("names every method of a scenario and every assertion", function()
    local page, missing = read "doc/scenarios.md", {}
    for name in (read "lua/weir/scenario/assertions.lua"):gmatch "\nfunction CHECK%.([%w_]+)" do
      if not page:find(name .. "(", 1, true) then missing[#missing + 1] = "assert." .. name end
    end
    for name in (read "lua/weir/scenario/init.lua"):gmatch "\nfunction S[.:](%l[%w_]+)" do
      if not page:find("s:" .. name, 1, true) and name ~= "settle" then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)
end)
