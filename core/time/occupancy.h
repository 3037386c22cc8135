/* occupancy.h - which vertices of one type are in use over time: vertices of which jobs have the whole, a vertex above,
 * or any part. An occupancy shows where to look for the start of a reservation, and which vertices need no look.
 *
 * Each vertex of the type has a bit. Time is cut into slices, from each start or end of a job to the next; a slice has
 * the set of the vertices in use. Slices are kept in pages of up to OCCUPANCY_SLICES; a vertex in use throughout a page
 * is in one set of the page (`all`), and a further set has the vertices in use at any time in the page (`any`). So a
 * job costs the pages of its interval, at most two of them slice by slice, and in each set only the words with vertices
 * of the job. Several jobs may use parts of one vertex at a time: a timeline has the number of picks, and gives the
 * time at which the last job ends.
 *
 * The bits are made when a reservation first requests vertices of the type, or for parts of them (earliest_fit.h); the
 * pages, when a reservation first requests whole vertices. Every change of the jobs then updates both. Agreed times
 * count: a job past the end of its interval uses nothing.
 */
#ifndef WEIR_OCCUPANCY_H
#define WEIR_OCCUPANCY_H

#include "graph/graph.h"
#include "aggregate/schedule_record.h"
#include "time/host_usage.h"
#include "time/job_table.h"

#define OCCUPANCY_SLICES 64
/* Starts found that an occupancy remembers. */
#define OCCUPANCY_KNOWN 64
/* A larger occupancy is given up: reservations are then found without. */
#define OCCUPANCY_BYTES (512u << 20)

struct fits; /* earliest_fit.h */

struct page {
    uint32_t n, cap;                  /* slices, and capacity */
    uint32_t all;                     /* vertices held throughout the page */
    uint32_t most;                    /* upper bound of the vertices held in one slice in addition to `all` */
    bool stale;                       /* set SET_ANY may have too many vertices */
    uint64_t *sets;                   /* SET_ALL, SET_ANY, then one set for each slice */
    int64_t time[OCCUPANCY_SLICES];   /* begin of each slice */
    uint32_t held[OCCUPANCY_SLICES];  /* vertices in the set of the slice */
    uint32_t edges[OCCUPANCY_SLICES]; /* jobs that start or end at the begin of the slice */
    /* Number of the set of each slice; from n on, the unused sets. */
    uint8_t place[OCCUPANCY_SLICES];
};

struct occupancy {
    weir_type type;
    uint32_t words;        /* of a set */
    weir_vertex *vertices; /* by bit; WEIR_NONE: removed */
    uint32_t count, live;  /* bits given out; vertices that exist */
    uint64_t serial;       /* changes with every change of the bits */
    struct page **pages;   /* none before the first query; the first slice begins at INT64_MIN */
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
    uint32_t too_many;       /* number of jobs with which the pages grew too large, or 0 */
    struct host_usage parts; /* with pages: number of picks of jobs that are parts of the vertices */
};

struct occupancies {
    struct occupancy **by_type; /* NULL for a type without occupancy */
    uint32_t n;
};

/* The occupancies of a graph. */
static inline const struct occupancies *occupancies_in(const weir_graph *g)
{
    static const struct occupancies none;

    return g->records[RECORD_OCCUPANCIES] ? g->records[RECORD_OCCUPANCIES] : &none;
}

/* The occupancy of a type of pools of size 1, none inside another, made on first use, without pages. O(vertices of the
 * type) */
int weir_occupancy_get(weir_graph *g, weir_type t, struct occupancy **out) WEIR_CHECKED;
struct occupancy *weir_occupancy_of(const weir_graph *g, weir_type t); /* NULL: none */
/* Makes the pages, where `make` is set. *open: there are pages; too large ones are not made. O(picks of all jobs) */
int weir_occupancy_open(const weir_graph *g, struct occupancy *c, bool make, bool *open) WEIR_CHECKED;

/* Adds the picks of a job from number `from` on. Cannot fail: out of memory records are dropped, and made later. */
void weir_occupancies_add(weir_graph *g, uint32_t job, uint32_t from);
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
/* The earliest start at or after `from` with n vertices neither refused nor in use throughout the duration, or
 * WEIR_FOREVER. c->busy then has all other vertices. With pages. */
int64_t weir_occupancy_find(const weir_graph *g, struct occupancy *c, int64_t from, int64_t duration, uint64_t n);
/* Whether n vertices are free throughout [t0, t1). */
bool weir_occupancy_fits(struct occupancy *c, int64_t t0, int64_t t1, uint64_t n);

/* Number of bits, given out or not. */
static inline uint32_t occupancy_bits(const struct occupancy *c)
{
    return c->words * 64;
}

/* Whether v has a bit in the occupancy. */
static inline bool occupancy_knows(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return bit < c->count && c->vertices[bit] == v;
}

/* Whether v, of the type, is in c->busy. */
static inline bool occupancy_busy(const weir_graph *g, const struct occupancy *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return occupancy_knows(g, c, v) && (c->busy[bit / 64] >> (bit % 64) & 1);
}

#endif
