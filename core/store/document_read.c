/* document_read.c - reads a document: vertices and edges as of any JSON graph, then clock and jobs, which name vertices
 * by their positions in "nodes". Invariant: the jobs are made after all else is there, and only if all of them fit. */
#include "store/document.h"

#include <inttypes.h>
#include <string.h>

#include "format/jgf/jgf.h"
#include "job/job_load.h"

#define VERSION 1
#define JOBS    "graph.metadata.weir.jobs"

/* A flow of a job, by the index of the job. */
struct job_flow {
    uint32_t job;
    struct flow_use use;
};

struct graph_document {
    struct jgf jgf;
    int64_t version, now, next_job, valid_from, valid_until;
    bool expire;
    struct weir_loaded_jobs jobs; /* vertices of picks are positions until translate() */
    weir_buf policy, queue;       /* of the job that is being read */
    struct job_flow *flows;
    uint32_t nflows, flows_cap;
    weir_vertex *vertices; /* by position in "nodes" */
};

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Fails because of the text, with a format and its values. */
#define bad(d, ...) weir_fail_at((d)->jgf.err, WEIR_EINVAL, (d)->jgf.source, 0, 0, __VA_ARGS__)

/* Fails at a field of the job that is being read, or of the whole. */
static int bad_field(const struct graph_document *d, bool job, const char *field, const char *wanted)
{
    if (job)
        return bad(d, JOBS "[%" PRIu32 "].%s: %s", d->jobs.count, field, wanted);
    return bad(d, "graph.metadata.weir.%s: %s", field, wanted);
}

/* Checks the integer of the current event, of a type. */
static int take_integer(const struct graph_document *d, bool job, const char *field, int type, int64_t low,
                        int64_t high, int64_t *out)
{
    char wanted[96];

    if (type < 0)
        return type;
    if (type == WEIR_JSON_INTEGER && weir_json_integer(d->jgf.json, out) == WEIR_OK && *out >= low && *out <= high)
        return WEIR_OK;
    snprintf(wanted, sizeof wanted, "expected an integer from %" PRId64 " to %" PRId64, low, high);
    return bad_field(d, job, field, wanted);
}

static int take_bool(const struct graph_document *d, bool job, const char *field, int type, bool *out)
{
    if (type < 0)
        return type;
    *out = type == WEIR_JSON_TRUE;
    return *out || type == WEIR_JSON_FALSE ? WEIR_OK : bad_field(d, job, field, "expected true or false");
}

/* Reads an array of n integers that was begun. */
static int take_integers(const struct graph_document *d, const char *field, int n, const int64_t *low,
                         const int64_t *high, int64_t *out)
{
    int rc = WEIR_OK, type;

    for (int i = 0; rc == WEIR_OK && i < n; i++)
        rc = take_integer(d, true, field, weir_json_next(d->jgf.json), low[i], high[i], &out[i]);
    if (rc < 0)
        return rc;
    type = weir_json_next(d->jgf.json);
    return type == WEIR_JSON_ARRAY_END ? WEIR_OK : type < 0 ? type : bad_field(d, true, field, "has too many numbers");
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static int take_pick(struct graph_document *d, struct weir_loaded_job *job)
{
    static const int64_t low[] = {0, 0, 0, -1};
    static const int64_t high[] = {UINT32_MAX - 1, WEIR_UNITS_MAX, 1, UINT32_MAX - 1};
    struct weir_loaded_jobs *b = &d->jobs;
    int64_t n[4];
    int rc = take_integers(d, "picks", 4, low, high, n);

    if (rc < 0)
        return rc;
    if (WEIR_ARRAY_ADD(b->picks, b->npicks, b->picks_cap,
                       (weir_pick){(uint32_t)n[0], n[3] < 0 ? WEIR_NONE : (uint32_t)n[3], n[1], n[2] == 1}))
        return weir_fail_nomem(d->jgf.err);
    job->n++;
    return WEIR_OK;
}

static int take_flow(struct graph_document *d, struct weir_loaded_job *job)
{
    static const int64_t low[] = {0, 0, 0};
    static const int64_t high[] = {UINT32_MAX - 1, UINT32_MAX - 1, WEIR_UNITS_MAX};
    int64_t n[3];
    int rc = take_integers(d, "flows", 3, low, high, n);

    (void)job;
    if (rc < 0)
        return rc;
    if (WEIR_ARRAY_ADD(d->flows, d->nflows, d->flows_cap,
                       (struct job_flow){d->jobs.count, {(uint32_t)n[0], (uint32_t)n[1], n[2]}}))
        return weir_fail_nomem(d->jgf.err);
    return WEIR_OK;
}

/* Reads an array of arrays, of which `take` reads each. */
static int take_list(struct graph_document *d, struct weir_loaded_job *job, const char *field, int type,
                     int (*take)(struct graph_document *d, struct weir_loaded_job *job))
{
    int rc = type < 0 ? type : type == WEIR_JSON_ARRAY ? WEIR_OK : bad_field(d, true, field, "expected an array");

    while (rc == WEIR_OK && (type = weir_json_next(d->jgf.json)) != WEIR_JSON_ARRAY_END)
        rc = type < 0 ? type : type == WEIR_JSON_ARRAY ? take(d, job) : bad_field(d, true, field, "expected arrays");
    return rc;
}

/* Takes the policy or the queue of a job. */
static int take_text(struct graph_document *d, const char *field, int type, weir_buf *b)
{
    const char *text;
    size_t len;

    if (type != WEIR_JSON_STRING)
        return type < 0 ? type : bad_field(d, true, field, "expected a string");
    text = weir_json_text(d->jgf.json, &len);
    if (len > WEIR_NAME_MAX)
        return bad_field(d, true, field, "is longer than 65536 bytes");
    b->len = 0;
    weir_buf_add(b, text, len);
    return b->failed ? weir_fail_nomem(d->jgf.err) : WEIR_OK;
}

/* Gives the job what was taken, as job_table.h says. */
static int set_policy(struct graph_document *d, struct weir_loaded_job *job)
{
    const weir_buf *both;

    if (d->queue.len > 0) {
        weir_buf_printf(&d->queue, "%c", JOB_QUEUE_END);
        weir_buf_add(&d->queue, d->policy.data, d->policy.len);
    }
    if (d->queue.failed)
        return weir_fail_nomem(d->jgf.err);
    both = d->queue.len > 0 ? &d->queue : &d->policy;
    job->policy = weir_strtab_add(&d->jgf.g->names, both->len > 0 ? both->data : "", both->len);
    return job->policy == WEIR_NO_NAME ? weir_fail_nomem(d->jgf.err) : WEIR_OK;
}

/* Reads the member of a job with the current event as key. */
static int take_member(struct graph_document *d, struct weir_loaded_job *job)
{
    const char *key = weir_json_text(d->jgf.json, NULL);
    int64_t *n = strcmp(key, "id") == 0      ? &job->job
                 : strcmp(key, "start") == 0 ? &job->start
                 : strcmp(key, "end") == 0   ? &job->end
                                             : NULL;
    int64_t nslots = 0;
    bool picks = strcmp(key, "picks") == 0, flows = strcmp(key, "flows") == 0, held = strcmp(key, "held") == 0;
    bool slots = strcmp(key, "nslots") == 0, policy = strcmp(key, "policy") == 0;
    bool queue = strcmp(key, "queue") == 0;
    int type = weir_json_next(d->jgf.json), rc;

    if (n)
        return take_integer(d, true,
                            n == &job->job   ? "id"
                            : n == &job->end ? "end"
                                             : "start",
                            type, n == &job->job, n == &job->job ? INT64_MAX : WEIR_FOREVER - 1, n);
    if (picks && job->n > 0)
        return bad_field(d, true, "picks", "is given twice");
    if (picks || flows)
        return take_list(d, job, picks ? "picks" : "flows", type, picks ? take_pick : take_flow);
    if (held)
        return take_bool(d, true, "held", type, &job->put_off);
    if (policy || queue)
        return take_text(d, policy ? "policy" : "queue", type, policy ? &d->policy : &d->queue);
    if (!slots)
        return weir_json_skip(d->jgf.json, type);
    rc = take_integer(d, true, "nslots", type, 1, UINT32_MAX, &nslots);
    job->nslots = (uint32_t)nslots;
    return rc;
}

static int take_job(struct graph_document *d)
{
    struct weir_loaded_job job = {.start = -1, .end = WEIR_FOREVER, .first = d->jobs.npicks};
    int rc = WEIR_OK, type = WEIR_JSON_END;

    d->policy.len = d->queue.len = 0;
    if (weir_array_reserve(&d->jobs.list, &d->jobs.cap, (size_t)d->jobs.count + 1, sizeof job) < 0)
        return weir_fail_nomem(d->jgf.err);
    while (rc == WEIR_OK && (type = weir_json_next(d->jgf.json)) == WEIR_JSON_KEY)
        rc = take_member(d, &job);
    if (rc < 0 || type < 0)
        return rc < 0 ? rc : type;
    if (job.job == 0 || job.start < 0)
        return bad_field(d, true, job.job ? "start" : "id", "is missing");
    if (job.start >= job.end)
        return bad_field(d, true, "end", "is not after the start");
    rc = set_policy(d, &job);
    if (rc < 0)
        return rc;
    d->jobs.list[d->jobs.count++] = job;
    return WEIR_OK;
}

static int take_jobs(struct graph_document *d, int type)
{
    int rc = type < 0 ? type : type == WEIR_JSON_ARRAY ? WEIR_OK : bad_field(d, false, "jobs", "expected an array");

    while (rc == WEIR_OK && (type = weir_json_next(d->jgf.json)) != WEIR_JSON_ARRAY_END)
        rc = type < 0 ? type : type == WEIR_JSON_OBJECT ? take_job(d) : bad_field(d, false, "jobs", "expected objects");
    return rc;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static int take_subsystems(struct graph_document *d, int type)
{
    static const char wanted[] = "expected names of subsystems";
    int rc = type < 0 ? type : type == WEIR_JSON_ARRAY ? WEIR_OK : bad_field(d, false, "subsystems", wanted);

    while (rc == WEIR_OK && (type = weir_json_next(d->jgf.json)) != WEIR_JSON_ARRAY_END) {
        size_t len = 0;
        const char *name = type == WEIR_JSON_STRING ? weir_json_text(d->jgf.json, &len) : "";
        if (type < 0)
            return type;
        if (len == 0 || len > WEIR_NAME_MAX)
            return bad_field(d, false, "subsystems", wanted);
        if (weir_subsystem_add(d->jgf.g, name) == WEIR_NONE)
            return weir_fail_nomem(d->jgf.err);
    }
    return rc;
}

/* Reads the member of graph.metadata.weir with the current event as key. */
static int read_member(struct graph_document *d)
{
    const struct {
        const char *name;
        int64_t low, high, *out;
    } numbers[] = {{"version", VERSION, VERSION, &d->version},
                   {"now", 0, WEIR_FOREVER - 1, &d->now},
                   {"next_job", 1, WEIR_NEXT_JOB_MAX, &d->next_job},
                   {"valid_from", 0, WEIR_FOREVER - 1, &d->valid_from},
                   {"valid_until", 1, WEIR_FOREVER - 1, &d->valid_until}};
    const char *key = weir_json_text(d->jgf.json, NULL);
    bool jobs = strcmp(key, "jobs") == 0, subsystems = strcmp(key, "subsystems") == 0;
    bool expire = strcmp(key, "expire") == 0;
    size_t i = 0;
    int type;

    while (i < sizeof numbers / sizeof *numbers && strcmp(key, numbers[i].name) != 0)
        i++;
    type = weir_json_next(d->jgf.json);

    if (jobs && d->jobs.count > 0)
        return bad_field(d, false, "jobs", "is given twice");
    if (jobs)
        return take_jobs(d, type);
    if (subsystems)
        return take_subsystems(d, type);
    if (expire)
        return take_bool(d, false, "expire", type, &d->expire);
    if (i < sizeof numbers / sizeof *numbers)
        return take_integer(d, false, numbers[i].name, type, numbers[i].low, numbers[i].high, numbers[i].out);
    return weir_json_skip(d->jgf.json, type);
}

static int read_weir(struct jgf *r)
{
    struct graph_document *d = r->data;
    int rc = WEIR_OK, type = weir_json_next(r->json);

    if (type != WEIR_JSON_OBJECT)
        return type < 0 ? type : bad(d, "graph.metadata.weir: expected an object");
    while (rc == WEIR_OK && (type = weir_json_next(r->json)) == WEIR_JSON_KEY)
        rc = read_member(d);
    if (rc == WEIR_OK && type >= 0 && d->version == 0)
        return bad_field(d, false, "version", "is missing");
    if (rc == WEIR_OK && d->valid_until <= d->valid_from)
        return bad_field(d, false, "valid_until", "is not after valid_from");
    return rc == WEIR_OK && type < 0 ? type : rc;
}

/* Makes the table of vertices by position. */
static int find_vertices(struct graph_document *d, const weir_graph *g)
{
    d->vertices = weir_mem_alloc(((size_t)g->limit + 1) * sizeof *d->vertices);
    if (!d->vertices)
        return weir_fail_nomem(d->jgf.err);
    for (weir_vertex v = 0; v < g->limit; v++)
        d->vertices[d->jgf.positions[v]] = v;
    return WEIR_OK;
}

/* Replaces a position in "nodes" by the vertex. */
static int translate(const struct graph_document *d, const weir_graph *g, const char *field, weir_vertex *v)
{
    if (*v >= g->limit)
        return bad(d, JOBS ": %s name vertex %" PRIu32 "; there are %" PRIu32 " nodes", field, *v, g->limit);
    *v = d->vertices[*v];
    return WEIR_OK;
}

static int translate_picks(struct graph_document *d, const weir_graph *g)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < d->jobs.npicks; i++) {
        weir_pick *p = &d->jobs.picks[i];
        rc = translate(d, g, "picks", &p->vertex);
        if (rc == WEIR_OK && p->exclusive && p->amount != kind_of(g, p->vertex)->size)
            rc = bad(d, JOBS ": an exclusive pick has %" PRId64 " of %" PRId64 " units", p->amount,
                     kind_of(g, p->vertex)->size);
    }
    return rc;
}

static int give_flows(struct graph_document *d, weir_graph *g)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < d->nflows; i++) {
        struct job_flow *f = &d->flows[i];
        uint32_t job = weir_job_index(g, d->jobs.list[f->job].job);
        rc = translate(d, g, "flows", &f->use.endpoint);
        rc = rc ? rc : translate(d, g, "flows", &f->use.unit);
        if (rc == WEIR_OK && !weir_job_pick(&jobs_in(g)->list[job], f->use.unit))
            rc = bad(d, JOBS ": flows of job %" PRId64 " name a vertex that the job does not hold",
                     d->jobs.list[f->job].job);
        if (rc == WEIR_OK && weir_job_flow(g, job, &f->use, 1) < 0)
            rc = weir_fail_nomem(d->jgf.err);
    }
    return rc;
}

static int give_jobs(struct graph_document *d, weir_graph *g)
{
    int rc = find_vertices(d, g);

    if (rc < 0)
        return rc;
    g->now = d->now;
    g->valid_from = d->valid_from;
    g->valid_until = d->valid_until;
    rc = weir_jobs_start_at(g, d->next_job) < 0 ? weir_fail_nomem(d->jgf.err) : WEIR_OK;
    rc = rc ? rc : translate_picks(d, g);
    rc = rc ? rc : weir_jobs_load(g, &d->jobs, JOBS, d->jgf.err);
    rc = rc ? rc : give_flows(d, g);
    if (rc == WEIR_OK && d->expire)
        rc = weir_graph_overrun(g, WEIR_OVERRUN_EXPIRE, d->jgf.err);
    return rc;
}

static int read_whole(struct graph_document *d, const struct weir_input *in, weir_graph **out)
{
    struct jgf *r = &d->jgf;
    int rc = weir_jgf_document(r, in);

    if (rc == WEIR_OK && !r->has_graph)
        rc = weir_fail_at(r->err, WEIR_EINVAL, r->source, 0, 0, "there is no \"graph\" in the outermost object");
    if (rc == WEIR_OK && r->has_weir) {
        r->positions = weir_mem_alloc(((size_t)r->count + 1) * sizeof *r->positions);
        rc = r->positions ? WEIR_OK : weir_fail_nomem(r->err);
    }
    rc = rc ? rc : weir_jgf_make(r, out);
    return rc;
}

int weir_document_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err)
{
    struct graph_document d = {
        .jgf = {.source = source, .err = err, .on_weir = read_weir}, .next_job = 1, .valid_until = WEIR_FOREVER};
    weir_graph *g = NULL;
    int rc;

    d.jgf.data = &d;
    rc = read_whole(&d, in, &g);
    if (rc == WEIR_OK && d.jgf.has_weir)
        rc = give_jobs(&d, g);
    if (rc == WEIR_OK)
        *out = g;
    else
        weir_graph_free(g);
    weir_mem_free(d.jgf.positions);
    weir_jgf_free(&d.jgf);
    weir_loaded_jobs_free(&d.jobs);
    weir_mem_free(d.flows);
    weir_buf_free(&d.policy);
    weir_buf_free(&d.queue);
    weir_mem_free(d.vertices);
    return rc;
}
