/* dot_fold.c - makes the boxes of a Graphviz picture (see dot.h).
 *
 * Main invariant: two siblings have equal signs only if their boxes look alike, apart from ids; with `shapes`, also
 * only if the boxes of their subtrees look alike.
 */
#include "draw/dot.h"

#include <string.h>

#include "time/schedule.h"
#include "aggregate/rows.h"
#include "aggregate/schema.h"

/* ---- tuples --------------------------------------------------------------------------------------------------- */

uint32_t weir_dot_tuple(struct dot_tuples *t, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t key[4] = {a, b, c, d};
    uint32_t hash = (uint32_t)hash_add(hash_add(a, b), (uint64_t)c << 32 | d);

    WEIR_MAP32_EACH(&t->numbers, hash, i)
        if (memcmp(t->list[i], key, sizeof key) == 0)
            return i;
    if (weir_array_reserve(&t->list, &t->cap, (size_t)t->n + 1, sizeof *t->list) < 0 ||
        weir_map32_add(&t->numbers, hash, t->n) < 0)
        return WEIR_NONE;
    memcpy(t->list[t->n], key, sizeof key);
    return t->n++;
}

void weir_dot_tuples_free(struct dot_tuples *t)
{
    weir_mem_free(t->list);
    weir_map32_free(&t->numbers);
    memset(t, 0, sizeof *t);
}

/* ---- one vertex ----------------------------------------------------------------------------------------------- */

/* The use and state inherited from the ancestors of a vertex. */
struct above {
    bool held;
    uint8_t out;
};

static struct above below(const weir_graph *g, weir_vertex v, struct above up)
{
    const struct schedule *b = schedule_of(g, v);
    uint8_t state = vertex_at(g, v)->state;

    up.held = up.held || (b && b->held);
    if (!state_available(state))
        up.out = state;
    return up;
}

/* Returns true if no resource below the vertex is free. */
static bool is_full(const weir_graph *g, const struct inner *in)
{
    const struct schema *s = in->cells ? schema_at(g, in->schema) : NULL;

    for (uint32_t i = 0; s && i < s->ntypes; i++)
        if (in->cells[CELL_TYPES + TYPE_CELLS * i + TYPE_FREE])
            return false;
    return s != NULL;
}

static uint8_t use_of(const weir_graph *g, weir_vertex v, struct above here)
{
    const struct schedule *b = schedule_of(g, v);
    const struct inner *in = inner_of(g, v);

    if (here.held)
        return DOT_USED;
    if (vertex_unused(g, v))
        return DOT_FREE;
    return (in ? is_full(g, in) : b && schedule_used(g, b) >= kind_of(g, v)->size) ? DOT_USED : DOT_PART;
}

/* Returns the subsystems of the edges of v as bits, apart from containment. Numbers of subsystems are taken modulo
 * 16. */
static uint32_t edges_of(const weir_graph *g, weir_vertex v)
{
    uint32_t mask = 0;

    for (int out = 0; out < 2 && in_other_subsystem(g, v); out++) {
        const struct pool *p = pool_of(g, v);
        for (uint32_t i = out ? p->edges_out : p->edges_in; i != WEIR_NONE;
             i = out ? g->edges[i].next_out : g->edges[i].next_in)
            mask |= 1u << (g->edges[i].subsystem % 16 + (out ? 16 : 0));
    }
    return mask;
}

/* ---- signs ---------------------------------------------------------------------------------------------------- */

enum { SIGN_BASE, SIGN_NAME, SIGN_USE, SIGN_KIDS, SIGN_SELF };

static uint32_t tuple(struct dot_fold *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t n = weir_dot_tuple(&f->tuples, a, b, c, d);

    f->failed = f->failed || n == WEIR_NONE;
    return n;
}

/* Adds the job and the units in use of a vertex to a sign. */
static uint32_t sign_use(struct dot_fold *f, weir_vertex v, uint32_t sign)
{
    const struct schedule *b = schedule_of(f->g, v);
    int64_t used;

    if (f->shapes || !b)
        return sign;
    used = schedule_used(f->g, b);
    sign = tuple(f, SIGN_USE, sign, b->active == 1 ? span_job(b, 0) + 1 : 0, (uint32_t)used);
    return used > UINT32_MAX ? tuple(f, SIGN_USE, sign, (uint32_t)(used >> 32), 0) : sign;
}

static uint32_t sign_vertex(struct dot_fold *f, weir_vertex v, struct above up)
{
    const weir_graph *g = f->g;
    struct above here = below(g, v, up);
    uint32_t n, run = 0, last = WEIR_NONE, sign;
    const weir_vertex *kids = kids_of(g, v, &n);

    sign = tuple(f, SIGN_BASE, vertex_at(g, v)->kind,
                 (uint32_t)(vertex_at(g, v)->state | here.out << 4 | use_of(g, v, here) << 8), edges_of(g, v));
    if (!f->shapes && pool_of(g, v) && pool_of(g, v)->name != WEIR_NO_NAME)
        sign = tuple(f, SIGN_NAME, sign, pool_of(g, v)->name, 0);
    sign = sign_use(f, v, sign);
    for (uint32_t i = 0; i < n && !f->failed; i++) {
        uint32_t kid;
        if (kids[i] == WEIR_NONE)
            continue;
        kid = sign_vertex(f, kids[i], here);
        if (kid != last && run)
            sign = tuple(f, SIGN_KIDS, sign, last, run);
        run = kid == last ? run + 1 : 1;
        last = kid;
    }
    if (run)
        sign = tuple(f, SIGN_KIDS, sign, last, run);
    if (run && !f->shapes)
        sign = tuple(f, SIGN_SELF, sign, v, 0);
    f->signs[v] = sign;
    return sign;
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

static uint32_t add_box(struct dot_fold *f, weir_vertex v, uint32_t parent, struct above here)
{
    struct dot_box *box;
    uint32_t i = f->n, *first, *last;

    if (f->failed || weir_array_reserve(&f->boxes, &f->cap, (size_t)i + 1, sizeof *f->boxes) < 0) {
        f->failed = true;
        return WEIR_NONE;
    }
    box = &f->boxes[f->n++];
    *box = (struct dot_box){.v = v, .count = 1, .parent = parent, .first = WEIR_NONE, .last = WEIR_NONE,
                            .next = WEIR_NONE, .use = use_of(f->g, v, here), .out = here.out,
                            .sign = f->signs ? f->signs[v] : WEIR_NONE,
                            .loose = parent != WEIR_NONE && (f->boxes[parent].loose || f->boxes[parent].count > 1)};
    first = parent == WEIR_NONE ? &f->first : &f->boxes[parent].first;
    last = parent == WEIR_NONE ? &f->last : &f->boxes[parent].last;
    if (*last == WEIR_NONE)
        *first = i;
    else
        f->boxes[*last].next = i;
    *last = i;
    return i;
}

/* Returns the box of the current round for the sign of v, or WEIR_NONE. */
static uint32_t known_box(struct dot_fold *f, weir_vertex v, uint32_t round)
{
    uint32_t sign;

    if (!f->signs)
        return WEIR_NONE;
    sign = f->signs[v];
    return f->stamp[sign] == round ? f->group[sign] : WEIR_NONE;
}

/* Makes boxes for the vertices of a list, and for their subtrees down to `depth` further levels. */
static void add_boxes(struct dot_fold *f, const weir_vertex *list, uint32_t n, uint32_t parent, struct above up,
                      uint32_t depth)
{
    uint32_t round = ++f->rounds, i, box;

    for (i = 0; i < n && !f->failed && f->n <= f->limit; i++) {
        if (list[i] == WEIR_NONE)
            continue;
        box = known_box(f, list[i], round);
        if (box != WEIR_NONE) {
            f->boxes[box].count++;
            continue;
        }
        box = add_box(f, list[i], parent, below(f->g, list[i], up));
        if (box != WEIR_NONE && f->signs) {
            f->stamp[f->signs[list[i]]] = round;
            f->group[f->signs[list[i]]] = box;
        }
    }
    box = parent == WEIR_NONE ? f->first : f->failed ? WEIR_NONE : f->boxes[parent].first;
    for (; box != WEIR_NONE && !f->failed && f->n <= f->limit; box = f->boxes[box].next) {
        weir_vertex v = f->boxes[box].v;
        const weir_vertex *kids = kids_of(f->g, v, &n);
        f->boxes[box].cut = depth == 0 && weir_vertex_children(f->g, v) > 0;
        if (depth > 0)
            add_boxes(f, kids, n, box, below(f->g, v, up), depth - 1);
    }
}

/* Returns the state inherited by the start of the picture from its ancestors. */
static struct above above_start(const struct dot_fold *f)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2], v = f->o->start;
    struct above up = {false, WEIR_UP};
    uint32_t n = 0;

    while (v != WEIR_NONE && (v = vertex_at(f->g, v)->parent) != WEIR_NONE)
        way[n++] = v;
    while (n > 0)
        up = below(f->g, way[--n], up);
    return up;
}

/* Makes all boxes down to a depth. Returns false if there are more boxes than `limit`. */
static bool make_boxes(struct dot_fold *f, uint32_t depth, uint32_t limit)
{
    uint32_t n;
    const weir_vertex *tops = weir_write_tops(f->g, f->o, &n);

    f->n = 0;
    f->limit = limit;
    f->first = f->last = WEIR_NONE;
    add_boxes(f, tops, n, WEIR_NONE, above_start(f), depth);
    return f->n <= limit;
}

/* Computes the signs of all vertices in the picture. */
static void make_signs(struct dot_fold *f, bool shapes)
{
    uint32_t n;
    const weir_vertex *tops = weir_write_tops(f->g, f->o, &n);
    struct above up = above_start(f);

    weir_dot_fold_free(f);
    f->shapes = shapes;
    f->signs = weir_mem_zalloc((size_t)f->g->limit + 1, sizeof *f->signs);
    f->failed = !f->signs;
    for (uint32_t i = 0; i < n && !f->failed; i++)
        if (tops[i] != WEIR_NONE)
            sign_vertex(f, tops[i], up);
    if (f->failed)
        return;
    f->group = weir_mem_zalloc((size_t)f->tuples.n + 1, sizeof *f->group);
    f->stamp = weir_mem_zalloc((size_t)f->tuples.n + 1, sizeof *f->stamp);
    f->failed = !f->group || !f->stamp;
    f->rounds = 0;
}

#define DEPTH_TRIED 16 /* deeper pictures with too many boxes are cut to DEPTH_TRIED levels first */

void weir_dot_fold(struct dot_fold *f)
{
    uint32_t depth = WEIR_PATH_DEPTH;

    if (f->o->all) {
        (void)make_boxes(f, depth, UINT32_MAX - 1);
        return;
    }
    make_signs(f, false);
    if (f->failed || make_boxes(f, depth, DOT_BOXES))
        return;
    make_signs(f, true);
    while (!f->failed && !make_boxes(f, depth, depth ? DOT_BOXES : UINT32_MAX - 1))
        depth = depth > DEPTH_TRIED ? DEPTH_TRIED : depth - 1;
}

void weir_dot_fold_free(struct dot_fold *f)
{
    weir_mem_free(f->boxes);
    weir_mem_free(f->signs);
    weir_mem_free(f->group);
    weir_mem_free(f->stamp);
    weir_dot_tuples_free(&f->tuples);
    f->boxes = NULL;
    f->signs = f->group = f->stamp = NULL;
    f->n = f->cap = 0;
}

/* ---- where a vertex is drawn ---------------------------------------------------------------------------------- */

uint32_t weir_dot_box_of(const struct dot_fold *f, weir_vertex v)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2];
    uint32_t n = 0, box = WEIR_NONE, next;

    for (; v != WEIR_NONE; v = v == f->o->start ? WEIR_NONE : vertex_at(f->g, v)->parent)
        way[n++] = v;
    if (n > 0 && f->o->start != WEIR_NONE && way[n - 1] != f->o->start)
        return WEIR_NONE;
    while (n > 0) {
        v = way[--n];
        next = box == WEIR_NONE ? f->first : f->boxes[box].first;
        while (next != WEIR_NONE && !(f->signs ? f->boxes[next].sign == f->signs[v] : f->boxes[next].v == v))
            next = f->boxes[next].next;
        if (next == WEIR_NONE)
            return box;
        box = next;
    }
    return box;
}
