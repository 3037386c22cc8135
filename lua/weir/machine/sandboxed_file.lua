--- sandboxed_file.lua - Lua files that describe machines: run in a sandbox, and return plain data for building graphs.

local core = require "weir.core"

local M = {}

--- Runs a text. Returns the result; or nil, message, code ("parse", "invalid", "limit"). `name` is the name of the
--- text in errors. opts: prelude and source, see bindings/weir/policy/sandbox_run.c; instructions, memory and seconds,
--- budgets.
function M.run(text, name, opts)
  text = text:gsub("^\u{FEFF}", ""):gsub("^#[^\n]*", "")
  return core.sandbox_run(text, name, opts)
end

--- The budgets among a reader's options, as a table.
function M.budgets(opts)
  return { instructions = opts and opts.instructions, memory = opts and opts.memory, seconds = opts and opts.seconds }
end

--- Makes a graph and fills the graph with grow(graph). Returns the graph; or nil, message, code. An error raised by
--- grow is raised again after the graph is closed.
function M.build(grow)
  local graph, nothing, code = core.new()
  if not graph then return nil, nothing, code end
  graph:begin()
  local ok, why = pcall(grow, graph)
  local done, unfinished, nomem = graph:finish()
  if ok and done then return graph end
  graph:close()
  if ok then return nil, unfinished, nomem end
  error(why, 0)
end

return M
