--- roles.lua - roles of clients and the permissions of each role. The role and the name of a client come from the uid
-- at the far end of a Unix socket, or from a token.
--
--   reader          looks: find, show, jobs, explain, stats ...
--   owner           also matches jobs, and releases, grows and shrinks jobs of its own
--   administrator   everything
--
-- The file of a method declares the role needed; an undeclared method needs an administrator.

local core = require "weir.core"
local owners = require "weir.serve.owners"

local M = {}

local RANK = { anyone = 0, reader = 1, owner = 2, administrator = 3 }

-- ---- permissions of methods -----------------------------------------------------------------------------------------

local needs, own = {}, {}

local function job_of(params) return params.job end

--- needs.reader("find", "show") declares the role needed by methods. needs.own(...): an owner may use the methods on
-- jobs of the owner only; parameter "job" names the job.
M.needs = {}

for role in pairs(RANK) do
  M.needs[role] = function(...)
    for _, method in ipairs { ... } do needs[method] = role end
  end
end

function M.needs.own(...)
  for _, method in ipairs { ... } do needs[method], own[method] = "owner", job_of end
end

--- needs.by(method, f[, job]) declares a role that depends on parameters: f(params) returns the role, job(params) the
-- job whose owner may call.
function M.needs.by(method, f, job) needs[method], own[method] = f, job end

--- Returns the role needed by a method, with `params` where the role depends on parameters.
function M.needed(method, params)
  local role = needs[method] or "administrator"
  return type(role) == "function" and role(params or {}) or role
end

local function no(call, what)
  local client = call.client
  return ("%s: %s; %s has the role %s"):format(call.method, what, client.name or "this client", client.role)
end

-- Returns why an owner may not touch a job, or nil. For a missing job, the method itself fails.
local function not_own(service, call)
  local job = own[call.method](call.params)
  if math.type(job) ~= "integer" or not service:there(job) or service.owners:of(job) == call.client.name then return nil end
  return no(call, ("the owner of job %d or an administrator may do that"):format(job))
end

--- Returns why a call is forbidden, or nil.
function M.refusal(service, call)
  local role = call.client.role
  if role == "administrator" then return nil end
  local needed = M.needed(call.method, call.params)
  if RANK[role] < RANK[needed] then
    if role == "anyone" then return call.method .. ': not before "login" with a token' end
    return no(call, ("the role %s is needed"):format(needed))
  end
  if role == "owner" and own[call.method] then return not_own(service, call) end
end

-- ---- roles of users -------------------------------------------------------------------------------------------------

local function rule(role, who)
  if who == "*" then return { role = role, all = true } end
  if who:find "^@[%w_.-]+$" then return { role = role, group = who:sub(2) } end
  if who:find "^%d+$" then return { role = role, uid = math.tointeger(tonumber(who)) } end
  if who:find "^[%w_.-]+$" then return { role = role, name = who } end
end

--- Parses rules such as "reader=*" and "owner=alice,@users,1000". Returns a list; or nil and a message.
function M.rules(words)
  local rules = {}
  for _, word in ipairs(words or {}) do
    local role, list = word:match "^(%l+)=(.+)$"
    if not RANK[role] or role == "anyone" then
      return nil, ("expected ROLE=WHO, where ROLE is reader, owner or administrator, not %s"):format(word)
    end
    for who in list:gmatch "[^,]+" do
      local made = rule(role, who)
      if not made then return nil, ('%s: expected a user, a number, @GROUP or *, not "%s"'):format(role, who) end
      rules[#rules + 1] = made
    end
  end
  return rules
end

local function fits(r, peer, name)
  return r.all or r.uid == peer.uid or r.name ~= nil and r.name == name or r.group and core.in_group(peer.uid, peer.gid, r.group)
end

-- Names of users by uid, cached: a lookup may use the network.
local names = {}

local function name_of(uid)
  if not names[uid] then
    local name = core.user(uid)
    names[uid] = owners.is_name(name) and name or tostring(uid)
  end
  return names[uid]
end

--- Returns the highest role given by `rules` to the user at the far end of a socket, or nil; and the name of the user.
--- Root and the user running the service are administrators.
function M.of(rules, peer)
  local name = name_of(peer.uid)
  local _, own_uid = core.user()
  if peer.uid == 0 or peer.uid == own_uid then return "administrator", name end
  local best
  for _, r in ipairs(rules) do
    if (not best or RANK[r.role] > RANK[best]) and fits(r, peer, name) then best = r.role end
  end
  return best, name
end

--- Returns true if `role` can be given to a client.
function M.is(role) return RANK[role] ~= nil and role ~= "anyone" end

return M
