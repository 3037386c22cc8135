/* group_hosts.c - see group_hosts.h. Invariant: no search begins for groups with as many units as an earlier one. */
#include "match/candidate/group_hosts.h"

#include <string.h>

bool weir_group_hosts_apply(const struct match *m, weir_vertex under, weir_type host)
{
    return m->scope.view <= VIEW_RESERVED && !m->ask.policy->evaluate && m->ask.policy->choice &&
           m->ask.policy->choice->emptiest && (under == WEIR_NONE || (m->g->nroots == 1 && under == m->g->roots[0])) &&
           host != SEARCH_PARENT && m->ask.options->strict == 0 && m->ask.links == WEIR_NONE &&
           m->ask.policy->ndescend == 0 && !weir_type_above(m->g, host, host);
}

int weir_group_hosts_begin(struct group_hosts *h, struct match *m, const weir_resource *slot, weir_type host)
{
    struct group_question q = {.policy = m->ask.policy, .type = host};
    int rc;

    memset(h, 0, sizeof *h);
    h->m = m;
    h->slot = slot;
    h->host = host;
    rc = weir_groups_get(m->g, &q, &h->index, m->err);
    if (rc)
        return rc;
    weir_groups_settle(m->g, h->index);
    weir_groups_rekey(m->g, h->index);
    return WEIR_OK;
}

/* Begins the search for the hosts of the next groups. Returns 1, 0: there are no further groups; or negative. */
static int next_groups(struct group_hosts *h)
{
    const struct group_index *x = h->index;
    uint32_t group = weir_keyset_from(&x->emptiest_first, h->next);
    int rc;

    if (group == WEIR_NONE)
        return 0;
    h->level = x->emptiest_first.keys[group] >> 32;
    h->next = (h->level + 1) << 32;
    rc = weir_search_hosts(&h->search, h->m, WEIR_NONE, h->slot, weir_slot_first(h->m, h->slot), h->host);
    if (rc)
        return rc;
    h->searching = true;
    if (x->group_type != WEIR_NO_TYPE)
        h->search.groups = (struct search_groups){
            x->group_type, h->host, (int64_t)weir_group_free(h->m->g, &x->rule, x->list[x->begin[group]])};
    return 1;
}

static uint64_t level_of(const struct group_hosts *h, weir_vertex v)
{
    const struct group_index *x = h->index;

    return x->emptiest_first.keys[x->groups[x->places[v]]] >> 32;
}

int weir_group_hosts_next(struct group_hosts *h, weir_vertex *v)
{
    int rc = 1;

    for (;;) {
        rc = h->searching ? 1 : next_groups(h);
        if (rc <= 0)
            return rc;
        do
            rc = weir_search_next(&h->search, v);
        while (rc > 0 && level_of(h, *v) != h->level);
        if (rc)
            return rc;
        weir_group_hosts_end(h);
    }
}

void weir_group_hosts_end(struct group_hosts *h)
{
    if (h->searching)
        weir_search_end(&h->search);
    h->searching = false;
}
