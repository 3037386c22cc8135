/* occupancy.h - which vertices of one type are held over time: vertices that jobs have exclusively, or with an
 * exclusive ancestor. An occupancy tells where to look for the start of a reservation, and which vertices need no look.
 *
 * Time is cut into slots, from each start or end of a job to the next; a slot has a bit for each vertex of the type,
 * set while the vertex is held. Slots are kept in pages of up to OCCUPANCY_SLOTS; a vertex held throughout a page is in
 * one set of the page (`all`), and a further set has the vertices held at any time in the page (`any`). So a job costs
 * the pages of its interval, at most two of them slot by slot, and in each set only the words with vertices of the job.
 *
 * An occupancy is made when a reservation first asks for vertices of the type, and then updated by every change of the
 * jobs. Agreed times count: a job past the end of its interval holds nothing. Units that jobs have of a vertex, or
 * below a vertex, are only counted (`parts`). Once a request asks for whole vertices beside such jobs, a second,
 * partial occupancy shares the bits of the first: there a vertex is held also while a job has anything below the
 * vertex.
 */
#ifndef WEIR_OCCUPANCY_H
#define WEIR_OCCUPANCY_H

#include "graph/graph.h"
#include "aggregate/schedule_record.h"
#include "time/job_table.h"
#include "time/timeline.h"

#define OCCUPANCY_SLOTS 64
/* Starts found that an occupancy remembers. */
#define OCCUPANCY_KNOWN 64
/* A larger occupancy is given up: reservations are then found without. */
#define OCCUPANCY_BYTES (512u << 20)

struct fits; /* earliest_fit.h */

struct page {
    uint32_t n, cap;                 /* slots, and capacity */
    uint32_t all;                    /* vertices held throughout the page */
    uint32_t most;                   /* upper bound of the vertices held in one slot beside `all` */
    bool stale;                      /* set SET_ANY may have too many vertices */
    uint64_t *sets;                  /* SET_ALL, SET_ANY, then one set for each slot */
    int64_t time[OCCUPANCY_SLOTS];   /* begin of each slot */
    uint32_t held[OCCUPANCY_SLOTS];  /* vertices in the set of the slot */
    uint32_t edges[OCCUPANCY_SLOTS]; /* jobs that start or end at the begin of the slot */
    /* Number of the set of each slot; from n on, the unused sets. */
    uint8_t place[OCCUPANCY_SLOTS];
};

struct occupancy {
    weir_type type;
    uint32_t words;        /* of a set */
    weir_vertex *vertices; /* by bit; WEIR_NONE: removed */
    /* By bit: picks of jobs at or below the vertex, without exclusive picks of the vertex or of an ancestor. */
    uint32_t *parts;
    uint32_t count, live; /* bits given out; vertices that exist */
    uint64_t serial;      /* changes with every change of the bits */
    struct page **pages;  /* never empty; the first slot begins at INT64_MIN */
    uint32_t npages, pages_cap;
    size_t bytes;
    uint32_t *touched, ntouched; /* words of `mask` that are not 0 */
    uint64_t *mask, *gone;
    uint64_t *busy;            /* held at some time in the interval of the last query, or refused */
    uint64_t *refused;         /* vertices that the present match cannot use at any time */
    uint32_t nrefused, unheld; /* unheld: refused vertices that no job ever holds */
    /* Starts found: no interval of so many vertices and so long, or of more and longer, starts earlier, from
     * known_from on. Valid until units are released: intervals that reach beyond `freed` may begin earlier. */
    struct known_start {
        uint64_t n;
        int64_t duration, start;
    } known[OCCUPANCY_KNOWN];
    uint32_t nknown, oldest;
    int64_t known_from, freed;
    /* Units that jobs have below the vertices, or NULL. */
    struct fits *fits;
    uint64_t nparts; /* sum of `parts` */
    /* The partial occupancy (occupancy_partial.c), or NULL. */
    struct occupancy *partial;
    uint32_t too_many; /* number of jobs with which the partial occupancy grew too large, or 0 */
    /* In a partial occupancy, by bit: picks of jobs below the vertex, over time; NULL: none. */
    weir_timeline **below;
};

/* The occupancy of a type of pools of size 1, made on first use. *out NULL: too large. O(vertices of the type +
 * picks of all jobs) */
int weir_occupancy_get(weir_graph *g, weir_type t, struct occupancy **out) WEIR_CHECKED;
struct occupancy *weir_occupancy_of(const weir_graph *g, weir_type t); /* NULL: none */
/* The occupancy to query for vertices without any job below: the partial occupancy, made where `make` is set and
 * jobs have parts of vertices; c itself where none is needed. O(picks of all jobs) */
int weir_occupancy_used(const weir_graph *g, struct occupancy *c, bool make, struct occupancy **out) WEIR_CHECKED;

/* Adds the picks of a job from number `from` on. To add a whole job may fail, without any change;
 * after a failure to add further picks the occupancies must be cleared. */
int weir_occupancies_add(weir_graph *g, uint32_t job, uint32_t from) WEIR_CHECKED;
/* Removes a job from all occupancies. Cannot fail. */
void weir_occupancies_remove(weir_graph *g, uint32_t job);
/* Frees all occupancies. */
void weir_occupancies_clear(weir_graph *g);
/* Updates the occupancies of a graph. */
extern const struct weir_observer weir_occupancy_observer;

/* Begins a match without refused vertices. */
void weir_occupancy_reset(struct occupancy *c);
/* Excludes a vertex from the present match. */
void weir_occupancy_refuse(const weir_graph *g, struct occupancy *c, weir_vertex v);
/* The earliest start at or after `from` with n vertices neither refused nor held throughout the duration, or
 * WEIR_FOREVER. c->busy then has all other vertices. */
int64_t weir_occupancy_find(const weir_graph *g, struct occupancy *c, int64_t from, int64_t duration, uint64_t n);
/* Whether n vertices are free throughout [t0, t1). */
bool weir_occupancy_fits(struct occupancy *c, int64_t t0, int64_t t1, uint64_t n);

/* Whether v has a bit in the occupancy. */
static inline bool occupancy_knows(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return bit < c->count && c->vertices[bit] == v;
}

/* Whether v, of the type, is known and no job has less than the whole of v, at any time. */
static inline bool occupancy_alone(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    return occupancy_knows(g, c, v) && c->parts[g->vertices[v].bit] == 0;
}

/* Whether v, of the type, is in c->busy. */
static inline bool occupancy_busy(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return occupancy_knows(g, c, v) && (c->busy[bit / 64] >> (bit % 64) & 1);
}

#endif
