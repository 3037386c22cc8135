-- analyze.lua - clang's static analyzer and cppcheck over the C code. Each finding is mended or listed below with the
-- reason why it is a false alarm; a finding without a reason fails, and so does a reason without a finding.
--
--   lua5.4 spec/tools/analyze.lua [--flux] FILE...
--
-- Run by `make analyze`: each FILE has what clang said of a file of C; --flux where bindings/weir-flux is among them.

-- {file, a part of the line of code, why the finding is a false alarm}
local NONE = {
  { "core/time/schedule.c", "!b->detail->timeline", "a schedule of more than one span has detail" },
  { "core/job/job_check.c", "(struct span){0} :", "cppcheck does not know compound literals in a conditional" },
  { "core/hostlist/hostlist_list.c", "h->runs[h->n] = *r", "where there is room for more there is an array" },
  { "core/format/jgf/jgf_keys.c", "WEIR_ARRAY_ADD(k->runs,", "there is room for one more, so runs is" },
  { "core/time/timeline.c", "memcpy(more, p->u",
    "weir_timeline_bytes counts the same storage that is copied: where there is some, `more` is there" },
  { "core/graph/pool.c", "WEIR_ARRAY_ADD(m->entries,", "where there is room for more there is an array" },
  { "core/query/query_parse.c", "*exit_field(q, a.last)", "read_all and read_any fill a part before they return OK" },
  { "core/request/request_needs.c", "s->demands[i]", "there is a demand for each need of the request" },
  { "core/rset/rset_algebra.c", "weir_hostlist_nth", "opened with two lists that are there" },
  { "core/rset/rset_jgf_join.c", "known->list[item.equal].equal", "item.equal names an edge that was found in `known`" },
  { "core/match/candidate/choose_beside.c", "d->left[i]-- > 0", "a number in the map is a place in the array" },
  { "core/match/place/slot.c", "h->list[h->n - 1].given <", "add_host has added a host where it returns 1" },
  { "core/match/place/slot.c", "h->order[--h->norder]", "where hosts are in order there is an order" },
  { "core/match/match.c", "*out = a;", "a place for the job is given in all modes that make one" },
  { "core/match/match.c", "*out = &jobs_in(g)->list[job].a", "as above" },
  { "core/match/candidate/flow.c", "f->stack[f->nstack++] = a", "weir_array_reserve makes an array, or fails" },
  { "core/match/place/slot.c", "weir_flow_find(m->g, r->type)", "no place in the list is NULL; `without` may be" },
  { "core/match/place/slot.c", "r == without", "as above" },
  { "bindings/weir/replay/clock.c", "return true;", "the new array is kept by memcpy, which cppcheck does not follow" },
  { "bindings/weir/replay/queue.c", "return true;", "each new array is kept at once" },
  { "bindings/weir/policy/policy_scores.c", "m->keyed.number != r->number", "scores are asked for with a resource" },
  { "core/flow/flow.c", "if (f->all)", "rc is no OK where there is no f" },
  { "core/index/score.c", "return sizeof *x + x->key_len", "no memory in the list is NULL; `keep` may be" },
  { "core/index/score.c", "x->inner_cap * (sizeof", "as above" },
  { "bindings/weir/handle/fold.c", "memcpy(runs, f->runs", "where there are runs there is an array" },
  { "bindings/weir/handle/fold.c", "f->runs[f->n++] = *child", "reserve_run makes an array, or raises" },
  { "bindings/weir/policy/policy_choice.c", "choices[at].kind", "refuse() does not return" },
  { "core/job/job_annotation.c", "jobs[i]", "n counts the jobs of the list" },
  { "core/registry/save.c", "strcmp(s->format, format)", "a format is given, or found by the path" },
  { "core/store/sqlite_write.c", "cells[i].type", "each row has as many cells as its table has columns; sqlite_schema.c counts them" },
  { "core/format/synthetic.c", "r->words[", "new_word sets the place when it returns OK" },
  { "core/format/synthetic.c", "parse_words(r,", "as above" },
  { "core/store/sqlite_jobs.c", "r->data = &b", "the reader is done with it when the function returns" },
  { "core/request/shape_write.c", "json_object_foreach", "a macro of jansson.h, which cppcheck does not read" },
  { "bindings/weir-flux/alloc.c", "destroy(s->allocs);", "it takes itself off the list" },
  { "bindings/weir-flux/child.c", "destroy(s->children);", "as above" },
  { "bindings/weir-flux/child.c", "strlen(answer)", "where there is room there is a text" },
  { "bindings/weir-flux/hello.c", "destroy(s->greetings);", "it takes itself off the list" },
  { "bindings/weir-flux/hello.c", "forget(s->raised);", "as above" },
  { "bindings/weir-flux/lua.c", "{method, args, r}", "r is what the call fills" },
  { "bindings/weir/policy/policy.c", "luaL_argcheck(L, p->open, arg", "what raises does not return, which cppcheck does not know" },
  { "bindings/weir/policy/policy_options.c", "refuse(L, o, lua_pushfstring", "luaL_tolstring and lua_pushfstring return text" },
}

local FLUX = arg[1] == "--flux"

local function lines_of(command)
  local pipe, list = assert(io.popen(command .. " 2>&1")), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

local cache = {}
local function source_line(file, n)
  cache[file] = cache[file] or lines_of("cat " .. file)
  return cache[file][n] or ""
end

local used, failed = {}, 0

-- Prints a finding that no reason covers.
local function found(file, line, text)
  local code = source_line(file, line)
  for i, one in ipairs(NONE) do
    if one[1] == file and code:find(one[2], 1, true) then
      used[i] = true
      return
    end
  end
  failed = failed + 1
  print(("%s:%d: %s\n    %s"):format(file, line, text, code))
end

local function take(output)
  for _, line in ipairs(output) do
    local file, n, kind, text = line:match "^([%w_/]+%.[ch]):(%d+):%d+: (%l[%l ]*): (.*)"
    if kind and kind ~= "note" and kind ~= "information" then found(file, tonumber(n), text) end
  end
end

for i = FLUX and 2 or 1, #arg do take(lines_of("cat " .. arg[i])) end
-- cppcheck keeps its notes of each file here, and reads them again where a file is as it was.
local NOTES = "build/analyze/cppcheck"
os.execute("mkdir -p " .. NOTES)
if not os.execute "command -v cppcheck > /dev/null" then error("cppcheck is needed (Debian: cppcheck)", 0) end
take(lines_of(("cppcheck -j $(nproc) --cppcheck-build-dir=%s --enable=warning,performance,portability --inline-suppr --std=c11 -q "
  .. "-Icore -Ibindings/weir core %s"):format(NOTES, FLUX and "bindings" or "bindings/weir bindings/weir-serve")))

for i, one in ipairs(NONE) do
  if not used[i] and (FLUX or not one[1]:find "^bindings/weir-flux/") then
    failed = failed + 1
    print(("%s: nothing is found at `%s` any more; take the reason out"):format(one[1], one[2]))
  end
end
print(("%d files, %d findings to mend, %d with a reason"):format(#arg - (FLUX and 1 or 0), failed, #NONE))
os.exit(failed == 0 and 0 or 1)
