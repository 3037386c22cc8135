/* hostlist_format.c - writing hostlists (RFC 29), compactly: consecutive names with one prefix share brackets, and
 * numbers that follow each other are ranges.
 *
 * Leading zeros of the first number between brackets hold for all numbers there, so a name that would win zeros by
 * that begins new brackets.
 */
#include "hostlist_private.h"

static void write_number(weir_buf *b, uint64_t n, uint32_t digits)
{
    char text[WEIR_HOSTLIST_DIGITS];

    for (uint32_t i = digits; i > 0; i--) {
        text[i - 1] = (char)('0' + n % 10);
        n /= 10;
    }
    weir_buf_add(b, text, digits);
}

static uint64_t power_of_ten(uint32_t n)
{
    uint64_t power = 1;

    while (n-- > 0)
        power *= 10;
    return power;
}

static bool has_leading_zero(const struct run *r)
{
    return r->digits > 1 && r->lo < power_of_ten(r->digits - 1);
}

/* b goes on where a, all nines, ended: 8-9 and 10-12 are 8-12. */
static bool carries_over(const struct run *a, const struct run *b)
{
    return b->digits == a->digits + 1 && b->lo == a->hi + 1 && b->lo == power_of_ten(a->digits);
}

/* The first run from i on that cannot stand in the brackets that run i begins. */
static uint32_t group_end(const weir_hostlist *h, uint32_t i)
{
    const struct run *r = &h->runs[i];
    uint32_t padding = has_leading_zero(r) ? r->digits : 1;
    uint32_t end = i + 1;

    while (r->digits > 0 && end < h->n && h->runs[end].prefix == r->prefix && h->runs[end].digits >= padding)
        end++;
    return end;
}

static void write_group(weir_buf *b, const weir_hostlist *h, uint32_t i, uint32_t end)
{
    weir_buf_add(b, "[", 1);
    while (i < end) {
        const struct run *r = &h->runs[i];
        const struct run *last = r;
        write_number(b, r->lo, r->digits);
        while (++i < end && carries_over(last, &h->runs[i]))
            last = &h->runs[i];
        if (last->hi > r->lo) {
            weir_buf_add(b, "-", 1);
            write_number(b, last->hi, last->digits);
        }
        weir_buf_add(b, i < end ? "," : "]", 1);
    }
}

int weir_hostlist_format(const weir_hostlist *h, weir_buf *b)
{
    uint32_t i = 0;

    if (!h)
        return WEIR_EINVAL;
    weir_buf_add(b, "", 0);
    while (i < h->n && !b->failed) {
        const struct run *r = &h->runs[i];
        uint32_t end = group_end(h, i);
        if (i > 0)
            weir_buf_add(b, ",", 1);
        weir_buf_puts(b, prefix_text(h, r));
        if (end - i > 1 || r->lo < r->hi)
            write_group(b, h, i, end);
        else
            write_number(b, r->lo, r->digits);
        i = end;
    }
    return b->failed ? WEIR_ENOMEM : WEIR_OK;
}
