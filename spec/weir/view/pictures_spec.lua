-- Pictures and tables of machines: the content of svg, dot and csv compared with the graph.
local missing = require "spec.support.missing"
local weir = require "weir"
local xml = require "spec.support.xml"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local DATA = os.getenv "WEIR_DATA" or "../shared/data"
local SVG_BYTES_MAX = 2000000

local function quote(text) return "'" .. text:gsub("'", [['\'']]) .. "'" end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

local function slurp(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- The output of a shell command, and its exit status.
local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

local function job(count, type, seconds)
  return { resources = { { type = "slot", count = count, label = "t", with = { { type = type, count = 1 } } } },
    attributes = { system = { duration = seconds or 100 } } }
end

-- A busy cluster: whole nodes, parts of nodes, a reservation, states.
local function cluster(racks, nodes)
  local g = weir.synthetic(("cluster:1 rack:%d node:%d socket:2 core:4 memory:1(size=64,unit=GB)"):format(racks, nodes))
  local e = weir.engine { resources = g, policy = { order = "id" } }
  for i = 1, racks do assert(e:match(job(1 + i % 2, "node"))) end
  assert(e:match(job(3, "core")))
  assert(e:match(job(racks * nodes // 2, "node"), { mode = "reserve" }))
  local list = g:find "type=node"
  list[#list].state, list[#list - 1].state = "down", "draining"
  return g, e
end

-- ---- SVG ----------------------------------------------------------------------------------------------------

local function each(element, f)
  for _, child in ipairs(element) do
    f(child)
    each(child, f)
  end
end

local function child_of(element, name)
  for _, child in ipairs(element) do
    if child.name == name then return child end
  end
end

-- {svg=, cells={path=, lines=, class=, x=, y=, w=, h=}, blocks=, texts=}
local function picture(g, opts)
  local text = assert(g:format("svg", opts))
  local out = { text = text, svg = child_of(xml(text), "svg"), cells = {}, blocks = {}, texts = {} }
  each(out.svg, function(e)
    local class = e.attributes.class
    if e.name == "text" then out.texts[#out.texts + 1] = e.text end
    if e.name ~= "g" or not class then return end
    local rect, lines = child_of(e, "rect"), {}
    for line in child_of(e, "title").text:gmatch "[^\n]+" do lines[#lines + 1] = line end
    local list = class == "cell" and out.cells or out.blocks
    list[#list + 1] = {
      path = lines[1], lines = lines, class = rect.attributes.class, x = tonumber(rect.attributes.x),
      y = tonumber(rect.attributes.y), w = tonumber(rect.attributes.width), h = tonumber(rect.attributes.height),
    }
  end)
  return out
end

local function by_path(list)
  local map = {}
  for _, item in ipairs(list) do map[item.path] = item end
  return map
end

local function overlap(a, b)
  return a.x < b.x + b.w and b.x < a.x + a.w and a.y < b.y + b.h and b.y < a.y + a.h
end

local function inside(a, b)
  return a.x >= b.x and a.y >= b.y and a.x + a.w <= b.x + b.w and a.y + a.h <= b.y + b.h
end

-- Cells that overlap, by a sweep from the left.
local function overlapping(cells)
  table.sort(cells, function(a, b) return a.x < b.x end)
  for i, a in ipairs(cells) do
    for k = i + 1, #cells do
      if cells[k].x >= a.x + a.w then break end
      if overlap(a, cells[k]) then return a.path .. " and " .. cells[k].path end
    end
  end
end

describe("svg", function()
  it("has a cell for each node where what is inside nodes is too much", function()
    local g <close> = cluster(30, 128)
    local p, nodes = picture(g), {}
    for i, v in ipairs(g:find "type=node") do nodes[i] = v.path end
    local found = {}
    for i, cell in ipairs(p.cells) do found[i] = cell.path end
    assert.same(nodes, found)
    assert.equal(30, #p.blocks)
  end)

  it("has a cell for each core and memory of a small machine", function()
    local g <close> = cluster(2, 3)
    local paths = {}
    for _, v in ipairs(g:find "leaf") do paths[#paths + 1] = v.path end
    local cells = by_path(picture(g).cells)
    for _, path in ipairs(paths) do assert.truthy(cells[path], path) end
  end)

  -- {name, description}
  for _, machine in ipairs {
    { "of racks", "cluster:1 rack:16 node:64" }, { "without racks", "cluster:1 node:777" },
    { "of one node", "node:1 socket:2 core:24 gpu:4 memory:2(size=64,unit=GB)" },
    { "of a deep tree", "site:1 room:2 row:3 rack:4 chassis:2 node:4 core:4" },
    { "of several types", "cluster:1[rack:3[node:5 nic:2] shelf:2[disk:13] switch:4]" },
    { "of 100,000 nodes", "cluster:1 rack:500 node:200" },
  } do
    it("draws machines " .. machine[1] .. " without overlaps, inside the page and their blocks", function()
      local g <close> = weir.synthetic(machine[2])
      local p = picture(g)
      local page = { x = 0, y = 0, w = tonumber(p.svg.attributes.width), h = tonumber(p.svg.attributes.height) }
      local blocks = by_path(p.blocks)
      for _, list in ipairs { p.cells, p.blocks } do
        for _, item in ipairs(list) do
          local parent = blocks[item.path:match "^(.+)/[^/]*$"]
          assert.is_true(inside(item, page), item.path)
          assert.is_true(not parent or inside(item, parent), item.path)
        end
      end
      assert.is_nil(overlapping(p.cells))
      assert.is_true(page.w <= 1200)
    end)
  end

  it("gives a job one colour, in every picture", function()
    local g <close>, e = cluster(4, 16)
    local before, class_of = picture(g), {}
    for _, cell in ipairs(before.cells) do
      local id = tonumber((cell.lines[2] or ""):match "^job (%d+)$")
      if id and cell.class:find "^j" then
        class_of[id] = class_of[id] or cell.class
        assert.equal(class_of[id], cell.class)
      end
    end
    assert.truthy(class_of[1] and class_of[2] and class_of[3] and class_of[4])
    assert.is_true(e:release(1))
    for _, cell in ipairs(picture(g).cells) do
      local id = tonumber((cell.lines[2] or ""):match "^job (%d+)$")
      if id and cell.class:find "^j" then assert.equal(class_of[id], cell.class) end
    end
  end)

  it("tells jobs side by side from each other", function()
    local g <close> = weir.synthetic "cluster:1 node:600"
    local e = weir.engine { resources = g, policy = "low" }
    for i = 1, 200 do
      assert(e:match(job(1 + i % 3, "node")))
      if i % 5 == 0 then e:release(i - 2) end
    end
    local before
    for _, cell in ipairs(picture(g).cells) do
      if before and cell.lines[2] and before.lines[2] and cell.lines[2] ~= before.lines[2] then
        assert.not_equal(before.class, cell.class, cell.path)
      end
      before = cell
    end
  end)

  it("draws the parts of a pool that jobs have, by their amounts", function()
    local g <close> = weir.synthetic "node:1 memory:1(size=100,unit=GB) core:4"
    local m = g "/node0/memory0"
    assert(m:allocate { job = 7, amount = 25 })
    assert(m:allocate { job = 8, amount = 50 })
    local svg, parts = picture(g).svg, {}
    each(svg, function(e)
      local title = e.attributes.class == "cell" and child_of(e, "title").text or ""
      if not title:find "memory0" then return end
      for _, shape in ipairs(e) do
        if shape.name == "rect" then parts[#parts + 1] = { shape.attributes.class, tonumber(shape.attributes.width) } end
      end
      assert.equal("/node0/memory0\n100 GB\njob 7: 25 %\njob 8: 50 %", title)
    end)
    local whole = parts[1][2]
    assert.equal("fmemory", parts[1][1])
    assert.is_true(math.abs(parts[2][2] - whole * 0.25) <= 1 and math.abs(parts[3][2] - whole * 0.5) <= 1)
  end)

  it("names what is down, draining and reserved, in words and in the legend", function()
    local g <close> = cluster(2, 4)
    local p = picture(g)
    local words = table.concat(p.texts, "\n")
    for _, word in ipairs { "\ndown\n", "\ndraining\n", "\nreserved\n", "\nfree\n", "job 1: 2 node" } do
      assert.truthy(words:find(word, 1, true), word)
    end
    assert.matches("p%-down", p.text)
    assert.equal("down", by_path(p.cells)["/cluster0/rack1/node7/socket1/core7"].lines[2])
  end)

  it("shows how much of a rack is in use where there are too many nodes", function()
    local g <close> = weir.synthetic "cluster:1 rack:500 node:100 core:2"
    local e = weir.engine { resources = g, policy = "low" }
    assert(e:match(job(150, "node")))
    local p = picture(g)
    assert.equal(500, #p.cells)
    assert.same({ "/cluster0/rack0", "100 % in use" }, p.cells[1].lines)
    assert.same({ "/cluster0/rack1", "50 % in use" }, p.cells[2].lines)
    assert.same({ "/cluster0/rack2" }, p.cells[3].lines)
  end)

  -- Racks drawn in place of their vertices: {change to the first of 500 racks, text of its cell}
  for _, case in ipairs {
    { "part of it is down", function(_, nodes) for i = 1, 30 do nodes[i].state = "down" end end, { "30 % down" } },
    { "of several states", function(_, nodes)
      for i = 1, 60 do nodes[i].state = i <= 20 and "down" or "draining" end
    end, { "20 % down", "40 % draining" } },
    { "the last of it is down", function(_, nodes) nodes[100].state = "down" end, { "1 % down" } },
    { "part of it is degraded", function(_, nodes) for i = 1, 30 do nodes[i].state = "degraded" end end, { "30 % degraded" } },
    { "one node will be a job's", function(_, nodes) nodes[5]:allocate { job = 9, start = 50, duration = 10 } end,
      { "reserved for job 9" } },
    { "several are, and the first of them counts", function(_, nodes)
      for i = 1, 3 do nodes[i]:allocate { job = i, start = 100 - 10 * i, duration = 10 } end
    end, { "reserved for job 3" } },
    { "many jobs have", function(e) for i = 1, 9 do assert(e:match(job(i, "node"))) end end, { "45 % in use" } },
  } do
    it("shows a rack: " .. case[1], function()
      local g <close> = weir.synthetic "cluster:1 rack:500 node:100 core:2"
      local nodes = {}
      for v in g "/cluster0/rack0":children() do nodes[#nodes + 1] = v end
      case[2](weir.engine { resources = g, policy = "low" }, nodes)
      local cells = picture(g).cells
      assert.same({ "/cluster0/rack0", table.unpack(case[3]) }, cells[1].lines)
      assert.same({ "/cluster0/rack1" }, cells[2].lines)
    end)
  end

  -- Nodes drawn in place of their cores and gpus: {title, the job of each core, of each gpu, text of the cell}
  for _, case in ipairs {
    { "a part", { 5, 5 }, {}, { "job 5: 25 %" } },
    { "some, by their numbers", { 9, 3, 3 }, {}, { "job 3: 25 %", "job 9: 13 %" } },
    { "one all cores, the other the gpus", { 1, 1, 1, 1, 1, 1, 1, 1 }, { 2, 2 }, { "job 1: 50 %", "job 2: 50 %" } },
    { "six are told, those that have most, and the others together", { 9, 8, 7, 6, 5, 4, 3, 3 }, {},
      { "job 3: 25 %", "job 4: 13 %", "job 5: 13 %", "job 6: 13 %", "job 7: 13 %", "job 8: 13 %", "other jobs: 13 %" } },
  } do
    it("shows the jobs in a node: " .. case[1], function()
      local g <close> = weir.synthetic "cluster:1 rack:16 node:64 [core:8 gpu:2]"
      for i, id in ipairs(case[2]) do assert(g("/cluster0/rack0/node0/core" .. i - 1):allocate { job = id }) end
      for i, id in ipairs(case[3]) do assert(g("/cluster0/rack0/node0/gpu" .. i - 1):allocate { job = id }) end
      assert.same({ "/cluster0/rack0/node0", table.unpack(case[4]) }, picture(g).cells[1].lines)
    end)
  end

  -- {by, class of the first cell, a line of the legend}
  for _, case in ipairs {
    { "state", "^s0$", "draining" }, { "type", "^ja0$", "node" }, { "property.class", "^ja0$", "class: 2" },
    { "tag.owner", "^f$", "owner: me" }, { "job", "^jb0$", "job 1: 2 node" },
  } do
    it("colours by " .. case[1], function()
      local g <close> = cluster(30, 128)
      for i, v in ipairs(g:find "type=node") do v.properties.class = tostring(2 + i // 200 * 8) end
      g("/cluster0/rack9").tags.owner = "me"
      local p = picture(g, { by = case[1] })
      assert.matches(case[2], p.cells[1].class)
      assert.truthy(("\n" .. table.concat(p.texts, "\n") .. "\n"):find("\n" .. case[3] .. "\n", 1, true))
    end)
  end

  it("shows a value of all that is below a cell, and says where there are several", function()
    local g <close> = weir.synthetic "cluster:1 rack:500 node:100 core:2"
    for _, case in ipairs { { "rack0", 100 }, { "rack1", 40 } } do
      local i = 0
      for v in g("/cluster0/" .. case[1]):children() do
        i = i + 1
        if i <= case[2] then v.properties.class = "2" end
      end
    end
    local p = picture(g, { by = "property.class" })
    assert.equal(500, #p.cells)
    assert.same({ "ja0", "x", "f" }, { p.cells[1].class, p.cells[2].class, p.cells[3].class })
    assert.same({ { "/cluster0/rack0", "class: 2" }, { "/cluster0/rack1", "class: several values" }, { "/cluster0/rack2" } },
      { p.cells[1].lines, p.cells[2].lines, p.cells[3].lines })
    assert.matches("\nnone\nseveral values\nclass: 2$", table.concat(p.texts, "\n"))
  end)

  it("orders values by number", function()
    local g <close> = weir.synthetic "cluster:1 node:3"
    for i, value in ipairs { "10", "9", "x" } do g("/cluster0/node" .. i - 1).properties.p = value end
    assert.matches("p: 9\np: 10\np: x$", table.concat(picture(g, { by = "property.p" }).texts, "\n"))
  end)

  it("keeps to the width", function()
    local g <close> = weir.synthetic "cluster:1 node:500"
    for _, width in ipairs { 320, 500, 3000 } do
      assert.is_true(tonumber(picture(g, { width = width }).svg.attributes.width) <= width)
    end
  end)

  it("shows a part of a machine, in the state of what is above", function()
    local g <close>, e = cluster(2, 4)
    g("/cluster0").state = "down"
    assert(e:job(1))
    local p = picture(g, { start = "/cluster0/rack0/node1" })
    assert.equal(10, #p.cells)
    assert.equal("/cluster0/rack0/node1", p.texts[1])
    assert.same({ "/cluster0/rack0/node1/socket0/core0", "down", "job 1", "reserved for job 4" }, p.cells[1].lines)
  end)

  it("gives the same bytes for the same graph", function()
    local g <close> = cluster(8, 32)
    local copy <close> = g:dup()
    assert.equal(g:format "svg", copy:format "svg")
  end)

  for _, name in ipairs { "grug/sierra.graphml", "hwloc/corona.xml", "grug/disaggr.graphml", "jgf/tiny.json" } do
    local path = DATA .. "/machines/" .. name
    local test = missing.it_with(exists(path), missing.data(path), it, pending)
    test("draws " .. name .. " in bounds", function()
      local g <close> = assert(weir.load(path))
      local p = picture(g)
      assert.is_true(#p.text <= SVG_BYTES_MAX)
      assert.is_true(#p.cells > 20)
      assert.is_nil(overlapping(p.cells))
    end)
  end
end)

-- ---- tables -------------------------------------------------------------------------------------------------

-- RFC 4180, by its definition: quoted fields hold any text, and two quotes in a quoted field are one.
local function read_csv(text)
  local rows, row, position = {}, {}, 1
  while position <= #text do
    local value, stop
    if text:sub(position, position) == '"' then
      local from = position + 1
      stop = from
      repeat stop = assert(text:find('"', stop, true), "a quote without an end") + 2 until text:sub(stop - 1, stop - 1) ~= '"'
      value, stop = text:sub(from, stop - 3):gsub('""', '"'), stop - 1
    else
      stop = text:find("[,\n]", position)
      value = text:sub(position, stop - 1)
    end
    row[#row + 1] = value
    local mark = text:sub(stop, stop)
    assert(mark == "," or mark == "\n", "a field ends with " .. mark)
    if mark == "\n" then
      rows[#rows + 1], row = row, {}
    end
    position = stop + 1
  end
  return rows
end

-- Rows by column name.
local function table_of(text)
  local rows = read_csv(text)
  local heads, out = table.remove(rows, 1), {}
  for i, row in ipairs(rows) do
    assert.equal(#heads, #row)
    out[i] = {}
    for k, head in ipairs(heads) do out[i][head] = row[k] end
  end
  return out
end

local function text_of(value) return value == nil and "" or tostring(value) end

describe("csv", function()
  it("has a row for every vertex, with what the vertex says", function()
    local g <close> = cluster(2, 3)
    g:add(nil, { type = "pdu", id = 4, size = 9, unit = "kW", exclusive = true })
    local rows, list = table_of(assert(g:format "csv")), g:find "size>=0"
    assert.equal(g:count(), #rows)
    for i, v in ipairs(list) do
      local row = rows[i]
      for _, field in ipairs { "path", "type", "basename", "id", "name", "size", "unit", "state", "rank", "free" } do
        assert.equal(text_of(v[field]), row[field], v.path .. " " .. field)
      end
      assert.equal(#g:find("allocated=" .. row.allocated .. " and path=" .. v.path), 1, v.path)
      assert.equal(v.exclusive and "true" or "", row.exclusive)
    end
  end)

  it("names the jobs at, below and above a vertex as ranges", function()
    local g <close> = cluster(2, 3)
    local function expand(text)
      local ids = {}
      for part in text:gmatch "[^,]+" do
        local lo, hi = part:match "^(%d+)%-?(%d*)$"
        for id = tonumber(lo), tonumber(hi) or tonumber(lo) do ids[#ids + 1] = id end
      end
      return ids
    end
    for i, row in ipairs(table_of(assert(g:format "csv"))) do
      assert.same(g(row.path):jobs(), expand(row.jobs), i .. " " .. row.path)
    end
  end)

  it("brings any text through", function()
    local g <close> = weir.synthetic "node:1"
    local v = g "/node0"
    local odd = 'a,"b"\r\n;c=\\d '
    v.properties.odd, v.tags["k;=\\"], v.data.x = odd, odd, { odd }
    local row = table_of(assert(g:format "csv"))[1]
    assert.equal("odd=" .. odd:gsub("[;=\\]", "\\%0"), row.properties)
    assert.equal("k\\;\\=\\\\=" .. odd:gsub("[;=\\]", "\\%0"), row.tags)
    assert.same({ x = { odd } }, weir.json.decode(row.data))
  end)

  it("has the rows of a part", function()
    local g <close> = cluster(2, 3)
    local rows = table_of(assert(g:format("csv", { start = g "/cluster0/rack1/node4" })))
    assert.equal(1 + 2 * (1 + 4 + 1), #rows)
    assert.equal("/cluster0/rack1/node4", rows[1].path)
  end)
end)

-- ---- Graphviz -----------------------------------------------------------------------------------------------

describe("dot", function()
  local test = missing.it_with(os.execute "command -v dot >/dev/null", missing.program("dot", "graphviz"), it, pending)

  test("is what Graphviz takes, with a box for each label", function()
    local g <close> = cluster(2, 4)
    local panel = g:add(nil, { type = "panel", name = 'p "1" \\N', size = 5, unit = "kW" })
    for _, v in ipairs(g:find "type=node") do g:add_edge(panel, v, { subsystem = "power", type = "supplies" }) end
    local path = os.tmpname()
    assert(g:save(path, { format = "dot" }))
    local drawn, status = run("dot -Tsvg " .. quote(path))
    os.remove(path)
    assert.equal(0, status)
    local _, boxes = drawn:gsub('class="node"', "")
    local _, labels = (g:format "dot"):gsub("\n  v%d+ %[label", "")
    assert.equal(labels, boxes)
    assert.truthy(drawn:find("p &quot;1&quot; \\N", 1, true))
  end)

  it("draws alike siblings as one, and the others apart", function()
    local g <close> = weir.synthetic "cluster:1 node:3 core:40"
    g("/cluster0/node1/core7").state = "down"
    local text = g:format "dot"
    assert.truthy(text:find('"core[0-39] x40"', 1, true))
    assert.truthy(text:find('"core[0-6,8-39] x39"', 1, true))
    assert.truthy(text:find('"core7\\ndown"', 1, true))
  end)

  it("has so many boxes at most, whatever the machine is", function()
    local g <close>, e = cluster(60, 100)
    for _ = 1, 300 do e:match(job(math.random(9), "core")) end
    local _, boxes = (g:format "dot"):gsub("label=", "")
    assert.is_true(boxes <= 400)
  end)

  it("has a box for each vertex if all are wanted", function()
    local g <close> = cluster(2, 4)
    local _, boxes = (g:format("dot", { all = true })):gsub("label=", "")
    assert.equal(g:count(), boxes)
  end)
end)

-- ---- g:format and g:write -----------------------------------------------------------------------------------

describe("the options of", function()
  local g, other

  setup(function() g, other = weir.synthetic "node:1 core:2", weir.synthetic "node:1" end)
  teardown(function()
    g:close()
    other:close()
  end)

  -- {format, options, part of the message}
  for _, case in ipairs {
    { "svg", { bye = 1 }, "there is no option 'bye' here" }, { "svg", { by = 1 }, "field 'by': string expected" },
    { "svg", { width = "1" }, "field 'width': integer expected" }, { "dot", { all = 1 }, "field 'all': boolean expected" },
    { "csv", { start = 5 }, "vertex" },
  } do
    it("a " .. case[1] .. " are checked: " .. case[3], function()
      local ok, why = pcall(g.format, g, case[1], case[2])
      assert.is_false(ok)
      assert.truthy(why:find(case[3], 1, true), why)
    end)
  end

  -- {format, options, part of the message, code}
  for _, case in ipairs {
    { "csv", { start = "/node0/core9" }, "core9", "unknown" }, { "svg", { width = -1 }, "a width of", "invalid" },
    { "svg", { by = "x" }, "one of job, state", "invalid" }, { "tree", { all = true }, "without the option `all`", "invalid" },
  } do
    it("a " .. case[1] .. " fail: " .. case[3], function()
      local text, why, code = g:format(case[1], case[2])
      assert.is_nil(text)
      assert.truthy(why:find(case[3], 1, true), why)
      assert.equal(case[4], code)
    end)
  end

  it("a start of another graph raises", function()
    assert.error_matches(function() g:format("svg", { start = other:root() }) end, "another graph")
  end)

  it("g:write writes what g:format gives, and needs an open file", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    assert.is_true(g:write(file, "csv"))
    file:close()
    assert.equal(g:format "csv", slurp(path))
    os.remove(path)
    assert.error_matches(function() g:write(file, "csv") end, "the file is closed")
    assert.error_matches(function() g:write("x", "csv") end, "FILE")
    assert.equal("invalid", select(3, g:write(io.stdout, "png")))
  end)
end)

-- ---- weir show ----------------------------------------------------------------------------------------------

describe("weir show", function()
  local MACHINE = "-r 'cluster:1 node:4 core:2' "

  it("--svg draws jobs that were matched first", function()
    local text, status = run(BIN .. " show " .. MACHINE .. "-j slot=2/node -j slot=1/core --svg")
    assert.equal(0, status)
    assert.truthy(text:find("job 1: 2 node", 1, true))
    assert.truthy(text:find("/cluster0/node2/core0\njob 2<", 1, true))
    xml(text)
  end)

  it("--csv lists a part", function()
    local text = run(BIN .. " show " .. MACHINE .. "--csv /cluster0/node3")
    assert.equal(3, #table_of(text))
  end)

  it("-o puts it into a file, and says nothing", function()
    local path = os.tmpname()
    for _, format in ipairs { "svg", "csv", "dot" } do
      local text, status = run(("%s show %s--%s -o %s"):format(BIN, MACHINE, format, quote(path)))
      assert.same({ "", 0 }, { text, status })
      assert.equal(run(("%s show %s--%s"):format(BIN, MACHINE, format)), slurp(path))
    end
    os.remove(path)
  end)

  it("--csv ends quietly when nobody reads on", function()
    assert.equal("path", run(BIN .. " show -r 'cluster:1 node:3000 core:8' --csv | head -c 4"))
  end)

  it("--csv fails when it cannot be written", function()
    local text, status = run(BIN .. " show " .. MACHINE .. "--csv >/dev/full")
    assert.equal(2, status)
    assert.equal("", text)
  end)
end)
