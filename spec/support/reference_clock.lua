--- reference_clock.lua - the clock of the reference: which reservations begin, and which are put off because jobs past
--- their ends hold the needed vertices. All reservations are placed anew, in order, each beside the reservations
--- before.

local Reference = require "spec.support.reference_schedule"

-- Whether a job with span x of v excludes a second job with span s of w.
local function excludes(v, x, w, s)
  if v == w then return x.exclusive or s.exclusive end
  return s.exclusive and Reference.is_below(v, w) or x.exclusive and Reference.is_below(w, v)
end

-- Calls f(v, span) for all spans of jobs in a set.
local function each_span(self, jobs, f)
  for _, v in ipairs(self.list) do
    for _, s in ipairs(v.spans) do
      if jobs[s.job] then f(v, s) end
    end
  end
end

-- Whether the holdings of a job fit beside spans {vertex =, start =, finish =, span =}, at every instant of [t0, t1).
local function fits(self, job, others, t0, t1)
  local ok = true
  each_span(self, { [job.id] = true }, function(v, x)
    local starts = { t0 }
    for _, o in ipairs(others) do
      if o.start < t1 and t0 < o.finish then
        if excludes(v, x, o.vertex, o.span) then ok = false end
        if o.vertex == v then starts[#starts + 1] = math.max(t0, o.start) end
      end
    end
    for _, t in ipairs(starts) do
      local sum = x.amount
      for _, o in ipairs(others) do
        if o.vertex == v and o.start <= t and t < o.finish then sum = sum + o.span.amount end
      end
      if sum > v.size then ok = false end
    end
  end)
  return ok
end

-- Spans of the jobs in a set: by agreed times, or (with `now`) as held at present.
local function spans_of(self, jobs, now)
  local list = {}
  each_span(self, jobs, function(v, s)
    list[#list + 1] = { vertex = v, span = s, start = now or s.start, finish = now and now + 1 or s.finish }
  end)
  return list
end

local function first_start(self, job, settled, from)
  local others, starts = spans_of(self, settled), { from }
  for id in pairs(settled) do
    if self.jobs[id].finish > from then starts[#starts + 1] = self.jobs[id].finish end
  end
  table.sort(starts)
  for _, t in ipairs(starts) do
    local finish = Reference.microseconds(t + (job.finish - job.start))
    if fits(self, job, others, t, finish) then return t, finish end
  end
  error "a reservation has no place behind those before it"
end

local function move(self, job, start, finish)
  each_span(self, { [job.id] = true }, function(_, s) s.start, s.finish = start, finish end)
  job.start, job.finish = start, finish
end

local function in_order(a, b)
  if a.start ~= b.start then return a.start < b.start end
  return a.id < b.id
end

--- The clock goes on; where jobs end by the clock (`expire`), those with an end that is reached go first. Returns how many
-- reservations were put off.
function Reference:advance(t)
  for _, id in ipairs(self.expire and self:ids() or {}) do
    if self.jobs[id].finish <= t then self:release(id) end
  end
  local begun, settled, waiting, late = {}, {}, {}, 0
  for id, job in pairs(self.jobs) do
    if job.start > self.clock then waiting[#waiting + 1] = job else begun[id], settled[id] = true, true end
  end
  table.sort(waiting, in_order)
  self.clock = t
  for _, job in ipairs(waiting) do
    local due = job.start <= t
    if due and fits(self, job, spans_of(self, begun, t), t, t + 1) and fits(self, job, spans_of(self, settled), job.start, job.finish) then
      begun[job.id] = true
    else
      local start, finish = first_start(self, job, settled, due and Reference.microseconds(t + 1e-6) or job.start)
      if start ~= job.start then
        move(self, job, start, finish)
        late = late + 1
      end
    end
    settled[job.id] = true
  end
  return late
end

return Reference
