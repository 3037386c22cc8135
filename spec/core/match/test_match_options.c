/* test_match_options.c - requests taken strictly, edges that are followed, and selections of policies: the picks, and
 * nothing changed or lost where an allocation fails on the way. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "weir.h"

#define MACHINE "cluster:1 node:2 socket:2 [core:4 memory:2(size=4)]"

/* Two links: from the cluster's store, which has no children, to the sockets of the second node. */
static weir_graph *make_machine(void)
{
    weir_graph *g = NULL;
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, store, socket;

    CHECK(weir_graph_parse(MACHINE, strlen(MACHINE), "t", "synthetic", &g, NULL) == WEIR_OK, "a machine");
    root = weir_graph_root(g, NULL, 0);
    d.type = "store";
    d.id = 0;
    CHECK(weir_graph_add(g, root, &d, &store, NULL) == WEIR_OK, "a store is added");
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "/cluster0/node1/socket%d", i);
        CHECK(weir_graph_lookup(g, path, &socket, NULL) == WEIR_OK, "a socket");
        CHECK(weir_edge_add(g, store, socket, "links", "leads to", NULL, NULL) == WEIR_OK, "a link");
    }
    return g;
}

/* One match, run with failing allocations. */
struct trial {
    weir_graph *g;
    weir_request *r;
    weir_match_options o;
    char picks[400];
};

static int once(void *data)
{
    struct trial *t = data;
    const weir_allocation *a;
    weir_err err = {0};
    size_t at = 0;
    int rc = weir_match(t->g, t->r, &t->o, &a, &err);

    if (rc) {
        CHECK(weir_job_count(t->g) == 0, "nothing is booked");
        return rc;
    }
    t->picks[0] = '\0';
    for (uint32_t i = 0; i < a->npicks; i++) {
        char name[40];
        weir_vertex_path(t->g, a->picks[i].vertex, name, sizeof name);
        at += (size_t)snprintf(t->picks + at, sizeof t->picks - at, "%s%s", i ? " " : "", name + strlen("/cluster0/"));
    }
    weir_mem_fail_after(0);
    CHECK(weir_release(t->g, a->job, NULL) == WEIR_OK, "it is given back");
    return WEIR_OK;
}

static const struct {
    const char *what, *request;
    unsigned strict;
    const char *follow;
    const char *order, *descend;
    const char *picks;
} rows[] = {
    {"strict slots of undivided pools",
     "{\"resources\":[{\"type\":\"slot\",\"count\":2,\"label\":\"a\",\"with\":[{\"type\":\"core\",\"count\":1},"
     "{\"type\":\"memory\",\"count\":4}]}],\"attributes\":{\"system\":{}}}",
     WEIR_STRICT_SLOTS | WEIR_STRICT_POOLS, NULL, "id", NULL,
     "node0/socket0/core0 node0/socket0/memory0 node1/socket0/core0 node1/socket0/memory0"},
    {"what links lead to", "store/socket/core=1", 0, "links", "id", NULL, "node1/socket0/core0"},
    {"what links lead to, highest first", "store/socket/core=1", 0, "links", "-id", NULL, "node1/socket1/core7"},
    {"the best of what is found, where fewer are allowed", "slot=1/core=2-40:5:+", 0, NULL, "id", "core",
     "node1/socket0/core0 node1/socket0/core1 node1/socket0/core2 node1/socket0/core3 node1/socket1/core4 "
     "node1/socket1/core5 "
     "node1/socket1/core6"},
};

static void check_row(size_t i)
{
    const char *order[] = {rows[i].order}, *descend[] = {rows[i].descend};
    weir_policy p = {.name = "p", .order = order, .norder = 1, .descend = descend, .ndescend = rows[i].descend ? 1 : 0};
    struct trial t = {.g = make_machine(),
                      .o = {.mode = WEIR_NOW, .strict = rows[i].strict, .follow = rows[i].follow, .policy = &p}};
    weir_err err = {0};
    const char *text = rows[i].request;

    if (!CHECK(weir_request_parse(text, strlen(text), "r", &t.r, &err) == WEIR_OK, "%s: %s", text, err.text))
        return;
    check_nomem(once, &t, rows[i].what);
    CHECK(strcmp(t.picks, rows[i].picks) == 0, "%s: %s", rows[i].what, t.picks);
    CHECK(weir_check(t.g, &err) == WEIR_OK, "%s: %s", rows[i].what, err.text);
    weir_request_free(t.r);
    weir_graph_free(t.g);
}

/* The error of a request that cannot be met names the policy, but not the one made for whole vertices of a type. */
static void check_whole(void)
{
    weir_policy p = {.name = "p"};
    weir_match_options o = {.mode = WEIR_NOW, .policy = &p, .whole = "socket"};
    weir_graph *g = make_machine();
    weir_request *r = NULL;
    const weir_allocation *a;
    weir_err err = {0};

    CHECK(weir_request_parse("slot=99/core=1", strlen("slot=99/core=1"), "r", &r, NULL) == WEIR_OK, "a request");
    CHECK(weir_match(g, r, &o, &a, &err) == WEIR_EINFEASIBLE && !strstr(err.text, "policy"), "whole: %s", err.text);
    weir_request_free(r);
    weir_graph_free(g);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(i);
    check_whole();
    return check_report();
}
