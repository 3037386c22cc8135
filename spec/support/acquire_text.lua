-- acquire_text.lua - the acquisition protocol, statement by statement: the duties of a provider and of a scheduler in
-- both wordings of RFC 28, and the specs that prove them. Rows are {statement, spec file, part of the name of a spec,
-- ...}; spec/weir-serve/acquire/text_spec.lua looks the specs up.

local PLAIN, STREAM = "spec/weir-serve/acquire/acquire_spec.lua", "spec/weir-serve/acquire/stream_spec.lua"
local SOCKET, NESTED = "spec/weir-serve/serve/acquire_spec.lua", "spec/weir-serve/serve/nested_spec.lua"
local TEXT = "spec/weir-serve/acquire/text_spec.lua"

return {
  -- Background
  { "inventory from a configuration file", "spec/weir-serve/serve/serve_spec.lua", "[L6] reads what -r names" },
  { "inventory that is discovered", TEXT, "[Q1] an inventory that hwloc has found" },
  { "inventory assigned by the enclosing instance", NESTED, "[L3] has what a job of its parent has" },
  { "resources excluded by configuration", SOCKET, "[Q1][Q12] hands a group to another scheduler", PLAIN,
    "[Q1] lets the group exclude be acquired like any other" },
  { "made unavailable by administrative control", PLAIN, "[Q11] drain is offline to the scheduler" },
  { "or fail unexpectedly", PLAIN, "[Q4][Q5] tells who has them that targets went up or down" },
  { "targets are the ranks of R_lite", PLAIN, "[Q1] describes the resources of a grow by an R that reads back" },
  { "all of a target is up or down at once", TEXT, "[Q5] all of a target is up or down at once" },

  -- Acquire, typed wording
  { "the scheduler SHALL send resource.acquire at initialization", PLAIN, "[Q3] places nothing on what a shrink took" },
  { "there MAY be multiple active acquires", PLAIN, "[Q12] acquires several groups at once" },
  { "group is REQUIRED, a string", PLAIN, "a payload without a group", PLAIN, "a group that is no text" },
  { "default is all that is not in any group", PLAIN, "[Q1] gives a group as one grow response" },
  { "each response SHALL include its type", PLAIN, "no type", PLAIN, "a type that is none" },

  -- Grow
  { "resources is an R", PLAIN, "[Q1] describes the resources of a grow", PLAIN, "resources that are none" },
  { "online and offline are the targets of resources", PLAIN, "online and offline that leave something out", PLAIN,
    "online and offline that overlap" },
  { "adds resources to the scheduler", PLAIN, "[Q2] schedules on what a grow brings, and only that", SOCKET,
    "takes new targets in, and lets others go" },
  { "SHOULD wait until the first grow to judge satisfiability", PLAIN, "[Q10] says nothing about that before the first grow" },
  { "satisfiability is independent of availability", PLAIN, "[Q10] judges what could ever run by all that is acquired" },
  { "a change of groups is a grow", PLAIN, "[Q2] grows a stream by what comes into its group" },

  -- Shrink
  { "subtracts targets", PLAIN, "[Q3] takes back what leaves its group", PLAIN, "a shrink of what it has not" },
  { "SHALL NOT allocate these in the future", PLAIN, "[Q3] places nothing on what a shrink took" },
  { "unless they are restored with a grow", PLAIN, "[Q2] a grow restores what a shrink took" },
  { "a fatal exception on jobs that have them", PLAIN, "[Q13] a shrink of what jobs have is a fatal exception", NESTED,
    "is shrunk by its parent: jobs there get a fatal exception", STREAM, "only what is taken ends jobs" },
  { "SHALL be prepared to process sched.free involving them", PLAIN, "[Q7] takes part by part what a job frees" },
  { "as they become free, SHALL send resource.release", PLAIN, "[Q7] waits for the last of several jobs on a target", SOCKET,
    "[Q2][Q3][Q7] targets move from its own scheduler" },
  { "SHOULD re-evaluate the satisfiability of all in the queue", PLAIN, "[Q3] tells which of the waiting jobs can no longer run" },

  -- Online, offline
  { "online: from offline to online", PLAIN, "[Q4] places on a target again once it is online" },
  { "offline: SHALL NOT allocate these", PLAIN, "[Q11] keeps jobs on drained targets, and places no more there" },
  { "SHALL NOT raise an exception on jobs there", PLAIN, "[Q13] offline raises nothing on the jobs", NESTED,
    "[Q4][Q5][Q13] has targets offline while " },
  { "eventually there is a sched.free for offline resources", TEXT, "[Q5] a job on what is offline is freed as any other" },
  { "offline is crashed and drained alike", PLAIN, "[Q11] drain is offline to the scheduler" },

  -- Errors
  { "an error response ends the scheduler", SOCKET, "[Q6] refuses a group that is taken", NESTED,
    "ends with status 1 when the job is released" },
  { "... failure to acquire any resources", PLAIN, "a group of which nothing is left" },
  { "... failure to conform", PLAIN, "[Q6] ends where the provider fails to conform: " },
  { "an error response to release ends it too", TEXT, "[Q6] an error response to a release ends it" },

  -- Release
  { "group and targets are REQUIRED", PLAIN, "no idset", PLAIN, "no group" },
  { "group SHALL match the one of the acquire", PLAIN, "a group that it has not" },
  { "targets SHALL match, or be a subset of, those of shrinks", PLAIN, "more than a shrink named" },
  { "SHALL NOT release what was in no shrink", PLAIN, "[Q8] never releases more than it owes", PLAIN, "what no shrink named" },
  { "the response SHALL have an empty payload", TEXT, "[Q8] the answer to a release is empty" },

  -- Disconnect
  { "cancels the acquire, and all can be acquired again", PLAIN, "[Q9] has everything again after a disconnect", SOCKET,
    "[Q9] has everything back when a scheduler goes" },
  { "running jobs are unaffected", PLAIN, "[Q9] jobs run on over a disconnect" },
  { "hello tells of the allocations again", PLAIN, "[Q9] a job on what was not acquired again gets its fatal exception at hello" },

  -- The newer wording
  { "the request has no payload", PLAIN, "speaks the newer wording to those who ask with nothing", SOCKET,
    "speaks the newer wording to those who ask without a group" },
  { "resources: all but what is excluded by configuration; up", PLAIN, "[Q1] starts with resources and up" },
  { "SHALL only allocate what is up", PLAIN, "[Q1] starts with resources and up" },
  { "up and down tell only of those that change", PLAIN, "[Q5] up and down come and go" },
  { "shrink is in down too, and takes precedence", PLAIN, "takes a response with several keys as the example of the text has it" },
  { "removed or down: SHALL NOT raise an exception", PLAIN, "[Q13] raises nothing on jobs whose target was removed", STREAM,
    "[Q13] of the newer wording ends no job" },
  { "property-add, property-remove", PLAIN, "takes a response with several keys", TEXT,
    "[Q10] a property that goes makes unsatisfiable what needs it" },
  { "expiration", PLAIN, "takes a response with several keys" },
  { "keys that are not known are passed over", TEXT, "a key that is not known is passed over" },
}
