-- The first job that cannot start gets a reservation. A later job may start now as long as that reservation can be made
-- anew, on whatever resources, for no later a time.
local function backfill(queue, head, promised, job)
  if queue:start(job) then return true end -- beside the reservation, on what it leaves
  queue:unreserve(head)
  local started = queue:start(job)
  local t = queue:reserve(head)
  return started, t and t > promised
end

return {
  name = "easy",
  doc = "EASY backfilling: one reservation, for the first that waits; others may start where they do not delay it.",
  schedule = function(queue)
    local head, promised
    for _, job in ipairs(queue:pending()) do
      if head then
        if queue:fits(job) then backfill(queue, head, promised, job) end
      elseif not (queue:fits(job) and queue:start(job)) then
        head = job
        queue:unreserve(job)
        promised = queue:reserve(job)
      end
    end
  end,
}
