-- Methods written in Lua: their errors have the line of the caller, wherever the library lies.
local METHOD_ERRORS = assert(io.open(assert(package.searchpath("weir.method_errors", package.path)))):read "a"

-- A folder of each length: Lua shows the end of a path only where the path is longer than 60 bytes.
for _, folder in ipairs { "/lib/", "/" .. ("long/"):rep(9), "/" .. ("a_longer_name/"):rep(20), "./", "/weir/weir/" } do
  describe("a method in a library at " .. folder:sub(1, 30), function()
    local method_errors = assert(load(METHOD_ERRORS, "@" .. folder .. "weir/method_errors.lua"))()
    local raise = assert(load("return function(x) error(x, 0 + 1) end", "@" .. folder .. "weir/machine/view.lua"))()

    it("raises its message alone, where it refuses", function()
      local ok, why = pcall(method_errors.below("expand", raise), "expand: no view")
      assert.is_false(ok)
      assert.not_matches("view.lua", why, 1, true)
      assert.matches("expand: no view$", why)
    end)

    it("keeps the line of a fault of its own", function()
      local fault = assert(load("return function(x) return x.y.z end", "@" .. folder .. "weir/machine/view.lua"))()
      local _, why = pcall(method_errors.below("expand", fault), {})
      assert.matches("view%.lua:1: attempt to index", why)
    end)

    it("keeps the line of a script", function()
      local script = assert(load("return function(x) error(x) end", "@/home/user/script.lua"))()
      local _, why = pcall(method_errors.below("expand", script), "mine")
      assert.equal("/home/user/script.lua:1: mine", why)
    end)
  end)
end
