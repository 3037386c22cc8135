--- metrics.lua - counters and measurements of a service, in the text format of Prometheus.

local core = require "weir.core"
local tables = require "weir.tables"

local M = {}

-- ---- histograms -----------------------------------------------------------------------------------------------------

local BOUNDS = { 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1 } -- upper bounds, in seconds

local Histogram = {}
Histogram.__index = Histogram

function M.histogram()
  local self = setmetatable({ sum = 0, n = 0 }, Histogram)
  for i = 1, #BOUNDS + 1 do self[i] = 0 end
  return self
end

function Histogram:add(seconds)
  local i = 1
  while BOUNDS[i] and seconds > BOUNDS[i] do i = i + 1 end
  self[i], self.sum, self.n = self[i] + 1, self.sum + seconds, self.n + 1
end

-- ---- the text -------------------------------------------------------------------------------------------------------

local function label(value) return (tostring(value):gsub('[\\"\n]', { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" })) end

local function number(x) return math.type(x) == "integer" and tostring(x) or ("%.17g"):format(x) end

local Page = {}
Page.__index = Page

function Page:head(name, kind, help)
  self[#self + 1] = ("# HELP weir_%s %s\n# TYPE weir_%s %s"):format(name, help, name, kind)
end

function Page:one(name, kind, help, value)
  self:head(name, kind, help)
  self[#self + 1] = ("weir_%s %s"):format(name, number(value))
end

-- Adds a metric with a label. `values`: {[value of the label] = number}, printed in ascending order of labels.
function Page:by(name, kind, help, key, values)
  self:head(name, kind, help)
  for value, n in tables.sorted(values) do
    self[#self + 1] = ('weir_%s{%s="%s"} %s'):format(name, key, label(value), number(n))
  end
end

function Page:histogram(name, help, h)
  self:head(name, "histogram", help)
  local sum = 0
  for i, bound in ipairs(BOUNDS) do
    sum = sum + h[i]
    self[#self + 1] = ('weir_%s_bucket{le="%s"} %d'):format(name, bound, sum)
  end
  self[#self + 1] = ('weir_%s_bucket{le="+Inf"} %d'):format(name, h.n)
  self[#self + 1] = ("weir_%s_sum %s\nweir_%s_count %d"):format(name, number(h.sum), name, h.n)
end

-- Adds the units of each type; `aggregate` has a column for each type.
local function put_units(page, graph)
  page:head("units", "gauge", "Units of resources by type: all there are, free, and idle as a whole.")
  local types, rows = {}, graph:aggregate(nil, { all = true })
  for type, row in pairs(rows) do
    if row.total > 0 then types[#types + 1] = type end
  end
  table.sort(types)
  for _, type in ipairs(types) do
    for _, state in ipairs { "total", "free", "idle" } do
      page[#page + 1] = ('weir_units{type="%s",state="%s"} %d'):format(label(type), state, rows[type][state])
    end
  end
end

local function put_service(page, service)
  local states = { allocated = 0, reserved = 0 }
  for _, job in ipairs(service.engine:jobs()) do states[job.state] = (states[job.state] or 0) + 1 end
  local policy = service.engine:policy()
  page:by("info", "gauge", "1, with the policy in use.", "policy", { [policy] = 1 })
  page:one("vertices", "gauge", "Vertices of the machine.", service.graph:count())
  page:by("jobs", "gauge", "Jobs by state.", "state", states)
  put_units(page, service.graph)
  page:by("requests_total", "counter", "Requests by method.", "method", service.asked)
  page:one("matches_total", "counter", "Matches requested.", service.counts.matches)
  page:one("matches_refused_total", "counter", "Matches that found nothing.", service.counts.refused)
  page:one("commits_total", "counter", "Times that changes were saved.", service.counts.commits)
  page:one("graph_bytes", "gauge", "Memory of the machine and its books.", service.graph:bytes())
end

local function put_server(page, server)
  page:by("failures_total", "counter", "Requests that were answered with an error, by its code.", "code", server.failures)
  page:one("clients", "gauge", "Connections.", server.clients)
  page:one("connections_total", "counter", "Connections so far.", server.connections)
  page:one("dropped_total", "counter", "Clients that were dropped as they did not read.", server.dropped)
  page:one("refused_total", "counter", "Connections that were refused or closed to keep to a limit.", server.refused)
  page:one("buffered_bytes", "gauge", "Bytes that are kept for clients: of requests and of answers.", server.buffered_bytes)
  page:one("calls", "gauge", "Requests in flight, streams included.", server.calls)
  page:one("output_waiting_bytes", "gauge", "Bytes of answers that wait to be read.", server.waiting_bytes)
  page:histogram("turn_seconds", "Time of turns: requests of many clients are served in one, and saved at once.", server.turns)
  page:histogram("commit_seconds", "Time that it takes to save.", server.saves)
  page:one("resident_bytes", "gauge", "Memory of the process.", server.resident)
  page:one("open_descriptors", "gauge", "Descriptors of the process.", server.descriptors)
  page:one("cpu_seconds_total", "counter", "Time of the processor.", server.cpu)
  page:one("start_time_seconds", "gauge", "When the service began, in seconds since 1970.", server.began)
end

--- Returns the page of metrics of a service, and of its server unless nil.
function M.text(service, server)
  local page = setmetatable({}, Page)
  page:by("version_info", "gauge", "1, with the version of weir.", "version", { [core.version] = 1 })
  if service.engine then put_service(page, service) end
  page:one("lua_bytes", "gauge", "Memory of Lua.", collectgarbage "count" * 1024 // 1 | 0)
  if server then put_server(page, server) end
  return table.concat(page, "\n") .. "\n"
end

return M
