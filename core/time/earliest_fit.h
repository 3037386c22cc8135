/* earliest_fit.h - the time from which parts of hosts, such as cores of shared nodes, are free. "Hosts" are the
 * vertices of a type. An earliest fit gives lower bounds of the start of a reservation, and excludes hosts.
 *
 * The record belongs to the occupancy of the type, with the exclusive spans of hosts. For each host and each type of
 * unit in a request so far, a timeline has the units in use below the host. A table for each class of requests has, for
 * each host, a lower bound of the start: so a request looks at few hosts only.
 *
 * Made by the first reservation of parts of hosts, and then updated by every change of the jobs.
 */
#ifndef WEIR_EARLIEST_FIT_H
#define WEIR_EARLIEST_FIT_H

#include "time/occupancy.h"

/* Types of units considered; further types of a request are ignored. */
#define FIT_NEEDS 8
/* Classes of requests; the least recently used class is dropped first. */
#define FIT_TABLES 256
/* Hosts found free at the same start; further hosts are assumed to be. */
#define FIT_TIES 64

struct fit_need {
    weir_type type; /* WEIR_NO_TYPE, amount 1: the host itself, unused */
    int64_t amount;
};

struct fit_request {
    struct fit_need needs[FIT_NEEDS]; /* for a slot, within a host */
    uint32_t n;
    /* In each of `outers` vertices of type `outer`; WEIR_NO_TYPE: in all, and `outers` is 1. */
    int64_t slots;
    int64_t outers;
    weir_type outer; /* type of an ancestor of hosts */
    bool once;       /* each slot on a host of its own */
    int64_t duration;
};

/* Makes the timelines for a request, where `make` is set. *made: all timelines exist. */
int weir_fits_get(const weir_graph *g, struct occupancy *c, const struct fit_request *q, bool make,
                  bool *made) WEIR_CHECKED;
/* The earliest start from `from` to `latest` with free units for all slots, on hosts not refused, or
 * WEIR_FOREVER. After weir_usage_build(). c->busy then has all hosts without room for a slot at the start.
 * WEIR_ENOMEM, WEIR_EINTERRUPTED. O(hosts / 32 + hosts looked at) for a single slot; for several slots also the hosts
 * for each start tried. */
int weir_fits_find(const weir_graph *g, struct occupancy *c, const struct fit_request *q, int64_t from, int64_t latest,
                   int64_t *start);

/* Adds the picks of a job from number `from` on. Cannot fail: out of memory the record is
 * dropped, and made again later. */
void weir_fits_add(const weir_graph *g, struct occupancy *c, uint32_t job, uint32_t from);
/* Removes a job, with exclusive hosts marked in c->mask. Cannot fail. */
void weir_fits_remove(const weir_graph *g, struct occupancy *c, uint32_t job);
/* Frees c->fits. */
void weir_fits_free(struct occupancy *c);
/* Memory of c->fits. */
size_t weir_fits_bytes(const struct occupancy *c);
/* Compares timelines with the jobs, and bounds with the timelines; WEIR_EINVAL: different. O(hosts (jobs + tables)) */
int weir_fits_check(const weir_graph *g, struct occupancy *c) WEIR_CHECKED;

#endif
