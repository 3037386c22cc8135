/* occupancy_check.c - compares occupancies with the jobs. For tests. */
#include "time/occupancy_private.h"
#include "time/earliest_fit.h"
#include "aggregate/schema.h"

static int broken(weir_err *err, const weir_graph *g, const struct occupancy *c, const char *what)
{
    return weir_fail(err, WEIR_EINVAL, "weir_check: the occupancy of %s: %s", type_text(g, c->type), what);
}

/* Whether a job has anything of v at time t. */
static bool is_used(const weir_graph *g, weir_vertex v, int64_t t)
{
    for (uint32_t i = 0; i < job_records(g); i++) {
        const struct job *j = &jobs_in(g)->list[i];
        if (!j->used || t < j->a.start || t >= j->a.end)
            continue;
        for (uint32_t k = 0; k < j->a.npicks; k++)
            if (weir_vertex_within(g, j->picks[k].vertex, v) ||
                (j->picks[k].exclusive && weir_vertex_within(g, v, j->picks[k].vertex)))
                return true;
    }
    return false;
}

static int check_slice(const weir_graph *g, struct occupancy *c, struct page *p, uint32_t i, weir_err *err)
{
    const uint64_t *all = set_of(c, p, SET_ALL), *own = slice_set(c, p, i), *any = weir_occupancy_any(c, p);
    uint32_t nall = 0, nown = 0;

    for (uint32_t bit = 0; bit < c->words * 64; bit++) {
        uint64_t one = UINT64_C(1) << (bit % 64);
        bool in_all = all[bit / 64] & one, in_own = own[bit / 64] & one;
        bool live = bit < c->count && c->vertices[bit] != WEIR_NONE;
        if ((in_all || in_own) != (live && is_used(g, c->vertices[bit], p->time[i])) || (in_all && in_own))
            return broken(err, g, c, "a vertex is in use when no job has it, or the other way round");
        if (in_own && !(any[bit / 64] & one))
            return broken(err, g, c, "a page forgets what is in use in a slice");
        nall += in_all;
        nown += in_own;
    }
    if (nall == p->all && nown == p->held[i] && nown <= p->most)
        return WEIR_OK;
    return broken(err, g, c, "the vertices in use are miscounted");
}

static int check_slices(const weir_graph *g, struct occupancy *c, weir_err *err)
{
    int64_t before = INT64_MIN;
    int rc = WEIR_OK;

    for (uint32_t at = 0; !rc && at < c->npages; at++)
        for (uint32_t i = 0; !rc && i < c->pages[at]->n; i++) {
            struct page *p = c->pages[at];
            if ((at || i) && p->time[i] <= before)
                return broken(err, g, c, "slices are out of order");
            before = p->time[i];
            rc = check_slice(g, c, p, i, err);
        }
    return rc;
}

static int check_occupancy(const weir_graph *g, struct occupancy *c, weir_err *err)
{
    int rc = check_slices(g, c, err);

    rc = rc ? rc : weir_fits_check(g, c);
    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(err);
    return rc ? broken(err, g, c, "the earliest fits are not what the jobs leave") : WEIR_OK;
}

int weir_occupancies_check(const weir_graph *g, weir_err *err)
{
    int rc = WEIR_OK;

    for (uint32_t t = 0; !rc && t < occupancies_in(g)->n; t++)
        if (weir_occupancy_of(g, (weir_type)t) && !weir_type_above(g, (weir_type)t, (weir_type)t))
            rc = check_occupancy(g, occupancies_in(g)->by_type[t], err);
    return rc;
}
