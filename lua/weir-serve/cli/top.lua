--- weir top: a live view of the activity of a service.

local out = require "weir.cli.output"

local remote = require "weir.cli.remote"
local tables = require "weir.tables"

local M = {
  name = "top",
  doc = "Show the activity of a service, live: use by type, jobs, rates, waiting requests.",
  usage = "-s SOCKET [OPTION...]",
  max = 0,
  options = {
    { "s", "socket", "SOCKET", "the socket of the service", required = true },
    { "i", "interval", "SECONDS", "between two updates; 1 if not given", kind = "number", min = 0.01, max = 86400 },
    { "n", "count", "N", "updates; endless on a terminal, else 1 if not given", kind = "some", max = 1000000000 },
    { nil, "json", nil, "one line of JSON per update" }, table.unpack(remote.options),
  },
}

local function bytes(n)
  local units, i = { "B", "kB", "MB", "GB" }, 1
  while n >= 10000 and i < #units do n, i = n / 1000, i + 1 end
  return ("%.0f %s"):format(n, units[i])
end

local function bar(part)
  local full = math.floor(part * 20 + 0.5)
  local marks = out.style().bar or { "#", "." }
  return marks[1]:rep(full) .. marks[2]:rep(20 - full)
end

local function rate(now, before, key)
  local seconds = before and now.seen - before.seen or 0
  return seconds > 0 and ("%.0f/s"):format((now.counts[key] - before.counts[key]) / seconds) or "-"
end

local function use_rows(totals)
  local rows = { { "type", "total", "used", "", "free", "idle" } }
  for type, row in tables.sorted(totals) do
    rows[#rows + 1] = { type, tostring(row.total), tostring(row.total - row.free), bar(1 - row.free / row.total), tostring(row.free),
      tostring(row.idle) }
  end
  return rows
end

local function show(now, before)
  out.line(("policy %s   %d allocated, %d reserved   %s graph, %s Lua"):format(now.policy, now.allocated, now.reserved,
    bytes(now.bytes.graph), bytes(now.bytes.lua)))
  out.line(("requests %d (%s)   matches %d (%s), refused %d   commits %d (%s)"):format(now.counts.requests, rate(now, before, "requests"),
    now.counts.matches, rate(now, before, "matches"), now.counts.refused, now.counts.commits, rate(now, before, "commits")))
  out.line(("clients %d   in flight %d   waiting to be served %d, to be read %s"):format(now.server.clients, now.server.calls,
    now.server.ready, bytes(now.server.waiting_bytes)))
  out.line ""
  out.table(use_rows(now.totals), { false, true, true, false, true, true })
end

function M.run(opts)
  local core, clients = require "weir.core", require "weir.serve.client"
  local client <close> = remote.connect(opts.socket, opts)
  local looks, before = opts.count or (out.is_terminal() and math.huge or 1), nil
  for i = 1, looks do
    local now = remote.ask(client, "stats")
    now.seen = core.clock()
    if opts.json then
      out.json(now)
    else
      if out.is_terminal() then out.write "\27[H\27[2J" end
      show(now, before)
    end
    out.flush()
    before = now
    if i < looks then clients.wait(opts.interval or 1) end
  end
end

return M
