/* hello.c - the running jobs (RFC 27): the job manager lists the jobs, R and jobspec of each job are looked up, and the
 * worker allocates the resources again. When the worker has all jobs, the scheduler announces readiness. All
 * steps are asynchronous. */
#include "sched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#define EACH (-1.0) /* no time limit */

/* A running job; listed until the worker has the job. */
struct greeting {
    struct greeting *next, **at; /* in the list; `at` is NULL outside of the list */
    struct sched *sched;
    const flux_msg_t *msg;
    flux_jobid_t id;
    flux_future_t *R, *jobspec;
    int missing; /* lookups under way */
};

static void unlist(struct greeting *g)
{
    if (!g->at)
        return;
    *g->at = g->next;
    if (g->next)
        g->next->at = g->at;
    g->at = NULL;
}

static void destroy(struct greeting *g)
{
    unlist(g);
    flux_future_destroy(g->R);
    flux_future_destroy(g->jobspec);
    flux_msg_decref(g->msg);
    free(g);
}

void sched_fail(struct sched *s, const char *what, const char *why)
{
    flux_log(s->h, LOG_CRIT, "%s: %s", what, why ? why : "?");
    flux_reactor_stop_error(flux_get_reactor(s->h));
}

/* ---- ready ---- */

static void described(struct sched *s, struct call *c)
{
    if (s && c->reply.ok)
        flux_log(s->h, LOG_INFO, "ready: %s", c->reply.text);
}

static void on_ready(flux_future_t *f, void *arg)
{
    struct sched *s = arg;
    struct call c = {.method = "describe", .done = described};

    if (flux_future_get(f, NULL) < 0 || !sched_post(s, &c))
        sched_fail(s, "ready", future_strerror(f, errno));
}

/* Announces the mode "unlimited" or "limited=N". */
static flux_future_t *say_ready(flux_t *h, const char *mode)
{
    const char *number = strchr(mode, '=');

    if (number)
        return flux_rpc_pack(h, "job-manager.sched-ready", FLUX_NODEID_ANY, 0, "{s:s s:i}", "mode", "limited", "limit",
                             atoi(number + 1));
    return flux_rpc_pack(h, "job-manager.sched-ready", FLUX_NODEID_ANY, 0, "{s:s}", "mode", mode);
}

/* Called after the calls for all running jobs: all running jobs have their resources. */
static void booked(struct sched *s, struct call *c)
{
    if (!s)
        return;
    s->ready = say_ready(s->h, c->reply.text);
    if (!s->ready || flux_future_then(s->ready, EACH, on_ready, s) < 0)
        sched_fail(s, "ready", strerror(errno));
}

/* Called at the end of the list and after each job; the last call sends the worker the final call. */
static void arrive(struct sched *s)
{
    struct call c = {.method = "depth", .quiet = true, .done = booked};

    if (s->all_told && !s->greetings && !sched_post(s, &c))
        sched_fail(s, "ready", strerror(errno));
}

/* ---- exceptions ---- */

struct raised {
    struct raised *next;
    struct sched *sched;
    flux_future_t *f;
    flux_jobid_t id;
    bool tell;
};

static void forget(struct raised *r)
{
    struct raised **at = &r->sched->raised;

    while (*at && *at != r)
        at = &(*at)->next;
    if (*at)
        *at = r->next;
    flux_future_destroy(r->f);
    free(r);
}

/* Reports a failed exception to the worker, which expects the end of the job. */
static void spared(struct sched *s, flux_jobid_t id)
{
    struct call c = {.method = "spared"};

    if (asprintf(&c.own, "{\"id\":%ju}", (uintmax_t)id) < 0)
        return;
    c.args[0] = c.own;
    if (!sched_post(s, &c))
        free(c.own);
}

static void on_raised(flux_future_t *f, void *arg)
{
    struct raised *r = arg;

    if (flux_future_get(f, NULL) < 0) {
        flux_log(r->sched->h, LOG_ERR, "cannot raise an exception on job %ju: %s", (uintmax_t)r->id,
                 future_strerror(f, errno));
        if (r->tell)
            spared(r->sched, r->id);
    }
    forget(r);
}

void sched_raise(struct sched *s, flux_jobid_t id, const char *type, const char *note, bool tell)
{
    struct raised *r = malloc(sizeof *r);

    if (!r) {
        sched_fail(s, "raise", strerror(errno));
        return;
    }
    *r = (struct raised){s->raised, s, flux_job_raise(s->h, id, type, 0, note), id, tell};
    s->raised = r;
    if (r->f && flux_future_then(r->f, EACH, on_raised, r) == 0)
        return;
    flux_log_error(s->h, "cannot raise an exception");
    forget(r);
}

/* ---- one job ---- */

static void greeted(struct sched *s, struct call *c)
{
    struct greeting *g = c->arg;

    if (s && !c->reply.ok && !c->reply.failed) {
        flux_log(s->h, LOG_ERR, "hello: %s", c->reply.text ? c->reply.text : "?");
        sched_raise(s, g->id, "scheduler-restart", "failed to reallocate R for running job", false);
    }
    destroy(g);
}

/* Sends the worker all data of a running job. */
static void greet(struct greeting *g)
{
    struct sched *s = g->sched;
    struct call c = {.method = "hello", .arg = g, .done = greeted};

    if (flux_response_decode(g->msg, NULL, &c.args[0]) < 0 || flux_kvs_lookup_get(g->R, &c.args[1]) < 0) {
        sched_fail(s, "hello: the R of a job cannot be read", strerror(errno));
        destroy(g);
        return;
    }
    if (flux_kvs_lookup_get(g->jobspec, &c.args[2]) < 0)
        c.args[2] = NULL;
    if (!sched_post(s, &c)) {
        sched_fail(s, "hello", strerror(errno));
        destroy(g);
        return;
    }
    unlist(g);
    arrive(s);
}

static void on_lookup(flux_future_t *f, void *arg)
{
    struct greeting *g = arg;

    (void)f;
    sched_mark(g->sched, "hello");
    if (--g->missing == 0)
        greet(g);
}

static flux_future_t *look_up(struct greeting *g, const char *name)
{
    char key[64];
    flux_future_t *f;

    if (flux_job_kvs_key(key, sizeof key, g->id, name) < 0)
        return NULL;
    f = flux_kvs_lookup(g->sched->h, NULL, 0, key);
    if (f && flux_future_then(f, EACH, on_lookup, g) < 0) {
        flux_future_destroy(f);
        return NULL;
    }
    return f;
}

static int begin(struct sched *s, const flux_msg_t *msg)
{
    struct greeting *g = calloc(1, sizeof *g);

    if (!g)
        return -1;
    *g = (struct greeting){
        .next = s->greetings, .at = &s->greetings, .sched = s, .msg = flux_msg_incref(msg), .missing = 2};
    if (g->next)
        g->next->at = &g->next;
    s->greetings = g;
    if (flux_msg_unpack(msg, "{s:I}", "id", &g->id) == 0 && (g->R = look_up(g, "R")) &&
        (g->jobspec = look_up(g, "jobspec")))
        return 0;
    destroy(g);
    return -1;
}

/* ---- all of them ---- */

static void on_hello(flux_future_t *f, void *arg)
{
    struct sched *s = arg;
    const flux_msg_t *msg;

    sched_mark(s, "hello");
    if (flux_future_get(f, (const void **)&msg) == 0 && begin(s, msg) == 0) {
        flux_future_reset(f);
        return;
    }
    s->all_told = errno == ENODATA;
    if (s->all_told)
        arrive(s);
    else
        sched_fail(s, "hello", strerror(errno));
}

int sched_hello(struct sched *s)
{
    s->hello =
        flux_rpc_pack(s->h, "job-manager.sched-hello", FLUX_NODEID_ANY, FLUX_RPC_STREAMING, "{s:b}", "partial-ok", 1);
    if (s->hello && flux_future_then(s->hello, EACH, on_hello, s) == 0)
        return 0;
    flux_log_error(s->h, "hello");
    return -1;
}

void sched_hello_close(struct sched *s)
{
    while (s->greetings)
        destroy(s->greetings);
    while (s->raised)
        forget(s->raised);
    flux_future_destroy(s->hello);
    flux_future_destroy(s->ready);
}
