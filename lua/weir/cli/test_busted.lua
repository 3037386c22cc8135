--- test_busted.lua - the configuration file that `weir test` gives busted, in place of a .busted that happens to lie around. busted
--- takes an interruption for an error like any other, and goes on: here it ends the run.

local _, busted = pcall(require, "busted")
busted.subscribe({ "error" }, function(_, _, message)
  if tostring(message):find "interrupted$" then os.exit(130, true) end
  return nil, true
end)

return {}
