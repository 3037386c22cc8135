/* loop.c - when the scheduler works: in slices, between which the reactor serves others. A prepare watcher keeps the reactor from
 * sleeping while there is work, a check watcher does a slice of it, a timer brings up what has its time. */
#include "sched.h"

#include <errno.h>

static void want(struct sched *s)
{
    s->loop.wanted = true;
}

void sched_loop_want(struct sched *s)
{
    want(s);
}

static void on_prepare(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct sched *s = arg;

    (void)r, (void)w, (void)revents;
    if (s->loop.wanted)
        flux_watcher_start(s->loop.idle);
}

static void on_check(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct sched *s = arg;
    struct reply reply;

    (void)r, (void)w, (void)revents;
    flux_watcher_stop(s->loop.idle);
    if (!s->loop.wanted)
        return;
    s->loop.wanted = false;
    flux_watcher_stop(s->loop.timer);
    if (!sched_call(s, "work", NULL, NULL, &reply))
        return;
    if (reply.ok && reply.number <= 0)
        want(s);
    else if (reply.ok) {
        flux_timer_watcher_reset(s->loop.timer, reply.number, 0);
        flux_watcher_start(s->loop.timer);
    }
    sched_reply_clear(&reply);
}

static void on_timer(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    (void)r, (void)w, (void)revents;
    want(arg);
}

int sched_loop_open(struct sched *s)
{
    flux_reactor_t *r = flux_get_reactor(s->h);
    struct loop *l = &s->loop;

    l->prepare = flux_prepare_watcher_create(r, on_prepare, s);
    l->check = flux_check_watcher_create(r, on_check, s);
    l->idle = flux_idle_watcher_create(r, NULL, NULL);
    l->timer = flux_timer_watcher_create(r, 0, 0, on_timer, s);
    if (!l->prepare || !l->check || !l->idle || !l->timer)
        return -1;
    flux_watcher_start(l->prepare);
    flux_watcher_start(l->check);
    return 0;
}

void sched_loop_close(struct sched *s)
{
    flux_watcher_destroy(s->loop.prepare);
    flux_watcher_destroy(s->loop.check);
    flux_watcher_destroy(s->loop.idle);
    flux_watcher_destroy(s->loop.timer);
    s->loop = (struct loop){0};
}
