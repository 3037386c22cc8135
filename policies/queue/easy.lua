-- The first job that cannot start gets a reservation; a later one may start as long as it does not delay that.
return {
  name = "easy",
  doc = "EASY backfilling: one reservation, for the first that waits; others may start where they do not delay it.",
  schedule = function(queue)
    local head = queue:first()
    while head and queue:reserve(head) do head = queue:first() end -- what starts is not the first any more
    for job in queue:candidates() do queue:start(job) end
  end,
}
