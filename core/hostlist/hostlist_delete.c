/* hostlist_delete.c - deletes the names of a second list from a list. A sweep over both lists finds the numbers to
 * cut from each run.
 */
#include "hostlist/hostlist_sweep.h"

#include <stdlib.h>

#include "base/compare.h"

struct cut {
    uint32_t at; /* index of the run to be cut */
    uint64_t lo, hi;
};

struct cuts {
    struct cut *cuts;
    uint32_t n, cap;
    uint64_t repeated; /* cuts made for names repeated in both lists */
};

static int cut(struct cuts *c, uint32_t at, uint64_t lo, uint64_t hi)
{
    return WEIR_ARRAY_ADD(c->cuts, c->n, c->cap, (struct cut){at, lo, hi});
}

/* Cuts the stretch [lo, hi] from as many runs as there are deletions of the stretch, first runs first. Popped items
 * are kept at the end of the heap's array until the last pop, because a second pop must find a different run. */
static int stretch_cut(struct hostlist_sweep *s, uint64_t lo, uint64_t hi)
{
    struct cuts *c = s->result;
    uint32_t wanted = s->own < s->removing ? s->own : s->removing;
    uint32_t popped = 0;
    int rc = WEIR_OK;

    if (wanted > 1) {
        c->repeated += wanted;
        if (c->repeated > WEIR_HOSTLIST_RUNS)
            return WEIR_ELIMIT;
    }
    while (popped < wanted && rc == WEIR_OK) {
        struct sweep_item *item = weir_sweep_pop(s, lo);
        s->first[s->n - ++popped] = item;
        rc = cut(c, item->at, lo, hi);
    }
    while (popped > 0)
        weir_sweep_push(s, s->first[s->n - popped--]);
    return rc;
}

WEIR_COMPARE_BY2(compare_cuts, struct cut, at, lo)

/* Appends to `out` the runs of h without the cuts. Cuts must be sorted. */
static int apply_cuts(const weir_hostlist *h, const struct cuts *c, weir_hostlist *out)
{
    uint32_t k = 0;
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < h->n && rc == WEIR_OK; i++) {
        struct host_range left = h->runs[i];
        for (; k < c->n && c->cuts[k].at == i && rc == WEIR_OK; k++) {
            struct host_range before = left;
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

/* Deletes names; neither list may have suffixes. */
static int delete_names(weir_hostlist *h, const weir_hostlist *names)
{
    weir_hostlist out = {0};
    struct cuts c = {0};
    struct hostlist_sweep s = {.stretch = stretch_cut, .result = &c};
    int rc = weir_sweep_by_text(&s, h, names);

    if (rc != WEIR_OK)
        return rc;
    rc = weir_sweep_each(&s, weir_sweep_kind);
    if (rc == WEIR_OK && c.n > 0) {
        qsort(c.cuts, c.n, sizeof *c.cuts, compare_cuts);
        rc = apply_cuts(h, &c, &out);
        if (rc == WEIR_OK)
            weir_hostlist_swap_runs(h, &out);
        weir_mem_free(out.runs);
    }
    weir_mem_free(c.cuts);
    weir_sweep_end(&s);
    return rc;
}

/* Deletes names from any list, after expanding suffixes in h and in a copy of `names`. */
static int delete_any(weir_hostlist *h, const weir_hostlist *names)
{
    weir_hostlist *copy = NULL;
    int rc = weir_hostlist_expand(h);

    if (rc == WEIR_OK && (h == names || weir_hostlist_suffixed(names))) {
        rc = weir_hostlist_copy(names, &copy);
        rc = rc ? rc : weir_hostlist_expand(copy);
        names = copy;
    }
    rc = rc ? rc : delete_names(h, names);
    weir_hostlist_free(copy);
    return rc;
}

int weir_hostlist_delete_list(weir_hostlist *h, const weir_hostlist *names, uint64_t *deleted, weir_err *err)
{
    uint64_t before = weir_hostlist_count(h);
    int rc;

    if (!h || !names)
        return weir_fail(err, WEIR_EINVAL, "hostlist: there is no list %s",
                         h ? "of names to delete" : "to delete from");
    rc = delete_any(h, names);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(err);
    if (rc != WEIR_OK)
        return weir_fail(err, rc,
                         "hostlist: too many names that come more than once or have something behind a bracket");
    if (deleted)
        *deleted = before - h->count;
    return WEIR_OK;
}

int weir_hostlist_delete(weir_hostlist *h, const char *text, size_t len, uint64_t *deleted, weir_err *err)
{
    weir_hostlist *names;
    int rc = weir_hostlist_parse(text, len, &names, err);

    if (rc != WEIR_OK)
        return rc;
    rc = weir_hostlist_delete_list(h, names, deleted, err);
    weir_hostlist_free(names);
    return rc;
}
