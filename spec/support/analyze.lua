-- analyze.lua - clang's static analyzer and cppcheck over the C code. Each finding is mended or stands below with the reason why it is
-- none; one that is not there, or a reason without a finding, fails. Run by `make analyze`; flags for the compilers come as arguments.

-- {file, a part of the line of code it is about, why it is none}
local NONE = {
  { "core/book.c", "g->free_books = ", "free_books is the number of a book there is, or WEIR_NONE" },
  { "core/book.c", "!b->parts->plan", "a book of more than one span has parts" },
  { "core/check.c", "(struct span){0} :", "cppcheck does not know compound literals in a conditional" },
  { "core/dot_fold.c", "f->boxes[box].count++", "a box that is known is one of the boxes" },
  { "core/index.c", "qsort_r(x->list", "nlist is 0 while there is no list" },
  { "core/job.c", "slots[id_slot", "job_slots is there when jobs are" },
  { "core/job_change.c", "memmove(&p->picks", "what is dropped is there, so picks is" },
  { "core/plan.c", "memcpy(more, p->u", "weir_plan_bytes counts the same storage that is copied: where there is some, `more` is there" },
  { "core/query_parse.c", "*place_of(q, a.last)", "read_all and read_any fill a part before they return OK" },
  { "core/request_needs.c", "s->demands[i]", "there is a demand for each need of the request" },
  { "core/rset_algebra.c", "weir_hostlist_nth", "opened with two lists that are there" },
  { "core/rset_collect.c", "g->pools[i].used", "npools is 0 while there are none" },
  { "core/rset_read.c", "(*out)->scheduling", "weir_graph_rset returned OK, so the set is there" },
  { "core/sqlite_write.c", "cells[i].type", "each row has as many cells as its table has columns; sqlite_schema.c counts them" },
  { "core/svg_layout.c", "placed % columns", "a run has at least the box it was made for, so at least one column" },
  { "core/svg_layout.c", "+ columns - 1) / columns", "as above" },
  { "core/svg_text.c", "rest / unit % 1000", "unit is a power of 1000 and more than 1, so that it divides down to 1" },
  { "core/synthetic.c", "r->words[", "new_word sets the place when it returns OK" },
  { "core/synthetic.c", "parse_words(r,", "as above" },
  { "core/taken.c", "weir_plan_free(g->taken[t])", "ntaken is 0 while there are none" },
  { "core/sqlite_books.c", "r->data = &b", "the reader is done with it when the function returns" },
  { "core/sqlite_read.c", "r->data = &p", "as above" },
  { "core/svg_write.c", "s->b = &body", "drawing is over when the function returns" },
  { "core/shape_write.c", "json_object_foreach", "a macro of jansson.h, which cppcheck does not read" },
  { "bindings/policy_options.c", "refuse(L, o, lua_pushfstring", "luaL_tolstring and lua_pushfstring return text" },
}

local FLAGS = table.concat(arg, " ")
local CHECKERS = "core,deadcode,unix"

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

-- A finding that no reason covers is told.
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
    local file, n, kind, text = line:match "^([%w_/]+%.[ch]):(%d+):%d+: (%l+): (.*)"
    if kind and kind ~= "note" and kind ~= "information" then found(file, tonumber(n), text) end
  end
end

local files = lines_of "ls core/*.c bindings/*.c"
for _, file in ipairs(files) do
  local known = file:find "^core/" and "-DANALYZE_CORE " or ""
  local include = file == "core/base.c" and "" or known .. "-include spec/support/analyze.h"
  take(lines_of(("clang --analyze --analyzer-output text -Xclang -analyzer-checker=%s %s %s %s -o /dev/null")
    :format(CHECKERS, FLAGS, include, file)))
end
take(lines_of "cppcheck --enable=warning,performance,portability --inline-suppr --std=c11 -q -Icore -Ibindings core bindings/*.c")

for i, one in ipairs(NONE) do
  if not used[i] then
    failed = failed + 1
    print(("%s: nothing is found at `%s` any more; take the reason out"):format(one[1], one[2]))
  end
end
print(("%d files, %d findings to mend, %d with a reason"):format(#files, failed, #NONE))
os.exit(failed == 0 and 0 or 1)
