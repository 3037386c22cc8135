-- The first job unable to start gets a reservation. A later job may start if the reservation is not delayed.
--
-- Use it unless there is a reason for another: it keeps a machine busy, and the first job is never delayed.
return {
  name = "easy",
  doc = "EASY backfilling: the first waiting job has a reservation; later jobs start if they do not delay it.",
  schedule = function(queue)
    local head = queue:first()
    while head and queue:reserve(head) do head = queue:first() end -- a started job is no longer first
    for job in queue:candidates() do queue:start(job) end
  end,
}
