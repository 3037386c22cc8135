/* meter.c - the longest busy times of the module's reactor, from waking up to sleeping again, and
 * the work done meanwhile. */
#include "sched.h"

#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Ends the current part of the busy time. */
static void part(struct meter *m, double now)
{
    if (now - m->part_began > m->part_longest) {
        m->part_longest = now - m->part_began;
        m->part_of = m->doing;
    }
}

void sched_mark(struct sched *s, const char *what)
{
    struct meter *m = &s->meter;
    double now = seconds(CLOCK_MONOTONIC);

    part(m, now);
    m->part_began = now;
    m->doing = what;
}

static void on_check(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct meter *m = &((struct sched *)arg)->meter;

    (void)r, (void)w, (void)revents;
    m->began = m->part_began = seconds(CLOCK_MONOTONIC);
    m->cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
    m->part_longest = 0;
    m->doing = m->part_of = "messages";
}

static void on_prepare(flux_reactor_t *r, flux_watcher_t *w, int revents, void *arg)
{
    struct meter *m = &((struct sched *)arg)->meter;
    double now = seconds(CLOCK_MONOTONIC);

    (void)r, (void)w, (void)revents;
    if (m->began <= 0)
        return;
    part(m, now);
    if (now - m->began > m->longest) {
        m->longest = now - m->began;
        m->longest_of = m->part_of;
        m->longest_cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - m->cpu;
    }
    m->began = 0;
}

int sched_meter_open(struct sched *s)
{
    flux_reactor_t *r = flux_get_reactor(s->h);
    struct meter *m = &s->meter;

    m->longest_of = "nothing";
    m->prepare = flux_prepare_watcher_create(r, on_prepare, s);
    m->check = flux_check_watcher_create(r, on_check, s);
    if (!m->prepare || !m->check)
        return -1;
    flux_watcher_set_priority(m->check, 2); /* before the watchers of the event */
    flux_watcher_start(m->prepare);
    flux_watcher_start(m->check);
    return 0;
}

void sched_meter_close(struct sched *s)
{
    flux_watcher_destroy(s->meter.prepare);
    flux_watcher_destroy(s->meter.check);
}
