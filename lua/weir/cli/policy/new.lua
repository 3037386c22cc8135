--- weir policy new: a policy to start from, and its spec.

local files = require "weir.files"
local out = require "weir.cli.output"

local POLICY = [[
-- %NAME%: what this policy prefers, in a sentence.
--
-- Everything in the table is optional: keep what you need. A policy chooses among what fits; it can never give a job
-- what another one has. Try it:
--   weir policy check ./%NAME%.lua
--   weir match -p ./%NAME%.lua -r "cluster:1 rack:2 node:4 core:8" slot=2/node

---@type weir.policy
local policy = {
  name = "%NAME%",
  doc = "Nodes of the best class first; below that, the lowest id.",
  version = "1",

  -- What a user can set: -p ./%NAME%.lua:class=3. The default tells the type.
  options = {
    class = { default = 1, min = 1, max = 9, doc = "the class that is best" },
  },

  -- A static preference, smallest numbers first. Called once for each vertex, and again when its properties or tags,
  -- or those of a vertex above it, change: it may read nothing that jobs change.
  order = function(v, options)
    local class = tonumber(v.properties.perf_class) or 9
    return math.abs(class - options.class), v.id or 0
  end,

  -- May this vertex, and what is below it, be used at all? Only what you leave out here can make a job not fit.
  prune = function(v, request)
    return v.tags.maintenance == nil
  end,

  -- A score for each candidate that fits, higher is better; for what changes with every job. Costs a call for each
  -- candidate, so leave it out where `order` will do.
  -- evaluate = function(v, request) return -v:below "core" end,

  -- Chooses among the candidates: data that the engine knows ({"runs"}, {"shortest"}, {"fewest", group = "rack"},
  -- {"one", group = "rack"}, {"each", group = "rack"}, {"closest", by = "node.properties.speed"}), or a function that
  -- returns a list of `min` to `max` positions, best first, and costs a look at all candidates.
  -- select = {"fewest", group = "rack"},
  -- select = function(candidates, request, min, max, scores) return { 1 } end,

  -- Asked once for each job: return false and a reason to refuse it, or a changed jobspec.
  -- admit = function(jobspec, options) if #jobspec.resources > 9 then return false, "too many" end end,
}

return policy
]]

local SPEC = [[
-- What %NAME% must choose, on a small machine where that is evident. Run it: busted %NAME%_spec.lua

local weir = require "weir"

describe("the policy %NAME%", function()
  local g, e

  before_each(function()
    g = assert(weir.synthetic "cluster:1 rack:2 node:4 core:8")
    for i, v in ipairs(g:find "type=node") do v.properties.perf_class = tostring(i % 2 + 1) end
    e = assert(weir.engine { resources = g, policy = "%PATH%" })
  end)

  local function nodes_of(a)
    local names = {}
    for i, pick in ipairs(a:vertices()) do names[i] = pick.vertex.name end
    return table.concat(names, " ")
  end

  it("prefers nodes of the best class, the lowest id first", function()
    assert.equal("node1 node3", nodes_of(assert(e:match "slot=2/node")))
  end)

  it("leaves nodes under maintenance alone", function()
    g:find("name=node1")[1].tags.maintenance = ""
    assert.equal("node3 node5", nodes_of(assert(e:match "slot=2/node")))
  end)
end)
]]

local function write(path, text)
  if files.exists(path) then out.fail(2, "policy new: %s is there already", path) end
  out.check(files.write(path, text))
  out.line(path)
end

return function(opts)
  local name, dir = opts[1], opts.directory or "."
  if not name:find "^[%a_][%w_]*$" then
    out.fail(2, 'policy new: "%s": a name of letters, digits and _ is wanted', name)
  end
  local path = dir .. "/" .. name .. ".lua"
  local function fill(text) return (text:gsub("%%NAME%%", name):gsub("%%PATH%%", path)) end
  local spec = dir .. "/" .. name .. "_spec.lua"
  if files.exists(spec) then out.fail(2, "policy new: %s is there already", spec) end
  write(path, fill(POLICY))
  write(spec, fill(SPEC))
end
