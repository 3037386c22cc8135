--- store/init.lua - stores for the state of a service, by address.
--
--   local store = assert(require("weir.serve.store").open "sqlite:/var/lib/weir.sqlite")
--   local graph = store:load()          -- nil: the store is empty; or nil, message, code
--   store:commit(graph)                 -- saves the changes since the last load or commit, in one transaction: true; or nil,
--                                       -- message, code
--   store:tick()                        -- in each turn, without waiting: true; or nil, message, "fenced"
--   store:publish(key, text)            -- a text for readers, with the next commit; nil removes it. Not in sqlite
--   store:published()                   -- {key = true} for the texts found when the state was loaded
--   store:close()
--
-- A failed commit has not happened, except after the codes "unsure" and "fenced": then it has happened as a whole or not
-- at all. After any code but "fenced" the service loads again. After "fenced" a different service has, or may have, the
-- state: the service must end and may not answer any more.
--
-- A store shared by several services has more methods (store.lead is nil in a store for a single service):
--   store:lead()      -- tries to lead: true; false: a different one leads; or nil, message, code. Called first
--   store:stand()     -- for a standby: true as soon as the service leads
--   store:elsewhere() -- the address of the leader, if known
--   store:period()    -- milliseconds between two ticks, at most

local M = {}

local KINDS = { sqlite = true, etcd = true }

--- Opens a store: "FILE", "sqlite:FILE", "etcd:http://HOST:PORT[,...][/PREFIX]"; or nil, message, code. opts: lease,
-- about (see etcd.lua).
function M.open(address, opts)
  local kind, rest = address:match "^(%a+):(.*)$"
  if not KINDS[kind] then kind, rest = "sqlite", address end
  return require("weir.serve.store." .. kind).open(rest, opts)
end

return M
