/* utf8.c - UTF-8 validation; integers as text. */
#include "base/utf8.h"

#include <string.h>

size_t weir_text_char(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;
    unsigned c;

    if (n <= 1 || n > len)
        return n <= len ? n : 0;
    c = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    return c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

bool weir_text_utf8(const char *s, size_t len)
{
    while (len > 0) {
        size_t n = (unsigned char)*s < 0x80 ? 1 : weir_text_char(s, len);
        if (n == 0)
            return false;
        s += n;
        len -= n;
    }
    return true;
}

/* Writes two digits at a time, last digits first, directly to their final position: copying the digits afterwards
 * would stall on the stores just made. */
char *weir_put_int(char *at, int64_t n)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    size_t digits = 1;
    char *end;

    for (uint64_t limit = 10; rest >= limit; limit *= 10)
        digits++;
    if (n < 0)
        *at++ = '-';
    end = at + digits;
    for (at = end; digits >= 2; digits -= 2, rest /= 100)
        memcpy(at -= 2, &pairs[rest % 100 * 2], 2);
    if (digits > 0)
        at[-1] = (char)('0' + rest);
    return end;
}
