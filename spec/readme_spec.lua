-- The README and the pages of doc/ are run from top to bottom, each in a directory of its own:
--
--   ```console     lines with "$ " are run, and print the lines below them ("..." is for any lines); "weir> " are inputs of
--                  `weir repl`
--   ```sh          each line succeeds
--   ```lua NAME    is the file NAME for the blocks below
--   ```lua         a script, whose lines "--> " are its output; or a policy ("return {"); or a scenario ("it(")
--   ```c           the example of spec/c/example.c
--   ```toml        the configuration of Flux, which make check-flux runs (doc/guides/switching-from-fluxion.md)
--
-- Other blocks are no examples.

local examples = require "spec.support.examples"
local quote = require("weir.files").quoted
local shell = require "spec.support.shell"

-- {at =, language =, name =, lines =, text =} of each fenced block of a document.
local function blocks_of(path)
  local list, current, number = {}, nil, 0
  for line in (shell.slurp(path) .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local language, name = line:match "^```(%l*) ?(%S*)$"
    if current and line == "```" then
      current.text = table.concat(current.lines, "\n") .. "\n"
      list[#list + 1], current = current, nil
    elseif current then
      current.lines[#current.lines + 1] = line
    elseif language then
      current = { at = number, language = language, name = name ~= "" and name or nil, lines = {} }
    end
  end
  assert(not current, path .. " ends in a block")
  return list
end

-- What a command prints, without times of the clock.
local function steady(text) return (text:gsub("%d+%.%d+ seconds", "N seconds"):gsub("%d+%.%d+ us", "N us")) end

-- {command =, inputs =, at =, output =} of each command of a console block.
local function commands_of(block)
  local list = {}
  for i, line in ipairs(block.lines) do
    local command, input = line:match "^%$ (.*)$", line:match "^weir> (.*)$"
    local last = list[#list]
    if command then
      list[#list + 1] = { command = command, inputs = {}, at = block.at + i, output = "" }
    elseif input and last then
      last.inputs[#last.inputs + 1] = input
    else
      last.output = last.output .. line .. "\n"
    end
  end
  return list
end

-- Whether a text is as expected, where a line "..." is for any number of lines.
local function is_like(expected, text)
  local at, exact = 1, true
  for part in (expected .. "...\n"):gmatch "(.-)%.%.%.\n" do
    local from, to = text:find(part, at, true)
    if not from or exact and from ~= at then return false end
    at, exact = to + 1, false
  end
  return at == #text + 1 or ("\n" .. expected):find "\n%.%.%.\n$" ~= nil
end

local function prints(command)
  local line = command.command
  if line:find "^weir serve" then return examples.start(line) end
  if #command.inputs > 0 then line = line .. " -m table" end
  for _, input in ipairs(command.inputs) do line = line .. " -c " .. quote(input) end
  local _, text = examples.run(line)
  local expected, found = steady(command.output), steady(text)
  if not is_like(expected, found) then assert.equal(expected, found) end
end

-- Runs a script; a policy is checked, a scenario is tested.
local function runs(block)
  examples.put("block.lua", block.text)
  if block.text:find "^return {" or block.text:find "\nreturn {" then
    local status, text = examples.run "weir policy check -r power.json ./block.lua"
    return assert.equal(0, status, text)
  elseif block.text:find "%f[%w]it%(" then
    local status, text = examples.run "weir test block.lua"
    return assert.equal(0, status, text)
  end
  local expected = {}
  for _, line in ipairs(block.lines) do expected[#expected + 1] = line:match "^%-%->%s?(.*)$" end
  local _, text = examples.run "weir run block.lua"
  assert.equal(table.concat(expected, "\n"), (text:gsub("\n$", "")))
end

local function is_target(name) return shell.slurp("Makefile"):find("\n" .. name:gsub("%-", "%%-") .. "[^\n]*:") ~= nil end

-- An example line of a shell: targets of make are there; lines for Flux are run by make check-flux.
local function succeeds(line)
  local target = line == "make" and "all" or line:match "^make ([%w-]+)" or line:find "make install" and "install"
  if target then return assert.is_true(is_target(target)) end
  if not line:find "^flux " and line ~= "" then examples.try(line) end
end

local SHELLS = { sh = true, console = true, lua = true, c = true, toml = true, [""] = true, json = true, text = true }

local function try_block(path, block)
  if block.name then
    it(("has the file %s in line %d"):format(block.name, block.at), function() examples.put(block.name, block.text) end)
  elseif block.language == "console" then
    for _, command in ipairs(commands_of(block)) do
      it(("shows what %s prints (%s:%d)"):format(command.command, path, command.at), function() prints(command) end)
    end
  elseif block.language == "sh" then
    for i, line in ipairs(block.lines) do
      line = line:gsub("%s+# .*$", "")
      it(("runs: %s (%s:%d)"):format(line, path, block.at + i), function() succeeds(line) end)
    end
  elseif block.language == "lua" then
    it(("runs the script of %s:%d"):format(path, block.at), function() runs(block) end)
  elseif block.language == "c" then
    it("has the example of spec/c/example.c", function() assert.equal(shell.slurp "spec/c/example.c", block.text) end)
  else
    it(("has a block of a known language in %s:%d"):format(path, block.at), function() assert.is_true(SHELLS[block.language]) end)
  end
end

local pages = { "README.md" }
do
  local pipe <close> = assert(io.popen "find doc -name '*.md' | sort")
  for path in pipe:lines() do pages[#pages + 1] = path end
end

for _, path in ipairs(pages) do
  describe(path, function()
    setup(function()
      examples.open()
      examples.run "rm mine.lua" -- a page makes its own
    end)
    before_each(examples.renew)
    teardown(examples.close)
    for _, block in ipairs(blocks_of(path)) do try_block(path, block) end
  end)
end

describe("the README", function()
  it("has at most 150 lines", function()
    local _, lines = shell.slurp("README.md"):gsub("\n", "\n")
    assert.is_true(lines <= 150, lines)
  end)
end)

describe("links of the documents", function()
  for _, path in ipairs { "README.md", "HACKING.md", "CHANGES.md", table.unpack(pages, 2) } do
    it("lead to files: " .. path, function()
      local wrong = {}
      for target in shell.slurp(path):gsub("\n```.-\n```", ""):gsub("`[^`\n]*`", ""):gmatch "%]%(([^)#]+)[^)]*%)" do
        local file = (path:match "^(.*/)" or "") .. target
        if not target:find "^https?:" and not os.execute("test -e " .. quote(file)) then wrong[#wrong + 1] = target end
      end
      assert.same({}, wrong)
    end)
  end
end)

describe("the documents", function()
  for _, path in ipairs { "HACKING.md", table.unpack(pages) } do
    it("name files that are there: " .. path, function()
      local wrong = {}
      local known = { core = true, lua = true, spec = true, policies = true, bindings = true, doc = true }
      for name in shell.slurp(path):gmatch "%f[%w](%l+/[%w_/-]+%.%l+)%f[^%w_]" do
        if known[name:match "^%l+"] and not shell.exists(name) then wrong[#wrong + 1] = name end
      end
      assert.same({}, wrong)
    end)
  end
end)

describe("the page of scenarios", function()
  it("names every method of a scenario and every assertion", function()
    local page, missing = shell.slurp "doc/reference/scenarios.md", {}
    for name in shell.slurp("lua/weir/scenario/assertions.lua"):gmatch "\nfunction CHECK%.([%w_]+)" do
      if not page:find(name .. "(", 1, true) then missing[#missing + 1] = "assert." .. name end
    end
    for name in shell.slurp("lua/weir/scenario/init.lua"):gmatch "\nfunction S[.:](%l[%w_]+)" do
      if not page:find("s:" .. name, 1, true) and name ~= "settle" then missing[#missing + 1] = name end
    end
    assert.same({}, missing)
  end)
end)
