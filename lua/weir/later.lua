--- later.lua - modules that are read when they are first used, so that a command reads what it needs and no more.

--- Returns a table that stands for a module: the first look at a field reads the module, and fails as `require` does.
--- The module is a table of functions and other values that stay as they are.
return function(name)
  return setmetatable({}, {
    __index = function(self, key)
      local value = require(name)[key]
      rawset(self, key, value)
      return value
    end,
    __pairs = function() return pairs(require(name)) end,
  })
end
