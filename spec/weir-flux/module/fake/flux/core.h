/* core.h - what of flux-core the module uses, for a build without Flux: the functions of fake_flux.c stand in for the
 * broker. Signatures as in flux-core; a comment says what the fake leaves out. */
#ifndef FAKE_FLUX_CORE_H
#define FAKE_FLUX_CORE_H

#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct flux_handle flux_t;
typedef struct flux_msg flux_msg_t;
typedef struct flux_future flux_future_t;
typedef struct flux_reactor flux_reactor_t;
typedef struct flux_watcher flux_watcher_t;
typedef struct flux_msg_handler flux_msg_handler_t;
typedef struct flux_conf flux_conf_t;
typedef struct flux_kvs_txn flux_kvs_txn_t;
typedef uint64_t flux_jobid_t;
typedef struct {
    char text[160];
} flux_error_t;
struct flux_msg_cred {
    uint32_t userid, rolemask;
};

enum { FLUX_ROLE_OWNER = 1, FLUX_ROLE_USER = 2 };
enum { FLUX_MSGTYPE_REQUEST = 1 };
enum { FLUX_RPC_STREAMING = 2 };
enum { FLUX_SCHED_ALLOC_SUCCESS, FLUX_SCHED_ALLOC_ANNOTATE, FLUX_SCHED_ALLOC_DENY, FLUX_SCHED_ALLOC_CANCEL };
#define FLUX_NODEID_ANY 0xffffffffU
#define FLUX_POLLIN     1

/* ---- messages ---- */

const flux_msg_t *flux_msg_incref(const flux_msg_t *msg);
void flux_msg_decref(const flux_msg_t *msg);
bool flux_msg_is_streaming(const flux_msg_t *msg);
int flux_msg_get_cred(const flux_msg_t *msg, struct flux_msg_cred *cred);
int flux_msg_unpack(const flux_msg_t *msg, const char *format, ...);
int flux_request_decode(const flux_msg_t *msg, const char **topic, const char **text);
int flux_request_unpack(const flux_msg_t *msg, const char **topic, const char *format, ...);
int flux_response_decode(const flux_msg_t *msg, const char **topic, const char **text);
bool flux_disconnect_match(const flux_msg_t *a, const flux_msg_t *b);
int flux_respond(flux_t *h, const flux_msg_t *msg, const char *text);
int flux_respond_pack(flux_t *h, const flux_msg_t *msg, const char *format, ...);
int flux_respond_raw(flux_t *h, const flux_msg_t *msg, const void *data, int len);
int flux_respond_error(flux_t *h, const flux_msg_t *msg, int errnum, const char *text);

typedef void (*flux_msg_handler_f)(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
struct flux_msg_handler_spec {
    int typemask;
    const char *topic_glob; /* "*" at the end or before the last dot */
    flux_msg_handler_f cb;
    uint32_t rolemask;
};
#define FLUX_MSGHANDLER_TABLE_END                                                                                      \
    {                                                                                                                  \
        0, NULL, NULL, 0                                                                                               \
    }
int flux_msg_handler_addvec(flux_t *h, const struct flux_msg_handler_spec table[], void *arg,
                            flux_msg_handler_t ***handlers);
void flux_msg_handler_delvec(flux_msg_handler_t **handlers);

/* ---- futures ---- */

typedef void (*flux_continuation_f)(flux_future_t *f, void *arg);
void flux_future_destroy(flux_future_t *f);
int flux_future_then(flux_future_t *f, double timeout, flux_continuation_f then, void *arg);
int flux_future_get(flux_future_t *f, const void **result);
int flux_future_wait_for(flux_future_t *f, double timeout);
void flux_future_reset(flux_future_t *f);
const char *future_strerror(flux_future_t *f, int errnum);
flux_future_t *flux_rpc(flux_t *h, const char *topic, const char *text, uint32_t nodeid, int flags);
flux_future_t *flux_rpc_pack(flux_t *h, const char *topic, uint32_t nodeid, int flags, const char *format, ...);
flux_future_t *flux_rpc_raw(flux_t *h, const char *topic, const void *data, size_t len, uint32_t nodeid, int flags);
int flux_rpc_get_unpack(flux_future_t *f, const char *format, ...);
int flux_rpc_get_raw(flux_future_t *f, const void **data, size_t *len);
flux_future_t *flux_service_register(flux_t *h, const char *name);

/* ---- jobs, KVS ---- */

int flux_job_id_encode(flux_jobid_t id, const char *kind, char *buf, size_t size);
int flux_job_kvs_key(char *buf, int size, flux_jobid_t id, const char *name);
flux_future_t *flux_job_raise(flux_t *h, flux_jobid_t id, const char *type, int severity, const char *note);
flux_future_t *flux_kvs_lookup(flux_t *h, const char *ns, int flags, const char *key);
int flux_kvs_lookup_get(flux_future_t *f, const char **text);
flux_kvs_txn_t *flux_kvs_txn_create(void);
void flux_kvs_txn_destroy(flux_kvs_txn_t *txn);
int flux_kvs_txn_put(flux_kvs_txn_t *txn, int flags, const char *key, const char *text);
int flux_kvs_txn_put_treeobj(flux_kvs_txn_t *txn, int flags, const char *key, const char *text);
flux_future_t *flux_kvs_commit(flux_t *h, const char *ns, int flags, flux_kvs_txn_t *txn);

/* ---- handle, configuration, log ---- */

const char *flux_attr_get(flux_t *h, const char *name);
int flux_module_set_running(flux_t *h);
const flux_conf_t *flux_get_conf(flux_t *h);
int flux_conf_unpack(const flux_conf_t *conf, flux_error_t *error, const char *format, ...);
void flux_conf_decref(const flux_conf_t *conf);
int flux_module_config_request_decode(const flux_msg_t *msg, flux_conf_t **conf);
void flux_log(flux_t *h, int level, const char *format, ...);
void flux_log_error(flux_t *h, const char *format, ...);

/* ---- reactor ---- */

typedef void (*flux_watcher_f)(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg);
flux_reactor_t *flux_get_reactor(flux_t *h);
int flux_reactor_run(flux_reactor_t *r, int flags);
void flux_reactor_stop(flux_reactor_t *r);
void flux_reactor_stop_error(flux_reactor_t *r);
flux_watcher_t *flux_fd_watcher_create(flux_reactor_t *r, int fd, int events, flux_watcher_f f, void *arg);
flux_watcher_t *flux_timer_watcher_create(flux_reactor_t *r, double after, double repeat, flux_watcher_f f, void *arg);
flux_watcher_t *flux_prepare_watcher_create(flux_reactor_t *r, flux_watcher_f f, void *arg);
flux_watcher_t *flux_check_watcher_create(flux_reactor_t *r, flux_watcher_f f, void *arg);
void flux_watcher_set_priority(flux_watcher_t *w, int priority);
void flux_watcher_start(flux_watcher_t *w);
void flux_watcher_destroy(flux_watcher_t *w);

#endif
