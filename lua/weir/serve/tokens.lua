--- tokens.lua - tokens of clients over TCP, in a file with a token, a role and a name a line:
--
--   # TOKEN                                                           ROLE    NAME
--   77f2...                                                           owner   alice
--
-- The role is administrator by default, the name "token". Only the user running the service may be able to read the
-- file.

local core = require "weir.core"
local files = require "weir.files"
local owners = require "weir.serve.owners"
local roles = require "weir.serve.roles"

local M = {}

local SHORTEST = 16 -- bytes of a token

local Tokens = {}
Tokens.__index = Tokens

local function entry(line)
  local token, role, name, more = line:match "^(%S+)%s*(%S*)%s*(%S*)%s*(.*)$"
  if more ~= "" then return nil, "TOKEN ROLE NAME is wanted" end
  if #token < SHORTEST then return nil, ("a token has at least %d bytes"):format(SHORTEST) end
  if role == "" then role = "administrator" end
  if not roles.is(role) then return nil, ('"%s" is none of reader, owner, administrator'):format(role) end
  name = name ~= "" and name or "token"
  if not owners.is_name(name) then return nil, ("NAME has at most %d bytes, of UTF-8"):format(owners.LONGEST) end
  return { token = token, role = role, name = name }
end

-- Returns the list of tokens in a text; or nil and a message.
local function parse(text)
  local list, lines, n = {}, {}, 0
  for line in text:gmatch "([^\n]*)\n?" do
    n = n + 1
    if line:find "%S" and not line:find "^%s*#" then
      local one, why = entry(line:gsub("^%s+", ""))
      local earlier = one and lines[one.token]
      if earlier then why = ("the token of line %d again; a token is for one ROLE and NAME"):format(earlier) end
      if why then return nil, ("%d: %s"):format(n, why) end
      lines[one.token] = n
      list[#list + 1] = one
    end
  end
  if #list == 0 then return nil, " there is no token in it" end
  return list
end

--- Creates a file with a new token, readable by its owner only. Returns true; or nil, message, code. An existing file
-- is an error.
local function create(path)
  local secret, why, code = core.secret()
  if not secret then return nil, why, code end
  return core.write_private(path, secret .. " administrator\n")
end

-- Returns the list of tokens in a file; or nil, message, code.
local function read(path)
  local text, why, code = files.read(path, "settings")
  if not text then return nil, why, code end
  local list
  list, why = parse(text)
  if not list then return nil, ("%s:%s"):format(path, why), "parse" end
  return list
end

-- Returns the list of tokens in a file that no other user may read; or nil, message, code.
local function read_private(path)
  local mode, why, code = core.file_mode(path)
  if not mode then return nil, why, code end
  if mode & 63 ~= 0 then return nil, ("%s: others may read it (mode %o); chmod 600"):format(path, mode & 511), "forbidden" end
  return read(path)
end

--- Reads the tokens of a file, created if missing. Returns the tokens; or nil, message, code.
function M.open(path)
  local list, why, code = read_private(path)
  if not list and code == "unknown" then
    local made
    made, why, code = create(path)
    if made then list, why, code = read_private(path) end
  end
  if not list then return nil, why, code end
  return setmetatable({ path = path, list = list }, Tokens)
end

--- Reads the file again. Returns the number of tokens; or nil, message, code, and the tokens known before stay.
function Tokens:reload()
  local list, why, code = read_private(self.path)
  if not list then return nil, why, code end
  self.list = list
  return #list
end

--- Returns true if the file, as read last, has a token with the same role and name as `one`, an earlier result of
--- `find`.
function Tokens:has(one)
  local now = self:find(one.token)
  return now ~= nil and now.role == one.role and now.name == one.name
end

--- Returns the first token of a file, for a client; or nil, message, code.
function M.first(path)
  local list, why, code = read(path)
  if not list then return nil, why, code end
  return list[1].token
end

--- Returns {token =, role =, name =} of a token, or nil. Compares all tokens, in a time independent of their bytes.
function Tokens:find(token)
  local found
  for _, one in ipairs(self.list) do
    if core.same(one.token, token) then found = one end
  end
  return found
end

return M
