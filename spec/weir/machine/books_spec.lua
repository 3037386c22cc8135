-- What is booked on a machine (jobs, reservations, stages, the clock) in every format: a format keeps a book, or g:losses() has a
-- word about it. "+" is kept.
local shell = require "spec.support.shell"
local weir = require "weir"

local function parsed(format)
  return function(g) return assert(weir.parse(assert(g:format(format)), { format = format == "recipe" and "recipe" or nil })) end
end

local function loaded(name)
  return function(g)
    local path = shell.path(shell.directory(), name)
    assert(g:save(path))
    return assert(weir.load(path))
  end
end

-- {format of g:losses, how a machine goes through it; nil where nothing reads the format}
local FORMATS = {
  document = parsed "document", sqlite = loaded "x.db", ["keys and values"] = function(g) return assert(g:pieces():graph()) end,
  jgf = parsed "jgf", rv1 = parsed "rv1", rv1_nosched = parsed "rv1_nosched", recipe = parsed "recipe", rlite = false, csv = false,
}

local ALL = { document = "+", sqlite = "+", ["keys and values"] = "+" }

-- Adds the words for all formats that hold no books.
local function elsewhere(word, more)
  local row = {}
  for name in pairs(FORMATS) do row[name] = (more or {})[name] or ALL[name] or word end
  return row
end

local function node(g) return g:find("type=node")[1] end

-- {title, booking on a graph and its engine, whether it is there, row}
local BOOKS = {
  { "an allocation", function(_, e) assert(e:match("slot=1/core", { job = 7, duration = 10 })) end,
    function(_, e) return e:job(7) ~= nil and e:job(7).end_ == 10 and e:job(7):vertices()[1].exclusive end, elsewhere "1 job" },
  { "units of a pool", function(_, e) assert(e:match("node/slot=1/memory=5", { job = 7 })) end,
    function(_, e) return e:job(7) ~= nil and e:job(7):vertices()[1].amount == 5 end, elsewhere "1 job" },
  { "shared use", function(g, e) assert(e:allocate({ { vertex = node(g), amount = 0 } }, { job = 7 })) end,
    function(g) return node(g):uses()[1] ~= nil and node(g):uses()[1].amount == 0 end, elsewhere "1 job" },
  { "a reservation", function(g) assert(node(g):allocate { job = 7, start = 10, duration = 5 }) end,
    function(_, e) return e:job(7) ~= nil and e:job(7).state == "reserved" and e:job(7).at == 10 end, elsewhere "1 reservation" },
  { "what flows to a node", function(_, e)
    assert(e:match("slot=2/node/power=2", { job = 7 }))
  end, function(g, e)
    if not e:job(7) then return false end
    assert(e:shrink(7, { node(g) }))
    return g "power:/pdu0".allocated == 2
  end, elsewhere "1 job" },
  { "the policy of a job", function(_, e) assert(e:match("slot=1/core", { job = 7 })) end,
    function(_, e) return e:job(7) ~= nil and e:job(7).policy:find "^low@" ~= nil end, elsewhere "1 job" },
  { "the clock", function(_, e) assert(e:advance(3)) end, function(g) return g:now() == 3 end, elsewhere "the clock" },
  { "the time in which jobs may use the machine", function(g) assert(g:set_validity(5, 1000)) end,
    function(g) return select(2, g:validity()) == 1000 end,
    elsewhere("the time of validity", { rv1 = "+", rv1_nosched = "+" }) },
  { "a stage with locks", function(_, e) assert(e:stage("slot=1/core", { lease = 9 })) end, function() return false end,
    elsewhere("1 stage", { document = "1 stage", sqlite = "1 stage", ["keys and values"] = "1 stage" }) },
  { "a stage without locks", function(_, e) assert(e:stage("slot=1/core", { lease = 9, lock = false })) end, function() return false end,
    elsewhere("1 stage", { document = "1 stage", sqlite = "1 stage", ["keys and values"] = "1 stage" }) },
}

local function machine()
  local g = assert(weir.synthetic "cluster:1 node:2 core:4 memory:1(size=16,unit=GB)")
  local pdu = assert(g:add(nil, { type = "pdu", id = 0, size = 10 }))
  for _, v in ipairs(g:find "type=node") do assert(g:add_edge(pdu, v, { subsystem = "power", type = "supplies" })) end
  return g
end

describe("[RFC4a:161][A11] books", function()
  after_each(shell.clean)

  for _, book in ipairs(BOOKS) do
    for name, way in pairs(FORMATS) do
      local expected = book[4][name]
      it(("of %s in %s: %s"):format(book[1], name, expected == "+" and "kept" or expected), function()
        local g <close> = machine()
        local before = table.concat(g:losses(name == "keys and values" and "document" or name), "\n")
        book[2](g, weir.engine { resources = g })
        local words = ("\n" .. table.concat(g:losses(name == "keys and values" and "document" or name), "\n")):gsub(before, "", 1)
        if expected ~= "+" then
          assert.truthy(words:find(expected, 1, true), words)
        else
          assert.equal("", (words:gsub("%s", "")))
        end
        if way then
          local again <close> = way(g)
          assert.equal(expected == "+", book[3](again, weir.engine { resources = again }))
        end
      end)
    end
  end
end)
