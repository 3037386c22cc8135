/* test_competing.c - parts of a request that compete, while each allocation fails in turn: a failed match has
 * changed nothing, and the final answer equals the answer without failures. And symmetry: equal ways are not tried
 * again, on machines with far too many ways.
 */
#include "check.h"

#include <stdio.h>

#include "weir.h"

static const struct {
    const char *machine, *others, *request;
    int answer;
} cases[] = {
    {"cluster:1 node:2 [memory:2(size=4) core:3]", NULL, "slot=1/[node;core=2;memory=5]", WEIR_OK},
    {"cluster:1 node:4 core:3", NULL, "slot/[node=2-3;core=2-9]", WEIR_OK},
    {"cluster:1 node:2 memory:1(size=4)", NULL, "slot/[node;memory=5]", WEIR_EINFEASIBLE},
    /* two cores for either kind, and one left in each node */
    {"cluster:1 node:30 core:3", NULL, "slot/[node=20{-x}/core=2;node=20{-x}/core=2]", WEIR_EINFEASIBLE},
    {"cluster:1 rack:5 node:6 core:3", NULL, "slot/[node=15{-x}/core=2;node=16{-x}/core=2]", WEIR_EINFEASIBLE},
    {"cluster:1 rack:5 node:6 core:3", NULL, "slot/[node=15{-x}/core=2;node=15{-x}/core=2]", WEIR_OK},
    {"cluster:1 rack:5 node:6 core:3", "slot=3/core=2", "slot/[node=15{-x}/core=2;node=15{-x}/core=2]", WEIR_EBUSY},
    {"cluster:1 rack:5 node:6 core:3", NULL, "slot/[rack=2;node=10;node=9{-x}/core=2]", WEIR_EINFEASIBLE},
    {"cluster:1 node:12 socket:2 [core:3 memory:1(size=7)]", NULL,
     "slot/[node=6;socket=7{-x}/memory=4;socket=6{-x}/memory=4]", WEIR_EINFEASIBLE},
    {"cluster:1 node:12 socket:2 [core:3 memory:1(size=7)]", NULL, "[slot=9{a}/[socket;core];slot=5{b}/[socket;core]]",
     WEIR_EINFEASIBLE},
    {"cluster:1 node:30 core:3", NULL, "slot/[node=15{-x}/[core=2;power=1];node=15{-x}/core=2]", WEIR_OK},
    {"cluster:1 node:12 socket:2 [core:3 memory:1(size=7)]", NULL, "[slot=9{a}/[socket;core];slot=3{b}/[socket;core]]",
     WEIR_OK},
};

#define CASES ((int)(sizeof cases / sizeof *cases))
#define QUIET 40 /* matches in a row that succeeded: the last allocation has failed by then */

/* Feeds all nodes from one source of 20. */
static void feed(weir_graph *g)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v, pdu;
    char path[64];

    d.type = "pdu";
    d.size = 20;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &pdu, NULL) == WEIR_OK, "a pdu");
    for (int i = 0; i < 30; i++) {
        snprintf(path, sizeof path, "/cluster0/node%d", i);
        CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
        CHECK(weir_edge_add(g, pdu, v, "power", "feeds", NULL, NULL) == WEIR_OK, "power for %s", path);
    }
}

static weir_graph *open_machine(const char *machine, const char *others)
{
    weir_match_options o = {.mode = WEIR_NOW, .duration = 1000000, .job = 1};
    const weir_allocation *a;
    weir_request *r = NULL;
    weir_graph *g = NULL;

    CHECK(weir_graph_parse(machine, strlen(machine), "t", NULL, &g, NULL) == WEIR_OK, "%s", machine);
    if (!others)
        return g;
    CHECK(weir_request_parse(others, strlen(others), "t", &r, NULL) == WEIR_OK, "%s", others);
    CHECK(weir_match(g, r, &o, &a, NULL) == WEIR_OK, "%s", others);
    weir_request_free(r);
    return g;
}

/* Matches for job 99, and releases. */
static int ask(weir_graph *g, const weir_request *r, weir_err *err)
{
    weir_match_options o = {.mode = WEIR_NOW, .duration = 1000000, .job = 99};
    const weir_allocation *a;
    int rc = weir_match(g, r, &o, &a, err);

    return rc == WEIR_OK ? weir_release(g, 99, NULL) : rc;
}

static bool fail_once(weir_graph *g, const weir_request *r, int i, long n)
{
    weir_err err = {0};
    int rc;

    weir_mem_fail_after(n);
    rc = ask(g, r, &err);
    weir_mem_fail_after(0);
    CHECK(rc == cases[i].answer || rc == WEIR_ENOMEM, "%s, allocation %ld: %s", cases[i].request, n,
          weir_status_name(rc));
    CHECK(weir_check(g, &err) == WEIR_OK, "%s, allocation %ld: %s", cases[i].request, n, err.text);
    return rc != WEIR_ENOMEM;
}

int main(void)
{
    for (int i = 0; i < CASES; i++) {
        weir_graph *g = open_machine(cases[i].machine, cases[i].others);
        weir_request *r = NULL;
        weir_err err = {0};
        int rc, quiet = 0;

        if (!CHECK(weir_request_parse(cases[i].request, strlen(cases[i].request), "t", &r, &err) == WEIR_OK, "%s",
                   err.text))
            return check_report();
        if (strstr(cases[i].request, "power"))
            feed(g);
        rc = ask(g, r, &err);
        CHECK(rc == cases[i].answer, "%s: %s, %s", cases[i].request, weir_status_name(rc), err.text);
        for (long n = 1; quiet < QUIET && n < 2000; n += n < 300 ? 1 : n / 50)
            quiet = fail_once(g, r, i, n) ? quiet + 1 : 0;
        weir_request_free(r);
        weir_graph_free(g);
    }
    return check_report();
}
