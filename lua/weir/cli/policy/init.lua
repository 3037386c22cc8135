--- weir policy: lists, checks, times and creates policies.

local out = require "weir.cli.output"
local inputs = require "weir.cli.inputs"
local policy = require "weir.policy"
local suggest = require "weir.suggest"

local M = {
  name = "policy",
  doc = "List, check, measure, profile and create placement policies and queue policies.",
  usage = "ACTION [OPTION...] [POLICY...]",
  operand = "ACTION", min = 1,
  options = {
    { nil, "json", nil, "as JSON" },
    { "r", "resources", "RESOURCES", "check, bench, profile: the machine, as for weir match" },
    { "p", "policy", "POLICY", "profile: the policy" },
    { "n", "rounds", "COUNT", "bench: how often each request is matched; 200 if not given", kind = "some", max = 1000000 },
    { "o", "directory", "DIR", "new: the directory of the files; the current one if not given" },
    { "q", "queue", nil, "list, bench, new: queue policies" },
    { "v", "verbose", nil, "list: with options and the path of each" },
  },
  notes = [[
  weir policy list [--queue]              the policies that -p, or with --queue -q of replay and test, accepts by name
  weir policy check [-r R] POLICY...      loads each and tries it on two small machines, or on R: whether it keeps the
                                          contract, what it reads, what it costs
  weir policy bench [POLICY...]           vertices visited, calls into Lua and time of a match, on 1,024 nodes; all
                                          policies if none is given
  weir policy bench -r R POLICY...        the cost of a match on R, empty, half, 90 % and 99 % full, as multiples of low,
                                          whose line has microseconds; "-": the request does not fit. With --json also
                                          the time of the first match, which creates indices and scores
  weir policy profile -r R -p P JOB...    calls and time of each hook, C versus Lua, the hottest lines
  weir policy new [--queue] NAME          writes NAME.lua, a commented policy to start from, NAME_spec.lua, its test, and
                                          .luarc.json, with which editors complete fields and methods

A queue policy decides when jobs start, a placement policy where. check, bench and profile accept both: a queue policy is run
on a synthetic history of jobs.

print in a policy writes to standard error if the environment variable WEIR_POLICY_PRINT is 1.

A POLICY is a name or a file, with options after a colon: weighted:pack=2,low=0.5. Names are searched in the
directories of WEIR_POLICY_PATH (separated by colons), then among the bundled policies. A name with a "/"
in it or ending in ".lua" is a file.

Exit status: 0 success, 1 a check failed, 2 wrong usage or unreadable input.]],
}

local ACTIONS = { "list", "check", "bench", "profile", "new" }

M.actions = ACTIONS

-- Options allowed for some actions only.
local ONLY = {
  resources = "check, bench and profile", policy = "profile", rounds = "bench", directory = "new", verbose = "list",
  queue = "list, bench and new",
}

local function check_options(action, opts)
  for name, owner in pairs(ONLY) do
    if name == "queue" and opts.queue and action == "check" then
      out.fail(2, "policy check: it detects the kind of a policy; --queue is not needed")
    end
    if opts[name] and not owner:find(action, 1, true) then out.fail(2, "policy %s: --%s is for weir policy %s", action, name, owner) end
  end
  if action == "list" and opts[1] then out.fail(2, "policy list takes no %s", opts[1]) end
  if action == "check" and not opts[1] then out.fail(2, "policy check: expected a POLICY (a name or a file)") end
  if action == "new" and (not opts[1] or opts[2]) then out.fail(2, "policy new: expected one NAME") end
  if action == "profile" and not opts.policy then
    out.fail(2, "policy profile: expected -r RESOURCES, -p POLICY and a JOB")
  end
end

function M.run(opts)
  local action = table.remove(opts, 1)
  for _, known in ipairs(ACTIONS) do
    if known == action then
      check_options(action, opts)
      return require("weir.cli.policy." .. action)(opts, inputs) or 0
    end
  end
  local found = policy.find(action)
  if found then out.fail(2, "policy: %s is the policy %s: weir policy check %s tries it", action, found, action) end
  out.fail(2, 'policy: "%s" is nothing to do%s; list, check, bench, profile and new are', action,
    suggest.hint(action, ACTIONS))
end

return M
