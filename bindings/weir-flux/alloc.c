/* alloc.c - gives a job resources: commits R to the KVS, then answers the request (RFC 27). The steps are those of
 * libflux-schedutil, divided between the threads: R may be large when R contains a graph, so the worker makes all texts
 * and the reactor only sends texts. A large R is stored in the content store unchanged (RFC 10), and the KVS gets a
 * reference (RFC 11). */
#include "sched.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE ((size_t)1 << 20) /* bytes: a larger text makes a transaction slow */
#define HASH  64                /* bytes of the longest hash */

struct alloc {
    struct delivery item;
    struct alloc *next, **at; /* in the list of answers under commit */
    struct sched *sched;
    flux_jobid_t id;
    uint64_t serial;
    flux_kvs_txn_t *txn;
    char *R; /* a large R that is not in txn yet */
    char *answer;
    const flux_msg_t *msg;
    flux_future_t *f;
};

static void destroy(struct alloc *a)
{
    if (!a)
        return;
    if (a->at) {
        *a->at = a->next;
        if (a->next)
            a->next->at = a->at;
    }
    flux_future_destroy(a->f);
    flux_kvs_txn_destroy(a->txn);
    flux_msg_decref(a->msg);
    free(a->R);
    free(a->answer);
    free(a);
}

/* ---- in the reactor's thread ---- */

static void on_committed(flux_future_t *f, void *arg)
{
    struct alloc *a = arg;
    struct sched *s = a->sched;

    sched_mark(s, "answer with R");
    if (flux_future_get(f, NULL) < 0 || flux_respond(s->h, a->msg, a->answer) < 0)
        sched_fail(s, "alloc: R", future_strerror(f, errno));
    destroy(a);
}

/* Replaces the future being waited for by the next step's. */
static void follow(struct alloc *a, flux_future_t *f, flux_continuation_f then)
{
    flux_future_destroy(a->f);
    a->f = f;
    if (f && flux_future_then(f, -1, then, a) == 0)
        return;
    sched_fail(a->sched, "alloc", strerror(errno));
    destroy(a);
}

static void commit(struct alloc *a)
{
    sched_mark(a->sched, "commit of R");
    follow(a, flux_kvs_commit(a->sched->h, NULL, 0, a->txn), on_committed);
}

/* Adds a reference to the stored content to the transaction. */
static int refer(struct alloc *a, const unsigned char *hash, size_t len)
{
    char key[64], hex[2 * HASH + 1] = "", text[3 * HASH + 64];

    if (len > HASH) {
        errno = EPROTO;
        return -1;
    }
    for (size_t i = 0; i < len; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    snprintf(text, sizeof text, "{\"ver\":1,\"type\":\"valref\",\"data\":[\"%s-%s\"]}", a->sched->hash, hex);
    if (flux_job_kvs_key(key, sizeof key, a->id, "R") < 0)
        return -1;
    return flux_kvs_txn_put_treeobj(a->txn, 0, key, text);
}

static void on_stored(flux_future_t *f, void *arg)
{
    struct alloc *a = arg;
    const void *hash;
    size_t len;

    if (flux_rpc_get_raw(f, &hash, &len) == 0 && refer(a, hash, len) == 0) {
        commit(a);
        return;
    }
    sched_fail(a->sched, "alloc: R cannot be stored", future_strerror(f, errno));
    destroy(a);
}

/* Starts the commit. A missing request was cancelled, and the worker knows by now, or will know. */
static void deliver(struct sched *s, struct delivery *item)
{
    struct alloc *a = (struct alloc *)item;
    flux_future_t *stored;

    a->msg = s ? sched_request(s, a->id, a->serial, true) : NULL;
    if (!a->msg) {
        destroy(a);
        return;
    }
    a->sched = s;
    a->next = s->allocs;
    a->at = &s->allocs;
    s->allocs = a;
    if (a->next)
        a->next->at = &a->next;
    if (!a->R) {
        commit(a);
        return;
    }
    sched_mark(s, "storing R");
    stored = flux_rpc_raw(s->h, "content.store", a->R, strlen(a->R), FLUX_NODEID_ANY, 0);
    free(a->R);
    a->R = NULL;
    follow(a, stored, on_stored);
}

void sched_allocs_close(struct sched *s)
{
    while (s->allocs)
        destroy(s->allocs);
}

/* ---- in the worker ---- */

/* Returns R without the properties local to the instance (RFC 20), to be freed; NULL without memory. */
static char *without_local(const char *R)
{
    json_t *o, *properties, *value;
    const char *name;
    void *next;
    char *text;

    if (!strstr(R, "\"+"))
        return strdup(R);
    o = json_loads(R, 0, NULL);
    properties = json_object_get(json_object_get(o, "execution"), "properties");
    json_object_foreach_safe(properties, next, name, value)
    {
        if (name[0] == '+')
            json_object_del(properties, name);
    }
    if (properties && json_object_size(properties) == 0)
        json_object_del(json_object_get(o, "execution"), "properties");
    text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return text;
}

/* Puts R into the transaction, or keeps R to be stored before. Returns false without memory. */
static bool put(struct alloc *a, char *R)
{
    char key[64];

    if (strlen(R) > LARGE)
        a->R = R;
    return a->R || (flux_job_kvs_key(key, sizeof key, a->id, "R") >= 0 && flux_kvs_txn_put(a->txn, 0, key, R) == 0);
}

struct delivery *sched_alloc(flux_jobid_t id, uint64_t serial, const char *R, const char *notes)
{
    struct alloc *a = calloc(1, sizeof *a);
    char *own = a ? without_local(R) : NULL;
    bool ok;

    if (a)
        a->id = id;
    ok = own && (a->txn = flux_kvs_txn_create()) && put(a, own) &&
         asprintf(&a->answer, "{\"id\":%ju,\"type\":%d,\"annotations\":%s,\"R\":%s}", (uintmax_t)id,
                  FLUX_SCHED_ALLOC_SUCCESS, notes, own) >= 0;

    if (!a || a->R != own)
        free(own);
    if (!ok) {
        if (a)
            a->answer = NULL; /* asprintf leaves the pointer undefined */
        destroy(a);
        return NULL;
    }
    a->item.deliver = deliver;
    a->serial = serial;
    return &a->item;
}
