-- Every example line of weir COMMAND --help, of weir -s SOCKET COMMAND --help, of the demo and of new policies is run as printed;
-- each command that a text of weir names is there, with its options; and what HACKING.md names is there. The examples of the README
-- and of doc/ are run by readme_spec, those of weir help TOPIC by topics_spec.

local examples = require "spec.support.examples"
local service = require "spec.support.service"
local shell = require "spec.support.shell"

setup(examples.open)
before_each(examples.renew)
teardown(examples.close)

-- The synopses of weir policy, filled in.
local FILLED = { ["%[?POLICY%.%.%.%]?"] = "low", [" R "] = " cluster.json ", [" P "] = " low ", ["JOB%.%.%."] = "job.yaml", NAME = "yours" }

local function of_command(name)
  local list = {}
  for line in ((require("weir.cli." .. name).notes or "") .. "\n"):gmatch "([^\n]*)\n" do
    local example = line:match "^  (weir .*)$" or line:match "^  (echo .*| weir .*)$"
    if example then
      example = example:gsub("   +.*$", ""):gsub(" %[.-%]", "") -- without words that may be left out
      for placeholder, word in pairs(name == "policy" and FILLED or {}) do example = example:gsub(placeholder, word) end
      list[#list + 1] = { line = example, where = "weir " .. name .. " --help" }
    end
  end
  return list
end

local function is_target(name) return shell.slurp("Makefile"):find("\n" .. name:gsub("%-", "%%-") .. "[^\n]*:") ~= nil end

describe("HACKING", function()
  local text = shell.slurp "HACKING.md"

  it("names targets of make that are there", function()
    local wrong, n = {}, 0
    for target in text:gmatch "[`\n]make (%l[%w-]*)" do
      n = n + 1
      if not is_target((target:gsub("^fuzz%-.*", "fuzz"))) then wrong[#wrong + 1] = target end
    end
    assert.same({}, wrong)
    assert.is_true(n > 10)
  end)
end)

describe("an example", function()
  for _, name in ipairs(require("weir.cli").commands) do
    for _, example in ipairs(of_command(name)) do
      it(("of %s runs: %s"):format(example.where, example.line), function()
        service.clean()
        if not example.line:find "^weir serve %-r" and example.line:find("/run/weir.sock", 1, true) then
          examples.start "weir serve -r cluster.json -l unix:/run/weir.sock"
          if example.line:find "#1" then assert.equal(0, (examples.run "weir -s /run/weir.sock match -q slot=2/node")) end
        end
        examples.try(example.line)
      end)
    end
  end
end)

describe("an example of weir -s SOCKET", function()
  local remote = require "weir.cli.remote"
  setup(function()
    service.clean()
    examples.start "weir serve -r cluster.json -l unix:/run/weir.sock --filter-ms 1000"
    assert.equal(0, (examples.run "weir -s /run/weir.sock match -q slot=2/node"))
  end)
  teardown(service.clean)
  for _, name in ipairs(remote.names()) do
    for line in (remote.command(name).notes or ""):gmatch "[^\n]+" do
      local example = line:match "^  (weir %-s .*)$"
      if example and not example:find("child.sock", 1, true) then -- a service without a parent
        it("runs: " .. example, function()
          local command = example:gsub("%-s %S+", "-s /run/weir.sock", 1):gsub("   +.*$", "")
          local status, text = examples.run("timeout 1 " .. command)
          assert.is_true(status == 0 or status == 124 and command:find "events$" ~= nil, text) -- a stream has no end
        end)
      end
    end
  end
end)

describe("a command of the demo", function()
  setup(function() examples.run "rm -f mine.lua mine_spec.lua" end) -- the demo makes its own
  for command in shell.slurp("spec/tools/demo.lua"):match("\nlocal NEXT = {\n(.-)\n}\n"):gmatch "{ ([\"'].-[\"']), " do
    command = load("return " .. command)()
    it("runs: " .. command, function() examples.try((command:gsub("^build/", ""))) end)
  end
end)

describe("a command in the comments of a new policy", function()
  for _, kind in ipairs { "", "--queue " } do
    it("runs: weir policy new " .. kind .. "NAME", function()
      local name = kind == "" and "place" or "order"
      assert.equal(0, (examples.run("weir policy new " .. kind .. name)))
      local _, text = examples.run(("cat %s.lua %s_spec.lua"):format(name, name))
      local n = 0
      for command in text:gmatch "\n%-%-[^\n]- (weir %l+ [^\n]+)" do
        examples.try(command)
        n = n + 1
      end
      assert.equal(kind == "" and 3 or 4, n)
    end)
  end
end)

describe("the texts", function()
  -- Returns the options of a command, or of a command of a service; nil where there is none.
  local function command_of(name, of_service)
    if not of_service then
      local known = require("weir.cli").commands
      for _, one in ipairs(known) do
        if one == name then return require("weir.cli." .. name) end
      end
    end
    for _, one in ipairs(of_service and require("weir.cli.remote").names() or {}) do
      if one == name then return require("weir.cli.remote").command(name) end
    end
  end

  -- Whether a command has an option, "-x" or "--xy". A command that parses its words itself is not examined.
  local function has_option(command, word)
    if command.raw or word == "--help" or word == "-h" then return true end
    local short = word:match "^%-(%l+)$"
    for _, option in ipairs(command.options) do
      if word == "--" .. option[2] then return true end
      if short and option[1] then short = short:gsub(option[1], "") end
    end
    return short == ""
  end

  -- Appends what is wrong with the commands in a line.
  local function check(line, where, wrong)
    line = line:gsub("weir %-s [%w:/.-]*[:/.%u][%w:/.-]* ", "weir -s SOCKET "):gsub("SOCKET %-%-token%-file %S+ %-%-ca %S+", "SOCKET")
    for socket, name, rest in line:gmatch "%f[%w]weir (%-?s? ?%u*) ?(%l[%l-]+)([^\n]*)" do
      local of_service = socket == "-s SOCKET"
      local command = (socket == "" or of_service) and command_of(name, of_service)
      if of_service and name ~= "top" and not command then wrong[#wrong + 1] = where .. ": " .. line end
      for word in (command and rest:match "^[^.;:)`\"]*" or ""):gmatch "%f[%S]%-%-?%l[%l-]*" do
        if not has_option(command, word) then wrong[#wrong + 1] = ("%s: weir %s %s: %s"):format(where, name, word, line) end
      end
    end
  end

  it("name commands that are there, with their options", function()
    local wrong, pipe <close> = {}, assert(io.popen "find lua doc README.md packaging spec/tools/demo.lua -type f | sort")
    for path in pipe:lines() do
      for line in shell.slurp(path):gmatch "[^\n]+" do check(line, path, wrong) end
    end
    assert.same({}, wrong)
  end)
end)

describe("help", function()
  local pages = { { "--help" }, { "-s", "--help" } }
  for _, name in ipairs(require("weir.cli").commands) do pages[#pages + 1] = { name, "--help" } end
  for _, name in ipairs(require("weir.cli.remote").names()) do pages[#pages + 1] = { "-s", "x", name, "--help" } end
  for _, name in ipairs(require("weir.cli.topics").names) do pages[#pages + 1] = { "help", name } end

  for _, words in ipairs(pages) do
    it("fits in 80 columns: weir " .. table.concat(words, " "), function()
      local page = shell.weir(words)
      assert.same({ "", 0 }, { page.err, page.status })
      for line in page.out:gmatch "[^\n]+" do assert.is_true((utf8.len(line) or #line) <= 80, line) end
      for command in page.out:gmatch "\n  (weir [^\n]*) \\\n" do assert.is_nil(command:find "   ", command) end
    end)
  end

  it("breaks a long command so that it can be copied", function()
    local fitted = require("weir.cli.page").fitted
    local long = "weir match -r MACHINE " .. ("slot=1/node "):rep(12) .. "job.yaml"
    assert.equal(long, (fitted("  " .. long):gsub(" \\\n +", " "):gsub("^ +", "")))
    assert.equal("a b\n\n  x    y", fitted "a\nb\n\n  x    y")
  end)
end)
