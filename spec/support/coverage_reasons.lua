-- coverage_reasons.lua - lines that the tests leave out, and why that is so: {pattern of the file's name, a part of the line, why}.
-- A line below a condition that stands here may be left out with it.
return {
  { "^core/check%.c$", "broken(err", "a fault of our own: test_check.c damages what no earlier check sees" },
  { "^core/.*_check%.c$", "broken(", "a fault of our own, which no input leads to" },
  { "^core/taken%.c$", "weir_check: the units", "as above" },
  { "^core/hwloc_", "hwloc does not", "hwloc refuses neither options nor XML that was looked at before" },
  { "^core/hwloc_json%.c$", "hwloc finds no machine", "as above" },
  { "^core/hwloc_.*%.c$", "json_decref(", "jansson without memory where hwloc allocates too, which cannot be made to fail" },
  { "^core/.*%.c$", "json_decref(", "jansson without memory: forced by the tests that need no text read" },
  { "^core/.*%.c$", "weir_fail_nomem(", "memory of hwloc, SQLite, libyaml or jansson, not of ours, which is made to fail" },
  { "^core/.*%.c$", "more than 2^3", "takes more memory than a test should have" },
  { "^core/base%.c$", "want", "as above: arrays of 2^32 entries" },
  { "^core/sqlite_read%.c$", "load_at_rest", "a directory that cannot be written to: the tests may run as root, who can" },
  { "^core/draft%.c$", "WEIR_EIO", "a disk that fails between two calls" },
  { "^core/draft%.c$", "weir_draft_fail(", "as above" },
  { "^bindings/.*%.c$", "out of memory", "memory of OpenSSL, libcurl, libedit or the first Lua state, which is not made to fail" },
  { "^bindings/editor%.c$", "cannot be set up", "a terminal that libedit refuses" },
  { "^bindings/process%.c$", "no random bytes", "the kernel without random bytes" },
  { "^bindings/process%.c$", "unlink(path)", "a full disk under a file of some bytes" },
  { "^bindings/http%.c$", "libcurl", "a system without libcurl" },
  { "^bindings/http%.c$", "lua_push", "as above" },
  { "^bindings/main%.c$", "cannot find its Lua files", "a broken installation" },
}
