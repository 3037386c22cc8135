/* requests.c - the messages received: each message becomes a call of the service in the worker, and is answered after
 * the call. */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

static void post(struct sched *s, const struct call *c)
{
    if (!sched_post(s, c))
        sched_fail(s, c->method, strerror(errno));
}

/* ---- sched.*, by libflux-schedutil ---- */

static void log_failure(struct sched *s, struct call *c)
{
    if (s && !c->reply.ok)
        flux_log(s->h, LOG_ERR, "%s: %s", c->method, c->reply.text ? c->reply.text : "?");
}

/* Calls the service with the payload of a request that gets no answer. */
static void tell(struct sched *s, const flux_msg_t *msg, struct call c)
{
    sched_mark(s, c.method);
    if (flux_request_decode(msg, NULL, &c.args[0]) < 0 || !c.args[0]) {
        flux_log_error(s->h, "%s: there is no payload", c.method);
        return;
    }
    c.msg = msg;
    c.done = log_failure;
    post(s, &c);
}

static void on_alloc(flux_t *h, const flux_msg_t *msg, void *arg)
{
    struct sched *s = arg;
    struct call c = {.method = "alloc", .numbered = true};

    if (flux_request_unpack(msg, NULL, "{s:I}", "id", &c.id) < 0)
        flux_log_error(h, "alloc");
    else if ((c.serial = sched_keep(s, c.id, msg)) == 0)
        sched_fail(s, "alloc", strerror(ENOMEM));
    else
        tell(s, msg, c);
}

static void on_free(flux_t *h, const flux_msg_t *msg, const char *R, void *arg)
{
    (void)h, (void)R;
    tell(arg, msg, (struct call){.method = "free"});
}

/* Answers a cancel at once: the worker releases later any resources already found. A request with a last answer is not
 * cancelled. */
static void on_cancel(flux_t *h, const flux_msg_t *msg, void *arg)
{
    struct sched *s = arg;
    struct call c = {.method = "cancel", .numbered = true};
    const flux_msg_t *request;

    if (flux_request_unpack(msg, NULL, "{s:I}", "id", &c.id) < 0) {
        flux_log_error(h, "cancel");
        return;
    }
    request = sched_request(s, c.id, 0, true);
    if (!request)
        return;
    if (schedutil_alloc_respond_cancel(s->util, request) < 0)
        sched_fail(s, "cancel", strerror(errno));
    flux_msg_decref(request);
    tell(s, msg, c);
}

static void on_prioritize(flux_t *h, const flux_msg_t *msg, void *arg)
{
    (void)h;
    tell(arg, msg, (struct call){.method = "prioritize"});
}

const struct schedutil_ops sched_ops = {
    .alloc = on_alloc, .free = on_free, .cancel = on_cancel, .prioritize = on_prioritize};

/* ---- requests that are answered ---- */

void sched_respond_error(struct sched *s, const flux_msg_t *msg, int errnum, const char *text)
{
    if (flux_respond_error(s->h, msg, errnum, text) < 0)
        flux_log_error(s->h, "cannot answer a request");
}

static bool agreed(struct sched *s, const struct call *c)
{
    if (s && c->reply.failed)
        sched_respond_error(s, c->msg, EINVAL, "the scheduler has failed");
    else if (s && !c->reply.ok)
        sched_respond_error(s, c->msg, c->reply.errnum, c->reply.text);
    return s && c->reply.ok;
}

/* Calls the service with the payload of a request. */
static void ask(struct sched *s, const flux_msg_t *msg, struct call c)
{
    sched_mark(s, c.method);
    if (flux_request_decode(msg, NULL, &c.args[0]) < 0) {
        sched_respond_error(s, msg, errno, NULL);
        return;
    }
    c.msg = msg;
    post(s, &c);
}

/* Answers with an empty payload. */
static void answer_nothing(struct sched *s, struct call *c)
{
    if (agreed(s, c) && flux_respond(s->h, c->msg, NULL) < 0)
        flux_log_error(s->h, "cannot answer %s", c->method);
}

/* Answers with the JSON returned by the service. */
static void answer_whole(struct sched *s, struct call *c)
{
    if (agreed(s, c) && flux_respond(s->h, c->msg, c->reply.text) < 0)
        flux_log_error(s->h, "cannot answer %s", c->method);
}

/* Answers with the text returned by the service: {"text": ...}. */
static void answer_text(struct sched *s, struct call *c)
{
    if (agreed(s, c) && flux_respond_pack(s->h, c->msg, "{s:s}", "text", c->reply.text) < 0)
        flux_log_error(s->h, "cannot answer %s", c->method);
}

static void on_expiration(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    ask(arg, msg, (struct call){.method = "expiration", .done = answer_nothing});
}

static void on_feasible(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    ask(arg, msg, (struct call){.method = "feasible", .quiet = true, .done = answer_nothing});
}

static void on_status(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    ask(arg, msg, (struct call){.method = "status", .quiet = true, .done = answer_whole});
}

static void on_policy(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    ask(arg, msg, (struct call){.method = "policy", .done = answer_text});
}

static void snapshot(struct sched *s, const flux_msg_t *msg, const char *method)
{
    struct flux_msg_cred cred;
    const char *text;
    char user[32];

    sched_mark(s, method);
    if (flux_request_decode(msg, NULL, &text) < 0 || flux_msg_get_cred(msg, &cred) < 0) {
        sched_respond_error(s, msg, errno, NULL);
        return;
    }
    snprintf(user, sizeof user, "%u", (unsigned)cred.userid);
    sched_child(s, msg, method, text, cred.rolemask & FLUX_ROLE_OWNER ? NULL : user, false);
}

static void on_why(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    snapshot(arg, msg, "why");
}

static void on_try(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    snapshot(arg, msg, "try");
}

static void on_dump(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    if (flux_msg_is_streaming(msg))
        snapshot(arg, msg, "dump");
    else
        sched_respond_error(arg, msg, EPROTO, "a dump comes in pieces: expected a streaming request");
}

/* ---- requests meant for Fluxion's modules ---- */

/* Answers with a copy of the process: the answer may be as large as the machine. */
static void on_fluxion_slow(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    const char *topic, *text;

    (void)h, (void)mh;
    sched_mark(arg, "fluxion");
    if (flux_request_decode(msg, &topic, &text) < 0)
        sched_respond_error(arg, msg, errno, NULL);
    else
        sched_child(arg, msg, "fluxion", text, topic, true);
}

static void on_fluxion(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct call c = {.method = "fluxion", .done = answer_whole};

    (void)h, (void)mh;
    if (flux_request_decode(msg, &c.args[1], NULL) < 0)
        sched_respond_error(arg, msg, errno, NULL);
    else
        ask(arg, msg, c);
}

static void on_disconnect(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    (void)h, (void)mh;
    sched_children_disconnect(arg, msg);
}

/* ---- configuration ---- */

char *sched_config(const flux_conf_t *conf)
{
    static const char *const tables[] = {"sched-weir", "queues", "sched-fluxion-qmanager", "sched-fluxion-resource"};
    json_t *all = json_object();
    char *text = NULL;
    flux_error_t e;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        json_t *table = NULL;
        if (!all || flux_conf_unpack(conf, &e, "{s?o}", tables[i], &table) < 0 ||
            (table && json_object_set(all, tables[i], table) != 0)) {
            json_decref(all);
            return NULL;
        }
    }
    text = json_dumps(all, 0);
    json_decref(all);
    return text;
}

static void on_config(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg)
{
    struct call c = {.method = "configure", .msg = msg, .done = answer_nothing};
    flux_conf_t *conf;

    (void)h, (void)mh;
    if (flux_module_config_request_decode(msg, &conf) < 0) {
        sched_respond_error(arg, msg, errno, NULL);
        return;
    }
    c.args[0] = c.own = sched_config(conf);
    flux_conf_decref(conf);
    if (c.own)
        post(arg, &c);
    else
        sched_respond_error(arg, msg, EINVAL, NULL);
}

/* ---- registering ---- */

static const struct flux_msg_handler_spec handlers[] = {
    {FLUX_MSGTYPE_REQUEST, "sched.expiration", on_expiration, 0},
    {FLUX_MSGTYPE_REQUEST, "sched.resource-status", on_status, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "feasibility.check", on_feasible, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.stats-get", sched_on_stats, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.stats-clear", sched_on_stats_clear, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.config-reload", on_config, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.why", on_why, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.try", on_try, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.dump", on_dump, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.policy", on_policy, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-weir.disconnect", on_disconnect, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-*.disconnect", on_disconnect, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-resource.find", on_fluxion_slow, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-resource.status", on_fluxion_slow, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-resource.stats-get", on_fluxion, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-resource.match_multi", sched_on_match_multi, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-resource.*", on_fluxion, 0},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-qmanager.params", on_fluxion, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-qmanager.stats-get", on_fluxion, FLUX_ROLE_USER},
    {FLUX_MSGTYPE_REQUEST, "sched-fluxion-qmanager.*", on_fluxion, 0},
    FLUX_MSGHANDLER_TABLE_END,
};

static int serve_as(flux_t *h, const char *name)
{
    flux_future_t *f = flux_service_register(h, name);
    int rc = f ? flux_future_get(f, NULL) : -1;

    flux_future_destroy(f);
    return rc;
}

int sched_requests_open(struct sched *s)
{
    static const char *const others[] = {"sched-fluxion-resource", "sched-fluxion-qmanager"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (serve_as(s->h, others[i]) < 0) /* the module itself may be loaded */
            flux_log(s->h, LOG_WARNING, "requests to %s are not answered here: %s", others[i], strerror(errno));
    return serve_as(s->h, "feasibility") < 0 ? -1 : flux_msg_handler_addvec(s->h, handlers, s, &s->handlers);
}

void sched_requests_close(struct sched *s)
{
    flux_msg_handler_delvec(s->handlers);
}
