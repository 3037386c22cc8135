-- The examples of the README print the output shown beside them.
local weir_bin = os.getenv("WEIR_BIN") or "build/weir"

local function read(path)
  local f = assert(io.open(path))
  local text = f:read("a")
  f:close()
  return text
end

-- The fenced blocks of a language, each with the line number of its start.
local function blocks(language)
  local found, current, number = {}, nil, 0
  for line in (read("README.md")):gmatch("([^\n]*)\n") do
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

  for _, block in ipairs(blocks "lua") do
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
