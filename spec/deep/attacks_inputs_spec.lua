-- Attacks on what weir reads and writes outside of the service: logs of jobs, names of resources, outputs that are inputs,
-- queue policies, and histories in which the clock is set back; after each step the engine is compared with a copy.
-- Bounds in seconds are generous: without the limits under test the attacks take minutes, or never end.
local core = require "weir.core"
local replay = require "weir.replay"
local ledger = require "spec.support.ledger"
local shell = require "spec.support.shell"
local texts = require "weir.texts"
local trace = require "weir.trace"
local weir = require "weir"

local MACHINE = "cluster:1 node:4 core:4"
local dir

setup(function()
  dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir " .. dir))
end)

teardown(function() os.execute("rm -r " .. dir) end)

local function write(name, text)
  local path = dir .. "/" .. name
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
  return path
end

-- ---- logs of jobs -------------------------------------------------------------------------------------------------

local GOOD = { jsonl = '{"submit":9,"runtime":5,"procs":1}\n', swf = "9 9 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n",
  csv = "9,5,1,\n" }
local HEAD = { jsonl = "", swf = "; Version: 2.2\n", csv = "submit,runtime,procs,request\n" }

-- {format, a line that makes no sense, part of the reason}
local LINES = {
  { "jsonl", '{"submit":5,"runtime":5,"procs":1,"user":{}}', "user: expected a text or a number" },
  { "jsonl", '{"submit":5,"runtime":5,"procs":1,"qos":[1]}', "qos: expected a text or a number" },
  { "jsonl", '{"submit":5,"runtime":5,"procs":1,"id":{}}', "id: expected a text or a number" },
  { "jsonl", '{"submit":5,"runtime":5,"procs":1,"group":true}', "group: expected a text or a number" },
  { "jsonl", '{"submit":5,"runtime":5,"procs":1,"name":["x"]}', "name: expected a text or a number" },
  { "jsonl", '{"submit":5,"runtime":5,"request":5}', "expected a jobspec or a shape" },
  { "jsonl", '{"submit":5,"runtime":5,"shape":true}', "expected a jobspec or a shape" },
  { "jsonl", '{"submit":5,"runtime":5,"procs":1,"shape":false}', "expected a jobspec or a shape" },
  { "jsonl", '{"submit":5,"runtime":5,"shape":{}}', "no resources" },
  { "jsonl", '{"submit":5,"runtime":5,"jobspec":[]}', "expected a resource type" },
  { "jsonl", '{"submit":5,"runtime":5,"shape":"slot=1/"}', "expected a resource type" },
  { "jsonl", '{"submit":5,"runtime":5,"resources":[1],"version":1}', "the key tasks is missing" },
  { "jsonl", '{"submit":9223372036854775807,"runtime":9223372036854775807,"procs":1}', "more than 9e+12" },
  { "jsonl", '{"submit":9223372036854775807,"runtime":1,"procs":1}', "more than 9e+12" },
  { "jsonl", '{"submit":1,"runtime":9223372036854775807,"procs":1}', "more than 9e+12" },
  { "jsonl", '{"submit":1,"runtime":1,"estimate":9223372036854775807,"procs":1}', "more than 9e+12" },
  { "csv", "9223372036854775807,10,1,", "more than 9e+12" }, { "csv", "1e308,10,1,", "more than 9e+12" },
  { "csv", "1,9223372036854775807,1,", "more than 9e+12" }, { "csv", "4500000000001,4500000000000,1,", "end of the clock" },
  { "csv", "1,5,,slot=1/", "expected a resource type" }, { "csv", "1,5,,slot=1/core=9007199254740993", "larger than 2^53" },
  { "csv", '1,5,,"{""version"":1}"', "resources" },
  { "swf", "1 9223372036854775807 0 10 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1", "more than 9e+12" },
  { "swf", "1 0 0 10 1 -1 -1 1 9223372036854775807 -1 1 1 1 1 1 1 -1 -1", "more than 9e+12" },
}

describe("a line of a log", function()
  for _, row in ipairs(LINES) do
    local format, line, reason = row[1], row[2], row[3]
    it(("in %s, %s, is malformed, and the others are run"):format(format, line), function()
      local path = write("log." .. format, HEAD[format] .. line .. "\n" .. GOOD[format])
      for _, queue in ipairs { "easy", "priority", "conservative" } do
        local result = assert(replay.run { resources = MACHINE, trace = path, queue = queue })
        assert.same({ 1, 1, 0 }, { result.trace.read, result.trace.malformed, result.trace.left_out })
        assert.truthy(result.trace.problems[1].text:find(reason, 1, true), result.trace.problems[1].text)
      end
      local stopped, why = replay.run { resources = MACHINE, trace = path, malformed = "stop" }
      assert.is_nil(stopped)
      assert.truthy(why:find(reason, 1, true), why)
    end)
  end

  it("names no file: a request is a jobspec or a shape", function()
    local jobspec = write("secret.yaml", "resources: [{type: slot, count: 1, label: a, with: [{type: core, count: 1}]}]\n")
    for _, name in ipairs { jobspec, dir .. "/missing.yaml", "/dev/stdin" } do
      local path = write("log.jsonl", core.json_encode { submit = 5, runtime = 5, request = name } .. "\n" .. GOOD.jsonl)
      local log = assert(trace.open(path))
      assert.equal(9, log.next().submit)
      assert.same({ nil, 1 }, { log.next(), log.malformed })
    end
    local simulator = assert(require("weir.sim").new { resources = MACHINE })
    assert.is_nil((simulator:submit { request = jobspec, estimate = 1 }))
  end)
end)

describe("a divisor of --map", function()
  for _, by in ipairs { "0", "000", "9223372036854775808", "99999999999999999999" } do
    it(by .. " is refused", function()
      local path = write("log.jsonl", GOOD.jsonl)
      local result, why = replay.run { resources = MACHINE, trace = path, map = "slot={N/" .. by .. "}/core=1" }
      assert.is_nil(result)
      assert.truthy(why:find("{N/" .. by .. "}: expected a divisor", 1, true), why)
    end)
  end
end)

-- ---- texts that a terminal would obey -------------------------------------------------------------------------------

local ESCAPES = { "a\27[31mb", "a\u{9b}31mb", "\u{9d}0;t\u{9c}", "a\u{80}", "a\u{9f}", "a\127b", "a\nb", "\ra" }
local HARMLESS = { "a\u{a0}b", "\u{c2}\u{9bc}", "\u{17f}x", "n\u{e9}" }

local function jgf(name)
  local function vertex(id, type, basename, path)
    return { id = id, metadata = { type = type, basename = basename, name = basename, id = 0, rank = -1, size = 1, unit = "",
      uniq_id = tonumber(id), exclusive = false, paths = { containment = path } } }
  end
  return core.json_encode { graph = { nodes = { vertex("0", "cluster", "c", "/c"), vertex("1", "node", name, "/c/" .. name) },
    edges = { { source = "0", target = "1", metadata = { name = { containment = "contains" } } } } } }
end

describe("a name with a control character", function()
  for _, name in ipairs(ESCAPES) do
    it(("%q is refused by readers and by the graph, and shown as ?"):format(name), function()
      local graph, why = weir.parse(jgf(name), { source = "x" })
      assert.is_nil(graph)
      assert.truthy(why:find "control character", why)
      local recipe = ("return { type = 'cluster', { type = 'node', name = %q } }"):format(name)
      graph, why = weir.parse(recipe, { source = "x", format = "recipe" })
      assert.is_nil(graph)
      assert.truthy(why:find "control characters", why)
      graph = assert(weir.resources(MACHINE))
      local ok, said = pcall(function() return graph:add(graph:vertex "/cluster0", { type = name }) end)
      assert.truthy(not ok or said == nil)
      assert.is_nil(texts.plain(name):find "[%c\127]")
      assert.is_nil(texts.plain(name):find "\xC2[\x80-\x9F]")
      assert(graph:check())
    end)
  end

  for _, name in ipairs(HARMLESS) do
    it(("%q has none"):format(name), function()
      assert.truthy(assert(weir.parse(jgf(name), { source = "x" })):vertex("/c/" .. name))
      assert.equal(name, texts.plain(name))
    end)
  end

  it("is no name in a message either", function()
    local said = shell.weir({ "show", "-r", "x\u{9b}31m\27[1m\xff.json" }).err
    assert.is_nil(said:gsub("\n", ""):find "[%c\127]")
    assert.is_nil(said:find "\xC2[\x80-\x9F]")
    assert.truthy(said:find([[\x9b31m\x1b[1m]], 1, true), said)
  end)
end)

-- ---- outputs that are inputs ------------------------------------------------------------------------------------------

-- {command of the shell, in which $W is weir and m.json a machine}
local REPLACING = {
  '"$W" convert -f jgf - m.json -F jgf <m.json', '"$W" convert /dev/stdin m.json <m.json', '"$W" convert /dev/fd/3 m.json 3<m.json',
  '"$W" convert /proc/self/fd/3 link.json 3<m.json', '"$W" show -r - --svg -o m.json <m.json', '"$W" show -r - --html -o hard.json <m.json',
  '"$W" query -L m.json -f jgf -t cmds <cmds', 'exec 4<m.json; "$W" replay -r /dev/fd/4 --generate 3 --quiet --jobs m.json',
}

describe("an input by way of a descriptor is not replaced:", function()
  for _, command in ipairs(REPLACING) do
    it(command, function()
      write("cmds", "quit\n")
      local script = ([[W=$(realpath '%s'); cd '%s' && "$W" convert '%s' m.json && ln -f m.json hard.json && ln -sf m.json link.json
        before=$(cat m.json cmds | cksum); (%s) 2>&1; echo "status $?"; test "$before" = "$(cat m.json cmds | cksum)" && echo same]])
        :format(shell.bin, dir, MACHINE, command)
      local pipe <close> = assert(io.popen(script))
      local said = pipe:read "a"
      assert.truthy(said:find("is not replaced", 1, true), said)
      assert.truthy(said:find "status [12]\nsame\n$", said)
    end)
  end
end)

-- ---- histories in which the clock goes back -----------------------------------------------------------------------------

local MACHINES = { "cluster:1 rack:3 node:16 core:2", "cluster:1 rack:2 node:2 [socket:2[core:2 gpu:1] memory:1(size=32,unit=GB)]" }
local SHAPES = { "rack/slot=16/node", "rack/slot=1/node", "rack/slot=2/node", "rack=2/slot=1/node", "slot=1/rack", "slot=1/rack/node=2",
  "slot=1/node", "slot=1/core=3", "node/slot=2/core=2", "slot=1/memory=20", "rack/slot=1-3/node", "slot=1/gpu", "slot=1-8/core" }

local function any(list) return list[math.random(#list)] end

local STEPS = {
  match = function(e, t, duration)
    e:match(any(SHAPES), { mode = any { "now", "reserve", "reserve", "preview" }, duration = duration, at = any { t, t, t + 3, t + 20 } })
  end,
  -- A copy of the graph has kept nothing of the earlier matches, and must give the same start.
  compare = function(e, t, duration)
    local shape, copy = any(SHAPES), assert(weir.engine { resources = assert(e:resources():dup()) })
    assert(copy:advance(t))
    local a, _, code = e:match(shape, { mode = "reserve", duration = duration })
    local b, _, other = copy:match(shape, { mode = "reserve", duration = duration })
    assert.same({ a and a.at, code }, { b and b.at, other })
  end,
  rewind = function(e, t)
    local graph, to = e:resources(), any { t - 1, t - 10, 0, t - 1e-6, t - 1e5, t, t + 5 }
    local left = {}
    for _, job in ipairs(e:jobs()) do left[job.id] = job.end_ - math.max(t, job.at) end
    local ok = graph:rewind(to)
    assert.is_true(math.abs((ok and to or t) - graph:now()) < 1e-5)
    for _, job in ipairs(e:jobs()) do
      local now = job.end_ - math.max(graph:now(), job.at)
      local was = left[job.id]
      local overdue = was <= 0 and now < 2e-6 -- a start at the new time leaves a microsecond
      assert.is_true(was == now or overdue or math.abs(now - was) < 1e-3)
    end
  end,
  advance = function(e, t) assert(e:advance(t + any { 1, 5, 10, 1e-6, 50, 0 })) end,
  release = function(e, _, _, job) if job then assert(e:release(job.id)) end end,
  shrink = function(e, _, _, job) if job then e:shrink(job.id, any(job:vertices()).vertex) end end,
  detach = function(e, t, _, job)
    local detached = job and assert(e:detach(job.id))
    if detached and not e:attach(detached, any { t + 5, t, job.at }) then e:attach(detached) end
  end,
  state = function(e)
    local list = {}
    for v in e:resources():walk { type = any { "node", "core", "rack" } } do list[#list + 1] = v end
    any(list).state = any { "up", "down", "draining", "up" }
  end,
}
local NAMES = { "match", "match", "match", "compare", "rewind", "advance", "release", "shrink", "detach", "state" }

describe("a history with a clock that is set back", function()
  for seed = 1, 12 do
    it(("%d books nothing twice, and keeps nothing that a copy would not find"):format(seed), function()
      math.randomseed(seed)
      local e <const> = assert(weir.engine { resources = MACHINES[seed % 2 + 1], policy = any { "low", "high", "spread" } })
      assert(e:advance(any { 0, 1000, 1e9 }))
      for _ = 1, 40 do
        local jobs = e:jobs()
        STEPS[any(NAMES)](e, e:now(), any { 1, 5, 10, 0, 1e-6, 0.5, 100, 1e5 }, jobs[1] and any(jobs))
        ledger.add_up(e:resources())
      end
      for _, job in ipairs(e:jobs()) do assert(e:release(job.id)) end
      ledger.add_up(e:resources())
      for v in e:resources():walk {} do assert.equal(0, #v:uses()) end
    end)
  end
end)

-- ---- R with a changed `scheduling` ------------------------------------------------------------------------------------

local VALUES = { core.null, true, -1, 0, 1, 2 ^ 53, math.maxinteger, math.mininteger, 1e308, "", "0", "-1", "/", "/cluster0", "a/b",
  "contains", "4294967296", "0-4294967295", ("x"):rep(70000), 4294967295, 4294967296, {}, { {} } }

-- All places of a table and of the tables in it, in the order of keys.
local function places(t, list)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    list[#list + 1] = { t, key }
    if type(t[key]) == "table" then places(t[key], list) end
  end
  return list
end

local function copy(x) return type(x) == "table" and core.json_decode(core.json_encode(x)) or x end

-- Changes up to three places of an R: a place is dropped, gets the value of another place, or an odd value.
local function changed(text)
  local r = core.json_decode(text)
  for _ = 1, math.random(3) do
    local list = places(r.scheduling or r, {})
    local at, other, how = any(list), any(list), math.random(4)
    if how > 1 then
      at[1][at[2]] = copy(how == 2 and other[1][other[2]] or any(VALUES))
    elseif math.type(at[2]) == "integer" then
      table.remove(at[1], at[2])
    else
      at[1][at[2]] = nil
    end
  end
  return core.json_encode(r)
end

describe("an R with a changed scheduling", function()
  local e = assert(weir.engine { resources = "cluster:1 rack:2 node:2 [socket:1 core:4 gpu:1]" })
  local text = assert(e:match "slot=4/node"):format "rv1"

  for seed = 1, 60 do
    it(("%d is refused with a message, or can be cut, joined, written, read again and matched on"):format(seed), function()
      math.randomseed(seed)
      local given = changed(text)
      local r, why = weir.rset(given)
      if not r then return assert.is_true(#why < 700, why) end
      local low, high = assert(r:subset { ranks = "0-1" }), assert(r:subset { ranks = "2-3" })
      assert.equal(tostring(r), tostring(low + high))
      for _, part in ipairs { r, low, high, low + high, r - low } do
        assert.equal(tostring(part), tostring(assert(weir.rset(part:format "rv1"))))
      end
      local graph, fault = r:graph()
      if not graph then return assert.is_true(#fault < 700, fault) end
      local matched = assert(weir.engine { resources = graph }):match "slot=1/node/core=1"
      if matched then assert(weir.rset(matched:format "rv1")) end
      assert(graph:check())
    end)
  end
end)
