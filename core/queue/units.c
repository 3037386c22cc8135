/* units.c - the units of the jobs of a flat simulator: the first units, in the order of the placement policy, that no
 * job has while the job lasts, as the engine chooses units; reservations in the way move to free units at their times,
 * as in lua/weir/sim/broker.lua. Invariant: a bit of `idle` is set where no running job has the unit, and bits behind
 * the last unit are 0. */
#include "queue/flat.h"

#include <stdlib.h>
#include <string.h>

static void set_run(uint64_t *bits, const struct unit_run *run, bool on)
{
    size_t a = run->from / 64, b = (run->to - 1) / 64;
    uint64_t first = UINT64_MAX << (run->from % 64), last = UINT64_MAX >> (63 - (run->to - 1) % 64);

    if (a == b) {
        bits[a] = on ? bits[a] | (first & last) : bits[a] & ~(first & last);
        return;
    }
    bits[a] = on ? bits[a] | first : bits[a] & ~first;
    memset(bits + a + 1, on ? 0xff : 0, (b - a - 1) * sizeof *bits);
    bits[b] = on ? bits[b] | last : bits[b] & ~last;
}

static void set_job(uint64_t *bits, const struct flat_job *job, bool on)
{
    for (uint32_t i = 0; i < job->nruns; i++)
        set_run(bits, &job->runs[i], on);
}

bool flat_units_open(struct units *u, uint32_t n)
{
    u->n = n;
    u->words = (n + 63) / 64;
    u->idle = calloc(u->words, sizeof *u->idle);
    u->mask = calloc(u->words, sizeof *u->mask);
    if (!u->idle || !u->mask)
        return false;
    set_run(u->idle, &(struct unit_run){0, n}, true);
    return true;
}

void flat_units_close(struct units *u)
{
    for (uint32_t i = 0; i < u->nlevels; i++) {
        free(u->levels[i].first);
        free(u->levels[i].of);
        free(u->levels[i].held);
    }
    free(u->levels);
    free(u->idle);
    free(u->mask);
    free(u->found);
    *u = (struct units){0};
}

void flat_units_drop(struct flat_job *job)
{
    free(job->runs);
    job->runs = NULL;
    job->nruns = 0;
}

void flat_units_begin(struct units *u, const struct flat_job *job)
{
    set_job(u->idle, job, false);
    for (uint32_t k = 0; k < u->nlevels; k++)
        for (uint32_t i = 0; i < job->nruns; i++)
            flat_level_take(&u->levels[k], &job->runs[i]);
}

void flat_units_end(struct units *u, struct flat_job *job)
{
    set_job(u->idle, job, true);
    if (job->nruns > 0 && job->runs[0].from / 64 < u->low)
        u->low = job->runs[0].from / 64;
    for (uint32_t k = 0; k < u->nlevels; k++)
        for (uint32_t i = 0; i < job->nruns; i++)
            flat_level_give(&u->levels[k], &job->runs[i]);
}

/* ---- choosing ---- */

/* Returns the units, as bits, that are free from `at` on as long as the job lasts. */
static const uint64_t *free_units(struct flat *s, uint32_t job, int64_t at)
{
    struct units *u = &s->units;
    int64_t stop = flat_after(at, s->jobs[job].estimate);
    bool copied = at > s->now;

    if (copied) {
        memcpy(u->mask, u->idle, u->words * sizeof *u->mask);
        for (uint32_t i = 0; i < s->nrunning; i++) {
            const struct flat_job *other = &s->jobs[s->running[i]];
            if (other->due <= at && !other->released)
                set_job(u->mask, other, true);
        }
    }
    for (uint32_t i = 0; i < s->nreserved; i++) {
        const struct flat_job *other = &s->jobs[s->reserved[i]];
        int64_t from = s->reserved[i] == s->entering ? s->entering_at : other->reserved;
        if (s->reserved[i] == job || from >= stop || flat_after(from, other->estimate) <= at || other->nruns == 0)
            continue;
        if (!copied)
            memcpy(u->mask, u->idle, u->words * sizeof *u->mask);
        copied = true;
        set_job(u->mask, other, false);
    }
    if (copied && s->entering != FLAT_NONE && s->jobs[s->entering].reserved == FLAT_NEVER && s->entering_at < stop &&
        flat_after(s->entering_at, s->jobs[s->entering].estimate) > at)
        set_job(u->mask, &s->jobs[s->entering], false);
    return copied ? u->mask : u->idle;
}

static bool add_run(struct units *u, uint32_t *n, uint32_t from, uint32_t to)
{
    if (*n > 0 && u->found[*n - 1].to == from) {
        u->found[*n - 1].to = to;
        return true;
    }
    if (!flat_grow(&u->found, &u->found_cap, *n + 1, sizeof *u->found))
        return false;
    u->found[(*n)++] = (struct unit_run){from, to};
    return true;
}

/* Finds the first *wanted units among the bits. Returns the number of runs, or -1 without memory; *wanted is the number
 * that is missing then. */
static int64_t first_units(struct units *u, const uint64_t *bits, uint32_t *wanted)
{
    uint32_t n = 0;

    while (u->low < u->words && u->idle[u->low] == 0)
        u->low++;
    for (size_t w = bits == u->idle ? u->low : 0; w<u->words && * wanted> 0; w++)
        for (uint64_t left = bits[w]; left != 0 && *wanted > 0;) {
            uint32_t from = (uint32_t)__builtin_ctzll(left);
            uint64_t rest = ~(left >> from);
            uint32_t count = rest == 0 ? 64 : (uint32_t)__builtin_ctzll(rest);
            uint32_t base = (uint32_t)w * 64 + from;
            left = from + count == 64 ? 0 : left >> (from + count) << (from + count);
            count = count < *wanted ? count : *wanted;
            if (!add_run(u, &n, base, base + count))
                return -1;
            *wanted -= count;
        }
    return n;
}

enum chosen { CHOSEN, TOO_FEW, NO_MEMORY };

static enum chosen choose(struct flat *s, uint32_t job, int64_t at)
{
    struct units *u = &s->units;
    struct flat_job *j = &s->jobs[job];
    uint32_t wanted = (uint32_t)j->units;
    int64_t n = first_units(u, free_units(s, job, at), &wanted);
    struct unit_run *runs;

    if (n < 0)
        return NO_MEMORY;
    if (wanted > 0)
        return TOO_FEW;
    runs = malloc((size_t)n * sizeof *runs);
    if (!runs)
        return NO_MEMORY;
    memcpy(runs, u->found, (size_t)n * sizeof *runs);
    flat_units_drop(j);
    j->runs = runs;
    j->nruns = (uint32_t)n;
    return CHOSEN;
}

static int by_start(const void *a, const void *b, void *data)
{
    const struct flat *s = data;
    const struct flat_job *x = &s->jobs[*(const uint32_t *)a], *y = &s->jobs[*(const uint32_t *)b];

    if (x->reserved != y->reserved)
        return x->reserved < y->reserved ? -1 : 1;
    return x->made < y->made ? -1 : x->made > y->made;
}

/* Chooses units for a job, and moves the reservations that begin no earlier: first come units for the job, then units
 * for the reservations in the order of their starts. As all units are interchangeable, the choice never fails where
 * enough units are free. */
static bool make_room(struct flat *s, uint32_t job, int64_t at)
{
    size_t n = 0;
    bool done;

    if (!flat_grow(&s->sorted, &s->sorted_cap, s->nreserved, sizeof *s->sorted))
        return false;
    for (uint32_t i = 0; i < s->nreserved; i++)
        if (s->reserved[i] != job && s->jobs[s->reserved[i]].reserved >= at) {
            s->sorted[n++] = s->reserved[i];
            flat_units_drop(&s->jobs[s->reserved[i]]);
        }
    qsort_r(s->sorted, n, sizeof *s->sorted, by_start, s);
    done = choose(s, job, at) == CHOSEN;
    s->entering = job;
    s->entering_at = at;
    for (size_t i = 0; i < n && done; i++) {
        uint32_t other = s->sorted[i];
        done = choose(s, other, s->jobs[other].reserved) == CHOSEN;
    }
    s->entering = FLAT_NONE;
    return done;
}

bool flat_units_book(struct flat *s, uint32_t job, int64_t at)
{
    enum chosen chosen = choose(s, job, at);

    return chosen == TOO_FEW ? make_room(s, job, at) : chosen == CHOSEN;
}
