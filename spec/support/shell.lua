--- shell.lua - running weir as people do, and temporary files for weir.

local M = { bin = os.getenv "WEIR_BIN" or "build/weir" }

local temporary = {}

function M.slurp(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

function M.exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

--- A new directory for files requested from `path`.
function M.directory()
  local dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir " .. quote(dir)))
  table.insert(temporary, 1, dir)
  return dir
end

--- The path of a file, removed by clean(), with `text` as content if given.
function M.path(dir, name, text)
  local path = dir .. "/" .. name
  table.insert(temporary, 1, path)
  if text then
    local file <close> = assert(io.open(path, "wb"))
    file:write(text)
  end
  return path
end

--- Removes all files and directories made here.
function M.clean()
  for _, path in ipairs(temporary) do
    os.remove(path .. "-lock") -- of a killed service
    os.remove(path)
  end
  temporary = {}
end

--- Runs weir with words: {out=, err=, status=}. `stdin`: a file.
function M.weir(words, stdin)
  local quoted = {}
  for i, word in ipairs(words) do quoted[i] = quote(word) end
  local stdout, stderr = os.tmpname(), os.tmpname()
  local _, how, status = os.execute(("%s %s <%s >%s 2>%s"):format(quote(M.bin), table.concat(quoted, " "),
    quote(stdin or "/dev/null"), stdout, stderr))
  local result = { out = M.slurp(stdout), err = M.slurp(stderr), status = how == "exit" and status or -status }
  os.remove(stdout)
  os.remove(stderr)
  return result
end

return M
