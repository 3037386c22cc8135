--- tokens.lua - tokens of clients over TCP, in a file with a token, a role and a name a line:
--
--   # TOKEN                                                           ROLE    NAME
--   77f2...                                                           owner   alice
--
-- The role is administrator by default, the name "token". Only the user running the service may be able to read the
-- file.

local core = require "weir.core"
local failure = require "weir.failure"
local files = require "weir.files"
local owners = require "weir.serve.owners"
local roles = require "weir.serve.roles"

local M = {}

local SHORTEST = 16 -- bytes of a token

local fail, must = failure.fail, failure.must

local Tokens = {}
Tokens.__index = Tokens

local function entry(line)
  local token, role, name, more = line:match "^(%S+)%s*(%S*)%s*(%S*)%s*(.*)$"
  if more ~= "" then fail "expected TOKEN ROLE NAME" end
  if #token < SHORTEST then fail("a token has at least %d bytes", SHORTEST) end
  if role == "" then role = "administrator" end
  if not roles.is(role) then fail('"%s" is none of reader, owner, administrator', role) end
  name = name ~= "" and name or "token"
  if not owners.is_name(name) then fail("NAME has at most %d bytes, of UTF-8", owners.LONGEST) end
  return { token = token, role = role, name = name }
end

-- Returns the list of tokens in the text of a file.
local function parse(path, text)
  local list, lines, n = {}, {}, 0
  for line in text:gmatch "([^\n]*)\n?" do
    n = n + 1
    if line:find "%S" and not line:find "^%s*#" then
      local one, why = failure.caught(nil, entry, (line:gsub("^%s+", "")))
      local earlier = one and lines[one.token]
      if earlier then why = ("the token of line %d again; a token is for one ROLE and NAME"):format(earlier) end
      if why then failure.raise(("%s:%d: %s"):format(path, n, why), "parse") end
      lines[one.token] = n
      list[#list + 1] = one
    end
  end
  if #list == 0 then failure.raise(path .. ": there is no token in it", "parse") end
  return list
end

-- Returns the list of tokens in a file.
local function read(path) return parse(path, must(files.read(path, "settings"))) end

-- Returns the list of tokens in a file that no other user may read.
local function read_private(path)
  local mode = must(core.file_mode(path))
  if mode & 63 ~= 0 then failure.raise(("%s: others may read it (mode %o); chmod 600"):format(path, mode & 511), "forbidden") end
  return read(path)
end

--- Reads the tokens of a file, created with the token of an administrator if missing; `made` is whether it was. Returns the
--- tokens; or nil, message, code.
function M.open(path)
  local made, list, why, code = false, failure.caught(nil, read_private, path)
  if not list and code == "unknown" then
    must(core.write_private(path, must(core.secret()) .. " administrator\n")) -- fails if the file has come meanwhile
    list, why, code = read_private(path)
    made = true
  end
  return setmetatable({ path = path, made = made, list = must(list, why, code) }, Tokens)
end

--- Reads the file again. Returns the number of tokens; or nil, message, code, and the tokens known before stay.
function Tokens:reload()
  self.list = read_private(self.path)
  return #self.list
end

--- Returns true if the file, as read last, has a token with the same role and name as `one`, an earlier result of
--- `find`.
function Tokens:has(one)
  local now = self:find(one.token)
  return now ~= nil and now.role == one.role and now.name == one.name
end

--- Returns the first token of a file, for a client; or nil, message, code.
function M.first(path)
  return read(path)[1].token
end

--- Returns {token =, role =, name =} of a token, or nil. Compares all tokens, in a time independent of their bytes.
function Tokens:find(token)
  local found
  for _, one in ipairs(self.list) do
    if core.same(one.token, token) then found = one end
  end
  return found
end

failure.returning(M, { "open", "first" })
failure.returning(Tokens, { "reload" })

return M
