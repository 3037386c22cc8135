-- `evaluate` sorts by the free units below the parent, and `select` takes one candidate from each parent in turn,
-- beginning with the emptiest parent.
local function emptiness(v)
  local _, free = (v:parent() or v):below(v.type)
  return free, true -- true: the value holds for all siblings
end

return {
  name = "spread",
  doc = "The emptiest parent first, one from each in turn: shares out bandwidth, heat and risk.",
  evaluate = emptiness,
  select = function(candidates, _, _, max)
    local rounds, taken, out = {}, {}, {}
    for i, v in ipairs(candidates) do -- emptiest parent first; the n-th child of a parent goes into round n
      local parent = v:parent() or v
      local n = (taken[parent] or 0) + 1
      taken[parent] = n
      rounds[n] = rounds[n] or {}
      table.insert(rounds[n], i)
    end
    for _, round in ipairs(rounds) do
      for _, i in ipairs(round) do
        if #out == max then return out end
        table.insert(out, i)
      end
    end
    return out
  end,
}
