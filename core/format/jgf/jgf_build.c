/* jgf_build.c - makes a graph of the vertices and edges of a JSON graph. See jgf.h.
 *
 * Main invariant: first the containment edges make a forest of the items, which excludes second parents and loose ends.
 * Then the items are sorted into preorder, which excludes cycles; then each item becomes a vertex in place. Nothing
 * recurses.
 */
#include "format/jgf/jgf.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "graph/builder.h"
#include "graph/journal.h"

_Static_assert(sizeof(struct jgf_item) == sizeof(struct vertex), "an item becomes a vertex in place");

/* ---- the forest ----------------------------------------------------------------------------------------------- */

static int fail_parents(const struct jgf *r, uint32_t at, uint32_t child, uint32_t parent)
{
    char name[16], has[16], other[16];
    const struct jgf_keys *k = &r->keys;

    return weir_jgf_bad(r, WEIR_EINVAL, "edges", at, "", "vertex \"%.80s\" has two parents, \"%.80s\" and \"%.80s\"",
                        weir_jgf_keys_text(k, child, name), weir_jgf_keys_text(k, r->items[child].parent, has),
                        weir_jgf_keys_text(k, parent, other));
}

static int set_parent(struct jgf *r, uint32_t at, uint32_t child, uint32_t parent)
{
    struct jgf_item *c = &r->items[child], *p = &r->items[parent];
    char name[16];

    if (c->parent == parent)
        return WEIR_OK;
    if (child == parent)
        return weir_jgf_bad(r, WEIR_EINVAL, "edges", at, "", "vertex \"%.100s\" contains itself",
                            weir_jgf_keys_text(&r->keys, child, name));
    if (c->parent != WEIR_NONE)
        return fail_parents(r, at, child, parent);
    c->parent = parent;
    c->next = child;
    if (p->last != WEIR_NONE) {
        c->next = r->items[p->last].next;
        r->items[p->last].next = child;
    }
    p->last = child;
    return WEIR_OK;
}

/* Whether by their paths item `from` is inside item `to`. */
static bool leads_up(const struct jgf *r, uint32_t from, uint32_t to)
{
    return from < r->npaths && to < r->npaths && r->paths[from].above && r->paths[from].above == r->paths[to].own;
}

/* Whether an edge of containment leads from child to parent: "in" does, another word than that of the edges down next
 * to such an edge, and an edge without a name, by paths. */
static bool is_up(const struct jgf *r, const struct jgf_edge *e)
{
    if (e->type == WEIR_NO_NAME)
        return leads_up(r, e->source, e->target);
    if (strcasecmp(jgf_text(r, e->type), "in") == 0)
        return true;
    return r->items[e->source].parent == e->target && e->type + 1 != r->down;
}

int weir_jgf_contain(struct jgf *r, const struct jgf_edge *e)
{
    bool up = is_up(r, e);
    weir_name *word = up ? &r->up : &r->down;

    if (*word == 0 && e->type != WEIR_NO_NAME)
        *word = e->type + 1;
    if (!up && r->up == 0 && e->back != WEIR_NO_NAME)
        r->up = e->back + 1;
    return up ? set_parent(r, e->at, e->source, e->target) : set_parent(r, e->at, e->target, e->source);
}

/* ---- preorder ------------------------------------------------------------------------------------------------- */

/* The item after `at` in the preorder below a root; WEIR_NONE: no more. */
static uint32_t next_item(const struct jgf_item *items, uint32_t root, uint32_t at)
{
    if (items[at].last != WEIR_NONE)
        return items[items[at].last].next;
    for (; at != root; at = items[at].parent)
        if (items[items[at].parent].last != at)
            return items[at].next;
    return WEIR_NONE;
}

/* Numbers the items in preorder, into `numbers` unless NULL. Returns the number of items below a root; *sorted is set
 * to whether the items are in preorder already. */
static uint32_t number_items(const struct jgf *r, uint32_t *numbers, bool *sorted)
{
    uint32_t n = 0;

    *sorted = true;
    for (uint32_t root = 0; root < r->count; root++) {
        if (r->items[root].parent != WEIR_NONE)
            continue;
        for (uint32_t at = root; at != WEIR_NONE; at = next_item(r->items, root, at), n++) {
            *sorted &= at == n;
            if (numbers)
                numbers[at] = n;
        }
    }
    return n;
}

/* An item on a cycle: found upwards from the first item below no root. */
static uint32_t find_cycle(const struct jgf *r, const uint32_t *numbers)
{
    uint32_t at = 0;

    while (numbers[at] != WEIR_NONE)
        at++;
    for (uint32_t n = 0; n < r->count; n++)
        at = r->items[at].parent;
    return at;
}

static void swap(void *a, void *b, size_t size)
{
    char c[sizeof(struct jgf_item)];

    memcpy(c, a, size);
    memcpy(a, b, size);
    memcpy(b, c, size);
}

/* Moves items, paths, UUIDs and waiting edges to the new numbers, all different. */
static void move_items(struct jgf *r, uint32_t *numbers)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->items[i].parent != WEIR_NONE)
            r->items[i].parent = numbers[r->items[i].parent];
    for (uint32_t i = 0; i < r->waiting.count; i++) {
        r->waiting.ends[i][0] = numbers[r->waiting.ends[i][0]];
        r->waiting.ends[i][1] = numbers[r->waiting.ends[i][1]];
    }
    for (uint32_t i = 0; i < r->nforeign; i++)
        for (int end = 0; end < 2 && r->foreign[i].ends[end] != WEIR_NONE; end++)
            r->foreign[i].ends[end] = numbers[r->foreign[i].ends[end]];
    for (uint32_t i = 0; i < r->count; i++)
        while (numbers[i] != i) {
            uint32_t to = numbers[i];
            swap(&r->items[i], &r->items[to], sizeof *r->items);
            if (r->uuids)
                swap(r->uuids[i], r->uuids[to], sizeof *r->uuids);
            swap(&numbers[i], &numbers[to], sizeof *numbers);
        }
}

/* Result of order_items(). */
struct item_order {
    uint32_t count; /* items below a root; those are first */
    uint32_t cycle; /* position in "nodes" of an item on a cycle, if count is too small */
    char key[104];  /* start of the key of the item on a cycle */
};

/* Numbers the items below no root with the numbers left. */
static void number_rest(const struct jgf *r, uint32_t *numbers, struct item_order *o)
{
    char buf[16];
    uint32_t at = find_cycle(r, numbers), n = o->count;

    o->cycle = r->items[at].at;
    snprintf(o->key, sizeof o->key, "%.100s", weir_jgf_keys_text(&r->keys, at, buf));
    for (uint32_t i = 0; i < r->count; i++)
        if (numbers[i] == WEIR_NONE)
            numbers[i] = n++;
}

/* Sorts the items into preorder in place; mostly the items are sorted. The keys of items are of no use afterwards. */
static int order_items(struct jgf *r, struct item_order *o)
{
    uint32_t *numbers = NULL;
    bool sorted;

    o->count = number_items(r, NULL, &sorted);
    if (!sorted || o->count < r->count) {
        numbers = weir_mem_alloc(r->count * sizeof *numbers);
        if (!numbers || (r->uuids && weir_jgf_reach_uuids(r, r->count) < 0)) {
            weir_mem_free(numbers);
            return weir_fail_nomem(r->err);
        }
        memset(numbers, 0xff, r->count * sizeof *numbers);
        number_items(r, numbers, &sorted);
        if (o->count < r->count)
            number_rest(r, numbers, o);
        move_items(r, numbers);
        weir_mem_free(numbers);
    }
    weir_jgf_keys_free(&r->keys);
    return WEIR_OK;
}

/* ---- vertices ------------------------------------------------------------------------------------------------- */

/* The vertices above the vertex being made. */
struct above {
    weir_vertex v;
    int64_t rank;
};

/* State of making vertices. */
struct maker {
    struct jgf *r;
    struct above way[WEIR_PATH_DEPTH];
    uint32_t depth;
    uint32_t roots;
};

static int fail_item(const struct jgf *r, const struct jgf_item *it, int rc, const weir_err *why)
{
    return rc == WEIR_ENOMEM ? weir_fail_nomem(r->err) : weir_jgf_bad(r, rc, "nodes", it->at, "", "%s", why->text);
}

static int fail_entry(const struct jgf *r, const struct jgf_item *it)
{
    const struct jgf_fault *f = r->faults;
    weir_err why = {0};
    char name[64];
    int rc;

    while (f->at != it->at)
        f++;
    rc = weir_entry_fail(f->fault, &why);
    snprintf(name, sizeof name, ".metadata.%s", weir_jgf_fields[f->field]);
    return weir_jgf_bad(r, rc, "nodes", it->at, name, "%s", why.text);
}

/* Sets a UUID, unless equal to the derived UUID of the pool. The first UUID set makes a table for
 * all: a table that grew would take half as much again. */
static int set_uuid(weir_graph *g, weir_vertex v, weir_err *why)
{
    uint8_t given[16], derived[16];

    if (!weir_uuid_given(g, v))
        return WEIR_OK;
    memcpy(given, g->uuids.list[v], 16);
    memset(g->uuids.list[v], 0, 16);
    weir_uuid_get(g, v, derived);
    if (memcmp(given, derived, 16) == 0)
        return WEIR_OK;
    if (g->uuids.vertices.count == 0 && weir_map32_reserve(&g->uuids.vertices, g->uuids.cap))
        return WEIR_ENOMEM;
    return weir_uuid_put(g, v, given, why);
}

/* Sets a rank, unless equal to the rank inherited from the parent, which needs no record. */
static int set_rank(weir_graph *g, weir_vertex v, int64_t rank, int64_t inherited)
{
    struct pool *p = rank == inherited || rank == WEIR_NO_RANK ? NULL : weir_pool_get(g, v);

    if (p)
        p->rank = rank;
    return p || rank == inherited || rank == WEIR_NO_RANK ? WEIR_OK : WEIR_ENOMEM;
}

/* The number of a vertex among its siblings, or the roots; WEIR_NONE: the vertex is detached. */
static uint32_t place_of(struct maker *m, const struct jgf_item *it)
{
    if (it->parent != WEIR_NONE)
        return m->r->g->vertices[it->parent].inner++;
    return it->detached ? WEIR_NONE : m->roots++;
}

static int make_vertex(struct maker *m, weir_vertex v)
{
    weir_graph *g = m->r->g;
    weir_err why = {0};
    struct jgf_item it;
    int64_t above, rank;
    int rc;

    memcpy(&it, &g->vertices[v], sizeof it);
    while (m->depth > 0 && m->way[m->depth - 1].v != it.parent)
        m->depth--;
    if (m->depth == WEIR_PATH_DEPTH)
        return weir_jgf_bad(m->r, WEIR_ELIMIT, "nodes", it.at, "", "more than %d levels deep", WEIR_PATH_DEPTH);
    rc = weir_units_check(g, g->kinds[it.kind].size, 1, &why);
    if (rc < 0)
        return fail_item(m->r, &it, rc, &why);
    if (it.faulty)
        return fail_entry(m->r, &it);
    if (it.detached && it.parent != WEIR_NONE)
        return weir_jgf_bad(m->r, WEIR_EINVAL, "nodes", it.at, ".metadata.detached",
                            "the vertex is in containment: an edge says so");
    weir_build_vertex(g, v,
                      (struct vertex){.id = it.id,
                                      .kind = it.kind,
                                      .parent = it.parent,
                                      .pos = place_of(m, &it),
                                      .pool = it.pool,
                                      .state = it.state});
    if (m->r->positions)
        m->r->positions[v] = it.at;
    above = m->depth ? m->way[m->depth - 1].rank : WEIR_NO_RANK;
    rank = it.has_rank ? (int64_t)it.rank : above;
    rc = set_rank(g, v, rank, it.owns_rank ? WEIR_NO_RANK : above);
    rc = rc ? rc : set_uuid(g, v, &why);
    m->way[m->depth++] = (struct above){v, rank};
    return rc < 0 ? fail_item(m->r, &it, rc, &why) : WEIR_OK;
}

/* Passes the arrays of items, and all arrays by item, to the graph. */
static void give_items(struct jgf *r)
{
    weir_graph *g = r->g;

    weir_array_fit(&r->items, &r->cap, r->count, sizeof *r->items);
    weir_array_fit(&r->uuids, &r->uuids_cap, r->nuuids, sizeof *r->uuids);
    g->vertices = (struct vertex *)r->items;
    g->cap.vertices = r->cap;
    r->items = NULL;
    g->uuids.list = r->uuids;
    g->uuids.cap = r->nuuids;
    r->uuids = NULL;
}

static int make_vertices(struct jgf *r, uint32_t count)
{
    struct maker m = {.r = r};
    int rc = WEIR_OK;

    give_items(r);
    for (weir_vertex v = 0; rc == WEIR_OK && v < count; v++)
        rc = make_vertex(&m, v);
    if (rc < 0)
        return rc;
    r->g->limit = count;
    r->g->serial += count;
    note_vertices(r->g, 0, count);
    rc = r->g->uuids.own ? weir_uuid_check(r->g, r->err) : WEIR_OK;
    weir_uuid_pack(r->g);
    if (rc)
        weir_err_source(r->err, r->source);
    return rc;
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

static int add_edge(struct jgf *r, const struct jgf_edge *e)
{
    const char *type = e->type == WEIR_NO_NAME ? "contains" : jgf_text(r, e->type);
    weir_err why = {0};
    int rc = weir_edge_add(r->g, e->source, e->target, jgf_text(r, e->subsystem), type,
                           e->back != WEIR_NO_NAME ? jgf_text(r, e->back)
                           : r->undirected         ? type
                                                   : NULL,
                           &why);

    if (rc == WEIR_ENOMEM)
        return weir_fail_nomem(r->err);
    return rc < 0 ? weir_jgf_bad(r, rc, "edges", e->at, "", "%s", why.text) : WEIR_OK;
}

/* Whether an edge has a type that is "in", in capitals or not. */
static bool is_in(const struct jgf *r, const struct jgf_edge *e)
{
    return e->type != WEIR_NO_NAME && strcasecmp(jgf_text(r, e->type), "in") == 0;
}

/* Makes "in" the opposite type of an edge "contains" in the opposite direction, where there is one. */
static bool accompany(struct jgf *r, const struct jgf_edge *e)
{
    weir_graph *g = r->g;
    uint32_t s = is_in(r, e) ? weir_subsystem_find(g, jgf_text(r, e->subsystem)) : WEIR_NONE;

    for (uint32_t i = s == WEIR_NONE ? s : weir_edge_first(g, e->target, s, true); i != WEIR_NONE;
         i = weir_edge_next(g, i, true)) {
        struct edge *other = &g->edges[i];
        if (other->target != e->source || other->back != WEIR_NO_NAME ||
            strcasecmp(weir_strtab_text(&g->names, other->type), "contains") != 0)
            continue;
        other->back = e->type;
        return true;
    }
    return false;
}

/* Adds the edges of other subsystems than containment; edges "in" last, as they may accompany others. */
static int add_edges(struct jgf *r)
{
    int rc = WEIR_OK;

    for (int in = 0; in < 2; in++)
        for (uint32_t i = 0, span = 0; rc == WEIR_OK && i < r->waiting.count; i++) {
            struct jgf_edge e = weir_jgf_waiting(r, i, &span);
            if (!weir_jgf_contains(r, &e) && is_in(r, &e) == in && !accompany(r, &e))
                rc = add_edge(r, &e);
        }
    return rc;
}

/* Keeps the words of containment, unless they are the usual words. */
static void keep_words(struct jgf *r)
{
    if (r->down && strcmp(jgf_text(r, r->down - 1), "contains") != 0)
        r->g->words.down = r->down;
    if (r->up && strcmp(jgf_text(r, r->up - 1), "in") != 0)
        r->g->words.up = r->up;
}

int weir_jgf_make(struct jgf *r, weir_graph **out)
{
    uint32_t all = r->count;
    struct item_order o = {0};
    int rc;

    weir_graph_begin(r->g);
    rc = order_items(r, &o);
    rc = rc ? rc : make_vertices(r, o.count);
    if (rc == WEIR_OK && o.count < all)
        return weir_jgf_bad(r, WEIR_EINVAL, "nodes", o.cycle, "",
                            "vertex \"%s\" is below itself: the edges make a cycle", o.key);
    rc = rc ? rc : weir_build_tree(r->g, r->err);
    rc = rc ? rc : add_edges(r);
    rc = rc ? rc : weir_graph_end(r->g, r->err);
    rc = rc ? rc : weir_jgf_set_foreign(r);
    if (rc < 0)
        return rc;
    keep_words(r);
    *out = r->g;
    r->g = NULL;
    return WEIR_OK;
}
