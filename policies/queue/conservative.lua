-- Every job gets a reservation at submission. When resources become free earlier than estimated, the engine moves the
-- reservations forward in turn, and none back: a later job never delays an earlier job.
--
-- Use it where a start that was announced must hold. It costs the most: every waiting job is placed in the future.
return {
  name = "conservative",
  doc = "Conservative backfilling: every job has a reservation, and a later job never delays an earlier one.",
  schedule = function(queue)
    for job in queue:news() do queue:reserve(job) end
  end,
}
