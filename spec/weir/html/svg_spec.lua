-- Pictures of machines as SVG: well-formed and bounded for every machine and every name, and the texts of the cells.
local palette = require "weir.html.picture.palette"
local svg = require "weir.html.picture.svg"
local texts = require "weir.html.picture.svg_text"
local weir = require "weir"
local words = require "weir.texts"
local xml = require "spec.support.xml"

local function count(text, part) return select(2, text:gsub(part, "")) end

local function draw(g, opts)
  local text = assert(g:format("svg", opts))
  assert.is_true(#text <= svg.BYTES)
  assert.truthy(utf8.len(text))
  assert.truthy(xml(text))
  return text
end

describe("an SVG picture", function()
  -- {machine, cells, blocks, a text of the picture}
  for _, case in ipairs {
    { "node:1 socket:2 core:8 gpu:1 memory:1(size=64,unit=GB)", 20, 2, "16 core \u{B7} 2 gpu" },
    { "cluster:1 rack:4 node:16 core:4", 256, 68, ">rack3<" },
    { "cluster:1 rack:16 node:64 core:40", 1024, 16, ">1,024 node " },
    { "cluster:1 node:5000", 5000, 0, ">5,000 node<" },
    { "cluster:1 rack:500 node:200 core:2", 500, 0, ">100,000 node " },
    { "cluster:1 node:100000", 2128, 0, "to node49 (50)" },
    { "thing:1", 1, 0, "/thing0<" },
    { "room:3[island:2[hut:5]]", 30, 9, ">hut4<" },
  } do
    it("has cells and blocks for " .. case[1], function()
      local g <close> = weir.synthetic(case[1])
      local text = draw(g)
      assert.same({ case[2], case[3] }, { count(text, 'class="cell"'), count(text, 'class="block"') })
      assert.truthy(text:find(case[4], 1, true))
      assert.equal(text, g:format "svg")
    end)
  end

  -- {machine, the least part of the sheet that cells take}
  for _, case in ipairs {
    { "node:1 socket:2 core:8", 0.75 }, { "cluster:1 rack:2 node:4 core:8", 0.6 },
    { "cluster:1 rack:8 node:16 socket:2 core:8 gpu:2", 0.5 }, { "cluster:1 rack:16 node:64 core:40", 0.55 }, { "cluster:1 node:777", 0.6 },
  } do
    it("fills the sheet with " .. case[1], function()
      local g <close> = weir.synthetic(case[1])
      local area, right, bottom = 0, 0, 0
      for x, y, w, h in draw(g):gmatch '</title><rect class="[^b][^"]*" x="(%d+)" y="(%d+)" width="(%d+)" height="(%d+)"' do
        area, right, bottom = area + w * h, math.max(right, x + w), math.max(bottom, y + h)
      end
      assert.is_true(right >= 0.8 * 1152 and right / bottom > 1.1, right .. " x " .. bottom)
      assert.is_true(area >= case[2] * right * bottom, area / (right * bottom))
    end)
  end

  it("frames cores that share a cache, and tells caches that cannot be framed behind the name", function()
    local g <close> = weir.synthetic "node:1 socket:2 core:6"
    local one, two = table.unpack(g:find "type=socket")
    one.properties.caches, two.properties.caches = "3 L3 of 4 MB, 6 L2 of 512 KB", "4 L3 of 4 MB"
    local text = draw(g)
    assert.same({ 3, 3, 6 }, { count(text, 'class="v"'), count(text, ">L3 4 MB<"), count(text, ">L2 512 KB<") })
    assert.truthy(text:find(">socket1   4 L3 of 4 MB<", 1, true))
  end)

  it("names nodes in a line of their own on a narrow sheet, too", function()
    local g <close> = weir.synthetic "cluster:1 rack:4 node:8 socket:2 core:6 gpu:1"
    assert.equal(32, count(draw(g, { width = 500 }), '<text class="m" [^>]*>node%d+<'))
  end)

  it("frames no cores of a socket where further cores of it are elsewhere", function()
    local g <close> = weir.synthetic "node:1 socket:1[numanode:1[core:8] core:8]"
    g:find("type=socket")[1].properties.caches = "8 L3 of 4 MB"
    local text = draw(g)
    assert.same({ 0, 1 }, { count(text, 'class="v"'), count(text, ">socket0   8 L3 of 4 MB<") })
  end)

  it("draws network adapters where they hang, and where devices are on PCI", function()
    local g <close> = weir.synthetic "node:1 socket:2[core:4 gpu:1]"
    local socket, gpu = g:find "type=socket"[2], g:find "type=gpu"[2]
    socket.properties.nics = "ib0 mlx5_0 0000:91:00.0; eth0"
    gpu.properties.pci, gpu.properties.bridges = "0000:84:00.0", "0000:80:03.0 0000:82:00.0"
    local text = draw(g)
    assert.equal(2, count(text, 'class="d"'))
    for _, part in ipairs { ">nic ib0 mlx5_0<", ">PCI 0000:91:00.0<", ">nic eth0<", ">PCI 0000:84:00.0<", ">bridge 0000:80:03.0<" } do
      assert.truthy(text:find(part, 1, true), part)
    end
  end)

  it("tells gpus, memory and storage from cores, with models, sizes and caches", function()
    local g <close> = weir.synthetic "node:1 socket:1 core:2 gpu:1 memory:1(size=64,unit=GB) storage:1(size=2,unit=TB)"
    g:find("type=gpu")[1].properties.model = "Test GPU"
    g:find("type=socket")[1].properties.caches = "1 L3 of 8 MB"
    local text = draw(g)
    for _, part in ipairs { '<rect class="fgpu"', '<rect class="fmemory"', '<rect class="fstorage"', ">free gpu<", ">Test GPU<",
      ">64 GB<", ">2 TB<", ">L3 8 MB<" } do
      assert.truthy(text:find(part, 1, true), part)
    end
  end)

  it("draws more types in a block than there are grids", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "thing", id = 0 }))
    for i = 1, 14 do assert(g:add(top, { type = "type" .. i, id = i })) end
    assert.equal(14, count(draw(g), 'class="cell"'))
  end)

  it("escapes names of any kind, and cuts long ones", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster", name = 'a <b> & "c"' }))
    for _, name in ipairs { "<&>\"'", "]]>", "\u{FFFF}\u{FFFE}", "\u{673A}\u{5668}", "<script>alert(1)<script>", "\255\254bad" } do
      assert(g:add(assert(g:add(top, { type = "node", name = name })), { type = "core", name = name }))
    end
    for i = 1, 50 do assert(g:add(top, { type = "node", name = ("&"):rep(5000) .. i })) end
    top.tags["<k>"] = "a\tb\27[1m</text>\255\xC3."
    local text = draw(g, { by = "tag.<k>" })
    assert.truthy(text:find(">&lt;k&gt;: a", 1, true))
    assert.truthy(text:find("&lt;/text&gt;\u{FFFD}\u{FFFD}.<", 1, true))
    assert.truthy(text:find("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>", 1, true))
    assert.is_nil(text:find("<script", 1, true))
    assert.is_true(#text < 120000)
  end)

  it("is bounded where every cell is as costly as it can be", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster", id = 0 }))
    for i = 1, 6000 do
      local node = assert(g:add(top, { type = "node", name = ('"'):rep(290) .. i }))
      for k = 0, 7 do assert(assert(g:add(node, { type = "core", id = k })):allocate { job = 8 * i + k }) end
    end
    local text = draw(g)
    assert.is_true(count(text, 'class="cell"') > 500)
  end)

  it("shows a tree as deep as can be, several roots, and nothing at all", function()
    local g <close> = weir.new()
    assert.truthy(draw(g):find(">nothing<", 1, true))
    local v
    for i = 1, 200 do v = assert(g:add(v, { type = "level", id = i })) end
    for i = 0, 39 do
      local root = assert(g:add(nil, { type = "root", id = i }))
      for k = 0, i do assert(g:add(root, { type = i % 3 > 0 and "leaf" or "twig", id = k })) end
    end
    assert.equal(1 + 820, count(draw(g), 'class="cell"'))
  end)

  -- Two racks of two nodes: a job on node0, two on a memory, a reservation, states, a property.
  local function busy()
    local g = weir.synthetic "cluster:1 rack:2 node:2 socket:2 core:4 gpu:1 memory:1(size=64,unit=GB)"
    assert(g "/cluster0/rack0/node0":allocate { job = 1 })
    assert(g "/cluster0/rack0/node1/socket0/core0":allocate { job = 2 })
    assert(g "/cluster0/rack0/node1/socket0/memory0":allocate { job = 2, amount = 24 })
    assert(g "/cluster0/rack0/node1/socket0/memory0":allocate { job = 13, amount = 8 })
    assert(g "/cluster0/rack1/node2":allocate { job = 3, start = 100, duration = 10 })
    g "/cluster0/rack1/node2".state, g "/cluster0/rack1/node3".state = "degraded", "down"
    g "/cluster0/rack0".properties.row, g "/cluster0/rack1".properties.row = "a", "b"
    return g
  end

  for _, case in ipairs {
    { nil, "<title>/cluster0/rack0/node0/socket0/core0\njob 1</title><rect class=\"jb0\"" },
    { nil, "/node1/socket0/memory0\n64 GB\njob 2: 38 %\njob 13: 13 %</title>" },
    { nil, "/node2/socket0/core0\ndegraded\nreserved for job 3</title>" },
    { nil, "/node3/socket1/gpu1\ndown</title><rect class=\"x\"" }, { nil, ">job 2: 1 core, 24 GB memory</text>" },
    { "state", "/node3/socket1/gpu1\ndown</title><rect class=\"s1\"" }, { "state", ">degraded</text>" },
    { "type", ">memory</text>" }, { "property.row", "/node3/socket1/gpu1\ndown\nrow: b</title><rect class=\"jb0\"" },
    { "property.row", ">row: b</text>" }, { "tag.none", "/node0/socket0/core0\njob 1</title><rect class=\"f\"" },
  } do
    it(("by %s has %q"):format(case[1], case[2]), function()
      local g <close> = busy()
      assert.truthy(draw(g, { by = case[1] }):find(case[2], 1, true))
    end)
  end

  it("shows the value of the nearest vertex above, also above where it begins", function()
    local g <close> = busy()
    g "/cluster0/rack0/node1".properties.row = "c"
    assert.truthy(draw(g, { by = "property.row", start = "/cluster0/rack0/node1/socket0" }):find(">row: c</text>", 1, true))
    assert.truthy(draw(g, { by = "property.row", start = "/cluster0/rack1/node3" }):find(">row: b</text>", 1, true))
  end)

  it("tells a reservation from an allocation where its time has come, but not its turn", function()
    local g <close> = weir.synthetic "node:1 core:1"
    local e = weir.engine { resources = g, overrun = "hold" }
    local short = { resources = { { type = "core", count = 1 } }, attributes = { system = { duration = 10 } } }
    short.resources = { { type = "slot", count = 1, label = "t", with = { { type = "core", count = 1 } } } }
    assert(e:match(short))
    assert.equal("reserved", assert(e:match(short, { mode = "reserve" })).state)
    e:advance(15)
    local text = draw(g)
    assert.truthy(text:find("core0\njob 1\nreserved for job 2</title>", 1, true), text)
  end)

  it("tells six jobs of a cell by number, and the others together", function()
    local g <close> = weir.synthetic "cluster:1 node:3000 core:2"
    local node = g "/cluster0/node7"
    for i = 1, 300 do assert(assert(g:add(node, { type = "core", id = 99 + i })):allocate { job = i }) end
    local cell = draw(g):match "<title>(/cluster0/node7\n.-)</title>"
    assert.equal(7, count(cell, "\n"))
    assert.matches("\nother jobs: 97 %%$", cell)
  end)

  it("tells facts whole, in as many lines as the width asks for", function()
    local g <close> = weir.synthetic "cluster:1 rack:6 node:12 socket:2 core:8 gpu:1 memory:1(size=64,unit=GB)"
    for i, state in ipairs { "down", "draining", "degraded", "failing" } do g("/cluster0/rack" .. i).state = state end
    assert(g "/cluster0/rack0":allocate { job = 1 })
    for width = 400, 1400, 200 do
      local facts = {}
      for line in draw(g, { width = width }):gmatch '<text class="m" x="24"[^>]*>([^<]*)</text>' do facts[#facts + 1] = line end
      facts = table.concat(facts, " \u{B7} ")
      assert.equal("72 node \u{B7} 1,152 core, 17 % in use \u{B7} 144 gpu, 17 % in use \u{B7} 9,216 GB memory, 17 % in use "
        .. "\u{B7} 12 node down \u{B7} 12 node degraded \u{B7} 12 node failing \u{B7} 12 node draining \u{B7} 1 job", facts)
    end
  end)

  it("has a legend of so many values and jobs", function()
    local g <close> = weir.synthetic "cluster:1 node:40 core:2"
    for i, v in ipairs(g:find "type=node") do
      v.properties.place = ("v%02d"):format(i)
      assert(v:allocate { job = i })
    end
    assert.truthy(draw(g, { by = "property.place" }):find(">and 10 more values<", 1, true))
    assert.truthy(draw(g):find(">and 10 more jobs<", 1, true))
  end)

  it("says that it leaves out what is within small boxes, and draws it when told to", function()
    local g <close> = weir.synthetic "cluster:1 rack:40 node:26 core:8"
    local left_out = "what is within small boxes is left out: --all draws it"
    local coarse, all = draw(g), draw(g, { all = true, width = 4000 })
    assert.same({ true, false }, { coarse:find(left_out, 1, true) ~= nil, all:find(left_out, 1, true) ~= nil })
    assert.same({ 1040, 8320 }, { count(coarse, 'class="cell"'), count(all, 'class="cell"') })
    local small <close> = weir.synthetic "node:4 core:2"
    assert.falsy(draw(small):find(left_out, 1, true))
  end)

  for _, case in ipairs {
    { { width = 319 }, "a width of 319: expected 320 to 8000" }, { { width = 8001 }, "a width of 8001" },
    { { by = "property." }, "one of job, state, type, property.KEY, tag.KEY" }, { { by = "x.y" }, "colours by" },
  } do
    it("is refused: " .. case[2], function()
      local g <close> = weir.synthetic "node:1"
      local text, why, code = g:format("svg", case[1])
      assert.same({ nil, "invalid" }, { text, code })
      assert.truthy(why:find(case[2], 1, true), why)
    end)
  end

  local MACHINES = { "cluster:1 rack:3 node:4 socket:2 core:4 gpu:1 memory:1(size=16,unit=GB)", "node:3 core:7 memory:2(size=100,unit=GB)",
    "cluster:1 rack:30 node:40 core:8", "cluster:1[rack:3[node:5[core:2] nic:2] shelf:2[disk:13] switch:4]", "rack:2 node:9", "core:5" }
  local NAMES = { "a<b&", "h\u{E9}llo-a-long-name-that-is-longer", "\255", "]]>", "\u{FFFF}", '"' }
  local STATES = { "down", "draining", "degraded", "failing", "unknown", "null" }

  local function change(g, list)
    local v = list[math.random(#list)]
    local what = math.random(6)
    if what == 1 then v.state = STATES[math.random(6)]
    elseif what == 2 then v.properties.p = ({ "1", "10", NAMES[math.random(#NAMES)], "" })[math.random(4)]
    elseif what == 3 then v:allocate { job = math.random(500), amount = math.random(0, 2), start = math.random(0, 1) * 5, duration = 10 }
    elseif what == 4 then v:allocate { job = math.random(500) }
    elseif what == 5 then g:add(v, { type = "core", name = NAMES[math.random(#NAMES)] })
    else v.tags["\255<"] = NAMES[math.random(#NAMES)] end
  end

  for seed = 1, 12 do
    it("is well-formed, bounded and the same twice with anything on the machine; seed " .. seed, function()
      math.randomseed(seed)
      local g <close> = weir.synthetic(MACHINES[math.random(#MACHINES)])
      local list = g:find "size>=0"
      for _ = 1, math.random(0, 60) do change(g, list) end
      for _, by in ipairs { "job", "state", "type", "property.p", "tag.\255<" } do
        local opts = { by = by, width = math.random(2) == 1 and math.random(320, 3000) or nil,
          start = math.random(3) == 1 and list[math.random(#list)] or nil }
        assert.equal(draw(g, opts), g:format("svg", opts))
      end
    end)
  end
end)

describe("texts of a picture", function()
  for _, case in ipairs { { 0, "0 %" }, { 0.001, "1 %" }, { 0.5, "50 %" }, { 0.999, "99 %" }, { 1, "100 %" } } do
    it("has " .. case[1] .. " as " .. case[2], function() assert.equal(case[2], texts.percent(case[1])) end)
  end

  for _, case in ipairs { { 0, "0" }, { 999, "999" }, { 1000, "1,000" }, { 1234567, "1,234,567" } } do
    it("has " .. case[1] .. " as " .. case[2], function() assert.equal(case[2], words.number(case[1])) end)
  end

  it("are cut between characters", function()
    assert.is_nil(texts.cut("\u{673A}\u{5668}", 10, 12))
    assert.equal("ab", texts.cut("ab", 10, 100))
    assert.equal("\u{673A}\u{2026}", texts.cut("\u{673A}\u{5668}\u{673A}", 10, 21))
    for n = 100, 140 do assert.truthy(utf8.len(texts.shorten(("x"):rep(n - 99) .. ("\u{673A}"):rep(60)))) end
  end)

  it("are white on dark colours", function()
    assert.same({ true, false, true, false }, { palette.is_dark "#332288", palette.is_dark "#44aa99", palette.is_dark "#000000",
      palette.is_dark "#ffffff" })
  end)
end)
