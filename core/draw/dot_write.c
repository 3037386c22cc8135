/* dot_write.c - writes a machine as a Graphviz digraph, from left to right. A box is a vertex, or several alike
 * vertices: "core[0-39] x40"; below a box of several vertices, ids are left out: "core x40". The fill shows the use;
 * the words name the job and the state. Arrows of subsystems other than containment are dashed, with a colour for each
 * subsystem.
 *
 * Main invariant: names stay inside their quotes, whatever the characters of a name.
 */
#include "draw/dot.h"

#include <string.h>

#include "time/schedule.h"
#include "idset/idset.h"

#define IDS_MAX 40 /* limit for the bytes of a list of ids */
#define TYPES_TOLD 4

/* Colours for subsystems, distinct with any kind of colour vision. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"};
enum { COLOURS = sizeof colours / sizeof *colours };

struct dot {
    const weir_graph *g;
    weir_buf *b;
    struct dot_fold fold;
    weir_buf name, plain; /* scratch */
    weir_idset *ids;
    struct dot_tuples arrows; /* tuples of source, target, subsystem, type */
    uint32_t *counts;         /* by arrow: number of edges drawn as the arrow */
    uint32_t counts_cap;
    bool failed;
};

/* ---- labels --------------------------------------------------------------------------------------------------- */

/* Writes a text of a label. Backslashes are doubled, as Graphviz replaces \N, \G and the like. */
static void write_label(struct dot *w, const char *s, size_t n)
{
    size_t at = 0;

    w->plain.len = 0;
    weir_write_plain(&w->plain, s, n);
    w->b->failed |= w->plain.failed;
    while (!w->b->failed && at < w->plain.len) {
        size_t k = 0;
        while (at + k < w->plain.len && w->plain.data[at + k] != '"' && w->plain.data[at + k] != '\\')
            k++;
        weir_buf_add(w->b, w->plain.data + at, k);
        at += k;
        if (at < w->plain.len) {
            WEIR_WRITE(w->b, "\\");
            weir_buf_add(w->b, w->plain.data + at++, 1);
        }
    }
}

static void write_text(struct dot *w, const char *s)
{
    write_label(w, s, strlen(s));
}

static const weir_vertex *siblings_of(const struct dot *w, const struct dot_box *box, uint32_t *n)
{
    if (box->parent != WEIR_NONE)
        return kids_of(w->g, w->fold.boxes[box->parent].v, n);
    return weir_write_tops(w->g, w->fold.o, n);
}

/* Collects the ids of the vertices of a box. Returns false if a vertex has a name of its own, or an id outside of the
 * range of an idset. */
static bool collect_ids(struct dot *w, const struct dot_box *box)
{
    uint32_t n;
    const weir_vertex *list = siblings_of(w, box, &n);

    if (weir_idset_remove_range(w->ids, 0, WEIR_IDSET_MAX) < 0)
        w->failed = true;
    for (uint32_t i = 0; i < n && !w->failed; i++) {
        const struct pool *p;
        int64_t id;
        if (list[i] == WEIR_NONE || w->fold.signs[list[i]] != box->sign)
            continue;
        p = pool_of(w->g, list[i]);
        id = vertex_at(w->g, list[i])->id;
        if (id < 0 || id > (int64_t)WEIR_IDSET_MAX || (p && p->name != WEIR_NO_NAME))
            return false;
        if (weir_idset_add_range(w->ids, (uint32_t)id, (uint32_t)id) < 0)
            w->failed = true;
    }
    return !w->failed;
}

/* Writes a list of ids such as "[0-39]"; a long list is cut at a comma. */
static void write_ids(struct dot *w)
{
    size_t n;

    w->name.len = 0;
    if (weir_idset_write(w->ids, WEIR_IDSET_RANGES, &w->name) < 0 || w->name.failed) {
        w->failed = true;
        return;
    }
    n = w->name.len;
    for (size_t at = n; n > IDS_MAX && at-- > 0;)
        if (at < IDS_MAX && w->name.data[at] == ',') {
            n = at + 1;
            break;
        }
    WEIR_WRITE(w->b, "[");
    weir_buf_add(w->b, w->name.data, n);
    weir_buf_puts(w->b, n < w->name.len ? "...]" : "]");
}

static void write_name(struct dot *w, const struct dot_box *box)
{
    if (box->loose) {
        write_text(w, weir_vertex_basename(w->g, box->v));
    } else if (box->count > 1 && collect_ids(w, box)) {
        write_text(w, weir_vertex_basename(w->g, box->v));
        write_ids(w);
    } else {
        w->name.len = 0;
        weir_write_name(&w->name, w->g, box->v);
        w->failed |= w->name.failed;
        if (!w->failed)
            write_label(w, w->name.data, w->name.len);
        if (box->count > 1)
            WEIR_WRITE(w->b, ", ...");
    }
    if (box->count > 1) {
        WEIR_WRITE(w->b, " x");
        weir_write_int(w->b, box->count);
    }
}

static void write_unit(struct dot *w, weir_vertex v)
{
    const char *unit = weir_vertex_unit(w->g, v);

    if (!*unit)
        return;
    WEIR_WRITE(w->b, " ");
    write_text(w, unit);
}

/* Writes the size of a pool, such as "64 GB" or "24 of 64 GB in use". */
static void write_size(struct dot *w, const struct dot_box *box)
{
    int64_t size = weir_vertex_size(w->g, box->v);
    const struct schedule *schedule = schedule_of(w->g, box->v);
    bool part = box->use == DOT_PART && !inner_of(w->g, box->v) && schedule && schedule_used(w->g, schedule) > 0 &&
                !w->fold.shapes;

    if (size == 1 && !*weir_vertex_unit(w->g, box->v))
        return;
    WEIR_WRITE(w->b, "\\n");
    if (part) {
        weir_write_int(w->b, schedule_used(w->g, schedule));
        WEIR_WRITE(w->b, " of ");
    }
    weir_write_int(w->b, size);
    write_unit(w, box->v);
    if (part)
        WEIR_WRITE(w->b, " in use");
}

/* Returns the id of the only job on v, or else on the nearest ancestor in use; 0 if there are several jobs or none. */
static int64_t only_job(const struct dot *w, weir_vertex v)
{
    const struct schedule *b = schedule_of(w->g, v);

    while (!(b && b->active) && (v = vertex_at(w->g, v)->parent) != WEIR_NONE)
        b = schedule_of(w->g, v);
    return b && b->active == 1 ? w->g->jobs->list[span_job(b, 0)].a.job : 0;
}

static void write_use(struct dot *w, const struct dot_box *box)
{
    int64_t job = box->use == DOT_FREE || w->fold.shapes ? 0 : only_job(w, box->v);

    if (box->use == DOT_USED && job) {
        WEIR_WRITE(w->b, "\\njob ");
        weir_write_int(w->b, job);
    } else if (box->use == DOT_USED) {
        WEIR_WRITE(w->b, "\\nin use");
    } else if (box->use == DOT_PART && inner_of(w->g, box->v)) {
        WEIR_WRITE(w->b, "\\npartly in use");
    }
}

/* Writes the resources below a cut box, such as "40 core, 4 gpu". */
static void write_rest(struct dot *w, const struct dot_box *box)
{
    weir_aggregate a;
    uint32_t told = 0;

    for (uint32_t i = 0; told < TYPES_TOLD && weir_graph_aggregate(w->g, box->v, i, &a); i++) {
        if (a.total == 0)
            continue;
        weir_buf_puts(w->b, told++ ? ", " : "\\n");
        weir_write_int(w->b, a.total);
        WEIR_WRITE(w->b, " ");
        write_text(w, a.type);
    }
}

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

static void write_looks(struct dot *w, const struct dot_box *box)
{
    static const char *const fills[] = {"", " fillcolor=\"#d6e6f4\"", " fillcolor=\"#8fbfe3\""};
    uint8_t state = vertex_at(w->g, box->v)->state;

    if (box->out != WEIR_UP)
        weir_buf_puts(w->b, box->use == DOT_USED ? " style=\"rounded,filled,dashed\" fillcolor=\"#8fa3b5\""
                                                 : " style=\"rounded,filled,dashed\" fillcolor=\"#d0d7de\"");
    else
        weir_buf_puts(w->b, fills[box->use]);
    if (state == WEIR_DEGRADED)
        WEIR_WRITE(w->b, " color=\"#b7791f\" penwidth=2");
}

static void write_id(struct dot *w, uint32_t box)
{
    WEIR_WRITE(w->b, "v");
    weir_write_int(w->b, w->fold.boxes[box].v);
}

static void write_box(struct dot *w, uint32_t i)
{
    const struct dot_box *box = &w->fold.boxes[i];
    uint8_t state = vertex_at(w->g, box->v)->state;

    WEIR_WRITE(w->b, "  ");
    write_id(w, i);
    WEIR_WRITE(w->b, " [label=\"");
    write_name(w, box);
    write_size(w, box);
    write_use(w, box);
    if (state != WEIR_UP) {
        WEIR_WRITE(w->b, "\\n");
        weir_buf_puts(w->b, weir_state_name(state));
    }
    if (box->cut)
        write_rest(w, box);
    WEIR_WRITE(w->b, "\"");
    write_looks(w, box);
    WEIR_WRITE(w->b, "];\n");
}

static void write_boxes(struct dot *w, uint32_t first)
{
    for (uint32_t i = first; i != WEIR_NONE && !w->failed && !w->b->failed; i = w->fold.boxes[i].next) {
        if (w->fold.boxes[i].parent != WEIR_NONE) {
            WEIR_WRITE(w->b, "  ");
            write_id(w, w->fold.boxes[i].parent);
            WEIR_WRITE(w->b, " -> ");
            write_id(w, i);
            WEIR_WRITE(w->b, ";\n");
        }
        write_box(w, i);
        write_boxes(w, w->fold.boxes[i].first);
    }
}

/* ---- arrows --------------------------------------------------------------------------------------------------- */

/* Returns the vertex by which v is drawn, or WEIR_NONE if v is outside of the picture. */
static weir_vertex drawn(const struct dot *w, weir_vertex v)
{
    weir_vertex start = w->fold.o->start;
    uint32_t box;

    if (start != WEIR_NONE && !weir_vertex_within(w->g, v, start))
        return WEIR_NONE;
    if (!w->fold.signs)
        return v;
    box = weir_dot_box_of(&w->fold, v);
    return box == WEIR_NONE ? WEIR_NONE : w->fold.boxes[box].v;
}

/* Counts edge i for its arrow: edges between equal boxes share an arrow. */
static void count_edge(struct dot *w, uint32_t i)
{
    const struct edge *e = &w->g->edges[i];
    weir_vertex source = drawn(w, e->source), target = drawn(w, e->target);
    uint32_t arrow, had = w->arrows.n;

    if (source == WEIR_NONE || target == WEIR_NONE)
        return;
    arrow = weir_dot_tuple(&w->arrows, source, target, e->subsystem, e->type);
    if (arrow == WEIR_NONE ||
        weir_array_reserve(&w->counts, &w->counts_cap, (size_t)arrow + 1, sizeof *w->counts) < 0) {
        w->failed = true;
        return;
    }
    w->counts[arrow] = arrow == had ? 1 : w->counts[arrow] + 1;
}

/* Writes an arrow. Subsystem 0 is containment, and has no colour. */
static void write_arrow(struct dot *w, uint32_t i)
{
    const uint32_t *key = w->arrows.list[i];
    const char *colour = colours[(key[2] + COLOURS - 1) % COLOURS];

    WEIR_WRITE(w->b, "  v");
    weir_write_int(w->b, key[0]);
    WEIR_WRITE(w->b, " -> v");
    weir_write_int(w->b, key[1]);
    weir_buf_printf(w->b, " [style=dashed color=\"%s\" fontcolor=\"%s\" label=\"", colour, colour);
    write_text(w, weir_subsystem_name(w->g, key[2]));
    WEIR_WRITE(w->b, ": ");
    write_text(w, weir_strtab_text(&w->g->names, key[3]));
    if (w->counts[i] > 1) {
        WEIR_WRITE(w->b, " x");
        weir_write_int(w->b, w->counts[i]);
    }
    WEIR_WRITE(w->b, "\"];\n");
}

static void write_arrows(struct dot *w)
{
    for (uint32_t i = 0; i < w->g->nedges && !w->failed; i++)
        if (w->g->edges[i].source != WEIR_NONE)
            count_edge(w, i);
    for (uint32_t i = 0; i < w->arrows.n && !w->failed; i++)
        write_arrow(w, i);
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

static const char head[] = "digraph weir {\n"
                           "  graph [rankdir=LR nodesep=0.12 ranksep=0.4];\n"
                           "  node [shape=box style=\"rounded,filled\" fillcolor=white color=\"#8c959f\" "
                           "fontname=\"Helvetica\" fontsize=11 height=0.3 margin=\"0.12,0.05\"];\n"
                           "  edge [color=\"#8c959f\" arrowsize=0.6 fontname=\"Helvetica\" fontsize=9];\n";

int weir_dot_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct dot w = {.g = in->g, .b = b, .fold = {.g = in->g, .o = in->o}};

    w.ids = weir_idset_new();
    if (w.ids)
        weir_dot_fold(&w.fold);
    w.failed = !w.ids || w.fold.failed;
    weir_buf_puts(b, head);
    if (!w.failed)
        write_boxes(&w, w.fold.first);
    if (!w.failed)
        write_arrows(&w);
    WEIR_WRITE(b, "}\n");
    weir_dot_fold_free(&w.fold);
    weir_dot_tuples_free(&w.arrows);
    weir_mem_free(w.counts);
    weir_idset_free(w.ids);
    weir_buf_free(&w.name);
    weir_buf_free(&w.plain);
    return w.failed || b->failed ? weir_fail_nomem(err) : WEIR_OK;
}
