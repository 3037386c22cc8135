/* hostlist_expand.c - names with a suffix: expanded to runs without a suffix, and compared with names of any run. */
#include "hostlist/hostlist_private.h"

#include <string.h>

bool weir_hostlist_suffixed(const weir_hostlist *h)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (h->runs[i].suffix != WEIR_NO_NAME)
            return true;
    return false;
}

static size_t name_length(const weir_hostlist *h, const struct host_range *r)
{
    return strlen(prefix_text(h, r)) + r->digits + strlen(suffix_text(h, r));
}

bool weir_hostlist_expandable(const weir_hostlist *h)
{
    uint64_t left = WEIR_HOSTLIST_EXPAND;

    for (uint32_t i = 0; h && i < h->n; i++) {
        const struct host_range *r = &h->runs[i];
        uint64_t each = r->suffix == WEIR_NO_NAME ? 0 : name_length(h, r) + 1;
        if (each > 0 && run_length(r) > left / each)
            return false;
        left -= run_length(r) * each;
    }
    return true;
}

static int append_each(weir_hostlist *to, const weir_hostlist *h, const struct host_range *r)
{
    weir_buf b = {0};
    int rc = WEIR_OK;

    for (uint64_t n = r->lo; n <= r->hi && rc == WEIR_OK; n++) {
        weir_name_make(h, r, n, &b);
        rc = b.failed ? WEIR_ENOMEM : weir_hostlist_append_name(to, b.data, b.len, NULL);
    }
    weir_buf_free(&b);
    return rc;
}

static int append_run(weir_hostlist *to, const weir_hostlist *h, const struct host_range *r)
{
    const char *prefix = prefix_text(h, r);
    struct host_range copy = *r;

    if (hostlist_intern(&to->texts, prefix, strlen(prefix), &copy.prefix) != WEIR_OK)
        return WEIR_ENOMEM;
    return weir_hostlist_append_run(to, &copy);
}

int weir_hostlist_expand(weir_hostlist *h)
{
    weir_hostlist *to;
    weir_hostlist old;
    int rc = WEIR_OK;

    if (!weir_hostlist_suffixed(h))
        return WEIR_OK;
    if (!weir_hostlist_expandable(h))
        return WEIR_ELIMIT;
    to = weir_hostlist_new();
    if (!to)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < h->n && rc == WEIR_OK; i++) {
        const struct host_range *r = &h->runs[i];
        rc = r->suffix == WEIR_NO_NAME ? append_run(to, h, r) : append_each(to, h, r);
    }
    if (rc == WEIR_OK) {
        old = *h;
        *h = *to;
        *to = old;
    }
    weir_hostlist_free(to);
    return rc;
}

/* ---- comparing ---- */

/* A position in a list: a number in a run. */
struct name_position {
    const weir_hostlist *h;
    const struct host_range *run;
    uint64_t number;
};

/* The prefix, digits and suffix of a name. */
struct affixes {
    const char *text[3];
    size_t len[3];
    char digits[WEIR_HOSTLIST_DIGITS];
};

static void split_name(const struct name_position *p, struct affixes *out)
{
    weir_name_number(out->digits, p->number, p->run->digits);
    out->text[0] = prefix_text(p->h, p->run);
    out->text[1] = out->digits;
    out->text[2] = suffix_text(p->h, p->run);
    out->len[0] = strlen(out->text[0]);
    out->len[1] = p->run->digits;
    out->len[2] = strlen(out->text[2]);
}

static bool same_name(const struct name_position *a, const struct name_position *b)
{
    struct affixes x, y;
    int i = 0, j = 0;

    split_name(a, &x);
    split_name(b, &y);
    if (x.len[0] + x.len[1] + x.len[2] != y.len[0] + y.len[1] + y.len[2])
        return false;
    while (i < 3 && j < 3) {
        size_t n = x.len[i] < y.len[j] ? x.len[i] : y.len[j];
        if (memcmp(x.text[i], y.text[j], n) != 0)
            return false;
        x.text[i] += n;
        y.text[j] += n;
        x.len[i] -= n;
        y.len[j] -= n;
        i += x.len[i] == 0;
        j += y.len[j] == 0;
    }
    return true;
}

static bool same_kind(const struct name_position *a, const struct name_position *b)
{
    return a->run->digits == b->run->digits && strcmp(prefix_text(a->h, a->run), prefix_text(b->h, b->run)) == 0 &&
           strcmp(suffix_text(a->h, a->run), suffix_text(b->h, b->run)) == 0;
}

static void advance(struct name_position *p, uint64_t by)
{
    if (by <= p->run->hi - p->number) {
        p->number += by;
        return;
    }
    if (++p->run < p->h->runs + p->h->n)
        p->number = p->run->lo;
}

/* Runs of equal prefix, digits and suffix are compared as a whole. Runs split differently have at most one name in
 * common, since the digit counting from name to name is in a different place, and are compared name by name. */
bool weir_hostlist_equal(const weir_hostlist *a, const weir_hostlist *b)
{
    struct name_position x, y;

    if (weir_hostlist_count(a) != weir_hostlist_count(b))
        return false;
    if (weir_hostlist_count(a) == 0)
        return true;
    x = (struct name_position){a, a->runs, a->runs->lo};
    y = (struct name_position){b, b->runs, b->runs->lo};
    while (x.run < a->runs + a->n && y.run < b->runs + b->n) {
        uint64_t left_x = x.run->hi - x.number;
        uint64_t left_y = y.run->hi - y.number;
        uint64_t n = 1;
        if (same_kind(&x, &y)) {
            if (x.number != y.number)
                return false;
            n += left_x < left_y ? left_x : left_y;
        } else if (!same_name(&x, &y)) {
            return false;
        }
        advance(&x, n);
        advance(&y, n);
    }
    return true;
}
