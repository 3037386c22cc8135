-- Pictures over time and pages: weir show --timeline, --html, the report of a replay. The content is compared with
-- the graph; scripts run in Chromium where Chromium is installed.

local browser = require "spec.support.browser"
local missing = require "spec.support.missing"
local palette = require "weir.html.picture.palette"
local picture = require "weir.html.picture"
local report = require "weir.html.report"
local scene = require "weir.html.picture.scene"
local weir = require "weir"
local xml = require "spec.support.xml"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local in_browser = missing.it_with(browser.found, missing.program("chromium", "chromium"), it, pending)

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text, status
end

local function job(count, type, seconds, each)
  return { resources = { { type = "slot", count = count, label = "t", with = { { type = type, count = each or 1 } } } },
    attributes = { system = { duration = seconds } } }
end

-- Four nodes; jobs 1 to 4: all of node0, 2 cores, then all nodes reserved, then 5 GB.
local function small()
  local g = weir.synthetic "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)"
  local e = weir.engine { resources = g, policy = "low" }
  for _, words in ipairs { { 1, "node", 100 }, { 1, "core", 50, 2 }, { 4, "node", 200 } } do
    assert(e:match(job(table.unpack(words)), { mode = "reserve" }))
  end
  assert(g "/cluster0/rack0/node1/memory0":allocate { job = 4, amount = 5, start = 0, duration = 80 })
  return g, e
end

-- A machine of five racks with many jobs, now and later, on pools of all levels.
local function busy(seed)
  math.randomseed(seed)
  local g = weir.synthetic "cluster:1 rack:5 node:7 socket:2 core:5 memory:2(size=8)"
  local e = weir.engine { resources = g }
  local types = { "node", "core", "rack", "socket", "memory" }
  for _ = 1, 60 do e:match(job(math.random(12), types[math.random(5)], math.random(10, 500)), { mode = "reserve" }) end
  return g, e
end

local function data_of(html) return weir.json.decode((html:match '<script type="application/json" id="data">(.-)</script>')) end

-- ---- the content of a machine's page ------------------------------------------------------------------------------

-- How many vertices are below a vertex of a shape.
local function sizes_of(s)
  local sizes = {}
  local function size(shape)
    if not sizes[shape] then
      local runs, n = s.shapes[shape + 1], 0
      for i = 1, #runs, 6 do n = n + runs[i + 3] * (1 + size(runs[i + 4])) end
      sizes[shape] = n
    end
    return sizes[shape]
  end
  return size
end

-- The vertices of a scene in preorder: "path type size rank".
local function expand(s)
  local list, names = {}, {}
  for i = 1, #s.names, 2 do names[s.names[i]] = s.names[i + 1] end
  local function add(runs, above, rank)
    for i = 1, #runs, 6 do
      local kind = s.kinds[runs[i] + 1]
      for k = 0, runs[i + 3] - 1 do
        local path = above .. "/" .. (names[#list] or kind[2] .. runs[i + 1] + k * runs[i + 2])
        local own = runs[i + 5] >= 0 and runs[i + 5] + k or rank
        list[#list + 1] = ("%s %s %d %s"):format(path, kind[1], kind[3], own)
        add(s.shapes[runs[i + 4] + 1], path, own)
      end
    end
  end
  add(s.roots, s.prefix, nil)
  return list
end

local function preorder(g)
  local list = {}
  local function add(v)
    list[#list + 1] = v
    for child in v:children() do add(child) end
  end
  for _, v in ipairs(g:roots()) do add(v) end
  return list
end

local function use_text(job_id, start, stop, amount, exclusive, type)
  return ("%d %g %g %d %s %s"):format(job_id, start, stop, amount, exclusive, type)
end

-- By number of a vertex: the uses by jobs, sorted.
local function uses_of(s)
  local size, uses = sizes_of(s), {}
  for i = 1, #s.spans, 7 do
    local p, n, b, amount, exclusive, kind, shape = table.unpack(s.spans, i, i + 6)
    local booking = s.bookings[b + 1]
    for k = 0, n - 1 do
      local q = p + k * (1 + size(shape))
      uses[q] = uses[q] or {}
      table.insert(uses[q], use_text(booking[1], booking[2], booking[3] < 0 and math.huge or booking[3], amount, exclusive == 1,
        s.kinds[kind + 1][1]))
    end
  end
  for _, list in pairs(uses) do table.sort(list) end
  return uses
end

describe("the data of a machine's page", function()
  local function odd()
    local g = weir.synthetic "cluster:1 rack:2 node:3 core:4"
    g:add(g "/cluster0/rack1", { type = "node", name = "login", rank = 77 })
    g:add(g "/cluster0", { type = "pdu", id = 3, size = 0 })
    for i, v in ipairs(g:find "type=node") do v.rank = i < 4 and i + 9 or 99 - i end
    return g
  end

  for _, case in ipairs {
    { "of alike nodes", function() return weir.synthetic "cluster:1 rack:3 node:4 socket:2 core:3 memory:2(size=4)" end },
    { "with names, ranks and a pool of nothing", odd },
    { "of several roots", function() return weir.synthetic "node:3 core:2" end },
  } do
    it("names every vertex of a machine " .. case[1], function()
      local g <close> = case[2]()
      local wanted = {}
      for i, v in ipairs(preorder(g)) do wanted[i] = ("%s %s %d %s"):format(v.path, v.type, v.size, v.rank) end
      assert.same(wanted, expand(scene.of(g)))
    end)
  end

  for seed = 1, 5 do
    it("has who has what, now and later; seed " .. seed, function()
      local g <close> = busy(seed)
      local uses = uses_of(scene.of(g))
      for i, v in ipairs(preorder(g)) do
        local wanted = {}
        for k, use in ipairs(v:uses()) do
          wanted[k] = use_text(use.job, use.start, use["end"], use.amount, use.exclusive, v.type)
        end
        table.sort(wanted)
        assert.same(wanted, uses[i - 1] or {}, v.path)
      end
    end)
  end

  it("is small where much is alike", function()
    local g <close> = weir.synthetic "cluster:1 rack:240 node:42 socket:2 core:22 gpu:2"
    local e = weir.engine { resources = g }
    assert(e:match(job(5000, "node", 60)))
    assert.is_true(#picture.html(g) < 250000)
  end)

  it("begins at a part", function()
    local g <close> = small()
    local s = scene.of(g, g "/cluster0/rack1")
    assert.equal("/cluster0/rack1 rack 1 nil", expand(s)[1])
    assert.equal(13, s.count)
  end)
end)

describe("pages", function()
  local function evil()
    local g = weir.synthetic "cluster:1 node:1 core:2"
    local v = assert(g:add(g "/cluster0", { type = "node", name = "<b>&\"'" }))
    v.properties["<i>"] = "</script><!--"
    v.tags.t = "\255bad"
    return g
  end

  local function evil_run()
    return { title = "</script><b>", subtitle = "<i>", machine = { type = "<core>", total = 2, names = { "</title>", "b" } },
      jobs = { { id = "<b>", submit = 0, start = 0, finish = 1, resources = "0", user = "</script>", name = "<!--" } },
      metrics = { { name = "<b>", value = 1, unit = "<u>" } }, series = { ["<s>"] = { 0, 1 } } }
  end

  for _, case in ipairs {
    { "of a machine", function() return picture.html(evil()) end },
    { "of a report", function() return assert(report.html { evil_run() }) end },
  } do
    it(case[1] .. " load nothing, and say so", function()
      local html = case[2]()
      assert.truthy(html:find("content=\"default-src 'none'", 1, true))
      assert.is_nil(html:find "https?://")
      assert.is_nil(html:find "[%s<]src=")
      assert.is_nil(html:find "url%(")
      assert.is_nil(html:find "@import")
    end)

    it(case[1] .. " take names as texts", function()
      local html = case[2]()
      local _, scripts = html:gsub("<script", "")
      local _, ends = html:gsub("</script", "")
      assert.same({ 2, 2 }, { scripts, ends })
      assert.is_nil(html:find("<b>", 1, true))
      assert.is_nil(html:find("<!--", 1, true))
      assert.is_table(data_of(html))
    end)

    in_browser(case[1] .. " show names as texts", function()
      local text, dom = browser.load(case[2](), "q=<b>")
      assert.is_nil(dom:find("<b>", 1, true))
      assert.truthy(text:find("<b>", 1, true))
    end)
  end
end)

describe("the page of a machine", function()
  local function page()
    local g <close> = small()
    g "/cluster0/rack1/node3".state = "down"
    g "/cluster0/rack1/node2".properties.class = "7"
    return picture.html(g)
  end

  -- {title, address, texts on the page}
  local CASES = {
    { "tells what is in use now", "",
      "in use at 0 s|total|in use|cluster|1|1|37.5 %|rack|2|1|37.5 %|node|4|2|37.5 %|core|16|6|37.5 %|memory|64|21|32.8 %|" },
    { "lists the jobs of now", "", "3 jobs at 0 s|job 1, from 0 s to 100 s|job 2, from 0 s to 50 s|job 4, from 0 s to 80 s" },
    { "follows the slider: between jobs", "t=90", "1 job at 90 s|job 1, from 0 s to 100 s" },
    { "follows the slider: what is reserved", "t=100", "1 job at 100 s|job 3, reserved, from 100 s to 300 s" },
    { "tells of a whole node", "at=/cluster0/rack0/node0",
      "|/cluster0/rack0/node0|node, up, rank 0|0 of 1 free|in it: 4 core, 16 GB memory|job 1, from 0 s to 100 s|" },
    { "tells of a core in it", "at=/cluster0/rack0/node0/core2",
      "|/cluster0/rack0/node0/core2|core, up, rank 0|0 of 1 free|job 1, from 0 s to 100 s|" },
    { "tells of a part of a pool", "at=/cluster0/rack0/node1/memory0",
      "|/cluster0/rack0/node1/memory0|memory, up, rank 1|11 GB of 16 GB free|job 4, 31.3 %, from 0 s to 80 s|" },
    { "tells the state of what is above", "at=/cluster0/rack1/node3/core3", "|core, down, rank 3|0 of 1 free|" },
    { "finds by name", "q=node2", "|1 match|/cluster0/rack1/node2|" },
    { "finds by a part of a name", "q=memo", "|4 matches|/cluster0/rack0/node0/memory0|" },
    { "finds by path", "q=/cluster0/rack1/node2/core1", "|1 match|/cluster0/rack1/node2/core1|" },
    { "goes to the time of a job", "q=job 3", "1 job at 100 s|job 3, reserved" },
    { "has colours for a property", "colour=property:class", "colours|none|several values|class: 7|" },
    { "has colours for states", "colour=state", "colours|up|down|in use" },
    { "forgets what an address no longer says", "", "whole machine|<|>|play|0 s (now)|colours|" },
  }

  local POINTER = [=[
    const c = view.canvas, r = c.getBoundingClientRect(), k = view.k, told = [];
    c.setPointerCapture = () => {};
    const send = (type, x, y, more) => c.dispatchEvent(new (type === "wheel" ? WheelEvent : PointerEvent)(type,
      { clientX: r.left + x, clientY: r.top + y, cancelable: true, ...more }));
    send("wheel", 300, 200, { deltaY: -400 });
    told.push(view.k > k);
    const x = view.x;
    send("pointerdown", 300, 200);
    send("pointermove", 360, 200);
    send("pointerup", 360, 200);
    told.push(Math.abs(view.x - (x - 60 / view.k)) < 1e-9);
    const box = rectOf(vertexByPath("/cluster0/rack0/node1/core1"));
    send("pointermove", (box.x + box.w / 2 - view.x) * view.k, (box.y + box.h / 2 - view.y) * view.k);
    return told.concat(tip.box.firstChild.textContent);]=]

  local seen, results
  setup(function()
    local steps = {}
    for i, case in ipairs(CASES) do steps[i] = { case[2] } end
    steps[#steps + 1] = { "", POINTER }
    steps[#steps + 1] = { "", 'view.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "?" })); return ui.keys.open' }
    if browser.found then seen, results = browser.visit(page(), steps) end
  end)

  for i, case in ipairs(CASES) do
    in_browser(case[1], function() assert.truthy(seen[i]:find(case[3], 1, true), seen[i]) end)
  end

  in_browser("zooms with the wheel, moves by dragging, tells what is below the pointer", function()
    assert.equal("true,true,/cluster0/rack0/node1/core1", results[#CASES + 1])
  end)

  in_browser("lists its keys, which the key ? brings into view", function()
    assert.equal("true", results[#CASES + 2])
    assert.truthy(seen[1]:find("|Keys and pointer|drag, or", 1, true))
  end)

  in_browser("draws each vertex where the SVG picture has it", function()
    local g <close> = weir.synthetic "cluster:1 rack:2[node:3[socket:2[core:6 gpu:2] memory:1(size=9)] switch:1]"
    for _, v in ipairs(g:find "type=socket") do v.properties.caches = "2 L3 of 8 MB" end
    local places, paths = {}, {}
    for path, rect in g:format "svg":gmatch '<title>([^<\n]*)[^<]*</title><rect ([^>]*)>' do
      local x, y, w, h = rect:match ' x="(%d+)" y="(%d+)" width="(%d+)" height="(%d+)"'
      places[#places + 1], paths[#paths + 1] = table.concat({ x, y, w, h }, " "), weir.json.encode(path)
    end
    local _, told = browser.visit(picture.html(g), { { "", "return [" .. table.concat(paths, ",") .. [=[].map((path) => {
      const r = rectOf(vertexByPath(path)), k = Math.min(data.layout.most, 1152 / sheet.w), at = (x) => Math.floor(k * x + 0.5);
      return [at(r.x), at(r.y), at(r.x + r.w) - at(r.x), at(r.y + r.h) - at(r.y)].join(" ");
    }).join(",");]=] } })
    assert.is_true(#places > 100)
    local i = 0
    for place in told[1]:gmatch "[^,]+" do
      i = i + 1
      local drawn, svg = {}, {}
      for n in place:gmatch "%d+" do drawn[#drawn + 1] = tonumber(n) end
      for n in places[i]:gmatch "%d+" do svg[#svg + 1] = tonumber(n) end
      for n = 1, 4 do assert.is_true(math.abs(drawn[n] - svg[n]) <= 1, paths[i] .. ": " .. place .. " and " .. places[i]) end
    end
    assert.equal(#places, i)
  end)

  in_browser("draws and searches 10,080 nodes", function()
    local g <close> = weir.synthetic "cluster:1 rack:240 node:42 socket:2 core:22 gpu:2"
    local e = weir.engine { resources = g }
    assert(e:match(job(5000, "node", 60)))
    local text = browser.load(picture.html(g), "q=node7777&t=30")
    assert.truthy(text:find("1 match|/cluster0/rack185/node7777|", 1, true))
    assert.truthy(text:find("core|443,520|220,000|49.6 %|", 1, true))
  end)
end)

-- ---- timelines ----------------------------------------------------------------------------------------------------

-- {texts=, jobs = {by title: rectangles {x, y, w, h}}}
local function read_timeline(svg)
  local out = { texts = {}, jobs = {}, heat = 0 }
  local function visit(e)
    for _, child in ipairs(e) do
      if child.name == "text" then out.texts[#out.texts + 1] = child.text end
      local class = child.attributes.class or ""
      if child.name == "path" and class:find "^h%d" then out.heat = out.heat + 1 end
      if child.name == "path" and class:find "^job" then
        local list = {}
        for x, y, w, h in child.attributes.d:gmatch "M([%d.]+) ([%d.]+)h([%d.]+)v([%d.]+)h%-[%d.]+z" do
          list[#list + 1] = { x = tonumber(x), y = tonumber(y), w = tonumber(w), h = tonumber(h), class = class }
        end
        out.jobs[child[1].text] = list
      end
      visit(child)
    end
  end
  local root = xml(svg)
  visit(root)
  out.page = root[1].attributes
  return out
end

local function has(list, word)
  for _, w in ipairs(list) do
    if w == word then return true end
  end
  return false
end

describe("a timeline", function()
  it("has a lane for each node, and one for neighbours that are alike", function()
    local g <close> = small()
    local p = read_timeline(assert(picture.timeline(g)))
    for _, name in ipairs { "node0", "node1", "node[2-3]", "cluster0",
      "4 node \u{B7} 3 allocations \u{B7} 1 reservation \u{B7} 0 s to 300 s" } do
      assert.is_true(has(p.texts, name), name .. " is not in " .. table.concat(p.texts, "; "))
    end
  end)

  it("draws allocations and reservations apart", function()
    local g <close> = small()
    local p = read_timeline(assert(picture.timeline(g)))
    assert.same({ "job", 1 }, { p.jobs["job 1: 0 s to 100 s"][1].class, #p.jobs["job 1: 0 s to 100 s"] })
    local later = p.jobs["job 3, reserved: 100 s to 300 s"]
    assert.same({ "job r", 3 }, { later[1].class, #later })
  end)

  it("draws times to scale, and parts as heights", function()
    local g <close> = small()
    local p = read_timeline(assert(picture.timeline(g)))
    local whole, part = p.jobs["job 1: 0 s to 100 s"][1], p.jobs["job 2: 0 s to 50 s"][1]
    local later, memory = p.jobs["job 3, reserved: 100 s to 300 s"][1], p.jobs["job 4: 0 s to 80 s"]
    assert.near(later.x, whole.x + whole.w, 1.2)
    assert.near(2, later.w / whole.w, 0.02)
    assert.same({ 1, 2 }, { #p.jobs["job 2: 0 s to 50 s"], #memory }) -- job 4 is drawn on job 2 while both run
    assert.near(0.5, part.w / whole.w, 0.01)
    assert.near(0.5, part.h / whole.h, 0.02)
    assert.near(0.8, (memory[1].w + memory[2].w) / whole.w, 0.01)
    assert.near(5 / 16, memory[2].h / whole.h, 0.02)
  end)

  for _, case in ipairs { { "rack", { "rack0", "rack1" } },
    { "core", { "node0/core[0-3]", "node1/core[0-1]", "node1/core2 \u{2013} node3/core3" } },
    { "type", { "core", "16 in all", "memory" } } } do
    it("has lanes by " .. case[1], function()
      local g <close> = small()
      local p = read_timeline(assert(picture.timeline(g, { by = case[1] })))
      for _, name in ipairs(case[2]) do assert.is_true(has(p.texts, name), name) end
    end)
  end

  for seed = 1, 3 do
    for _, by in ipairs { "node", "rack", "core", "type" } do
      it(("draws no two jobs over one another, by %s; seed %d"):format(by, seed), function()
        local g <close> = busy(seed)
        local p, list = read_timeline(assert(picture.timeline(g, { by = by }))), {}
        for _, rects in pairs(p.jobs) do table.move(rects, 1, #rects, #list + 1, list) end
        table.sort(list, function(a, b) return a.x < b.x end)
        for i, a in ipairs(list) do
          assert.is_true(a.x >= 0 and a.x + a.w <= tonumber(p.page.width) and a.y + a.h <= tonumber(p.page.height))
          for k = i + 1, #list do
            local b = list[k]
            if b.x >= a.x + a.w - 0.9 then break end
            assert.is_false(a.y < b.y + b.h - 0.6 and b.y < a.y + a.h - 0.6, ("%g, %g and %g, %g"):format(a.x, a.y, b.x, b.y))
          end
        end
        assert.is_true(#list > 30)
      end)
    end
  end

  it("bundles nodes where there are too many to tell apart, and stays small", function()
    local g <close> = weir.synthetic "cluster:1 rack:100 node:40 core:2"
    local e = weir.engine { resources = g }
    math.randomseed(1)
    for i = 1, 300 do assert(e:match(job(math.random(30), i % 2 == 0 and "core" or "node", math.random(100)), { mode = "reserve" })) end
    for _, v in ipairs(g:find "type=node") do
      if v.id % 2 == 1 then v:allocate { job = 1000 + v.id, amount = 1, start = 1000, duration = v.id } end
    end
    local svg = assert(picture.timeline(g))
    local p = read_timeline(svg)
    assert.is_true(p.heat > 3)
    assert.same({}, p.jobs)
    assert.is_true(#svg < 500000)
    assert.is_true(has(p.texts, "node[0-9]"))
  end)

  -- Two nodes, one in use for a time from the wall clock's present on.
  local function of_today(seconds)
    local g = weir.synthetic "node:2 core:1"
    local e = weir.engine { resources = g }
    assert(e:advance(1795000000))
    assert(e:match("slot=1/node", { duration = seconds }))
    return g
  end

  it("has dates where the clock is that of the wall", function()
    local from = os.date("%Y-%m-%d %H:%M:%S", 1795000000)
    for seconds, to in pairs { [20] = "%H:%M:%S", [7200] = "%H:%M", [40 * 86400] = "%Y-%m-%d" } do
      local g <close> = of_today(seconds)
      local p = read_timeline(assert(picture.timeline(g)))
      assert.truthy(p.jobs[("job 1: %s to %s"):format(from, os.date("%Y-%m-%d %H:%M:%S", 1795000000 + seconds))])
      local ticks, like = 0, "^" .. os.date(to, 1795000000):gsub("%d", "%%d"):gsub("%-", "%%-") .. "$"
      for _, words in ipairs(p.texts) do
        assert.is_nil(words:find "%d d %d", words)
        ticks = ticks + (words:find(like) and 1 or 0)
      end
      assert.is_true(ticks >= 3, seconds)
    end
  end)

  in_browser("has dates on the page of a machine, too", function()
    local g <close> = of_today(60)
    local from, to = os.date("%Y-%m-%d %H:%M:%S", 1795000000), os.date("%Y-%m-%d %H:%M:%S", 1795000060)
    local text = browser.load(picture.html(g))
    assert.truthy(text:find(("from %s to %s"):format(from, to), 1, true), text)
  end)

  it("says where nothing is booked, and marks what has no end", function()
    local g <close> = weir.synthetic "node:2 core:1"
    assert.truthy(picture.timeline(g):find("no job has anything, now or later", 1, true))
    assert(weir.engine { resources = g }:match "slot=1/node")
    local text = picture.timeline(g)
    assert.truthy(text:find("job 1: 0 s to no end", 1, true))
    assert.truthy(text:find("what reaches the right edge has no end", 1, true))
  end)

  it("escapes names", function()
    local g <close> = weir.synthetic "cluster:1"
    assert(g:add(g "/cluster0", { type = "node", name = "<&\"\xff" }))
    assert.is_true(has(read_timeline(assert(picture.timeline(g))).texts, "<&\"\u{FFFD}"))
  end)

  it("refuses a type that is not there, and a width", function()
    local g <close> = small()
    assert.equal("unknown", (select(3, picture.timeline(g, { by = "disk" }))))
    assert.equal("invalid", (select(3, picture.timeline(g, { width = 9 }))))
  end)
end)

-- ---- reports ------------------------------------------------------------------------------------------------------

local function run_of(title, jobs)
  return { title = title, machine = { type = "core", total = 8, per_rank = 4 }, jobs = jobs,
    metrics = { { name = "makespan", value = 20, unit = "s", better = "less" } } }
end

local JOBS = {
  { id = 3, submit = 9 }, -- never starts
  { id = 1, submit = 0, start = 0, finish = 10, resources = "0-1/0-3", user = "ann" },
  { id = 2, submit = 1, start = 10, finish = 20, resources = "1/0,2-3", user = "bob", name = "later", estimate = 30, state = "done" },
}

describe("a report", function()
  it("has the jobs by their starts, with their units", function()
    local r = data_of(report.html { run_of("one", JOBS) }).runs[1].jobs
    assert.same({ { 1, 2, 3 }, { 8, 3, 0 }, { 0, 8, 4, 1, 6, 2 }, { 1, 2, 0 } }, { r.id, r.size, r.units, r.ranges })
    assert.same({ { "ann", "bob" }, { 0, 1, -1 } }, { r.users, r.user })
  end)

  for _, case in ipairs {
    { "0-7", { 0, 8 } }, { "0,2-3", { 0, 1, 2, 2 } }, { "0-1/0-3", { 0, 8 } }, { "0/3 1/0", { 3, 2 } }, { "[0-1]/0", { 0, 1, 4, 1 } },
    { "", {} },
  } do
    it('reads the resources "' .. case[1] .. '"', function()
      local r = data_of(report.html { run_of("one", { { id = 1, submit = 0, start = 0, finish = 1, resources = case[1] } }) }).runs[1].jobs
      assert.same(case[2], r.units)
    end)
  end

  -- {job or run, part of the message}
  for _, case in ipairs {
    { { id = 1, submit = 0, resources = "8" }, 'job 1: resources "8"' }, { { id = 1, submit = 0, resources = "0/4" }, 'resources "0/4"' },
    { { id = 1, submit = 0, resources = "2/0" }, 'resources "2/0"' }, { { id = 1, submit = 0, resources = "0-4294967295" }, "resources" },
    { { id = 1, submit = 0, resources = "0-99999999999/0" }, "resources" }, { { id = 1, submit = 0, resources = "x" }, "resources" },
    { { id = 1 }, "job 1: submit" }, { { submit = 1 }, "job 1 of the list has no id" }, { { id = 1, submit = 0, start = "x" }, "start" },
    { { id = 1, submit = 0, start = 0 / 0 }, "start" }, { { id = 1, submit = 0, start = 5, finish = 4 }, "ends before it starts" },
  } do
    it("refuses a job: " .. case[2], function()
      local html, why, code = report.html { run_of("one", { case[1] }) }
      assert.is_nil(html)
      assert.truthy(why:find(case[2], 1, true), why)
      assert.equal("invalid", code)
    end)
  end

  it("refuses runs without a title or a machine, and no runs", function()
    for _, runs in ipairs { {}, { { machine = { total = 1 }, jobs = {} } }, { { title = "x", jobs = {} } },
      { { title = "x", machine = { total = 0 } } } } do
      assert.equal("invalid", (select(3, report.html(runs))))
    end
  end)

  it("draws the largest jobs where there are too many, and says so", function()
    local most = report.JOBS_MAX
    report.JOBS_MAX = 1
    local r = data_of(report.html { run_of("one", { { id = 1, submit = 0, start = 0, finish = 5, size = 1 },
      { id = 2, submit = 0, start = 0, finish = 5, size = 2 } }) }).runs[1].jobs
    report.JOBS_MAX = most
    assert.same({ { 2 }, 1, 2 }, { r.id, r.left, r.total })
  end)

  it("is the same for the same runs, and changes nothing", function()
    local runs = { run_of("one", JOBS), run_of("two", JOBS) }
    assert.equal(report.html(runs), report.html(runs))
    assert.equal(3, JOBS[1].id)
  end)

  it("is written into a directory that is made", function()
    local dir = run "mktemp -d":gsub("\n", "")
    local path = assert(report.write(dir .. "/a b/it's", { run_of("one", JOBS) }))
    assert.equal(dir .. "/a b/it's/index.html", path)
    local file <close> = assert(io.open(path))
    assert.equal(report.html { run_of("one", JOBS) }, file:read "a")
    run("rm -rf '" .. dir .. "'")
  end)

  it("fails where it cannot be written", function()
    assert.equal("io", (select(3, report.write("/dev/null/x", { run_of("one", JOBS) }))))
  end)

  -- {title, address, texts on the page}
  local CASES = {
    { "tells its time", "", "|0 s to 20 s (20 s)|" },
    { "tells what happened", "", "|1 job has not ended: waits are those of the other jobs. "
      .. "2 jobs ran on 8 cores in 20 s. 68.8 % of the cores were in use; " },
    { "tells of parts of the rows", "r0=0&r1=0.5", "|0 s to 20 s (20 s), 50 % of the rows|" },
    { "has the longest waits", "", "|The longest waits|job|user|core|submitted|waited|ran|slowdown|2|bob|3|1 s|9 s|10 s|1.90|" },
    { "has the jobs by size", "", "|3\u{2013}4|1|27.3 %|9 s|1.90|" },
    { "names users where colours are users", "by=user", "|user ann|user bob|" },
    { "tells what there is", "", "|one|  3 jobs, 8 core \u{B7} 1 not started|" },
    { "has a table of metrics", "", "|makespan|20 s|" },
    { "zooms to a time", "t0=5&t1=15", "|5 s to 15 s (10 s)|" },
    { "finds a job by its id", "q=2", "|1 job|job|user|core|submitted|started|waited|ran|2|bob|3|1 s|10 s|9 s|10 s|" },
    { "finds a job that never started", "q=job 3", "|1 job|job|user|core|submitted|started|waited|ran|3|0|9 s|not started|" },
    { "finds jobs by user", "q=user ann", "|1 job|job|user|core|submitted|started|waited|ran|1|ann|8|0 s|0 s|0 s|10 s|" },
    { "finds jobs by a part of the name", "q=lat", "|1 job|" }, { "says when nothing is found", "q=nobody", "|0 jobs|" },
    { "has a legend for waits", "by=wait", "|waited up to 1 min|waited up to 10 min|" },
  }

  -- {title, script, its result}
  local SCRIPTS = {
    { "computes utilisation and queue", [=[
      const s = runs[0].series, u = s.get("utilisation"), q = s.get("queue");
      return [u.times, u.values, q.times, q.values].join(" ");]=], "0,10,20 1,0.375,0 0,1,9,10 0,1,2,1" },
    { "tells who has a unit", [=[
      const run = runs[0];
      return [jobAt(run, 5, 6), jobAt(run, 15, 5), jobAt(run, 15, 6), unitName(run, 6)].join(" ");]=], "0 -1 1 rank 1 core 2" },
    { "draws each unit's jobs in their colours", [=[
      const told = [], pixels = new Uint32Array(160);
      paint(runs[0], { t0: 0, t1: 20, r0: 0, r1: 1 }, pixels, 10, 16, "job");
      for (const [x, y] of [ [2, 0], [2, 15], [7, 10], [7, 12] ]) told.push("#" + colourHex(pixels[y * 10 + x]));
      return told.join(" ");]=], ("%s %s #e0e5ea %s"):format(palette.job(1), palette.job(1), palette.job(2)) },
    { "draws how much is in use where there are many jobs to a pixel", [=[
      const pixels = new Uint32Array(2);
      rasterHeat(runs[0], { t0: 0, t1: 20, r0: 0, r1: 1 }, pixels, 2, 1);
      return ["#" + colourHex(pixels[0]), "#" + colourHex(pixels[1])].join(" ");]=],
      palette.light.heats[10] .. " " .. palette.light.heats[4] },
    { "folds low rows to nodes and names them", [=[
      const run = runs[0], pixels = new Uint32Array(4), level = foldedLevel(run, { t0: 0, t1: 20, r0: 0, r1: 1 }, 8);
      rasterBands(run, { t0: 0, t1: 20, r0: 0, r1: 1 }, pixels, 2, 2, level, false);
      return [level.name, level.first, foldedLevel(run, view, 16), useOfBand(run, 15, 4, 8), bandAt(run, view, 30, 5),
        ...Array.from(pixels, (x) => "#" + colourHex(x))].join(" ");]=],
      ("node 0,4  3,1 4,8,rank 1 %s #e0e5ea %s %s"):format(palette.job(1), palette.job(1), palette.job(2)) },
    { "unfolds a node by a click on its name", [=[
      const c = ui.gantts[0].canvas, r = c.getBoundingClientRect();
      const click = (y) => c.dispatchEvent(new MouseEvent("click", { clientX: r.left + 5, clientY: r.top + y }));
      look(0, 20, 0, 1);
      click(r.height - 40);
      const told = [view.r0, view.r1];
      click(50);
      return told.concat(view.r0, view.r1).join(" ");]=], "0.5 1 0 1" },
    { "zooms with the wheel and moves by dragging, all charts alike", [=[
      const c = ui.gantts[0].canvas, r = c.getBoundingClientRect(), w = r.width - GUTTER;
      c.setPointerCapture = () => {};
      const send = (type, kind, part, more) => c.dispatchEvent(new kind(type,
        { clientX: r.left + GUTTER + part * w, clientY: r.top + 50, cancelable: true, ...more }));
      send("pointerdown", PointerEvent, 0.5);
      send("pointerup", PointerEvent, 0.5);
      send("wheel", WheelEvent, 0.5, { deltaY: -Math.log(4) / 0.0015 });
      const told = [view.t0, view.t1];
      send("pointerdown", PointerEvent, 0.5);
      send("pointermove", PointerEvent, 0.7);
      send("pointerup", PointerEvent, 0.7);
      return told.concat(view.t0, view.t1).map((x) => x.toFixed(1)).join(" ");]=], "7.5 12.5 6.5 11.5" },
  }

  local seen, results
  setup(function()
    local steps = {}
    for i, case in ipairs(CASES) do steps[i] = { case[2] } end
    for _, case in ipairs(SCRIPTS) do steps[#steps + 1] = { "", case[2] } end
    if browser.found then seen, results = browser.visit(assert(report.html { run_of("one", JOBS) }), steps) end
  end)

  for i, case in ipairs(CASES) do
    in_browser(case[1], function() assert.truthy(seen[i]:find(case[3], 1, true), seen[i]) end)
  end
  for i, case in ipairs(SCRIPTS) do
    in_browser(case[1], function() assert.equal(case[3], results[#CASES + i]) end)
  end

  -- {title, ranks, resources, texts of the report}
  for _, case in ipairs {
    { "ranks alike", { { rank = 0, units = 4, first = 0 }, { rank = 1, units = 4, first = 4 } }, "rank[0-1]/core[0-3],gpu0", { 0, 8 } },
    { "parts of ranks", { { rank = 0, units = 4, first = 0 }, { rank = 1, units = 4, first = 4 } }, "rank0/core3 rank1/core[0,2-3]",
      { 3, 2, 6, 2 } },
    { "ranks that are not alike", { { rank = 3, units = 2, first = 0 }, { rank = 9, units = 6, first = 2 } }, "rank9/core[0-1] rank3/core1",
      { 2, 2, 1, 1 } },
    { "whole nodes", { { rank = 0, units = 1, first = 0 }, { rank = 1, units = 1, first = 1 } }, "rank[0-1]", { 0, 2 } },
    { "nothing of a rank", {}, "", {} }, { "jobs that wait to the end", {}, "", {}, 1 },
  } do
    it("takes what a replay tells: " .. case[1], function()
      local run_of_replay = require("weir.html.report.replay").run {
        queue = "easy", policy = "low", trace = "a/t.swf", machine = { type = "core", total = 8 }, ranks = case[2],
        metrics = { jobs = 1, killed = 0, unfinished = case[5] or 0, makespan = 9, wait = { mean = 2 }, utilisation = { core = 0.5 } },
        series = { start = 5, step = 10, used = { 4, 8 }, queued = { 1, 0 } },
        jobs = { id = { 7 }, user = { "ann" }, submit = { 0 }, start = { 1 }, ["end"] = { 9 }, units = { 3 }, resources = { case[3] },
          killed = { 1 } },
      }
      local r = data_of(assert(report.html { run_of_replay })).runs[1]
      assert.same({ "easy, low", "t.swf", case[4], { 3 }, { "killed" } }, { r.title, r.subtitle, r.jobs.units, r.jobs.size, r.jobs.states })
      assert.equal(report.WAITS, table.remove(r.series, case[5] and 1 or nil).name)
      assert.same(case[5] and { { name = "queue", points = { 5, 1, 15, 0, 25, 0 } },
        { name = "utilisation", points = { 5, 0.5, 15, 1, 25, 0 } } } or {}, r.series)
      local names = {}
      for i, row in ipairs(r.metrics) do names[i] = row.name end
      assert.equal(case[5] and "jobs unfinished makespan utilisation, core wait, mean" or "jobs makespan utilisation, core wait, mean",
        table.concat(names, " "))
    end)
  end

  in_browser("compares runs: side by side, and what moved", function()
    local ended = { JOBS[2], JOBS[3] }
    local a, b = run_of("one", ended), run_of("two", ended)
    b.metrics = { { name = "makespan", value = 15, unit = "s", better = "less" }, { name = "new", value = 0.5, unit = "%" } }
    local text, dom = browser.load(assert(report.html { a, b }))
    assert.truthy(text:find("|one|two|makespan|20 s|15 s|\u{2212}25 %|new|50 %|", 1, true), text)
    assert.truthy(dom:find('<td class="moved good">', 1, true))
    local _, charts = dom:gsub('class="gantt"', "")
    assert.equal(2, charts)
    assert.truthy(text:find("two against one|  of 2 jobs in both, |0 start earlier|, |0 later|, 2 at the same time|", 1, true), text)
  end)

  in_browser("shows an empty run", function()
    local text = browser.load(assert(report.html { run_of("one", {}) }))
    assert.truthy(text:find("0 jobs, 8 core", 1, true))
  end)
end)

-- ---- the width of pages -------------------------------------------------------------------------------------------

describe("a page", function()
  -- Runs of two racks with many jobs, users with long names, and metrics.
  local function runs_of(n)
    local runs, jobs, moved = {}, {}, {}
    for i = 1, 60 do
      local own = { id = i, submit = i, start = 10 * i, finish = 10 * i + 9, resources = i % 2 .. "/0-3", user = "a_long_name_" .. i }
      jobs[i], moved[i] = own, setmetatable({ start = 10 * i + 1 }, { __index = own })
    end
    for i = 1, n do
      runs[i] = {
        title = "conservative:depth=" .. i .. ", contiguous", jobs = i == 1 and jobs or moved, series = { load = { 0, 1, 300, 0.5 } },
        machine = { type = "core", total = 8, per_rank = 4, nodes = { first = { 0, 4 }, names = { "node0", "node1" } },
          racks = { first = { 0, 4 }, names = { "rack0", "rack1" } } },
        metrics = { { name = "bounded slowdown, 95 %", value = 12345.6, better = "less" }, { name = "makespan", value = 2e6, unit = "s" } },
      }
    end
    return runs
  end

  local FINDINGS = { title = "weir tune", sentences = { "a sentence of " .. ("many "):rep(30) .. "words" },
    paste = "-q priority:" .. ("age_weight=1,"):rep(20) .. "x=1", notes = { "a note" },
    tables = { { title = "Values", head = { "name", "before", "now", "difference" },
      rows = { { ("a long name, "):rep(9), "12,345,678 s", "1 s", "-99.9 %" } } } } }

  local PAGES = {
    { "of a run", function() return assert(report.html(runs_of(1))) end },
    { "of two runs", function() return assert(report.html(runs_of(2))) end },
    { "of five runs", function() return assert(report.html(runs_of(5))) end },
    { "of findings", function() return require("weir.html.report.findings").html(FINDINGS) end },
    { "of a machine", function() return picture.html((busy(1))) end },
  }

  for _, width in ipairs { 400, 1400 } do
    in_browser(("fits in %d pixels"):format(width), function()
      local pages, expected, found = {}, {}, {}
      for i, case in ipairs(PAGES) do pages[i], expected[i] = case[2](), ("%s: %d"):format(case[1], width) end
      -- a scroll bar, if any, takes up to 15 pixels of the width
      for i, wide in ipairs(browser.widths(pages, width)) do
        found[i] = ("%s: %d"):format(PAGES[i][1], wide <= width and wide >= width - 15 and width or wide)
      end
      assert.same(expected, found)
    end)
  end

  for _, n in ipairs { 1, 2, 5 } do
    in_browser(("has one time axis for all charts, of %d runs"):format(n), function()
      local _, told = browser.visit(assert(report.html(runs_of(n))), { { "", [=[
        const places = ui.charts.concat(ui.gantts).map(({ canvas }) => {
          const box = canvas.getBoundingClientRect();
          return box.left + " " + box.width;
        });
        return places.length + " canvases, " + new Set(places).size + " place"]=] } })
      -- four curves, a Gantt chart a run, and the differences from the first
      assert.equal(("%d canvases, 1 place"):format(4 + n + n - 1), told[1])
    end)
  end

  in_browser("has lines between racks that end at the right edge", function()
    local _, told = browser.visit(assert(report.html(runs_of(1))), { { "", [=[
      const c = ui.gantts[0].canvas, line = [];
      drawRacks({ fillRect: (x, y, w, h) => line.push(x, x + w) }, runs[0], view, c.clientWidth - GUTTER, c.clientHeight - AXIS);
      draw();
      const pixels = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, found = new Set();
      const soft = packed(theme.soft), all = new Uint32Array(pixels.buffer);
      for (let y = 0; y < c.height - AXIS; y++) for (const x of [GUTTER, c.width - 1]) if (all[y * c.width + x] === soft) found.add(x);
      return [line.join(" ") === GUTTER + " " + c.clientWidth, found.has(GUTTER), found.has(c.width - 1)].join(" ");]=] } })
    assert.equal("true true true", told[1])
  end)
end)

-- ---- ways in ------------------------------------------------------------------------------------------------------

describe("weir show", function()
  local MACHINE = "-r 'cluster:1 node:4 core:2' "

  it("--reserve gives -j a time when there is no room now", function()
    local path = os.tmpname()
    local file <close> = assert(io.open(path, "w"))
    file:write(weir.json.encode { version = 1, resources = job(3, "node", 60).resources, attributes = { system = { duration = 60 } },
      tasks = { { command = { "a" }, slot = "t", count = { per_slot = 1 } } } })
    file:close()
    local text, status = run(("%s show %s -j %s -j %s --reserve --timeline"):format(BIN, MACHINE, path, path))
    os.remove(path)
    assert.equal(0, status)
    assert.truthy(read_timeline(text).jobs["job 2, reserved: 60 s to 120 s"])
  end)

  for _, case in ipairs { { "--timeline --by core", "<?xml" }, { "--html --colour state", "<!DOCTYPE html>" },
    { "--svg --colour use", "<?xml" } } do
    it(case[1] .. " writes to standard output and into a file", function()
      local path = os.tmpname()
      local text, status = run(("%s show %s %s"):format(BIN, MACHINE, case[1]))
      assert.same({ 0, case[2] }, { status, text:sub(1, #case[2]) })
      assert.same({ "", 0 }, { run(("%s show %s %s -o %s"):format(BIN, MACHINE, case[1], path)) })
      local file <close> = assert(io.open(path))
      assert.equal(text, file:read "a")
      os.remove(path)
    end)
  end
end)

describe("weir replay", function()
  local REPLAY = BIN .. " replay -r 'cluster:1 node:4 core:4' --generate 50 --quiet "

  -- {options, files in the directory, titles of the runs}
  for _, case in ipairs {
    { "", "index.html\njobs.csv\nreplay.json\n", { "easy, low" } }, { "--compare 'easy fcfs'", "index.html\n", { "easy", "fcfs" } },
  } do
    it(case[1] .. " --report makes a page", function()
      local dir = run "mktemp -d":gsub("\n", "")
      assert.equal(0, (select(2, run(REPLAY .. case[1] .. " --report " .. dir))))
      assert.equal(case[2], (run("ls " .. dir)))
      local file <close> = assert(io.open(dir .. "/index.html"))
      local runs, titles = data_of(file:read "a").runs, {}
      for i, r in ipairs(runs) do
        titles[i] = r.title
        assert.same({ 50, 16 }, { #r.jobs.id, r.total })
      end
      assert.same(case[3], titles)
      run("rm -rf " .. dir)
    end)
  end
end)

describe("the REPL", function()
  for _, case in ipairs { { ":show %s/m.svg type", "<?xml" }, { ":show %s/m.html", "<!DOCTYPE" },
    { ":timeline %s/m.svg core", "<?xml" } } do
    it("[K3] draws with " .. case[1]:format "FILE", function()
      local dir = run "mktemp -d":gsub("\n", "")
      local command = case[1]:format(dir)
      local text, status = run(("echo '%s' | %s repl -r 'node:2 core:2'"):format(command, BIN))
      local path = command:match "%S+/m%.%a+"
      assert.same({ "drawn in " .. path .. "\n", 0 }, { text, status })
      local file <close> = assert(io.open(path))
      assert.equal(case[2], file:read(#case[2]))
      run("rm -rf '" .. dir .. "'")
    end)
  end

  for _, case in ipairs { { ":show", "such as :show machine.svg" }, { ":show m.png", "expected a file" },
    { ":timeline x.html", "expected a file" },
    { ":timeline /tmp/x.svg disk", 'there is no type "disk"' }, { ":show /tmp/x.svg mood", 'colours by "mood"' } } do
    it("[K3] refuses " .. case[1], function()
      local text, status = run(("echo '%s' | %s repl -r 'node:2 core:2'"):format(case[1], BIN))
      assert.equal(1, status)
      assert.truthy(text:find(case[2], 1, true), text)
    end)
  end
end)
