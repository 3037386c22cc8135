--- job_calls.lua - what the methods about jobs and stages share: descriptions of jobs, and requests of calls.

local core = require "weir.core"
local params = require "weir.serve.params"
local plain = require "weir.plain"
local service_state = require "weir.serve.service_state"
local view = require "weir.view"
local weir = require "weir"

local M = {}

--- Formats of an answer, the first one the default.
M.FORMATS = { "none", "tree", "rv1", "rv1_nosched", "rv1_shorthand", "rlite", "jgf", "jgf_shorthand" }

-- ---- description of a job -------------------------------------------------------------------------------------------

--- Returns an allocation in a format, as a table or a text; nil for "none". about: the facts given to the match; the queue there
-- is put into the R of a preview or a stage, which is no job that has a queue.
function M.document(a, format, about)
  if format == "none" then return nil end
  if format == "tree" then return view.allocation(a) end
  local text = service_state.strip_text(params.check(a:format(format)))
  if format == "rlite" then return core.json_decode(text) end
  if not format:find "^rv1" then return text end
  local R, queue = core.json_decode(text), a.id == 0 and about and about.queue
  if type(queue) == "string" then R.attributes = { system = { scheduler = { queue = queue } } } end
  return R
end

--- Returns the state of an allocation without its resources. `owner`: the user of the match, or nil for an
-- administrator.
function M.brief(self, a)
  local t = plain.times(a)
  t.policy, t.owner = a.policy, self.owners:of(a.id)
  return t
end

--- Returns the state and the resources of an allocation, with the text of a format. about: the facts given to the match, or nil.
function M.full(self, a, format, about)
  self:tells(a.count)
  local t = M.brief(self, a)
  t.vertices, t.resources = plain.vertices(a), M.document(a, format, about)
  return t
end

--- Returns what policies may know of the job of a call: for an administrator, which may be a scheduler, what the call
-- says; for anybody else the user's name.
function M.about(call, p)
  if call.client.role == "administrator" then return p.about end
  if p.about then params.fail("forbidden", "field 'about': only an administrator may say whose job a job is") end
  return { user = call.client.name }
end

--- Returns the hierarchy that a call names, "HIERARCHY" or "HIERARCHY:TYPE"; nil for the service's own.
function M.hierarchy(p)
  local text = p.subsystem
  if text and (#text > 200 or not (text:match "^[^:]+$" or text:match "^[^:]+:[^:]+$")) then
    params.fail("invalid", "field 'subsystem': a hierarchy such as power, or containment:rack, expected")
  end
  return text
end

-- ---- requests --------------------------------------------------------------------------------------------------------

-- Parsed requests by text, as many clients send equal requests: texts of at most SHORT bytes, at most KNOWN_MOST of
-- them.
local SHORT, KNOWN_MOST = 1024, 512
local known, nknown = {}, 0

local function remember(text, asked)
  if #text > SHORT then return asked end
  if nknown == KNOWN_MOST then known, nknown = {}, 0 end
  known[text], nknown = asked, nknown + 1
  return asked
end

--- Returns the request of a call: a jobspec as table or text, or a shape. Never the name of a file: the path would name
-- a file of the service's host.
function M.request(p)
  local value = p.request
  if known[value] then return known[value] end
  if type(value) == "table" then return params.table_request(value) end
  return remember(value, params.check(weir.request(value, p.name or "request")))
end

return M
