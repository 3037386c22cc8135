--- reference_constraint.lua - whether a vertex of the reference meets a constraint (RFC 31).

-- "0-2,5" or "node[0-2,5]", plain enough for the specs.
local function in_numbers(text, n)
  for first, last in text:gmatch "(%d+)%-?(%d*)" do
    local from, to = tonumber(first), tonumber(last) or tonumber(first)
    if n and n >= from and n <= to then return true end
  end
  return false
end

local function is_host(v, text)
  local prefix, numbers = text:match "^(%a+)%[(.*)%]$"
  if not prefix then return v.name == text end
  local n = v.name:match("^" .. prefix .. "(%d+)$")
  return n ~= nil and in_numbers(numbers, tonumber(n))
end

local satisfies

local OPERATIONS = {
  properties = function(v, list)
    for _, name in ipairs(list) do
      local negated, plain = name:match "^(%^?)(.*)$"
      local has = v.properties[plain] == true or v.name == plain
      if has == (negated == "^") then return false end
    end
    return true
  end,
  ranks = function(v, list)
    for _, text in ipairs(list) do
      if in_numbers(text, v.rank) then return true end
    end
    return false
  end,
  hostlist = function(v, list)
    for _, text in ipairs(list) do
      if is_host(v, text) then return true end
    end
    return false
  end,
  ["and"] = function(v, list)
    for _, c in ipairs(list) do
      if not satisfies(v, c) then return false end
    end
    return true
  end,
  ["or"] = function(v, list)
    for _, c in ipairs(list) do
      if satisfies(v, c) then return true end
    end
    return #list == 0
  end,
  ["not"] = function(v, list)
    for _, c in ipairs(list) do
      if not satisfies(v, c) then return true end
    end
    return false
  end,
}

function satisfies(v, constraint)
  for operator, list in pairs(constraint) do
    if not OPERATIONS[operator](v, list) then return false end
  end
  return true
end

return satisfies
