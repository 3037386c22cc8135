/* sched.h - sched-weir: weir as the scheduler of a Flux instance, in two threads. The module's thread (the reactor) has
 * the Flux handle: it receives messages and sends answers, and never computes for long. The worker's thread has the Lua
 * state with engine and policies: there each message becomes a call of the service (weir.flux.service), and
 * each answer of the service (answers.c) becomes an action for the reactor. The threads share two queues (worker.c) and
 * nothing else. */
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

/* An item sent by the worker to the reactor. deliver() runs in the reactor's thread and frees the item. When the module
 * ends, `s` is NULL, and deliver() only frees. */
struct delivery {
    struct delivery *next;
    void (*deliver)(struct sched *s, struct delivery *item);
};

/* The result of a call of the service. */
struct reply {
    bool ok;       /* the first result is neither nil nor false */
    bool failed;   /* the call raised: the state of the service is unknown */
    char *text;    /* the first result if a string, else the second if a string, else NULL */
    double number; /* the first result if a number */
    int errnum;    /* from the third result, unless ok */
};

/* A call of the service, from the reactor to the worker and back. A string passed as argument belongs to `msg` or
 * `own`. */
struct call {
    struct delivery item;
    struct call *next;
    const char *method, *args[3]; /* NULLs are nil */
    flux_jobid_t id;
    uint64_t serial; /* of the current request of job `id`; 0: the job has no request */
    bool numbered;   /* `serial` holds from the call on */
    bool quiet;      /* the call makes no new work */
    bool early;      /* do not wait for the first resources */
    bool snapshot;   /* run in a forked copy; the reply is a pipe `fd` and a `pidfd` */
    int fd, pidfd;
    const flux_msg_t *msg; /* kept for the answer; or NULL */
    char *own;             /* a string owned by the call; or NULL */
    void *arg;
    /* Called in the reactor's thread, before the call is destroyed; `s` is NULL when the module ends. */
    void (*done)(struct sched *s, struct call *c);
    struct reply reply;
};

struct sched {
    flux_t *h;
    struct worker *worker;
    schedutil_t *util;
    flux_msg_handler_t **handlers;
    flux_future_t *acquire, *hello, *ready;
    bool acquired;
    struct call *held;          /* calls waiting for `acquired`, last call first */
    bool all_told;              /* hello has ended */
    struct greeting *greetings; /* running jobs being looked up */
    struct raised *raised;      /* unconfirmed exceptions */
    struct alloc *allocs;       /* answers whose R is being committed */
    const char *hash;           /* name of the instance's hash of content */
    struct pending {            /* see pending.c */
        struct pending_request **lists;
        size_t size, count;
        uint64_t serials;
    } pending;
    struct child *children; /* forked copies with an answer awaited */
    char *states;           /* the states of policies as they are in the key-value store; NULL: none */
    struct meter {
        flux_watcher_t *prepare, *check;
        double began, cpu, part_began, part_longest, longest, longest_cpu;
        const char *doing, *part_of, *longest_of;
    } meter;
};

/* Logs the failure of `what`, and stops the reactor. */
void sched_fail(struct sched *s, const char *what, const char *why);

/* ---- worker.c ---- */

/* The worker: the state of the worker's thread, and the data shared with the reactor. */
struct worker {
    lua_State *L;
    flux_watcher_t *watcher; /* of `fd`, in the reactor */
    pthread_t thread;
    bool running;
    int fd; /* an eventfd: readable while items wait */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* under the lock: */
    struct call *calls, **calls_end;
    struct delivery *items, **items_end;
    bool stop;
    struct doing {
        const char *now, *longest_of; /* methods; now is NULL while idle */
        double since, longest;
        double cpu[2]; /* user and system seconds of the thread, at the last turn */
        char *stats;   /* counts of the service at `stats_at`; or NULL */
        double stats_at;
    } seen;
    /* used by the worker's thread only: */
    struct delivery failure; /* sent once */
    char *why;
    bool child; /* the process is a forked copy: send nothing */
    /* set before the thread starts: */
    bool starting;      /* the instance is starting: a module that fails to load ends the instance */
    const char *states; /* of policies, to begin with; or NULL */
};

/* Opens the Lua state and starts the thread. starting: the instance is starting, and what cannot be used is left out
 * rather than refused. Returns 0, or -1 with errno set and the reason logged. */
int sched_worker_open(struct sched *s, int argc, char **argv, const char *config, bool starting);
/* Interrupts the worker, and waits for the end of the thread. */
void sched_worker_stop(struct sched *s);
/* Stops the worker, if that is not done yet, and closes the Lua state. */
void sched_worker_close(struct sched *s);
/* Sends a copy of *c to the worker, with a reference to the msg. Returns false with errno set without memory. */
bool sched_post(struct sched *s, const struct call *c);
/* Releases the calls held until the first resources were known, in order. */
void sched_acquired(struct sched *s);
/* Sends an item to the reactor. Called by the worker. */
void sched_send(struct worker *w, struct delivery *item);
/* Returns the seconds of a monotonic clock. */
double sched_clock(void);
/* Stores the user and system seconds of the calling thread. */
void sched_cpu(double cpu[2]);

/* ---- lua.c: for the worker ---- */

/* The start of the Lua state: module.open is called with the values that push(L, arg) pushes; push returns their
 * number. */
struct sched_opening {
    const char *module;
    int (*push)(lua_State *L, void *arg);
    void *arg;
};

/* Opens a Lua state and the service. On failure returns NULL, with a message for the caller to free in *why. */
lua_State *sched_lua_open(struct sched_opening *o, char **why);
/* Calls service:method(a, b, c). The caller owns `text` of the reply: sched_reply_clear(). */
void sched_call(lua_State *L, const char *method, const char *const args[3], struct reply *r);
void sched_reply_clear(struct reply *r);

/* ---- answers.c: for the worker, except for delivery ---- */

/* Pushes the table of the functions that the service answers with. */
void sched_push_answers(lua_State *L, struct worker *w);
/* Sets the number of the request that later answers to a job are for; 0: the job has no request. Returns false without
 * memory. */
bool sched_number(lua_State *L, flux_jobid_t id, uint64_t serial);

/* ---- alloc.c ---- */

/* Returns the item that answers the request of a job with R and annotations (both JSON), or NULL without memory. Called
 * by the worker. */
struct delivery *sched_alloc(flux_jobid_t id, uint64_t serial, const char *R, const char *notes);
void sched_allocs_close(struct sched *s);

/* ---- pending.c ---- */

/* Keeps an alloc request until the last answer. Returns the number of the request, or 0 without memory. */
uint64_t sched_keep(struct sched *s, flux_jobid_t id, const flux_msg_t *msg);
/* Returns the request of a job with a number (0: any number), or NULL. With `last` the request is removed, and the
 * caller owns the message. */
const flux_msg_t *sched_request(struct sched *s, flux_jobid_t id, uint64_t serial, bool last);
void sched_pending_clear(struct sched *s);

/* ---- requests.c, stats.c ---- */

extern const struct schedutil_ops sched_ops;
int sched_requests_open(struct sched *s);
void sched_requests_close(struct sched *s);
/* Returns the tables of the configuration that weir reads, as JSON text for the caller to free; NULL with errno set on
 * failure. */
char *sched_config(const flux_conf_t *conf);
void sched_respond_error(struct sched *s, const flux_msg_t *msg, int errnum, const char *text);
void sched_on_stats(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);
void sched_on_stats_clear(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);

/* ---- hello.c ---- */

/* Requests the running jobs from the job manager, and announces afterwards that the scheduler is ready. Returns 0, or
 * -1 with the reason logged. */
int sched_hello(struct sched *s);
void sched_hello_close(struct sched *s);
/* Raises an exception on a job. With `tell`, a failure to do so is reported to the service as "spared". */
void sched_raise(struct sched *s, flux_jobid_t id, const char *type, const char *note, bool tell);

/* ---- child.c ---- */

/* Answers a request with the result of service:method(text, more), computed in a forked copy: {"text": ...}, or with
 * `whole` the result itself, which is JSON; or raw pieces for a streaming request. */
void sched_child(struct sched *s, const flux_msg_t *msg, const char *method, const char *text, const char *more,
                 bool whole);
/* Computes service:reason(job) in a forked copy, and passes the result to service:set_reason. */
void sched_explain(struct sched *s, flux_jobid_t id);
/* Forks the copy. errnum of the reply is set on failure. Called by the worker. */
void sched_child_start(struct worker *w, struct call *c);
/* Ends the copies whose answers were for the sender of a disconnect. */
void sched_children_disconnect(struct sched *s, const flux_msg_t *msg);
void sched_children_close(struct sched *s);

/* ---- match_multi.c ---- */

void sched_on_match_multi(flux_t *h, flux_msg_handler_t *mh, const flux_msg_t *msg, void *arg);

/* ---- states.c ---- */

/* Reads s->states. Waits for the store. */
void sched_states_read(struct sched *s);
/* Saves the states of policies, a JSON text. Does not wait. */
void sched_states_keep(struct sched *s, const char *text);
/* Saves the states that the service has now, if these differ, and frees s->states. To be called when the thread of the
 * worker has ended; waits for the store. */
void sched_states_close(struct sched *s);

/* ---- meter.c ---- */

int sched_meter_open(struct sched *s);
void sched_meter_close(struct sched *s);
/* Sets the name of the work that the reactor begins. */
void sched_mark(struct sched *s, const char *what);

#endif
