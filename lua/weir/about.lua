--- about.lua - what the host of a match knows of a job, as policies read the job (request.job): the option `about` of
--- e:match. A simulator and a scheduler pass their own tables of jobs, which have fields of these names.

local suggest = require "weir.suggest"

local M = {}

--- The fields, each with its type: "number" for a number, "text" for a text or a number.
M.FIELDS = { user = "text", bank = "text", project = "text", queue = "text", qos = "text", name = "text",
  urgency = "number", priority = "number", submit = "number" }

--- The names of the fields, sorted.
M.NAMES = { "bank", "name", "priority", "project", "qos", "queue", "submit", "urgency", "user" }

-- Words of other tools, by the field.
local MEANT = { partition = "queue", account = "bank", uid = "user", username = "user" }

--- Returns true if a table has only the fields above, with values of their types; or nil, message.
function M.check(about)
  for key, value in pairs(about) do
    local wanted = M.FIELDS[key]
    if MEANT[key] then return nil, ("there is no '%s': it is %s here"):format(key, MEANT[key]) end
    if not wanted then
      return nil, ("there is no '%s'%s"):format(tostring(key):sub(1, 64), suggest.among(tostring(key), M.NAMES))
    end
    if type(value) ~= "number" and (wanted == "number" or type(value) ~= "string") then
      return nil, ("%s: expected %s, not a %s"):format(key, wanted == "number" and "a number" or "a text or a number", type(value))
    end
  end
  return true
end

--- Parses "user=ada,urgency=20". Returns the table; or nil, message.
function M.parse(text)
  local about = {}
  for word in text:gmatch "[^,]+" do
    local key, value = word:match "^([^=]+)=(.*)$"
    if not key then return nil, ("expected FIELD=VALUE, such as user=ada, not \"%s\""):format(word) end
    about[key] = M.FIELDS[key] == "number" and tonumber(value) or value
  end
  local ok, why = M.check(about)
  if not ok then return nil, why end
  return about
end

--- Returns the fields above of a job of a simulator or a scheduler, for e:match and e:explain, and the attributes of its jobspec
--- as JSON, where jobs with different attributes share a request.
function M.of(job)
  local about = { attributes = job.attributes }
  for _, name in ipairs(M.NAMES) do about[name] = job[name] end
  return about
end

return M
