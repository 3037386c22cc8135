-- Modules that are read when they are first used.
local later = require "weir.later"

describe("a module that is read later", function()
  local reads

  before_each(function()
    reads = 0
    package.preload["spec.late"] = function()
      reads = reads + 1
      return { one = 1, two = function() return 2 end }
    end
  end)

  after_each(function() package.preload["spec.late"], package.loaded["spec.late"] = nil, nil end)

  it("is not read before a field is looked at", function()
    later "spec.late"
    assert.equal(0, reads)
  end)

  it("has the fields of the module, and is read once", function()
    local late = later "spec.late"
    assert.same({ 1, 2, 1 }, { late.one, late.two(), late.one })
    assert.equal(1, reads)
  end)

  it("has nil for a field that the module lacks", function() assert.is_nil(later("spec.late").three) end)

  it("lists the fields of the module", function()
    local names = {}
    for name in pairs(later "spec.late") do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "one", "two" }, names)
  end)

  it("fails where the module is not there, as require does", function()
    assert.error_matches(function() return later("spec.nowhere").one end, "module 'spec.nowhere' not found")
  end)
end)
