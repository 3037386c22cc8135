-- Jobs start strictly in order: the first job unable to start keeps all later jobs waiting.
return {
  name = "fcfs",
  doc = "First come, first served: a job that cannot start blocks all later jobs.",
  schedule = function(queue)
    for job in queue:pending() do
      if not queue:start(job) then return end
    end
  end,
}
