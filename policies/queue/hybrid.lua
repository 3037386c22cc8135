-- Between EASY and conservative backfilling: the first k waiting jobs have reservations. A later job may start if no
-- reservation is delayed.
--
-- Use it to choose between the two: more reservations protect more jobs and leave less to backfill.
return {
  name = "hybrid",
  doc = "The first k waiting jobs have reservations; later jobs start if they delay none of these.",
  options = { k = { default = 4, min = 0, max = 1000000, doc = "jobs with a reservation" } },
  schedule = function(queue, options)
    local reserved = 0
    for job in queue:pending() do
      if reserved >= options.k then break end
      if not queue:reserve(job) then reserved = reserved + 1 end
    end
    for job in queue:candidates() do queue:start(job) end
  end,
}
