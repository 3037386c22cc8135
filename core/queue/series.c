/* series.c - usage and queue length over time; see struct series. The sums are those of weir.replay.series, in
 * the same order of additions. */
#include "queue/flat.h"

#include <math.h>
#include <stdlib.h>

bool flat_series_open(struct series *series, size_t most)
{
    *series = (struct series){.most = most, .width = 1};
    series->used = calloc(most, sizeof *series->used);
    series->queued = calloc(most, sizeof *series->queued);
    return series->used && series->queued;
}

void flat_series_close(struct series *series)
{
    free(series->used);
    free(series->queued);
    *series = (struct series){0};
}

/* Merges pairs of the n steps of a list; the rest of the list becomes 0. */
static void merge(double *list, size_t n)
{
    for (size_t i = 0; i < (n + 1) / 2; i++)
        list[i] = list[2 * i] + (2 * i + 1 < n ? list[2 * i + 1] : 0);
    for (size_t i = (n + 1) / 2; i < n; i++)
        list[i] = 0;
}

/* Doubles the length of the steps. */
static void halve(struct series *series)
{
    merge(series->used, series->n);
    merge(series->queued, series->n);
    series->n = (series->n + 1) / 2;
    series->width *= 2;
}

void flat_series_add(struct series *series, double t, double dt, double used, double queued)
{
    double at, stop;

    if (!series->began)
        series->start = t;
    series->began = true;
    at = t - series->start;
    stop = t - series->start + dt;
    while (stop > (double)series->most * series->width)
        halve(series);
    for (size_t i = (size_t)floor(at / series->width); i < series->most; i++) {
        double till = (double)(i + 1) * series->width;
        till = till > stop ? stop : till;
        series->n = i >= series->n ? i + 1 : series->n;
        series->used[i] += used * (till - at);
        series->queued[i] += queued * (till - at);
        at = till;
        if (at >= stop)
            return;
    }
}
