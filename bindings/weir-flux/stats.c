/* stats.c - the statistics: counts of the service, the longest busy times of reactor and worker, and the work of these
 * times. The counts come from the worker; during a long call of the worker, the counts from before the call are
 * given. */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE 0.01 /* seconds given to the worker */

/* A request for statistics. */
struct asker {
    struct sched *sched;
    const flux_msg_t *msg; /* NULL once answered */
    flux_watcher_t *timer;
};

/* Returns a copy of the worker's published state. */
static struct doing look(struct worker *w)
{
    struct doing d;

    pthread_mutex_lock(&w->lock);
    d = w->seen;
    d.stats = d.stats ? strdup(d.stats) : NULL;
    pthread_mutex_unlock(&w->lock);
    return d;
}

/* Rounds up to tenths of milliseconds, so that JSON has no exponents. */
static double rounded(double seconds)
{
    return ceil(seconds * 1e4) / 1e4;
}

/* Adds the reactor's figures to `o` and steals the reference. */
static json_t *complete(struct sched *s, json_t *o, const struct doing *d, double age)
{
    double now = sched_clock(), cpu[2];
    json_t *own;

    sched_cpu(cpu);
    own = json_pack("{s:f s:s s:f s:f s:s s:f s:s? s:f s:f s:f}", "longest_slice", rounded(s->meter.longest),
                    "longest_slice_of", s->meter.longest_of, "longest_slice_cpu", rounded(s->meter.longest_cpu),
                    "longest_call", rounded(d->longest), "longest_call_of", d->longest_of, "age", rounded(age),
                    "worker", d->now, "worker_busy", rounded(d->now ? now - d->since : 0.0), "cpu_user",
                    rounded(d->cpu[0] + cpu[0]), "cpu_system", rounded(d->cpu[1] + cpu[1]));
    if (!own || json_object_update_missing(own, o) < 0) {
        json_decref(own);
        own = NULL;
    }
    json_decref(o);
    return own;
}

/* Answers with the text from the worker, or for NULL with the last published counts. */
static void answer(struct asker *a, const char *text)
{
    struct sched *s = a->sched;
    struct doing d = look(s->worker);
    json_t *o = json_loads(text ? text : d.stats ? d.stats : "{}", 0, NULL);

    o = o ? complete(s, o, &d, text ? 0.0 : sched_clock() - d.stats_at) : NULL;
    if (!o || flux_respond_pack(s->h, a->msg, "O", o) < 0)
        flux_log_error(s->h, "cannot answer stats-get");
    json_decref(o);
    free(d.stats);
    flux_msg_decref(a->msg);
    a->msg = NULL;
}

static void on_timer(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct asker *a = arg;

    (void)r, (void)w, (void)revents;
    sched_mark(a->sched, "stats");
    if (a->msg)
        answer(a, NULL);
}

static void destroy(struct asker *a)
{
    flux_watcher_destroy(a->timer);
    flux_msg_decref(a->msg);
    free(a);
}

static void done(struct sched *s, struct call *c)
{
    struct asker *a = c->arg;

    if (s && a->msg && c->reply.ok)
        answer(a, c->reply.text);
    destroy(a);
}

void sched_on_stats(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct sched *s = arg;
    struct asker *a = calloc(1, sizeof *a);
    struct call c = {.method = "stats", .quiet = true, .early = true, .arg = a, .done = done};

    (void)h, (void)mh;
    sched_mark(s, "stats");
    if (!a) {
        sched_respond_error(s, msg, ENOMEM, NULL);
        return;
    }
    *a = (struct asker){s, flux_msg_incref(msg),
                        flux_timer_watcher_create(flux_get_reactor(s->h), PATIENCE, 0, on_timer, a)};
    if (!a->timer || !sched_post(s, &c)) {
        sched_respond_error(s, msg, ENOMEM, NULL);
        destroy(a);
        return;
    }
    flux_watcher_start(a->timer);
}

/* Forgets the longest times so far. */
void sched_on_stats_clear(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct sched *s = arg;

    (void)mh;
    s->meter.longest = s->meter.longest_cpu = 0;
    s->meter.longest_of = "nothing";
    pthread_mutex_lock(&s->worker->lock);
    s->worker->seen.longest = 0;
    s->worker->seen.longest_of = "nothing";
    pthread_mutex_unlock(&s->worker->lock);
    if (flux_respond(h, msg, NULL) < 0)
        flux_log_error(h, "cannot answer stats-clear");
}
