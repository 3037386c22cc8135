-- EASY backfilling, shortest estimate first: of the jobs behind the reservation, short jobs are tried first, since a
-- short job frees the resources soonest.
--
-- Use it to lower the mean wait where estimates of run times are good.
local function shorter(a, b)
  if a.estimate ~= b.estimate then return a.estimate < b.estimate end
  if type(a.number) ~= type(b.number) then return type(a.number) == "number" end
  return a.number < b.number
end

return {
  name = "sjbf",
  doc = "EASY, with backfill candidates in order of their estimates, shortest first.",
  schedule = function(queue)
    local head = queue:first()
    while head and queue:reserve(head) do head = queue:first() end
    local list = {}
    for job in queue:candidates() do list[#list + 1] = job end
    table.sort(list, shorter)
    for _, job in ipairs(list) do queue:start(job) end
  end,
}
