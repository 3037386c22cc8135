--- xml.lua - a small XML reader for specs: elements as {name =, attributes =, parent =, text =, children...}; raises at
--- what is not well-formed.
local ENTITIES = { amp = "&", lt = "<", gt = ">", quot = '"', apos = "'", ["#39"] = "'" }

local function plain(text)
  assert(utf8.len(text), "text is not UTF-8")
  assert(not text:find "[%z\1-\8\11\12\14-\31]", "a control character")
  assert(not text:find "\239\191[\190\191]", "U+FFFE or U+FFFF")
  return (text:gsub("&([^;]*);?", function(name) return assert(ENTITIES[name], "unknown entity &" .. name) end))
end

local function attributes_of(text, where)
  local list, rest = {}, text
  while rest:find "%S" do
    local name, value, after = rest:match '^%s+([%w:-]+)="([^"<]*)"()'
    assert(name, "attributes of " .. where .. ": " .. text)
    assert(list[name] == nil, "an attribute twice: " .. name)
    list[name], rest = plain(value), rest:sub(after)
  end
  return list
end

return function(text)
  local root = { name = "", text = "" }
  local at, position = root, (text:match "^<%?xml [^>]*%?>()") or 1
  while position <= #text do
    local words, stop = text:match("^([^<]+)()", position)
    if words then
      at.text, position = at.text .. plain(words), stop
    else
      local close, name, rest, empty, after = text:match("^<(/?)([%w:-]+)([^<>]-)(/?)>()", position)
      assert(name, "no markup: " .. text:sub(position, position + 40))
      if close == "/" then
        assert(at.name == name, ("</%s> ends <%s>"):format(name, at.name))
        at = at.parent
      else
        local element = { name = name, attributes = attributes_of(rest, name), parent = at, text = "" }
        at[#at + 1] = element
        if empty == "" then at = element end
      end
      position = after
    end
  end
  assert(at == root, "<" .. at.name .. "> has no end")
  return root
end
