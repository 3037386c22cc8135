--- palette.lua - the colours of pictures: a job has the same colour everywhere.

local M = {}

--- Colours of jobs: twelve hues of three shades. Job `id` has the hue id % 12 and the shade id // 12 % 3.
M.hues = {
  { "#ee8866", "#8f523d", "#ffb896" }, { "#4477aa", "#9ab9d8", "#294766" }, { "#ddaa33", "#85661f", "#ffdb70" },
  { "#88ccee", "#527a8f", "#2f5163" }, { "#cc6677", "#e6a9b4", "#7a3d47" }, { "#332288", "#a39cc9", "#6659a6" },
  { "#44aa99", "#29665c", "#7fd8c6" }, { "#999933", "#5c5c1f", "#d6d65c" }, { "#aa4499", "#d89fce", "#66295c" },
  { "#117733", "#7dbd92", "#0a471f" }, { "#ee99aa", "#8f5c66", "#6b3040" }, { "#882255", "#c987aa", "#e0609f" },
}

--- Colours of the themes, for light and for dark screens: page; text, and soft text; blocks and edges; free cells, and
--- cells of no value or of several (none); marks; grid lines of charts; lines over states, bad states; jobs drawn together
--- (others); heats: shares in use, from a tenth to all; letters on high and on low heats; free cells of gpus, memory,
--- storage and of the network, so that these differ from cores.
M.light = {
  page = "#ffffff", text = "#1f2328", soft = "#59636e", block = "#f5f7f9", edge = "#d1d9e0", free = "#e0e5ea", none = "#b4bcc4",
  freegpu = "#cfe6c8", freememory = "#cfdff1", freestorage = "#f1e2c6", freenic = "#e4d7ef",
  mark = "#d1242f", grid = "#eaeef2", line = "#3d4752", bad = "#b3382c", others = "#6e7781", onhigh = "#ffffff", onlow = "#1f2328",
  heats = { "#d3e3f0", "#bcd5e9", "#a3c6e1", "#88b6d8", "#6ba4ce", "#5092c2", "#3a7fb4", "#296ba2", "#1b568c", "#0f4070" },
}
M.dark = {
  page = "#0d1117", text = "#e6edf3", soft = "#9198a1", block = "#151b23", edge = "#30363d", free = "#252b33", none = "#59626c",
  freegpu = "#233b28", freememory = "#1d3247", freestorage = "#3d331d", freenic = "#35283f",
  mark = "#ffb454", grid = "#21262d", line = "#c4ccd4", bad = "#ff8a7a", others = "#8b949e", onhigh = "#1f2328", onlow = "#e6edf3",
  heats = { "#1b3346", "#1f3f58", "#244b6b", "#29587e", "#2f6692", "#3776a6", "#4688b9", "#5d9bca", "#7ab0da", "#9cc8ea" },
}

--- The name of the colour of free cells in a theme, by type; others have the colour "free".
M.frees = { gpu = "freegpu", memory = "freememory", storage = "freestorage", ssd = "freestorage", nic = "freenic" }

--- Returns style rules for light and for dark screens. "$page" in a rule is a colour of the theme, "$heat3" a heat.
function M.rules(rules)
  local function filled(theme)
    return (rules:gsub("%$(%a+)(%d*)", function(name, level) return level ~= "" and theme.heats[tonumber(level)] or theme[name] end))
  end
  return filled(M.light) .. "@media(prefers-color-scheme:dark){" .. filled(M.dark) .. "}"
end

--- The colour of the frame of what is degraded.
M.degraded = "#b7791f"

--- Colours of states.
M.states = { up = "#9fd3c1", down = "#4d5661", degraded = "#e3c34a", failing = "#b3382c", unknown = "#b9aed6",
  null = "#cfd6dd", draining = "#ee8866" }

--- The colour of a job.
function M.job(id) return M.hues[id % 12 + 1][id // 12 % 3 + 1] end

--- The colour of the n-th category, n from 0.
M.nth = M.job

--- Whether white letters are readable on a colour.
function M.is_dark(colour)
  local r, g, b = colour:match "^#(%x%x)(%x%x)(%x%x)$"
  return tonumber(r, 16) * 0.299 + tonumber(g, 16) * 0.587 + tonumber(b, 16) * 0.114 < 137
end

return M
