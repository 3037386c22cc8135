/* hostlist_format.c - writes the compact text of a hostlist (RFC 29): consecutive names with one prefix share
 * brackets, and consecutive numbers are ranges.
 *
 * The writer receives one run after the other; names with a suffix come singly, split like names without. Names in
 * one pair of brackets form a group. The writer holds back the last range of the open group, because the next name
 * decides whether the range needs brackets. Leading zeros of the first number in brackets apply to all numbers in
 * the brackets, so a name that would gain zeros starts a new group.
 */
#include "hostlist/hostlist_private.h"

#include <string.h>

struct digit_range {
    uint64_t lo, hi;
    uint32_t lo_digits, hi_digits;
};

struct hostlist_writer {
    weir_buf *out;
    weir_buf prefix;         /* of the open group */
    bool any;                /* text has been written */
    bool open;               /* a group is open */
    bool bracket;            /* the group's '[' has been written */
    uint32_t padding;        /* fewest digits of the numbers in the group */
    struct digit_range last; /* the group's last range, not yet written */
    const char *suffix;      /* of the group; "" unless names with suffix are too many to be written singly */
};

static void write_number(weir_buf *b, uint64_t n, uint32_t digits)
{
    char text[WEIR_HOSTLIST_DIGITS];

    weir_name_number(text, n, digits);
    weir_buf_add(b, text, digits);
}

static uint64_t power_of_ten(uint32_t n)
{
    uint64_t power = 1;

    while (n-- > 0)
        power *= 10;
    return power;
}

static void open_bracket(struct hostlist_writer *w)
{
    if (!w->bracket)
        weir_buf_add(w->out, "[", 1);
    w->bracket = true;
}

static void write_range(weir_buf *b, const struct digit_range *r)
{
    write_number(b, r->lo, r->lo_digits);
    if (r->hi > r->lo) {
        weir_buf_add(b, "-", 1);
        write_number(b, r->hi, r->hi_digits);
    }
}

static void close_group(struct hostlist_writer *w)
{
    if (!w->open)
        return;
    if (w->last.hi > w->last.lo)
        open_bracket(w);
    write_range(w->out, &w->last);
    if (w->bracket)
        weir_buf_add(w->out, "]", 1);
    weir_buf_puts(w->out, w->suffix);
    w->open = w->bracket = false;
}

static void begin_group(struct hostlist_writer *w, const char *prefix, size_t len, const struct digit_range *r)
{
    bool leading_zero = r->lo_digits > 1 && r->lo < power_of_ten(r->lo_digits - 1);

    close_group(w);
    if (w->any)
        weir_buf_add(w->out, ",", 1);
    weir_buf_add(w->out, prefix, len);
    w->prefix.len = 0;
    weir_buf_add(&w->prefix, prefix, len);
    w->padding = leading_zero ? r->lo_digits : 1;
    w->open = w->any = true;
}

/* Whether names of the given prefix, suffix and digits may be added to the open group. */
static bool belongs(const struct hostlist_writer *w, const char *prefix, size_t len, const char *suffix,
                    const struct digit_range *r)
{
    return w->open && w->last.lo_digits > 0 && r->lo_digits >= w->padding && len == w->prefix.len &&
           memcmp(prefix, w->prefix.data, len) == 0 && strcmp(suffix, w->suffix) == 0;
}

/* Whether range b continues range a. After nines the number of digits grows: 8-9 and 10-12 make 8-12. */
static bool goes_on(const struct digit_range *a, const struct digit_range *b)
{
    if (b->lo != a->hi + 1)
        return false;
    return b->lo_digits == a->hi_digits || (b->lo_digits == a->hi_digits + 1 && b->lo == power_of_ten(a->hi_digits));
}

static void put(struct hostlist_writer *w, const char *prefix, size_t len, const char *suffix,
                const struct digit_range *r)
{
    if (!belongs(w, prefix, len, suffix, r)) {
        begin_group(w, prefix, len, r);
        w->suffix = suffix;
    } else if (goes_on(&w->last, r)) {
        w->last.hi = r->hi;
        w->last.hi_digits = r->hi_digits;
        return;
    } else {
        open_bracket(w);
        write_range(w->out, &w->last);
        weir_buf_add(w->out, ",", 1);
    }
    w->last = *r;
}

static void put_run(struct hostlist_writer *w, const weir_hostlist *h, const struct host_range *r)
{
    const char *prefix = prefix_text(h, r);

    put(w, prefix, strlen(prefix), suffix_text(h, r), &(struct digit_range){r->lo, r->hi, r->digits, r->digits});
}

static void put_each(struct hostlist_writer *w, const weir_hostlist *h, const struct host_range *r)
{
    weir_buf name = {0};

    for (uint64_t n = r->lo; n <= r->hi && !w->out->failed && !w->prefix.failed; n++) {
        struct name parts;
        weir_name_make(h, r, n, &name);
        if (name.failed) {
            w->out->failed = true;
            break;
        }
        parts = weir_name_split(name.data, name.len);
        put(w, name.data, parts.prefix_len, "",
            &(struct digit_range){parts.number, parts.number, parts.digits, parts.digits});
    }
    weir_buf_free(&name);
}

int weir_hostlist_write(const weir_hostlist *h, weir_buf *b)
{
    struct hostlist_writer w = {.out = b, .suffix = ""};
    bool one_by_one = weir_hostlist_expandable(h);

    if (!h)
        return WEIR_EINVAL;
    weir_buf_add(b, "", 0); /* also allocates the text of an empty list */
    for (uint32_t i = 0; i < h->n && !b->failed && !w.prefix.failed; i++) {
        const struct host_range *r = &h->runs[i];
        if (r->suffix != WEIR_NO_NAME && one_by_one)
            put_each(&w, h, r);
        else
            put_run(&w, h, r);
    }
    close_group(&w);
    b->failed |= w.prefix.failed;
    weir_buf_free(&w.prefix);
    return b->failed ? WEIR_ENOMEM : WEIR_OK;
}

char *weir_hostlist_format(const weir_hostlist *h, weir_err *err)
{
    weir_buf b = {0};
    int rc = weir_hostlist_write(h, &b);

    if (rc == WEIR_OK)
        return b.data;
    weir_buf_free(&b);
    if (rc == WEIR_ENOMEM)
        weir_fail_nomem(err);
    else
        weir_fail(err, rc, "hostlist: there is no list to write");
    return NULL;
}
