--- lua_version.lua - an error that says what is wrong under another Lua than 5.4; this file itself is read by each.

if _VERSION ~= "Lua 5.4" then
  error("weir needs Lua 5.4, and this is " .. _VERSION .. "; Debian's busted takes the right one as: busted --lua=lua5.4 FILE", 0)
end
