-- growth.lua - operations whose time grows with the number of something, measured at two sizes: by
-- spec/bench/limits.lua on large sizes, by spec/weir/cli/limits_spec.lua on small sizes. Rows are {name, size for the
-- spec, make(n), run(value of make, n)}; only run is timed.

local core = require "weir.core"
local weir = require "weir"

local M = {}

local function machine(n) return assert(weir.synthetic(("cluster:1 node:%d core:2"):format(n))) end

local function with_nodes(n)
  local g = machine(n)
  return { g = g, nodes = g:find "type=node" }
end

local function wide(n)
  local g = assert(weir.synthetic "node:1")
  return { g = g, v = g:find("type=node")[1], n = n }
end

local function with_properties(n)
  local w = wide(n)
  for i = 1, n do w.v.properties["key" .. i] = "value" .. i end
  return w
end

local function text_in(format, of)
  return function(n) return { text = assert(machine(n):format(format)), format = of or format } end
end

local function engine_on(n)
  return { e = assert(weir.engine { resources = machine(n), policy = "low" }), job = core.request "slot=1/node" }
end

local function engine_with_jobs(n)
  local x = engine_on(n)
  for _ = 1, n do assert(x.e:match(x.job)) end
  return x
end

local function path_of(name)
  return function()
    local path = os.tmpname()
    os.remove(path)
    return path .. name
  end
end

local function save_to(name, with)
  local new = path_of(name)
  return function(n)
    local x = (with or with_nodes)(n)
    x.g, x.path = x.g or x.e:resources(), new()
    return x
  end
end

local function remove(path)
  for _, suffix in ipairs { "", "-wal", "-shm" } do os.remove(path .. suffix) end
end

local function save(x)
  assert(x.g:save(x.path))
  remove(x.path)
end

local function load_saved(name, with)
  return function(n)
    local x = save_to(name, with)(n)
    assert(x.g:save(x.path))
    return x
  end
end

local function load(x)
  assert(weir.load(x.path)):close()
  remove(x.path)
end

local function parse(x) assert(weir.parse(x.text, { format = x.format })):close() end

local function scattered(n, text)
  local list = {}
  for i = 1, n do list[i] = text:format((i * 7919) % (n * 3)) end
  return table.concat(list, ",")
end

local function job_of(count, seconds)
  return { resources = { { type = "slot", count = count, label = "x", with = { { type = "node", count = 1 } } } },
    attributes = { system = { duration = seconds } } }
end

-- A node with n edges of a second subsystem.
local function with_edges(n)
  local x = with_nodes(n)
  for i = 2, n do x.g:add_edge(x.nodes[1], x.nodes[i], { subsystem = "net", type = "links" }) end
  return x
end

local function jgf_texts(n)
  local a, b = with_nodes(n), machine(n)
  for i = 1, n do a.nodes[i].tags.seen = tostring(i) end
  return { g = a.g, other = b }
end

M.list = {
  { "properties of one vertex are set", 8000, wide, function(w, n)
    for i = 1, n do w.v.properties["key" .. i] = "value" .. i end
  end },
  { "properties of one vertex are read", 8000, with_properties, function(w, n)
    for i = 1, n do assert(w.v.properties["key" .. i]) end
  end },
  { "properties of one vertex are written as JGF and read again", 8000, with_properties, function(w)
    assert(weir.parse(assert(w.g:format "jgf"))):close()
  end },
  { "each vertex gets a property of its own", 8000, with_nodes, function(x)
    for i, v in ipairs(x.nodes) do v.properties["key" .. i] = "1" end
  end },
  { "vertices are added below one", 8000, wide, function(w, n)
    for i = 1, n do assert(w.g:add(w.v, { type = "core", id = i })) end
  end },
  { "vertices are unlinked, the last one first", 4000, with_nodes, function(x, n)
    for i = n, 1, -1 do x.g:unlink(x.nodes[i]) end
  end },
  { "states of vertices change", 8000, with_nodes, function(x)
    for _, v in ipairs(x.nodes) do v.state = "down" end
  end },
  { "edges from one vertex", 4000, with_nodes, function(x, n)
    for i = 2, n do x.g:add_edge(x.nodes[1], x.nodes[i], { subsystem = "net", type = "links" }) end
  end },
  { "a graph with edges is written as JGF and read again", 4000, with_edges, function(x)
    assert(weir.parse(assert(x.g:format "jgf"))):close()
  end },
  { "a machine from one line", 40000, function(n) return n end, function(n) machine(n):close() end },
  { "a machine is read from JGF", 8000, text_in "jgf", parse },
  { "a machine is read from R", 40000, text_in("rv1_nosched", "rv1"), parse },
  { "a machine is read from a recipe", 4000, function(n)
    local x = with_nodes(n)
    for i, v in ipairs(x.nodes) do v.tags.number = tostring(i) end
    return { text = assert(x.g:format "recipe"), format = "recipe" }
  end, parse },
  { "a machine is written as csv", 8000, with_nodes, function(x) assert(x.g:format "csv") end },
  { "a machine is written as a tree", 8000, with_nodes, function(x) assert(x.g:format "tree") end },
  { "a machine is saved to a database", 8000, save_to ".db", save },
  { "a machine is loaded from a database", 8000, load_saved ".db", load },
  { "a machine with jobs is saved to a database", 4000, save_to(".db", engine_with_jobs), save },
  { "a machine with jobs is loaded from a database", 4000, load_saved(".db", engine_with_jobs), load },
  { "a duplicate", 20000, with_nodes, function(x) x.g:dup():close() end },
  { "a merge of two machines alike", 4000, jgf_texts, function(x) assert(x.g:merge(x.other)) end },
  { "find by name", 20000, with_nodes, function(x) assert(x.g:find "type=node and name=node7") end },
  { "jobs are matched", 4000, engine_on, function(x, n)
    for _ = 1, n do assert(x.e:match(x.job)) end
  end },
  { "jobs are refused on a full machine", 4000, engine_with_jobs, function(x, n)
    for _ = 1, n do assert(not x.e:match(x.job)) end
  end },
  { "jobs are released, the first one first", 4000, engine_with_jobs, function(x, n)
    for i = 1, n do assert(x.e:release(i)) end
  end },
  { "jobs are released, the last one first", 4000, engine_with_jobs, function(x, n)
    for i = n, 1, -1 do assert(x.e:release(i)) end
  end },
  { "jobs are listed", 8000, engine_with_jobs, function(x) assert(x.e:jobs()) end },
  { "jobs are reserved one after the other", 2000, function() return engine_on(8) end, function(x, n)
    for i = 1, n do assert(x.e:match(job_of(1 + i % 8, 10), { mode = "reserve" })) end
  end },
  { "one job on all nodes", 8000, engine_on, function(x, n) assert(x.e:match(job_of(n, 10)):format "rv1_nosched") end },
  { "a job on all nodes gives back ten of them, one by one", 60000, function(n)
    local x = engine_on(n)
    x.a, x.nodes = assert(x.e:match(job_of(n, 10))), x.e:resources():find "type=node"
    return x
  end, function(x)
    for i = 1, 10 do assert(x.e:shrink(x.a.id, x.nodes[i])) end
  end },
  { "a set of scattered ids", 20000, function(n)
    local ids = {}
    for i = 1, n do ids[i] = i * 3 end
    return table.concat(ids, ",")
  end, function(text) assert(core.idset(text)) end },
  { "a list of scattered hosts, sorted", 20000, function(n) return scattered(n, "host%d") end, function(text)
    core.hostlist(text):sort()
  end },
}

--- Processor seconds of one operation on n: the least of `tries` tries.
function M.measure(row, n, tries)
  local least = math.huge
  for _ = 1, tries or 3 do
    local what = row[3](n)
    collectgarbage()
    collectgarbage "stop"
    local begin = os.clock()
    row[4](what, n)
    least = math.min(least, os.clock() - begin)
    collectgarbage "restart"
  end
  return least
end

return M
