-- Random calls of the whole Lua interface, in processes of their own: a crash, or a report of a sanitizer, is a failure with
-- a seed, too. WEIR_SPEC_SEED plays one history, WEIR_SPEC_SCALE makes the run longer or shorter.
local shell = require "spec.support.shell"

local GROUPS, HISTORIES, STEPS = 6, 100, 150
local only = math.tointeger(tonumber(os.getenv "WEIR_SPEC_SEED" or ""))
local scale = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1

describe("random calls on many graphs", function()
  teardown(shell.clean)

  for group = 1, only and 1 or GROUPS do
    local histories = only and 1 or math.max(10, math.floor(HISTORIES * scale))
    local first = only or group * 1000000
    it(("end with a result or a clean error, and leave graphs that check out, from seed %d on"):format(first), function()
      local dir = shell.directory()
      local script = shell.path(dir, "run.lua", ('os.exit(require("spec.support.random_calls").main(%d, %d, %d, %q))'):format(
        first, histories, STEPS, dir))
      local r = shell.weir { "run", script }
      os.execute(("rm -f '%s'/*.sqlite*"):format(dir))
      assert(r.status == 0, r.out:sub(-3000) .. r.err:sub(1, 6000))
      assert.matches("done\n$", r.out)
      if not only and histories >= HISTORIES then assert.not_matches("never made", r.out) end
    end)
  end
end)
