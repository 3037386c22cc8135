/* hostlist_sort.c - sort, uniq and delete: all of them go over the runs in order of prefix, digits and number.
 *
 * For sort and delete a sweep cuts the numbers into stretches [lo, hi] that the same runs cover, and gives each with
 * these runs in the order of the list. So no operation costs more for a longer run. The list changes only when a whole
 * result is ready.
 */
#include "hostlist_private.h"

#include <stdlib.h>
#include <string.h>

/* A run that takes part in a sweep. */
struct item {
    const char *prefix;
    struct run run;
    uint32_t at; /* number of the run in its list */
    bool remove; /* it comes from the list of names to delete */
};

struct sweep {
    struct item *items; /* sorted */
    uint32_t n;
    struct item **active; /* those that cover the stretch: first the list's own in its order, then those to delete */
    uint32_t nactive;
    int (*stretch)(struct sweep *s, uint64_t lo, uint64_t hi);
    weir_hostlist *out; /* for sort */
    struct cuts *cuts;  /* for delete */
};

struct cut {
    uint32_t at; /* number of the run that [lo, hi] goes out of */
    uint64_t lo, hi;
};

struct cuts {
    struct cut *cuts;
    uint32_t n, cap;
};

static int compare_items(const void *x, const void *y)
{
    const struct item *a = x;
    const struct item *b = y;
    int order = a->prefix == b->prefix ? 0 : strcmp(a->prefix, b->prefix);

    if (order != 0)
        return order;
    if (a->run.digits != b->run.digits)
        return a->run.digits < b->run.digits ? -1 : 1;
    if (a->run.lo != b->run.lo)
        return a->run.lo < b->run.lo ? -1 : 1;
    if (a->remove != b->remove)
        return a->remove ? 1 : -1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool same_kind(const struct item *a, const struct item *b)
{
    return a->run.digits == b->run.digits && (a->prefix == b->prefix || strcmp(a->prefix, b->prefix) == 0);
}

static void items_add(struct sweep *s, const weir_hostlist *h, bool to_remove)
{
    for (uint32_t i = 0; i < h->n; i++)
        s->items[s->n++] = (struct item){prefix_text(h, &h->runs[i]), h->runs[i], i, to_remove};
}

static int sweep_begin(struct sweep *s, const weir_hostlist *h, const weir_hostlist *names)
{
    size_t n = (size_t)h->n + (names ? names->n : 0);

    s->items = n < UINT32_MAX ? weir_mem_zalloc(n, sizeof *s->items) : NULL;
    s->active = s->items ? weir_mem_zalloc(n, sizeof *s->active) : NULL;
    if (!s->active) {
        weir_mem_free(s->items);
        return WEIR_ENOMEM;
    }
    items_add(s, h, false);
    if (names)
        items_add(s, names, true);
    if (s->n > 1)
        qsort(s->items, s->n, sizeof *s->items, compare_items);
    return WEIR_OK;
}

static void sweep_end(struct sweep *s)
{
    weir_mem_free(s->items);
    weir_mem_free(s->active);
}

static bool comes_before(const struct item *a, const struct item *b)
{
    return a->remove == b->remove ? a->at < b->at : b->remove;
}

static void activate(struct sweep *s, struct item *item)
{
    uint32_t i = s->nactive++;

    for (; i > 0 && comes_before(item, s->active[i - 1]); i--)
        s->active[i] = s->active[i - 1];
    s->active[i] = item;
}

/* Takes out the runs that end before number `from`. */
static void retire(struct sweep *s, uint64_t from)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->nactive; i++) {
        if (s->active[i]->run.hi >= from)
            s->active[kept++] = s->active[i];
    }
    s->nactive = kept;
}

static uint64_t lowest_end(const struct sweep *s)
{
    uint64_t end = UINT64_MAX;

    for (uint32_t i = 0; i < s->nactive; i++) {
        if (s->active[i]->run.hi < end)
            end = s->active[i]->run.hi;
    }
    return end;
}

/* Sweeps over the items [i, end), which differ in nothing but their numbers. */
static int sweep_kind(struct sweep *s, uint32_t i, uint32_t end)
{
    int rc = WEIR_OK;
    uint64_t lo = s->items[i].run.lo;

    while (rc == WEIR_OK && (i < end || s->nactive > 0)) {
        uint64_t hi;
        if (s->nactive == 0)
            lo = s->items[i].run.lo;
        while (i < end && s->items[i].run.lo == lo)
            activate(s, &s->items[i++]);
        hi = lowest_end(s);
        if (i < end && s->items[i].run.lo <= hi)
            hi = s->items[i].run.lo - 1;
        rc = s->stretch(s, lo, hi);
        lo = hi + 1;
        retire(s, lo);
    }
    s->nactive = 0;
    return rc;
}

static int for_each_kind(struct sweep *s, int (*kind)(struct sweep *, uint32_t, uint32_t))
{
    int rc = WEIR_OK;

    for (uint32_t i = 0, end; i < s->n && rc == WEIR_OK; i = end) {
        end = i + 1;
        while (end < s->n && same_kind(&s->items[i], &s->items[end]))
            end++;
        rc = kind(s, i, end);
    }
    return rc;
}

/* ---- sort and uniq ---- */

static int put(struct sweep *s, uint64_t lo, uint64_t hi)
{
    struct run r = s->active[0]->run;

    r.lo = lo;
    r.hi = hi;
    return weir_hostlist_append_run(s->out, &r);
}

static int stretch_sorted(struct sweep *s, uint64_t lo, uint64_t hi)
{
    int rc = WEIR_OK;

    if (s->nactive == 1)
        return put(s, lo, hi);
    if (s->out->n >= WEIR_HOSTLIST_RUNS || hi - lo >= (WEIR_HOSTLIST_RUNS - s->out->n) / s->nactive)
        return WEIR_ELIMIT;
    for (uint64_t n = lo; n <= hi; n++) {
        for (uint32_t i = 0; i < s->nactive && rc == WEIR_OK; i++)
            rc = put(s, n, n);
    }
    return rc;
}

/* Appends the items [i, end), which differ in nothing but their numbers, each number once. */
static int merge_kind(struct sweep *s, uint32_t i, uint32_t end)
{
    struct run r = s->items[i].run;
    int rc = WEIR_OK;

    while (++i < end && rc == WEIR_OK) {
        const struct run *next = &s->items[i].run;
        if (next->lo > r.hi) {
            rc = weir_hostlist_append_run(s->out, &r);
            r = *next;
        } else if (next->hi > r.hi) {
            r.hi = next->hi;
        }
    }
    return rc == WEIR_OK ? weir_hostlist_append_run(s->out, &r) : rc;
}

static int rearrange(weir_hostlist *h, int (*kind)(struct sweep *, uint32_t, uint32_t))
{
    weir_hostlist out = {0};
    struct sweep s = {.stretch = stretch_sorted, .out = &out};
    int rc;

    if (!h)
        return WEIR_EINVAL;
    rc = sweep_begin(&s, h, NULL);
    if (rc != WEIR_OK)
        return rc;
    rc = for_each_kind(&s, kind);
    if (rc == WEIR_OK)
        weir_hostlist_swap_runs(h, &out);
    weir_mem_free(out.runs);
    sweep_end(&s);
    return rc;
}

int weir_hostlist_sort(weir_hostlist *h)
{
    return rearrange(h, sweep_kind);
}

int weir_hostlist_uniq(weir_hostlist *h)
{
    return rearrange(h, merge_kind);
}

/* ---- delete ---- */

/* Cuts the stretch out of as many runs of the list as it is named to be deleted. */
static int stretch_cut(struct sweep *s, uint64_t lo, uint64_t hi)
{
    struct cuts *c = s->cuts;
    uint32_t own = 0;

    while (own < s->nactive && !s->active[own]->remove)
        own++;
    for (uint32_t i = 0; i < own && i < s->nactive - own; i++) {
        if (weir_array_reserve(&c->cuts, &c->cap, (size_t)c->n + 1, sizeof *c->cuts) != WEIR_OK)
            return WEIR_ENOMEM;
        c->cuts[c->n++] = (struct cut){s->active[i]->at, lo, hi};
    }
    return WEIR_OK;
}

static int compare_cuts(const void *x, const void *y)
{
    const struct cut *a = x;
    const struct cut *b = y;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* Appends to `out` what the cuts, which are sorted, leave of the runs of h. */
static int apply_cuts(const weir_hostlist *h, const struct cuts *c, weir_hostlist *out)
{
    uint32_t k = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < h->n && rc == WEIR_OK; i++) {
        struct run left = h->runs[i];
        for (; k < c->n && c->cuts[k].at == i && rc == WEIR_OK; k++) {
            struct run before = left;
            before.hi = c->cuts[k].lo - 1;
            if (c->cuts[k].lo > left.lo)
                rc = weir_hostlist_append_run(out, &before);
            left.lo = c->cuts[k].hi + 1;
        }
        if (rc == WEIR_OK && left.lo <= left.hi)
            rc = weir_hostlist_append_run(out, &left);
    }
    return rc;
}

static int delete_names(weir_hostlist *h, const weir_hostlist *names)
{
    weir_hostlist out = {0};
    struct cuts c = {0};
    struct sweep s = {.stretch = stretch_cut, .cuts = &c};
    int rc = sweep_begin(&s, h, names);

    if (rc != WEIR_OK)
        return rc;
    rc = for_each_kind(&s, sweep_kind);
    if (rc == WEIR_OK && c.n > 0) {
        qsort(c.cuts, c.n, sizeof *c.cuts, compare_cuts);
        rc = apply_cuts(h, &c, &out);
        if (rc == WEIR_OK)
            weir_hostlist_swap_runs(h, &out);
        weir_mem_free(out.runs);
    }
    weir_mem_free(c.cuts);
    sweep_end(&s);
    return rc;
}

int weir_hostlist_delete(weir_hostlist *h, const char *text, size_t len, uint64_t *deleted, weir_err *err)
{
    weir_hostlist *names;
    uint64_t before = weir_hostlist_count(h);
    int rc = h ? weir_hostlist_parse(text, len, &names, err) : WEIR_EINVAL;

    if (rc != WEIR_OK)
        return weir_fail(err, rc, "hostlist: there is no list to delete from");
    rc = delete_names(h, names);
    weir_hostlist_free(names);
    if (rc != WEIR_OK)
        return weir_fail_nomem(err);
    if (deleted)
        *deleted = before - h->count;
    return WEIR_OK;
}
