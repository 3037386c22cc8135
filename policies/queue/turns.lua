-- The user whose last job started the longest ago has the turn: of the waiting jobs, the first one of this user is the
-- next. The job has a reservation, and no job overtakes. The state has the number of the last start of each user, and is
-- changed by `started` only, so a new edition of this file, put into use, goes on where the last one ended.

-- The first job of the user who has the turn.
local function next_job(queue, last)
  local best, least = nil, math.huge
  for job in queue:pending() do
    local turn = last[tostring(job.user)] or 0
    if turn < least then best, least = job, turn end
  end
  return best
end

return {
  name = "turns",
  doc = "Users in turn: first the first job of the user whose last job started the longest ago.",
  state = { starts = 0, last = {} },
  started = function(job, _, _, state)
    state.starts = state.starts + 1
    state.last[tostring(job.user)] = state.starts
  end,
  schedule = function(queue, _, state)
    local job = next_job(queue, state.last)
    for other in queue:pending() do
      if other ~= job then queue:unreserve(other) end
    end
    while job and queue:reserve(job) do job = next_job(queue, state.last) end
  end,
}
