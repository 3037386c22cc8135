/* levels.c - vertices above the units of a flat simulator, such as the nodes above cores: how many have a unit in use.
 * Invariant: held[i] is the number of units in use of vertex i, except for vertices inside one run of units of a
 * running job: such vertices belong to the job alone and are counted in `used` only. */
#include "queue/flat.h"

static uint32_t vertex_of(const struct level *level, uint32_t unit)
{
    uint32_t low = 0, high = level->n;

    if (level->width > 0)
        return unit / level->width;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (level->first[middle] <= unit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void take_some(struct level *level, uint32_t vertex, uint32_t units)
{
    if (level->held[vertex] == 0)
        level->used++;
    level->held[vertex] += units;
}

static void give_some(struct level *level, uint32_t vertex, uint32_t units)
{
    level->held[vertex] -= units;
    if (level->held[vertex] == 0)
        level->used--;
}

void flat_level_take(struct level *level, const struct unit_run *run)
{
    uint32_t a, b;

    for (uint32_t i = run->from; level->of && i < run->to; i++)
        take_some(level, level->of[i], 1);
    if (level->of)
        return;
    a = vertex_of(level, run->from);
    b = vertex_of(level, run->to - 1);
    if (a == b) {
        take_some(level, a, run->to - run->from);
        return;
    }
    take_some(level, a, level->first[a + 1] - run->from);
    level->used += b - a - 1;
    take_some(level, b, run->to - level->first[b]);
}

void flat_level_give(struct level *level, const struct unit_run *run)
{
    uint32_t a, b;

    for (uint32_t i = run->from; level->of && i < run->to; i++)
        give_some(level, level->of[i], 1);
    if (level->of)
        return;
    a = vertex_of(level, run->from);
    b = vertex_of(level, run->to - 1);
    if (a == b) {
        give_some(level, a, run->to - run->from);
        return;
    }
    give_some(level, a, level->first[a + 1] - run->from);
    level->used -= b - a - 1;
    give_some(level, b, run->to - level->first[b]);
}
