-- known_commands.lua - makes the module weir.known_commands, {command = package}, from the tables that packages register:
-- lua5.4 known_commands.lua MODULE TABLE...

local lines = {}
for i = 2, #arg do
  local package = dofile(arg[i])
  for _, name in ipairs(package.commands or {}) do lines[#lines + 1] = ("  %s = %q,"):format(name, package.name) end
end
table.sort(lines)
local file <close> = assert(io.open(arg[1], "w"))
assert(file:write("return {\n", table.concat(lines, "\n"), "\n}\n"))
