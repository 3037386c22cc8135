/* analyze.h - contracts unknown to clang's static analyzer, as it reads one file at a time: failing functions
 * return the given error, raising functions do not return. Included before each file by `make analyze`, never in a
 * build. */
#include <stdlib.h>

#ifdef ANALYZE_CORE
#include "base/base.h"
#define weir_fail(err, code, ...)    ((void)(weir_fail)(err, code, __VA_ARGS__), (code))
#define weir_fail_at(err, code, ...) ((void)(weir_fail_at)(err, code, __VA_ARGS__), (code))
#define weir_fail_nomem(err)         ((void)(weir_fail_nomem)(err), WEIR_ENOMEM)
#else
#include <lauxlib.h>
#define luaL_error(...)    ((luaL_error)(__VA_ARGS__), abort(), 0)
#define luaL_argerror(...) ((luaL_argerror)(__VA_ARGS__), abort(), 0)
#endif
