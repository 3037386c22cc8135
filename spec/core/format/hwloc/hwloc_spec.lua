-- [L2] machines from hwloc: the present machine, and XML files of further machines, as hwloc 1 and 2 write XML.
local missing = require "spec.support.missing"
local shell = require "spec.support.shell"
local weir = require "weir"

local HERE = "spec/data/hwloc/"
local DATA = (os.getenv "WEIR_DATA" or "../shared/data") .. "/machines/hwloc"

local function load(path, format) return assert(weir.load(path, { format = format })) end

-- "cluster=1 core=4": vertices by type.
local function census(g)
  local counts, words = {}, {}
  for v in g:walk {} do counts[v.type] = (counts[v.type] or 0) + 1 end
  for type, n in pairs(counts) do words[#words + 1] = ("%s=%d"):format(type, n) end
  table.sort(words)
  return table.concat(words, " ")
end

local function count(g, type)
  local n = 0
  for _ in g:walk { type = type } do n = n + 1 end
  return n
end

-- Files of our own: file, format, vertices.
local SMALL = {
  { "box7.xml", "hwloc", "cluster=1 core=4 gpu=3 memory=2 node=1 socket=2 storage=1" },
  { "box7.xml", "hwloc:node", "cluster=1 node=1" },
  { "box7.xml", "hwloc:socket", "cluster=1 node=1 socket=2" },
  { "box7.xml", "hwloc:numanode", "cluster=1 node=1 socket=2" },
  { "box7.xml", "hwloc:pu", "cluster=1 core=4 gpu=3 memory=2 node=1 pu=8 socket=2 storage=1" },
  { "box7.xml", "hwloc:node,core,gpu", "cluster=1 core=4 gpu=3 node=1" },
  { "box7.xml", "hwloc:cluster,node,core,gpu", "cluster=1 core=4 gpu=3 node=1" },
  { "box7.xml", "hwloc:gpu,storage", "cluster=1 gpu=3 node=1 storage=1" },
  { "box7.xml", "hwloc:socket,numanode,pu", "cluster=1 node=1 numanode=2 pu=8 socket=2" },
  { "box7.xml", "hwloc:L3cache,core", "cache=2 cluster=1 core=4 node=1" },
  { "box7.xml", "hwloc:L3cache", "cache=2 cluster=1 node=1" },
  { "box08-hwloc1.xml", "hwloc", "cluster=1 core=2 memory=1 node=1 socket=1" },
  { "box08-hwloc1.xml", "hwloc:pu,all", "cluster=1 core=3 memory=1 node=1 pu=3 socket=1" },
  { "nameless3.xml", "hwloc", "cluster=1 core=2 memory=1 node=1" },
  { "box9-groups.xml", "hwloc", "cluster=1 core=8 gpu=2 memory=1 node=1 socket=3" }, -- processors outside of cores
  { "box9-groups.xml", "hwloc:group,socket,pu", "cluster=1 group=3 node=1 pu=8 socket=3" },
}

-- Places and fields of vertices: file, format, path, field, value.
local PLACES = {
  { "box7.xml", "hwloc", "/cluster0/box7", "rank", 0 },
  { "box7.xml", "hwloc", "/cluster0/box7/socket0/core1", "id", 1 },
  { "box7.xml", "hwloc", "/cluster0/box7/socket1/core3", "size", 1 },
  { "box7.xml", "hwloc", "/cluster0/box7/socket0/gpu1", "type", "gpu" },
  { "box7.xml", "hwloc", "/cluster0/box7/socket1/gpu2", "type", "gpu" },
  { "box7.xml", "hwloc", "/cluster0/box7/socket1/memory1", "size", 4096 },
  { "box7.xml", "hwloc", "/cluster0/box7/socket1/memory1", "unit", "MB" },
  { "box7.xml", "hwloc", "/cluster0/box7/socket1/storage0", "size", 1600 },
  { "box7.xml", "hwloc", "/cluster0/box7/socket1/storage0", "unit", "GB" },
  { "box7.xml", "hwloc:socket,numanode,L3cache,core,pu", "/cluster0/box7/socket1/numanode1/L3cache1/core2/pu5", "type", "pu" },
  { "box7.xml", "hwloc:L3cache,core", "/cluster0/box7/L3cache0", "type", "cache" },
  { "box7.xml", "hwloc:L3cache,core", "/cluster0/box7/L3cache0", "size", 8192 },
  { "box08-hwloc1.xml", "hwloc", "/cluster0/box08/socket0/memory0", "size", 2048 },
  { "nameless3.xml", "hwloc", "/cluster0/node0/memory0", "size", 1024 },
  { "box9-groups.xml", "hwloc:pu", "/cluster0/box9/socket0/core4/pu4", "type", "pu" },
  -- packages at two depths, in a group and not, and groups in a package
  { "box9-groups.xml", "hwloc:group,socket,pu", "/cluster0/box9/group0/socket1/pu0", "type", "pu" },
  { "box9-groups.xml", "hwloc:group,socket,pu", "/cluster0/box9/group0/socket2/pu3", "type", "pu" },
  { "box9-groups.xml", "hwloc:group,socket,pu", "/cluster0/box9/socket0/group2/pu7", "type", "pu" },
  -- a GPU has the number given by the first of cuda, rsmi, nvml, ze and opencl
  { "box9-groups.xml", "hwloc", "/cluster0/box9/gpu3", "type", "gpu" },
  { "box9-groups.xml", "hwloc", "/cluster0/box9/gpu1", "type", "gpu" },
}

-- Units of GPUs in the XML files, each counted once.
local GPUS = {
  ["sierra.xml"] = 4, ["corona.xml"] = 8, ["001N_node_local_storage_lassen_0.xml"] = 4,
  ["001N_multi_gpu_types_chimera.xml"] = 2, ["32em64t-2n8c2t-pci-wholeio.xml"] = 2,
}

-- Disks: file, path, GB.
local DISKS = {
  { "001N_node_local_storage_lassen_0.xml", "/cluster0/lassen6/socket0/storage0", 1562 },
  { "corona.xml", "/cluster0/corona263/socket0/storage0", 3750 },
}

-- The rows of counts.tsv by column; nil where the data is absent.
local function expected()
  local file = io.open(DATA .. "/counts.tsv")
  if not file then return nil end
  local heads, rows = {}, {}
  for line in file:lines() do
    local row, i = {}, 0
    for cell in (line .. "\t"):gmatch "([^\t]*)\t" do
      i = i + 1
      if #rows == 0 and #heads < i then heads[i] = cell else row[heads[i] or ""] = cell end
    end
    if row.file then rows[#rows + 1] = row end
  end
  file:close()
  return rows
end

-- How many objects of a type lstopo lists; nil without lstopo.
local function lstopo(type, xml)
  for _, program in ipairs { "lstopo-no-graphics", "lstopo" } do
    local pipe <close> = assert(io.popen(("%s %s --only %s 2>/dev/null"):format(program, xml and "-i " .. xml or "", type)))
    local n = 0
    for _ in pipe:lines() do n = n + 1 end
    if n > 0 then return n end
  end
end

local OF_LSTOPO = { { "package", "socket" }, { "core", "core" }, { "pu", "pu" }, { "numanode", "memory" } }

describe("hwloc", function()
  for _, case in ipairs(SMALL) do
    it(("[L2] reads %s as %s"):format(case[1], case[2]), function()
      local g <close> = load(HERE .. case[1], case[2])
      assert.equal(case[3], census(g))
      assert(g:check())
    end)
  end

  for _, case in ipairs(PLACES) do
    it(("[L2] puts %s of %s there, with its %s"):format(case[3], case[1], case[4]), function()
      local g <close> = load(HERE .. case[1], case[2])
      assert.equal(case[5], assert(g:vertex(case[3]))[case[4]])
    end)
  end

  it("[L2] counts a GPU once, whatever drivers show it, and no processor for one", function()
    local g <close> = load(HERE .. "box7.xml")
    assert.same({ 2, 1 }, { g:vertex "/cluster0/box7/socket0":aggregate().gpu.total,
      g:vertex "/cluster0/box7/socket1":aggregate().gpu.total })
    assert.equal("Test GPU", g:find("name=gpu1")[1].properties.model)
    assert.equal("0000:02:00.0", g:find("name=gpu1")[1].properties.pci)
    assert.equal("1 L3 of 8 MB", g:find("name=socket0")[1].properties.caches)
    assert.equal("Other GPU", g:find("name=gpu2")[1].properties.model)
  end)

  -- The machine of nameless3.xml with four accelerators on PCI devices of their own. Each has the given number of partitions, all
  -- of them shown by RSMI, and the first by OpenCL too.
  local function accelerated(partitions)
    local lines, id = { '<object type="Bridge" gp_index="100" bridge_type="0-1" depth="0" bridge_pci="0000:[00-04]">' }, 100
    local function open(text, ...)
      id = id + 1
      lines[#lines + 1] = ('<object gp_index="%d" '):format(id) .. text:format(...) .. ">"
    end
    local function device(name, subtype)
      open('type="OSDev" name="%s" subtype="%s" osdev_type="5"', name, subtype)
      lines[#lines + 1] = ('<info name="Backend" value="%s"/><info name="OpenCLDeviceType" value="GPU"/></object>'):format(subtype)
    end
    for pci = 0, 3 do
      open('type="PCIDev" pci_busid="0000:%02x:00.0" pci_type="1200 [1002:74a0] [1002:74a0] 00" pci_link_speed="0.000000"', pci + 1)
      device("opencl0d" .. pci * partitions, "OpenCL")
      for k = 0, partitions - 1 do device("rsmi" .. pci * partitions + k, "RSMI") end
      lines[#lines + 1] = "</object>"
    end
    lines[#lines + 1] = "</object>"
    local file <close> = assert(io.open(HERE .. "nameless3.xml"))
    return (file:read "a":gsub("  </object>\n</topology>", table.concat(lines, "\n"):gsub("%%", "%%%%") .. "%0"))
  end

  for partitions, ids in pairs { [1] = "0-3", [3] = "0-11", [6] = "0-23" } do
    it(("[L2] counts the %d partitions of each accelerator as GPUs, as Flux does"):format(partitions), function()
      local g <close> = assert(weir.parse(accelerated(partitions), { format = "hwloc" }))
      assert.equal(ids, weir.json.decode(g:format "rlite")[1].children.gpu)
    end)
  end

  -- box7.xml with a disk, an adapter of two names and one of a single name below bridges of the second socket.
  local function networked()
    local lines = {}
    local function open(text) lines[#lines + 1] = ('<object gp_index="%d" '):format(200 + #lines) .. text .. ">" end
    local function shut(n) for _ = 1, n do lines[#lines + 1] = "</object>" end end
    open 'type="Bridge" bridge_type="1-1" depth="1" bridge_pci="0000:[90-91]" pci_busid="0000:80:03.1" pci_type="0604 [1:1] [1:1] 00"'
    open 'type="Bridge" bridge_type="1-1" depth="2" bridge_pci="0000:[91-91]" pci_busid="0000:90:00.0" pci_type="0604 [1:1] [1:1] 00"'
    open 'type="PCIDev" pci_busid="0000:91:00.0" pci_type="0207 [1:1] [1:1] 00"'
    open 'type="OSDev" name="ib0" osdev_type="2"'
    shut(1)
    open 'type="OSDev" name="mlx5_0" osdev_type="3"'
    shut(2)
    open 'type="PCIDev" pci_busid="0000:91:00.1" pci_type="0108 [1:1] [1:1] 00"'
    open 'type="OSDev" name="nvme1n1" subtype="Disk" osdev_type="0"'
    lines[#lines + 1] = '<info name="Size" value="5000000"/>'
    shut(4)
    open 'type="PCIDev" pci_busid="0000:83:00.0" pci_type="0200 [1:1] [1:1] 00"'
    open 'type="OSDev" name="eth0" osdev_type="2"'
    shut(2)
    local file <close> = assert(io.open(HERE .. "box7.xml"))
    local text = file:read "a"
    local at = assert(text:find('<object type="PCIDev" gp_index="30"', 1, true))
    return text:sub(1, at - 1) .. table.concat(lines, "\n") .. text:sub(at)
  end

  it("[L2] tells the network adapters of a socket, and the bridges above a device", function()
    local g <close> = assert(weir.parse(networked(), { format = "hwloc" }))
    local one, disk = g:vertex "/cluster0/box7/socket1", nil
    for _, v in ipairs(g:find "type=storage") do
      if v.properties.device == "nvme1n1" then disk = v end
    end
    assert.equal("ib0 mlx5_0 0000:91:00.0; eth0 0000:83:00.0", one.properties.nics)
    assert.is_nil(g:vertex "/cluster0/box7/socket0".properties.nics)
    assert.same({ "0000:91:00.1", "0000:80:03.1 0000:90:00.0" }, { disk.properties.pci, disk.properties.bridges })
  end)

  it("[L2] says which disk a storage is, and takes no drive for one", function()
    local g <close> = load(HERE .. "box7.xml")
    local disk = g:vertex "/cluster0/box7/socket1/storage0"
    assert.same({ "nvme0n1", "259:0" }, { disk.properties.device, disk.properties.LinuxDeviceID })
  end)

  it("[L2] leaves out what is offline or not allowed", function()
    local g <close> = load(HERE .. "box08-hwloc1.xml", "hwloc:pu")
    assert.equal("cluster=1 core=2 memory=1 node=1 pu=2 socket=1", census(g))
  end)

  it("[L2] has this machine, as many of each as lstopo lists", function()
    local g <close> = assert(weir.discover())
    assert.equal(1, count(g, "node"))
    assert(g:check())
    for _, pair in ipairs(OF_LSTOPO) do
      local n = lstopo(pair[1])
      if not n and pair[1] == "core" then return pending(missing.program("lstopo", "hwloc")) end
      if n and pair[2] ~= "pu" then assert.equal(n, count(g, pair[2]), pair[2]) end
    end
  end)

  it("[L2] shows what lstopo lists", function()
    local r = shell.weir { "show", "--totals", "--json" }
    assert.equal(0, r.status)
    local totals, n = weir.json.decode(r.out), lstopo "core"
    if not n then return pending(missing.program("lstopo", "hwloc")) end
    assert.equal(n, totals.core.total)
  end)

  for _, name in ipairs { "box7.xml", "box08-hwloc1.xml", "nameless3.xml" } do
    it("[L2] reads of " .. name .. " what lstopo does", function()
      if not lstopo("core", HERE .. name) then return pending(missing.program("lstopo", "hwloc")) end
      local g <close> = load(HERE .. name, "hwloc:pu")
      for _, pair in ipairs(OF_LSTOPO) do
        assert.equal(lstopo(pair[1], HERE .. name) or 0, count(g, pair[2]), pair[2])
      end
    end)
  end

  -- The machine of nameless3.xml with n more objects.
  local function with(n, object)
    local file <close> = assert(io.open(HERE .. "nameless3.xml"))
    local more = {}
    for i = 1, n do more[i] = object:gsub("#", tostring(i)) end
    return (file:read "a":gsub("  </object>\n</topology>", table.concat(more) .. "%0"))
  end

  local GPU = '<object type="OSDev" gp_index="1#" name="cuda#" subtype="CUDA" osdev_type="5"/>\n'
  for _, case in ipairs {
    { 65000, '<object type="Misc" gp_index="1#"/>\n', nil },
    { 65536, '<object type="Misc" gp_index="1#"/>\n', "more than 65536 objects" },
    { 4096, GPU, nil },
    { 4097, GPU, "more than 4096 GPUs" },
  } do
    it(("[L2] %s %d objects %s"):format(case[3] and "refuses" or "takes", case[1], case[2]:match 'type="(%a+)"'), function()
      local g, why, code = weir.parse(with(case[1], case[2]), { format = "hwloc" })
      if not case[3] then return assert(g, why):close() end
      assert.same({ nil, "limit" }, { g, code })
      assert.truthy(why:find(case[3], 1, true), why)
    end)
  end

  for _, case in ipairs { { "hwloc:rack", '"rack" is no type' }, { "hwloc:,core", '"" is no type' }, { "hwloc:CORE", '"CORE"' } } do
    it("refuses the format " .. case[1], function()
      local g, why, code = weir.load(HERE .. "box7.xml", { format = case[1] })
      assert.same({ nil, "invalid" }, { g, code })
      assert.truthy(why:find(case[2], 1, true), why)
    end)
  end
end)

describe("hwloc of others", function()
  local rows = expected()

  if not rows then
    pending("[L2] " .. missing.data(DATA))
    return
  end

  for _, row in ipairs(rows) do
    local name = row.file:match "[^/]+$"

    it("[L2] counts what hwloc counts in " .. name, function()
      local g <close> = load(DATA .. "/" .. name, "hwloc:pu")
      local all <close> = load(DATA .. "/" .. name, "hwloc:pu,all")
      assert.same({ row.Package, row.NUMANode, row.Core, row.PU, row.PU_incl_disallowed },
        { tostring(count(g, "socket")), tostring(count(g, "memory")), tostring(count(g, "core")), tostring(count(g, "pu")),
          tostring(count(all, "pu")) })
    end)

    it("[L2] counts the GPUs of " .. name, function()
      local g <close> = load(DATA .. "/" .. name)
      assert.equal(GPUS[name] or 0, count(g, "gpu"))
    end)
  end

  for _, case in ipairs(DISKS) do
    it("[L2] finds the disk of " .. case[1], function()
      local g <close> = load(DATA .. "/" .. case[1])
      local v = assert(g:vertex(case[2]))
      assert.same({ case[3], "GB" }, { v.size, v.unit })
    end)
  end

  it("[L2] numbers cores and gpus as the machines do", function()
    local sierra <close> = load(DATA .. "/sierra.xml")
    local corona <close> = load(DATA .. "/corona.xml")
    for g, last in pairs { [sierra] = { 43, 3 }, [corona] = { 47, 7 } } do
      for i, type in ipairs { "core", "gpu" } do
        for id = 0, last[i] do assert.equal(1, #g:find(("type=%s and id=%d"):format(type, id))) end
        assert.equal(last[i] + 1, count(g, type))
      end
    end
  end)
end)
