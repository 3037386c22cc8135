/* test_document.c - documents: round trips of random graphs with random jobs, and failing allocations. Requirements:
 * L5, L8, M1. The faults of documents are in document_spec.lua.
 */
#include "stored.h"

static char *document(const weir_graph *g)
{
    weir_err err = {0};
    char *text = weir_graph_format(g, "document", &err);

    CHECK(text, "a document: %s", err.text);
    return text;
}

static void round_trips(void)
{
    for (int64_t s = 1; s <= scaled(60); s++) {
        weir_graph *g = random_graph((uint64_t)s, 40), *h = NULL;
        char *text = document(g), *again;
        weir_err err = {0};
        int rc = text ? weir_graph_parse(text, strlen(text), "document", NULL, &h, &err) : WEIR_EINVAL;

        if (CHECK(rc == WEIR_OK, "seed %lld: %s", (long long)s, err.text)) {
            sound(h, "what was loaded");
            same(g, h, true, "what was saved and loaded");
            CHECK(jobs_next_id(g) == jobs_next_id(h) && g->now == h->now, "clock and next job");
            again = document(h);
            CHECK(again && strcmp(text, again) == 0, "seed %lld: equal bytes", (long long)s);
            weir_free(again);
        }
        weir_free(text);
        weir_graph_free(h);
        weir_graph_free(g);
    }
}

/* A graph with all that is rare: tags in the wrong order, data, ranks, further subsystems with flows, reservations. */
static weir_graph *rich(void)
{
    static const char shape[] = "cluster:1 node:2 core:2 memory:1(size=16,unit=GB)";
    weir_graph *g = NULL;
    weir_pool_desc pdu = WEIR_POOL_DESC_INIT;
    weir_vertex unit = WEIR_NONE, node;
    weir_match_options now = {.duration = 100}, later = {.mode = WEIR_RESERVE, .duration = 50};
    const weir_allocation *a;
    weir_request *r = NULL;

    pdu.type = "pdu";
    pdu.size = 9;
    CHECK(weir_graph_parse(shape, strlen(shape), NULL, NULL, &g, NULL) == WEIR_OK, "a machine");
    CHECK(weir_graph_add(g, WEIR_NONE, &pdu, &unit, NULL) == WEIR_OK, "a power unit");
    CHECK(weir_graph_lookup(g, "/cluster0/node1", &node, NULL) == WEIR_OK, "a node");
    CHECK(weir_edge_add(g, unit, node, "power", "supplies", "drawn", NULL) == WEIR_OK, "an edge");
    CHECK(weir_vertex_set(g, node, WEIR_TAGS, "z", "1", NULL) == WEIR_OK, "a tag");
    CHECK(weir_vertex_set(g, node, WEIR_TAGS, "a", "2", NULL) == WEIR_OK, "a tag");
    CHECK(weir_vertex_set(g, node, WEIR_EXTENDED, "json", "[1, 2]", NULL) == WEIR_OK, "data");
    CHECK(weir_vertex_set(g, node, WEIR_EXTENDED, "text", "[1, ", NULL) == WEIR_OK, "data that is no JSON");
    CHECK(weir_vertex_set_rank(g, weir_vertex_child(g, node, 0), 1, NULL) == WEIR_OK, "a rank of a core");
    CHECK(weir_request_parse("slot=1/node/power=2", 19, "shape", &r, NULL) == WEIR_OK, "a request");
    CHECK(weir_match(g, r, &now, &a, NULL) == WEIR_OK, "a job");
    CHECK(weir_match(g, r, &later, &a, NULL) == WEIR_OK, "a reservation");
    weir_request_free(r);
    return g;
}

static int write_once(void *g)
{
    weir_err err = {0};
    char *text = weir_graph_format(g, "document", &err);
    int rc = text ? WEIR_OK : err.code;

    weir_free(text);
    return rc;
}

static int read_once(void *text)
{
    weir_graph *g = NULL;
    int rc = weir_graph_parse(text, strlen(text), "document", NULL, &g, NULL);

    weir_graph_free(g);
    return rc;
}

static void memory(void)
{
    weir_graph *g = rich();
    char *text = document(g);

    check_nomem(write_once, g, "writing a document");
    check_nomem(read_once, text, "reading a document");
    CHECK(strstr(text, "\"a\":\"2\",\"z\":\"1\"") && strstr(text, "\"flows\":[[5,9,2]]") && strstr(text, "own_rank"),
          "what is rare is in the document: %s", text);
    weir_free(text);
    weir_graph_free(g);
}

int main(void)
{
    round_trips();
    memory();
    return check_report();
}
