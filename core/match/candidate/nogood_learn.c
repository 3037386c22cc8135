/* nogood_learn.c - records rows opened in vain, so that later searches need not open the rows (nogood.h). Each item of
 * the heap knows its row of origin, and each row counts its live items: at zero the row holds nothing.
 *
 * Only searches for candidates with several nested resources learn, or with one that has to be a child (strict levels):
 * for all others aggregates suffice. And only where the result for a candidate follows from the vertices below and
 * from the key of the search: not where conflicting picks, hooks or constraints decide.
 */
#include <string.h>

#include "match/match.h"
#include "index/nogood.h"
#include "aggregate/schema.h"

static const weir_resource *sought(const struct search *s)
{
    return s->slot ? s->slot : s->r;
}

/* Whether r, or a resource nested in r, takes units from a subsystem. */
static bool has_flow(const weir_graph *g, const weir_resource *r)
{
    if (g->nsubsystems == 1)
        return false;
    if (!r->slot && weir_flow_find(g, r->type) != WEIR_NONE)
        return true;
    for (uint32_t i = 0; i < r->nwith; i++)
        if (has_flow(g, &r->with[i]))
            return true;
    return false;
}

static bool applies(const struct search *s)
{
    const struct match *m = s->m;
    const weir_resource *r = sought(s);
    bool counted = r->nwith == 1 && r->with->nwith == 0 && !(m->ask.options->strict & WEIR_STRICT_LEVELS);

    if (r->nwith == 0 || counted || r->any || has_flow(m->g, r) || weir_direct_within(m, r))
        return false;
    if (m->scope.conflicts_from != WEIR_NONE || m->scope.minimum || m->ask.links != WEIR_NONE || m->ask.options->trace)
        return false;
    if (m->ask.policy->prune || weir_request_constrained(m->ask.request))
        return false;
    if (m->ask.policy->choice && m->ask.policy->choice->kind == WEIR_CHOOSE_ONE)
        return false;
    return m->scope.view == VIEW_ALL || (m->scope.view == VIEW_NOW && !match_scored(m));
}

/* ---- the key of a search ---- */

static void add_number(weir_buf *b, int64_t n)
{
    weir_buf_add(b, (const char *)&n, sizeof n);
}

static void add_text(weir_buf *b, const char *text)
{
    weir_buf_add(b, text, strlen(text) + 1);
}

static void add_texts(weir_buf *b, const char *const *list, uint32_t n)
{
    add_number(b, n);
    for (uint32_t i = 0; i < n; i++)
        add_text(b, list[i]);
}

static void add_resource(weir_buf *b, const weir_resource *r)
{
    const int64_t numbers[] = {r->count.min, r->count.max, r->count.op, r->count.operand, r->count.nset,
                               r->exclusive, r->any,       r->takes,    r->nwith};

    add_text(b, r->type);
    add_text(b, r->unit);
    weir_buf_add(b, (const char *)numbers, sizeof numbers);
    for (uint32_t i = 0; i < r->count.nset; i++)
        add_number(b, r->count.set[i]);
    for (uint32_t i = 0; i < r->nwith; i++)
        add_resource(b, &r->with[i]);
}

static void add_policy(weir_buf *b, const weir_policy *p)
{
    add_number(b, p->keys ? (int64_t)p->serial : 0);
    add_number(b, p->select ? 1 : p->choice ? 2 + p->choice->kind : 0);
    add_texts(b, p->order, p->norder);
    add_texts(b, p->exclusive, p->nexclusive);
    add_texts(b, p->descend, p->ndescend);
    add_texts(b, p->locality, p->nlocality);
}

/* Adds the types of vertices that the search does not enter. */
static void add_barred(weir_buf *b, const struct search *s)
{
    for (uint32_t i = 0; i < s->nbarred; i++) {
        const weir_resource *r = &s->barred[i];
        add_text(b, r->type);
        add_number(b, r->slot ? r->nwith : 0);
        for (uint32_t k = 0; r->slot && k < r->nwith; k++)
            add_text(b, r->with[k].type);
    }
}

static void add_search(weir_buf *b, const struct search *s)
{
    const struct match *m = s->m;
    const int64_t numbers[] = {(int64_t)m->scope.view,
                               m->ask.options->strict,
                               m->ask.options->inside != NULL,
                               m->g->nsubsystems,
                               m->scope.probing,
                               s->type,
                               s->host,
                               s->idle_only,
                               s->kids_only};

    weir_buf_add(b, (const char *)numbers, sizeof numbers);
    add_policy(b, m->ask.policy);
    add_resource(b, sought(s));
    add_barred(b, s);
}

/* ---- the bit of a search ---- */

/* Whether a reservation begins before the end of the window. */
static bool is_reserved(const struct match *m)
{
    const weir_graph *g = m->g;

    for (uint32_t i = 0; i < g->nroots; i++) {
        const struct inner *in = g->roots[i] == WEIR_NONE ? NULL : inner_of(g, g->roots[i]);
        const struct schedule *b = g->roots[i] == WEIR_NONE ? NULL : schedule_of(g, g->roots[i]);
        if ((in && in->cells && WEIR_FOREVER - in->cells[CELL_SOON] < m->window.t1) || (b && b->next < m->window.t1))
            return true;
    }
    return false;
}

static void find_bit(struct search *s)
{
    weir_buf key = {0};

    add_search(&key, s);
    if (!key.failed)
        s->learner.bit = weir_nogood_find(s->m->g, &key, s->m->scope.view == VIEW_NOW ? s->m->window.t1 : WEIR_FOREVER);
    weir_buf_free(&key);
}

static void refuse(struct search *s, weir_vertex v)
{
    struct learner *l = &s->learner;
    const struct inner *in = inner_of(s->m->g, v);

    if (in && in->nrows)
        nogood_set(s->m->g, l->bit, in->row, WEIR_NONE, l->until);
}

/* Gives the search a bit, and sets the bit for everything refused so far. Out of memory costs only time. */
static void make_bit(struct search *s)
{
    struct learner *l = &s->learner;
    struct match *m = s->m;
    weir_buf key = {0};

    l->nrefused = 0;
    add_search(&key, s);
    if (!key.failed &&
        weir_nogood_make(m->g, &key, m->scope.view == VIEW_ALL, s->index->order.reads_maps, &l->bit) == WEIR_OK) {
        l->until = m->scope.view == VIEW_NOW && is_reserved(m) ? m->window.t1 : INT64_MIN;
        for (uint32_t i = 0; i < l->nopened; i++)
            if (l->opened[i].live == 0 && l->opened[i].row != WEIR_NONE)
                nogood_set(m->g, l->bit, l->opened[i].row, WEIR_NONE, l->until);
        for (uint32_t i = 0; i < NOGOODS_AFTER; i++)
            refuse(s, l->refused[i]);
    }
    weir_buf_free(&key);
}

/* ---- rows and candidates ---- */

void weir_nogood_begin(struct search *s)
{
    struct learner *l = &s->learner;

    l->popped_from = l->pushed_from = s->accepted_key = WEIR_NONE;
    l->active = applies(s);
    if (!l->active || !nogoods_in(s->m->g))
        return;
    find_bit(s);
    if (l->bit.born)
        l->until = s->m->scope.view == VIEW_NOW && is_reserved(s->m) ? s->m->window.t1 : INT64_MIN;
}

int weir_nogood_open(struct search *s, uint32_t row)
{
    struct learner *l = &s->learner;

    if (!l->active)
        return WEIR_OK;
    if (weir_array_reserve(&l->opened, &l->cap, (size_t)l->nopened + 1, sizeof *l->opened))
        return weir_fail_nomem(s->m->err);
    l->pushed_from = l->nopened++;
    l->opened[l->pushed_from] = (struct opened){l->popped_from, 0, row, WEIR_NONE};
    s->accepted_key = WEIR_NONE;
    return WEIR_OK;
}

/* Counts an item of opened row i as dead, and sets the bit of each row without live items, from i upwards. */
static void settle(struct search *s, uint32_t i)
{
    struct learner *l = &s->learner;

    while (i != WEIR_NONE && --l->opened[i].live == 0) {
        if (l->opened[i].row != WEIR_NONE)
            nogood_set(s->m->g, l->bit, l->opened[i].row, WEIR_NONE, l->until);
        i = l->opened[i].origin;
    }
}

void weir_nogood_opened(struct search *s)
{
    struct learner *l = &s->learner;

    if (!l->active || l->opened[l->pushed_from].live > 0)
        return;
    l->opened[l->pushed_from].live = 1;
    settle(s, l->pushed_from);
}

void weir_nogood_pass(struct search *s)
{
    struct learner *l = &s->learner;

    if (l->active)
        settle(s, l->popped_from);
}

void weir_nogood_refuse(struct search *s, weir_vertex v)
{
    struct learner *l = &s->learner;

    if (!l->active)
        return;
    s->accepted_key = WEIR_NONE;
    if (l->bit.born)
        refuse(s, v);
    else
        l->refused[l->nrefused++] = v;
    if (l->nrefused == NOGOODS_AFTER)
        make_bit(s);
    settle(s, l->popped_from);
}

/* ---- the first candidates left ---- */

static weir_vertex earlier(const struct search *s, weir_vertex a, weir_vertex b)
{
    if (a == WEIR_NONE || b == WEIR_NONE)
        return a == WEIR_NONE ? b : a;
    return order_before(s->m->g, &s->index->order, b, a) ? b : a;
}

static void leave(struct search *s, uint32_t from, weir_vertex key)
{
    struct learner *l = &s->learner;

    if (from != WEIR_NONE)
        l->opened[from].first = earlier(s, l->opened[from].first, key);
}

void weir_nogood_found(struct search *s)
{
    struct learner *l = &s->learner;

    if (l->active && s->accepted_key != WEIR_NONE)
        leave(s, l->popped_from, s->accepted_key);
    s->accepted_key = WEIR_NONE;
}

void weir_nogood_end(struct search *s)
{
    const struct frontier *f = &s->frontier;
    struct learner *l = &s->learner;

    weir_nogood_found(s);
    if (!l->active || !l->bit.born || search_descends(s)) /* the keys of a descending search imply no order */
        return;
    for (uint32_t i = 0; i < f->n; i++)
        for (const struct frontier_item *it = &f->heap[i]; it;
             it = it->next == WEIR_NONE ? NULL : &f->run_items[it->next])
            leave(s, it->origin, it->key);
    for (uint32_t i = l->nopened; i-- > 0;) { /* rows opened from a row come after the row */
        const struct opened *o = &l->opened[i];
        if (o->live == 0 || o->first == WEIR_NONE)
            continue;
        if (o->row != WEIR_NONE)
            nogood_set(s->m->g, l->bit, o->row, o->first, l->until);
        leave(s, o->origin, o->first);
    }
}

bool weir_nogood_row(const struct search *s, uint32_t row, weir_vertex *key)
{
    const struct learner *l = &s->learner;
    weir_vertex first;

    if (!l->bit.born || !nogood_at(s->m->g, l->bit, row, &first))
        return false;
    if (first != WEIR_NONE && order_before(s->m->g, &s->index->order, *key, first))
        *key = first;
    return first == WEIR_NONE;
}
