-- Jobs start strictly in order: the first job unable to start keeps all later jobs waiting.
--
-- Use it where the order of submission must be the order of starts, and as the baseline of a comparison.
return {
  name = "fcfs",
  doc = "First come, first served: a job that cannot start blocks all later jobs.",
  schedule = function(queue)
    for job in queue:pending() do
      if not queue:start(job) then return end
    end
  end,
}
