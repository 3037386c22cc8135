/* test_kept.c - more kinds of requests than a graph caches results for: nogoods and earliest fits. Each answer
 * equals the answer of a copy, which has an empty cache.
 */
#include "check.h"

#include <stdio.h>

#include "weir.h"

#define SECOND INT64_C(1000000)
#define KINDS  60 /* of requests; 32 are kept */

static weir_graph *g;
static weir_request *kinds[KINDS];

/* Eight nodes have cores, and eight have disks; the last node of each kind gets the missing type later. */
static void open_machine(void)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex root, v;

    g = weir_graph_new();
    d.type = "cluster";
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &root, NULL) == WEIR_OK, "a cluster");
    for (int i = 0; i < 16; i++) {
        d.type = "node";
        d.id = i;
        CHECK(weir_graph_add(g, root, &d, &v, NULL) == WEIR_OK, "a node");
        d.type = i < 8 ? "core" : "disk";
        d.id = 0;
        CHECK(weir_graph_add_many(g, v, &d, 16, 1, NULL, NULL) == WEIR_OK, "what is in it");
        d.type = "memory";
        d.size = 20;
        CHECK(weir_graph_add(g, v, &d, NULL, NULL) == WEIR_OK, "and its memory");
        d.size = 1;
    }
}

static void make_kinds(const char *format, int a)
{
    for (int i = 0; i < KINDS; i++) {
        char text[80];
        weir_err err = {0};
        snprintf(text, sizeof text, format, 1 + i % a, 1 + i / a);
        weir_request_free(kinds[i]);
        CHECK(weir_request_parse(text, strlen(text), "t", &kinds[i], &err) == WEIR_OK, "%s: %s", text, err.text);
    }
}

/* The answer of a match as a sum of the status, the start, and the numbers of the picks. */
static uint64_t answer(weir_graph *graph, const weir_request *r, int mode)
{
    weir_match_options o = {.mode = mode, .at = weir_graph_now(graph), .duration = 7 * SECOND, .job = 4711};
    const weir_allocation *a = NULL;
    int rc = weir_match(graph, r, &o, &a, NULL);
    uint64_t sum = (uint64_t)(int64_t)rc;

    if (rc)
        return sum;
    for (uint32_t i = 0; i < a->npicks; i++)
        sum = sum * 31 + a->picks[i].vertex + (uint64_t)a->picks[i].amount;
    sum = sum * 31 + (uint64_t)a->start;
    CHECK(weir_release(graph, 4711, NULL) == WEIR_OK, "it is given back");
    return sum;
}

static void compare(int kind, int mode, const char *when)
{
    weir_graph *copy = NULL;
    weir_err err = {0};
    uint64_t here = answer(g, kinds[kind], mode), there;

    CHECK(weir_graph_dup(g, &copy, NULL) == WEIR_OK && weir_graph_bytes(copy) < weir_graph_bytes(g),
          "a copy without what is kept");
    there = answer(copy, kinds[kind], mode);
    CHECK(here == there, "%s, kind %d: %llx, and %llx on a copy", when, kind, (unsigned long long)here,
          (unsigned long long)there);
    CHECK(weir_check(g, &err) == WEIR_OK, "%s, kind %d: %s", when, kind, err.text);
    weir_graph_free(copy);
}

/* Matches in an order with and without repeats of cached results. */
static void compare_all(int mode, const char *when)
{
    for (int i = 0; i < 2 * KINDS; i++)
        compare(i * i % 7 * 8 % KINDS + i / 3 % 8, mode, when);
    for (int i = 0; i < KINDS; i++)
        compare(i, mode, when);
}

static void test_refused(void)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v;

    make_kinds("slot=1/node/[core=%d;disk=%d]", 10);
    compare_all(WEIR_NOW, "none has both");
    d.type = "disk";
    d.id = 0;
    CHECK(weir_graph_lookup(g, "/cluster0/node7", &v, NULL) == WEIR_OK ||
              weir_graph_lookup(g, "/cluster/node7", &v, NULL) == WEIR_OK,
          "node 7");
    CHECK(weir_graph_add_many(g, v, &d, 3, 1, &v, NULL) == WEIR_OK, "it gets disks");
    compare_all(WEIR_NOW, "one has both");
    CHECK(weir_vertex_allocate(g, v, 5, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK, "a disk is taken");
    compare_all(WEIR_NOW, "one has fewer");
    CHECK(weir_release(g, 5, NULL) == WEIR_OK, "and given back");
    compare_all(WEIR_NOW, "as before");
    make_kinds("slot=1/node/[core=1,3,%d7;disk=2,5,%d9]", 10);
    compare_all(WEIR_NOW, "counts of several values");
}

static void test_rooms(void)
{
    make_kinds("slot=%d/core=%d", 8);
    for (int i = 0; i < 30; i++) {
        weir_match_options o = {.mode = WEIR_RESERVE, .duration = (1 + i % 4) * SECOND, .job = 1 + i};
        const weir_allocation *a;
        CHECK(weir_match(g, kinds[i * 7 % 40], &o, &a, NULL) == WEIR_OK, "job %d", 1 + i);
    }
    compare_all(WEIR_RESERVE, "many jobs");
    for (int i = 0; i < 320; i++) { /* more classes of requests than the 256 cached */
        char text[80];
        weir_request *r = NULL;
        snprintf(text, sizeof text, "slot=8/[core=%d;memory=%d]", 1 + i % 16, 1 + i / 16);
        CHECK(weir_request_parse(text, strlen(text), "t", &r, NULL) == WEIR_OK, "%s", text);
        if (i % 40 == 0) {
            weir_request *own = kinds[0];
            kinds[0] = r;
            compare(0, WEIR_RESERVE, text);
            kinds[0] = own;
        }
        answer(g, r, WEIR_RESERVE);
        weir_request_free(r);
    }
    compare_all(WEIR_RESERVE, "many kinds of jobs");
    for (int i = 0; i < 30; i += 3) {
        CHECK(weir_release(g, 1 + i, NULL) == WEIR_OK, "job %d goes", 1 + i);
        compare(i, WEIR_RESERVE, "fewer jobs");
        compare(KINDS - 1 - i, WEIR_RESERVE, "fewer jobs");
    }
    CHECK(weir_graph_advance(g, 3 * SECOND, NULL) == WEIR_OK, "the clock goes on");
    compare_all(WEIR_RESERVE, "later");
}

int main(void)
{
    open_machine();
    test_refused();
    test_rooms();
    for (int i = 0; i < KINDS; i++)
        weir_request_free(kinds[i]);
    weir_graph_free(g);
    return check_report();
}
