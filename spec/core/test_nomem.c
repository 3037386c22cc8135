/* test_nomem.c - a machine in full use, with indices, occupancies and nogoods, while each allocation of each
 * operation fails in turn: a failed call has changed nothing, a call that succeeded all the same has done
 * everything, and either way all derived data is right. Every operation is undone, so that the next failure finds
 * an equal machine.
 */
#include "check.h"

#include <stdio.h>

#include "weir.h"

#define SECOND INT64_C(1000000)
#define QUIET  60 /* successful calls in a row: the last allocation has failed by then */

static weir_graph *g;
static weir_vertex spare;   /* a vertex made by an operation */
static weir_vertex changed; /* the vertex changed by the operation */

static weir_vertex at(const char *path)
{
    weir_vertex v = WEIR_NONE;

    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
    return v;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------ */

static int evaluate(void *data, const weir_graph *graph, const weir_resource *r, const weir_vertex *v, size_t n,
                    double *score)
{
    (void)data, (void)graph, (void)r;
    for (size_t i = 0; i < n; i++)
        score[i] = v[i] % 7;
    return 0;
}

static int keys(void *data, const weir_graph *graph, weir_vertex v, double out[WEIR_ORDER_KEYS])
{
    (void)data;
    out[0] = (double)(weir_vertex_id(graph, v) % 3);
    return 1;
}

static const char *const by_speed[] = {"-properties.speed", "rack.id", "size", "id"},
                         *const sockets[] = {"socket", "node"}, *const least[] = {"core"}, *const whole[] = {"gpu"};
static const weir_policy policies[] = {
    {.name = "first"},
    {.name = "speed", .order = by_speed, .norder = 4},
    {.name = "keys", .keys = keys, .serial = 7},
    {.name = "near", .order = by_speed, .norder = 4, .locality = sockets, .nlocality = 2},
    {.name = "empty", .descend = least, .ndescend = 1},
    {.name = "scored", .evaluate = evaluate, .exclusive = whole, .nexclusive = 1},
};

static const struct asked {
    const char *request;
    int policy, mode;
    unsigned strict;
    int found; /* of the match */
    const char *subsystem, *whole;
} asks[] = {
    {"slot=3/[core=2;gpu=1]", 0, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=2/node", 1, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=2/[core=2;memory=5]", 2, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=3/[core=2;memory=1]", 3, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=1-4/core=1-3", 4, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=2/[gpu;core=3]", 5, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=15/node", 0, WEIR_RESERVE, 0, WEIR_OK, NULL, NULL},
    {"slot=13/node/memory=9", 1, WEIR_RESERVE, 0, WEIR_OK, NULL, NULL},
    {"slot=29/[core=4;memory=6]", 3, WEIR_RESERVE, 0, WEIR_OK, NULL, NULL},
    {"slot=2/[core=4;gpu=1;power=3]", 0, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"[slot=2{a}/core=3;slot=2{b}/[gpu;memory=2]]", 1, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=3/[core=1;memory=3]", 1, WEIR_NOW, WEIR_STRICT_SLOTS, WEIR_OK, NULL, NULL},
    {"slot=2/[core=1;memory=3]", 0, WEIR_NOW, WEIR_STRICT_POOLS | WEIR_STRICT_SLOTS, WEIR_OK, NULL, NULL},
    {"{\"resources\":[{\"type\":\"or_slot\",\"count\":1,\"label\":\"a\",\"with\":[{\"type\":\"core\",\"count\":2}]},"
     "{\"type\":\"or_slot\",\"count\":3,\"label\":\"b\",\"with\":[{\"type\":\"gpu\",\"count\":1}]}]}",
     0, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"{\"resources\":[{\"type\":\"xor_slot\",\"count\":1,\"label\":\"a\",\"with\":[{\"type\":\"gpu\",\"count\":999}]},"
     "{\"type\":\"xor_slot\",\"count\":15,\"label\":\"a\",\"with\":[{\"type\":\"node\",\"count\":1}]}]}",
     0, WEIR_RESERVE, 0, WEIR_OK, NULL, NULL},
    {"{\"resources\":[{\"type\":\"slot\",\"count\":2,\"label\":\"a\",\"with\":[{\"type\":\"node\",\"count\":1}]}],"
     "\"attributes\":{\"system\":{\"constraints\":{\"and\":[{\"properties\":[\"speed\"]},{\"not\":[{\"ranks\":[\"0-1\"]"
     "}]}]}}}}",
     1, WEIR_NOW, 0, WEIR_OK, NULL, NULL},
    {"slot=3/[core=2;gpu=1]", 1, WEIR_NOW, 0, WEIR_OK, "power", NULL},
    {"slot=15/node", 5, WEIR_RESERVE, 0, WEIR_OK, "power", NULL},
    {"slot=2/core=1", 0, WEIR_RESERVE, 0, WEIR_OK, NULL, "rack"},
    {"slot=1/core=1", 0, WEIR_RESERVE, 0, WEIR_OK, "power", "pdu"},
    /* refused: each type is there, but not together */
    {"slot=1/node/[core=8;disk=1]", 0, WEIR_NOW, 0, WEIR_EINFEASIBLE, NULL, NULL},
    {"slot=1/node/[core=7;disk=1]", 1, WEIR_NOW, 0, WEIR_EINFEASIBLE, NULL, NULL},
};

static weir_request *requests[sizeof asks / sizeof *asks];

static int ask(int i)
{
    const struct asked *x = &asks[i];
    weir_match_options o = {.mode = x->mode,
                            .strict = x->strict,
                            .at = weir_graph_now(g),
                            .duration = 30 * SECOND,
                            .job = 99,
                            .policy = &policies[x->policy],
                            .subsystem = x->subsystem,
                            .whole = x->whole};
    const weir_allocation *a = NULL;
    int rc = weir_match(g, requests[i], &o, &a, NULL);

    return rc == x->found ? WEIR_OK : rc == WEIR_OK ? WEIR_EINVAL : rc;
}

static int withdraw(int i)
{
    return asks[i].found == WEIR_OK ? weir_release(g, 99, NULL) : WEIR_OK;
}

/* ---- changes --------------------------------------------------------------------------------------------------- */

/* Does operation i, or (off) undoes it. */
static int change(int i, bool on)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    switch (i) {
    case 0: return weir_vertex_set_state(g, changed, on ? WEIR_DOWN : WEIR_UP, NULL);
    case 1:
        return on ? weir_vertex_set(g, changed, WEIR_PROPERTIES, "speed", "9", NULL)
                  : weir_vertex_unset(g, changed, WEIR_PROPERTIES, "speed");
    case 2:
        return on ? weir_vertex_set(g, changed, WEIR_TAGS, "t", "9", NULL)
                  : weir_vertex_unset(g, changed, WEIR_TAGS, "t");
    case 3: return weir_vertex_set_rank(g, changed, on ? 77 : 41, NULL);
    case 4:
        d.type = "node";
        d.id = 90;
        d.rank = 90;
        return on ? weir_graph_add_many(g, at("/cluster0/rack1"), &d, 40, 1, &spare, NULL) : WEIR_OK;
    case 5:
        return on ? weir_vertex_allocate(g, at("/cluster0/rack1/node15/socket0/memory0"), 98, 1, weir_graph_now(g),
                                         WEIR_FOREVER, NULL)
                  : weir_vertex_release(g, at("/cluster0/rack1/node15/socket0/memory0"), 98, 1, NULL);
    case 6:
        return on ? weir_graph_split(g, at("/cluster0/rack1/node15/socket0/memory0"), 2, &spare, NULL)
                  : weir_graph_join(g, at("/cluster0/rack1/node15/socket0/memory0"), spare, NULL);
    default:
        return on ? weir_edge_add(g, at("/cluster0"), changed, "water", "cools", NULL, NULL)
                  : weir_edge_unlink(g, changed, "water", NULL);
    }
}
#define CHANGES 8

/* ---- doing and undoing ----------------------------------------------------------------------------------------- */

struct step {
    char what[160];
    int i;
    bool job;
};

static int run(const struct step *s, bool on)
{
    if (s->job)
        return on ? ask(s->i) : withdraw(s->i);
    if (s->i == 4 && !on) { /* forty, one by one: every job is removed whole before the next */
        for (weir_vertex v = spare; v < spare + 40; v++) {
            int rc = weir_vertex_live(g, v) ? weir_graph_unlink(g, v, NULL) : WEIR_OK;
            if (rc)
                return rc;
        }
        return WEIR_OK;
    }
    return change(s->i, on);
}

static bool is_right(const weir_graph *as, const char *what, long n)
{
    weir_err err = {0};

    return CHECK(weir_check(g, &err) == WEIR_OK, "%s, allocation %ld: %s", what, n, err.text) &&
           CHECK(!as || weir_graph_compare(g, as, true, &err) == WEIR_OK, "%s, allocation %ld: %s", what, n, err.text);
}

/* The n-th allocation fails while an operation is done (`on`) or undone. Returns whether it succeeded; *ok is set
 * to false on a fault. */
static bool fail_once(const struct step *s, bool on, long n, const weir_graph *before, bool *ok)
{
    int rc = on ? WEIR_OK : run(s, true);

    *ok = CHECK(rc == WEIR_OK, "%s: %s", s->what, weir_status_name(rc));
    weir_mem_fail_after(n);
    rc = run(s, on);
    weir_mem_fail_after(0);
    *ok = *ok && CHECK(rc == WEIR_OK || rc == WEIR_ENOMEM, "%s, allocation %ld: %s", s->what, n, weir_status_name(rc));
    *ok = *ok && is_right(rc == WEIR_OK && on ? NULL : rc == WEIR_OK || on ? before : NULL, s->what, n);
    if ((rc == WEIR_OK) == on)
        *ok = *ok && CHECK(run(s, false) == WEIR_OK, "%s: it is undone", s->what) && is_right(before, s->what, n);
    return rc == WEIR_OK;
}

static long fail_all(const struct step *s, bool on)
{
    weir_graph *before = NULL;
    long failed = 0;
    int quiet = 0;
    bool ok = true;

    CHECK(weir_graph_dup(g, &before, NULL) == WEIR_OK, "a copy");
    for (long n = 1; ok && quiet < QUIET && n < 5000; n++) {
        bool through = fail_once(s, on, n, before, &ok);
        quiet = through ? quiet + 1 : 0;
        failed += !through;
    }
    CHECK(quiet == QUIET || !ok, "%s: goes through in the end", s->what);
    weir_graph_free(before);
    return failed;
}

/* ---- the machine ----------------------------------------------------------------------------------------------- */

#define MACHINE "cluster:1 rack:2 node:8 socket:2 [core:4 gpu:1 memory:1(size=8)]"

/* Jobs of all kinds: shared and whole, now and later. `speed` and ranks say something else of each node, one has a
 * disk. */
static void open_machine(void)
{
    static const char *const jobs[] = {"slot=1/[core=2;memory=3]", "slot=2/core=3", "slot=1/node"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v, pdu;
    int64_t job = 1;

    CHECK(weir_graph_parse(MACHINE, strlen(MACHINE), "t", NULL, &g, NULL) == WEIR_OK, "a machine");
    d.type = "pdu";
    d.size = 20;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    for (int i = 0; i < 16; i++) {
        char path[64], speed[8];
        snprintf(path, sizeof path, "/cluster0/rack%d/node%d", i / 8, i);
        snprintf(speed, sizeof speed, "%d", i % 3);
        v = at(path);
        CHECK(weir_vertex_set_rank(g, v, i, NULL) == WEIR_OK, "a rank");
        CHECK(i == 15 || weir_vertex_set(g, v, WEIR_PROPERTIES, "speed", speed, NULL) == WEIR_OK, "a speed");
        CHECK(weir_edge_add(g, pdu, v, "power", "feeds", NULL, NULL) == WEIR_OK, "power");
    }
    d = (weir_pool_desc)WEIR_POOL_DESC_INIT;
    d.type = "node";
    d.id = 16;
    d.rank = 41;
    CHECK(weir_graph_add(g, at("/cluster0"), &d, &changed, NULL) == WEIR_OK, "a node without cores");
    d.type = "disk";
    d.rank = WEIR_NO_RANK;
    CHECK(weir_graph_add(g, changed, &d, &v, NULL) == WEIR_OK, "and its disk");
    for (int i = 0; i < 12; i++) {
        weir_match_options o = {.mode = i % 2 ? WEIR_RESERVE : WEIR_NOW, .duration = (5 + i) * SECOND, .job = job};
        const weir_allocation *a;
        weir_request *r = NULL;
        const char *text = jobs[i / 4];
        CHECK(weir_request_parse(text, strlen(text), "t", &r, NULL) == WEIR_OK, "%s", text);
        job += weir_match(g, r, &o, &a, NULL) == WEIR_OK;
        weir_request_free(r);
    }
    CHECK(job > 8, "%d jobs", (int)job - 1);
}

int main(void)
{
    struct step s;
    long failed = 0;

    open_machine();
    for (int i = 0; i < (int)(sizeof asks / sizeof *asks); i++) {
        weir_err err = {0};
        CHECK(weir_request_parse(asks[i].request, strlen(asks[i].request), "t", &requests[i], &err) == WEIR_OK, "%s",
              err.text);
    }
    for (int i = 0; i < CHANGES + (int)(sizeof asks / sizeof *asks); i++) {
        s.job = i >= CHANGES;
        s.i = s.job ? i - CHANGES : i;
        snprintf(s.what, sizeof s.what, s.job ? "%.150s" : "change %s",
                 s.job ? asks[s.i].request : (char[]){(char)('0' + i), '\0'});
        failed += fail_all(&s, true) + fail_all(&s, false);
    }
    CHECK(failed > 500, "%ld calls failed", failed);
    for (int i = 0; i < (int)(sizeof asks / sizeof *asks); i++)
        weir_request_free(requests[i]);
    weir_graph_free(g);
    return check_report();
}
