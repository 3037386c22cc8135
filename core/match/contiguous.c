/* contiguous.c - chooses candidates that lie together. Candidates under a common parent with consecutive ids are a run;
 * the longest run is taken first, then the next longest. Runs of equal length, and candidates of equal id, keep the
 * order of the candidates.
 */
#include <stdlib.h>
#include <string.h>

#include "match/match.h"

struct neighbour {
    weir_vertex parent;
    uint32_t at; /* position among the candidates */
    int64_t id;
};

struct run {
    uint32_t first, n; /* in the list of neighbours */
    uint32_t at;       /* position of the first neighbour among the candidates */
};

static int by_place(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_length(const void *a, const void *b)
{
    const struct run *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Lists the candidates by parent and id. The order of a policy mostly is that already. */
static void list_neighbours(const weir_graph *g, const weir_vertex *v, uint32_t n, struct neighbour *list)
{
    bool in_place = true;

    for (uint32_t i = 0; i < n; i++) {
        int64_t id = vertex_at(g, v[i])->id;
        list[i] = (struct neighbour){vertex_at(g, v[i])->parent, i, id == WEIR_NO_ID ? 0 : id};
        in_place = in_place && (i == 0 || by_place(&list[i - 1], &list[i]) < 0);
    }
    if (!in_place)
        qsort(list, n, sizeof *list, by_place);
}

static uint32_t list_runs(const struct neighbour *list, uint32_t n, struct run *runs)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || list[i].parent != list[i - 1].parent || list[i].id - 1 != list[i - 1].id)
            runs[count++] = (struct run){i, 0, list[i].at};
        runs[count - 1].n++;
    }
    if (count > 1)
        qsort(runs, count, sizeof *runs, by_length);
    return count;
}

int64_t weir_contiguous_choose(const weir_graph *g, const weir_vertex *v, uint32_t n, uint32_t max, uint32_t *chosen)
{
    struct neighbour *list = weir_mem_alloc((size_t)n * sizeof *list);
    struct run *runs = weir_mem_alloc((size_t)n * sizeof *runs);
    uint32_t nruns, count = 0;

    if (list && runs) {
        list_neighbours(g, v, n, list);
        nruns = list_runs(list, n, runs);
        for (uint32_t i = 0; i < nruns; i++)
            for (uint32_t k = 0; k < runs[i].n && count < max; k++)
                chosen[count++] = list[runs[i].first + k].at;
    }
    weir_mem_free(list);
    weir_mem_free(runs);
    return list && runs ? (int64_t)count : WEIR_ENOMEM;
}
