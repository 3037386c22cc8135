-- Lists of hosts as Flux reads and writes them: leading zeros count for each number of its own.
local flux = require "spec.support.flux"
local flux_hostlist = require "weir.flux.hostlist"
local weir = require "weir"

local encode = weir.json.encode

-- A list of Flux, its hosts, and the text that Flux writes for them.
local LISTS = {
  { "node[07,8]", "node07 node8", "node[07,8]" },
  { "node[8,07]", "node8 node07", "node[8,07]" },
  { "node[07-10,11]", "node07 node08 node09 node10 node11", "node[07-11]" },
  { "node[007,08,9]", "node007 node08 node9", "node[007,08,9]" },
  { "n[01-3]", "n01 n02 n03", "n[01-03]" },
  { "n[09-11]", "n09 n10 n11", "n[09-11]" },
  { "n[9,10,08]", "n9 n10 n08", "n[9-10,08]" },
  { "n[0,00]", "n0 n00", "n[0,00]" },
  { "n[1-3,04-05]", "n1 n2 n3 n04 n05", "n[1-3,04-05]" },
  { "a[005,4,11]-x", "a005-x a4-x a11-x", "a005-x,a4-x,a11-x" },
  { "a,b[1-2],c03,c4,d", "a b1 b2 c03 c4 d", "a,b[1-2],c[03,4],d" },
  { "n07, n[08-09,7] ,x", "n07 n08 n09 n7 x", "n[07-09,7],x" },
  { "", "", "" },
}

describe("a list of hosts of Flux", function()
  for _, case in ipairs(LISTS) do
    it(("%q has its hosts"):format(case[1]), function()
      local hosts, names = weir.hostlist(flux_hostlist.read(case[1])), {}
      for i = 1, #hosts do names[i] = hosts[i] end
      assert.equal(case[2], table.concat(names, " "))
    end)

    it(("%q is written as Flux does"):format(case[3]), function()
      local hosts = weir.hostlist(flux_hostlist.read(case[1]))
      assert.equal(case[3], flux_hostlist.write(tostring(hosts)))
    end)
  end

  it("names the hosts of the machine in Flux", function()
    local machine = flux.machine(2, 1, { nodelist = { "node[07,8]" } })
    local s = assert(flux.open {})
    assert(s.service:acquire(encode(machine)))
    flux.submit(s, 1, 2)
    flux.settle(s)
    assert.equal("node07,node8", table.concat(weir.json.decode(s.said[1][3]).execution.nodelist, ","))
  end)
end)
