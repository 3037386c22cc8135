--- lines.lua - the lines of a profile, sorted by share, the largest first: {line =, share =, text =}.

return function(source, profile)
  local texts, list = {}, {}
  for text in (source or ""):gmatch "([^\n]*)\n?" do texts[#texts + 1] = text end
  for line, samples in pairs(profile.lines) do
    list[#list + 1] = { line = line, share = samples / math.max(1, profile.samples), text = texts[line] or "" }
  end
  table.sort(list, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.line < b.line
  end)
  return list
end
