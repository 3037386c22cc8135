-- `weir FILE` where the file is a trace.
local shell = require "spec.support.shell"

describe("weir FILE", function()
  it("says what a trace needs", function()
    local trace = shell.path(shell.directory(), "empty.swf", "")
    local r = shell.weir { trace }
    assert.matches("is a trace: weir replay %-r MACHINE", r.err)
    assert.equal(2, r.status)
  end)
end)
