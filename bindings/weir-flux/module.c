/* module.c - the broker module: `flux module load sched-weir policy=low queue=easy slice=50ms`. Takes over the services
 * sched and feasibility, acquires resources (RFC 28), learns the running jobs, announces readiness (RFC 27), and
 * serves. Each step begins after the step before has ended; the reactor runs meanwhile. */
#include "sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

int mod_main(flux_t *h, int argc, char **argv);

/* ---- resource.acquire ---- */

/* Called when the worker has a response of resource.acquire. The first response makes the resources known. */
static void taken(struct sched *s, struct call *c)
{
    if (!s || c->reply.failed)
        return;
    if (!c->reply.ok)
        sched_fail(s, "resource.acquire", c->reply.text);
    else if (!s->acquired) {
        sched_acquired(s);
        if (sched_hello(s) < 0)
            flux_reactor_stop_error(flux_get_reactor(s->h));
    }
}

/* Ends the scheduler in order after the end of resource.acquire, as when the resource module is reloaded: an error
 * would end the broker. */
static void lost(struct sched *s, flux_future_t *f)
{
    if (errno != ECANCELED || !s->acquired) {
        sched_fail(s, "resource.acquire", future_strerror(f, errno));
        return;
    }
    flux_log(s->h, LOG_ERR, "resource.acquire: %s", future_strerror(f, errno));
    flux_reactor_stop(flux_get_reactor(s->h));
}

static void on_acquire(flux_future_t *f, void *arg)
{
    struct sched *s = arg;
    struct call c = {.method = "acquire", .early = true, .done = taken};
    const flux_msg_t *msg;

    sched_mark(s, "acquire");
    if (flux_future_get(f, (const void **)&msg) < 0 || flux_response_decode(msg, NULL, &c.args[0]) < 0) {
        lost(s, f);
        return;
    }
    c.msg = msg;
    if (!sched_post(s, &c))
        sched_fail(s, "resource.acquire", strerror(errno));
    flux_future_reset(f);
}

static int acquire(struct sched *s)
{
    s->acquire = flux_rpc(s->h, "resource.acquire", NULL, FLUX_NODEID_ANY, FLUX_RPC_STREAMING);
    return s->acquire ? flux_future_then(s->acquire, -1, on_acquire, s) : -1;
}

/* ---- the module ---- */

/* Returns whether the broker has not come so far that users may submit. In doubt the answer is true: nothing is
 * refused then. */
static bool is_starting(flux_t *h)
{
    flux_future_t *f = flux_rpc(h, "state-machine.get", NULL, FLUX_NODEID_ANY, 0);
    const char *state;
    bool starting = !f || flux_rpc_get_unpack(f, "{s:s}", "state", &state) < 0 || strcmp(state, "run") != 0;

    flux_future_destroy(f);
    return starting;
}

static int open_worker(struct sched *s, int argc, char **argv)
{
    char *config = sched_config(flux_get_conf(s->h));
    int rc;

    if (!config) {
        flux_log_error(s->h, "cannot read the configuration");
        return -1;
    }
    rc = sched_worker_open(s, argc, argv, config, is_starting(s->h));
    free(config);
    return rc;
}

static int fail(struct sched *s, const char *what)
{
    flux_log_error(s->h, "%s", what);
    return -1;
}

static int run(struct sched *s, int argc, char **argv)
{
    sched_states_read(s);
    if (open_worker(s, argc, argv) < 0)
        return -1;
    s->hash = flux_attr_get(s->h, "content.hash");
    s->util = schedutil_create(s->h, SCHEDUTIL_HELLO_PARTIAL_OK, &sched_ops, s);
    if (!s->hash || !s->util || sched_requests_open(s) < 0 || sched_meter_open(s) < 0)
        return fail(s, "cannot register");
    if (flux_module_set_running(s->h) < 0)
        return fail(s, "cannot start");
    if (acquire(s) < 0)
        return fail(s, "resource.acquire");
    return flux_reactor_run(flux_get_reactor(s->h), 0) < 0 ? fail(s, "reactor") : 0;
}

int mod_main(flux_t *h, int argc, char **argv)
{
    struct sched s = {.h = h};
    int rc = run(&s, argc, argv), errnum = errno;

    sched_worker_stop(&s);
    sched_states_close(&s);
    sched_worker_close(&s);
    sched_children_close(&s);
    sched_hello_close(&s);
    sched_allocs_close(&s);
    flux_future_destroy(s.acquire);
    sched_meter_close(&s);
    sched_requests_close(&s);
    sched_pending_clear(&s);
    schedutil_destroy(s.util);
    errno = errnum;
    return rc;
}
