-- What the package weir-sim registers; the fields are described in lua/weir/packages.lua.

return {
  name = "weir-sim", needs = { "weir" }, doc = "replays of traces, comparisons of policies, forecasts",
  commands = { "replay", "tune" },
  words = { simulate = "weir replay runs a trace", sim = "weir replay runs a trace" },
  kinds = {
    { function(path) return path:find "%.swf$" or path:find "%.swf%.gz$" end, nil,
      "%s is a trace: weir replay -r MACHINE %s plays it" },
    { function(_, text) return text:match "^[^\n]*":find "|.*%f[%w]Submit%f[^%w]" end, nil,
      "%s is an accounting: weir replay -r MACHINE %s plays it" },
  },
}
