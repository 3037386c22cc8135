--- acquire.lua - both sides of the acquisition protocol (RFC 28) in one process, without sockets: the messages of each
--- side are passed to the peer.
local weir = require "weir"
local providers = require "weir.acquire.provider"
local scheduler_client = require "weir.acquire.scheduler_client"

local M = {}

M.MACHINE = "cluster:1 rack:2 node:4 core:4" -- targets 0-7

function M.inventory(text) return assert(weir.synthetic(text or M.MACHINE)):rset { scheduling = true } end

-- A provider alone: `sent` has its messages, {stream, response} each.
function M.provider(opts)
  opts = opts or {}
  local set, sent = opts.set or M.inventory(), {}
  local p = providers.new {
    targets = set:ranks(), groups = opts.groups, up = opts.up, drained = opts.drained, reasons = opts.reasons,
    resources = function(targets) return set:on_ranks(targets):table "rv1" end,
    send = function(stream, response) sent[#sent + 1] = { stream = stream, response = response } end,
  }
  return p, sent
end

-- The messages since the last call, without the R: "stream type targets".
function M.told(sent)
  local lines = {}
  for i, entry in ipairs(sent) do
    local r = entry.response
    if r.type == "grow" then
      lines[i] = ("%s grow %s online %s offline %s"):format(entry.stream, r.resources.execution.R_lite[1].rank, r.online, r.offline)
    elseif r.type then
      lines[i] = ("%s %s %s"):format(entry.stream, r.type, r.targets)
    else
      local copy = {}
      for key, value in pairs(r) do copy[key] = key ~= "resources" and value or nil end
      lines[i] = entry.stream .. " " .. weir.json.encode(copy, { sort = true })
    end
    sent[i] = nil
  end
  return lines
end

-- A provider and a follower with a queue each way. Returns a table: p, f, heard (events), run().
function M.pair(opts)
  opts = opts or {}
  local it = { heard = {}, log = {} }
  local queue, set = {}, opts.set or M.inventory()
  local function put(act) queue[#queue + 1] = act end
  local function hear(what) return function(x) table.insert(it.heard, { what, x }) end end
  it.p = providers.new {
    targets = set:ranks(), groups = opts.groups, up = opts.up,
    resources = function(targets) return set:on_ranks(targets):table "rv1" end,
    send = function(stream, response) put(function() it.f:receive(stream, response) end) end,
  }
  local function answer(method, payload, group)
    if method == "resource.acquire" then return it.p:acquire(group, payload) end
    return it.p:release(group, payload)
  end
  function it.make(more)
    it.f = scheduler_client.new {
      groups = opts.want, style = opts.style, policy = opts.policy or "low", record = more and more.record,
      send = function(method, payload, group)
        it.log[#it.log + 1] = method .. " " .. (payload.targets or payload.group or "")
        put(function()
          local ok, why = answer(method, payload, group)
          if not ok then it.f:error(group, why) end
        end)
      end,
      on = { exception = hear "exception", requeue = hear "requeue", unsatisfiable = hear "unsatisfiable", exit = hear "exit" },
    }
    return it.f
  end
  function it.run()
    while queue[1] do table.remove(queue, 1)() end
    if it.f.engine then assert(it.f.engine:resources():check()) end
  end
  it.make(opts)
  it.f:start()
  it.run()
  return it
end

-- "exception 1 on 2-3", ...
function M.events(it)
  local lines = {}
  for i, entry in ipairs(it.heard) do
    local what, x = entry[1], entry[2]
    lines[i] = what == "exception" and ("exception %d on %s"):format(x.job, x.targets) or what .. " " .. tostring(x)
    it.heard[i] = nil
  end
  return lines
end

function M.free_nodes(it) return #it.f.engine:resources():find "type=node and idle and state=up" end

function M.ranks_of(a) return tostring(weir.idset(a:rset():ranks())) end

return M
