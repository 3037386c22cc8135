/* job_annotation.c - the jobs with spans at or below a vertex. Derived, not stored: rows show empty
 * subtrees. */
#include <inttypes.h>

#include "job/job_annotation.h"
#include "aggregate/rows.h"

struct ids {
    int64_t *list;
    uint32_t n, cap;
};

static int collect(const weir_graph *g, weir_vertex v, struct ids *ids)
{
    const struct inner *in = inner_of(g, v);
    weir_use use;

    for (uint32_t i = 0; weir_vertex_use(g, v, i, &use); i++) {
        if (WEIR_ARRAY_ADD(ids->list, ids->n, ids->cap, use.job))
            return WEIR_ENOMEM;
    }
    if (!in || !in->cells || (in->cells[CELL_ACTIVE] == 0 && in->cells[CELL_SOON] == 0))
        return WEIR_OK;
    for (uint32_t i = 0; i < in->nkids; i++)
        if (in->kids[i] != WEIR_NONE && collect(g, in->kids[i], ids))
            return WEIR_ENOMEM;
    return WEIR_OK;
}

/* Collects the jobs with exclusive spans on an ancestor of v. */
static int collect_above(const weir_graph *g, weir_vertex v, struct ids *ids)
{
    weir_use use;

    for (v = vertex_at(g, v)->parent; v != WEIR_NONE; v = vertex_at(g, v)->parent)
        for (uint32_t i = 0; weir_vertex_use(g, v, i, &use); i++) {
            if (!use.exclusive)
                continue;
            if (WEIR_ARRAY_ADD(ids->list, ids->n, ids->cap, use.job))
                return WEIR_ENOMEM;
        }
    return WEIR_OK;
}

/* Keeps the jobs, and leaves out the stages, of n ascending ids. Returns the number of jobs. */
static uint32_t jobs_only(int64_t *ids, uint32_t n)
{
    uint32_t first = 0;

    while (first < n && ids[first] < 0)
        first++;
    for (uint32_t i = first; i < n; i++)
        ids[i - first] = ids[i];
    return n - first;
}

static int list_jobs(const weir_graph *g, weir_vertex v, bool above, int64_t **jobs, uint32_t *n, weir_err *err)
{
    struct ids ids = {0};

    if (!vertex_valid(g, v))
        return weir_fail(err, WEIR_ENOENT, "there is no vertex %u", v);
    if (collect(g, v, &ids) || (above && collect_above(g, v, &ids))) {
        weir_mem_free(ids.list);
        return weir_fail_nomem(err);
    }
    *jobs = ids.list;
    *n = weir_array_unique(ids.list, ids.n);
    return WEIR_OK;
}

int weir_vertex_jobs(const weir_graph *g, weir_vertex v, int64_t **jobs, uint32_t *n, weir_err *err)
{
    int rc = list_jobs(g, v, false, jobs, n, err);

    if (rc)
        return rc;
    *n = jobs_only(*jobs, *n);
    if (*n == 0) {
        weir_mem_free(*jobs);
        *jobs = NULL;
    }
    return WEIR_OK;
}

int weir_refuse_used(const weir_graph *g, weir_vertex v, weir_err *err)
{
    char path[200];
    weir_buf text = {0};
    int64_t *jobs;
    uint32_t n;
    int rc = list_jobs(g, v, true, &jobs, &n, err);

    if (rc || n == 0)
        return rc;
    weir_vertex_path(g, v, path, sizeof path);
    for (uint32_t i = 0; i < n && i < ANNOTATION_LISTED; i++)
        weir_buf_printf(&text, "%s%s%" PRId64, i ? ", " : "", jobs[i] < 0 ? "stage " : "",
                        jobs[i] < 0 ? -jobs[i] : jobs[i]);
    rc = weir_fail(err, WEIR_EBUSY, "%s is in use by %s%s %s%s; release them first", path,
                   jobs[0] < 0 && n == 1 ? "the" : "job", n > 1 ? "s" : "", text.data ? text.data : "",
                   n > ANNOTATION_LISTED ? ", ..." : "");
    weir_buf_free(&text);
    weir_mem_free(jobs);
    return rc;
}
