-- Every example line of weir COMMAND --help is run as printed, and what HACKING.md names is there. The examples of the
-- README and of doc/ are run by readme_spec.

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
