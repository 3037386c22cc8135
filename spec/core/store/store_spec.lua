-- Graphs in a database: saved with their schedules, whole or only the changes; loaded; queried by hand; killed during
-- a save.
local weir = require "weir"
local cases = require "spec.support.cases"
local figures = require "spec.support.figures"

local BIN = os.getenv "WEIR_BIN" or "build/weir"
local SCALE = tonumber(os.getenv "WEIR_SPEC_SCALE" or "") or 1
local MACHINE = "cluster:1 rack:2 node:2 core:4 gpu:1 memory:1(size=16,unit=GB)"

local function output(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return text:gsub("\n$", ""), status
end

describe("a database", function()
  local path, g, e

  local function by_hand(sql) return (output(("sqlite3 '%s' \"%s\""):format(path, sql))) end
  local function load() return assert(weir.load(path)) end

  -- Compares the file with the present graph.
  local function assert_saved(graph)
    local again <close> = load()
    assert(again:check())
    assert(graph:compare(again, true))
  end

  before_each(function()
    path = os.tmpname()
    os.remove(path)
    path = path .. ".db"
    g = assert(weir.synthetic(MACHINE))
    e = weir.engine { resources = g, policy = "low" }
  end)
  after_each(function()
    assert(g:check())
    g:close()
    for _, suffix in ipairs { "", "-wal", "-shm", "-journal" } do os.remove(path .. suffix) end
  end)

  local function decorate()
    local v = g "/cluster0/rack1/node2"
    v.tags.owner, v.properties.bigmem, v.data.notes = "ops", true, { "a", { b = 1 } }
    v.state = "draining"
    e:advance(7)
    assert(e:match("slot=1/node/core=4", { mode = "now" }))
    assert(e:match("slot=2/core=3", { mode = "reserve", at = 100 }))
    assert(g "/cluster0/rack0/node1/memory0":allocate { job = 9, amount = 5, start = 7, duration = 10 })
  end

  describe("to save and load", function()
    it("[L4] [L7] a whole graph with its schedules", function()
      decorate()
      assert(g:save(path))
      assert_saved(g)
    end)

    it("[L4] [L7] every subsystem, with names and UUIDs that were given", function()
      local f = figures.unified()
      local engine = weir.engine { resources = f.graph }
      assert(engine:match "slot=1/node/[core=2;power=2;bandwidth=3]")
      assert(f.graph:save(path))
      assert_saved(f.graph)
      f.graph:close()
    end)

    it("[L4] a graph that gives the same answers", function()
      decorate()
      assert(g:save(path))
      local again <close> = load()
      local other = weir.engine { resources = again, policy = "low" }
      for _, shape in ipairs { "slot=1/core=2", "slot=1/gpu", "slot=1/memory=9", "slot=1/node", "slot=9/core" } do
        local a, b = e:match(shape, { mode = "reserve" }), other:match(shape, { mode = "reserve" })
        assert.equal(a and a:format "tree" .. a.at, b and b:format "tree" .. b.at)
      end
      assert(g:compare(again, true))
    end)

    it("[P2] a pool keeps its UUID", function()
      local v = g "/cluster0/rack1/node3"
      assert(g:unlink(g "/cluster0/rack1/node2"))
      local uuid = v.uuid
      assert(g:save(path))
      local again <close> = load()
      assert.equal(uuid, again "/cluster0/rack1/node3".uuid)
    end)

    it("by the end of its name, or by the format", function()
      assert(g:save(path))
      assert.equal("SQLite format 3\0", assert(io.open(path, "rb")):read(16))
      os.remove(path)
      assert(g:save(path, { format = "jgf" }))
      assert.equal("{", assert(io.open(path, "rb")):read(1))
    end)

    it("[L9] and no file stays open, and nothing beside it", function()
      local pid = assert(io.open "/proc/self/stat"):read "n"
      local files = ("ls -l /proc/%d/fd | grep -cv pipe:"):format(pid) -- the pipe of the shell command comes and goes
      collectgarbage()
      local open = output(files)
      for _ = 1, 3 do
        assert(g:save(path, { changed = true }))
        load():close()
      end
      assert.equal(open, output(files))
      assert.equal(path, output(("ls %s*"):format(path)))
    end)

    it("a text in memory that is a database", function()
      decorate()
      assert(g:save(path))
      local again <close> = assert(weir.parse(assert(io.open(path, "rb")):read "a"))
      assert(g:compare(again, true))
    end)
  end)

  describe("queried by hand", function()
    before_each(function()
      decorate()
      g "/cluster0/rack0".state = "degraded"
      assert(g:save(path))
    end)

    local queries = {
      { "SELECT name FROM node_free", "node3", "nodes that are free" },
      { "SELECT type, count(*) FROM vertex GROUP BY type", "cluster|1\ncore|16\ngpu|4\nmemory|4\nnode|4\nrack|2", "totals" },
      { "SELECT path FROM path JOIN state USING (vertex)", "/cluster0/rack0\n/cluster0/rack1/node2", "what is not up" },
      { "SELECT key, value FROM tag", "owner|ops", "tags" },
      { "SELECT job, state, starts, slots, substr(policy, 1, 4) FROM jobs",
        "1|allocated|7.0|1|low@\n2|reserved|100.0|2|low@\n9|allocated|7.0||", "jobs" },
      { "SELECT job, starts, substr(policy, 1, 4), name FROM jobs JOIN job_nodes USING (job) WHERE state = 'reserved' ORDER BY name",
        "2|100.0|low@|node1\n2|100.0|low@|node3", "who is to come where" },
      { "SELECT path, value FROM tag JOIN path USING (vertex) WHERE key = 'owner'", "/cluster0/rack1/node2|ops",
        "what has a tag, by its path" },
      { "SELECT job, name FROM job_nodes ORDER BY 1, 2", "1|node0\n2|node1\n2|node3\n9|node1", "where jobs are" },
      { "SELECT amount, unit FROM pick JOIN vertex USING (vertex) WHERE job = 9", "5|GB", "what a job has" },
      { "PRAGMA journal_mode", "wal", "the mode of the file" },
      { "PRAGMA integrity_check", "ok", "that it is whole" },
    }
    for _, q in ipairs(queries) do
      it("[L7] shows " .. q[3], function() assert.equal(q[2], by_hand(q[1])) end)
    end

    -- The jobs at and below a node, and the jobs with a whole ancestor, as "node1:2,9".
    local function jobs_at(v)
      local on, list = {}, {}
      for _, job in ipairs(v:jobs()) do on[job] = true end
      local above = v:parent()
      while above do
        for _, use in ipairs(above:uses()) do on[use.job] = on[use.job] or use.exclusive or nil end
        above = above:parent()
      end
      for job in pairs(on) do list[#list + 1] = job end
      table.sort(list)
      return ("%s:%s"):format(v.name, table.concat(list, ","))
    end

    local function lines_of(vertices, line)
      local list = {}
      for i, v in ipairs(vertices) do list[i] = line(v) end
      table.sort(list)
      return table.concat(list, "\n")
    end

    local function change_at_random(rnd)
      local v = rnd:pick(g:find "size>0")
      if rnd:chance(20) then v.state = rnd:pick { "up", "down", "degraded", "draining" } end
      if rnd:chance(60) then v:allocate { job = rnd:between(1, 9), amount = 1, start = 7, duration = rnd:between(1, 9) } end
      if rnd:chance(20) then e:release(rnd:between(1, 9)) end
    end

    it("[L7] has views that say what the graph says", function()
      local rnd = cases.random(7)
      for _ = 1, math.floor(20 * SCALE) do
        change_at_random(rnd)
        assert(g:save(path, { changed = true }))
        assert.equal(lines_of(g:find "type=node and idle=1", function(v) return v.name end),
          by_hand "SELECT name FROM node_free ORDER BY name")
        assert.equal(
          lines_of(g:find "size>0", function(v) return ("%s|%s|%d|%s"):format(v.path, v.type, v.size, v.state) end),
          by_hand "SELECT path || '|' || type || '|' || size || '|' || state FROM vertex JOIN path USING (vertex) ORDER BY 1")
        assert.equal(lines_of(g:find "type=node", jobs_at), by_hand(
          "SELECT name || ':' || coalesce((SELECT group_concat(job) FROM (SELECT job FROM job_nodes AS j "
          .. "WHERE j.vertex = v.vertex ORDER BY job)), '') FROM vertex AS v WHERE type = 'node' ORDER BY name"))
      end
    end)

    it("[L7] its schema says what everything is", function()
      local schema = by_hand ".schema"
      for _, what in ipairs { "CREATE TABLE run %( %-%- vertices", "%-%- microseconds; after meta.now: a reservation" } do
        assert.is_truthy(schema:find(what))
      end
    end)

    it("[L4] what was changed by hand is loaded", function()
      by_hand "INSERT INTO state SELECT vertex, 'down' FROM vertex WHERE name = 'node3'"
      local again <close> = load()
      assert.equal("down", again "/cluster0/rack1/node3".state)
    end)
  end)

  describe("to save only what changed:", function()
    local changes = {
      { "a state", function() g "/cluster0/rack0/node0".state = "down" end },
      { "a property", function() g "/cluster0/rack0/node0".properties.fast = true end },
      { "a tag that goes", function() g "/cluster0/rack0/node0".tags.old = nil end },
      { "extended data", function() g "/cluster0/rack0/node0".data.x = { 1, 2 } end },
      { "a rank", function() g "/cluster0/rack0/node0".rank = 77 end },
      { "a vertex that comes", function() assert(g:add(g "/cluster0/rack0/node0", { type = "nic", size = 9 })) end },
      { "a vertex that goes", function() assert(g:unlink(g "/cluster0/rack1/node3/gpu0")) end },
      { "an edge", function() assert(g:add_edge(g:root(), g "/cluster0/rack0", { subsystem = "net", type = "links" })) end },
      { "a job that comes", function() assert(e:match "slot=1/core") end },
      { "a job that goes", function() assert(e:release(1)) end },
      { "a job that grows", function() assert(e:grow(1, "slot=1/core")) end },
      { "a job that shrinks", function() assert(e:shrink(1, g "/cluster0/rack0/node1/core0")) end },
      { "the clock", function() e:advance(3) end },
      { "a reservation that begins", function() e:advance(100) end },
      { "nothing", function() end },
    }
    before_each(function()
      g "/cluster0/rack0/node0".tags.old = "x"
      assert(e:match "slot=3/node/core=2")
      assert(e:match("slot=1/core", { mode = "reserve", at = 100 }))
      assert(g:save(path))
    end)

    for _, change in ipairs(changes) do
      it("[L8] " .. change[1], function()
        change[2]()
        assert(g:save(path, { changed = true }))
        assert_saved(g)
      end)
    end

    it("[L8] what did not change is left alone", function()
      by_hand "INSERT INTO state SELECT vertex, 'down' FROM vertex WHERE name = 'node3'"
      for i = 1, 9 do changes[i][2]() end
      assert(g:save(path, { changed = true }))
      local again <close> = load()
      assert.equal("down", again "/cluster0/rack1/node3".state)
    end)

    it("[L8] everything is written without it", function()
      by_hand "INSERT INTO state SELECT vertex, 'down' FROM vertex WHERE name = 'node3'"
      assert(g:save(path))
      assert_saved(g)
    end)

    it("[L8] a graph that was loaded goes on where it was", function()
      local again <close> = load()
      again "/cluster0/rack0/node0".state = "failing"
      assert.same({ again "/cluster0/rack0/node0" }, again:changed())
      assert(again:save(path, { changed = true }))
      assert.same({}, again:changed())
      assert_saved(again)
    end)

    it("[L8] into a file that it was not saved to is everything", function()
      local other = path .. "2"
      assert(g:save(other, { format = "sqlite", changed = true }))
      local again <close> = assert(weir.load(other))
      assert(g:compare(again, true))
      os.remove(other)
    end)

    it("[L8] after somebody else saved to the file is refused", function()
      local other <close> = load()
      other "/cluster0/rack1".state = "down"
      assert(other:save(path, { changed = true }))
      local done, why, code = g:save(path, { changed = true })
      assert.is_nil(done)
      assert.equal("exists", code)
      assert.equal(path .. ": was saved to by another process since: the changes of this graph do not fit on it. Load it, "
        .. "or save everything over it", why)
      assert_saved(other)
      assert(g:save(path))
      assert_saved(g)
    end)

    it("[L8] the vertices that changed are a graph of their own", function()
      g "/cluster0/rack1/node3".tags.x = true
      local part <close> = assert(g:extract(g:changed()))
      assert.equal(9, part:count()) -- the node, the descendants and the ancestors
      assert.is_true(part "/cluster0/rack1/node3".tags.x)
    end)
  end)

  describe("and a text", function()
    local function inode() return (output(("stat -c %%i '%s'"):format(path))) end
    local function again() return g:save(path, { format = "jgf", changed = true }) end

    it("[L8] is not written again while nothing changes", function()
      assert(again())
      local before = inode()
      assert(again())
      assert.equal(before, inode())
      g "/cluster0/rack0".tags.x = "1"
      assert(again())
      assert.not_equal(before, inode())
    end)

    it("[L8] is written again when it is gone or another one", function()
      assert(again())
      os.remove(path)
      assert(again())
      local file = assert(io.open(path, "w"))
      file:write "{}"
      file:close()
      assert(again())
      assert(weir.load(path)):close()
    end)
  end)

  describe("that cannot be read", function()
    local files = {
      { "of something else", "sqlite3 %s 'CREATE TABLE a (x)'", "is an SQLite database of something else, not of weir" },
      { "of another schema", "sqlite3 %s 'PRAGMA user_version = 9'", "has schema 9; this weir knows schema 1", true },
      { "cut short", "truncate -s 9000 %s", "the database is damaged: database disk image is malformed", true },
      { "overwritten", "printf 'xxxxxxxx' | dd of=%s bs=1 seek=4096 conv=notrunc", "damaged", true },
      { "empty", "touch %s", "is empty, expected a machine" },
      { "without a table", "sqlite3 %s 'DROP TABLE pick'", "the table \"pick\" is missing", true },
      { "with a wrong row", "sqlite3 %s 'UPDATE run SET parent = 99 WHERE first = 1'", "vertex 1: its parent 99 is not there",
        true },
    }
    for _, f in ipairs(files) do
      it(f[1] .. " is refused with the reason", function()
        if f[4] then assert(g:save(path)) end
        output(f[2]:format(path))
        local h, why, code = weir.load(path)
        assert.is_nil(h)
        assert.equal("parse", code)
        assert.equal(path .. ": ", why:sub(1, #path + 2))
        assert.is_truthy(why:find(f[3], 1, true), why)
      end)
    end

    it("is not there", function()
      assert.equal("io", select(3, weir.load(path)))
      assert.equal("io", select(3, weir.load(path, { format = "sqlite" })))
    end)

    it("and is something else is not written over", function()
      output(("sqlite3 %s 'CREATE TABLE a (x)'"):format(path))
      assert.equal("exists", select(3, g:save(path)))
      assert.equal("a", by_hand ".tables")
    end)

    it("for there is no such directory", function()
      local done, why, code = g:save "/nonexistent/m.db"
      assert.is_nil(done)
      assert.equal("io", code)
      assert.equal("/nonexistent/m.db: cannot open: unable to open database file", why)
    end)
  end)

  it("[L4] [L7] is what a machine in JSON is converted to, and back", function()
    local before, after = path .. ".json", path .. ".again.json"
    for _, names in ipairs { { MACHINE, before }, { before, path }, { path, after } } do
      assert.equal("", (output(("'%s' convert '%s' '%s'"):format(BIN, names[1], names[2]))))
    end
    assert.equal(assert(io.open(before)):read "a", assert(io.open(after)):read "a")
    os.remove(before)
    os.remove(after)
  end)

  it("[L4] is shown, and searched", function()
    decorate()
    assert(g:save(path))
    assert.equal("/cluster0/rack1/node2", (output(("'%s' find -r '%s' state=draining"):format(BIN, path))))
    assert.is_truthy(output(("'%s' show -r '%s' --totals"):format(BIN, path)):find "node%s+4%s+2%s+1%s")
  end)

  it("[L4] is a machine for every command, with the jobs on it", function()
    assert(e:match "slot=4/node")
    assert(g:save(path))
    assert.equal("weir: slot=1/node: the resources that would do are in use, down or reserved",
      (output(("'%s' match -r '%s' slot=1/node"):format(BIN, path))))
    assert(e:release(1))
    assert(g:save(path))
    assert.is_truthy(output(("'%s' match -r '%s' slot=1/node"):format(BIN, path)):find "node0  whole")
  end)

  -- Each save gives all nodes a new tag, so half a save shows. The child prints a line after each save.
  local CHILD = [[
    local weir, path = require "weir", arg[1]
    local g = assert(weir.load(path))
    local e = weir.engine { resources = g }
    while true do
      local n = g:now() + 1
      e:advance(n)
      for v in g:walk { type = "node" } do v.tags.n = tostring(n) end
      for _, a in ipairs(e:jobs()) do e:release(a.id) end
      if n %% 3 == 0 then assert(e:match "slot=1/core") end
      assert(g:save(path, { changed = n %% 5 ~= 0 }))
      io.write(n, "\n")
      io.flush()
    end]]

  local function run_and_kill(script, saves)
    local pipe = assert(io.popen(("echo $$; exec '%s' run '%s' '%s' 2>&1"):format(BIN, script, path)))
    local pid, last = pipe:read "n", nil
    for _ = 1, saves do last = pipe:read "n" or error(pipe:read "a") end
    os.execute(("kill -9 %d"):format(pid))
    pipe:close()
    return last
  end

  it("[L8] is whole after kill -9 during a save", function()
    local script = os.tmpname()
    local file = assert(io.open(script, "w"))
    file:write((CHILD:gsub("%%%%", "%%")))
    file:close()
    for v in g:walk { type = "node" } do v.tags.n = "0" end
    assert(g:save(path))
    for i = 1, math.max(3, math.floor(20 * SCALE)) do
      local last = run_and_kill(script, i % 5 + 1)
      local again <close> = load()
      assert(again:check())
      assert.is_true(again:now() >= last)
      for v in again:walk { type = "node" } do assert.equal(tostring(again:now()), v.tags.n) end
      assert.equal(again:now() % 3 == 0 and 1 or 0, #weir.engine { resources = again }:jobs())
    end
    os.remove(script)
  end)
end)
