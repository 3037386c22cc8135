/* test_check.c - weir_check() reports every kind of damage: each invariant, violated one at a time in a sound
 * graph. */
#include "check.h"

#include "time/schedule.h"
#include "job/job.h"
#include "index/node_table.h"
#include "aggregate/rows.h"

#define SECOND 1000000

/* A damaged place and the old bytes, to be mended from. */
struct damage {
    void *at;
    size_t size;
    uint64_t was;
};

static void put(void *at, size_t size, uint64_t value)
{
    uint8_t u8 = (uint8_t)value;
    uint32_t u32 = (uint32_t)value;

    memcpy(at, size == 1 ? (void *)&u8 : size == 4 ? (void *)&u32 : (void *)&value, size);
}

static struct damage damage(void *at, size_t size, uint64_t value)
{
    struct damage d = {at, size, 0};
    uint8_t u8;
    uint32_t u32;

    memcpy(size == 1 ? (void *)&u8 : size == 4 ? (void *)&u32 : (void *)&d.was, at, size);
    d.was = size == 1 ? u8 : size == 4 ? u32 : d.was;
    put(at, size, value);
    return d;
}

/* ---- a graph with something of everything ---- */

static weir_vertex at_path(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
    return v;
}

static void match(weir_graph *g, const char *text, int mode, int64_t job)
{
    weir_match_options o = {.mode = mode, .at = 0, .job = job};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    weir_err err = {0};

    CHECK(weir_request_parse(text, strlen(text), NULL, &r, &err) == WEIR_OK &&
              weir_request_set_duration(r, 10 * SECOND, &err) == WEIR_OK && weir_match(g, r, &o, &a, &err) == WEIR_OK,
          "%s: %s", text, err.text);
    weir_request_free(r);
}

/* node0 as a whole, half of the memory of node1, all nodes later; job 1, 2, 3. */
static weir_graph *machine(void)
{
    static const char text[] = "cluster:1 node:2 core:2 memory:1(size=8,unit=GB)";
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_graph_parse(text, strlen(text), NULL, "synthetic", &g, &err) == WEIR_OK, "%s", err.text);
    match(g, "slot=1/node", WEIR_NOW, 1);
    match(g, "slot=1/memory=4", WEIR_NOW, 2);
    match(g, "slot=2/node", WEIR_RESERVE, 3);
    CHECK(weir_check(g, &err) == WEIR_OK, "%s", err.text);
    return g;
}

static struct schedule *schedule_at(const weir_graph *g, const char *path)
{
    struct schedule *b = schedule_of(g, at_path(g, path));

    CHECK(b != NULL, "%s has a schedule", path);
    return b;
}

static struct job *job_of(const weir_graph *g, int64_t id)
{
    return &jobs_in(g)->list[weir_job_index(g, id)];
}

/* ---- the damage ---- */

#define DAMAGE(name, what, value)                                                                                      \
    static struct damage name(weir_graph *g)                                                                           \
    {                                                                                                                  \
        return damage(&(what), sizeof(what), (uint64_t)(value));                                                       \
    }
#define VERTEX(path) vertex_at(g, at_path(g, path))
#define INNER(path)  inner_of(g, at_path(g, path))
#define BOOK(path)   schedule_at(g, path)
#define SHARED       "/cluster0/node1/memory0"
#define HELD         "/cluster0/node0"

DAMAGE(kind, VERTEX(SHARED)->kind, 99)
DAMAGE(root_place, VERTEX("/cluster0")->pos, 7)
DAMAGE(child_place, VERTEX(HELD)->pos, 1)
DAMAGE(inner_owner, INNER(HELD)->vertex, 0)
DAMAGE(schedule_kind, BOOK(SHARED)->kind, 0)
DAMAGE(schedule_refs, BOOK(HELD)->refs, 2)
DAMAGE(kid, INNER(HELD)->kids[1], at_path(g, "/cluster0/node1/core1"))
DAMAGE(holes, INNER(HELD)->holes, 1)
DAMAGE(seen, INNER(HELD)->seen, 1)
DAMAGE(live, g->live, 3)
DAMAGE(unavailable, g->unavailable, 1)
DAMAGE(cell, row_cells(g, INNER("/cluster0"), 0)[0], 1)
DAMAGE(span_job_gone, BOOK(SHARED)->few[0], 77)
DAMAGE(clock, g->now, -5)
DAMAGE(shared, BOOK(SHARED)->shared, 2)
DAMAGE(longer, job_of(g, 1)->a.end, 15 * SECOND)
DAMAGE(last_end, BOOK(HELD)->last_end, 5)
DAMAGE(amount, job_of(g, 2)->picks[0].amount, 3)
DAMAGE(start, jobs_in(g)->starts[weir_job_index(g, 3)], 1)
DAMAGE(list, job_of(g, 2)->place, 60)
DAMAGE(pending, job_of(g, 3)->queue_place, WEIR_NONE)
DAMAGE(heap, job_of(g, 3)->queue_place, 9)
DAMAGE(id, job_of(g, 2)->a.job, 9)
DAMAGE(jobs, jobs_in(g)->live, 4)
DAMAGE(heap_count, jobs_in(g)->nqueue, 0)

static const struct {
    struct damage (*make)(weir_graph *g);
    const char *says;
} rows[] = {
    {kind, "kind out of range"},
    {root_place, "a root is not at its place"},
    {child_place, "a child is not at its place"},
    {inner_owner, "an inner record belongs to another vertex"},
    {schedule_kind, "a schedule is of another kind"},
    {schedule_refs, "a schedule is of more or fewer vertices than it says"},
    {kid, "a kid has another parent"},
    {holes, "holes are miscounted"},
    {seen, "the child requested last has another number"},
    {live, "live vertices are miscounted"},
    {unavailable, "unavailable vertices are miscounted"},
    {cell, "a row is not what its entries make"},
    {span_job_gone, "a span is of no job"},
    {clock, "a span has begun too early or too late"},
    {shared, "the sums of a schedule are wrong"},
    {longer, "two jobs at once where one is exclusive"},
    {last_end, "a schedule does not know its last span"},
    {amount, "a pick is in no schedule"},
    {start, "a job does not start when it says"},
    {list, "a job is not at its place in the list"},
    {pending, "a job is queued without an event, or the other way round"},
    {heap, "a job is not at its place in the heap"},
    {id, "a job is not found by its id"},
    {jobs, "jobs are miscounted"},
    {heap_count, "a job is not at its place in the heap"},
};

static void test_damage(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        weir_graph *g = machine();
        struct damage d = rows[i].make(g);
        weir_err err = {0};
        int rc = weir_check(g, &err);

        CHECK(rc == WEIR_EINVAL && strstr(err.text, rows[i].says), "row %zu, %s: says \"%s\"", i, rows[i].says,
              err.text);
        put(d.at, d.size, d.was);
        CHECK(weir_check(g, NULL) == WEIR_OK, "row %zu: mended, it is sound", i);
        weir_graph_free(g);
    }
}

static int check_once(void *g)
{
    return weir_check(g, NULL);
}

static void test_nomem(void)
{
    weir_graph *g = machine();

    check_nomem(check_once, g, "weir_check");
    CHECK(weir_check(g, NULL) == WEIR_OK, "sound after all");
    weir_graph_free(g);
}

int main(void)
{
    test_damage();
    test_nomem();
    return check_report();
}
