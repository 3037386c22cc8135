-- The pages of the methods of graphs (:doc g:add) against the methods: each is called with all arguments and options that its
-- page names, and with an option that the page does not name.
local core = require "weir.core"
local help = require "weir.repl.help"
local shell = require "spec.support.shell"
local weir = require "weir"

-- The members of the reference that are made from the source.
local pages = {}
for _, m in ipairs(require "weir.reference".script_graph.members) do pages[m.name] = m end

local function machine()
  local g = assert(weir.synthetic "cluster:1 rack:2 node:2 core:4 memory:1(size=16,unit=GB)")
  local pdu = assert(g:add(nil, { type = "pdu", id = 0, size = 50, unit = "kW" }))
  for i = 0, 3 do
    assert(g:add_edge(pdu, g:find("name=node" .. i)[1], { subsystem = "power", type = "supplies", back = "drawn_from" }))
  end
  return g
end

-- Calls with all that a page names. The text is run with g, v (a node), pdu, memory, other (a graph), path, file, and job, a
-- job with a core of v.
local CALLS = {
  add = [[g:add(v, { type = "gpu", basename = "g", name = "g-${id}", id = 4, size = 2, unit = "GB", rank = 9, exclusive = true,
    uuid = nil, properties = { fast = true }, tags = { lent = "ada" } }, 2, 3)]],
  unlink = [[g:unlink(v, { subsystem = "containment", force = true })]],
  attach = [[g:unlink(v, { force = true }) and g:attach(v, g "/cluster0/rack1")]],
  add_edge = [[g:add_edge(v, memory, { subsystem = "net", type = "feeds", back = "fed_by" })]],
  remove_edge = [[g:remove_edge(pdu, v, { subsystem = "power", type = "supplies" })]],
  merge = [[g:merge(other, "/cluster0", { parts = true })]],
  split = [[g:split(memory, 4)]],
  join = [[g:join(memory, g:split(memory, 4))]],
  refine = [[g:refine(memory, 4)]],
  copy = [[g:copy(v)]],
  extract = [[g:extract { v, memory }]],
  dup = [[g:dup()]],
  hierarchy = [[g:hierarchy "power"]],
  coarsen = [[g:coarsen { keep = { "rack" }, follow = true }]],
  follow = [[g:coarsen({ keep = { "rack" }, follow = true }):follow()]],
  expand = [[(function()
      local view = g:coarsen { keep = { "rack" } }
      return view:expand(weir.engine { resources = view }:match "slot=1/core", { job = 7 })
    end)()]],
  find = [[#g:find("type=node", { start = v, subsystem = "containment", as = "list" }) == 1
      and g:find("type=node", { start = v, as = "graph" }):count() > 1]],
  flow = [[g:flow { subsystem = "power", to = { v }, from = pdu, units = 4, at = 0, duration = 10, capacity = true }]],
  compare = [[g:compare(g:dup(), true)]],
  diff = [[g:diff(other)]],
  apply = [[g:apply(g:diff(other), "difference")]],
  save = [[g:save(path, { format = "sqlite", changed = true })]],
  changed = [[g:changed()]],
  format = [[g:format("csv", { start = v })]],
  write = [[g:write(file, "csv", { start = v })]],
  losses = [[g:losses "rv1"]],
  rset = [[g:rset { state = "all", scheduling = true }]],
  resolve = [[g:resolve(job:format "jgf", { source = "job" })]],
  resolve_flows = [[g:resolve_flows(1, job:format "jgf", { source = "job" })]],
  pieces = [[g:pieces "stamp"]],
  fold = [[g:fold({ v }, 2)]],
  set_validity = [[g:set_validity(0, 1000)]],
  advance = [[g:advance(5)]],
  rewind = [[g:advance(5) == true and g:rewind(1)]],
  uuid = [[g:uuid "01234567-89ab-4def-8123-456789abcdef"]],
  begin = [[g:begin() == nil and g:finish()]],
  finish = [[g:begin() == nil and g:finish()]],
  check = [[g:check()]],
  bytes = [[g:bytes()]],
  close = [[g:close() == nil]],
}

local function world()
  local g = machine()
  local w = { g = g, v = g "/cluster0/rack0/node0", pdu = g "power:/pdu0", memory = g "/cluster0/rack0/node1/memory0",
    other = weir.synthetic "cluster:1 rack:2 node:2 core:6", path = shell.path(shell.directory(), "x.db"), file = io.tmpfile() }
  w.job = assert(weir.engine { resources = g }:match("slot=1/core", { job = 1 }))
  w.weir = weir
  return setmetatable(w, { __index = _G })
end

-- The words before "=" in the braces of a text: options of the method.
local function options(text)
  local names = {}
  for braces in text:gmatch "%b{}" do
    for name in braces:gmatch "([%a_]+)%s*=" do names[#names + 1] = name end
  end
  return names
end

describe("the signatures of the reference", function()
  it("have a type and a clear name for every parameter and result", function()
    local vague = {}
    for name, class in pairs(require "weir.reference") do
      for _, m in ipairs(class.members) do
        local parameters = m.signature:match "^%b()" or ""
        if m.signature:find "%f[%w]any%f[%W]" and not m.signature:find "table<string, any>" or parameters:find "[%(%s]fate:"
          or parameters:find "[%(%s]what:" or parameters:find "^%([^:%)]+%)" then
          vague[#vague + 1] = ("%s.%s%s"):format(name, m.name, m.signature)
        end
      end
    end
    table.sort(vague)
    assert.same({}, vague)
  end)
end)

describe("the page of a method of graphs", function()
  after_each(shell.clean)

  local names = {}
  for name in pairs(pages) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    it(("g:%s names the arguments that the method takes"):format(name), function()
      local call, page, w = CALLS[name], pages[name], world()
      assert.truthy(call, "expected a call here")
      -- what unlink returns, and the picks of resolve, are braces, too
      local text = page.text:gsub("list of {.-}", ""):gsub("The picks {.-}", "")
      for _, option in ipairs(options(text)) do assert.truthy(call:find("%f[%w]" .. option .. " ="), option) end
      local given, wanted = select(2, call:gsub("[,(] ?", "")), select(2, page.signature:match "^%b()":gsub(":", ""))
      assert.is_true(given + 1 >= wanted)
      local done, why = assert(load("return " .. call, name, "t", w))()
      assert.truthy(done, why)
      w.file:close()
    end)
  end

  it("is what :doc prints, by any of its names", function()
    for _, name in ipairs { "g:merge", "g.merge", "merge", "graph:merge" } do
      assert.truthy(help.name(name, {})[1]:find("graph:merge(other: graph, uri: string?, options: table?)", 1, true), name)
    end
    assert.truthy(table.concat(help.class "graph", "\n"):find(":coarsen(", 1, true))
  end)

  it("is there for each method, and for no other", function()
    local members = core.members().graph
    for name in pairs(core.methods "graph") do assert.truthy(pages[name] or members[name], name) end
    for name in pairs(CALLS) do assert.truthy(pages[name], name) end
  end)
end)

describe("the words of relations", function()
  after_each(shell.clean)

  for name, way in pairs {
    dup = function(g) return assert(g:dup()) end,
    copy = function(g) return assert(g:copy(g:root())) end,
    extract = function(g) return assert(g:extract { g:root() }) end,
    merge = function(g)
      local empty = weir.new()
      assert(empty:merge(g))
      return empty
    end,
    SQLite = function(g)
      local path = shell.path(shell.directory(), "x.db")
      assert(g:save(path))
      return assert(weir.load(path))
    end,
    pieces = function(g) return assert(g:pieces():graph()) end,
    document = function(g) return assert(weir.parse(g:format "document")) end,
    coarsen = function(g) return assert(g:coarsen { keep = { "node" } }) end,
  } do
    it("[RFC4b:87][G5] of containment come through " .. name, function()
      local g <close> = assert(weir.parse [[{"graph":{"nodes":[
        {"id":"0","metadata":{"type":"cluster","id":0}},{"id":"1","metadata":{"type":"node","id":0}}],"edges":[
        {"source":"0","target":"1","metadata":{"subsystem":"containment","relationship":"has-a"}},
        {"source":"1","target":"0","metadata":{"subsystem":"containment","relationship":"part-of"}}]}}]])
      local e = way(g)("/cluster0"):edges("containment")[1]
      assert.same({ "has-a", "part-of" }, { e.type, e.back })
      assert.same({ "the words of containment, has-a and part-of" }, g:losses "recipe")
    end)
  end
end)
