/* utf8.h - UTF-8 validation of texts; control characters; decimal text of integers. */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the character at s, of which `len` bytes are there; 0: this is no UTF-8. */
size_t weir_text_char(const char *s, size_t len);
/* Whether `len` bytes at s are valid UTF-8. */
bool weir_text_utf8(const char *s, size_t len);

/* Whether a control character begins at s, a terminated text: U+0001 to U+001F, and U+007F to U+009F, among which
 * terminals know an escape. */
static inline bool text_control(const char *s)
{
    unsigned char c = (unsigned char)s[0], next;

    if (c >= ' ' && c < 0x7f)
        return false;
    next = c == 0xc2 ? (unsigned char)s[1] : 0;
    return (c > 0 && c < ' ') || c == 0x7f || (next >= 0x80 && next < 0xa0);
}

#define WEIR_INT_MAX 20 /* longest decimal text of an int64_t, with sign */
/* Write n in decimal at `at`, at most WEIR_INT_MAX bytes, without a NUL. Returns the end of the digits. */
char *weir_put_int(char *at, int64_t n);

#endif
