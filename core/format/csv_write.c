/* csv_write.c - writes a machine as a table, a row a vertex, for spreadsheets and databases. See weir.h for the
 * columns.
 *
 * Main invariant: while the row of v is written, w->path is v's path, and w->above holds the jobs with a present or
 * future reservation of a vertex above v as a whole.
 */
#include "format/output.h"

#include <string.h>

#include "aggregate/rows.h"

static const char heads[] = "path,type,basename,id,name,size,unit,state,rank,free,allocated,jobs,properties,tags,"
                            "exclusive,data\n";

struct table {
    const weir_graph *g;
    const struct weir_written *in;
    weir_buf *b;
    weir_buf path, cell; /* cell: a text before quoting */
    int64_t *above, *jobs;
    uint32_t nabove, above_cap, njobs, jobs_cap;
    bool open; /* all vertices above are up, and no job has any of these now as a whole */
    bool held; /* a job has a vertex above now as a whole */
    weir_err *err;
    int rc;
};

static int check_memory(struct table *w)
{
    if (w->rc == WEIR_OK && (w->b->failed || w->path.failed || w->cell.failed))
        w->rc = weir_fail_nomem(w->err);
    return w->rc;
}

/* ---- cells ---------------------------------------------------------------------------------------------------- */

static bool needs_quotes(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r')
            return true;
    return n > 0 && (s[0] == ' ' || s[n - 1] == ' ');
}

static void write_text(weir_buf *b, const char *s, size_t n)
{
    if (!needs_quotes(s, n)) {
        weir_buf_add(b, s, n);
        return;
    }
    WEIR_WRITE(b, "\"");
    for (const char *quote; (quote = memchr(s, '"', n)); n -= (size_t)(quote + 1 - s), s = quote + 1) {
        weir_buf_add(b, s, (size_t)(quote - s));
        WEIR_WRITE(b, "\"\"");
    }
    weir_buf_add(b, s, n);
    WEIR_WRITE(b, "\"");
}

/* Adds a comma and a text. */
static void add_text(struct table *w, const char *s)
{
    WEIR_WRITE(w->b, ",");
    write_text(w->b, s, strlen(s));
}

static void add_cell(struct table *w)
{
    WEIR_WRITE(w->b, ",");
    if (w->cell.len)
        write_text(w->b, w->cell.data, w->cell.len);
    w->cell.len = 0;
}

static void add_int(struct table *w, int64_t n)
{
    WEIR_WRITE(w->b, ",");
    weir_write_int(w->b, n);
}

/* ---- maps ----------------------------------------------------------------------------------------------------- */

static void write_escaped_part(weir_buf *b, const char *s)
{
    for (;;) {
        size_t n = strcspn(s, ";=\\");
        weir_buf_add(b, s, n);
        if (!s[n])
            return;
        WEIR_WRITE(b, "\\");
        weir_buf_add(b, s + n, 1);
        s += n + 1;
    }
}

static void add_map(struct table *w, weir_vertex v, int map)
{
    const char *key, *value;

    for (uint32_t i = 0; weir_vertex_entry(w->g, v, map, i, &key, &value); i++) {
        if (i)
            WEIR_WRITE(&w->cell, ";");
        write_escaped_part(&w->cell, key);
        if (*value) {
            WEIR_WRITE(&w->cell, "=");
            write_escaped_part(&w->cell, value);
        }
    }
    add_cell(w);
}

/* Adds extended data, whose values are JSON texts already. */
static void add_data(struct table *w, weir_vertex v)
{
    const char *key, *value;

    for (uint32_t i = 0; weir_vertex_entry(w->g, v, WEIR_EXTENDED, i, &key, &value); i++) {
        weir_buf_puts(&w->cell, i ? "," : "{");
        weir_write_string(&w->cell, key);
        WEIR_WRITE(&w->cell, ":");
        weir_buf_puts(&w->cell, value);
    }
    if (w->cell.len)
        WEIR_WRITE(&w->cell, "}");
    add_cell(w);
}

/* ---- jobs ----------------------------------------------------------------------------------------------------- */

/* Adds the n jobs to w->jobs. */
static void gather(struct table *w, const int64_t *jobs, uint32_t n)
{
    if (n == 0)
        return;
    if (weir_array_reserve(&w->jobs, &w->jobs_cap, (size_t)w->njobs + n, sizeof *w->jobs) < 0) {
        w->rc = weir_fail_nomem(w->err);
        return;
    }
    memcpy(w->jobs + w->njobs, jobs, n * sizeof *jobs);
    w->njobs += n;
}

/* Writes ascending ids as ranges. */
static void write_ranges(weir_buf *b, const int64_t *ids, uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ids[end] - ids[end - 1] == 1; end++)
            ;
        if (i)
            WEIR_WRITE(b, ",");
        weir_write_int(b, ids[i]);
        if (ids[end - 1] == ids[i])
            continue;
        WEIR_WRITE(b, "-");
        weir_write_int(b, ids[end - 1]);
    }
}

static void add_jobs(struct table *w, weir_vertex v)
{
    const struct inner *in = inner_of(w->g, v);
    int64_t *below = NULL;
    uint32_t n = 0;

    w->njobs = 0;
    if (schedule_of(w->g, v) || (in && in->cells && (in->cells[CELL_ACTIVE] || in->cells[CELL_SOON])))
        w->rc = weir_vertex_jobs(w->g, v, &below, &n, w->err);
    if (w->rc == WEIR_OK)
        gather(w, below, n);
    if (w->rc == WEIR_OK)
        gather(w, w->above, w->nabove);
    weir_free(below);
    w->njobs = weir_array_unique(w->jobs, w->njobs);
    if (w->rc == WEIR_OK)
        write_ranges(&w->cell, w->jobs, w->njobs);
    add_cell(w);
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

static void add_amounts(struct table *w, weir_vertex v)
{
    const struct schedule *schedule = schedule_of(w->g, v);
    int64_t size = kind_of(w->g, v)->size, used = schedule ? schedule_used(w->g, schedule) : 0;

    if (w->held || (schedule && schedule->held) || used > size)
        used = size;
    add_int(w, w->open && state_available(vertex_at(w->g, v)->state) ? size - used : 0);
    add_int(w, used);
}

static void write_row(struct table *w, weir_vertex v)
{
    const weir_graph *g = w->g;
    int64_t id = weir_vertex_id(g, v), rank = weir_vertex_rank(g, v);

    write_text(w->b, w->path.data, w->path.len);
    add_text(w, weir_vertex_type(g, v));
    add_text(w, weir_vertex_basename(g, v));
    if (id != WEIR_NO_ID)
        weir_write_int(&w->cell, id);
    add_cell(w);
    weir_write_name(&w->cell, g, v);
    add_cell(w);
    add_int(w, weir_vertex_size(g, v));
    add_text(w, weir_vertex_unit(g, v));
    add_text(w, weir_state_name(vertex_at(g, v)->state));
    if (rank != WEIR_NO_RANK)
        weir_write_int(&w->cell, rank);
    add_cell(w);
    add_amounts(w, v);
    add_jobs(w, v);
    add_map(w, v, WEIR_PROPERTIES);
    add_map(w, v, WEIR_TAGS);
    add_text(w, weir_vertex_exclusive(g, v) ? "true" : "");
    add_data(w, v);
    WEIR_WRITE(w->b, "\n");
}

/* Adds v to the vertices above the next rows. */
static void step_below(struct table *w, weir_vertex v)
{
    const struct schedule *schedule = schedule_of(w->g, v);
    weir_use use;

    w->open = w->open && vertex_open(w->g, v);
    w->held = w->held || (schedule && schedule->held);
    for (uint32_t i = 0; w->rc == WEIR_OK && weir_vertex_use(w->g, v, i, &use); i++) {
        if (!use.exclusive || use.job < 0)
            continue;
        if (weir_array_reserve(&w->above, &w->above_cap, (size_t)w->nabove + 1, sizeof *w->above) < 0)
            w->rc = weir_fail_nomem(w->err);
        else
            w->above[w->nabove++] = use.job;
    }
}

static void write_below(struct table *w, weir_vertex v);

static void write_kids(struct table *w, weir_vertex v)
{
    uint32_t n, nabove = w->nabove;
    const weir_vertex *kids = kids_of(w->g, v, &n);
    bool open = w->open, held = w->held;

    step_below(w, v);
    for (uint32_t i = 0; i < n && w->rc == WEIR_OK; i++)
        if (kids[i] != WEIR_NONE)
            write_below(w, kids[i]);
    w->nabove = nabove;
    w->open = open;
    w->held = held;
}

static void write_below(struct table *w, weir_vertex v)
{
    size_t len = w->path.len;

    WEIR_WRITE(&w->path, "/");
    weir_write_name(&w->path, w->g, v);
    if (check_memory(w) == WEIR_OK)
        write_row(w, v);
    if (check_memory(w) == WEIR_OK)
        w->rc = weir_write_flush(w->in, w->b, false, w->err);
    if (w->rc == WEIR_OK && vertex_at(w->g, v)->inner != WEIR_NONE)
        write_kids(w, v);
    w->path.len = len;
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

/* Begins with the vertices above the start, which count for states and jobs, and are in the path. */
static void begin_at(struct table *w, weir_vertex start)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2];
    uint32_t n = 0;

    for (weir_vertex v = weir_vertex_parent(w->g, start); v != WEIR_NONE; v = weir_vertex_parent(w->g, v))
        way[n++] = v;
    while (n-- > 0 && w->rc == WEIR_OK) {
        WEIR_WRITE(&w->path, "/");
        weir_write_name(&w->path, w->g, way[n]);
        step_below(w, way[n]);
    }
}

int weir_csv_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    struct table w = {.g = in->g, .in = in, .b = b, .open = true, .err = err};
    uint32_t n;
    const weir_vertex *tops = weir_write_tops(in->g, in->o, &n);

    weir_buf_puts(b, heads);
    if (in->o->start != WEIR_NONE)
        begin_at(&w, in->o->start);
    for (uint32_t i = 0; i < n && w.rc == WEIR_OK; i++)
        if (tops[i] != WEIR_NONE)
            write_below(&w, tops[i]);
    WEIR_FREE(w.above, w.jobs);
    weir_buf_free(&w.path);
    weir_buf_free(&w.cell);
    return w.rc;
}
