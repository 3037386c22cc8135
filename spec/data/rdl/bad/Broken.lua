-- A type that is no Lua.

Broken = = 3
