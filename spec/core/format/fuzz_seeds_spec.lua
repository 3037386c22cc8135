-- The seeds of the fuzz targets (spec/fuzz/corpus): each is accepted by its reader, so that the fuzzers begin from texts that are alive
-- when a format has changed. Seeds that are refused on purpose are named with the reason. Seeds of other targets are bytes that stand
-- for operations, and are no texts of a format.

local core = require "weir.core"
local weir = require "weir"

local CORPUS = "spec/fuzz/corpus/"
local SMALL = "cluster:1 node:2 core:2 memory:1(size=4)" -- the machine of fuzz_document.c

local function machine(format)
  return function(text)
    local graph = assert(weir.parse(text, { format = format }))
    assert(graph:check())
  end
end

local function request(text) assert(core.request(text)) end

local function script(text) machine(require "weir.machine.script".guess(text))(text) end

local function sets(text)
  for one in text:gmatch "[^\f]+" do assert(weir.rset(one)) end
end

local function image(text)
  local pieces <close> = core.pieces()
  pieces:put("block/0/0", text)
  assert(assert(pieces:graph()):check())
end

local function document(text)
  if text:find('"weir_difference"', 1, true) then return assert(weir.synthetic(SMALL):apply(text)) end
  machine "document"(text)
end

local READERS = {
  constraint = function(text) assert(core.constraint(text)) end, document = document, grug = machine "grug", hwloc = machine "hwloc",
  jgf = machine(), jobspec_json = request, jobspec_yaml = request, kv_image = image, rdl = script, rset = sets, shape = request,
  synthetic = machine "synthetic",
}

local REFUSED = {
  ["jobspec_yaml/alias.yaml"] = "YAML aliases are not supported", ["rdl/bad.rdl"] = "attempt to concatenate a table value",
}

local function names(directory)
  local list = {}
  for name in io.popen("ls " .. CORPUS .. directory):lines() do list[#list + 1] = name end
  return list
end

local function read(name)
  local file <close> = assert(io.open(CORPUS .. name, "rb"))
  return file:read "a"
end

describe("the fuzzers' seeds of", function()
  for target, reader in pairs(READERS) do
    for _, name in ipairs(names(target)) do
      local path = target .. "/" .. name
      local why = REFUSED[path]
      it(path .. (why and " are refused" or " are accepted"), function()
        local ok, message = pcall(reader, read(path))
        assert.equal(not why, ok, tostring(message))
        if why then assert.truthy(tostring(message):find(why, 1, true), tostring(message)) end
      end)
    end
  end

  it("sqlite/machine.db are accepted, with jobs", function()
    local graph <close> = assert(weir.load(CORPUS .. "sqlite/machine.db"))
    assert(graph:check())
    assert.equal(3, #weir.engine { resources = graph }:jobs())
  end)
end)
