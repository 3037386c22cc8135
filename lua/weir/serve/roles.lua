--- roles.lua - who may do what. A client has a role and a name: from the user at the other end of a Unix socket, or from its token.
--
--   reader          looks: find, show, jobs, explain, stats ...
--   owner           besides, matches jobs, and releases, grows and shrinks those that it matched
--   administrator   everything
--
-- Each method says in its file what it needs; one that does not needs an administrator.

local core = require "weir.core"
local owners = require "weir.serve.owners"

local M = {}

local RANK = { anyone = 0, reader = 1, owner = 2, administrator = 3 }

-- ---- what methods need --------------------------------------------------------------------------------------------------------

local needs, own = {}, {}

local function job_of(params) return params.job end

--- needs.reader("find", "show"): what these methods need. needs.own(...): owners only for their own jobs, by the parameter "job".
M.needs = {}

for role in pairs(RANK) do
  M.needs[role] = function(...)
    for _, method in ipairs { ... } do needs[method] = role end
  end
end

function M.needs.own(...)
  for _, method in ipairs { ... } do needs[method], own[method] = "owner", job_of end
end

--- needs.by(method, f[, job]): f(params) gives the role; job(params) the job that has to be an owner's own.
function M.needs.by(method, f, job) needs[method], own[method] = f, job end

--- The role that a method needs, with parameters where that depends on them.
function M.needed(method, params)
  local role = needs[method] or "administrator"
  return type(role) == "function" and role(params or {}) or role
end

local function no(call, what)
  local client = call.client
  return ("%s: %s; %s has the role %s"):format(call.method, what, client.name or "this client", client.role)
end

-- Why an owner may not touch a job. One that is not there is the method's to refuse.
local function not_own(service, call)
  local job = own[call.method](call.params)
  if math.type(job) ~= "integer" or not service:there(job) or service.owners:of(job) == call.client.name then return nil end
  return no(call, ("the owner of job %d or an administrator may do that"):format(job))
end

--- Why a call is refused; nil: it is not.
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

-- ---- who has which role ----------------------------------------------------------------------------------------------------------

local function rule(role, who)
  if who == "*" then return { role = role, all = true } end
  if who:find "^@[%w_.-]+$" then return { role = role, group = who:sub(2) } end
  if who:find "^%d+$" then return { role = role, uid = math.tointeger(tonumber(who)) } end
  if who:find "^[%w_.-]+$" then return { role = role, name = who } end
end

--- Rules from words as "reader=*" and "owner=alice,@users,1000"; or nil and a message.
function M.rules(words)
  local rules = {}
  for _, word in ipairs(words or {}) do
    local role, list = word:match "^(%l+)=(.+)$"
    if not RANK[role] or role == "anyone" then
      return nil, ("ROLE=WHO is wanted, ROLE being reader, owner or administrator, not %s"):format(word)
    end
    for who in list:gmatch "[^,]+" do
      local made = rule(role, who)
      if not made then return nil, ('%s: a user, a number, @GROUP or * is wanted, not "%s"'):format(role, who) end
      rules[#rules + 1] = made
    end
  end
  return rules
end

local function fits(r, peer, name)
  return r.all or r.uid == peer.uid or r.name ~= nil and r.name == name or r.group and core.in_group(peer.uid, peer.gid, r.group)
end

-- Names of users by their numbers: asking for one may take the network.
local names = {}

local function name_of(uid)
  if not names[uid] then
    local name = core.user(uid)
    names[uid] = owners.is_name(name) and name or tostring(uid)
  end
  return names[uid]
end

--- The highest role that rules give the user at the other end of a socket, or nil; and its name. Who runs the service is an
--- administrator, and so is root.
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

--- Whether this is a role that a client can be given.
function M.is(role) return RANK[role] ~= nil and role ~= "anyone" end

return M
