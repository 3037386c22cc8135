--- manpage_serve.lua - the man pages of a service: weir-protocol(7), with the methods from the comments of their functions, and
--- weir-remote(1), the commands of weir -s SOCKET from their tables.

local files = require "weir.files"
local params = require "weir.serve.params"
local remote = require "weir.cli.remote"
local roff = require "spec.tools.roff"
local roles = require "weir.serve.roles"
local service = require "weir.serve.service"

local bold, italic, plain = roff.bold, roff.italic, roff.plain

local M = {
  PROTOCOL_DOC = "the protocol of a weir service: requests, answers, methods, roles, error codes",
  REMOTE_DOC = "run commands on a weir service: weir -s SOCKET COMMAND",
}

local PROTOCOL = [[
A client sends requests to a service of weir-serve(1), one JSON object per line, and receives answers, one per line. A request has
an id (a number or a text), a method and, for most methods, params. An answer has the same id and a result; "more": true says that
others with this id follow, as for lists that are sent in pages and for streams. A failed request has an error, for people, and a
code, for programs, in place of the result:

  {"id": 1, "method": "match", "params": {"request": "slot=2/node"}}
  {"id": 1, "result": {"job": 1, "state": "allocated", "start": 0.0, ...}}
  {"id": 2, "error": "...", "code": "busy"}

The id of a job is a whole number. An id that match chose is not used again while the service has its state, up to 2^53-1, the
largest number that every JSON reader can distinguish from the next; then ids start again at 1, without those in use. A caller may
choose an id from 1 to 2^53-1 (job) that is not in use. The owner of a job, a name of 1 to 255 bytes of UTF-8 without blanks, is
the user who matched it, from the match until nothing of the job is left.

A client may send any number of requests without waiting for answers, up to the limit. Requests of one client start in order. A
request with a filter, or a query that may take long, is answered by a forked copy of the service, which has the last saved state,
and does not delay later requests: answers may arrive in another order, and the id identifies them.]]

local CODES = {
  { "busy", "It would fit, but not now; or this user has too many requests at work." },
  { "infeasible", "It could never fit." }, { "rejected", "The policy does not admit it." },
  { "unknown", "There is no such method, job, vertex or target." }, { "exists", "The id or the name is in use." },
  { "invalid, parse", "The request makes no sense; the error gives the reason." },
  { "limit", "A limit was reached; see --limit of weir-serve(1)." },
  { "forbidden", "The role of this client does not allow it; the error names the role that would." },
  { "gone", "Something that a filter chose was given to another job; repeat the request." },
  { "policy", "A policy or a filter failed." },
  { "failed", "A policy failed while the jobs were simulated (try)." },
  { "standby", "Another service is the leader." },
  { "over", "The job of a child has ended, and with it the stream of the child." },
  { "unavailable", "There is nothing to acquire: no parent, an empty group, or nothing that this service schedules." },
  { "protocol", "A message breaks the protocol of RFC 28: a release of a target that was not requested, or an answer of the parent." },
  { "io, internal", "A fault in the service, which is in its log." },
}

local ROLES = [[
The role of a client limits what it may do: a reader queries; an owner also has jobs of its own, and releases, grows and shrinks
these and no others; an administrator may do everything. On a Unix socket the role follows from the user at the other end: the
user who runs the service and root are administrators, others have the role that --allow gives them, and are refused otherwise. On
TCP the role belongs to the token that the client shows with the method login, before which nothing else is answered.]]

-- ---- methods ------------------------------------------------------------------------------------------------

local NAMES = { "jobs", "machine", "policy", "resource", "child", "parent", "service" }

-- {name =, example =, text =} of each comment with an example of a request in front.
local function methods_of(path)
  local list, current = {}, nil
  for line in (files.read(path, "script") .. "\n"):gmatch "([^\n]*)\n" do
    local example, text = line:match '^%-%-%- (%b{}):?;?%s*(.*)$'
    local name = example and example:match '"method":"([^"]+)"'
    local more = line:match "^%-%-%- (.*)$"
    if name then
      current = { name = name, example = example, text = text }
      list[#list + 1] = current
    elseif current and more then
      current.text = current.text == "" and more or current.text .. " " .. more
    else
      current = nil
    end
  end
  return list
end

local function put_method(page, method)
  assert(service.methods[method.name], method.name)
  page:put(".TP\n%s (%s)", bold(method.name), italic(roles.needed(method.name)))
  page:put(roff.example(method.example))
  if method.text ~= "" then page:put(".br\n%s", plain(method.text)) end
  local row = params.row(method.name)
  for _, name in ipairs(row.names) do
    page:put(".br\n%s: %s%s", bold(name), plain(params.expected(row.fields[name])), row.fields[name].needed and "; needed" or "")
  end
  page:put(".br\nChanges: %s.", row.changes[1] and table.concat(row.changes, ", ") or "nothing")
end

local function put_methods(page)
  page:put(".SH METHODS\nEach method is listed with the role that it needs, an example, its parameters, and the parts of the state "
    .. "that it may change:")
  local words = {}
  for word in pairs(params.CHANGES) do words[#words + 1] = word end
  table.sort(words)
  for _, word in ipairs(words) do page:put(".TP\n%s\n%s", bold(word), plain(params.CHANGES[word])) end
  page:put ".PP\nA method that fails changes nothing."
  for _, name in ipairs(NAMES) do
    page:put(".SS %s", name)
    for _, method in ipairs(methods_of(("lua/weir-serve/serve/methods/%s.lua"):format(name))) do put_method(page, method) end
  end
end

-- ---- the pages ----------------------------------------------------------------------------------------------

--- Adds the protocol to a page, and returns the page.
function M.protocol(page)
  page:put ".ad l\n.SH DESCRIPTION"
  page:notes(PROTOCOL)
  page:list("ERROR CODES", CODES)
  page:put ".SH ROLES"
  page:notes(ROLES)
  put_methods(page)
  page:put ".SH SEE ALSO\n.BR weir-serve (1),\n.BR weir-remote (1)"
  return page
end

--- Adds the commands of weir -s SOCKET to a page, and returns the page.
function M.remote(page)
  page:put(".SH SYNOPSIS\n%s %s [%s] %s [%s...] [%s...]", bold "weir -s", italic "SOCKET", bold "--token-file FILE", italic "COMMAND",
    italic "OPTION", italic "ARGUMENT")
  page:put(".SH DESCRIPTION\n%s", plain "Runs a command on the service that listens at SOCKET: unix:PATH or a path, tcp:HOST:PORT on this "
    .. "machine, or tls:HOST:PORT. weir -s SOCKET COMMAND --help prints the options of a command.")
  page:put ".SH OPTIONS"
  for _, option in ipairs(remote.options) do page:option(option) end
  page:put ".SH COMMANDS"
  for _, name in ipairs(remote.names()) do
    local command = remote.command(name)
    page:put(".SS weir -s SOCKET %s\n%s", plain(name), plain(command.doc))
    if command.usage then page:put(".PP\n%s %s", bold(name), plain(command.usage)) end
    for _, option in ipairs(command.options or {}) do page:option(option) end
    if command.notes then page:notes(command.notes) end
  end
  page:put ".SH SEE ALSO\n.BR weir-serve (1),\n.BR weir-protocol (7)"
  return page
end

return M
