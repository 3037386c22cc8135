--- faults.lua - programs whose system calls fail on demand, by build/test/faults.so; see faults.c for plans.

local shell = require "spec.support.shell"

local M = {}

local Faults = {}
Faults.__index = Faults

--- Words in front of a program so that its calls can fail. The library comes before those of the sanitizers.
function Faults:within()
  local sanitizer = (os.getenv "ASAN_OPTIONS" or "") .. ":verify_asan_link_order=0"
  return { "env", "LD_PRELOAD=" .. M.library, "WEIR_FAULTS=" .. self.file, "WEIR_FAULTS_ON=" .. self.on, "ASAN_OPTIONS=" .. sanitizer }
end

--- Makes the calls of a plan fail from now on; "" none.
function Faults:plan(text)
  os.remove(self.file .. ".log")
  local file <close> = assert(io.open(self.file .. "#", "w"))
  file:write(text)
  file:close()
  assert(os.rename(self.file .. "#", self.file))
end

--- Returns the calls that have failed since the last plan, a line each.
function Faults:failed()
  local file <close> = io.open(self.file .. ".log")
  return file and file:read "a" or ""
end

--- Makes faults for calls on files whose path begins with `on`, or on the network with "net".
function M.new(on)
  local dir = shell.directory()
  shell.path(dir, "plan.log")
  return setmetatable({ file = shell.path(dir, "plan"), on = on }, Faults)
end

M.library = (os.getenv "PWD" or ".") .. "/build/test/faults.so"

return M
