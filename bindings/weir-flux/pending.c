/* pending.c - the alloc requests without a last answer, in a hash table of lists. Each request has a number, and the
 * worker's answers carry the number: an answer to a cancelled request is never sent to a later request of the job. */
#include "sched.h"

#include <stdlib.h>

#define FEWEST 64 /* lists */

struct pending_request {
    struct pending_request *next;
    flux_jobid_t id;
    uint64_t serial;
    const flux_msg_t *msg;
};

/* Returns the place of the pointer to the request of a job, or the place for a new pointer. */
static struct pending_request **find(struct pending *p, flux_jobid_t id)
{
    uint64_t hash = id * UINT64_C(0x9e3779b97f4a7c15);
    struct pending_request **at = &p->lists[(hash >> 32) % p->size];

    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

/* Doubles the number of lists when requests outnumber lists. Returns false without memory. */
static bool grow(struct pending *p)
{
    struct pending more = *p;

    if (p->count < p->size)
        return true;
    more.size = p->size ? 2 * p->size : FEWEST;
    more.lists = calloc(more.size, sizeof *more.lists);
    if (!more.lists)
        return false;
    for (size_t i = 0; i < p->size; i++)
        for (struct pending_request *r = p->lists[i], *next; r; r = next) {
            next = r->next;
            r->next = NULL;
            *find(&more, r->id) = r;
        }
    free(p->lists);
    *p = more;
    return true;
}

uint64_t sched_keep(struct sched *s, flux_jobid_t id, const flux_msg_t *msg)
{
    struct pending_request *r, **at;

    if (!grow(&s->pending))
        return 0;
    at = find(&s->pending, id);
    if (*at) /* a request repeated without a cancel: the later request counts */
        flux_msg_decref((*at)->msg);
    else if ((r = calloc(1, sizeof *r))) {
        r->id = id;
        *at = r;
        s->pending.count++;
    } else
        return 0;
    (*at)->msg = flux_msg_incref(msg);
    return (*at)->serial = ++s->pending.serials;
}

const flux_msg_t *sched_request(struct sched *s, flux_jobid_t id, uint64_t serial, bool last)
{
    struct pending_request **at = s->pending.count ? find(&s->pending, id) : NULL, *r = at ? *at : NULL;
    const flux_msg_t *msg;

    if (!r || (serial && r->serial != serial))
        return NULL;
    msg = r->msg;
    if (last) {
        *at = r->next;
        s->pending.count--;
        free(r);
    }
    return msg;
}

void sched_pending_clear(struct sched *s)
{
    struct pending *p = &s->pending;

    for (size_t i = 0; i < p->size; i++)
        for (struct pending_request *r = p->lists[i], *next; r; r = next) {
            next = r->next;
            flux_msg_decref(r->msg);
            free(r);
        }
    free(p->lists);
    *p = (struct pending){0};
}
