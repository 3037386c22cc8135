-- A command never replaces a file that the command reads, by whatever name; it writes through links, and a link stays
-- a link.
local shell = require "spec.support.shell"

local MACHINE = "cluster:1 node:2 core:2"
local dir

-- Runs a command of the shell in the directory, in which $W is weir. Returns the status and the output.
local function sh(command)
  local pipe = assert(io.popen(("W=$(realpath '%s'); cd '%s'; { %s ; } 2>&1 </dev/null"):format(shell.bin, dir, command)))
  local text = pipe:read "a"
  local _, _, status = pipe:close()
  return status, text
end

before_each(function()
  dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir " .. dir))
  local status, text = sh(([[
    "$W" convert '%s' m.json
    printf 'submit,runtime,procs\n1,5,1\n' >t.csv
    "$W" convert slot=1/core job.yaml
    echo "return { order = { 'id' } }" >p.lua
    echo "return { schedule = function(q) for j in q:pending() do q:start(j) end end }" >q.lua
    ln t.csv hard.csv; ln -s t.csv soft.csv; ln -s m.json soft.json; : >old.csv; ln -s old.csv link.csv
    mkdir r; ln t.csv r/jobs.csv; ln t.csv r/tune.json]]):format(MACHINE))
  assert.same({ 0, "" }, { status, text })
end)

after_each(function() os.execute("rm -r " .. dir) end)

local function sums() return select(2, sh "cat m.json t.csv job.yaml p.lua q.lua | cksum") end

-- {words of the command line, in the directory; the output that is refused}
local REFUSED = {
  { "replay -r m.json t.csv --jobs t.csv", "--jobs: t.csv" }, { "replay -r m.json t.csv --jobs ./t.csv", "--jobs: ./t.csv" },
  { "replay -r m.json t.csv --jobs hard.csv", "--jobs: hard.csv" }, { "replay -r m.json t.csv --jobs soft.csv", "--jobs: soft.csv" },
  { "replay -r m.json soft.csv --evalys t.csv", "--evalys: t.csv" }, { "replay -r m.json t.csv --jobs m.json", "--jobs: m.json" },
  { "replay -r m.json --generate 5 --jobs soft.json", "--jobs: soft.json" },
  { "replay -r m.json t.csv -p ./p.lua --evalys p.lua", "--evalys: p.lua" },
  { "replay -r m.json t.csv -q ./q.lua --jobs q.lua", "--jobs: q.lua" },
  { "replay -r m.json t.csv --report r", "--report: r/jobs.csv" },
  { "tune -r m.json -q hybrid r/tune.json --report r", "--report: r/tune.json" },
  { "convert m.json m.json", "OUT: m.json" }, { "convert m.json soft.json", "OUT: soft.json" },
  { "convert soft.json -F jgf m.json", "OUT: m.json" }, { "convert job.yaml -F json job.yaml", "OUT: job.yaml" },
  { "convert m.json 'node:1 core:1' m.json", "OUT: m.json" },
  { "show -r m.json --svg -o m.json", "--output: m.json" }, { "show -r soft.json --dot -o m.json", "--output: m.json" },
  { "show -r m.json -j job.yaml --html -o job.yaml", "--output: job.yaml" },
  { "show -r m.json -j job.yaml -p ./p.lua --html -o p.lua", "--output: p.lua" },
  { "query -L m.json -f jgf -t m.json", "--test-output: m.json" }, { "query -L m.json -f jgf -t soft.json", "--test-output: soft.json" },
  { "repl -r m.json -c ':record m.json'", "m.json is read" }, { "repl -r m.json -c ':record soft.json'", "soft.json is read" },
}

describe("an input is not replaced:", function()
  for _, case in ipairs(REFUSED) do
    it("weir " .. case[1], function()
      local before = sums()
      local status, said = sh('"$W" ' .. case[1])
      assert.is_true(status ~= 0)
      assert.truthy(said:find(case[2], 1, true), said)
      assert.truthy(said:find("is not replaced", 1, true), said)
      assert.equal(before, sums())
    end)
  end
end)

describe("an output", function()
  local function run(command)
    local status, said = sh(command)
    assert.equal(0, status, said)
  end

  it("goes through a link, which stays", function()
    run '"$W" replay -r m.json t.csv --quiet --jobs link.csv && test -L link.csv && grep -q job_id old.csv'
    run '"$W" convert m.json link.csv && test -L link.csv && grep -q core old.csv'
  end)

  it("may be a device, also with another output there", function()
    run '"$W" replay -r m.json t.csv --quiet --jobs /dev/null --evalys /dev/stdout'
  end)

  it("is none of the other outputs", function()
    local status, said = sh '"$W" replay -r m.json t.csv --jobs old.csv --evalys link.csv'
    assert.equal(2, status)
    assert.truthy(said:find("both are to be written to old.csv", 1, true), said)
  end)
end)
