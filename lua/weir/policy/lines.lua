--- lines.lua - the lines of a profile, sorted by share, the largest first: {line =, share =, text =}.

local tables = require "weir.tables"

return function(source, profile)
  local texts, list = tables.collect((source or ""):gmatch "([^\n]*)\n?"), {}
  for line, samples in pairs(profile.lines) do
    list[#list + 1] = { line = line, share = samples / math.max(1, profile.samples), text = texts[line] or "" }
  end
  return tables.sort(list, "-share", "line")
end
