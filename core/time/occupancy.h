/* occupancy.h - which vertices of one type are held as a whole, and when: those that jobs have exclusively, or something above
 * them. It tells where to look for the start of a reservation, and which vertices need no look.
 *
 * Time is cut into slots, from one start or end of a job to the next; a slot has a bit for each vertex of the type, set where
 * it is held. Slots stand in pages of up to OCCUPANCY_SLOTS; what is held all over a page is noted once, and a page knows what
 * is held at any time in it. So a job costs as many slots as begin while it lasts, at most two pages of them one by one; each
 * costs as many words as the vertices of the job stand in.
 *
 * Made when a reservation first asks for vertices of the type, from then on kept by every change of the jobs. Agreed times
 * count: what a job has past its end is not held here. Of units that jobs have of a vertex, or below it, it is only known that
 * there are some; until whole vertices are asked for beside them: then there is a second one, which shares the bits of the first,
 * in which a vertex is held too while jobs have something below it.
 */
#ifndef WEIR_OCCUPANCY_H
#define WEIR_OCCUPANCY_H

#include "graph/graph.h"
#include "aggregate/schedule_record.h"
#include "time/job_table.h"
#include "time/timeline.h"

#define OCCUPANCY_SLOTS 64
#define OCCUPANCY_CLASSES 64 /* of numbers of vertices, four from each power of two to the next; of lengths of time, two */
#define OCCUPANCY_BYTES (512u << 20) /* a larger one is not kept: reservations are then found without it */

struct fits; /* earliest_fit.h */

struct page {
    uint32_t n, cap;   /* slots, and room for them */
    uint32_t all;      /* vertices held all over the page */
    uint32_t most;     /* held in one of the slots besides, or more */
    bool stale;        /* the set of those held at any time may have too many */
    uint64_t *sets;    /* two, held all over the page and held at any time besides, then one for each slot */
    int64_t time[OCCUPANCY_SLOTS];  /* where a slot begins */
    uint32_t held[OCCUPANCY_SLOTS]; /* vertices in its set */
    uint32_t edges[OCCUPANCY_SLOTS]; /* jobs that start or end there */
    uint8_t place[OCCUPANCY_SLOTS]; /* which set is that of a slot; behind the n-th, those not in use */
};

struct occupancy {
    weir_type type;
    uint32_t words;        /* of a set */
    weir_vertex *vertices; /* by bit; WEIR_NONE: gone */
    uint32_t *parts;       /* by bit: what jobs have of the vertex or below it, but for it, or all above it, as a whole */
    uint32_t count, live;  /* bits given out; vertices that are there */
    uint64_t serial;       /* of the order of its bits */
    struct page **pages;   /* never empty; the first slot begins before everything */
    uint32_t npages, pages_cap;
    size_t bytes;
    uint32_t *touched, ntouched; /* words of a job's vertices, in `mask` */
    uint64_t *mask, *gone;
    uint64_t *busy;    /* held at some time in the window asked for last, or refused */
    uint64_t *refused; /* what this match cannot use at any time */
    uint32_t nrefused, unheld; /* of these, those that are never held */
    /* By classes of how many vertices and how long: the earliest start of such a window, or of one that needs less, from
     * known_from on, as far as is known; nothing where that is 0. Valid until something is given back: windows that reach
     * beyond `freed` may begin earlier. */
    int64_t known[OCCUPANCY_CLASSES][OCCUPANCY_CLASSES];
    int64_t known_from, freed;
    struct exact { /* the last request of a class, and its start */
        int64_t duration, start;
        uint64_t n;
    } exact[OCCUPANCY_CLASSES];
    struct fits *fits; /* what jobs have below the vertices, or NULL */
    uint64_t nparts;       /* all `parts` together */
    struct occupancy *used; /* the same where vertices count as held that are in use at all, or NULL (occupancy_partial.c) */
    uint32_t too_many;     /* jobs with which that grew too large; 0: it has not */
    weir_timeline **uses;      /* of such a one, by bit: what jobs have below the vertex; NULL: nothing */
};

/* The calendar of a type of pools of size 1, made where there is none. *out NULL: it would be too large. O(vertices of the
 * type + what all jobs have) */
int weir_occupancy_get(weir_graph *g, weir_type t, struct occupancy **out) WEIR_CHECKED;
struct occupancy *weir_occupancy_of(const weir_graph *g, weir_type t); /* NULL: none is kept */
/* The one to ask for vertices that nobody has anything below: made where `make` says so and jobs have parts of vertices; c itself
 * where there is none. O(what all jobs have) */
int weir_occupancy_used(const weir_graph *g, struct occupancy *c, bool make, struct occupancy **out) WEIR_CHECKED;

/* A job comes, or its picks from one on do; or it goes. Adding a whole job may fail and has then done nothing; where picks cannot
 * be added, the calendars are of no use any more. */
int weir_occupancies_add(weir_graph *g, uint32_t job, uint32_t from) WEIR_CHECKED;
void weir_occupancies_remove(weir_graph *g, uint32_t job);
void weir_occupancies_clear(weir_graph *g);
/* Keeps the calendars of a graph that has some. */
extern const struct weir_observer weir_occupancy_observer;

/* Nothing is refused; then what cannot be used. */
void weir_occupancy_reset(struct occupancy *c);
void weir_occupancy_refuse(const weir_graph *g, struct occupancy *c, weir_vertex v);
/* The earliest start from `from` on such that n vertices are neither refused nor held all over the time from there;
 * WEIR_FOREVER: there is none. c->busy has the others. */
int64_t weir_occupancy_find(const weir_graph *g, struct occupancy *c, int64_t from, int64_t duration, uint64_t n);
/* Whether n are free all over [t0, t1). */
bool weir_occupancy_fits(struct occupancy *c, int64_t t0, int64_t t1, uint64_t n);

static inline bool occupancy_knows(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return bit < c->count && c->vertices[bit] == v;
}

/* Whether nobody ever has, or will have, less than all of v, of the type. */
static inline bool occupancy_alone(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    return occupancy_knows(g, c, v) && c->parts[g->vertices[v].bit] == 0;
}

/* Whether v, of the type, is among the others. */
static inline bool occupancy_busy(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return occupancy_knows(g, c, v) && (c->busy[bit / 64] >> (bit % 64) & 1);
}

#endif
