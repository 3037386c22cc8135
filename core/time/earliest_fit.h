/* earliest_fit.h - when there is room for parts of vertices of one type, such as cores of nodes that others have cores of, too. It tells
 * where to look for the start of a reservation, and which vertices ("hosts") need no look.
 *
 * It belongs to the calendar of that type, which knows who has a host as a whole. For each host and each type of unit that a
 * request has asked for, a plan of the units that jobs have below it. And, by classes of requests, for each host a time before
 * which it has no room, as far as the plans tell: so a request looks at few hosts only, those that may be the first.
 *
 * Made by the first reservation that needs it, and then kept by every change of the jobs.
 */
#ifndef WEIR_EARLIEST_FIT_H
#define WEIR_EARLIEST_FIT_H

#include "time/occupancy.h"

#define FIT_NEEDS  8   /* types of units that are looked at; of more the first ones */
#define FIT_TABLES 256 /* classes of requests; the one not used for longest makes room */
#define FIT_TIES   64  /* hosts that are found to have room at the same time; others are taken to */

struct fit_need {
    weir_type type;
    int64_t amount;
};

struct fit_request {
    struct fit_need needs[FIT_NEEDS]; /* of one slot, which has one host */
    uint32_t n;
    int64_t slots;   /* in each of so many vertices of the type `outer`; WEIR_NO_TYPE: in all, `outers` is 1 */
    int64_t outers;
    weir_type outer; /* hosts stand below such ones */
    bool once;       /* each on a host of its own */
    int64_t duration;
};

/* Makes what a request needs. *made: it is there; it is not, nor made, where `make` is false. */
int weir_fits_get(const weir_graph *g, struct occupancy *c, const struct fit_request *q, bool make, bool *made) WEIR_CHECKED;
/* The earliest start from `from` to `latest` at which hosts that are not refused have room for all slots; WEIR_FOREVER: there is
 * none. After weir_usage_build(). c->busy has all hosts but those that have room, or may have. Negative: out of memory, or interrupted. O(hosts / 32 + hosts that
 * may be the first) for one slot; for several also the hosts for each time that is tried. */
int weir_fits_find(const weir_graph *g, struct occupancy *c, const struct fit_request *q, int64_t from, int64_t latest,
                    int64_t *start);

/* A job comes or goes. They cannot fail: for want of memory all is forgotten, and made again when it is next asked for. */
void weir_fits_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from); /* its picks from there on */
void weir_fits_remove(const weir_graph *g, struct occupancy *c, uint32_t job);
void weir_fits_free(struct occupancy *c);
size_t weir_fits_bytes(const struct occupancy *c);
/* Compares the plans with what the jobs have, and the times with what the plans tell; WEIR_EINVAL: they differ.
 * O(hosts * jobs + tables * hosts) */
int weir_fits_check(const weir_graph *g, struct occupancy *c) WEIR_CHECKED;

#endif
