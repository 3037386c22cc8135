/* measure.c - sums for the metrics of a replay, as weir.replay.metrics defines and gathers them in the general
 * simulator, in the same order of additions, so that both give equal figures. Times are seconds here. */
#include "queue/flat.h"

#include <stdlib.h>

static double seconds(int64_t us)
{
    return (double)us / (double)FLAT_SECOND;
}

/* Adds the state seen last, which lasted until `now`. */
static void pass_time(struct flat *s, int64_t now)
{
    struct measure *m = &s->measure;
    double from = seconds(m->last), dt = seconds(now) - from, idle = (double)((int64_t)s->total * m->weight - m->used);

    m->last = now;
    m->used_sum += (double)m->used * dt;
    for (uint32_t i = 0; i < s->units.nlevels; i++)
        m->touched_sum[i] += m->touched[i] * dt;
    if (m->seen > 0) {
        m->queue_sum += m->seen * dt;
        m->waiting_time += dt;
        m->idle_waiting += idle * dt;
    }
    if (m->node >= 0) {
        double whole = (s->units.levels[m->node].n - m->touched[m->node]) * m->per_node;
        m->fragmented += (idle > whole ? idle - whole : 0) * dt;
        m->free_sum += idle * dt;
    }
    if (m->series.most > 0)
        flat_series_add(&m->series, from, dt, (double)m->used, m->seen);
}

void flat_measure_look(struct flat *s)
{
    struct measure *m = &s->measure;

    if (!m->stale || !m->began)
        return;
    if (s->now > m->last)
        pass_time(s, s->now);
    m->stale = false;
    m->seen = m->queued;
    if (!m->moved)
        return;
    m->moved = false;
    m->used = m->busy;
    for (uint32_t i = 0; i < s->units.nlevels; i++)
        m->touched[i] = s->units.levels[i].used;
}

void flat_measure_submit(struct flat *s, const struct flat_job *job)
{
    struct measure *m = &s->measure;

    if (!m->began && job->submit >= m->from) {
        m->began = m->moved = true;
        m->first = m->last = s->now;
        m->seen = 0;
        m->used = 0;
    }
    m->stale = true;
    if (++m->queued > m->most)
        m->most = m->queued;
}

void flat_measure_start(struct flat *s, struct flat_job *job)
{
    struct measure *m = &s->measure;

    job->backfilled = job->backfilled || s->jobs[s->queue.oldest].made < job->made;
    m->queued--;
    m->busy += (int64_t)job->units * m->weight;
    m->stale = m->moved = true;
}

void flat_measure_preempt(struct flat *s, const struct flat_job *job)
{
    struct measure *m = &s->measure;

    m->queued++;
    m->busy -= (int64_t)job->units * m->weight;
    m->stale = m->moved = true;
    m->preempted += job->submit >= m->from;
}

bool flat_measure_finish(struct flat *s, const struct flat_job *job)
{
    struct measure *m = &s->measure;
    double submit = seconds(job->submit), start = seconds(job->start);
    double wait = start - submit, run = seconds(job->finish) - start;
    double slowdown = (wait + run) / (run > m->tau ? run : m->tau);
    struct user *user;

    m->busy -= (int64_t)job->units * m->weight;
    m->stale = m->moved = true;
    m->last_end = job->finish;
    if (job->submit < m->from)
        return true;
    if (!flat_grow(&m->waits, &m->waits_cap, m->nwaits + 1, sizeof *m->waits))
        return false;
    slowdown = slowdown < 1 ? 1 : slowdown;
    m->jobs++;
    m->waits[m->nwaits++] = wait;
    m->longest = wait > m->longest ? wait : m->longest;
    m->wait += wait;
    m->flow = m->flow + wait + run;
    m->slowdown += slowdown;
    m->worst = slowdown > m->worst ? slowdown : m->worst;
    m->backfilled += job->backfilled;
    m->killed += job->killed;
    user = &m->users[job->user];
    user->jobs++;
    user->wait += wait;
    user->slowdown += slowdown;
    user->used += run * (double)((int64_t)job->units * m->weight);
    return true;
}

void flat_measure_stop(struct flat *s)
{
    struct measure *m = &s->measure;
    int64_t stop = m->last_end > m->first ? m->last_end : m->first;

    if (!m->began)
        return;
    flat_measure_look(s);
    if (s->nrunning + m->queued > 0)
        stop = s->now;
    if (stop > m->last)
        pass_time(s, stop);
}
