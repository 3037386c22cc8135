--- later.lua - modules that are read at their first use, so that a command reads the modules it needs and no more.

--- Returns a table in place of a module: the first look at a field reads the module, and fails as `require` does.
--- The fields of the module, functions and other values, must not change later.
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
