/* hostlist_sort.c - sort and uniq. The list is replaced only by a complete result. */
#include "hostlist/hostlist_sweep.h"

struct sorted {
    weir_hostlist *out;
    uint64_t repeated; /* runs spent on repeated names */
};

static int put(struct hostlist_sweep *s, uint64_t lo, uint64_t hi)
{
    struct host_range r = s->first[0]->run; /* all runs of a stretch have equal prefix, digits and suffix */

    r.lo = lo;
    r.hi = hi;
    return weir_hostlist_append_run(((struct sorted *)s->result)->out, &r);
}

static int stretch_sorted(struct hostlist_sweep *s, uint64_t lo, uint64_t hi)
{
    struct sorted *to = s->result;
    int rc = WEIR_OK;

    if (s->own == 1)
        return put(s, lo, hi);
    if (hi - lo >= (WEIR_HOSTLIST_RUNS - to->repeated) / s->own)
        return WEIR_ELIMIT;
    to->repeated += (hi - lo + 1) * s->own;
    for (uint64_t n = lo; n <= hi; n++) {
        for (uint32_t i = 0; i < s->own && rc == WEIR_OK; i++)
            rc = put(s, n, n);
    }
    return rc;
}

/* Appends the items [i, end) of one group, each number once. */
static int merge_kind(struct hostlist_sweep *s, uint32_t i, uint32_t end)
{
    weir_hostlist *out = ((struct sorted *)s->result)->out;
    struct host_range r = s->items[i].run;
    int rc = WEIR_OK;

    while (++i < end && rc == WEIR_OK) {
        const struct host_range *next = &s->items[i].run;
        if (next->lo > r.hi) {
            rc = weir_hostlist_append_run(out, &r);
            r = *next;
        } else if (next->hi > r.hi) {
            r.hi = next->hi;
        }
    }
    return rc == WEIR_OK ? weir_hostlist_append_run(out, &r) : rc;
}

static int rearrange(weir_hostlist *h, int (*kind)(struct hostlist_sweep *, uint32_t, uint32_t))
{
    weir_hostlist out = {0};
    struct sorted to = {.out = &out};
    struct hostlist_sweep s = {.stretch = stretch_sorted, .result = &to};
    int rc = h ? weir_hostlist_expand(h) : WEIR_EINVAL;

    rc = rc ? rc : weir_sweep_by_text(&s, h, NULL);
    if (rc != WEIR_OK)
        return rc;
    rc = weir_sweep_each(&s, kind);
    if (rc == WEIR_OK)
        weir_hostlist_swap_runs(h, &out);
    weir_mem_free(out.runs);
    weir_sweep_end(&s);
    return rc;
}

int weir_hostlist_sort(weir_hostlist *h)
{
    return rearrange(h, weir_sweep_kind);
}

int weir_hostlist_uniq(weir_hostlist *h)
{
    return rearrange(h, merge_kind);
}
