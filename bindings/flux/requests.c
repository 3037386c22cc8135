/* requests.c - the messages that come: each is handed to the service as text, and makes the scheduler work afterwards. */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <syslog.h>

/* ---- sched.*, by libflux-schedutil ---- */

/* Calls the service with the payload of a request that gets no answer. */
static void tell(struct sched *s, const flux_msg_t *msg, const char *method)
{
    const char *text;
    struct reply r;

    if (flux_request_decode(msg, NULL, &text) < 0 || !text) {
        flux_log_error(s->h, "%s: there is no payload", method);
        return;
    }
    if (!sched_call(s, method, text, NULL, &r))
        return;
    if (!r.ok)
        flux_log(s->h, LOG_ERR, "%s: %s", method, r.text ? r.text : "?");
    sched_reply_clear(&r);
    sched_loop_want(s);
}

static int on_hello(flux_t *h, const flux_msg_t *msg, const char *R, void *arg)
{
    struct sched *s = arg;
    const char *text;
    struct reply r;
    bool ok;

    if (flux_response_decode(msg, NULL, &text) < 0 || !text || !sched_call(s, "hello", text, R, &r))
        return -1;
    ok = r.ok;
    if (!ok) {
        flux_log(h, LOG_ERR, "hello: %s", r.text ? r.text : "?");
        errno = EINVAL;
    }
    sched_reply_clear(&r);
    return ok ? 0 : -1;
}

static void on_alloc(flux_t *h, const flux_msg_t *msg, void *arg)
{
    struct sched *s = arg;
    flux_jobid_t id;

    if (flux_request_unpack(msg, NULL, "{s:I}", "id", &id) < 0 || sched_keep(s, id, msg) < 0)
        flux_log_error(h, "alloc");
    else
        tell(s, msg, "alloc");
}

static void on_free(flux_t *h, const flux_msg_t *msg, const char *R, void *arg)
{
    (void)h, (void)R;
    tell(arg, msg, "free");
}

static void on_cancel(flux_t *h, const flux_msg_t *msg, void *arg)
{
    (void)h;
    tell(arg, msg, "cancel");
}

static void on_prioritize(flux_t *h, const flux_msg_t *msg, void *arg)
{
    (void)h;
    tell(arg, msg, "prioritize");
}

const struct schedutil_ops sched_ops = {
    .hello = on_hello, .alloc = on_alloc, .free = on_free, .cancel = on_cancel, .prioritize = on_prioritize};

/* ---- requests that are answered ---- */

static void respond_error(struct sched *s, const flux_msg_t *msg, int errnum, const char *text)
{
    if (flux_respond_error(s->h, msg, errnum, text) < 0)
        flux_log_error(s->h, "cannot answer a request");
}

/* Calls the service. False: it did not agree, which was answered. */
static bool ask(struct sched *s, const flux_msg_t *msg, const char *method, struct reply *r)
{
    const char *text;

    *r = (struct reply){0};
    if (flux_request_decode(msg, NULL, &text) < 0) {
        respond_error(s, msg, errno, NULL);
        return false;
    }
    if (!sched_call(s, method, text, NULL, r)) {
        respond_error(s, msg, EINVAL, "the scheduler has failed");
        return false;
    }
    if (!r->ok)
        respond_error(s, msg, r->errnum, r->text);
    if (!r->ok)
        sched_reply_clear(r);
    return r->ok;
}

/* ... and answers with nothing. */
static void agree(struct sched *s, const flux_msg_t *msg, const char *method)
{
    struct reply r;

    if (!ask(s, msg, method, &r))
        return;
    sched_reply_clear(&r);
    if (flux_respond(s->h, msg, NULL) < 0)
        flux_log_error(s->h, "cannot answer %s", method);
}

static void on_expiration(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    agree(arg, msg, "expiration");
    sched_loop_want(arg);
}

static void on_feasible(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    agree(arg, msg, "feasible");
}

static void on_status(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct reply r;

    (void)mh;
    if (!ask(arg, msg, "status", &r))
        return;
    if (flux_respond(h, msg, r.text) < 0)
        flux_log_error(h, "cannot answer resource-status");
    sched_reply_clear(&r);
}

/* What the service counts, and what this thread has used. */
static void on_stats(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct rusage use;
    struct reply r;
    json_t *o;

    (void)mh;
    if (!ask(arg, msg, "stats", &r))
        return;
    o = json_loads(r.text, 0, NULL);
    getrusage(RUSAGE_THREAD, &use);
    if (!o || json_object_set_new(o, "cpu_user", json_real((double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6)) < 0
        || json_object_set_new(o, "cpu_system", json_real((double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec / 1e6)) < 0
        || flux_respond_pack(h, msg, "O", o) < 0)
        flux_log_error(h, "cannot answer stats-get");
    json_decref(o);
    sched_reply_clear(&r);
}

static void on_policy(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct reply r;

    (void)mh;
    if (!ask(arg, msg, "policy", &r))
        return;
    if (flux_respond_pack(h, msg, "{s:s}", "text", r.text) < 0)
        flux_log_error(h, "cannot answer policy");
    sched_reply_clear(&r);
    sched_loop_want(arg);
}

static void snapshot(struct sched *s, const flux_msg_t *msg, const char *method)
{
    struct flux_msg_cred cred;
    const char *text;
    char user[32];

    if (flux_request_decode(msg, NULL, &text) < 0 || flux_msg_get_cred(msg, &cred) < 0) {
        respond_error(s, msg, errno, NULL);
        return;
    }
    snprintf(user, sizeof user, "%u", (unsigned)cred.userid);
    sched_child(s, msg, method, text, cred.rolemask & FLUX_ROLE_OWNER ? NULL : user);
}

static void on_why(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    snapshot(arg, msg, "why");
}

static void on_dump(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    snapshot(arg, msg, "dump");
}

/* ---- configuration ---- */

char *sched_config(const flux_conf_t *conf)
{
    json_t *own = NULL, *queues = NULL, *both;
    flux_error_t e;
    char *text;

    if (flux_conf_unpack(conf, &e, "{s?o s?o}", "sched-weir", &own, "queues", &queues) < 0)
        return NULL;
    both = json_pack("{s:O? s:O?}", "sched-weir", own, "queues", queues);
    if (both && !own)
        json_object_del(both, "sched-weir");
    if (both && !queues)
        json_object_del(both, "queues");
    text = both ? json_dumps(both, 0) : NULL;
    json_decref(both);
    return text;
}

static void on_config(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct sched *s = arg;
    flux_conf_t *conf;
    struct reply r;
    char *text;

    (void)h, (void)mh;
    if (flux_module_config_request_decode(msg, &conf) < 0) {
        respond_error(s, msg, errno, NULL);
        return;
    }
    text = sched_config(conf);
    flux_conf_decref(conf);
    if (!text || !sched_call(s, "configure", text, NULL, &r))
        respond_error(s, msg, EINVAL, NULL);
    else {
        if (r.ok ? flux_respond(s->h, msg, NULL) < 0 : flux_respond_error(s->h, msg, EINVAL, r.text) < 0)
            flux_log_error(s->h, "cannot answer config-reload");
        sched_reply_clear(&r);
    }
    free(text);
    sched_loop_want(s);
}

/* ---- registering ---- */

static const struct flux_msg_handler_spec handlers[] = {
    {FLUX_MSGTYPE_REQUEST, "sched.expiration", on_expiration, 0},
    {FLUX_MSGTYPE_REQUEST, "sched.resource-status", on_status, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "feasibility.check", on_feasible, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.stats-get", on_stats, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.config-reload", on_config, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.why", on_why, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.dump", on_dump, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.policy", on_policy, 0},
    FLUX_MSGHANDLER_TABLE_END,
};

int sched_requests_open(struct sched *s)
{
    flux_future_t *f = flux_service_register(s->h, "feasibility");
    int rc = f ? flux_future_get(f, NULL) : -1;

    flux_future_destroy(f);
    return rc < 0 ? -1 : flux_msg_handler_addvec(s->h, handlers, s, &s->handlers);
}

void sched_requests_close(struct sched *s)
{
    flux_msg_handler_delvec(s->handlers);
}
