/* module.c - the broker module: `flux module load sched-weir policy=low queue=easy slice=50ms`. Takes over the services sched and
 * feasibility, acquires what there is (RFC 28), learns who runs already and says that it is ready (RFC 27), and serves. */
#include "sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

int mod_main(flux_t *h, int argc, char **argv);

/* ---- resource.acquire ---- */

static int take(struct sched *s, flux_future_t *f)
{
    const char *text;
    struct reply r;
    bool ok;

    if (flux_rpc_get(f, &text) < 0) {
        flux_log(s->h, LOG_ERR, "resource.acquire: %s", future_strerror(f, errno));
        return -1;
    }
    if (!sched_call(s, "acquire", text, NULL, &r))
        return -1;
    ok = r.ok;
    if (!ok) {
        flux_log(s->h, LOG_ERR, "resource.acquire: %s", r.text ? r.text : "?");
        errno = EPROTO;
    }
    sched_reply_clear(&r);
    flux_future_reset(f);
    return ok ? 0 : -1;
}

static void on_acquire(flux_future_t *f, void *arg)
{
    struct sched *s = arg;

    if (take(s, f) < 0)
        flux_reactor_stop(flux_get_reactor(s->h));
    sched_loop_want(s);
}

static int acquire(struct sched *s)
{
    s->acquire = flux_rpc(s->h, "resource.acquire", NULL, FLUX_NODEID_ANY, FLUX_RPC_STREAMING);
    if (!s->acquire || take(s, s->acquire) < 0)
        return -1;
    return flux_future_then(s->acquire, -1, on_acquire, s);
}

/* ---- the module ---- */

static int ready(struct sched *s)
{
    struct reply r;
    int rc;

    if (!sched_call(s, "depth", NULL, NULL, &r))
        return -1;
    rc = schedutil_ready(s->util, r.text, NULL);
    sched_reply_clear(&r);
    if (rc < 0 || !sched_call(s, "describe", NULL, NULL, &r))
        return -1;
    flux_log(s->h, LOG_INFO, "ready: %s", r.text);
    sched_reply_clear(&r);
    return 0;
}

static int open_lua(struct sched *s, int argc, char **argv)
{
    char *config = sched_config(flux_get_conf(s->h));
    int rc;

    if (!config) {
        flux_log_error(s->h, "cannot read the configuration");
        return -1;
    }
    rc = sched_lua_open(s, argc, argv, config);
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
    if (open_lua(s, argc, argv) < 0)
        return -1;
    s->util = schedutil_create(s->h, SCHEDUTIL_HELLO_PARTIAL_OK, &sched_ops, s);
    if (!s->util || sched_requests_open(s) < 0 || sched_loop_open(s) < 0)
        return fail(s, "cannot register");
    if (flux_module_set_running(s->h) < 0)
        return fail(s, "cannot start");
    if (acquire(s) < 0)
        return fail(s, "resource.acquire");
    if (schedutil_hello(s->util) < 0)
        return fail(s, "hello");
    if (ready(s) < 0)
        return fail(s, "ready");
    return flux_reactor_run(flux_get_reactor(s->h), 0) < 0 ? fail(s, "reactor") : 0;
}

int mod_main(flux_t *h, int argc, char **argv)
{
    struct sched s = {.h = h};
    int rc = run(&s, argc, argv), errnum = errno;

    sched_children_close(&s);
    flux_future_destroy(s.acquire);
    sched_loop_close(&s);
    sched_requests_close(&s);
    schedutil_destroy(s.util);
    sched_lua_close(&s);
    errno = errnum;
    return rc;
}
