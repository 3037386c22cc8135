/* group_hosts.c - see group_hosts.h. Invariant: each search that is kept has found a host that was not given yet. */
#include "match/group_hosts.h"

#include <string.h>

bool weir_group_hosts_apply(const struct match *m, weir_vertex under, weir_type host)
{
    return m->view <= VIEW_RESERVED && !m->policy->evaluate && m->policy->choice && m->policy->choice->emptiest &&
           (under == WEIR_NONE || (m->g->nroots == 1 && under == m->g->roots[0])) && host != SEARCH_PARENT &&
           m->options->reading == 0 && m->links == WEIR_NONE && m->policy->ndescend == 0 &&
           !weir_type_above(m->g, host, host);
}

int weir_group_hosts_begin(struct group_hosts *h, struct match *m, const weir_resource *slot, weir_type host)
{
    struct group_question q = {.policy = m->policy, .type = host};
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

static void drop_search(struct group_hosts *h, uint32_t i)
{
    weir_search_end(&h->groups[i].search);
    h->groups[i] = h->groups[--h->n];
}

/* Finds the next host of a search, or drops the search. */
static int advance(struct group_hosts *h, uint32_t i)
{
    const struct group_index *x = h->index;
    weir_vertex *v = &h->groups[i].found;
    int rc;

    do
        rc = weir_search_next(&h->groups[i].search, v);
    while (rc > 0 && h->filtered && x->emptiest_first.keys[x->groups[x->places[*v]]] >> 32 != h->level);
    if (rc <= 0)
        drop_search(h, i);
    return rc;
}

static int begin_search(struct group_hosts *h, weir_vertex under)
{
    struct search *s = &h->groups[h->n].search;
    int rc = weir_search_hosts(s, h->m, under, h->slot, weir_slot_first(h->m, h->slot), h->host);

    if (rc)
        return rc;
    rc = advance(h, h->n++);
    return rc < 0 ? rc : WEIR_OK;
}

/* Whether a group may have a host: by aggregates, and by the vertices above. Returns 1, 0 or negative. */
static int may_have_host(struct group_hosts *h, weir_vertex group)
{
    const weir_graph *g = h->m->g;
    const struct inner *in = inner_of(g, group);
    const weir_resource *first = weir_slot_first(h->m, h->slot);
    struct search s;
    int go;

    weir_search_prepare(&s, h->m, h->slot, first, weir_candidate_idle(h->m, first));
    s.needs_type = s.host = h->host;
    go = in && in->cells && weir_search_row_ok(&s, schema_at(g, in->schema), in->cells);
    h->m->stats.visited++;
    for (weir_vertex u = group; go > 0 && u != WEIR_NONE; u = vertex_at(g, u)->parent)
        go = weir_search_admit(&s, u);
    return go;
}

/* Lists the next groups of equally many free units that may have hosts, at most EQUAL_GROUPS; *more: there are more
 * groups of the level, or a group that is no vertex. Returns the number of groups, or a negative status. */
static int list_groups(struct group_hosts *h, weir_vertex groups[EQUAL_GROUPS], bool *more)
{
    const struct group_index *x = h->index;
    int n = 0;

    *more = false;
    for (uint32_t k = weir_keyset_from(&x->emptiest_first, h->next); k != WEIR_NONE && !*more;
         k = weir_keyset_from(&x->emptiest_first, h->next)) {
        weir_vertex group = weir_group_vertex(h->m->g, &x->rule, x->list[x->begin[k]]);
        int go;
        if (n > 0 && x->emptiest_first.keys[k] >> 32 != h->level)
            return n;
        h->level = x->emptiest_first.keys[k] >> 32;
        h->next = x->emptiest_first.keys[k] + 1;
        go = group == WEIR_NONE ? 1 : may_have_host(h, group);
        if (go < 0)
            return go;
        *more = go && (group == WEIR_NONE || n == EQUAL_GROUPS);
        if (go && !*more)
            groups[n++] = group;
    }
    return n;
}

/* Begins the searches of the next groups with hosts. */
static int next_groups(struct group_hosts *h)
{
    weir_vertex groups[EQUAL_GROUPS];
    int rc = WEIR_OK, n;

    while (!rc && h->n == 0) {
        n = list_groups(h, groups, &h->filtered);
        if (n <= 0 && !h->filtered)
            return n;
        if (h->filtered) {
            h->next = (h->level + 1) << 32;
            rc = begin_search(h, WEIR_NONE);
        }
        for (int i = 0; !rc && !h->filtered && i < n; i++)
            rc = begin_search(h, groups[i]);
    }
    return rc;
}

int weir_group_hosts_next(struct group_hosts *h, weir_vertex *v)
{
    uint32_t first = 0;
    int rc = next_groups(h);

    if (rc || h->n == 0)
        return rc;
    for (uint32_t i = 1; i < h->n; i++)
        if (weir_order_before(h->m->g, &h->groups[i].search.index->order, h->groups[i].search.found_key,
                              h->groups[first].search.found_key))
            first = i;
    *v = h->groups[first].found;
    rc = advance(h, first);
    return rc < 0 ? rc : 1;
}

void weir_group_hosts_end(struct group_hosts *h)
{
    while (h->n > 0)
        drop_search(h, h->n - 1);
}
