/* roster.c - who the nodes are: making the roster, keeping it right, and where things stand in it. Invariant: numbers follow
 * preorder, so what stands below a vertex or a row is a span of them.
 */
#include "roster.h"

#include <stdlib.h>
#include <string.h>

#include "rows.h"

static void roster_free(struct roster *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nproperties; i++)
        weir_idset_free(r->properties[i].nodes);
    weir_mem_free(r->properties);
    weir_mem_free(r->nodes);
    weir_mem_free(r->spans);
    weir_mem_free(r->outside);
    weir_mem_free(r->runs);
    weir_mem_free(r->slots);
    weir_mem_free(r->next);
    weir_mem_free(r);
}

void weir_roster_drop(weir_graph *g)
{
    roster_free(g->roster);
    g->roster = NULL;
}

size_t weir_roster_bytes(const struct roster *r)
{
    size_t n;

    if (!r)
        return 0;
    n = sizeof *r + (size_t)r->cap * sizeof *r->nodes + (size_t)r->nrows * sizeof *r->spans + r->ntypes;
    n += (size_t)r->properties_cap * sizeof *r->properties + (size_t)r->runs_cap * sizeof *r->runs;
    n += (size_t)r->nslots * sizeof *r->slots + (r->next ? (size_t)r->count * sizeof *r->next : 0);
    for (uint32_t i = 0; i < r->nproperties; i++)
        n += weir_idset_bytes(r->properties[i].nodes);
    return n;
}

/* ---- numbering ---- */

static bool has_below(const weir_graph *g, const struct roster *r, const struct inner *in)
{
    return in && in->cells && type_cell(g->schemas[in->schema], r->type) != 0;
}

/* Notes that v, which is neither a node nor inside one, is there; where no node is below it, all that is, too. */
static void note_outside(const weir_graph *g, struct roster *r, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);

    r->outside[kind_of(g, v)->type] = true;
    if (!in || !in->cells || has_below(g, r, in))
        return;
    for (weir_type t = 0; t < r->ntypes; t++)
        r->outside[t] = r->outside[t] || type_cell(g->schemas[in->schema], t) != 0;
}

static int number_below(const weir_graph *g, struct roster *r, weir_vertex v, bool inside);

/* Numbers v, if it is a node, and the nodes below it. The depth of the tree is bounded. */
static int number(const weir_graph *g, struct roster *r, weir_vertex v, bool inside)
{
    if (kind_of(g, v)->type == r->type) {
        if (weir_array_reserve(&r->nodes, &r->cap, (size_t)r->count + 1, sizeof *r->nodes))
            return WEIR_ENOMEM;
        r->nodes[r->count++] = v;
        inside = true;
    }
    if (!inside)
        note_outside(g, r, v);
    return has_below(g, r, inner_of(g, v)) ? number_below(g, r, v, inside) : WEIR_OK;
}

static int number_below(const weir_graph *g, struct roster *r, weir_vertex v, bool inside)
{
    const struct inner *in = inner_of(g, v);
    struct levels lv;

    weir_levels_of(in->rows_cap, &lv);
    for (uint32_t i = 0; i < in->nkids; i++) {
        uint32_t lo = r->count;
        if (in->kids[i] == WEIR_NONE)
            continue;
        if (number(g, r, in->kids[i], inside))
            return WEIR_ENOMEM;
        for (uint32_t l = 0; r->count > lo && l <= lv.n; l++) {
            struct roster_span *s = &r->spans[in->row + row_over(&lv, l, i)];
            if (s->lo == s->hi)
                s->lo = lo;
            s->hi = r->count;
        }
    }
    return WEIR_OK;
}

uint32_t weir_roster_weight(const weir_graph *g, const struct roster *r, weir_vertex v)
{
    const struct inner *in = inner_of(g, v);
    struct roster_span below = in && in->cells ? roster_below(r, in, 0) : (struct roster_span){0, 0};

    return (kind_of(g, v)->type == r->type) + below.hi - below.lo;
}

/* The number of a node: those before it among its siblings, from the row over them on. */
static uint32_t place_of(const weir_graph *g, const struct roster *r, weir_vertex v)
{
    weir_vertex p = vertex_at(g, v)->parent;
    const struct inner *in = p == WEIR_NONE ? NULL : inner_of(g, p);
    const weir_vertex *kids = in ? in->kids : g->roots;
    uint32_t pos = vertex_at(g, v)->pos, begin = 0, at = 0;

    if (in) {
        struct levels lv;
        weir_levels_of(in->rows_cap, &lv);
        begin = lv.n ? pos - pos % WEIR_FAN : 0;
        at = roster_below(r, in, row_over(&lv, lv.n ? 1 : 0, pos)).lo;
    }
    for (uint32_t i = begin; i < pos; i++)
        at += kids[i] == WEIR_NONE ? 0 : weir_roster_weight(g, r, kids[i]);
    return at;
}

/* ---- properties ---- */

static int by_text(const weir_graph *g, weir_name a, const char *b)
{
    return strcmp(weir_names_text(&g->names, a), b);
}

/* The first property that is not before a text. */
static uint32_t property_from(const weir_graph *g, const struct roster *r, const char *text)
{
    uint32_t lo = 0, hi = r->nproperties;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (by_text(g, r->properties[mid].key, text) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Puts in a property that nobody has yet, at a place. */
static int insert_property(struct roster *r, uint32_t at, weir_name key)
{
    weir_idset *nodes = weir_idset_new();

    if (!nodes || weir_array_reserve(&r->properties, &r->properties_cap, (size_t)r->nproperties + 1, sizeof *r->properties)) {
        weir_idset_free(nodes);
        return WEIR_ENOMEM;
    }
    memmove(r->properties + at + 1, r->properties + at, (size_t)(r->nproperties - at) * sizeof *r->properties);
    r->properties[at] = (struct roster_property){key, nodes};
    r->nproperties++;
    return WEIR_OK;
}

struct sorter {
    const weir_graph *g;
    struct roster_property *list, *spare;
};

/* Merge sort, as the texts are the graph's. */
static void sort_properties(const struct sorter *s, uint32_t lo, uint32_t hi)
{
    uint32_t mid = lo + (hi - lo) / 2, a = lo, b = mid;

    if (hi - lo < 2)
        return;
    sort_properties(s, lo, mid);
    sort_properties(s, mid, hi);
    for (uint32_t i = lo; i < hi; i++) {
        bool left = b == hi || (a < mid && by_text(s->g, s->list[a].key, weir_names_text(&s->g->names, s->list[b].key)) < 0);
        s->spare[i] = s->list[left ? a++ : b++];
    }
    memcpy(s->list + lo, s->spare + lo, (size_t)(hi - lo) * sizeof *s->list);
}

/* Adds a node to the sets of its properties. `place` tells where each key stands in the list, plus 1. */
static int add_properties(const weir_graph *g, struct roster *r, uint32_t node, uint32_t *place)
{
    const struct pool *p = pool_of(g, r->nodes[node]);
    const struct map *m = p ? &p->maps[WEIR_PROPERTIES] : NULL;

    for (uint32_t i = 0; m && i < m->count; i++) {
        uint32_t *at = &place[m->entries[i].key];
        if (*at == 0 && insert_property(r, r->nproperties, m->entries[i].key))
            return WEIR_ENOMEM;
        *at = *at ? *at : r->nproperties;
        if (weir_idset_add_id(r->properties[*at - 1].nodes, node))
            return WEIR_ENOMEM;
    }
    return WEIR_OK;
}

static int read_properties(const weir_graph *g, struct roster *r)
{
    uint32_t *place = weir_mem_zalloc(g->names.count, sizeof *place);
    struct sorter s = {g, NULL, NULL};
    int rc = place ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; !rc && i < r->count; i++)
        rc = add_properties(g, r, i, place);
    weir_mem_free(place);
    if (rc || r->nproperties < 2)
        return rc;
    s.list = r->properties;
    s.spare = weir_mem_alloc((size_t)r->nproperties * sizeof *s.spare);
    if (!s.spare)
        return WEIR_ENOMEM;
    sort_properties(&s, 0, r->nproperties);
    weir_mem_free(s.spare);
    return WEIR_OK;
}

/* ---- ranks ---- */

struct ranked {
    int64_t rank;
    uint32_t node;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int add_rank(struct roster *r, struct ranked x)
{
    struct roster_run *last = r->nruns ? &r->runs[r->nruns - 1] : NULL;

    if (last && x.rank == last->rank + last->count && x.node == last->node + last->count) {
        last->count++;
        return WEIR_OK;
    }
    if (weir_array_reserve(&r->runs, &r->runs_cap, (size_t)r->nruns + 1, sizeof *r->runs))
        return WEIR_ENOMEM;
    r->runs[r->nruns++] = (struct roster_run){x.rank, x.node, 1};
    return WEIR_OK;
}

static int read_ranks(const weir_graph *g, struct roster *r)
{
    struct ranked *list = weir_mem_alloc((size_t)r->count * sizeof *list);
    uint32_t n = 0;
    int rc = list ? WEIR_OK : WEIR_ENOMEM;

    r->nruns = 0;
    for (uint32_t i = 0; !rc && i < r->count; i++) {
        int64_t rank = weir_vertex_rank(g, r->nodes[i]);
        if (rank != WEIR_NO_RANK)
            list[n++] = (struct ranked){rank, i};
    }
    if (n)
        qsort(list, n, sizeof *list, by_rank);
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = add_rank(r, list[i]);
    weir_mem_free(list);
    r->ranks_known = rc == WEIR_OK;
    return rc;
}

/* ---- names ---- */

static size_t name_of(const weir_graph *g, const struct roster *r, uint32_t node, char name[ROSTER_NAME])
{
    size_t len = weir_vertex_name(g, r->nodes[node], name, ROSTER_NAME);
    return len < ROSTER_NAME ? len : 0;
}

/* The slot of a name, or the free one where it would stand. */
static uint32_t *slot_of(const weir_graph *g, const struct roster *r, const char *name, size_t len)
{
    uint32_t at = weir_names_hash(name, len) & (r->nslots - 1);
    char other[ROSTER_NAME];

    for (;; at = (at + 1) & (r->nslots - 1))
        if (!r->slots[at] || (name_of(g, r, r->slots[at] - 1, other) == len && memcmp(name, other, len) == 0))
            return &r->slots[at];
}

static bool is_template(const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);
    return p && p->name != WEIR_NO_NAME && strstr(weir_names_text(&g->names, p->name), "${");
}

static int read_names(const weir_graph *g, struct roster *r)
{
    char name[ROSTER_NAME];

    weir_mem_free(r->slots);
    weir_mem_free(r->next);
    for (r->nslots = 8; r->nslots < 2 * r->count;)
        r->nslots *= 2;
    r->slots = weir_mem_zalloc(r->nslots, sizeof *r->slots);
    r->next = weir_mem_zalloc(r->count, sizeof *r->next);
    r->names_known = r->slots && r->next;
    r->templates = false;
    if (!r->names_known)
        return WEIR_ENOMEM;
    for (uint32_t i = r->count; i-- > 0;) { /* so that those of one name are found in ascending order */
        size_t len = name_of(g, r, i, name);
        uint32_t *slot = slot_of(g, r, name, len);
        r->templates = r->templates || is_template(g, r->nodes[i]);
        if (len == 0)
            continue;
        r->next[i] = *slot;
        *slot = i + 1;
    }
    return WEIR_OK;
}

/* ---- all of it ---- */

static int fill(const weir_graph *g, struct roster *r)
{
    int rc = WEIR_OK;

    r->serial = g->serial;
    r->nrows = g->nrows;
    r->ntypes = g->ntypes;
    r->spans = weir_mem_zalloc((size_t)g->nrows + 1, sizeof *r->spans);
    r->outside = weir_mem_zalloc((size_t)g->ntypes + 1, sizeof *r->outside);
    if (!r->spans || !r->outside)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; !rc && i < g->nroots; i++)
        if (g->roots[i] != WEIR_NONE)
            rc = number(g, r, g->roots[i], false);
    return rc ? rc : read_properties(g, r);
}

static int make(const weir_graph *g, weir_type node_type, struct roster **out)
{
    struct roster *r = weir_mem_zalloc(1, sizeof *r);

    if (!r)
        return WEIR_ENOMEM;
    r->type = node_type;
    if (fill(g, r)) {
        roster_free(r);
        return WEIR_ENOMEM;
    }
    *out = r;
    return WEIR_OK;
}

int weir_roster_get(weir_graph *g, weir_type node_type, struct roster **out)
{
    struct roster *r = g->roster;

    if (r && (r->serial != g->serial || r->type != node_type)) {
        weir_roster_drop(g);
        r = NULL;
    }
    if (!r && make(g, node_type, &g->roster))
        return WEIR_ENOMEM;
    r = g->roster;
    if ((!r->ranks_known && read_ranks(g, r)) || (!r->names_known && read_names(g, r)))
        return WEIR_ENOMEM;
    *out = r;
    return WEIR_OK;
}

/* Whether a node has a property now goes into its set. */
static int move_node(weir_graph *g, struct roster *r, weir_vertex v, weir_name key)
{
    const char *text = weir_names_text(&g->names, key);
    uint32_t at = property_from(g, r, text), node = place_of(g, r, v);
    bool known = at < r->nproperties && r->properties[at].key == key;

    if (!weir_vertex_get(g, v, WEIR_PROPERTIES, text))
        return known ? weir_idset_remove_id(r->properties[at].nodes, node) : WEIR_OK;
    if (!known && insert_property(r, at, key))
        return WEIR_ENOMEM;
    return weir_idset_add_id(r->properties[at].nodes, node);
}

void weir_roster_note(weir_graph *g, weir_vertex v, int map, weir_name key)
{
    struct roster *r = g->roster;

    if (!r || map != WEIR_PROPERTIES)
        return;
    if (r->serial != g->serial) {
        weir_roster_drop(g);
        return;
    }
    r->names_known = r->names_known && !r->templates;
    if (key == WEIR_NO_NAME)
        r->ranks_known = false;
    else if (kind_of(g, v)->type == r->type && move_node(g, r, v, key))
        weir_roster_drop(g);
}

/* ---- asking ---- */

int weir_roster_add_property(const weir_graph *g, const struct roster *r, const char *name, size_t len, weir_idset *out)
{
    int rc = WEIR_OK;

    for (uint32_t i = property_from(g, r, name); !rc && i < r->nproperties; i++) {
        const char *text = weir_names_text(&g->names, r->properties[i].key);
        if (strncmp(text, name, len) != 0 || text[len] > '@')
            break;
        if (text[len] == '\0' || text[len] == '@')
            rc = weir_idset_add(out, r->properties[i].nodes);
    }
    return rc;
}

int weir_roster_add_name(const weir_graph *g, const struct roster *r, const char *name, size_t len, weir_idset *out)
{
    int rc = WEIR_OK;

    if (len == 0 || len >= ROSTER_NAME)
        return WEIR_OK;
    for (uint32_t i = *slot_of(g, r, name, len); !rc && i; i = r->next[i - 1])
        rc = weir_idset_add_id(out, i - 1);
    return rc;
}

/* The nodes whose name is in a list, one after the other: for lists that are longer. */
static int add_listed(const weir_graph *g, const struct roster *r, const weir_hostlist *hosts, weir_idset *out)
{
    char name[ROSTER_NAME];
    int rc = WEIR_OK;

    for (uint32_t i = 0; !rc && i < r->count; i++) {
        size_t len = name_of(g, r, i, name);
        if (len && weir_hostlist_find(hosts, name, len) >= 0)
            rc = weir_idset_add_id(out, i);
    }
    return rc;
}

int weir_roster_add_hosts(const weir_graph *g, const struct roster *r, const weir_hostlist *hosts, weir_idset *out)
{
    uint64_t n = weir_hostlist_count(hosts);
    char name[ROSTER_NAME];
    int rc = WEIR_OK;

    if (n > r->count)
        return add_listed(g, r, hosts, out);
    for (uint64_t i = 0; !rc && i < n; i++) {
        size_t len = weir_hostlist_nth(hosts, i, name, sizeof name);
        rc = len < sizeof name ? weir_roster_add_name(g, r, name, len, out) : WEIR_OK;
    }
    return rc;
}

/* The first run that does not end before a rank. */
static uint32_t run_from(const struct roster *r, int64_t rank)
{
    uint32_t lo = 0, hi = r->nruns;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (r->runs[mid].rank + r->runs[mid].count <= rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int weir_roster_add_ranks(const struct roster *r, const weir_idset *ranks, weir_idset *out)
{
    uint32_t lo, hi;
    int rc = WEIR_OK;

    for (size_t k = 0; !rc && weir_idset_run(ranks, k, &lo, &hi); k++)
        for (uint32_t i = run_from(r, lo); !rc && i < r->nruns && r->runs[i].rank <= hi; i++) {
            const struct roster_run *x = &r->runs[i];
            uint32_t from = x->rank < lo ? (uint32_t)(lo - x->rank) : 0;
            uint32_t last = x->rank + x->count > hi ? (uint32_t)(hi - x->rank) : x->count - 1;
            rc = weir_idset_add_range(out, x->node + from, x->node + last);
        }
    return rc;
}

/* ---- checking ---- */

static bool same_properties(const struct roster *a, const struct roster *b)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < a->nproperties; i++) { /* a keeps those that nobody has any more */
        if (weir_idset_count(a->properties[i].nodes) == 0)
            continue;
        if (k == b->nproperties || a->properties[i].key != b->properties[k].key ||
            !weir_idset_equal(a->properties[i].nodes, b->properties[k].nodes))
            return false;
        k++;
    }
    return k == b->nproperties;
}

static bool same_ranks(const struct roster *a, const struct roster *b)
{
    return !a->ranks_known || a->nruns + b->nruns == 0 || (a->nruns == b->nruns && memcmp(a->runs, b->runs, a->nruns * sizeof *a->runs) == 0);
}

static bool same_names(const struct roster *a, const struct roster *b)
{
    return !a->names_known || (a->nslots == b->nslots && memcmp(a->slots, b->slots, a->nslots * sizeof *a->slots) == 0 &&
                               memcmp(a->next, b->next, a->count * sizeof *a->next) == 0);
}

static bool same_numbers(const struct roster *a, const struct roster *b)
{
    return a->count == b->count && a->nrows == b->nrows && a->ntypes <= b->ntypes &&
           (a->count == 0 || memcmp(a->nodes, b->nodes, a->count * sizeof *a->nodes) == 0) &&
           memcmp(a->spans, b->spans, a->nrows * sizeof *a->spans) == 0 && memcmp(a->outside, b->outside, a->ntypes) == 0;
}

int weir_roster_check(const weir_graph *g, bool *same)
{
    const struct roster *r = g->roster;
    struct roster *anew;
    int rc;

    *same = true;
    if (!r || r->serial != g->serial || g->building)
        return WEIR_OK;
    rc = make(g, r->type, &anew);
    if (rc)
        return rc;
    if (read_ranks(g, anew) || read_names(g, anew))
        rc = WEIR_ENOMEM;
    else
        *same = same_numbers(r, anew) && same_properties(r, anew) && same_ranks(r, anew) && same_names(r, anew);
    roster_free(anew);
    return rc;
}
