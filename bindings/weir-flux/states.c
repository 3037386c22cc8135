/* states.c - the states of policies in the key-value store of the instance: a JSON text under KEY, read before the
 * scheduler opens, written when the service says so, and a last time after the worker has ended. Failures are logged,
 * and the scheduler continues. */
#include "sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define KEY  "sched-weir.states"
#define WAIT 10.0 /* seconds for the store to answer */

void sched_states_read(struct sched *s)
{
    flux_future_t *f = flux_kvs_lookup(s->h, NULL, 0, KEY);
    const char *text;

    if (f && flux_future_wait_for(f, WAIT) == 0 && flux_kvs_lookup_get(f, &text) == 0)
        s->states = text ? strdup(text) : NULL;
    else if (errno != ENOENT)
        flux_log(s->h, LOG_WARNING, "the states of policies cannot be read: %s", future_strerror(f, errno));
    flux_future_destroy(f);
}

static flux_future_t *commit(struct sched *s, const char *text)
{
    flux_kvs_txn_t *txn = flux_kvs_txn_create();
    flux_future_t *f = NULL;

    if (txn && flux_kvs_txn_put(txn, 0, KEY, text) == 0)
        f = flux_kvs_commit(s->h, NULL, 0, txn);
    flux_kvs_txn_destroy(txn);
    return f;
}

static void check(struct sched *s, flux_future_t *f)
{
    if (!f || flux_future_get(f, NULL) < 0)
        flux_log(s->h, LOG_WARNING, "the states of policies cannot be saved: %s", future_strerror(f, errno));
}

static void on_saved(flux_future_t *f, void *arg)
{
    check(arg, f);
    flux_future_destroy(f);
}

/* Remembers a text as the text in the store. */
static void note(struct sched *s, const char *text)
{
    free(s->states);
    s->states = strdup(text); /* NULL: it is written once more at the end */
}

void sched_states_keep(struct sched *s, const char *text)
{
    flux_future_t *f = commit(s, text);

    note(s, text);
    if (!f || flux_future_then(f, -1, on_saved, s) < 0) {
        check(s, NULL);
        flux_future_destroy(f);
    }
}

void sched_states_close(struct sched *s)
{
    static const char *const none[3];
    struct reply r = {0};
    flux_future_t *f = NULL;

    if (s->worker && s->worker->L && s->acquired)
        sched_call(s->worker->L, "states", none, &r);
    if (r.ok && r.text && !(s->states && strcmp(s->states, r.text) == 0)) {
        f = commit(s, r.text);
        if (f && flux_future_wait_for(f, WAIT) < 0)
            flux_log(s->h, LOG_WARNING, "the states of policies are not saved: the key-value store does not answer");
        else
            check(s, f);
    }
    flux_future_destroy(f);
    sched_reply_clear(&r);
    free(s->states);
    s->states = NULL;
}
