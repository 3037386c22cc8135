/* choice.c - a flow in whole demands: relaxation by a maximum flow, cuts by rounding, branch and bound.
 *
 * Vertices with the same parents, in the same group, are one site. Flow leads from the sources through the units to the
 * sites, and from there up a tree of sets of sites to its root: sites below groups, if any; then sets that only share
 * units farther and farther up. Each arc of the tree has bounds. In whole demands a set gets no more than what flows
 * to it, rounded down to a multiple of the size of a demand, and that is the upper bound; the lower bounds are those of
 * branching: this site gets another demand, or no more of them.
 *
 * Nodes of the network: entrance and exit of unit i are 2i and 2i + 1; then the nodes of the tree, sites first, each
 * set behind all that it consists of, the root last; then the source. Arcs are numbered in pairs: a and a ^ 1 go
 * opposite ways. Invariant: lower <= flow <= upper on the arcs of the tree, once relax() has returned 1.
 */
#include "flow/choice.h"

#include <stdlib.h>
#include <string.h>

#include "flow/network.h"

#define ENOUGH    (INT64_MAX / 4)
#define DEPTH_MAX 2000 /* levels of branching */
#define VAIN_MAX  16   /* sites that get no further demand before rounding gives up */

struct site {
    uint32_t first, n;   /* its parents, numbers of units in ascending order, in `parents` */
    uint32_t group, end; /* the first end */
    int64_t most;
    uint32_t twin;  /* the next site that is like this one; WEIR_NONE */
    uint32_t elder; /* the site before that is like this one; WEIR_NONE */
};

struct tree_node {
    uint32_t parent; /* WEIR_NONE: the root */
    uint32_t arc;    /* to the parent */
    int64_t lower, upper;
    int64_t step; /* the flow has to be a multiple; 0: of nothing */
};

struct bound_change {
    uint32_t node;
    int64_t lower, upper; /* before */
};

struct arc_change {
    uint32_t arc;
    int64_t amount;
};

struct chooser {
    struct flow_choice *c;
    const struct flow_layout *l;
    uint32_t *parents, *site_of; /* by end */
    uint32_t nparents, parents_cap;
    struct site *sites;
    uint32_t nsites;
    struct tree_node *tree;
    uint32_t ntree;
    uint32_t source, nnodes;
    uint32_t *first, *next, *to; /* arcs that leave a node: chains; by arc: its head */
    int64_t *base, *left, *keep; /* by arc: capacity, what may still pass, and what of this has to stay */
    uint32_t narcs, arcs_cap;
    uint32_t *queue, *into; /* by node, of a search: the arc that leads on */
    uint32_t *seen, stamp;
    struct arc_change *log;
    uint32_t nlog, log_cap;
    struct bound_change *bounds;
    uint32_t nbounds, bounds_cap;
    int64_t total; /* flow to the root */
};

/* ---- sites ---- */

struct end_order {
    const struct chooser *x;
    const uint32_t *first; /* by end: its parents */
};

static int by_number(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    return i < k ? -1 : i > k;
}

/* Compares ends by group and parents. */
static int compare_ends(const struct end_order *o, uint32_t i, uint32_t k)
{
    const struct flow_choice_end *ends = o->x->c->ends;
    uint32_t n = o->first[i + 1] - o->first[i], nk = o->first[k + 1] - o->first[k];

    if (o->x->c->by_group && ends[i].group != ends[k].group)
        return ends[i].group < ends[k].group ? -1 : 1;
    if (n != nk)
        return n < nk ? -1 : 1;
    for (uint32_t a = 0; a < n; a++) {
        uint32_t p = o->x->parents[o->first[i] + a], q = o->x->parents[o->first[k] + a];
        if (p != q)
            return p < q ? -1 : 1;
    }
    return 0;
}

static int by_parents(const void *a, const void *b, void *data)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = compare_ends(data, i, k);
    return order ? order : i < k ? -1 : i > k;
}

static int list_parents(struct chooser *x, uint32_t *first)
{
    for (uint32_t i = 0; i < x->c->n; i++) {
        struct weir_ends above = weir_ends(x->c->w->g, x->c->ends[i].v, x->l->subsystem, false);
        first[i] = x->nparents;
        for (weir_vertex up; (up = weir_ends_next(&above)) != WEIR_NONE;)
            if (WEIR_ARRAY_ADD(x->parents, x->nparents, x->parents_cap, weir_map32_get(&x->l->numbers, up)))
                return WEIR_ENOMEM;
        if (x->nparents > first[i])
            qsort(x->parents + first[i], x->nparents - first[i], sizeof *x->parents, by_number);
    }
    first[x->c->n] = x->nparents;
    return WEIR_OK;
}

static int by_first_end(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Makes sites of the ends, in the order of the first end of each. */
static int make_sites(struct chooser *x)
{
    uint32_t n = x->c->n;
    uint32_t *first = weir_mem_alloc(((size_t)n + 1) * sizeof *first);
    uint32_t *order = weir_mem_alloc(((size_t)n + 1) * sizeof *order);
    uint32_t *number = weir_mem_alloc(((size_t)n + 1) * sizeof *number); /* by end: its site, by first end */
    struct end_order o = {x, first};
    int rc = WEIR_ENOMEM;

    x->sites = weir_mem_alloc(((size_t)n + 1) * sizeof *x->sites);
    x->site_of = weir_mem_alloc(((size_t)n + 1) * sizeof *x->site_of);
    if (first && order && number && x->sites && x->site_of)
        rc = list_parents(x, first);
    for (uint32_t i = 0; !rc && i < n; i++)
        order[i] = i;
    if (!rc)
        qsort_r(order, n, sizeof *order, by_parents, &o);
    for (uint32_t i = 0; !rc && i < n; i++) {
        uint32_t end = order[i];
        if (i == 0 || compare_ends(&o, order[i - 1], end) != 0)
            x->sites[x->nsites++] = (struct site){.first = first[end],
                                                  .n = first[end + 1] - first[end],
                                                  .group = x->c->ends[end].group,
                                                  .end = end,
                                                  .twin = WEIR_NONE,
                                                  .elder = WEIR_NONE};
        x->sites[x->nsites - 1].most += x->c->ends[end].most < x->c->want ? x->c->ends[end].most : x->c->want;
        x->site_of[end] = x->sites[x->nsites - 1].end;
    }
    if (!rc)
        qsort(x->sites, x->nsites, sizeof *x->sites, by_first_end);
    for (uint32_t i = 0; !rc && i < x->nsites; i++)
        number[x->sites[i].end] = i;
    for (uint32_t i = 0; !rc && i < n; i++)
        x->site_of[i] = number[x->site_of[i]];
    WEIR_FREE(first, order, number);
    return rc;
}

/* ---- the tree ---- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_tree_node(struct chooser *x, int64_t upper, int64_t step)
{
    x->tree[x->ntree++] = (struct tree_node){.parent = WEIR_NONE, .upper = upper, .step = step};
}

static uint32_t find(uint32_t *joined, uint32_t i)
{
    while (joined[i] != i)
        i = joined[i] = joined[joined[i]];
    return i;
}

static uint32_t layer_of(const struct flow_layout *l, uint32_t unit)
{
    return l->labels[2 * unit] / 2 < l->n ? l->labels[2 * unit] / 2 : l->n;
}

/* Joins a unit with the units of its layer, and of those farther from the sources, that it has an edge with. */
static void join_unit(const struct chooser *x, uint32_t *joined, uint32_t unit)
{
    const struct flow_layout *l = x->l;

    for (uint32_t a = l->entering[unit]; a < l->entering[unit + 1]; a++)
        if (layer_of(l, l->from[a]) >= layer_of(l, unit))
            joined[find(joined, l->from[a])] = find(joined, unit);
}

/* Joins the ends of arcs that leave units of a layer to units farther away. */
static void join_layer(const struct chooser *x, uint32_t *joined, uint32_t layer)
{
    const struct flow_layout *l = x->l;

    for (uint32_t i = 0; i < l->n; i++)
        if (layer_of(l, i) == layer)
            join_unit(x, joined, i);
    for (uint32_t a = 0; a < l->narcs; a++)
        if (layer_of(l, l->from[a]) == layer && layer_of(l, l->to[a]) >= layer)
            joined[find(joined, l->from[a])] = find(joined, l->to[a]);
    for (uint32_t s = 0; s < x->nsites; s++) { /* a site joins its parents */
        uint32_t one = WEIR_NONE;
        for (uint32_t k = 0; k < x->sites[s].n; k++) {
            uint32_t unit = x->parents[x->sites[s].first + k];
            if (layer_of(l, unit) < layer)
                continue;
            if (one != WEIR_NONE)
                joined[find(joined, unit)] = find(joined, one);
            one = unit;
        }
    }
}

/* For each node of the tree without a parent: the units that it draws from, by their representative; WEIR_NONE: none of
 * this layer or farther; x->l->n: several, so that it belongs to no set. */
static void find_homes(const struct chooser *x, uint32_t *joined, uint32_t layer, uint32_t *home)
{
    for (uint32_t i = 0; i < x->ntree; i++)
        home[i] = WEIR_NONE;
    for (uint32_t s = 0; s < x->nsites; s++) {
        uint32_t top = s;
        while (x->tree[top].parent != WEIR_NONE)
            top = x->tree[top].parent;
        for (uint32_t k = 0; k < x->sites[s].n; k++) {
            uint32_t unit = x->parents[x->sites[s].first + k];
            uint32_t at = layer_of(x->l, unit) >= layer ? find(joined, unit) : WEIR_NONE;
            if (at == WEIR_NONE)
                continue;
            home[top] = home[top] == WEIR_NONE || home[top] == at ? at : x->l->n;
        }
    }
}

/* Makes sets of nodes of the tree that draw from the same units. Several groups that do not draw from one part of the
 * network each make no sets. */
static void make_layer(struct chooser *x, const uint32_t *home, uint32_t *set_at, int64_t step)
{
    uint32_t n = x->ntree;

    for (uint32_t i = 0; i < n; i++)
        if (home[i] == x->l->n)
            return;
    for (uint32_t i = 0; i <= x->l->n; i++)
        set_at[i] = 0;
    for (uint32_t i = 0; i < n; i++)
        if (x->tree[i].parent == WEIR_NONE && home[i] != WEIR_NONE)
            set_at[home[i]]++;
    for (uint32_t i = 0; i <= x->l->n; i++)
        set_at[i] = set_at[i] > 1 ? WEIR_NONE : 0;
    for (uint32_t i = 0; i < n; i++) {
        if (x->tree[i].parent != WEIR_NONE || home[i] == WEIR_NONE || set_at[home[i]] == 0)
            continue;
        if (set_at[home[i]] == WEIR_NONE) {
            set_at[home[i]] = x->ntree;
            add_tree_node(x, 0, 0);
        }
        x->tree[i].parent = set_at[home[i]];
        x->tree[set_at[home[i]]].upper += x->tree[i].upper;
    }
    for (uint32_t i = n; i < x->ntree; i++)
        x->tree[i].upper = least(x->tree[i].upper, x->c->want * x->c->each / step * step);
}

/* Makes the sets of sites, or groups, behind each layer of the network, farthest first. */
static int make_sets(struct chooser *x, int64_t step)
{
    const struct flow_layout *l = x->l;
    uint32_t *joined = weir_mem_alloc(((size_t)l->n + 1) * sizeof *joined);
    uint32_t *set_at = weir_mem_alloc(((size_t)l->n + 1) * sizeof *set_at);
    uint32_t *home = weir_mem_alloc(2 * ((size_t)x->nsites + x->c->ngroups + 1) * sizeof *home);
    uint32_t deepest = 0;
    int rc = joined && set_at && home ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < l->n; i++) {
        joined[i] = i;
        deepest = layer_of(l, i) > deepest && layer_of(l, i) < l->n ? layer_of(l, i) : deepest;
    }
    for (uint32_t layer = deepest; !rc && layer > 0; layer--) {
        x->c->steps += l->narcs + x->nparents;
        join_layer(x, joined, layer);
        find_homes(x, joined, layer, home);
        make_layer(x, home, set_at, step);
    }
    WEIR_FREE(joined, set_at, home);
    return rc;
}

static int make_tree(struct chooser *x, bool sets)
{
    const struct flow_choice *c = x->c;
    int64_t all = c->want * c->each, step = c->by_group ? c->by_group * c->each : c->each;
    uint32_t root;

    x->ntree = 0;
    x->tree = weir_mem_alloc(2 * ((size_t)x->nsites + c->ngroups + 1) * sizeof *x->tree);
    if (!x->tree)
        return WEIR_ENOMEM;
    for (uint32_t s = 0; s < x->nsites; s++)
        add_tree_node(x, least(x->sites[s].most * c->each, c->by_group ? step : all), c->each);
    for (uint32_t i = 0; c->by_group && i < c->ngroups; i++)
        add_tree_node(x, step, step);
    for (uint32_t s = 0; c->by_group && s < x->nsites; s++)
        x->tree[s].parent = x->nsites + x->sites[s].group;
    if (sets && make_sets(x, step))
        return WEIR_ENOMEM;
    root = x->ntree;
    add_tree_node(x, all, 0);
    for (uint32_t i = 0; i < root; i++)
        if (x->tree[i].parent == WEIR_NONE)
            x->tree[i].parent = root;
    return WEIR_OK;
}

/* ---- the network ---- */

static void add_arc(struct chooser *x, uint32_t from, uint32_t to, int64_t capacity)
{
    for (int back = 0; back < 2; back++) {
        uint32_t a = x->narcs++;
        x->to[a] = back ? from : to;
        x->base[a] = back ? 0 : capacity;
        x->keep[a] = 0;
        x->next[a] = x->first[back ? to : from];
        x->first[back ? to : from] = a;
    }
}

static uint32_t tree_at(const struct chooser *x, uint32_t node)
{
    return 2 * x->l->n + node;
}

static void free_network(struct chooser *x)
{
    WEIR_FREE(x->tree, x->first, x->next, x->to, x->base, x->left, x->keep, x->queue, x->into, x->seen);
    x->tree = NULL;
    x->first = x->next = x->to = x->queue = x->into = x->seen = NULL;
    x->base = x->left = x->keep = NULL;
}

static int make_network(struct chooser *x, bool sets)
{
    const struct flow_layout *l = x->l;
    size_t arcs;

    free_network(x);
    if (make_tree(x, sets))
        return WEIR_ENOMEM;
    x->source = 2 * l->n + x->ntree;
    x->nnodes = x->source + 1;
    arcs = 2 * ((size_t)2 * l->n + l->narcs + x->nparents + x->ntree);
    x->first = weir_mem_alloc(x->nnodes * sizeof *x->first);
    x->next = weir_mem_alloc(arcs * sizeof *x->next);
    x->to = weir_mem_alloc(arcs * sizeof *x->to);
    x->base = weir_mem_alloc(arcs * sizeof *x->base);
    x->left = weir_mem_alloc(arcs * sizeof *x->left);
    x->keep = weir_mem_alloc(arcs * sizeof *x->keep);
    x->queue = weir_mem_alloc(x->nnodes * sizeof *x->queue);
    x->into = weir_mem_alloc(x->nnodes * sizeof *x->into);
    x->seen = weir_mem_zalloc(x->nnodes, sizeof *x->seen);
    if (!x->first || !x->next || !x->to || !x->base || !x->left || !x->keep || !x->queue || !x->into || !x->seen)
        return WEIR_ENOMEM;
    x->narcs = x->stamp = 0;
    for (uint32_t i = 0; i < x->nnodes; i++)
        x->first[i] = WEIR_NONE;
    for (uint32_t i = 0; i < l->n; i++) {
        add_arc(x, 2 * i, 2 * i + 1, least(weir_flow_unit_capacity(x->c->w, i), ENOUGH));
        if (weir_flow_begins(x->c->w, i))
            add_arc(x, x->source, 2 * i, ENOUGH);
    }
    for (uint32_t a = 0; a < l->narcs; a++)
        add_arc(x, 2 * l->from[a] + 1, 2 * l->to[a], ENOUGH);
    for (uint32_t s = 0; s < x->nsites; s++)
        for (uint32_t k = 0; k < x->sites[s].n; k++)
            add_arc(x, 2 * x->parents[x->sites[s].first + k] + 1, tree_at(x, s), ENOUGH);
    for (uint32_t i = x->ntree - 1; i-- > 0;) { /* chains begin with what was added last */
        x->tree[i].arc = x->narcs;
        add_arc(x, tree_at(x, i), tree_at(x, x->tree[i].parent), 0);
    }
    return WEIR_OK;
}

/* ---- flow ---- */

static int64_t flow_of(const struct chooser *x, uint32_t node)
{
    return node + 1 == x->ntree ? x->total : x->left[x->tree[node].arc ^ 1];
}

static int push(struct chooser *x, uint32_t arc, int64_t amount)
{
    x->left[arc] -= amount;
    x->left[arc ^ 1] += amount;
    return WEIR_ARRAY_ADD(x->log, x->nlog, x->log_cap, (struct arc_change){arc, amount});
}

static void undo(struct chooser *x, uint32_t nlog)
{
    while (x->nlog > nlog) {
        const struct arc_change *c = &x->log[--x->nlog];
        x->left[c->arc] += c->amount;
        x->left[c->arc ^ 1] -= c->amount;
    }
}

/* Finds a way from the source to a node of the tree, backward from the node. */
static bool find_way(struct chooser *x, uint32_t node)
{
    uint32_t head = 0, n = 0, own = node + 1 < x->ntree ? x->tree[node].arc : WEIR_NONE;

    x->stamp++;
    x->queue[n++] = tree_at(x, node);
    x->seen[tree_at(x, node)] = x->stamp;
    while (head < n) {
        uint32_t at = x->queue[head++];
        for (uint32_t a = x->first[at]; a != WEIR_NONE; a = x->next[a]) {
            uint32_t from = x->to[a];
            x->c->steps++;
            if (x->left[a ^ 1] <= x->keep[a ^ 1] || x->seen[from] == x->stamp || a == own)
                continue;
            x->seen[from] = x->stamp;
            x->into[from] = a ^ 1;
            if (from == x->source)
                return true;
            x->queue[n++] = from;
        }
    }
    return false;
}

/* Lets up to `want` more flow to a node of the tree. Returns the amount, or negative. */
static int64_t augment(struct chooser *x, uint32_t node, int64_t want)
{
    int64_t sum = 0;

    while (sum < want && find_way(x, node)) {
        int64_t amount = want - sum;
        for (uint32_t at = x->source; at != tree_at(x, node); at = x->to[x->into[at]])
            amount = least(amount, x->left[x->into[at]] - x->keep[x->into[at]]);
        for (uint32_t at = x->source; at != tree_at(x, node); at = x->to[x->into[at]])
            if (push(x, x->into[at], amount))
                return WEIR_ENOMEM;
        sum += amount;
    }
    return sum;
}

/* Lets exactly `want` more flow to a node of the tree, and on to the root. Returns 1, 0 (with a part of it there) or
 * negative. */
static int raise(struct chooser *x, uint32_t node, int64_t want)
{
    int64_t got = augment(x, node, want);

    if (got < want)
        return got < 0 ? (int)got : 0;
    for (uint32_t i = node; i + 1 < x->ntree; i = x->tree[i].parent)
        if (x->left[x->tree[i].arc] < want)
            return 0;
        else if (push(x, x->tree[i].arc, want))
            return WEIR_ENOMEM;
    x->total += want;
    return 1;
}

static void empty(struct chooser *x)
{
    memcpy(x->left, x->base, x->narcs * sizeof *x->left);
    x->c->steps += x->narcs / 8;
    for (uint32_t i = 0; i + 1 < x->ntree; i++)
        x->left[x->tree[i].arc] = x->tree[i].upper;
    x->nlog = 0;
    x->total = 0;
}

/* Makes a flow of the lower bounds alone. Returns 1; 0: there is none; or negative. */
static int serve_lower(struct chooser *x)
{
    int rc = 1;

    empty(x);
    for (uint32_t i = 0; i + 1 < x->ntree; i++)
        x->keep[x->tree[i].arc ^ 1] = x->tree[i].lower;
    for (uint32_t i = 0; rc == 1 && i + 1 < x->ntree; i++)
        if (x->tree[i].lower > flow_of(x, i))
            rc = raise(x, i, x->tree[i].lower - flow_of(x, i));
    return rc;
}

/* Makes the flow within the bounds. Returns 1; 0: it is too small; or negative. */
static int relax(struct chooser *x)
{
    int64_t all = x->c->want * x->c->each, more;
    int rc = serve_lower(x);

    if (rc != 1)
        return rc;
    more = augment(x, x->ntree - 1, all - x->total);
    x->total += more > 0 ? more : 0;
    return more < 0 ? (int)more : x->total >= all;
}

/* ---- bounds ---- */

static int set_bounds(struct chooser *x, uint32_t node, int64_t lower, int64_t upper)
{
    struct tree_node *t = &x->tree[node];

    if (t->lower == lower && t->upper == upper)
        return WEIR_OK;
    if (WEIR_ARRAY_ADD(x->bounds, x->nbounds, x->bounds_cap, (struct bound_change){node, t->lower, t->upper}))
        return WEIR_ENOMEM;
    t->lower = lower;
    t->upper = upper;
    return WEIR_OK;
}

static void undo_bounds(struct chooser *x, uint32_t n)
{
    while (x->nbounds > n) {
        const struct bound_change *b = &x->bounds[--x->nbounds];
        x->tree[b->node].lower = b->lower;
        x->tree[b->node].upper = b->upper;
    }
}

/* Bounds a node from above; of equal sites the first gets the most. */
static int bound_above(struct chooser *x, uint32_t node, int64_t upper)
{
    int rc = set_bounds(x, node, x->tree[node].lower, upper);

    for (uint32_t i = node < x->nsites ? x->sites[node].twin : WEIR_NONE; !rc && i != WEIR_NONE; i = x->sites[i].twin)
        rc = set_bounds(x, i, x->tree[i].lower, least(x->tree[i].upper, upper));
    return rc;
}

static int bound_below(struct chooser *x, uint32_t node, int64_t lower)
{
    int rc = set_bounds(x, node, lower, x->tree[node].upper);

    for (uint32_t i = node < x->nsites ? x->sites[node].elder : WEIR_NONE; !rc && i != WEIR_NONE; i = x->sites[i].elder)
        rc = set_bounds(x, i, lower > x->tree[i].lower ? lower : x->tree[i].lower, x->tree[i].upper);
    return rc;
}

/* Bounds each node of the tree but the root by what flows there at most, in whole demands, or groups. */
static int tighten(struct chooser *x)
{
    int64_t step = x->c->by_group ? x->c->by_group * x->c->each : x->c->each;

    empty(x);
    for (uint32_t i = 0; i + 1 < x->ntree; i++) {
        int64_t own = x->tree[i].step ? x->tree[i].step : step, most = augment(x, i, x->tree[i].upper);
        if (most < 0)
            return WEIR_ENOMEM;
        undo(x, 0);
        x->tree[i].upper = most / own * own;
        x->left[x->tree[i].arc] = x->tree[i].upper;
    }
    return WEIR_OK;
}

/* ---- equal sites ---- */

/* Units and sites that a unit leads to. */
static void count_users(const struct chooser *x, uint32_t *users)
{
    for (uint32_t a = 0; a < x->l->narcs; a++)
        users[x->l->from[a]]++;
    for (uint32_t s = 0; s < x->nsites; s++)
        for (uint32_t k = 0; k < x->sites[s].n; k++)
            users[x->parents[x->sites[s].first + k]]++;
}

/* Whether two units do the same for the one site that each serves. */
static bool units_alike(const struct chooser *x, const uint32_t *users, uint32_t i, uint32_t k)
{
    const struct flow_layout *l = x->l;
    uint32_t n = l->entering[i + 1] - l->entering[i];

    if (i == k)
        return true;
    if (users[i] != 1 || users[k] != 1 || n != l->entering[k + 1] - l->entering[k] ||
        weir_flow_unit_capacity(x->c->w, i) != weir_flow_unit_capacity(x->c->w, k) || weir_flow_begins(x->c->w, i) ||
        weir_flow_begins(x->c->w, k))
        return false;
    for (uint32_t a = 0; a < n; a++)
        if (l->from[l->entering[i] + a] != l->from[l->entering[k] + a])
            return false;
    return true;
}

static bool sites_alike(const struct chooser *x, const uint32_t *users, uint32_t s, uint32_t t)
{
    const struct site *a = &x->sites[s], *b = &x->sites[t];

    if (a->n != b->n || x->tree[s].upper != x->tree[t].upper || x->tree[s].parent != x->tree[t].parent)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!units_alike(x, users, x->parents[a->first + i], x->parents[b->first + i]))
            return false;
    return true;
}

/* Links sites that may be exchanged. The last `LOOKBACK` kinds are compared. */
static int find_twins(struct chooser *x)
{
    enum { LOOKBACK = 64 };
    uint32_t last[LOOKBACK], n = 0;
    uint32_t *users = x->c->by_group ? NULL : weir_mem_zalloc((size_t)x->l->n + 1, sizeof *users);

    if (!users)
        return x->c->by_group ? WEIR_OK : WEIR_ENOMEM;
    count_users(x, users);
    for (uint32_t s = 0; s < x->nsites; s++) {
        uint32_t i = 0, kinds = n < LOOKBACK ? n : LOOKBACK;
        while (i < kinds && !sites_alike(x, users, last[i], s))
            i++;
        x->c->steps += 4 * i;
        if (i < kinds) {
            x->sites[last[i]].twin = s;
            x->sites[s].elder = last[i];
            last[i] = s;
        } else {
            last[n++ % LOOKBACK] = s;
        }
    }
    weir_mem_free(users);
    return WEIR_OK;
}

/* ---- rounding and branching ---- */

/* The node of the tree whose flow is no multiple of its step, of groups and then of sites the one with the most left
 * over; WEIR_NONE: all are. */
static uint32_t uneven(const struct chooser *x)
{
    uint32_t found = WEIR_NONE;
    int64_t most = 0;

    for (uint32_t i = x->ntree - 1; i-- > 0;) {
        int64_t rest = x->tree[i].step ? flow_of(x, i) % x->tree[i].step : 0;
        if (i + 1 == x->nsites && found != WEIR_NONE)
            break;
        if (rest > 0 && rest >= most) {
            most = rest;
            found = i;
        }
    }
    return found;
}

/* Gives sites one whole demand after the other, of those that `partial` says first. Returns 1 when all have been given,
 * 0 or negative. */
static int give_whole(struct chooser *x, const bool *partial, bool first)
{
    int64_t each = x->c->each, all = x->c->want * each;
    uint32_t vain = 0;
    int rc = 1;

    for (uint32_t s = 0; rc >= 0 && s < x->nsites && x->total < all && vain < VAIN_MAX; s++)
        for (rc = 1; rc == 1 && partial[s] == first && x->total < all && flow_of(x, s) + each <= x->tree[s].upper;) {
            uint32_t nlog = x->nlog;
            int64_t total = x->total;
            rc = raise(x, s, each);
            if (rc == 1) {
                x->keep[x->tree[s].arc ^ 1] += each;
            } else if (rc == 0) {
                undo(x, nlog);
                x->total = total;
                vain++;
            }
        }
    return rc < 0 ? rc : x->total >= all;
}

/* Rounds the flow: the whole demands of each site stay, and more are given where they find a way. Returns 1, 0 or
 * negative. */
static int round_flow(struct chooser *x)
{
    bool *partial = weir_mem_alloc((size_t)x->nsites * sizeof *partial + 1);
    uint32_t nbounds = x->nbounds;
    int rc = partial ? 1 : WEIR_ENOMEM;

    for (uint32_t s = 0; rc == 1 && s < x->nsites; s++) {
        int64_t flow = flow_of(x, s);
        partial[s] = flow % x->c->each > 0;
        rc = set_bounds(x, s, flow - flow % x->c->each, x->tree[s].upper) ? WEIR_ENOMEM : 1;
    }
    rc = rc == 1 ? serve_lower(x) : rc;
    rc = rc == 1 ? give_whole(x, partial, true) : rc;
    rc = rc == 0 ? give_whole(x, partial, false) : rc;
    undo_bounds(x, nbounds);
    weir_mem_free(partial);
    return rc;
}

/* Branches until a flow is in whole demands. Returns 1 with the flow, 0, or negative. */
static int branch(struct chooser *x, uint32_t depth)
{
    int rc = x->c->steps < x->c->steps_most && depth < DEPTH_MAX ? relax(x) : WEIR_ELIMIT;
    uint32_t node = rc == 1 ? uneven(x) : WEIR_NONE, nbounds = x->nbounds;
    int64_t step, floor;

    if (node == WEIR_NONE)
        return rc;
    step = x->tree[node].step;
    floor = flow_of(x, node) / step * step;
    rc = x->c->by_group ? 0 : round_flow(x);
    if (rc)
        return rc;
    if (floor + step <= x->tree[node].upper) {
        rc = bound_below(x, node, floor + step) ? WEIR_ENOMEM : branch(x, depth + 1);
        undo_bounds(x, nbounds);
    }
    if (rc)
        return rc;
    rc = bound_above(x, node, floor) ? WEIR_ENOMEM : branch(x, depth + 1);
    undo_bounds(x, nbounds);
    return rc;
}

/* Writes what the ends of each site get. */
static void give_ends(struct chooser *x)
{
    for (uint32_t i = 0; i < x->c->n; i++) {
        struct flow_choice_end *e = &x->c->ends[i];
        uint32_t s = x->site_of[i];
        int64_t left = flow_of(x, s) / x->c->each;
        e->chosen = least(e->most, left);
        x->left[x->tree[s].arc ^ 1] -= e->chosen * x->c->each;
    }
}

int weir_flow_choose(struct flow_choice *c)
{
    struct chooser x = {.c = c, .l = c->w->l};
    int rc = make_sites(&x) || make_network(&x, false) ? WEIR_ENOMEM : relax(&x);

    if (rc == 1 && uneven(&x) != WEIR_NONE) {
        rc = c->by_group ? 0 : round_flow(&x);
        if (rc == 0)
            rc = make_network(&x, true) || tighten(&x) || find_twins(&x) ? WEIR_ENOMEM : branch(&x, 0);
    }
    if (rc == 1)
        give_ends(&x);
    free_network(&x);
    WEIR_FREE(x.parents, x.site_of, x.sites, x.log, x.bounds);
    return rc;
}
