/* hostlist_list.c - lists of host names as runs: creation, appending, positions. The invariant is in
 * hostlist_private.h.
 */
#include "hostlist/hostlist_private.h"

#include <stdio.h>
#include <string.h>

#include "base/bisect.h"

weir_hostlist *weir_hostlist_new(void)
{
    return weir_mem_zalloc(1, sizeof(weir_hostlist));
}

static void drop_index(weir_hostlist *h)
{
    weir_mem_free(h->index);
    h->index = NULL;
    h->nindex = 0;
}

void weir_hostlist_free(weir_hostlist *h)
{
    if (!h)
        return;
    drop_index(h);
    weir_strtab_clear(&h->texts);
    WEIR_FREE(h->runs, h);
}

int weir_hostlist_copy(const weir_hostlist *h, weir_hostlist **out)
{
    weir_hostlist *copy;

    if (!h)
        return WEIR_EINVAL;
    copy = weir_hostlist_new();
    if (!copy || weir_array_reserve(&copy->runs, &copy->cap, h->n, sizeof *copy->runs) != WEIR_OK ||
        weir_strtab_copy(&copy->texts, &h->texts) != WEIR_OK) {
        weir_hostlist_free(copy);
        return WEIR_ENOMEM;
    }
    if (h->n)
        memcpy(copy->runs, h->runs, h->n * sizeof *h->runs);
    copy->n = h->n;
    copy->count = h->count;
    *out = copy;
    return WEIR_OK;
}

void weir_hostlist_swap_runs(weir_hostlist *h, weir_hostlist *from)
{
    weir_hostlist old = *h;

    h->runs = from->runs;
    h->n = from->n;
    h->cap = from->cap;
    h->count = from->count;
    from->runs = old.runs;
    from->n = old.n;
    from->cap = old.cap;
    from->count = old.count;
    drop_index(h);
}

static bool joins(const struct host_range *a, const struct host_range *b)
{
    return a->prefix == b->prefix && a->suffix == b->suffix && a->digits == b->digits && a->digits > 0 &&
           a->hi + 1 == b->lo;
}

int weir_hostlist_append_run(weir_hostlist *h, const struct host_range *r)
{
    struct host_range *last = h->n ? &h->runs[h->n - 1] : NULL;

    if (run_length(r) > (uint64_t)INT64_MAX - h->count)
        return WEIR_ELIMIT;
    if (last && joins(last, r)) {
        last->hi = r->hi;
    } else {
        if (weir_array_reserve(&h->runs, &h->cap, (size_t)h->n + 1, sizeof *h->runs) != WEIR_OK)
            return WEIR_ENOMEM;
        h->runs[h->n] = *r;
        h->runs[h->n++].first = h->count;
    }
    h->count += run_length(r);
    drop_index(h);
    return WEIR_OK;
}

struct name weir_name_split(const char *s, size_t len)
{
    struct name name = {len, 0, 0};
    uint64_t unit = 1;

    while (name.prefix_len > 0 && name.digits < WEIR_HOSTLIST_DIGITS) {
        char c = s[name.prefix_len - 1];
        if (c < '0' || c > '9')
            break;
        name.number += unit * (uint64_t)(c - '0');
        unit *= 10;
        name.digits++;
        name.prefix_len--;
    }
    return name;
}

void weir_name_number(char *to, uint64_t number, uint32_t digits)
{
    for (uint32_t i = digits; i > 0; i--) {
        to[i - 1] = (char)('0' + number % 10);
        number /= 10;
    }
}

void weir_name_make(const weir_hostlist *h, const struct host_range *r, uint64_t number, weir_buf *b)
{
    char digits[WEIR_HOSTLIST_DIGITS];

    weir_name_number(digits, number, r->digits);
    b->len = 0;
    weir_buf_puts(b, prefix_text(h, r));
    weir_buf_add(b, digits, r->digits);
    weir_buf_puts(b, suffix_text(h, r));
}

bool weir_name_char(int c)
{
    return c > ' ' && c <= '~' && c != ',' && c != '[' && c != ']';
}

static int name_check(const char *s, size_t len, weir_err *err)
{
    if (!s || len == 0)
        return weir_fail(err, WEIR_EINVAL, "a host name must not be empty");
    if (len > WEIR_NAME_MAX)
        return weir_fail(err, WEIR_ELIMIT, "a host name of %zu bytes is too long, %d is the most", len, WEIR_NAME_MAX);
    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)s[i];
        if (weir_name_char(c))
            continue;
        if (c > ' ' && c <= '~')
            return weir_fail(err, WEIR_EINVAL, "a host name must not have '%c' in it (character %zu of \"%.64s\")", c,
                             i + 1, s);
        return weir_fail(err, WEIR_EINVAL, "a host name must not have byte 0x%02x in it (character %zu)", c, i + 1);
    }
    return WEIR_OK;
}

int weir_hostlist_append_name(weir_hostlist *h, const char *name, size_t len, weir_err *err)
{
    struct name parts;
    struct host_range r;
    int rc = name_check(name, len, err);

    if (rc != WEIR_OK)
        return rc;
    parts = weir_name_split(name, len);
    r = (struct host_range){.lo = parts.number, .hi = parts.number, .suffix = WEIR_NO_NAME, .digits = parts.digits};
    if (hostlist_intern(&h->texts, name, parts.prefix_len, &r.prefix) != WEIR_OK)
        return weir_fail_nomem(err);
    rc = weir_hostlist_append_run(h, &r);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(err);
    return rc == WEIR_OK ? WEIR_OK : weir_fail(err, rc, "the list has too many hosts");
}

struct mark weir_hostlist_mark(const weir_hostlist *h)
{
    struct mark m = {.n = h->n, .count = h->count};

    if (h->n)
        m.last = h->runs[h->n - 1];
    return m;
}

void weir_hostlist_rollback(weir_hostlist *h, const struct mark *m)
{
    h->n = m->n;
    h->count = m->count;
    if (m->n)
        h->runs[m->n - 1] = m->last;
    drop_index(h);
}

/* Replaces the text numbers of a run of `other` by numbers of texts in h. */
static int adopt_texts(weir_hostlist *h, const weir_hostlist *other, struct host_range *r)
{
    const char *prefix = prefix_text(other, r);
    const char *suffix = suffix_text(other, r);

    if (h == other)
        return WEIR_OK;
    if (hostlist_intern(&h->texts, prefix, strlen(prefix), &r->prefix) != WEIR_OK)
        return WEIR_ENOMEM;
    return r->suffix == WEIR_NO_NAME ? WEIR_OK : hostlist_intern(&h->texts, suffix, strlen(suffix), &r->suffix);
}

int weir_hostlist_append_list(weir_hostlist *h, const weir_hostlist *other, weir_err *err)
{
    struct mark mine, theirs;
    int rc = WEIR_OK;

    if (!h || !other)
        return weir_fail(err, WEIR_EINVAL, "hostlist: there is no list to append%s", h ? "" : " to");
    mine = weir_hostlist_mark(h);
    theirs = weir_hostlist_mark(other); /* if other == h, the last run may grow meanwhile */
    for (uint32_t i = 0; i < theirs.n && rc == WEIR_OK; i++) {
        struct host_range r = i + 1 == theirs.n ? theirs.last : other->runs[i];
        rc = adopt_texts(h, other, &r);
        rc = rc ? rc : weir_hostlist_append_run(h, &r);
    }
    if (rc == WEIR_OK)
        return WEIR_OK;
    weir_hostlist_rollback(h, &mine);
    return rc == WEIR_ENOMEM ? weir_fail_nomem(err) : weir_fail(err, rc, "the list has too many hosts");
}

size_t weir_hostlist_bytes(const weir_hostlist *h)
{
    if (!h)
        return 0;
    return sizeof *h + h->cap * sizeof *h->runs + h->nindex * sizeof *h->index + weir_strtab_bytes(&h->texts);
}

uint64_t weir_hostlist_count(const weir_hostlist *h)
{
    return h ? h->count : 0;
}

/* The run with position i < h->count. O(log runs) */
static uint32_t run_at(const weir_hostlist *h, uint64_t i)
{
    uint32_t after;

    WEIR_BISECT(after, 1, h->n, h->runs[after].first <= i);
    return after - 1;
}

size_t weir_hostlist_nth(const weir_hostlist *h, uint64_t i, char *buf, size_t size)
{
    char number[WEIR_HOSTLIST_DIGITS + 1] = "";
    const struct host_range *r;
    int n;

    if (size > 0)
        buf[0] = '\0';
    if (!h || i >= h->count)
        return 0;
    r = &h->runs[run_at(h, i)];
    weir_name_number(number, r->lo + (i - r->first), r->digits);
    n = snprintf(buf, size, "%s%s%s", prefix_text(h, r), number, suffix_text(h, r));
    return n < 0 ? 0 : (size_t)n;
}

/* Recomputes the positions from run i on. */
static void renumber(weir_hostlist *h, uint32_t i)
{
    uint64_t first = i ? h->runs[i - 1].first + run_length(&h->runs[i - 1]) : 0;

    for (; i < h->n; i++) {
        h->runs[i].first = first;
        first += run_length(&h->runs[i]);
    }
    h->count = first;
}

static void remove_run(weir_hostlist *h, uint32_t i)
{
    h->n--;
    memmove(h->runs + i, h->runs + i + 1, (h->n - i) * sizeof *h->runs);
}

/* Joins run i to the run before, if possible. */
static void join_run(weir_hostlist *h, uint32_t i)
{
    if (i == 0 || i >= h->n || !joins(&h->runs[i - 1], &h->runs[i]))
        return;
    h->runs[i - 1].hi = h->runs[i].hi;
    remove_run(h, i);
}

/* Removes a number from run k. Room for one more run must be reserved. */
static void cut_run(weir_hostlist *h, uint32_t k, uint64_t number)
{
    struct host_range *r = &h->runs[k];

    if (r->lo == r->hi) {
        remove_run(h, k);
    } else if (number == r->lo) {
        r->lo++;
    } else if (number == r->hi) {
        r->hi--;
    } else {
        memmove(r + 1, r, (h->n++ - k) * sizeof *r);
        r[0].hi = number - 1;
        r[1].lo = number + 1;
    }
}

int weir_hostlist_delete_at(weir_hostlist *h, uint64_t i)
{
    uint32_t k;

    if (!h || i >= h->count)
        return WEIR_ENOENT;
    if (weir_array_reserve(&h->runs, &h->cap, (size_t)h->n + 1, sizeof *h->runs) != WEIR_OK)
        return WEIR_ENOMEM;
    k = run_at(h, i);
    cut_run(h, k, h->runs[k].lo + (i - h->runs[k].first));
    join_run(h, k + 1);
    join_run(h, k);
    renumber(h, k > 0 ? k - 1 : 0);
    drop_index(h);
    return WEIR_OK;
}
