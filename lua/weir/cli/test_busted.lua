--- test_busted.lua - the busted configuration of `weir test`, in place of any local .busted. busted would count an
--- interrupt as an error of a test and go on; here an interrupt ends the run.

local _, busted = pcall(require, "busted")
busted.subscribe({ "error" }, function(_, _, message)
  if tostring(message):find "interrupted$" then os.exit(130, true) end
  return nil, true
end)

return {}
