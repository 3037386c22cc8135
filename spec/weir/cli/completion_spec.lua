-- What bash completes: the output of weir completion, sourced by a bash that has no terminal.

local shell = require "spec.support.shell"

-- The completions of the last of the words.
local function completed(words)
  local last = select(2, words:gsub(" ", ""))
  local script = ("source <('%s' completion bash); COMP_WORDS=(%s); COMP_CWORD=%d; _weir; echo \"${COMPREPLY[@]}\""):format(
    shell.bin, words, last)
  local pipe <close> = assert(io.popen("bash -c '" .. script:gsub("'", "'\\''") .. "'"))
  return (pipe:read("a"):gsub("\n$", ""))
end

describe("bash completes", function()
  -- {words, the last to be completed, completions}
  for _, case in ipairs {
    { "weir help sh", "show shapes" }, { "weir help expr", "expressions" }, { "weir convert -F rv1", "rv1 rv1_nosched" },
    { "weir convert --from sl", "slurm" }, { "weir convert -F ya", "yaml" }, { "weir match -m re", "reserve" },
    { "weir show --tot", "--totals" }, { "weir pol", "policy" }, { "weir policy che", "check" },
  } do
    it(case[1], function() assert.equal(case[2], completed(case[1])) end)
  end
end)
