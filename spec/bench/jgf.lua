-- What reading JSON Graph Format costs: time against jansson's for parsing the same text (at most twice that is allowed), and
-- memory, which grows with the graph and not with the text. The same machine comes in three texts: as weir writes it, as
-- Fluxion does, and that indented, which is more than twice as long.
-- In a process of its own: weir run spec/bench/jgf.lua NODES, of 63 vertices each (default 5000: 107, 91 and 229 MB). Prints
-- JSON; fails where a limit is not kept.
package.path = "./?.lua;" .. package.path
local weir = require "weir"
local core = require "weir.core"
local bench = require "spec.bench.measure"

local NODES = tonumber(arg[1] or 5000)
local PATH = "build/bench_jgf_text.json"
local BIN = os.getenv "WEIR_BIN" or "build/weir"
local RUNS = 2
local TIME_LIMIT = 2

-- ---- texts ----

local COMPACT = {
  node = '{"id":"%d","metadata":{"type":"%s","basename":"%s","name":"%s","id":%d,"uniq_id":%d,"rank":%d,"exclusive":false,'
    .. '"unit":"%s","size":%d,"paths":{"containment":"%s"}}}',
  edge = '{"source":"%d","target":"%d","metadata":{"subsystem":"containment"}}',
}

-- The same with each member in a line of its own, as jansson indents by four.
local function indented(text)
  local depth = 3
  return (text:gsub('[{},]', function(mark)
    if mark == "," then return ",\n" .. ("    "):rep(depth) end
    depth = depth + (mark == "{" and 1 or -1)
    local line = "\n" .. ("    "):rep(depth)
    return mark == "{" and mark .. line or line .. mark
  end):gsub('":', '": '))
end

local INDENTED = { node = indented(COMPACT.node), edge = indented(COMPACT.edge) }

local function write_fluxion(g, path, style)
  local file <close> = assert(io.open(path, "w"))
  local number, pairs_of, n = {}, {}, 0
  file:setvbuf("full", 1 << 16)
  file:write '{"graph":{"nodes":['
  for v in g:walk() do
    local own, parent = v.path, v:parent()
    file:write(n > 0 and "," or "", style.node:format(n, v.type, v.basename, v.name, v.id, n, v.rank or -1, v.unit or "", v.size, own))
    if v.type ~= "core" then number[own] = n end
    if parent then pairs_of[#pairs_of + 1] = number[parent.path] << 32 | n end
    n = n + 1
  end
  file:write '],"edges":['
  for i, pair in ipairs(pairs_of) do file:write(i > 1 and "," or "", style.edge:format(pair >> 32, pair & 0xffffffff)) end
  file:write "]}}\n"
end

local TEXTS = {
  { "weir's", function(g) assert(g:save(PATH, { format = "jgf" })) end },
  { "Fluxion's", function(g) write_fluxion(g, PATH, COMPACT) end },
  { "Fluxion's, indented", function(g) write_fluxion(g, PATH, INDENTED) end },
}

-- ---- measuring ----

-- Loads the file in a process of its own: milliseconds of the processor, vertices, bytes held at most and at the end.
local LOADER = [[
  local function bytes(key)
    for line in io.lines "/proc/self/status" do
      local kb = line:match("^" .. key .. ":%s*(%d+)")
      if kb then return tonumber(kb) * 1024 end
    end
  end
  local weir = require "weir"
  local before, start = bytes "VmRSS", os.clock()
  local g = assert(weir.load(arg[1], { format = "jgf" }))
  local ms = (os.clock() - start) * 1e3
  print(weir.json.encode { ms = ms, vertices = g:count(), peak = bytes "VmHWM" - before, held = bytes "VmRSS" - before })]]

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

local function load_with_weir(script)
  return assert(core.json_decode(output_of(("'%s' run '%s' '%s'"):format(BIN, script, PATH))))
end

-- Milliseconds of jansson's faster way.
local function parse_with_jansson()
  local best = math.huge
  for ms in output_of(("build/test/bench_jansson '%s'"):format(PATH)):gmatch "%S+ (%S+)" do best = math.min(best, tonumber(ms)) end
  assert(best < math.huge, "build/test/bench_jansson failed")
  return best
end

local function size_of(path)
  local file <close> = assert(io.open(path))
  return file:seek "end"
end

local function measure(name, script, vertices)
  local r = { name = name, bytes = size_of(PATH), jansson_ms = math.huge, weir_ms = math.huge }
  for _ = 1, RUNS do
    r.jansson_ms = math.min(r.jansson_ms, parse_with_jansson())
    local loaded = load_with_weir(script)
    assert(loaded.vertices == vertices, "another graph was loaded")
    r.weir_ms, r.peak, r.held = math.min(r.weir_ms, loaded.ms), loaded.peak, loaded.held
  end
  r.ratio, r.peak_per_vertex, r.held_per_vertex = r.weir_ms / r.jansson_ms, r.peak / vertices, r.held / vertices
  return r
end

local g = assert(weir.synthetic(("cluster:1 node:%d socket:2 core:20 gpu:2 memory:8(size=16,unit=GB)"):format(NODES)))
local vertices = g:count()
local script = os.tmpname()
do
  local file <close> = assert(io.open(script, "w"))
  file:write(LOADER)
end
local reports, over = {}, false
for i, text in ipairs(TEXTS) do
  text[2](g)
  local r = measure(text[1], script, vertices)
  reports[i], over = r, over or r.ratio > TIME_LIMIT
  local name = "JGF, " .. text[1]
  bench.row(1, ("%s: bytes a vertex, the peak"):format(name), "bytes", { r.peak_per_vertex })
  bench.row(2, "load, " .. name, "ms", { r.weir_ms }, { bytes = r.bytes, mb_per_s = r.bytes / r.weir_ms / 1e3 })
  bench.row(2, ("load, %s, times jansson's"):format(name), "", { r.ratio })
end
os.remove(script)
os.remove(PATH)
bench.print()
if reports[3].peak > 1.1 * reports[2].peak then error("memory grew with the text", 0) end
if over then error(("a text took more than %d times what jansson needs"):format(TIME_LIMIT), 0) end
