-- The user whose last job started the longest ago has the turn: of the waiting jobs, the first one of this user is the
-- next. The job has a reservation, and a later job may start if the reservation is not delayed (EASY). The state has the
-- number of the last start of each user, and is changed by `started` only: a new edition of this file, put into use,
-- continues where the last one ended.
--
-- Use it where users should get equal numbers of starts, whatever the number of jobs that they submit.
local held -- the job that has the reservation

-- The first job of the user who has the turn.
local function next_job(queue, last)
  local best, smallest, seen = nil, math.huge, {}
  for job in queue:pending() do
    local user = job.user or ""
    if not seen[user] then
      local turn = last[tostring(user)] or 0
      seen[user] = true
      if turn < smallest then best, smallest = job, turn end
      if turn == 0 then break end
    end
  end
  return best
end

return {
  name = "turns",
  doc = "Users in turn: the first job of the user whose last start is longest ago (EASY).",
  state = { starts = 0, last = {} },
  started = function(job, _, _, state)
    state.starts = state.starts + 1
    state.last[tostring(job.user or "")] = state.starts
  end,
  schedule = function(queue, _, state)
    local job = next_job(queue, state.last)
    if held and held.waits and held ~= job then queue:unreserve(held) end
    while job and queue:reserve(job) do job = next_job(queue, state.last) end
    held = job
    for other in queue:candidates() do queue:start(other) end
  end,
}
