-- Each operation of spec/support/operations.lua, once: the operation succeeds, and leaves a sound graph. The specs
-- with disturbed operations build on that: spec/weir/bindings/handle/memory_spec.lua, and `make gcstress`.
local operations = require "spec.support.operations"

describe("operations", function()
  local dir, prepare

  lazy_setup(function()
    dir = os.tmpname()
    os.remove(dir)
    assert(os.execute(("mkdir '%s'"):format(dir)))
    prepare = operations.stage(dir)
  end)
  lazy_teardown(function() os.execute(("rm -rf '%s'"):format(dir)) end)

  for _, operation in ipairs(operations.list) do
    it(operation[1] .. ": " .. operation[2], function()
      local w, f = prepare(operation[2])
      local result, why = f()
      w.files.out:close()
      assert(result, why)
      assert(w.g:check())
    end)
  end
end)
