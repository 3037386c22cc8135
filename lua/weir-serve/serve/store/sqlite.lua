--- store/sqlite.lua - the state of a service in an SQLite database.
--
-- Only the user running the service may read the state, as a reader of a file can lock the file. PATH-lock is locked
-- while the service runs, so that no further service uses the state; the kernel releases the lock when the process
-- ends.

local core = require "weir.core"
local files = require "weir.files"
local uv = require "luv"

local M = {}

local Store = {}
Store.__index = Store

local PRIVATE, OTHERS = 384, 63 -- 0600, and 077: permissions of group and others

-- Removes permissions of group and others from the files of a state. Returns true; or nil, message, code.
local function make_private(self)
  for _, suffix in ipairs { "", "-wal", "-shm" } do
    local path = self.path .. suffix
    local mode = core.file_mode(path)
    if mode and mode & OTHERS ~= 0 then
      local ok, why = uv.fs_chmod(path, PRIVATE)
      if not ok then return nil, ("%s: others may use it (mode %o), and that cannot be changed: %s"):format(path, mode & 511, why), "io" end
      self.log(("%s: others could use it (mode %o); its mode is 600 now"):format(path, mode & 511))
    end
  end
  return true
end

function Store:load()
  if not files.exists(self.path) then return nil end
  local graph, why, code = core.load(self.path, { format = "sqlite" })
  if not graph then return nil, why, code end
  local ok
  ok, why, code = make_private(self)
  if ok then return graph end
  graph:close()
  return nil, why, code
end

function Store:commit(graph)
  local mask = core.umask(OTHERS)
  local ok, why, code = graph:save(self.path, { format = "sqlite", changed = true })
  core.umask(mask)
  return ok, why, code
end

function Store.tick() return true end

-- a state on a single machine needs no published texts: commands of the service report the allocations
function Store.publish() end

function Store.published() return {} end

function Store:close()
  if self.lock then core.unlock_file(self.lock, self.lock_path) end
  self.lock = nil
end

Store.__close = Store.close

-- Returns the path of the lock of a database: next to the real file, with symbolic links resolved.
local function lock_path(path)
  local real = uv.fs_realpath(path)
  if not real then
    local directory, name = path:match "^(.*/)([^/]*)$"
    directory = uv.fs_realpath(directory or ".")
    real = directory and directory .. "/" .. (name or path) or path
  end
  return real .. "-lock"
end

--- Opens the database at a path, created by the first commit if missing. opts: about.address, reported to services that
--- want to use the state too; log(text).
function M.open(path, opts)
  if path == "" then return nil, "a state has a file: sqlite:FILE", "invalid" end
  local self = setmetatable({ path = path, address = path, log = opts and opts.log or function() end, lock_path = lock_path(path) }, Store)
  local why, code
  self.lock, why, code = core.lock_file(self.lock_path, opts and opts.about and opts.about.address or "")
  if self.lock then return self end
  if code == "exists" then return nil, ("%s: another service uses this state: %s"):format(path, why), code end
  return nil, ("%s: it cannot be locked: %s"):format(path, why), code
end

return M
