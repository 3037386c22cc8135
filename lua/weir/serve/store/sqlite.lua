--- store/sqlite.lua - the state of a service in an SQLite database.

local core = require "weir.core"
local files = require "weir.files"

local M = {}

local Store = {}
Store.__index = Store

function Store:load()
  if not files.exists(self.path) then return nil end
  return core.load(self.path, { format = "sqlite" })
end

function Store:commit(graph) return graph:save(self.path, { format = "sqlite", changed = true }) end

function Store.tick() return true end

function Store.publish() end -- it is for one machine, whose own commands tell what is there

function Store.published() return {} end

function Store.close() end

Store.__close = Store.close

--- The database at a path, which need not be there yet.
function M.open(path)
  if path == "" then return nil, "a state has a file: sqlite:FILE", "invalid" end
  return setmetatable({ path = path, address = path }, Store)
end

return M
