/* fuzz_constraint.c - constraints: the set of nodes allowed by a constraint equals the nodes tested singly. */
#include "request/constraint.h"
#include "fuzz.h"
#include "index/node_table.h"

#define RACKS 3
#define NODES 12 /* in each */

static weir_graph *graph;
static struct node_table *table;

/* Names node0 to node11 in each rack, ranks 100 downwards, properties a to d and some with a suffix. */
static void add_node(weir_graph *g, weir_vertex rack, int i)
{
    static const char *const properties[] = {"a", "b", "ab", "a@gpu", "c-1", "d"};
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex node;

    d.type = "node";
    d.id = i % NODES;
    d.rank = i % 5 == 4 ? WEIR_NO_RANK : 100 - i;
    if (weir_graph_add(g, rack, &d, &node, NULL) != WEIR_OK)
        fuzz_fail("no node");
    for (int k = 0; k < 6; k++)
        if (i % (k + 2) == 0 && weir_vertex_set(g, node, WEIR_PROPERTIES, properties[k], "", NULL) != WEIR_OK)
            fuzz_fail("no property");
}

static void build(void)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex cluster, rack;

    d.type = "cluster";
    graph = weir_graph_new();
    if (!graph || weir_graph_add(graph, WEIR_NONE, &d, &cluster, NULL) != WEIR_OK)
        fuzz_fail("no graph");
    d.type = "rack";
    for (int i = 0; i < RACKS * NODES; i++) {
        d.id = i / NODES;
        if (i % NODES == 0 && weir_graph_add(graph, cluster, &d, &rack, NULL) != WEIR_OK)
            fuzz_fail("no rack");
        add_node(graph, rack, i);
    }
    if (weir_node_table_get(graph, weir_type_find(graph, "node"), &table) != WEIR_OK || table->count != RACKS * NODES)
        fuzz_fail("no node table");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    weir_constraint *c = NULL;
    weir_idset *allowed = NULL;
    weir_err err = {0};
    int rc;

    if (!graph)
        build();
    rc = weir_constraint_parse((const char *)data, size, &c, &err);
    if (rc == WEIR_OK ? !c : c || err.code != rc || !err.text[0])
        fuzz_fail("status %d, code %d, text \"%s\"", rc, err.code, err.text);
    if (rc != WEIR_OK)
        return 0;
    if (weir_constraint_nodes(c, graph, table, &allowed) != WEIR_OK)
        fuzz_fail("not solved");
    for (uint32_t i = 0; i < table->count; i++)
        if (weir_idset_test(allowed, i) != weir_constraint_match(c, graph, table->nodes[i]))
            fuzz_fail("node %u of the node table", i);
    if (weir_idset_last(allowed) >= (int64_t)table->count)
        fuzz_fail("a node that is not there");
    weir_idset_free(allowed);
    weir_constraint_free(c);
    return 0;
}
