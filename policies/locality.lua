-- Candidates under one parent whose ids follow each other are a run. The longest run among the first candidates gives
-- first, so that a job lies together, close on the network or in the cache; what is missing comes from the next longest.
local function by_place(a, b)
  if a.parent ~= b.parent then return a.parent < b.parent end
  return a.id < b.id
end

local function runs_of(list)
  local runs, run = {}, nil
  for _, c in ipairs(list) do
    local last = run and run[#run]
    if not last or last.parent ~= c.parent or last.id + 1 ~= c.id then
      run = {}
      table.insert(runs, run)
    end
    table.insert(run, c)
  end
  return runs
end

return {
  name = "locality",
  doc = "The longest run of free neighbours near the front: keeps a job together, for codes that talk a lot.",
  order = { "node.id", "id" },
  candidates = 16, -- or twice as many as are wanted: the front of the machine is enough to look at
  select = function(candidates, _, _, max)
    if max == 1 then return nil end -- one lies together with itself: the first
    local list, out = {}, {}
    for i, v in ipairs(candidates) do
      local parent = v:parent()
      list[i] = { at = i, id = v.id or 0, parent = parent and parent.index or -1 }
    end
    table.sort(list, by_place)
    local runs = runs_of(list)
    table.sort(runs, function(a, b)
      if #a ~= #b then return #a > #b end
      return a[1].at < b[1].at
    end)
    for _, run in ipairs(runs) do
      for _, c in ipairs(run) do
        if #out == max then return out end
        table.insert(out, c.at)
      end
    end
    return out
  end,
}
