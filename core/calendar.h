/* calendar.h - which vertices of one type are held as a whole, and when: those that jobs have exclusively, or something above
 * them. It tells where to look for the start of a reservation, and which vertices need no look.
 *
 * Time is cut into slots, from one start or end of a job to the next; a slot has a bit for each vertex of the type, set where
 * it is held. Slots stand in pages of up to CALENDAR_SLOTS; what is held all over a page is noted once, and a page knows what
 * is held at any time in it. So a job costs as many slots as begin while it lasts, at most two pages of them one by one; each
 * costs as many words as the vertices of the job stand in.
 *
 * Made when a reservation first asks for vertices of the type, from then on kept by every change of the jobs. Agreed times
 * count: what a job has past its end is not held here. Units that jobs have of a vertex, or below it, are not seen.
 */
#ifndef WEIR_CALENDAR_H
#define WEIR_CALENDAR_H

#include "graph.h"

#define CALENDAR_SLOTS 64
#define CALENDAR_SIZES   16
#define CALENDAR_LENGTHS 64
#define CALENDAR_BYTES (512u << 20) /* a larger one is not kept: reservations are then found without it */

struct page {
    uint32_t n, cap;   /* slots, and room for them */
    uint32_t all;      /* vertices held all over the page */
    uint32_t most;     /* held in one of the slots besides, or more */
    bool stale;        /* the set of those held at any time may have too many */
    uint64_t *sets;    /* two, held all over the page and held at any time besides, then one for each slot */
    int64_t time[CALENDAR_SLOTS];  /* where a slot begins */
    uint32_t held[CALENDAR_SLOTS]; /* vertices in its set */
    uint32_t edges[CALENDAR_SLOTS]; /* jobs that start or end there */
    uint8_t place[CALENDAR_SLOTS]; /* which set is that of a slot; behind the n-th, those not in use */
};

struct calendar {
    weir_type type;
    uint32_t words;        /* of a set */
    weir_vertex *vertices; /* by bit; WEIR_NONE: gone */
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
    /* By the logarithms of how many vertices and how long: where such a window was looked for from, and the start that was
     * found. Until something is given back there is none before it for as many or more, as long or longer. */
    struct {
        int64_t from, start;
    } known[CALENDAR_SIZES][CALENDAR_LENGTHS];
};

/* The calendar of a type of pools of size 1, made where there is none. *out NULL: it would be too large. O(vertices of the
 * type + what all jobs have) */
int weir_calendar_get(weir_graph *g, weir_type t, struct calendar **out) WEIR_CHECKED;
struct calendar *weir_calendar_of(const weir_graph *g, weir_type t); /* NULL: none is kept */

/* A job comes or goes. Adding may fail and has then done nothing. */
int weir_calendars_add(weir_graph *g, uint32_t job) WEIR_CHECKED;
void weir_calendars_remove(weir_graph *g, uint32_t job);
/* A vertex that no job has comes or goes. */
void weir_calendars_join(weir_graph *g, weir_vertex v);
void weir_calendars_leave(weir_graph *g, weir_vertex v);
void weir_calendars_clear(weir_graph *g);
size_t weir_calendars_bytes(const weir_graph *g);
/* Compares with what the jobs have, slot by slot. O(slots * jobs) */
int weir_calendars_check(const weir_graph *g, weir_err *err);

/* Nothing is refused; then what cannot be used. */
void weir_calendar_reset(struct calendar *c);
void weir_calendar_refuse(const weir_graph *g, struct calendar *c, weir_vertex v);
/* The earliest start from `from` on such that n vertices are neither refused nor held all over the time from there;
 * WEIR_FOREVER: there is none. c->busy has the others. */
int64_t weir_calendar_find(struct calendar *c, int64_t from, int64_t duration, uint64_t n);
/* Whether n are free all over [t0, t1). */
bool weir_calendar_fits(struct calendar *c, int64_t t0, int64_t t1, uint64_t n);

static inline bool calendar_knows(const weir_graph *g, const struct calendar *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return bit < c->count && c->vertices[bit] == v;
}

/* Whether v, of the type, is among the others. */
static inline bool calendar_busy(const weir_graph *g, const struct calendar *c, weir_vertex v)
{
    uint32_t bit = g->vertices[v].bit;
    return calendar_knows(g, c, v) && (c->busy[bit / 64] >> (bit % 64) & 1);
}

#endif
