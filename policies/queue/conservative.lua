-- Every job gets a reservation when it comes; when resources become free earlier than thought, each in turn is moved
-- forward, while all others keep theirs: nobody is ever delayed by who came later.
return {
  name = "conservative",
  doc = "Conservative backfilling: everybody has a reservation, and a later job never delays an earlier one.",
  schedule = function(queue)
    for job in queue:news() do queue:reserve(job) end
  end,
}
