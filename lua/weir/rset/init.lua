--- rset/init.lua - resource sets (RFC 20, R version 1): weir.rset, and the methods written in Lua.

local core = require "weir.core"
local files = require "weir.files"
local suggest = require "weir.suggest"

local M = {}

local rset = core.methods "rset"

--- Whether x is a resource set.
function M.is(x)
  return type(x) == "userdata" and (getmetatable(x) or {}) == "weir.rset"
end

--- Makes a resource set from an R as text, as a table or as the name of a file; without an argument, a set without
--- ranks. `name`: the name of a text in errors; with a name, x is never the name of a file.
function M.new(x, name)
  if type(x) ~= "string" or name or x:find "^%s*{" then return core.rset(x, name) end
  local text, why, code = files.read(x, "R")
  if not text then return nil, why, code end
  return core.rset(text, x == "-" and "<stdin>" or x)
end

--- Checks an R, as text, as a table or as the name of a file, against every SHALL and MUST of RFC 20. Returns the list
--- of all faults, {place = the key, text =} each, empty for a valid R; or nil, message, code for a file that cannot be
--- read. weir.rset reads more tolerantly.
function M.check(x, most)
  if type(x) == "table" then return core.check_R(core.json_encode(x), most) end
  if type(x) ~= "string" or x:find "^%s*[{%[]" then return core.check_R(x, most) end
  local text, why, code = files.read(x, "R")
  if not text then return nil, why, code end
  return core.check_R(text, most)
end

local PARTS = { ranks = true, hosts = true, property = true, constraint = true }

local function check_parts(what)
  if type(what) ~= "table" then error("subset: a table expected, {ranks =, hosts =, property =, constraint =}") end
  suggest.check_options("subset: ", what, PARTS, 1)
end

-- The part of a set for which a constraint holds, given as a table, as JSON or compiled.
local function where(self, x)
  if type(x) ~= "userdata" then
    local why, code
    x, why, code = core.constraint(x)
    if not x then return nil, why, code end
  end
  return self:where(x)
end

--- The part of a set on some ranks, on some hosts, with a property ("^name": without the property), or meeting a
--- constraint (RFC 31): r:subset{ranks = "0-3", property = "bigmem"}. All conditions given must hold.
function rset.subset(self, what)
  check_parts(what)
  rset.count(self) -- raises for no resource set or a closed set
  local part, why, code = self, nil, nil
  if what.ranks ~= nil then part, why, code = part:on_ranks(what.ranks) end
  if part and what.hosts ~= nil then part, why, code = part:on_hosts(what.hosts) end
  if part and what.property ~= nil then part, why, code = where(part, { properties = { what.property } }) end
  if part and what.constraint ~= nil then part, why, code = where(part, what.constraint) end
  return part, why, code
end

--- The set as a table: the decoded text of format(kind).
function rset.table(self, kind)
  rset.count(self)
  local text, why, code = self:format(kind)
  if not text then return nil, why, code end
  return core.json_decode(text)
end

return M
