-- manpage_serve.lua - makes the man page of the service: options, and methods from the comments of the methods'
-- functions. From the project's root: weir run spec/tools/manpage_serve.lua PAGE

local core = require "weir.core"
local files = require "weir.files"
local params = require "weir.serve.params"
local roff = require "spec.tools.roff"
local roles = require "weir.serve.roles"
local serve = require "weir.cli.serve"
local service = require "weir.serve.service"
local top = require "weir.cli.top"

local bold, italic, plain = roff.bold, roff.italic, roff.plain
local page = roff.page()

local INTRODUCTION = [[
Keeps a machine and its jobs, and answers many clients at once: one JSON object a line, requests and answers. weir -s SOCKET
COMMAND asks it from the command line, weir top -s SOCKET watches it.]]

local PROTOCOL = [[
A request has an id (a number or a text), a method and, mostly, params. An answer has the same id and a result; "more": true tells
that others with this id follow, as of lists that come in pages and of streams. One that failed has an error, for people, and a
code, for programs, in place of the result:

  {"id": 1, "method": "match", "params": {"request": "slot=2/node"}}
  {"id": 1, "result": {"job": 1, "state": "allocated", "start": 0.0, ...}}
  {"id": 2, "error": "...", "code": "busy"}

The id of a job is a whole number. One that match gives by itself is never given again while the service has its state, up to 2^53-1,
the largest that every reader of JSON tells from the next; then they begin again with 1, past those in use. A caller may choose one
from 1 to 2^53-1 (job): it must not be in use, and changes nothing about the ids of others. Who chooses an id again means the job
that has it then. The owner of a job, a name of 1 to 255 bytes of UTF-8 without blanks, is who matched it, from the match until nothing
of the job is left.

Any number of requests may be sent without waiting for answers, up to the limit. Those of one client begin in order. A request with a
filter, and a look that may be long, is answered by a forked copy of the service, which has the state as it was saved last, and holds up
none of those behind it: answers may come in another order, and the id tells which is which. See doc/reference/limits.md.]]

local CODES = {
  { "busy", "It would fit, but not now; or the service does too much for this user already." },
  { "infeasible", "It could never fit." }, { "rejected", "The policy does not admit it." },
  { "unknown", "There is no such method, job, vertex or target." }, { "exists", "The id or the name is taken." },
  { "invalid, parse", "The request makes no sense; the error says why." }, { "limit", "A limit was reached; see --limit." },
  { "forbidden", "The role of this client does not allow it; the error says which role would." },
  { "gone", "What a filter has chosen was taken meanwhile; ask again." }, { "policy", "A policy or a filter failed." },
  { "standby", "Another service leads." },
  { "over", "The job of a child has ended, and with it the stream of the child." },
  { "unavailable", "There is nothing to be had here: no parent, an empty group, or nothing that this service schedules." },
  { "protocol", "A target that nobody has asked to be given back, or an answer of the parent, breaks the protocol of RFC 28." },
  { "io, internal", "The service is in trouble, and has written it to its log." },
}

local ROLES = [[
What a client may do is its role: a reader looks; an owner has jobs of its own besides, and releases, grows and shrinks these and no
others; an administrator may do everything. On a Unix socket the role follows from the user at the other end: who runs the service
and root are administrators, others have what --allow gives them, and are refused otherwise. On TCP it comes with the token that is
shown by the method login, before which nothing else is answered.]]

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

local function put_method(method)
  assert(service.methods[method.name], method.name)
  page:put(".TP\n%s (%s)", bold(method.name), italic(roles.needed(method.name)))
  page:put(roff.example(method.example))
  if method.text ~= "" then page:put(".br\n%s", plain(method.text)) end
  local row = params.row(method.name)
  for _, name in ipairs(row.names) do
    page:put(".br\n%s: %s%s", bold(name), plain(params.wanted(row.fields[name])), row.fields[name].needed and "; needed" or "")
  end
  page:put(".br\nChanges: %s.", row.changes[1] and table.concat(row.changes, ", ") or "nothing")
end

local function put_methods()
  page:put ".SH METHODS\nEach with the role that it needs, an example, its parameters, and what of the state it may change:"
  local words = {}
  for word in pairs(params.CHANGES) do words[#words + 1] = word end
  table.sort(words)
  for _, word in ipairs(words) do page:put(".TP\n%s\n%s", bold(word), plain(params.CHANGES[word])) end
  page:put ".PP\nA method that is refused changes nothing."
  for _, name in ipairs(NAMES) do
    page:put(".SS %s", name)
    for _, method in ipairs(methods_of(("lua/weir-serve/serve/methods/%s.lua"):format(name))) do put_method(method) end
  end
end

-- ---- the page -----------------------------------------------------------------------------------------------

page:put('.\\" Made from the tables of options and from the comments beside the methods.')
page:put('.TH WEIR-SERVE 1 "" "weir %s" "User Commands"', core.version)
page:put ".ad l"
page:put ".SH NAME\nweir-serve \\- keep a machine and its jobs behind a socket"
page:put(".SH SYNOPSIS\n%s %s", bold "weir serve", plain(serve.usage))
page:put ".SH DESCRIPTION"
page:notes(INTRODUCTION)
page:notes(serve.notes)
page:put ".SH COMMANDS\n.SS weir serve"
for _, option in ipairs(serve.options) do page:option(option) end
page:put(".SS weir top\n%s\n.PP\n%s %s", plain(top.doc), bold "weir top", plain(top.usage))
for _, option in ipairs(top.options) do page:option(option) end
page:put ".SH PROTOCOL"
page:notes(PROTOCOL)
page:list("CODES OF ERRORS", CODES)
page:put ".SH ROLES"
page:notes(ROLES)
put_methods()
page:put(".SH FILES\n.TP\n%s\n%s", bold "/etc/weir/serve.lua", plain "The options of the service that systemd starts (weir.service).")
page:put ".SH SEE ALSO\n.BR weir (1),\n.BR systemd.socket (5)"
assert(files.write(arg[1], page:text()))
