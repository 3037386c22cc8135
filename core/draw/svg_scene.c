/* svg_scene.c - chooses the boxes of a picture. All boxes of a level are opened, level by level, while the next level
 * stays small enough; if too few cells result, the next level is drawn as groups of siblings.
 *
 * Main invariant: child boxes of one parent are consecutive, come after the parent, and are in the order of
 * containment.
 */
#include "draw/svg.h"

#include <string.h>

#include "time/schedule.h"
#include "aggregate/schema.h"

#define LABEL_MAX 150 /* limit in pixels for widening a block to its name */

static const weir_vertex *siblings_of(const weir_graph *g, weir_vertex v, uint32_t *n)
{
    weir_vertex parent = vertex_at(g, v)->parent;

    if (parent != WEIR_NONE)
        return kids_of(g, parent, n);
    *n = g->nroots;
    return g->roots;
}

weir_vertex weir_svg_sibling(const weir_graph *g, weir_vertex v)
{
    uint32_t n;
    const weir_vertex *list = siblings_of(g, v, &n);

    for (uint32_t i = vertex_at(g, v)->pos + 1; i < n; i++)
        if (list[i] != WEIR_NONE)
            return list[i];
    return WEIR_NONE;
}

/* ---- one box -------------------------------------------------------------------------------------------------- */

static int32_t label_width(struct svg *s, weir_vertex v)
{
    int32_t width;

    s->text.len = 0;
    weir_write_name(&s->text, s->g, v);
    s->failed |= s->text.failed;
    width = s->failed ? 0 : weir_svg_text_width(s->text.data, s->text.len, 11);
    return width < LABEL_MAX ? width : LABEL_MAX;
}

/* Finds the jobs that have v exclusively, now and reserved. The results of the parent stay if no job has v. */
static void find_holders(const weir_graph *g, weir_vertex v, uint32_t *holder, uint32_t *next)
{
    const struct schedule *b = schedule_of(g, v);

    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span s = weir_schedule_span(g, b, i);
        if (s.exclusive && s.active)
            *holder = s.job;
        else if (s.exclusive && *next == WEIR_NONE)
            *next = s.job;
    }
}

static void describe(struct svg *s, struct svg_box *box, weir_vertex v)
{
    const struct vertex *x = vertex_at(s->g, v);

    box->v = v;
    box->fine = box->fine || kind_of(s->g, v)->type == s->node;
    if (box->members > 1)
        return;
    if (x->state != WEIR_UP)
        box->state = x->state;
    find_holders(s->g, v, &box->holder, &box->next);
}

/* Appends a box for `members` siblings, of which v is the first. */
static void add_box(struct svg *s, uint32_t parent, weir_vertex v, uint32_t members)
{
    struct svg_box *box;

    if (s->failed || weir_array_reserve(&s->boxes, &s->cap, (size_t)s->n + 1, sizeof *s->boxes) < 0) {
        s->failed = true;
        return;
    }
    box = &s->boxes[s->n++];
    *box = s->boxes[parent];
    box->members = members;
    box->parent = parent;
    box->first = box->count = 0;
    box->over = WEIR_NONE;
    describe(s, box, v);
    box->label = label_width(s, v);
}

/* ---- levels --------------------------------------------------------------------------------------------------- */

/* Returns the children of a box, or the roots for the page. The list has holes (WEIR_NONE). */
static const weir_vertex *content(const struct svg *s, const struct svg_box *box, uint32_t *n)
{
    return box->v == WEIR_NONE ? weir_write_tops(s->g, s->o, n) : kids_of(s->g, box->v, n);
}

static uint32_t count_live(const weir_vertex *list, uint32_t n)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < n; i++)
        live += list[i] != WEIR_NONE;
    return live;
}

/* Makes child boxes for box i, each of `members` siblings. */
static void open_box(struct svg *s, uint32_t i, uint32_t members)
{
    uint32_t n, live, first = s->n, taken = 0;
    const weir_vertex *list = content(s, &s->boxes[i], &n);

    if (n == 0)
        return;
    live = count_live(list, n);
    for (uint32_t k = 0; k < n && !s->failed; k++) {
        if (list[k] == WEIR_NONE)
            continue;
        if (taken % members == 0)
            add_box(s, i, list[k], live - taken < members ? live - taken : members);
        taken++;
    }
    s->boxes[i].first = first;
    s->boxes[i].count = s->n - first;
}

struct level {
    uint32_t first, end; /* range of the boxes of one depth */
    uint64_t kids, fine; /* number of children of the boxes; fine: children inside nodes */
};

static void look_at(const struct svg *s, struct level *l)
{
    uint32_t n;

    l->kids = l->fine = 0;
    for (uint32_t i = l->first; i < l->end; i++) {
        const weir_vertex *list = content(s, &s->boxes[i], &n);
        uint64_t live = count_live(list, n);
        l->kids += live;
        l->fine += s->boxes[i].fine ? live : 0;
    }
}

/* Returns the next number of the form 1, 2 or 5 times a power of ten, not below n. */
static uint32_t round_up(uint64_t n)
{
    uint64_t unit = 1;

    for (;; unit *= 10)
        for (unsigned k = 1; k < 10; k += k == 2 ? 3 : k == 5 ? 5 : 1)
            if (unit * k >= n)
                return unit * k > UINT32_MAX ? UINT32_MAX : (uint32_t)(unit * k);
}

static void open_level(struct svg *s, struct level *l, uint32_t members, bool fine)
{
    for (uint32_t i = l->first; i < l->end && !s->failed; i++)
        if (fine || !s->boxes[i].fine)
            open_box(s, i, members);
    l->first = l->end;
    l->end = s->n;
}

static bool is_cell(const struct svg *s, uint32_t i)
{
    return s->boxes[i].count == 0 && s->boxes[i].v != WEIR_NONE;
}

static bool has_nodes_below(const struct svg *s, weir_vertex v)
{
    const struct inner *in = inner_of(s->g, v);
    return s->node != WEIR_NO_TYPE && in && type_cell(schema_at(s->g, in->schema), s->node);
}

/* Marks cells of several nodes, and, outside of nodes, cells of several vertices of any type. */
static void mark_heat(struct svg *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct svg_box *box = &s->boxes[i];
        if (!is_cell(s, i))
            continue;
        if (box->members > 1)
            box->heat = !box->fine || kind_of(s->g, box->v)->type == s->node;
        else
            box->heat = has_nodes_below(s, box->v);
        s->heat = s->heat || box->heat;
    }
}

/* Finds the most frequent type of cells inside nodes. */
static void find_primary(struct svg *s)
{
    uint32_t *counts = weir_mem_zalloc((size_t)s->g->ntypes + 1, sizeof *counts), most = 0;

    s->primary = WEIR_NO_TYPE;
    s->failed |= !counts;
    for (uint32_t i = 0; counts && i < s->n; i++) {
        weir_type t = s->boxes[i].v == WEIR_NONE ? 0 : kind_of(s->g, s->boxes[i].v)->type;
        if (is_cell(s, i) && s->boxes[i].fine && ++counts[t] > most) {
            most = counts[t];
            s->primary = t;
        }
    }
    weir_mem_free(counts);
}

/* Makes the box of the page. If there is only one root, the page has the state and the jobs of the root. */
static void begin_scene(struct svg *s)
{
    struct svg_box *page;
    uint32_t n, only = 0;
    const weir_vertex *tops = weir_write_tops(s->g, s->o, &n);
    weir_vertex way[WEIR_PATH_DEPTH + 2];
    uint32_t depth = 0;

    s->n = 0;
    s->heat = false;
    if (weir_array_reserve(&s->boxes, &s->cap, 1, sizeof *s->boxes) < 0) {
        s->failed = true;
        return;
    }
    page = &s->boxes[s->n++];
    *page = (struct svg_box){.v = WEIR_NONE, .members = 1, .over = WEIR_NONE, .holder = WEIR_NONE, .next = WEIR_NONE};
    while (only < n && tops[only] == WEIR_NONE)
        only++;
    if (s->o->start != WEIR_NONE)
        for (weir_vertex v = vertex_at(s->g, s->o->start)->parent; v != WEIR_NONE; v = vertex_at(s->g, v)->parent)
            way[depth++] = v;
    while (depth > 0)
        describe(s, page, way[--depth]);
    page->v = WEIR_NONE;
    if (count_live(tops, n) == 1 && weir_vertex_children(s->g, tops[only]) > 0)
        describe(s, page, tops[only]);
}

static uint32_t count_cells(const struct svg *s)
{
    uint32_t cells = 0;

    for (uint32_t i = 0; i < s->n; i++)
        cells += is_cell(s, i);
    return cells;
}

/* Opens the next level, if not too large. Returns false if the boxes are complete. */
static bool step_level(struct svg *s, struct level *l, uint32_t limit)
{
    uint32_t fine_limit = limit < SVG_FINE_MAX ? limit : SVG_FINE_MAX;
    uint32_t most;

    look_at(s, l);
    if (l->kids == 0)
        return false;
    if (l->kids + s->n <= (l->fine ? fine_limit : limit)) {
        open_level(s, l, 1, true);
        return true;
    }
    if (l->fine < l->kids && l->kids - l->fine + s->n <= limit) {
        open_level(s, l, 1, false);
        return true;
    }
    most = l->fine ? fine_limit / 2 : limit < 2 * SVG_GROUPS ? limit / 2 : SVG_GROUPS;
    if (count_cells(s) < (l->fine ? SVG_NODES_FEW : SVG_CELLS_FEW) && count_cells(s) < limit / 4)
        open_level(s, l, round_up((l->kids + most - 1) / most), true);
    return false;
}

void weir_svg_scene(struct svg *s, uint32_t limit)
{
    struct level l = {0, 1, 0, 0};

    s->node = weir_type_find(s->g, "node");
    begin_scene(s);
    while (!s->failed && step_level(s, &l, limit))
        ;
    if (s->failed)
        return;
    mark_heat(s);
    find_primary(s);
}
