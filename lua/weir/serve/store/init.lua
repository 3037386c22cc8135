--- store/init.lua - where a service keeps its state, by address.
--
--   local store = assert(require("weir.serve.store").open "sqlite:/var/lib/weir.sqlite")
--   local graph = store:load()          -- nil: nothing is there; or nil, message, code
--   store:commit(graph)                 -- what changed since the last load or commit, in one transaction: true; or nil, message, code
--   store:tick()                        -- in each turn, without waiting: true; or nil, message, "fenced"
--   store:publish(key, text)            -- a text for others to read, with the next commit; text nil: it goes. Not kept by sqlite
--   store:published()                   -- {key = true} of those that were there when the state was loaded
--   store:close()
--
-- A commit that fails has either happened or not, wholly; after any other code than "fenced" the service loads again. "fenced":
-- another service has the state now, or may have it: this one must end, and say nothing more.
--
-- A store that several services share has besides (store.lead is nil in others):
--   store:lead()      -- tries to lead: true; false: another one does; or nil, message, code. Before anything else
--   store:stand()     -- does not lead: true once it does
--   store:elsewhere() -- the address of the one that leads, if it is known
--   store:period()    -- milliseconds between two ticks, at most

local M = {}

local KINDS = { sqlite = true, etcd = true }

--- A store: "FILE", "sqlite:FILE", "etcd:http://HOST:PORT[,...][/PREFIX]"; or nil, message, code. opts: lease, about (see etcd.lua).
function M.open(address, opts)
  local kind, rest = address:match "^(%a+):(.*)$"
  if not KINDS[kind] then kind, rest = "sqlite", address end
  return require("weir.serve.store." .. kind).open(rest, opts)
end

return M
