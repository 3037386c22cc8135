--- examples.lua - runs the examples of documents and of `weir COMMAND --help` as printed, in a directory with the files that
--- they name. An example on a remote machine, etcd or an instance of Flux is only parsed by its command.

local assert = require "luassert"
local options = require "weir.cli.options"
local quote = require "weir.files".quoted
local service = require "spec.support.service"
local shell = require "spec.support.shell"
local weir = require "weir"

local M = {}

local function output_of(command)
  local pipe <close> = assert(io.popen(command))
  return (pipe:read "a":gsub("\n$", ""))
end

local HERE = output_of "pwd"
local BIN = shell.bin:find "^/" and shell.bin or HERE .. "/" .. shell.bin
local SLOW = BIN:find("/san/", 1, true) ~= nil -- where large counts are made smaller

-- ---- the files of the examples ---------------------------------------------------------------------------------

local CLUSTER = "cluster:1 rack:4 node:5 core:8 gpu:1 memory:1(size=16,unit=GB)"

local JOB = [[
version: 1
resources: [{type: slot, count: 2, label: task, with: [{type: node, count: 1}]}]
tasks: [{command: [app], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 3600}}
]]

local SWF = "; MaxProcs: 100\n1 0 -1 50 4 -1 1024 4 100 -1 1 7 1 -1 1 -1 -1 -1\n2 5 -1 60 8 -1 512 8 90 -1 1 8 1 -1 1 -1 -1 -1\n"
for i = 3, 24 do SWF = SWF .. ("%d %d -1 70 80 -1 512 80 90 -1 1 8 1 -1 1 -1 -1 -1\n"):format(i, 3 * i) end

local dir, text_of_cluster

local function put(name, text)
  local file <close> = assert(io.open(dir .. "/" .. name, "w"))
  file:write(text)
end

local function save(name, g) assert(g:save(dir .. "/" .. name)) end

local function busy(jobs)
  local g = weir.synthetic(CLUSTER)
  local e = weir.engine { resources = g }
  for _ = 1, jobs do assert(e:match "slot=1/node") end
  g:vertex "/cluster0/rack3".state = "down"
  return g
end

-- The cluster behind a switch for each rack.
local function switched()
  local g = weir.synthetic(CLUSTER)
  for _, rack in ipairs(g:find "type=rack") do
    local switch = assert(g:add(nil, { type = "switch", id = rack.id, size = 1000 }))
    for node in rack:children() do assert(g:add_edge(switch, node, { subsystem = "network", type = "conduit_of" })) end
  end
  return g
end

-- Two racks, with a power unit each.
local function powered()
  local g = weir.synthetic "cluster:1 rack:2 node:4 core:8"
  for rack = 0, 1 do
    local pdu = g:add(nil, { type = "pdu", id = rack, size = 100, unit = "W" })
    for node in g("/cluster0/rack" .. rack):children() do g:add_edge(pdu, node, { subsystem = "power", type = "supplies" }) end
  end
  return g
end

local function make_files()
  local cluster = weir.synthetic(CLUSTER)
  text_of_cluster = assert(cluster:format "jgf")
  for _, name in ipairs { "machine.json", "sierra.graphml", "machine.graphml" } do
    put(name, text_of_cluster) -- recognized by content, not by name
  end
  put("tiny.graphml", assert(weir.synthetic("tiny:1 rack:1 node:2 socket:2 core:9 gpu:1"):format "jgf"))
  put("cluster.R", assert(cluster:format "rv1"))
  put("R.json", assert(cluster:format "rv1"))
  put("cab.lua", assert(cluster:format "recipe"))
  save("cluster.db", busy(7))
  save("centre.db", busy(3))
  save("switched.json", switched())
  save("power.json", powered())
  save("monday.weir", busy(3))
  save("tuesday.weir", busy(5))
  put("job.yaml", JOB)
  local rows = { "submit,runtime,procs,estimate" }
  for i = 1, 24 do rows[i + 1] = ("%d,%d,%d,60"):format(i, 20 + i, i % 5 + 1) end
  put("trace.csv", table.concat(rows, "\n") .. "\n")
  for _, name in ipairs { "my_queue.lua", "mine_queue.lua" } do put(name, shell.slurp "policies/queue/easy.lua") end
  put("mine.lua", "return { options = { k = { default = 1, min = 1, max = 9 } }, order = function(v) return v.id end }")
  for i, name in ipairs { "box7.xml", "box9-groups.xml" } do put("node" .. i .. ".xml", shell.slurp("spec/data/hwloc/" .. name)) end
  for _, name in ipairs { "slurm.conf", "nodes.conf", "gres.conf", "topology.conf", "scontrol.txt", "sacct.txt" } do
    put(name, shell.slurp("spec/data/slurm/" .. name))
  end
  for _, name in ipairs { "KTH-SP2", "KTH-SP2-1996-2.1-cln", "HPC2N" } do
    put(name .. ".swf", SWF)
    assert(os.execute("gzip -f " .. quote(dir .. "/" .. name .. ".swf")))
  end
  assert(os.execute(("mkdir %s/bin %s/spec && ln -s %s %s/bin/weir && ln -s %s/spec/scenarios %s/spec/scenarios && ln -s %s/policies %s")
    :format(quote(dir), quote(dir), quote(BIN), quote(dir), quote(HERE), quote(dir), quote(HERE), quote(dir))))
end

--- Makes a directory with the files of examples; later calls of this module work in it, until close().
function M.open()
  dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir " .. quote(dir)))
  make_files()
end

--- Ends the services of the directory, and removes it.
function M.close()
  service.clean()
  os.execute("rm -rf " .. quote(dir))
end

--- Puts a file into the directory.
M.put = put

--- Writes cluster.json again, which some examples overwrite.
function M.renew() put("cluster.json", text_of_cluster) end

-- ---- running the lines -----------------------------------------------------------------------------------------

-- The line with private places instead of system directories.
local function placed(line)
  line = line:gsub("unix:/run/", "unix:" .. dir .. "/"):gsub("%-s /run/", "-s " .. dir .. "/"):gsub("/var/lib/", dir .. "/")
  return SLOW and line:gsub("%-%-generate 5000", "--generate 200"):gsub("%-%-random 100", "--random 20") or line
end

--- Runs a line of a shell in the directory, and returns its status and what it printed.
function M.run(line)
  local script = ("unset LUA_PATH LUA_CPATH && cd %s && export PATH=%s/bin:$PATH && { %s ; } </dev/null 2>&1"):format(
    quote(dir), quote(dir), placed(line)) -- as a user's shell has it, without the variables of the specs
  local pipe = assert(io.popen(script))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return status, text
end

-- The words of a line without quotes.
local function words_of(line)
  local words = {}
  for word in line:gmatch "%S+" do words[#words + 1] = word end
  return words
end

-- A service on a socket of ours runs until the end.
function M.start(line)
  local words = words_of((placed(line):gsub("unix:([%w.]+)", "unix:" .. dir .. "/%1"):gsub("%-%-state weir", "--state " .. dir .. "/weir")
    :gsub(" cluster", " " .. dir .. "/cluster")))
  table.remove(words, 1)
  local s = service.spawn(words)
  service.wait("the service to listen", function() return s.out.text:find "\n" or s.code end)
  assert.is_nil(s.code, s.err.text)
end

-- Parses the options of a line, without running the command.
local function parse(line)
  local words = words_of(line)
  assert.equal("weir", table.remove(words, 1))
  if words[1] == "-s" then
    words = table.move(words, 3, #words, 1, {})
    while words[1]:find "^%-%-" do words = table.move(words, 3, #words, 1, {}) end
    return assert.equal(0, (M.run("weir -s x " .. words[1] .. " --help")))
  end
  assert(options.parse(require("weir.cli." .. words[1]), table.move(words, 2, #words, 1, {})))
end

-- Options of examples that only get parsed here.
local REMOTE = { "etcd:", "tls:" }

local function is_remote(line)
  for _, part in ipairs(REMOTE) do
    if line:find(part, 1, true) then return true end
  end
  return false
end

-- Examples of requests that do not fit, and of machines that differ.
local STATUS = { ["weir diff monday.weir tuesday.weir > day.diff"] = 1,
  ['weir explain -r "rack:2 node:4 core:8" -j "slot=5{duration:1h}/node" -p spread slot=4/node'] = 1,
  ['weir explain -r "rack:2 node:3 core:8" slot=7/node'] = 1 }

--- Runs an example line, which must do what it says; starts a service, and parses what needs another machine.
function M.try(line)
  if is_remote(line) then return parse(line) end
  if line:find "^weir serve" then return M.start(line) end
  line = line:gsub("%-s child%.sock", "-s " .. "./child.sock")
  local status, text = M.run(line)
  assert.equal(STATUS[line] or 0, status, text)
end

return M
