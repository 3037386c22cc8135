/* fake_flux.c - the functions of flux/core.h and flux/schedutil.h, without a broker. All of it belongs to the thread
 * that runs the reactor: nothing here is locked, so that a use from another thread is found by the thread sanitizer. */
#include "fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct flux_msg {
    struct flux_msg *next;
    int refs;
    char *topic, *text;
    json_t *json; /* text, parsed when needed */
    int errnum;
    int64_t tag;
    bool streaming;
};

struct flux_future {
    struct flux_future *next;
    flux_t *h;
    flux_msg_t *queue, **queue_end, *current;
    flux_continuation_f then;
    void *arg;
};

enum kind { ON_FD, ON_TIMER, ON_PREPARE, ON_CHECK };

struct flux_watcher {
    struct flux_watcher *next;
    flux_reactor_t *r;
    enum kind kind;
    int fd;
    double at;
    flux_watcher_f f;
    void *arg;
    bool on, dead;
};

struct flux_reactor {
    flux_t *h;
    flux_watcher_t *watchers;
    bool stop, failed;
};

struct flux_handle {
    struct fake_broker *broker;
    flux_reactor_t reactor;
    flux_future_t *futures;
    flux_msg_t *requests, **requests_end;
    const struct flux_msg_handler_spec *handlers;
    void *handlers_arg;
    const struct schedutil_ops *ops;
    void *ops_arg;
};

struct flux_conf {
    json_t *root;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

/* ---- messages ---- */

static flux_msg_t *new_msg(const char *topic, const char *text, int errnum)
{
    flux_msg_t *m = calloc(1, sizeof *m);

    *m = (flux_msg_t){.refs = 1, .topic = copy(topic), .text = copy(text), .errnum = errnum};
    return m;
}

const flux_msg_t *flux_msg_incref(const flux_msg_t *msg)
{
    if (msg)
        ((flux_msg_t *)msg)->refs++;
    return msg;
}

void flux_msg_decref(const flux_msg_t *msg)
{
    flux_msg_t *m = (flux_msg_t *)msg;
    int errnum = errno;

    if (m && --m->refs == 0) {
        json_decref(m->json);
        free(m->topic);
        free(m->text);
        free(m);
    }
    errno = errnum;
}

bool flux_msg_is_streaming(const flux_msg_t *msg)
{
    return msg->streaming;
}

int flux_msg_get_cred(const flux_msg_t *msg, struct flux_msg_cred *cred)
{
    (void)msg;
    *cred = (struct flux_msg_cred){0, FLUX_ROLE_OWNER};
    return 0;
}

static int unpack(const flux_msg_t *msg, const char *format, va_list ap)
{
    flux_msg_t *m = (flux_msg_t *)msg;

    if (!m->json)
        m->json = json_loads(m->text ? m->text : "", 0, NULL);
    if (m->json && json_vunpack_ex(m->json, NULL, 0, format, ap) == 0)
        return 0;
    errno = EPROTO;
    return -1;
}

int flux_msg_unpack(const flux_msg_t *msg, const char *format, ...)
{
    va_list ap;
    int rc;

    va_start(ap, format);
    rc = unpack(msg, format, ap);
    va_end(ap);
    return rc;
}

int flux_request_decode(const flux_msg_t *msg, const char **topic, const char **text)
{
    if (topic)
        *topic = msg->topic;
    if (text)
        *text = msg->text;
    return 0;
}

int flux_request_unpack(const flux_msg_t *msg, const char **topic, const char *format, ...)
{
    va_list ap;
    int rc;

    if (topic)
        *topic = msg->topic;
    va_start(ap, format);
    rc = unpack(msg, format, ap);
    va_end(ap);
    return rc;
}

int flux_response_decode(const flux_msg_t *msg, const char **topic, const char **text)
{
    if (msg->errnum) {
        errno = msg->errnum;
        return -1;
    }
    return flux_request_decode(msg, topic, text);
}

bool flux_disconnect_match(const flux_msg_t *a, const flux_msg_t *b)
{
    return a->tag == b->tag;
}

static int answer(flux_t *h, const flux_msg_t *msg, int errnum, const char *text)
{
    h->broker->answered(h->broker, msg->topic, msg->tag, errnum, text);
    return 0;
}

int flux_respond(flux_t *h, const flux_msg_t *msg, const char *text)
{
    return answer(h, msg, 0, text);
}

static int answer_json(flux_t *h, const flux_msg_t *msg, json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    if (!text) {
        errno = EINVAL;
        return -1;
    }
    answer(h, msg, 0, text);
    free(text);
    return 0;
}

int flux_respond_pack(flux_t *h, const flux_msg_t *msg, const char *format, ...)
{
    va_list ap;
    json_t *o;

    va_start(ap, format);
    o = json_vpack_ex(NULL, 0, format, ap);
    va_end(ap);
    return answer_json(h, msg, o);
}

int flux_respond_raw(flux_t *h, const flux_msg_t *msg, const void *data, int len)
{
    (void)data, (void)len;
    return answer(h, msg, 0, NULL);
}

int flux_respond_error(flux_t *h, const flux_msg_t *msg, int errnum, const char *text)
{
    return answer(h, msg, errnum, text);
}

/* ---- handlers ---- */

int flux_msg_handler_addvec(flux_t *h, const struct flux_msg_handler_spec table[], void *arg,
                            flux_msg_handler_t ***handlers)
{
    h->handlers = table;
    h->handlers_arg = arg;
    *handlers = NULL;
    return 0;
}

void flux_msg_handler_delvec(flux_msg_handler_t **handlers)
{
    (void)handlers;
}

static bool matches(const char *glob, const char *topic)
{
    size_t n = strcspn(glob, "*");
    const char *rest = glob + n + 1;

    if (!glob[n])
        return strcmp(glob, topic) == 0;
    if (strncmp(glob, topic, n) != 0)
        return false;
    return !*rest || (strlen(topic) > n + strlen(rest) && strcmp(topic + strlen(topic) - strlen(rest), rest) == 0);
}

static void handle(flux_t *h, flux_msg_t *m)
{
    const char *own = strncmp(m->topic, "sched.", 6) == 0 ? m->topic + 6 : "";

    if (h->ops && strcmp(own, "alloc") == 0)
        h->ops->alloc(h, m, h->ops_arg);
    else if (h->ops && strcmp(own, "free") == 0)
        h->ops->free(h, m, NULL, h->ops_arg);
    else if (h->ops && strcmp(own, "cancel") == 0)
        h->ops->cancel(h, m, h->ops_arg);
    else if (h->ops && strcmp(own, "prioritize") == 0)
        h->ops->prioritize(h, m, h->ops_arg);
    else
        for (const struct flux_msg_handler_spec *s = h->handlers; s && s->topic_glob; s++)
            if (matches(s->topic_glob, m->topic)) {
                s->cb(h, NULL, m, h->handlers_arg);
                return;
            }
}

void fake_request(flux_t *h, const char *topic, const char *text, int64_t tag, bool streaming)
{
    flux_msg_t *m = new_msg(topic, text, 0);

    m->tag = tag;
    m->streaming = streaming;
    *h->requests_end = m;
    h->requests_end = &m->next;
}

/* ---- schedutil ---- */

schedutil_t *schedutil_create(flux_t *h, int flags, const struct schedutil_ops *ops, void *arg)
{
    (void)flags;
    h->ops = ops;
    h->ops_arg = arg;
    return (schedutil_t *)h;
}

void schedutil_destroy(schedutil_t *util)
{
    if (util)
        ((flux_t *)util)->ops = NULL;
}

static int answer_alloc(schedutil_t *util, const flux_msg_t *msg, int type)
{
    return flux_respond_pack((flux_t *)util, msg, "{s:i}", "type", type);
}

int schedutil_alloc_respond_annotate_pack(schedutil_t *util, const flux_msg_t *msg, const char *format, ...)
{
    va_list ap;
    json_t *o;

    va_start(ap, format);
    o = json_vpack_ex(NULL, 0, format, ap);
    va_end(ap);
    json_decref(o);
    return o ? answer_alloc(util, msg, FLUX_SCHED_ALLOC_ANNOTATE) : -1;
}

int schedutil_alloc_respond_deny(schedutil_t *util, const flux_msg_t *msg, const char *note)
{
    (void)note;
    return answer_alloc(util, msg, FLUX_SCHED_ALLOC_DENY);
}

int schedutil_alloc_respond_cancel(schedutil_t *util, const flux_msg_t *msg)
{
    return answer_alloc(util, msg, FLUX_SCHED_ALLOC_CANCEL);
}

/* ---- futures ---- */

static flux_future_t *new_future(flux_t *h)
{
    flux_future_t *f = calloc(1, sizeof *f);

    *f = (flux_future_t){.h = h, .next = h->futures, .queue_end = &f->queue};
    h->futures = f;
    return f;
}

static flux_msg_t *next_msg(flux_msg_t **list, flux_msg_t ***end)
{
    flux_msg_t *m = *list;

    if (m)
        *list = m->next;
    if (!*list)
        *end = list;
    return m;
}

void flux_future_destroy(flux_future_t *f)
{
    flux_future_t **at;
    flux_msg_t *m;
    int errnum = errno;

    if (!f)
        return;
    for (at = &f->h->futures; *at != f; at = &(*at)->next)
        continue;
    *at = f->next;
    while ((m = next_msg(&f->queue, &f->queue_end)))
        flux_msg_decref(m);
    flux_msg_decref(f->current);
    free(f);
    errno = errnum;
}

void fake_reply(flux_future_t *f, int errnum, const char *text)
{
    flux_msg_t *m = new_msg(NULL, text, errnum);

    *f->queue_end = m;
    f->queue_end = &m->next;
}

int flux_future_then(flux_future_t *f, double timeout, flux_continuation_f then, void *arg)
{
    (void)timeout;
    f->then = then;
    f->arg = arg;
    return 0;
}

int flux_future_get(flux_future_t *f, const void **result)
{
    if (!f->current)
        f->current = next_msg(&f->queue, &f->queue_end);
    if (!f->current || f->current->errnum) {
        errno = f->current ? f->current->errnum : EDEADLK;
        return -1;
    }
    if (result)
        *result = f->current;
    return 0;
}

/* What is not answered at once is not answered in time. */
int flux_future_wait_for(flux_future_t *f, double timeout)
{
    (void)timeout;
    errno = ETIMEDOUT;
    return f->current || f->queue ? 0 : -1;
}

void flux_future_reset(flux_future_t *f)
{
    flux_msg_decref(f->current);
    f->current = NULL;
}

const char *future_strerror(flux_future_t *f, int errnum)
{
    return f && f->current && f->current->text ? f->current->text : strerror(errnum);
}

flux_future_t *flux_rpc(flux_t *h, const char *topic, const char *text, uint32_t nodeid, int flags)
{
    flux_future_t *f = new_future(h);

    (void)nodeid, (void)flags;
    h->broker->serve(h->broker, f, topic, text);
    return f;
}

flux_future_t *flux_rpc_pack(flux_t *h, const char *topic, uint32_t nodeid, int flags, const char *format, ...)
{
    flux_future_t *f;
    va_list ap;
    json_t *o;
    char *text;

    va_start(ap, format);
    o = json_vpack_ex(NULL, 0, format, ap);
    va_end(ap);
    text = json_dumps(o, JSON_COMPACT);
    f = flux_rpc(h, topic, text, nodeid, flags);
    free(text);
    json_decref(o);
    return f;
}

flux_future_t *flux_rpc_raw(flux_t *h, const char *topic, const void *data, size_t len, uint32_t nodeid, int flags)
{
    (void)data, (void)len;
    return flux_rpc(h, topic, NULL, nodeid, flags);
}

int flux_rpc_get_unpack(flux_future_t *f, const char *format, ...)
{
    va_list ap;
    int rc;

    if (flux_future_get(f, NULL) < 0)
        return -1;
    va_start(ap, format);
    rc = unpack(f->current, format, ap);
    va_end(ap);
    return rc;
}

int flux_rpc_get_raw(flux_future_t *f, const void **data, size_t *len)
{
    if (flux_future_get(f, NULL) < 0)
        return -1;
    *data = f->current->text;
    *len = strlen(f->current->text);
    return 0;
}

flux_future_t *flux_service_register(flux_t *h, const char *name)
{
    return flux_rpc(h, "service.add", name, 0, 0);
}

/* ---- jobs, KVS ---- */

int flux_job_id_encode(flux_jobid_t id, const char *kind, char *buf, size_t size)
{
    (void)kind;
    snprintf(buf, size, "f%ju", (uintmax_t)id);
    return 0;
}

int flux_job_kvs_key(char *buf, int size, flux_jobid_t id, const char *name)
{
    return snprintf(buf, (size_t)size, "job.%ju.%s", (uintmax_t)id, name);
}

flux_future_t *flux_job_raise(flux_t *h, flux_jobid_t id, const char *type, int severity, const char *note)
{
    (void)note;
    return flux_rpc_pack(h, "job-manager.raise", 0, 0, "{s:I s:s s:i}", "id", id, "type", type, "severity", severity);
}

flux_future_t *flux_kvs_lookup(flux_t *h, const char *ns, int flags, const char *key)
{
    (void)ns;
    return flux_rpc(h, "kvs.lookup", key, 0, flags);
}

int flux_kvs_lookup_get(flux_future_t *f, const char **text)
{
    if (flux_future_get(f, NULL) < 0)
        return -1;
    *text = f->current->text;
    return 0;
}

struct flux_kvs_txn {
    char *text; /* "KEY=VALUE" of the last change */
};

flux_kvs_txn_t *flux_kvs_txn_create(void)
{
    return calloc(1, sizeof(flux_kvs_txn_t));
}

void flux_kvs_txn_destroy(flux_kvs_txn_t *txn)
{
    if (txn)
        free(txn->text);
    free(txn);
}

int flux_kvs_txn_put(flux_kvs_txn_t *txn, int flags, const char *key, const char *text)
{
    (void)flags;
    free(txn->text);
    return asprintf(&txn->text, "%s=%s", key, text) < 0 ? -1 : 0; /* made in the worker, read in the reactor */
}

int flux_kvs_txn_put_treeobj(flux_kvs_txn_t *txn, int flags, const char *key, const char *text)
{
    return flux_kvs_txn_put(txn, flags, key, text);
}

flux_future_t *flux_kvs_commit(flux_t *h, const char *ns, int flags, flux_kvs_txn_t *txn)
{
    (void)ns;
    return flux_rpc(h, "kvs.commit", txn->text, 0, flags);
}

/* ---- handle, configuration, log ---- */

const char *flux_attr_get(flux_t *h, const char *name)
{
    (void)h, (void)name;
    return "sha1";
}

int flux_module_set_running(flux_t *h)
{
    (void)h;
    return 0;
}

static flux_conf_t *new_conf(const char *text)
{
    flux_conf_t *c = calloc(1, sizeof *c);

    c->root = json_loads(text, 0, NULL);
    return c;
}

/* The configuration of the handle stays for the life of the process. */
const flux_conf_t *flux_get_conf(flux_t *h)
{
    static flux_conf_t *kept;

    if (!kept)
        kept = new_conf(h->broker->config);
    return kept;
}

int flux_conf_unpack(const flux_conf_t *conf, flux_error_t *error, const char *format, ...)
{
    va_list ap;
    int rc;

    error->text[0] = '\0';
    va_start(ap, format);
    rc = json_vunpack_ex(conf->root, NULL, 0, format, ap);
    va_end(ap);
    return rc;
}

void flux_conf_decref(const flux_conf_t *conf)
{
    flux_conf_t *c = (flux_conf_t *)conf;

    json_decref(c->root);
    free(c);
}

int flux_module_config_request_decode(const flux_msg_t *msg, flux_conf_t **conf)
{
    *conf = new_conf(msg->text);
    return 0;
}

void flux_log(flux_t *h, int level, const char *format, ...)
{
    va_list ap;

    h->broker->logged++;
    if (!h->broker->verbose)
        return;
    fprintf(stderr, "log %d: ", level);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

void flux_log_error(flux_t *h, const char *format, ...)
{
    va_list ap;

    h->broker->logged++;
    fprintf(stderr, "%s: ", strerror(errno));
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* ---- reactor ---- */

flux_reactor_t *flux_get_reactor(flux_t *h)
{
    return &h->reactor;
}

void flux_reactor_stop(flux_reactor_t *r)
{
    r->stop = true;
}

void flux_reactor_stop_error(flux_reactor_t *r)
{
    r->stop = r->failed = true;
}

static flux_watcher_t *new_watcher(flux_reactor_t *r, flux_watcher_t given)
{
    flux_watcher_t *w = malloc(sizeof *w);

    *w = given;
    w->r = r;
    w->next = r->watchers;
    r->watchers = w;
    return w;
}

flux_watcher_t *flux_fd_watcher_create(flux_reactor_t *r, int fd, int events, flux_watcher_f f, void *arg)
{
    (void)events;
    return new_watcher(r, (flux_watcher_t){.kind = ON_FD, .fd = fd, .f = f, .arg = arg});
}

flux_watcher_t *flux_timer_watcher_create(flux_reactor_t *r, double after, double repeat, flux_watcher_f f, void *arg)
{
    (void)repeat;
    return new_watcher(r, (flux_watcher_t){.kind = ON_TIMER, .at = now() + after, .f = f, .arg = arg});
}

flux_watcher_t *flux_prepare_watcher_create(flux_reactor_t *r, flux_watcher_f f, void *arg)
{
    return new_watcher(r, (flux_watcher_t){.kind = ON_PREPARE, .f = f, .arg = arg});
}

flux_watcher_t *flux_check_watcher_create(flux_reactor_t *r, flux_watcher_f f, void *arg)
{
    return new_watcher(r, (flux_watcher_t){.kind = ON_CHECK, .f = f, .arg = arg});
}

void flux_watcher_set_priority(flux_watcher_t *w, int priority)
{
    (void)w, (void)priority;
}

void flux_watcher_start(flux_watcher_t *w)
{
    w->on = true;
}

void flux_watcher_destroy(flux_watcher_t *w)
{
    if (w)
        w->dead = true; /* freed between two turns */
}

static void bury(flux_reactor_t *r)
{
    flux_watcher_t **at = &r->watchers, *w;

    while ((w = *at)) {
        if (w->dead) {
            *at = w->next;
            free(w);
        } else
            at = &w->next;
    }
}

/* Calls the watchers of a kind that are due. */
static void call_watchers(flux_reactor_t *r, enum kind kind)
{
    for (flux_watcher_t *w = r->watchers; w; w = w->next) {
        struct pollfd p = {.fd = w->fd, .events = POLLIN};
        bool due = w->on && !w->dead && w->kind == kind;

        if (due && kind == ON_FD)
            due = poll(&p, 1, 0) > 0;
        if (due && kind == ON_TIMER) {
            due = now() >= w->at;
            w->on = !due;
        }
        if (due)
            w->f(r, w, FLUX_POLLIN, w->arg);
    }
}

/* Sleeps until a watched file is readable, a millisecond at most. */
static void rest(flux_reactor_t *r)
{
    struct pollfd p[64];
    nfds_t n = 0;

    for (flux_watcher_t *w = r->watchers; w && n < 64; w = w->next)
        if (w->on && !w->dead && w->kind == ON_FD)
            p[n++] = (struct pollfd){.fd = w->fd, .events = POLLIN};
    poll(p, n, 1);
}

/* Runs the continuation of one future with an answer. Returns whether there was one. */
static bool continue_one(flux_t *h)
{
    flux_future_t *f = h->futures;

    while (f && !(f->then && !f->current && f->queue))
        f = f->next;
    if (!f)
        return false;
    f->current = next_msg(&f->queue, &f->queue_end);
    f->then(f, f->arg);
    return true;
}

static void take_turn(flux_t *h)
{
    flux_msg_t *m;
    int n = 0;

    call_watchers(&h->reactor, ON_PREPARE);
    if (!h->requests)
        rest(&h->reactor);
    call_watchers(&h->reactor, ON_CHECK);
    call_watchers(&h->reactor, ON_FD);
    call_watchers(&h->reactor, ON_TIMER);
    while (n++ < 16 && continue_one(h))
        continue;
    m = next_msg(&h->requests, &h->requests_end);
    if (m)
        handle(h, m);
    flux_msg_decref(m);
    bury(&h->reactor);
}

int flux_reactor_run(flux_reactor_t *r, int flags)
{
    flux_t *h = r->h;

    (void)flags;
    while (!r->stop) {
        h->broker->turns++;
        if (!h->broker->turn(h->broker))
            break;
        take_turn(h);
    }
    return r->failed ? -1 : 0;
}

flux_t *fake_open(struct fake_broker *b)
{
    flux_t *h = calloc(1, sizeof *h);

    h->broker = b;
    h->reactor.h = h;
    h->requests_end = &h->requests;
    return h;
}

void fake_close(flux_t *h)
{
    flux_msg_t *m;

    while ((m = next_msg(&h->requests, &h->requests_end)))
        flux_msg_decref(m);
    while (h->futures)
        flux_future_destroy(h->futures);
    bury(&h->reactor);
    free(h);
}
