-- Who comes first is a sum: how long a job waits (of max_age), how large it is (of the machine), how little its user has used
-- lately (half of it is forgotten in half_life), its QOS (levels names them, the lowest first; a number counts as it is), and
-- its own priority. The first has a reservation, others may start where they do not delay it.
local usage = {} -- by user: unit seconds, and when that was

local function used(user, now, half_life)
  local account = usage[user or ""]
  return account and account.amount * 0.5 ^ ((now - account.at) / half_life) or 0
end

local function level(qos, names)
  if type(qos) == "number" then return qos end
  local n = 0
  for name in names:gmatch "%S+" do
    n = n + 1
    if name == qos then return n end
  end
  return 0
end

return {
  name = "priority",
  doc = "By age, size, fair share with a half-life, QOS and priority, in weights; the first has a reservation (EASY).",
  options = { age = 1.0, max_age = 604800, size = 0.0, fair = 1.0, half_life = 604800, qos = 1.0, levels = "low normal high" },
  order = function(job, now, o)
    local age = math.min((now - job.submit) / o.max_age, 1)
    local fair = 0.5 ^ (used(job.user, now, o.half_life) / (job.machine * o.half_life) * 16)
    return -(o.age * age + o.size * job.units / job.machine + o.fair * fair + o.qos * level(job.qos, o.levels) + (job.priority or 0))
  end,
  finished = function(job, now, o)
    local amount = used(job.user, now, o.half_life) + job.units * (now - job.start)
    usage[job.user or ""] = { amount = amount, at = now }
  end,
  schedule = function(queue)
    local head = queue:first()
    for job in queue:pending() do
      if job ~= head then queue:unreserve(job) end -- of who was the first
    end
    while head and queue:reserve(head) do head = queue:first() end
    for job in queue:candidates() do queue:start(job) end
  end,
}
