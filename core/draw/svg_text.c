/* svg_text.c - texts of a picture: width, cutting, escaping. Invariant: the output is well-formed XML of limited
 * length, whatever the characters of a name.
 */
#include "draw/svg.h"

#include <string.h>

/* Returns the length in bytes of the character at s, of which n bytes are left; 1 for a malformed character. */
static size_t char_length(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0];
    size_t want = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    size_t k = 1;

    while (k < want && k < n && ((unsigned char)s[k] & 0xc0) == 0x80)
        k++;
    return k;
}

/* Returns the width of a character in hundredths of the font size, as wide fonts need. */
static int32_t char_width(char c)
{
    if ((unsigned char)c >= 0x80)
        return 100;
    if (strchr("iljI|.,:;'!", c))
        return 34;
    if (strchr("frt()[]-/ ", c))
        return 42;
    if (strchr("mMwW@%", c))
        return 96;
    if (strchr("&#+=<>~^$_\"*", c))
        return 84;
    return c >= 'A' && c <= 'Z' ? 72 : c >= '0' && c <= '9' ? 60 : 64;
}

/* Returns the number of bytes of a text that fit into `room`, in hundredths of the font size. */
static size_t fitting(const char *s, size_t n, int32_t room)
{
    size_t at = 0;

    while (at < n) {
        room -= char_width(s[at]);
        if (room < 0)
            return at;
        at += char_length(s + at, n - at);
    }
    return n;
}

#define MEASURED 600 /* bytes; a longer text is too wide in any case */

int32_t weir_svg_text_width(const char *s, size_t n, int32_t size)
{
    int32_t sum = 0;

    for (size_t at = 0; at < n && at < MEASURED; at += char_length(s + at, n - at))
        sum += char_width(s[at]);
    return (sum * size + 99) / 100;
}

/* ---- escaping ------------------------------------------------------------------------------------------------- */

static const char *entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* Returns true for U+FFFE and U+FFFF, valid in UTF-8 but not in XML. */
static bool is_no_char(const char *s, size_t n)
{
    return n >= 3 && memcmp(s, "\xef\xbf", 2) == 0 && ((unsigned char)s[2] & 0xfe) == 0xbe;
}

static void escape_plain(weir_buf *b, const char *s, size_t n)
{
    for (size_t i = 0, from = 0; i <= n; i++) {
        const char *name = i < n ? entity(s[i]) : "";
        bool bad = i < n && is_no_char(s + i, n - i);
        if (!name && !bad)
            continue;
        weir_buf_add(b, s + from, i - from);
        weir_buf_puts(b, bad ? "?" : name);
        i += bad ? 2 : 0;
        from = i + 1;
    }
}

/* Returns the nearest position at or before `at` between two characters. */
static size_t cut_before(const char *s, size_t at)
{
    while (at > 0 && ((unsigned char)s[at] & 0xc0) == 0x80)
        at--;
    return at;
}

void weir_svg_escape(struct svg *s, const char *text, size_t n, size_t most)
{
    weir_buf *plain = &s->plain;

    plain->len = 0;
    if (n > most) {
        size_t tail = cut_before(text, n - most / 2);
        weir_write_plain(plain, text, cut_before(text, most / 3));
        WEIR_WRITE(plain, "\xe2\x80\xa6");
        weir_write_plain(plain, text + tail, n - tail);
    } else {
        weir_write_plain(plain, text, n);
    }
    s->failed |= plain->failed;
    if (!s->failed && plain->len)
        escape_plain(s->b, plain->data, plain->len);
}

/* ---- elements ------------------------------------------------------------------------------------------------- */

#define LEAST_LETTERS 3 /* shorter texts are left out */

bool weir_svg_text(struct svg *s, const char *class, int32_t x, int32_t y, int32_t size, int32_t room)
{
    const char *text = s->text.data;
    size_t n = s->text.len, cut = n;

    s->failed |= s->text.failed;
    if (s->failed || n == 0 || room <= 0)
        return false;
    if (fitting(text, n, room * 100 / size) < n) {
        cut = fitting(text, n, room * 100 / size - 100);
        if (cut < LEAST_LETTERS)
            return false;
    }
    weir_buf_printf(s->b, "<text class=\"%s\" x=\"%d\" y=\"%d\" font-size=\"%d\">", class, (int)x, (int)y, (int)size);
    weir_svg_escape(s, text, cut, cut);
    weir_buf_puts(s->b, cut < n ? "\xe2\x80\xa6</text>" : "</text>");
    return true;
}

void weir_svg_number(weir_buf *b, int64_t n)
{
    uint64_t rest = n < 0 ? 0 : (uint64_t)n, unit = 1;

    while (rest / unit >= 1000)
        unit *= 1000;
    weir_write_int(b, (int64_t)(rest / unit));
    while (unit > 1) {
        unit /= 1000;
        weir_buf_printf(b, ",%03u", (unsigned)(rest / unit % 1000));
    }
}

void weir_svg_percent(weir_buf *b, double part)
{
    int percent = (int)(part * 100 + 0.5);

    if (percent == 0 && part > 0)
        percent = 1;
    if (percent == 100 && part < 1)
        percent = 99;
    weir_buf_printf(b, "%d %%", percent);
}
