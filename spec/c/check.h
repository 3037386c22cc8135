/* check.h - helpers of the C tests: counting checks, finding the test data, making the n-th allocation fail.
 *
 * A test includes check.h once, calls CHECK(condition, description, ...) and ends with `return check_report();`.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static int check_passed, check_failed;

#define CHECK(cond, ...) check_that((cond), __FILE__, __LINE__, #cond, __VA_ARGS__)

__attribute__((format(printf, 5, 6))) static inline bool check_that(bool ok, const char *file, int line,
                                                                    const char *cond, const char *fmt, ...)
{
    va_list ap;

    if (ok) {
        check_passed++;
        return true;
    }
    check_failed++;
    printf("%s:%d: FAILED ", file, line);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n    %s\n", cond);
    return false;
}

static inline int check_report(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* True when both are NULL or both have equal text. */
static inline bool check_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The path of a file of the test data: below $WEIR_DATA, or ../shared/data seen from the project's root. */
static inline const char *check_data(const char *name, char *path, size_t size)
{
    const char *root = getenv("WEIR_DATA");

    snprintf(path, size, "%s/%s", root && *root ? root : "../shared/data", name);
    return path;
}

/* Calls `once` with the 1st, 2nd, ... allocation failing until `once` succeeds three times running (an allocation
 * that may fail without harm gives one success). Every failing call must return WEIR_ENOMEM. Returns the number of
 * failing calls. */
static inline long check_nomem(int (*once)(void *), void *arg, const char *what)
{
    long failed = 0;
    int through = 0;

    for (long n = 1; n < 100000 && through < 3; n++) {
        int rc;
        weir_mem_fail_after(n);
        rc = once(arg);
        weir_mem_fail_after(0);
        through = rc == WEIR_OK ? through + 1 : 0;
        if (rc == WEIR_OK)
            continue;
        failed++;
        if (!CHECK(rc == WEIR_ENOMEM, "%s: allocation %ld fails, status is %s", what, n, weir_status_name(rc)))
            return failed;
    }
    CHECK(through == 3 && failed > 0, "%s: goes through after %ld failed allocations", what, failed);
    return failed;
}

#endif
