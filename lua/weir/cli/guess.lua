--- guess.lua - `weir FILE`: the command for a file that was given in place of a command.

local files = require "weir.files"
local out = require "weir.cli.output"
local packages = require "weir.packages"
local tables = require "weir.tables"
local weir = require "weir"

local M = {}

local HEAD = 65536 -- bytes of a file that are looked at

-- Returns the beginning of a file, uncompressed or not.
local function beginning(path)
  local file = io.open(path, "rb")
  local text = file and file:read(HEAD) or ""
  if file then file:close() end
  return text
end

-- Kinds of files that are no machines: a test of name and beginning, then the words of the command, or an error in place of
-- a command. Packages have further kinds.
local KINDS = {
  { function(path, text) return path:find "%.lua$" and (text:find "%f[%w_]it%s*[%(\"']" or text:find "%f[%w_]describe%s*[%(\"']") end,
    { "test" } },
  { function(path, text)
    return path:find "%.lua$" and text:find "return%s*{" and (text:find "%f[%w_]evaluate%s*=" or text:find "%f[%w_]order%s*="
      or text:find "%f[%w_]schedule%s*=")
  end, { "policy", "check" } },
  { function(path, text)
    return path:find "%.lua$" and (" " .. text:gsub("%-%-[^\n]*", "")):find "[^%w_.\"']weir%s*[.:]%s*%a[%w_.]*%s*[({\"']"
  end, { "run" } },
  { function(path, text) return path:find "%.ya?ml$" and text:find "\n?resources:" end, nil,
    "%s is a jobspec: weir match -r MACHINE %s finds resources for it" },
}

--- Returns the words of the command for an existing file and further words: show for a machine, test for a scenario, policy check
--- for a policy, run for a script that calls functions of the module weir. Fails for a file that also needs a machine. Returns
--- nil for a file that does not exist.
function M.words(path, words)
  if not files.exists(path) then return nil end
  local text = beginning(path)
  for _, kind in ipairs(tables.append(packages.all "kinds", KINDS)) do
    if kind[1](path, text) then
      if not kind[2] then out.fail(2, kind[3], path, path) end
      local command = table.move(kind[2], 1, #kind[2], 1, {})
      command[#command + 1] = path
      return table.move(words, 2, #words, #command + 1, command)
    end
  end
  return table.move(words, 2, #words, 4, { "show", "-r", path })
end

-- Whether a word that names no file is "local" or describes a machine, such as "node:4 core:8".
local function describes(word)
  if word == "local" then return true end
  if word:find "/" or not word:find "[:%s]" then return false end
  return weir.synthetic(word) ~= nil
end

-- Whether an existing file is of a kind that is no machine.
local function is_other(path)
  local text = beginning(path)
  return tables.any(tables.append(packages.all "kinds", KINDS), function(kind) return kind[1](path, text) end)
end

--- Takes the first operand as the machine of a command that needs one, where -r is not given and it can be nothing else.
function M.machine(opts)
  local word = opts[1]
  if opts.resources or not word then return end
  if describes(word) or files.exists(word) and not is_other(word) then opts.resources = table.remove(opts, 1) end
end

--- Takes a machine that was given as an operand in place of -r: a file, a description or "local"; nothing with -r, or for the
--- path of a vertex. Fails for anything else.
function M.resources(opts, command)
  if opts.resources or not opts[1] then return end
  if not files.exists(opts[1]) and not describes(opts[1]) then
    if opts[1]:find "^[^/]*:/" or opts[1]:find "^/" then return end
    out.fail(2, "%s: %s: there is no such file; -r takes other names of machines, and the path of a vertex begins with /", command, opts[1])
  end
  opts.resources = table.remove(opts, 1)
end

return M
