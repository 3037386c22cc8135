/* svg_use.c - the use of a cell by jobs, the reservations in the cell, and the states of the cell. Invariant:
 * s->entries has each pair of job and type once; from ENTRIES_MAX pairs on, further jobs are counted as SVG_OTHERS.
 */
#include "draw/svg.h"

#include <stdlib.h>
#include <string.h>

#include "time/schedule.h"
#include "aggregate/rows.h"

#define ENTRIES_MAX 256

/* ---- units by job and type ------------------------------------------------------------------------------------ */

static struct svg_entry *find_entry(struct svg *s, uint32_t job, weir_type type)
{
    for (uint32_t i = 0; i < s->nentries; i++)
        if (s->entries[i].job == job && s->entries[i].type == type)
            return &s->entries[i];
    return NULL;
}

static void add_units(struct svg *s, uint32_t job, weir_type type, int64_t units)
{
    struct svg_entry *e = find_entry(s, job, type);

    if (!e && s->nentries >= ENTRIES_MAX) {
        job = SVG_OTHERS;
        e = find_entry(s, job, type);
    }
    if (!e) {
        if (s->failed || weir_array_reserve(&s->entries, &s->entries_cap, (size_t)s->nentries + 1, sizeof *e) < 0) {
            s->failed = true;
            return;
        }
        e = &s->entries[s->nentries++];
        *e = (struct svg_entry){job, type, 0};
    }
    e->units += units;
}

static weir_type type_at(const weir_graph *g, weir_vertex v)
{
    return kind_of(g, v)->type;
}

/* Adds all units of v and of its subtree for a job. */
static void add_whole(struct svg *s, uint32_t job, weir_vertex v)
{
    const struct inner *in = inner_of(s->g, v);
    const struct schema *sc = in && in->cells ? schema_at(s->g, in->schema) : NULL;

    add_units(s, job, type_at(s->g, v), kind_of(s->g, v)->size);
    for (uint32_t i = 0; sc && i < sc->ntypes; i++)
        add_units(s, job, (weir_type)sc->codes[i], in->cells[CELL_TYPES + TYPE_CELLS * i + TYPE_TOTAL]);
}

/* Adds the units in use in the subtree of v; with `lumped`, all for SVG_OTHERS. */
static void collect(struct svg *s, weir_vertex v, bool lumped)
{
    const struct schedule *b = schedule_of(s->g, v);
    const struct inner *in = inner_of(s->g, v);
    uint32_t n;
    const weir_vertex *kids = kids_of(s->g, v, &n);

    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span span = weir_schedule_span(s->g, b, i);
        if (!span.active)
            continue;
        if (span.exclusive) {
            add_whole(s, lumped ? SVG_OTHERS : span.job, v);
            return;
        }
        add_units(s, lumped ? SVG_OTHERS : span.job, type_at(s->g, v), span.amount);
    }
    if (!in || !in->cells || in->cells[CELL_ACTIVE] == 0)
        return;
    for (uint32_t i = 0; i < n && !s->failed; i++)
        if (kids[i] != WEIR_NONE)
            collect(s, kids[i], lumped);
}

/* Returns the units of a type in the subtree of v. */
static int64_t total_of(const weir_graph *g, weir_vertex v, weir_type t)
{
    const struct inner *in = inner_of(g, v);
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;

    return (type_at(g, v) == t ? kind_of(g, v)->size : 0) + (cell ? in->cells[cell + TYPE_TOTAL] : 0);
}

/* ---- parts ---------------------------------------------------------------------------------------------------- */

static double part_of(const struct svg *s, const struct svg_box *box, const struct svg_entry *e)
{
    weir_vertex v = box->v;
    double total = 0;

    for (uint32_t i = 0; i < box->members && v != WEIR_NONE; i++, v = weir_svg_sibling(s->g, v))
        total += (double)total_of(s->g, v, e->type);
    return total > 0 ? (double)e->units / total : 0;
}

/* Records a job's part: the largest of the job's parts by type. A full list keeps the largest parts. */
static void note_part(struct svg_use *u, uint32_t job, double part)
{
    uint32_t i = 0, least = 0;

    while (i < u->n && u->list[i].job != job)
        i++;
    if (i == u->n && u->n == SVG_SHARES) {
        for (i = 1; i < u->n; i++)
            least = u->list[i].part < u->list[least].part ? i : least;
        i = least;
        if (u->list[i].part >= part)
            return;
        u->list[i].part = 0;
    }
    u->n += i == u->n;
    u->list[i].job = job;
    u->list[i].part = part > u->list[i].part ? part : u->list[i].part;
}

static void sort_parts(const struct svg *s, struct svg_use *u)
{
    for (uint32_t i = 1; i < u->n; i++)
        for (uint32_t k = i; k > 0; k--) {
            uint32_t a = u->list[k - 1].job, b = u->list[k].job;
            double part = u->list[k].part;
            if (a != SVG_OTHERS && (b == SVG_OTHERS || s->g->jobs->list[a].a.job <= s->g->jobs->list[b].a.job))
                break;
            u->list[k] = u->list[k - 1];
            u->list[k - 1].job = b;
            u->list[k - 1].part = part;
        }
}

/* Scales the parts to a sum of at most 1: one job may have all cores, and a second job all gpus. */
static void settle_parts(const struct svg *s, struct svg_use *u)
{
    double sum = 0;

    for (uint32_t i = 0; i < u->n; i++)
        sum += u->list[i].part;
    u->used = sum < 1 ? sum : 1;
    for (uint32_t i = 0; i < u->n && sum > 1; i++)
        u->list[i].part /= sum;
    sort_parts(s, u);
}

static void find_parts(struct svg *s, const struct svg_box *box, struct svg_use *u)
{
    weir_vertex v = box->v;

    if (box->holder != WEIR_NONE) {
        note_part(u, box->holder, 1);
        u->used = 1;
        return;
    }
    s->nentries = 0;
    for (uint32_t i = 0; i < box->members && v != WEIR_NONE; i++, v = weir_svg_sibling(s->g, v))
        collect(s, v, box->heat);
    for (uint32_t i = 0; i < s->nentries; i++)
        note_part(u, s->entries[i].job, part_of(s, box, &s->entries[i]));
    settle_parts(s, u);
}

int64_t weir_svg_total(const struct svg *s, weir_type t)
{
    uint32_t n;
    const weir_vertex *tops = weir_write_tops(s->g, s->o, &n);
    int64_t total = 0;

    for (uint32_t i = 0; i < n; i++)
        total += tops[i] == WEIR_NONE ? 0 : total_of(s->g, tops[i], t);
    return total;
}

void weir_svg_sums(struct svg *s)
{
    uint32_t n;
    const weir_vertex *tops = weir_write_tops(s->g, s->o, &n);

    s->nentries = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (tops[i] == WEIR_NONE)
            continue;
        if (s->boxes[0].holder != WEIR_NONE)
            add_whole(s, SVG_OTHERS, tops[i]);
        else
            collect(s, tops[i], true);
    }
}

/* ---- reservations --------------------------------------------------------------------------------------------- */

struct earliest {
    int64_t start;
    uint32_t job;
};

/* Finds the first reservation in the subtree of v. */
static void find_next(const weir_graph *g, weir_vertex v, struct earliest *e)
{
    const struct schedule *b = schedule_of(g, v);
    const struct inner *in = inner_of(g, v);
    uint32_t n;
    const weir_vertex *kids = kids_of(g, v, &n);

    for (uint32_t i = 0; b && i < b->count; i++) {
        struct span span = weir_schedule_span(g, b, i);
        if (!span.active && span.start < e->start)
            *e = (struct earliest){span.start, span.job};
    }
    if (!in || !in->cells || WEIR_FOREVER - in->cells[CELL_SOON] >= e->start)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (kids[i] != WEIR_NONE)
            find_next(g, kids[i], e);
}

/* ---- states --------------------------------------------------------------------------------------------------- */

/* Counts the vertices in the subtree of v by state. With a type, only vertices of the type count, and vertices below
 * are skipped. */
static void count_states(const weir_graph *g, weir_vertex v, uint8_t above, weir_type type,
                         uint64_t counts[WEIR_STATES])
{
    uint8_t own = vertex_at(g, v)->state, state = own == WEIR_UP ? above : own;
    uint32_t n;
    const weir_vertex *kids = kids_of(g, v, &n);

    if (type == WEIR_NO_TYPE || type_at(g, v) == type)
        counts[state]++;
    if (type != WEIR_NO_TYPE && type_at(g, v) == type)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (kids[i] != WEIR_NONE)
            count_states(g, kids[i], state, type, counts);
}

static void find_states(const struct svg *s, const struct svg_box *box, struct svg_use *u)
{
    weir_vertex v = box->v;
    uint64_t counts[WEIR_STATES] = {0}, all = 0;

    if ((!s->states && s->by != SVG_BY_STATE) || (box->members == 1 && inner_of(s->g, v) == NULL)) {
        u->states[box->state] = 1;
        return;
    }
    for (uint32_t i = 0; i < box->members && v != WEIR_NONE; i++, v = weir_svg_sibling(s->g, v))
        count_states(s->g, v, s->boxes[box->parent].state, WEIR_NO_TYPE, counts);
    for (int i = 0; i < WEIR_STATES; i++)
        all += counts[i];
    for (int i = 0; i < WEIR_STATES && all; i++)
        u->states[i] = (double)counts[i] / (double)all;
}

void weir_svg_states(const struct svg *s, uint64_t counts[WEIR_STATES])
{
    uint32_t n;
    const weir_vertex *tops = weir_write_tops(s->g, s->o, &n);

    for (uint32_t i = 0; i < n; i++)
        if (tops[i] != WEIR_NONE)
            count_states(s->g, tops[i], s->boxes[0].state, s->node, counts);
}

/* ---- a cell --------------------------------------------------------------------------------------------------- */

void weir_svg_use(struct svg *s, const struct svg_box *box, struct svg_use *u)
{
    struct earliest e = {WEIR_FOREVER, box->next};
    weir_vertex v = box->v;

    memset(u, 0, sizeof *u);
    find_parts(s, box, u);
    for (uint32_t i = 0; box->next == WEIR_NONE && i < box->members && v != WEIR_NONE;
         i++, v = weir_svg_sibling(s->g, v))
        find_next(s->g, v, &e);
    u->next = e.job;
    find_states(s, box, u);
}
