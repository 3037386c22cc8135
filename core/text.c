/* text.c - whether bytes are UTF-8. */
#include "text.h"

/* Bytes of the UTF-8 character at s, or 0. */
static size_t utf8_length(const unsigned char *s, size_t len)
{
    static const unsigned least[5] = {0, 0, 0x80, 0x800, 0x10000};
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
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

bool weir_text_utf8(const char *s, size_t len)
{
    while (len > 0) {
        size_t n = (unsigned char)*s < 0x80 ? 1 : utf8_length((const unsigned char *)s, len);
        if (n == 0)
            return false;
        s += n;
        len -= n;
    }
    return true;
}
