/* sched.h - sched-weir: weir as the scheduler of a Flux instance, in two threads. That of the module has the handle of Flux and all
 * that hangs on it: it takes messages and sends answers, and never works on anything for long. The worker has the Lua state with
 * the engine and the policies: each message becomes a call of the service (lua/weir/flux/service.lua) there, and what the service
 * answers by (answers.c) becomes an action here. Between them: two queues (worker.c), and nothing else. */
#ifndef SCHED_WEIR_H
#define SCHED_WEIR_H

#include <flux/core.h>
#include <flux/schedutil.h>
#include <lua.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct sched;
struct worker;

/* What the worker has for the reactor: deliver() is called in the reactor's thread, unless `s` is NULL: the module ends, and the item
 * only has to go. It frees the item. */
struct item {
    struct item *next;
    void (*deliver)(struct sched *s, struct item *item);
};

/* What a call of the service gave. */
struct reply {
    bool ok;       /* the first result is neither nil nor false */
    bool failed;   /* it raised: nothing is known any more */
    char *text;    /* the first result, where it is a text; else the second, where that is one; or NULL */
    double number; /* the first result, where it is a number */
    int errnum;    /* by the third result, where it is not ok */
};

/* A call of the service, from the reactor to the worker and back. Its texts live as long as what it keeps. */
struct call {
    struct item item;
    struct call *next;
    const char *method, *args[3]; /* NULLs are nil */
    flux_jobid_t id;
    uint64_t serial;              /* of the request of that job, */
    bool numbered;                /* ... which counts from this call on; 0: it has none any more */
    bool quiet;                   /* it gives no new work */
    bool early;                   /* it does not wait until there is a machine */
    bool snapshot;                /* on a copy of this process; the reply: its pipe, in `fd`, and `pidfd` */
    int fd, pidfd;
    const flux_msg_t *msg;        /* kept for the answer; or NULL */
    char *own;                    /* a text of its own; or NULL */
    void *arg;
    void (*done)(struct sched *s, struct call *c); /* in the reactor's thread, before it is destroyed; s NULL: the module ends */
    struct reply reply;
};

struct sched {
    flux_t *h;
    struct worker *worker;
    schedutil_t *util;
    flux_msg_handler_t **handlers;
    flux_future_t *acquire, *hello, *ready;
    bool acquired;
    struct call *held;          /* until then, the last one first */
    bool all_told;              /* hello has ended */
    struct greeting *greetings; /* jobs that are looked up */
    struct raised *raised;      /* exceptions that are not confirmed */
    struct alloc *allocs;       /* answers whose R is being committed */
    const char *hash;           /* how content is named in this instance */
    struct pending { /* see pending.c */
        struct request **lists;
        size_t size, count;
        uint64_t serials;
    } pending;
    struct child *children; /* snapshots that somebody waits for */
    struct meter {
        flux_watcher_t *prepare, *check;
        double began, cpu, part_began, part_longest, longest, longest_cpu;
        const char *doing, *part_of, *longest_of;
    } meter;
};

/* Logs what has failed, and stops the reactor. */
void sched_fail(struct sched *s, const char *what, const char *why);

/* ---- worker.c ---- */

/* The worker's side of things, and what both see of it. */
struct worker {
    lua_State *L;
    flux_watcher_t *watcher; /* the reactor's: of `fd` */
    pthread_t thread;
    bool running;
    int fd; /* an eventfd: there are items */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* under the lock: */
    struct call *calls, **calls_end;
    struct item *items, **items_end;
    bool stop;
    struct doing {
        const char *now, *longest_of; /* methods; now: NULL when it does nothing */
        double since, longest;
        double cpu[2];                /* user and system seconds of the thread, as they were at the last turn */
        char *stats;                  /* numbers of the service, as they were at `stats_at`; or NULL */
        double stats_at;
    } seen;
    /* the worker's: */
    struct item failure; /* sent once */
    char *why;
    bool child; /* this is a copy of the process: it sends nothing */
};

/* Opens the state and starts the thread. 0, or -1 with errno set, and logged. */
int sched_worker_open(struct sched *s, int argc, char **argv, const char *config);
/* Ends what it does, and waits until it has. */
void sched_worker_close(struct sched *s);
/* Sends a copy of *c; keeps its msg. False: there is no memory, and errno is set. */
bool sched_post(struct sched *s, const struct call *c);
/* There is a machine now: calls that were held go, in their order. */
void sched_acquired(struct sched *s);
/* Sends an item to the reactor. */
void sched_send(struct worker *w, struct item *item);
/* Seconds of a clock that goes on steadily. */
double sched_clock(void);
/* User and system seconds of the thread that calls it. */
void sched_cpu(double cpu[2]);

/* ---- lua.c: the worker's ---- */

/* Opens the state and the service; on error the text of it, to be freed, is in *why. */
lua_State *sched_lua_open(struct worker *w, int argc, char **argv, const char *config, char **why);
/* service:method(a, b, c). `text` of the reply belongs to the caller: sched_reply_clear. */
void sched_call(lua_State *L, const char *method, const char *const args[3], struct reply *r);
void sched_reply_clear(struct reply *r);

/* ---- answers.c: the worker's, but for what is delivered ---- */

/* Pushes the table of functions that the service answers by. */
void sched_push_answers(lua_State *L, struct worker *w);
/* From now on answers to a job are to its request of this number; 0: it has none. False: there is no memory. */
bool sched_number(lua_State *L, flux_jobid_t id, uint64_t serial);

/* ---- alloc.c ---- */

/* In the worker: what gives R to the request of a job, with annotations (JSON texts both); NULL: there is no memory. */
struct item *sched_alloc(flux_jobid_t id, uint64_t serial, const char *R, const char *notes);
void sched_allocs_close(struct sched *s);

/* ---- pending.c ---- */

/* Keeps an alloc request until it has its last answer; its number, or 0. */
uint64_t sched_keep(struct sched *s, flux_jobid_t id, const flux_msg_t *msg);
/* The request of a job with that number (0: any), or NULL; `last`: it is not kept any longer, and the caller gives it back. */
const flux_msg_t *sched_request(struct sched *s, flux_jobid_t id, uint64_t serial, bool last);
void sched_pending_clear(struct sched *s);

/* ---- requests.c, stats.c ---- */

extern const struct schedutil_ops sched_ops;
int sched_requests_open(struct sched *s);
void sched_requests_close(struct sched *s);
/* The tables of the configuration that count, as JSON text to be freed; NULL: errno is set. */
char *sched_config(const flux_conf_t *conf);
void sched_respond_error(struct sched *s, const flux_msg_t *msg, int errnum, const char *text);
void sched_on_stats(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void sched_on_stats_clear(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);

/* ---- hello.c ---- */

/* Asks for the jobs that run; then says that it is ready. 0, or -1, and it is logged. */
int sched_hello(struct sched *s);
void sched_hello_close(struct sched *s);
/* Raises an exception on a job; answers "spared" to the worker where that is refused, if told to. */
void sched_raise(struct sched *s, flux_jobid_t id, const char *type, const char *note, bool tell);

/* ---- child.c ---- */

/* Answers a request with what service:method(text, more) returns, computed on a copy of this process: {"text": ...}, or, where
 * the request is a streaming one, in raw pieces. */
void sched_child(struct sched *s, const flux_msg_t *msg, const char *method, const char *text, const char *more);
/* Has service:reason(job) computed likewise; service:told gets it. */
void sched_explain(struct sched *s, flux_jobid_t id);
/* In the worker: starts the copy. The reply has its errnum. */
void sched_child_start(struct worker *w, struct call *c);
/* Those who asked are gone. */
void sched_children_disconnect(struct sched *s, const flux_msg_t *msg);
void sched_children_close(struct sched *s);

/* ---- meter.c ---- */

int sched_meter_open(struct sched *s);
void sched_meter_close(struct sched *s);
/* What the reactor does from here on. */
void sched_mark(struct sched *s, const char *what);

#endif
