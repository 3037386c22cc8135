--- sandboxed_file.lua - Lua files that describe something: they run in a sandbox, and hand back plain data, of which graphs are built.

local core = require "weir.core"

local M = {}

--- What a text returns; or nil, message, code ("parse", "invalid", "limit"). `name` is what errors call it. opts: prelude
--- and source, see bindings/policy/sandbox_run.c; instructions, memory and seconds, budgets.
function M.run(text, name, opts)
  text = text:gsub("^\u{FEFF}", ""):gsub("^#[^\n]*", "")
  return core.sandbox_run(text, name, opts)
end

--- Those of a reader's options that are budgets, in a table of their own.
function M.budgets(opts)
  return { instructions = opts and opts.instructions, memory = opts and opts.memory, seconds = opts and opts.seconds }
end

--- A new graph that grow(graph) fills; or nil, message, code. What grow raises is raised again; nothing is left half built.
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
