/* sched.h - sched-weir: weir as the scheduler of a Flux instance. The C side carries messages: each becomes a call of the service
 * (lua/weir/flux/service.lua), which answers through the functions of answers.c. Invariant: Lua runs under lua_pcall only. */
#ifndef SCHED_WEIR_H
#define SCHED_WEIR_H

#include <flux/core.h>
#include <flux/schedutil.h>
#include <lua.h>
#include <stdbool.h>

struct sched {
    flux_t *h;
    lua_State *L;
    schedutil_t *util;
    flux_msg_handler_t **handlers;
    flux_future_t *acquire;
    struct loop {
        flux_watcher_t *prepare, *check, *idle, *timer;
        bool wanted; /* schedule is to be called */
    } loop;
    struct child *children; /* snapshots that somebody waits for */
};

/* What a call of the service gave. `text` belongs to the caller of sched_call: sched_reply_clear. */
struct reply {
    bool ok;       /* the first result is neither nil nor false */
    char *text;    /* the first result, where it is a text; else the second, where that is one; or NULL */
    double number; /* the first result, where it is a number */
    int errnum;    /* by the third result, where it is not ok */
};

/* ---- lua.c ---- */

/* Opens the state and the service. 0, or -1 with errno set, and logged. */
int sched_lua_open(struct sched *s, int argc, char **argv, const char *config);
void sched_lua_close(struct sched *s);
/* service:method(a, b); NULLs are nil. False: it raised, which is logged; the reactor is stopped, as nothing is known any more. */
bool sched_call(struct sched *s, const char *method, const char *a, const char *b, struct reply *r);
void sched_reply_clear(struct reply *r);

/* ---- answers.c ---- */

/* Pushes the table of functions that the service answers by. */
void sched_push_answers(lua_State *L, struct sched *s);
/* Keeps an alloc request until it is answered. 0 or -1. */
int sched_keep(struct sched *s, flux_jobid_t id, const flux_msg_t *msg);

/* ---- requests.c ---- */

extern const struct schedutil_ops sched_ops;
int sched_requests_open(struct sched *s);
void sched_requests_close(struct sched *s);
/* The tables of the configuration that count, as JSON text to be freed; NULL: errno is set. */
char *sched_config(const flux_conf_t *conf);

/* ---- loop.c ---- */

int sched_loop_open(struct sched *s);
void sched_loop_close(struct sched *s);
/* Something happened. */
void sched_loop_want(struct sched *s);

/* ---- child.c ---- */

/* Answers a request with what service:method(text, user) returns, {"text": ...}, computed on a copy of this process. */
void sched_child(struct sched *s, const flux_msg_t *msg, const char *method, const char *text, const char *user);
/* Has service:reason(job) computed likewise; service:told gets it. */
void sched_explain(struct sched *s, flux_jobid_t id);
void sched_children_close(struct sched *s);

#endif
