/* earliest_fit_private.h - shared by earliest_fit.c and earliest_fit_slots.c (starts of several slots). */
#ifndef WEIR_EARLIEST_FIT_PRIVATE_H
#define WEIR_EARLIEST_FIT_PRIVATE_H

#include "time/earliest_fit.h"

#define FIT_GROUP 32 /* hosts per element of `first` */

/* The lowest request of a class. */
struct fit_key {
    struct fit_need needs[FIT_NEEDS];
    int64_t duration;
};

struct fit_table {
    struct fit_key key;
    uint32_t n; /* needs */
    int64_t from;
    int64_t *times, *first;    /* by bit; the minimum of each group of FIT_GROUP */
    uint32_t seen;             /* entries of the list of releases applied to the table */
    uint64_t last_use, serial; /* serial: of the tree */
};

struct fit_finder {
    const weir_graph *g;
    struct occupancy *c;
    const struct fit_request *q;
    struct fit_table *table;
    int64_t from;
};

/* Clears a bit of c->busy. */
static inline void fit_free_bit(struct occupancy *c, uint32_t bit)
{
    c->busy[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

/* Sets the lower bound of a host, and the minimum of the group. */
void weir_fit_set_time(struct fit_table *x, uint32_t bit, int64_t t);
/* Whether a host and all ancestors are up, and the host is not refused. */
bool weir_fit_usable(const weir_graph *g, const struct occupancy *c, uint32_t bit);
/* A lower bound of the start on a host, by the timelines. Stored in the table where the search begins at the
 * clock's time, as most searches do. */
int64_t weir_fit_raise(const struct fit_finder *f, uint32_t bit);
/* The earliest start at or after t with free units for a slot on a host, and the number of slots; where past
 * `latest`, any time not after the start. */
int64_t weir_fit_fits(const struct fit_finder *f, uint32_t bit, int64_t t, int64_t latest, int64_t *slots);
/* The first end after t of a job with units below v. */
int64_t weir_fit_next_end(const weir_graph *g, weir_vertex v, int64_t t);
/* The earliest start up to `latest` for all slots, or WEIR_FOREVER (earliest_fit_slots.c). WEIR_ENOMEM,
 * WEIR_EINTERRUPTED */
int weir_fit_many(const struct fit_finder *f, int64_t latest, int64_t *start) WEIR_CHECKED;

#endif
