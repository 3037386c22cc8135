/* worker.c - the thread that schedules. In turns, the worker runs the calls received, in order, and works for a slice
 * (service:work); without work the worker sleeps. Items for the reactor are announced by an eventfd, and the reactor
 * takes a few milliseconds of items at a time. Invariant: the lock is held only to move pointers; once the thread runs,
 * only the worker uses the Lua state. */
#include "sched.h"
#include "weir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define TURN    0.02  /* seconds of calls before the next slice */
#define PORTION 0.005 /* seconds of items before the reactor handles further watchers */
#define STATS   0.1   /* seconds that published counts may be old during work */

double sched_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void sched_cpu(double cpu[2])
{
    struct rusage use;

    getrusage(RUSAGE_THREAD, &use);
    cpu[0] = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6;
    cpu[1] = (double)use.ru_stime.tv_sec + (double)use.ru_stime.tv_usec / 1e6;
}

/* ---- to the worker ---- */

static void destroy(struct call *c)
{
    sched_reply_clear(&c->reply);
    flux_msg_decref(c->msg);
    free(c->own);
    free(c);
}

/* Passes a finished call back to the sender. */
static void deliver(struct sched *s, struct delivery *item)
{
    struct call *c = (struct call *)item;

    if (s)
        sched_mark(s, c->method);
    if (s && c->reply.failed)
        sched_fail(s, c->method, c->reply.text);
    if (c->done)
        c->done(s, c);
    destroy(c);
}

static void put(struct worker *w, struct call *c)
{
    c->next = NULL;
    pthread_mutex_lock(&w->lock);
    *w->calls_end = c;
    w->calls_end = &c->next;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

bool sched_post(struct sched *s, const struct call *given)
{
    struct call *c = malloc(sizeof *c);

    if (!c)
        return false;
    *c = *given;
    c->item.deliver = deliver;
    flux_msg_incref(c->msg);
    if (s->acquired || c->early) {
        put(s->worker, c);
        return true;
    }
    c->next = s->held;
    s->held = c;
    return true;
}

void sched_acquired(struct sched *s)
{
    struct call *c, *list = NULL;

    s->acquired = true;
    while ((c = s->held)) {
        s->held = c->next;
        c->next = list;
        list = c;
    }
    while ((c = list)) {
        list = c->next;
        put(s->worker, c);
    }
}

/* ---- from the worker ---- */

void sched_send(struct worker *w, struct delivery *item)
{
    uint64_t one = 1;
    bool first;

    if (w->child) {
        item->deliver(NULL, item);
        return;
    }
    item->next = NULL;
    pthread_mutex_lock(&w->lock);
    first = !w->items;
    *w->items_end = item;
    w->items_end = &item->next;
    pthread_mutex_unlock(&w->lock);
    if (first && w->fd >= 0 && write(w->fd, &one, sizeof one) < 0)
        abort(); /* impossible: a counter of 64 bits is full */
}

/* Removes and returns the next item. Without items, resets the eventfd and returns NULL. */
static struct delivery *next_item(struct worker *w)
{
    struct delivery *item;
    uint64_t n;

    pthread_mutex_lock(&w->lock);
    item = w->items;
    if (item)
        w->items = item->next;
    if (!w->items) {
        w->items_end = &w->items;
        (void)!read(w->fd, &n, sizeof n);
    }
    pthread_mutex_unlock(&w->lock);
    return item;
}

static void on_items(flux_reactor_t *r, flux_watcher_t *watcher, int revents, void *arg)
{
    struct sched *s = arg;
    double until = sched_clock() + PORTION;
    struct delivery *item;

    (void)r, (void)watcher, (void)revents;
    do {
        item = next_item(s->worker);
        if (item)
            item->deliver(s, item);
    } while (item && sched_clock() < until);
}

/* ---- the thread ---- */

static void begin(struct worker *w, const char *method)
{
    pthread_mutex_lock(&w->lock);
    w->seen.now = method;
    w->seen.since = sched_clock();
    pthread_mutex_unlock(&w->lock);
}

static void end(struct worker *w)
{
    double now = sched_clock();

    pthread_mutex_lock(&w->lock);
    if (now - w->seen.since > w->seen.longest) {
        w->seen.longest = now - w->seen.since;
        w->seen.longest_of = w->seen.now;
    }
    w->seen.now = NULL;
    pthread_mutex_unlock(&w->lock);
}

static void run_call(struct worker *w, struct call *c)
{
    begin(w, c->method);
    if (c->snapshot)
        sched_child_start(w, c);
    else if (c->numbered && !sched_number(w->L, c->id, c->serial))
        c->reply.failed = true;
    else
        sched_call(w->L, c->method, c->args, &c->reply);
    end(w);
    sched_send(w, &c->item);
}

/* Removes and returns the next call, or NULL. */
static struct call *next_call(struct worker *w)
{
    struct call *c;

    pthread_mutex_lock(&w->lock);
    c = w->stop ? NULL : w->calls;
    if (c)
        w->calls = c->next;
    if (!w->calls)
        w->calls_end = &w->calls;
    pthread_mutex_unlock(&w->lock);
    return c;
}

/* Runs calls for at most TURN. Returns whether a call may have made work. */
static bool run_calls(struct worker *w)
{
    double until = sched_clock() + TURN;
    bool wanted = false;
    struct call *c;

    do {
        c = next_call(w);
        if (c) {
            wanted = wanted || !c->quiet;
            run_call(w, c);
        }
    } while (c && sched_clock() < until);
    return wanted;
}

static void deliver_failure(struct sched *s, struct delivery *item)
{
    (void)item;
    if (s)
        sched_fail(s, "work", s->worker->why);
}

/* Runs a slice. Returns the time at which to call again, or -1 to wait for an event. */
static double work(struct worker *w)
{
    static const char *const none[3];
    struct reply r;

    begin(w, "work");
    sched_call(w->L, "work", none, &r);
    end(w);
    if (r.failed && !w->failure.deliver) {
        w->failure.deliver = deliver_failure;
        w->why = r.text;
        sched_send(w, &w->failure);
        return -1;
    }
    sched_reply_clear(&r);
    return r.ok ? sched_clock() + r.number : -1;
}

/* Publishes the counts for requests that come during a long call. */
static void publish(struct worker *w)
{
    static const char *const none[3];
    double now = sched_clock(), cpu[2];
    struct reply r = {0};

    sched_cpu(cpu);
    if (now - w->seen.stats_at > STATS)
        sched_call(w->L, "stats", none, &r);
    pthread_mutex_lock(&w->lock);
    memcpy(w->seen.cpu, cpu, sizeof cpu);
    if (r.ok) {
        free(w->seen.stats);
        w->seen.stats = r.text;
        w->seen.stats_at = now;
        r.text = NULL;
    }
    pthread_mutex_unlock(&w->lock);
    sched_reply_clear(&r);
}

/* Sleeps until a call arrives or `due` is reached. Returns false at the end of the module. */
static bool await(struct worker *w, double due)
{
    struct timespec t = {.tv_sec = (time_t)due, .tv_nsec = (long)((due - (double)(time_t)due) * 1e9)};
    bool stop;

    pthread_mutex_lock(&w->lock);
    while (!w->stop && !w->calls && (due < 0 || sched_clock() < due)) {
        if (due < 0)
            pthread_cond_wait(&w->wake, &w->lock);
        else
            pthread_cond_timedwait(&w->wake, &w->lock, &t);
    }
    stop = w->stop;
    pthread_mutex_unlock(&w->lock);
    return !stop;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    double due = -1;

    while (await(w, due)) {
        if (run_calls(w))
            due = 0;
        if (due >= 0 && sched_clock() >= due)
            due = work(w);
        publish(w);
    }
    return NULL;
}

/* ---- beginning and end ---- */

static int start(struct sched *s, struct worker *w)
{
    int rc;

    w->watcher = flux_fd_watcher_create(flux_get_reactor(s->h), w->fd, FLUX_POLLIN, on_items, s);
    if (!w->watcher)
        return -1;
    flux_watcher_start(w->watcher);
    rc = pthread_create(&w->thread, NULL, run, w);
    w->running = rc == 0;
    errno = rc;
    return rc == 0 ? 0 : -1;
}

static struct worker *make(void)
{
    struct worker *w = calloc(1, sizeof *w);
    pthread_condattr_t steady;

    if (!w)
        return NULL;
    w->fd = -1;
    w->calls_end = &w->calls;
    w->items_end = &w->items;
    w->seen.longest_of = "nothing";
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &steady);
    pthread_condattr_destroy(&steady);
    return w;
}

struct arguments {
    struct worker *worker;
    int argc;
    char **argv;
    const char *config;
};

/* Pushes what service.open takes: a list of arguments, the configuration, the answers. */
static int push_arguments(lua_State *L, void *arg)
{
    const struct arguments *a = arg;

    lua_createtable(L, a->argc, 0);
    for (int i = 0; i < a->argc; i++) {
        lua_pushstring(L, a->argv[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushstring(L, a->config);
    sched_push_answers(L, a->worker);
    return 3;
}

int sched_worker_open(struct sched *s, int argc, char **argv, const char *config, bool starting)
{
    struct worker *w = make();
    struct arguments given = {w, argc, argv, config};
    struct sched_opening opening = {"weir.flux.service", push_arguments, &given};
    char *why = NULL;

    s->worker = w;
    if (!w)
        return -1;
    w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); /* before Lua runs, which may log */
    if (w->fd < 0)
        return -1;
    weir_interrupt(false);
    w->starting = starting;
    w->states = s->states;
    w->L = sched_lua_open(&opening, &why);
    if (!w->L) {
        flux_log(s->h, LOG_ERR, "%s", why ? why : "out of memory");
        free(why);
        errno = EINVAL;
        return -1;
    }
    return start(s, w);
}

/* A running match or policy ends early. */
void sched_worker_stop(struct sched *s)
{
    struct worker *w = s->worker;

    if (!w || !w->running)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    weir_interrupt(true);
    pthread_join(w->thread, NULL);
    w->running = false;
    weir_interrupt(false);
}

static void drop_calls(struct call **list)
{
    struct call *c;

    while ((c = *list)) {
        *list = c->next;
        c->item.deliver(NULL, &c->item);
    }
}

static void drop_items(struct worker *w)
{
    struct delivery *item;

    while ((item = w->items)) {
        w->items = item->next;
        item->deliver(NULL, item);
    }
}

void sched_worker_close(struct sched *s)
{
    struct worker *w = s->worker;

    if (!w)
        return;
    sched_worker_stop(s);
    drop_calls(&w->calls);
    drop_calls(&s->held);
    drop_items(w);
    flux_watcher_destroy(w->watcher);
    if (w->L)
        lua_close(w->L);
    if (w->fd >= 0)
        close(w->fd);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w->seen.stats);
    free(w->why);
    free(w);
    s->worker = NULL;
}
