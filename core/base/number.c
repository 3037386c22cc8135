/* number.c - conversion of numbers to and from text. Invariant: results do not depend on the process's locale,
 * unlike strtod() and printf(), which use the decimal point of LC_NUMERIC.
 */
#include "base/base.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The "C" locale. glibc and musl return a static object, so the call allocates nothing and cannot fail. */
static locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double weir_number_read(const char *text, char **end)
{
    return strtod_l(text, end, plain_locale());
}

int weir_vtext(char *buf, size_t size, const char *fmt, va_list ap)
{
    locale_t before = uselocale(plain_locale());
    int n = vsnprintf(buf, size, fmt, ap);

    uselocale(before);
    return n;
}

static int write_text(char *buf, size_t size, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = weir_vtext(buf, size, fmt, ap);
    va_end(ap);
    return n;
}

int weir_number_write(char *buf, size_t size, double value)
{
    int n = 0;

    for (int digits = 15; digits <= 17; digits++) { /* 15 always survive, and 17 tell all numbers apart */
        n = write_text(buf, size, "%.*g", digits, value);
        if (!isfinite(value) || weir_number_read(buf, NULL) == value)
            break;
    }
    return n;
}

int weir_number_write_json(char *buf, size_t size, double value)
{
    int n = weir_number_write(buf, size, value);
    char *e = strchr(buf, 'e');

    if (e) {
        char *to = e + 1 + (e[1] == '-'), *from = to + strspn(to, "+0");
        n -= (int)(from - to);
        memmove(to, from, strlen(from) + 1);
    } else if (!strchr(buf, '.')) {
        n += snprintf(buf + n, size - (size_t)n, ".0");
    }
    return n;
}
