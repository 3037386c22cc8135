-- Jobs are sorted by a weighted sum of: the waiting time, relative to max_age; the size, relative to the machine; the
-- fair share, high for a user with little recent usage (the usage counts half after half_life); the QOS (a number, or
-- the position of a name in `levels`, lowest level first); and the job's priority. The first job has a reservation,
-- and a later job may start if the reservation is not delayed (EASY).
--
-- Use it where users, qualities of service and sizes have different rights.
local usage = {} -- user -> {amount = unit seconds, at = time of the last change}

-- The usage of a user, decayed to the time `now`.
local function used(user, now, half_life)
  local account = usage[user or ""]
  return account and account.amount * 0.5 ^ ((now - account.at) / half_life) or 0
end

-- The level of a QOS: a number, the position of a name in `names`, 0 for an unknown name.
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
  doc = "A weighted sum of age, size, fair share, QOS and priority; the first job has a reservation (EASY).",
  options = {
    age = { default = 1.0, min = 0, max = 1000, doc = "the weight of the waiting time" },
    max_age = { default = 604800, min = 1, max = 31536000, doc = "the waiting time with the highest value, in seconds" },
    size = { default = 0.0, min = -1000, max = 1000, doc = "the weight of the size; below 0 small jobs come first" },
    fair = { default = 1.0, min = 0, max = 1000, doc = "the weight of the fair share" },
    half_life = { default = 604800, min = 1, max = 31536000, doc = "seconds after which usage counts half" },
    qos = { default = 1.0, min = 0, max = 1000, doc = "the weight of the QOS" },
    levels = { default = "low normal high", doc = "the names of QOS, lowest first" },
  },
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
      if job ~= head then queue:unreserve(job) end -- a former first job
    end
    while head and queue:reserve(head) do head = queue:first() end
    for job in queue:candidates() do queue:start(job) end
  end,
}
