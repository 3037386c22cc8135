-- Pictures of machines for Graphviz: texts by hand, and bounds, quotes and equal bytes for every machine and every name.
local boxes = require "weir.view.boxes"
local weir = require "weir"

local HAS_DOT = os.execute "command -v dot >/dev/null"

-- Fails unless each line of the text is a statement of known form whose quotes are closed.
local function check(text)
  assert.truthy(utf8.len(text))
  assert.is_nil(text:find "[%c\127]" and text:gsub("\n", ""):find "[%c\127]")
  local head, body = text:match "^(digraph weir {\n.-fontsize=9%];\n)(.*)}\n$"
  assert.truthy(head)
  for line in body:gmatch "[^\n]*" do
    local bare, strings = line:gsub("\\.", ""):gsub('"[^"]*"', "Q")
    assert.truthy(line == "" or bare:find "^  v%d+ %[label=Q[%l%d =Q]*%];$" or bare:find "^  v%d+ %-> v%d+;$"
      or bare:find "^  v%d+ %-> v%d+ %[style=dashed color=Q fontcolor=Q label=Q%];$", line)
    assert.is_true(strings <= 5)
  end
  return body
end

-- Fails unless Graphviz, where installed, takes the text.
local function try(text)
  if not HAS_DOT then return end
  local pipe = assert(io.popen("dot -Tsvg >/dev/null 2>&1", "w"))
  pipe:write(text)
  assert.is_true(pipe:close())
end

local function draw(g, opts)
  local text = assert(g:format("dot", opts))
  return check(text), text
end

local function count(text, part) return select(2, text:gsub(part, "")) end
local function boxes_of(body) return count(body, "\n?  v%d+ %[label=") end

local PART, USED = ' fillcolor="#d6e6f4"];\n', ' fillcolor="#8fbfe3"];\n'
local OUT = ' style="rounded,filled,dashed" fillcolor="#d0d7de"];\n'

describe("a Graphviz picture", function()
  -- A node with cores in every use and state, a name with every quote, and edges.
  local function small()
    local g = weir.new()
    local node, cores, memory = assert(g:add(nil, { type = "node", id = 0 })), {}, {}
    for i = 0, 7 do cores[i] = assert(g:add(node, { type = "core", id = i })) end
    assert(g:add(node, { type = "core", name = 'odd"co\\re"' }))
    for i = 0, 1 do memory[i] = assert(g:add(node, { type = "memory", id = i, size = 64, unit = "GB" })) end
    for _, i in ipairs { 5, 6 } do assert(cores[i]:allocate { job = 3 }) end
    assert(memory[1]:allocate { job = 3, amount = 24 })
    cores[1].state = "down"
    assert(g:unlink(cores[3]))
    for _, i in ipairs { 0, 7 } do assert(g:add_edge(memory[0], cores[i], { subsystem = "near", type = "feeds" })) end
    return g, cores
  end

  it("shows use, states, names and edges", function()
    local g <close> = small()
    local body, text = draw(g)
    assert.equal('  v0 [label="node0\\npartly in use"' .. PART
      .. '  v0 -> v1;\n  v1 [label="core[0,7] x2"];\n'
      .. '  v0 -> v2;\n  v2 [label="core1\\ndown"' .. OUT
      .. '  v0 -> v3;\n  v3 [label="core[2,4] x2"];\n'
      .. '  v0 -> v5;\n  v5 [label="core[5-6] x2\\njob 3"' .. USED
      .. '  v0 -> v8;\n  v8 [label="odd\\"co\\\\re\\""];\n'
      .. '  v0 -> v9;\n  v9 [label="memory0\\n64 GB"];\n'
      .. '  v0 -> v10;\n  v10 [label="memory1\\n24 of 64 GB in use"' .. PART
      .. '  v9 -> v1 [style=dashed color="#0072b2" fontcolor="#0072b2" label="near: feeds x2"];\n', body)
    try(text)
  end)

  it("begins at a vertex, and has a box and an arrow for each vertex and edge with `all`", function()
    local g <close>, cores = small()
    assert.equal('  v0 [label="core5\\njob 3"' .. USED, draw(g, { start = cores[5] }))
    local body, text = draw(g, { all = true })
    assert.same({ g:count(), 2 }, { boxes_of(body), count(body, "near: feeds\"") })
    try(text)
  end)

  it("takes use and state from above its start", function()
    local g <close> = weir.synthetic "cluster:1 node:2 core:2"
    assert(g "/cluster0/node0":allocate { job = 5 })
    g "/cluster0".state = "down"
    assert.equal('  v0 [label="core0\\njob 5" style="rounded,filled,dashed" fillcolor="#8fa3b5"];\n',
      draw(g, { start = "/cluster0/node0/core0" }))
  end)

  -- {machine, boxes, a label}
  for _, case in ipairs {
    { "cluster:1 rack:200 node:18 socket:2 core:20 gpu:2", 6, '"rack[0-199] x200"' },
    { "cluster:1 rack:200 node:18 socket:2 core:20 gpu:2", 6, '"core x20"' },
    { "cluster:1 node:5000", 2, '"node[0-4999] x5000"' },
  } do
    it(("has %d boxes for %s, with %s"):format(case[2], case[1], case[3]), function()
      local g <close> = weir.synthetic(case[1])
      local body = draw(g)
      assert.equal(case[2], boxes_of(body))
      assert.truthy(body:find(case[3], 1, true))
    end)
  end

  it("sums up the nodes where all differ", function()
    local g <close> = weir.synthetic "cluster:1 rack:30 node:20 core:64"
    for i, v in ipairs(g:find "type=node") do
      for k = 0, i % 40 do assert(v:child(1 + (k * (1 + i // 40)) % 61):allocate { job = 100 * i + k }) end
    end
    local body, text = draw(g)
    assert.is_true(boxes_of(body) <= boxes.MOST)
    assert.truthy(body:find('1280 core"', 1, true))
    try(text)
  end)

  it("cuts a long list of ids at a comma, and lists no ids where a name or an id is none of an idset", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster", id = 0 }))
    for i = 0, 40 do assert(g:add(top, { type = "core", id = 1000 + 2 * i })) end
    for i = 0, 2 do assert(g:add(top, { type = "gpu", id = 5000000000 + i })) end
    local body = draw(g)
    assert.truthy(body:find('"core[1000,1002,1004,1006,1008,1010,1012,1014,...] x41"', 1, true), body)
    assert.truthy(body:find('"gpu5000000000, ... x3"', 1, true), body)
  end)

  it("draws an edge into a subtree that shares its boxes at the box, and none from outside", function()
    local g <close> = weir.synthetic "cluster:1 rack:60 node:10 core:4"
    local pdu = assert(g:add(nil, { type = "pdu", id = 0 }))
    for _, v in ipairs(g:find "type=core") do assert(g:add_edge(pdu, v, { subsystem = "power", type = "feeds" })) end
    local body = draw(g)
    assert.is_true(boxes_of(body) <= 5)
    assert.truthy(body:find("power: feeds x2400", 1, true), body)
    assert.equal(0, count(draw(g, { start = "/cluster0/rack7" }), "power"))
  end)

  it("keeps names of any kind inside their quotes", function()
    local g <close> = weir.new()
    local top = assert(g:add(nil, { type = "cluster", name = '"]; evil [label="' }))
    local names = { "\\", '\\"', "\\N\\G", "<b>", "\255\254bad", "\xC2", "\u{673A}", '"' }
    for _, name in ipairs(names) do
      local v = assert(g:add(top, { type = "node", name = name, size = 2, unit = name }))
      assert(g:add_edge(top, v, { subsystem = "s" .. name, type = name }))
    end
    local body, text = draw(g)
    assert.same({ 9, 8 }, { boxes_of(body), count(body, "dashed") })
    for _, part in ipairs { '"\\"]; evil [label=\\""', '"\\\\\\n2 \\\\"', '"\\\\N\\\\G\\n', '"\u{FFFD}\u{FFFD}bad' } do
      assert.truthy(body:find(part, 1, true), part)
    end
    try(text)
  end)

  it("shows a tree as deep as can be, several roots, and nothing at all", function()
    local g <close> = weir.new()
    assert.equal("", draw(g))
    local v
    for i = 1, 200 do v = assert(g:add(v, { type = "level", id = i })) end
    for i = 0, 39 do
      local root = assert(g:add(nil, { type = "root", id = i }))
      for k = 0, i do assert(g:add(root, { type = i % 3 > 0 and "leaf" or "twig", id = k })) end
    end
    assert.equal(200 + 80, boxes_of(draw(g)))
    assert.equal(g:count(), boxes_of(draw(g, { all = true })))
  end)

  it("tells a node in part use where units are as many as can be", function()
    local g <close> = weir.new()
    local node = assert(g:add(nil, { type = "node", id = 0 }))
    for i = 1, 4 do assert(g:add(node, { type = "t" .. i, id = 0, size = 1 << 58 })) end
    assert(g "/node0/t10":allocate { job = 1, amount = 1 })
    assert.truthy(draw(g):find('"node0\\npartly in use"', 1, true))
  end)

  local MACHINES = { "cluster:1 rack:3 node:4 socket:2 core:4 gpu:1 memory:1(size=16,unit=GB)", "node:3 core:7 memory:2(size=100,unit=GB)",
    "cluster:1 rack:30 node:40 core:8", "cluster:1[rack:3[node:5[core:2] nic:2] shelf:2[disk:13] switch:4]", "rack:2 node:9", "core:5" }
  local NAMES = { "a<b&", "h\u{E9}llo", "\255", "\\", "\u{FFFF}", '"' }
  local STATES = { "down", "draining", "degraded", "failing", "unknown", "null" }

  local function change(g, list)
    local v = list[math.random(#list)]
    local what = math.random(5)
    if what == 1 then v.state = STATES[math.random(6)]
    elseif what == 2 then
      g:add_edge(v, list[math.random(#list)], { subsystem = NAMES[math.random(#NAMES)], type = NAMES[math.random(#NAMES)] })
    elseif what == 3 then v:allocate { job = math.random(500), amount = math.random(0, 2), start = math.random(0, 1) * 5, duration = 10 }
    elseif what == 4 then v:allocate { job = math.random(500) }
    else g:add(v, { type = "core", name = NAMES[math.random(#NAMES)] }) end
  end

  for seed = 1, 12 do
    it("is well-formed, bounded and the same twice with anything on the machine; seed " .. seed, function()
      math.randomseed(seed)
      local g <close> = weir.synthetic(MACHINES[math.random(#MACHINES)])
      local list = g:find "size>=0"
      for _ = 1, math.random(0, 60) do change(g, list) end
      local start = list[math.random(#list)]
      for _, opts in ipairs { {}, { all = true }, { start = start }, { start = start, all = true } } do
        local body, text = draw(g, opts)
        assert.is_true(opts.all or boxes_of(body) <= boxes.MOST)
        assert.equal(text, g:format("dot", opts))
        if opts.all then assert.equal(opts.start and #g:find("size>=0", { start = start }) or g:count(), boxes_of(body)) end
      end
    end)
  end
end)
