-- What the package weir registers; the fields are described in lua/weir/packages.lua.

local MATCH = "weir match -r MACHINE slot=1/node places a job, with -m reserve at the earliest start that is possible"

return {
  name = "weir", needs = {}, doc = "machines, requests, policies and scenarios",
  commands = { "match", "explain", "show", "find", "list", "convert", "diff", "repl", "run", "test", "policy", "completion" },
  words = {
    submit = MATCH, alloc = MATCH, allocate = MATCH, reserve = MATCH, schedule = MATCH, salloc = MATCH, sbatch = MATCH, srun = MATCH,
    shell = "weir repl -r MACHINE explores one", tree = "weir show -r MACHINE", load = "weir show FILE",
    why = "weir explain -r MACHINE slot=1/node says why a job does not fit", check = "weir policy check FILE",
  },
}
