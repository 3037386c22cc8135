-- jgf.lua - the cost of reading JSON Graph Format: time against jansson's for parsing the text (at most twice as much
-- is allowed), and memory, which grows with the graph and not with the text: at most 96 bytes a vertex at the peak,
-- above the process before, from a file and from a text (the text itself does not count). One machine comes in
-- several texts: as weir writes JGF, with UUIDs that cannot be derived, as Fluxion writes JGF, with ids in no order,
-- with edges first, and indented, which is more than twice as long.
--
-- The peak is as seen by any process that reads a machine: pages of libraries that only reading touches count (0.4
-- MB). In a process of its own: weir run spec/bench/jgf.lua NODES, of 55 vertices each (default 5004: 96, 96, 81, 81,
-- 81 and 203 MB). Prints JSON; fails where a limit is not kept.
package.path = "./?.lua;" .. package.path
local core = require "weir.core"
local bench = require "spec.bench.measure"
local grug = require "spec.support.grug"

local RACKS = math.max(1, tonumber(arg[1] or 5004) // 18)
local PATH = "build/bench_jgf_text.json"
local BIN = os.getenv "WEIR_BIN" or "build/weir"
local TIME_LIMIT = 2
local PEAK_LIMIT = 96 -- bytes a vertex

-- ---- texts ----

local COMPACT = {
  node = '{"id":"%d","metadata":{"type":"%s","basename":"%s","name":"%s","id":%d,"uniq_id":%d,"rank":%d,"exclusive":false,'
    .. '"unit":"%s","size":%d,"paths":{"containment":"%s"}}}',
  edge = '{"source":"%d","target":"%d","metadata":{"subsystem":"containment"}}',
}

-- The text with each member in a line of its own, as jansson indents by four.
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

local function same(n) return n end

local function scrambled(n) return n * 7919 % 1000003 end -- a prime, above the number of vertices

local function write_nodes(file, g, style, key)
  local number, pairs_of, n = {}, {}, 0
  for v in g:walk() do
    local own, parent = v.path, v:parent()
    file:write(n > 0 and "," or "",
      style.node:format(key(n), v.type, v.basename, v.name, v.id, n, v.rank or -1, v.unit or "", v.size, own))
    if v.type ~= "core" then number[own] = n end
    if parent then pairs_of[#pairs_of + 1] = number[parent.path] << 32 | n end
    n = n + 1
  end
  return pairs_of
end

local function write_edges(file, pairs_of, style, key)
  for i, pair in ipairs(pairs_of) do
    file:write(i > 1 and "," or "", style.edge:format(key(pair >> 32), key(pair & 0xffffffff)))
  end
end

local function write_fluxion(g, style, key)
  local file <close> = assert(io.open(PATH, "w"))
  file:setvbuf("full", 1 << 16)
  file:write '{"graph":{"nodes":['
  local pairs_of = write_nodes(file, g, style, key)
  file:write '],"edges":['
  write_edges(file, pairs_of, style, key)
  file:write "]}}\n"
end

local function write_edges_first(g)
  local file <close> = assert(io.open(PATH, "w"))
  local null <close> = assert(io.open("/dev/null", "w"))
  file:setvbuf("full", 1 << 16)
  file:write '{"graph":{"edges":['
  write_edges(file, write_nodes(null, g, COMPACT, same), COMPACT, same)
  file:write '],"nodes":['
  write_nodes(file, g, COMPACT, same)
  file:write "]}}\n"
end

local function write_weir(g) assert(g:save(PATH, { format = "jgf" })) end

local function write_uuids(g)
  local n = 0
  local text = g:format("jgf"):gsub('"uuid":"[^"]*"', function()
    n = n + 1
    return ('"uuid":"%08x-%04x-4000-8000-%012x"'):format(n * 2654435761 & 0xffffffff, n & 0xffff, n * 40503)
  end)
  local file <close> = assert(io.open(PATH, "w"))
  file:write(text)
end

local TEXTS = {
  { "weir's", write_weir },
  { "weir's, other UUIDs", write_uuids },
  { "Fluxion's", function(g) write_fluxion(g, COMPACT, same) end },
  { "Fluxion's, ids in no order", function(g) write_fluxion(g, COMPACT, scrambled) end },
  { "Fluxion's, edges first", write_edges_first },
  { "Fluxion's, indented", function(g) write_fluxion(g, INDENTED, same) end },
}
local PLAIN, LONG = 3, 6 -- numbers of two texts that are equal but for blanks

-- ---- measuring ----

-- Loads the file, or its text, in a process of its own: processor milliseconds, vertices, bytes at the peak and at
-- the end. Memory used only while the text was read from its file is left out (clear_refs).
local LOADER = [[
  local function bytes(key)
    for line in io.lines "/proc/self/status" do
      local kb = line:match("^" .. key .. ":%s*(%d+)")
      if kb then return tonumber(kb) * 1024 end
    end
  end
  local weir = require "weir"
  local core = require "weir.core"
  local text
  if arg[2] == "text" then
    local file <close> = assert(io.open(arg[1]))
    local size = file:seek "end"
    file:seek "set"
    text = file:read(size)
    collectgarbage()
  end
  do
    local file <close> = assert(io.open("/proc/self/clear_refs", "w"))
    file:write "5"
  end
  local before, start = bytes "VmRSS", os.clock()
  local g = assert((text and core.parse or weir.load)(text or arg[1], { format = "jgf" }))
  local ms = (os.clock() - start) * 1e3
  print(weir.json.encode { ms = ms, vertices = g:count(), peak = bytes "VmHWM" - before, held = bytes "VmRSS" - before,
    bytes = g:bytes(), text = text and #text or 0 })]]

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

local function load_with_weir(script, from)
  return assert(core.json_decode(output_of(("'%s' run '%s' '%s' %s"):format(BIN, script, PATH, from))))
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
  local r = { name = name, bytes = size_of(PATH), jansson_ms = math.huge, weir_ms = math.huge, peak = 0 }
  for _, from in ipairs { "file", "text" } do
    r.jansson_ms = math.min(r.jansson_ms, parse_with_jansson())
    local loaded = load_with_weir(script, from)
    assert(loaded.vertices == vertices, "another graph was loaded")
    assert(loaded.text == (from == "text" and r.bytes or 0), "the text was not read")
    r.weir_ms, r.peak, r.held, r.used = math.min(r.weir_ms, loaded.ms), math.max(r.peak, loaded.peak), loaded.held, loaded.bytes
  end
  r.ratio, r.peak_per_vertex, r.held_per_vertex = r.weir_ms / r.jansson_ms, r.peak / vertices, r.held / vertices
  return r
end

local g = assert(core.parse(grug(RACKS), { format = "grug" }))
local vertices = g:count()
local script = os.tmpname()
do
  local file <close> = assert(io.open(script, "w"))
  file:write(LOADER)
end
local reports, slow, large = {}, false, false
for i, text in ipairs(TEXTS) do
  text[2](g)
  local r = measure(text[1], script, vertices)
  reports[i], slow, large = r, slow or r.ratio > TIME_LIMIT, large or r.peak_per_vertex > PEAK_LIMIT
  local name = "JGF, " .. text[1]
  bench.row(1, ("%s: bytes a vertex, the peak"):format(name), "bytes", { r.peak_per_vertex },
    { held = r.held_per_vertex, used = r.used / vertices })
  bench.row(2, "load, " .. name, "ms", { r.weir_ms }, { bytes = r.bytes, mb_per_s = r.bytes / r.weir_ms / 1e3 })
  bench.row(2, ("load, %s, times jansson's"):format(name), "", { r.ratio })
end
os.remove(script)
os.remove(PATH)
bench.print()
if reports[LONG].peak > 1.1 * reports[PLAIN].peak then error("memory grew with the text", 0) end
if slow then error(("a text took more than %d times what jansson needs"):format(TIME_LIMIT), 0) end
-- On a small machine the memory of the process itself dominates.
if large and vertices > 50000 then error(("a load took more than %d bytes a vertex"):format(PEAK_LIMIT), 0) end
