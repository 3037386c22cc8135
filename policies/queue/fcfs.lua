-- Jobs start strictly in order: the first job unable to start keeps all later jobs waiting.
return {
  name = "fcfs",
  doc = "First come, first served: what comes first starts first, and who cannot start holds up the rest.",
  schedule = function(queue)
    for job in queue:pending() do
      if not queue:start(job) then return end
    end
  end,
}
