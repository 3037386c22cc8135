--- test_busted.lua - the configuration file that `weir test` gives busted, in place of a .busted that happens to lie around.

return {}
