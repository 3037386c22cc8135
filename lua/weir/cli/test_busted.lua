--- test_busted.lua - the busted configuration of `weir test`, in place of any local .busted.
return {}
