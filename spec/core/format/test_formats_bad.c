/* test_formats_bad.c - texts that the machine readers refuse, and failing allocations. */
#include "formats.h"

#include <stdint.h>

/* refused texts */

#define ROOTED(body)  RECIPE(NODE("cluster", D("root", "1")) NODE("node", "") body)
#define CORE          V("a", "\"type\":\"core\"")
#define TWO           CORE "," V("b", "\"type\":\"node\"")
#define LIST(entries) R("\"R_lite\":[" entries "]")

static const struct {
    const char *format, *text, *error; /* the whole error, or its end after "..." */
} bad[] = {
    {NULL, "", "test: is empty, expected a machine"},
    {"jgf", " \n", "test: is empty, expected a machine"},
    {NULL, "\1\2\3", "...(GraphML recipe, JSON graph, R, hwloc XML, SQLite, \"node:4 core:8\")"},
    {"yaml", "x", "test: unknown format \"yaml\": expected one of grug, jgf, document, rv1, hwloc, sqlite, synthetic"},
    {"hwloc:rack", "<topology/>", "...core, pu, gpu, memory and storage are, and \"all\" for what is not allowed too"},
    {"hwloc:core,none", "<topology/>",
     "...core, pu, gpu, memory and storage are, and \"all\" for what is not allowed too"},
    /* synthetic */
    {NULL, "node:0", "test:1:6: this count: expected an integer from 1 to 67108863"},
    {NULL, "node:-1", "test:1:6: this count: expected an integer from 1 to 67108863"},
    {NULL, "node:9223372036854775808", "test:1:6: this count: expected an integer from 1 to 67108863"},
    {NULL, "node:4 core:x", "test:1:13: this count: expected an integer from 1 to 67108863"},
    {NULL, "node:4\n core:4(size=x)", "test:2:14: expected an integer from 0 to 2^61"},
    {NULL, "node:4(size=-1)", "test:1:13: expected an integer from 0 to 2^61"},
    {NULL, "node:4(szie=1)", "...property=KEY=VALUE, exclusive, or a property's name"},
    {NULL, "node:4(scope=rack)", "test:1:14: scope is local or global"},
    {NULL, "node:4(basename=a/b)", "test:1:17: this text: has a '/' in it"},
    {NULL, "node:4(basename=a\nb)", "test:1:17: this text: has a control character in it"},
    {NULL, "node:4(size=1", "test:1:14: the text ends inside \"(\": expected a \")\""},
    {NULL, "node:4()", "test:1:8: expected an attribute, such as size=16"},
    {NULL, "node:4 [core:1", "test:1:8: this \"[\" is not closed"},
    {NULL, "node:4 core:1]", "test:1:14: this \"]\" closes nothing"},
    {NULL, "node:4 []", "test:1:9: expected a type here, such as node:4"},
    {NULL, "node:4 :3", "test:1:8: expected a type here, such as node:4"},
    {NULL, "node:4(a)core:3", "test:1:10: expected a space, \"[\" or \"]\" here"},
    {NULL, "node:65536 core:65536",
     "test: more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more), with all of \"core\""},
    {"synthetic", "node\xff", "test: is not UTF-8"},
    {"synthetic", "node\xc3(a)", "test: is not UTF-8"},
    {"synthetic", "node\xe2\x82", "test: is not UTF-8"},
    {"synthetic", "node\xc0\xaf", "test: is not UTF-8"},
    /* recipes */
    {NULL, "<graphml><graph>", "test:1:17: XML: no element found"},
    {NULL, "<graphml><graph></graphml>", "test:1:19: XML: mismatched tag"},
    {NULL, "<graphml><graph/></graphml>", "test: the recipe has no <node>"},
    {NULL, RECIPE(NODE("node", "")), "test: no node has \"root\" 1, so there is nothing to start from"},
    {NULL, RECIPE("<node id='a'/>"), "test:1: \"type\" of node \"a\" is empty"},
    {NULL,
     "<graphml><key id='t' for='node' attr.name='type'><default>x<key id='b' for='node' "
     "attr.name='basename'/>y</default></key>"
     "<graph/></graphml>",
     "test:1: <key>: \"basename\" is inside a <key>"},
    {NULL, RECIPE("<node/>"), "test:1: <node> has no id=\"...\""},
    {NULL, ROOTED(""), "test:1: no edges lead from a root to node \"node\""},
    {NULL, ROOTED(NODE("node", "")), "test:1: node \"node\" is there already, on line 1"},
    {NULL, ROOTED(EDGE("cluster", "core", "")), "test:1: edge \"cluster2core\" leads to \"core\", which is not a node"},
    {NULL, ROOTED(EDGE("cluster", "node", D("n", "0"))),
     "test:1: \"multi_scale\" of \"cluster2node\" is 0, it must be from 1 to 67108863"},
    {NULL, ROOTED(EDGE("cluster", "node", D("n", "-1"))),
     "test:1: \"multi_scale\" of \"cluster2node\" is -1, it must be from 1 to 67108863"},
    {NULL, ROOTED(EDGE("cluster", "node", D("n", "9223372036854775808"))),
     "test:1: \"multi_scale\" of \"cluster2node\" is \"9223372036854775808\", expected an integer"},
    {NULL, ROOTED(EDGE("cluster", "node", D("n", "67108863"))),
     "test:1: more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more), with 67108863 of \"node\""},
    /* the first association followed tells nothing of the number to come */
    {NULL,
     ROOTED("<edge id='tie' source='cluster' target='node'>" POWER D("gen", "ASSOCIATE_IN") "</edge>" NODE("watt", "")
                EDGE("cluster", "node", D("n", "2")) EDGE("node", "watt", POWER D("n", "67108000"))),
     "test:1: more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more), with 2 times 67108000 of "
     "\"watt\""},
    {NULL,
     ROOTED(NODE("pdu", "") EDGE("cluster", "node", D("n", "8192")) EDGE("cluster", "pdu", D("n", "8192"))
                EDGE("node", "pdu", POWER D("gen", "ASSOCIATE_IN"))),
     "test:1: more than 10000000 edges (WEIR_VERTICES=N in the environment allows more): \"node2pdu\" ties 8192 pools "
     "to 8192"},
    {NULL,
     ROOTED(NODE("pdu", "") EDGE("cluster", "node", D("n", "8192")) EDGE("cluster", "pdu", D("n", "8192"))
                EDGE("node", "pdu", POWER D("gen", "ASSOCIATE_BY_PATH_IN") D("tup", "9") D("sup", "9"))),
     "test:1: more than 10000000 edges (WEIR_VERTICES=N in the environment allows more): \"node2pdu\" ties 8192 pools "
     "to 8192"},
    {NULL,
     ROOTED(NODE("a", "") NODE("b", "") NODE("c", "") "<edge id='tie' source='cluster' target='b'>" POWER D(
         "gen", "ASSOCIATE_IN") "</edge>" EDGE("cluster", "node", D("n", "9000000"))
                EDGE("node", "a", D("n", "67108000")) EDGE("a", "b", D("n", "67108000"))
                    EDGE("b", "c", D("scope", "5"))),
     "test:1: more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more), with 603972000000000 of "
     "\"a\""},
    {NULL, ROOTED(EDGE("cluster", "node", "") NODE("a", D("props", "x,=y"))),
     "test:1: \"properties\" of \"a\": expected \"key=value,key\""},
    {NULL, ROOTED(EDGE("cluster", "node", "") NODE("a", D("props", "x,,y"))),
     "test:1: \"properties\" of \"a\": expected \"key=value,key\""},
    {NULL, ROOTED(EDGE("cluster", "node", "") EDGE("cluster", "node", "")),
     "test:1: node \"node\" is made twice: two edges lead to it; give each parent a node of its own"},
    {NULL, ROOTED(EDGE("cluster", "node", "") EDGE("node", "cluster", "")),
     "test:1: node \"cluster\" is made twice: it is a root, and an edge leads to it; give each parent a node of its "
     "own"},
    {NULL, ROOTED(EDGE("cluster", "node", "") EDGE("node", "cluster", POWER D("gen", "ASSOCIATE_IN"))),
     "test:1: node \"cluster\" is below itself: the edges make a cycle"},
    {NULL, ROOTED(EDGE("cluster", "node", D("gen", "ADD"))),
     "test:1: \"gen_method\" is \"ADD\", expected MULTIPLY, ASSOCIATE_IN or ASSOCIATE_BY_PATH_IN"},
    {NULL, ROOTED(EDGE("cluster", "node", D("size", "1"))), "test:1: \"size\" does not belong to an edge"},
    {NULL, ROOTED(EDGE("cluster", "node", D("nn", "1"))), "test:1: <data key=\"nn\">: no <key> has this id"},
    {NULL, ROOTED(EDGE("cluster", "node", D("n", "1") D("n", "1"))), "test:1: \"n\" is given twice"},
    {NULL, "<graphml><key id='x' for='node' attr.name='colour'/>\n</graphml>",
     "test:1: <key>: attr.name \"colour\" is nothing that a recipe can say"},
    {NULL, "<graphml><key id='x' for='node' attr.name='type'/>\n<key id='y' for='node' attr.name='type'/></graphml>",
     "test:2: <key>: \"type\" is declared twice"},
    {NULL, RECIPE(NODE("a", D("bn", "x&#10;y"))), "test:1: \"basename\" of node \"a\" has a control character in it"},
    {NULL, RECIPE(NODE("a", "<node id='b'/>")), "test:1: <node> inside another node or edge"},
    /* hwloc */
    {"hwloc", "<machine/>", "test:1: <machine>: expected <topology>"},
    {NULL, "<topology>\n<object", "test:2:1: XML: unclosed token"},
    {NULL, "<topology/>", "...in this XML"},
    {"hwloc",
     "<topology><object type='Machine' cpuset='0x1' complete_cpuset='0x1' allowed_cpuset='0x123456789'/></topology>",
     "test:1: <object type=\"Machine\"> has a malformed set, not one such as 0x0000000f"},
    {"hwloc", "<topology><object type='Machine' cpuset='0x1,0x' complete_cpuset='0x1'/></topology>",
     "test:1: <object type=\"Machine\"> has a malformed set, not one such as 0x0000000f"},
    {"hwloc", "<topology><object type='Machine' cpuset='0x1;' complete_cpuset='0x1'/></topology>",
     "test:1: <object type=\"Machine\"> has a malformed set, not one such as 0x0000000f"},
    {"hwloc", "<topology><object type='Machine' cpuset='0xf...f,0x1,' complete_cpuset=',0x1'/></topology>",
     "test:1: <object type=\"Machine\"> has a malformed set, not one such as 0x0000000f"},
    {NULL, "<topology><object/></topology>", "test:1: <object type=\"\"> has no type"},
    {NULL, "<topology>\n<object type='Core'/></topology>",
     "test:2: <object type=\"Core\"> has no cpuset and complete_cpuset such as 0x0000000f"},
    {NULL, "<topology><object type='PU' os_index='0' cpuset='0x0' complete_cpuset='0x1'/></topology>",
     "test:1: <object type=\"PU\"> has an empty cpuset"},
    {NULL, "<topology><object type='NUMANode' cpuset='0x1' complete_cpuset='0x1'/></topology>",
     "test:1: <object type=\"NUMANode\"> has no nodeset and complete_nodeset"},
    {NULL, "<topology><object type='PU' cpuset='0x1' complete_cpuset='0x1'/></topology>",
     "test:1: <object type=\"PU\"> has no os_index from 0 to 1048576"},
    {NULL, "<topology><object type='PU' os_index='-1' cpuset='0x1' complete_cpuset='0x1'/></topology>",
     "test:1: <object type=\"PU\"> has no os_index from 0 to 1048576"},
    {NULL,
     "<topology><object type='MemCache' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' "
     "complete_nodeset='0x1'/></topology>",
     "test:1: <object type=\"MemCache\"> is not the first one in a machine: expected Machine, or System or NUMANode "
     "of hwloc 1"},
    {NULL,
     "<topology><object type='Machine' cpuset='0x3' complete_cpuset='0x3' allowed_cpuset='0x4'>"
     "<object type='PU' os_index='0' cpuset='0x1' complete_cpuset='0x1'/></object></topology>",
     "test: no PU is in the allowed_cpuset of the machine"},
    {NULL,
     "<topology><object type='Machine' cpuset='0x1' complete_cpuset='0x1' nodeset='0x1' complete_nodeset='0x1' "
     "allowed_nodeset='0x1'><object type='NUMANode' os_index='0' cpuset='0x1' complete_cpuset='0x1' nodeset='0x2' "
     "complete_nodeset='0x1'/></object></topology>",
     "test: no NUMANode is in the allowed_nodeset of the machine"},
    {NULL, "<topology><object type='PCIDev'/></topology>",
     "test:1: <object type=\"PCIDev\"> is not the first one in a machine: expected Machine, or System or NUMANode of "
     "hwloc 1"},
    /* JSON graphs */
    {"jgf", "{\"graph\":", "test:1:9: JSON: parse error: premature EOF"},
    {"jgf", "{\"graph\":\n  x", "test:2:3: JSON: lexical error: invalid char in json text."},
    {"jgf", "{} {}", "test:1:4: JSON: parse error: trailing garbage"},
    {"jgf", "{\"a\":\n\"b\\u0000\"}", "test:2:9: JSON: \\u0000 in a text, which no text here can have"},
    {"jgf", "{\"a\":\"\xed\xa0\x80\"}", "test:1:10: JSON: a text that is not UTF-8"},
    {"jgf", "[]", "test: expected an object, such as {\"graph\": ...}"},
    {"jgf", "{}", "test: there is no \"graph\" in the outermost object"},
    {NULL, "{\"graph\":[]}", "test: graph: expected an object with nodes and edges"},
    {NULL, "{\"graph\":{\"edges\":[]}}", "test: graph.nodes: expected an array of vertices"},
    {NULL, "{\"graph\":{\"nodes\":[" CORE "]}}", "test: graph.edges: expected an array of edges"},
    {NULL, GRAPH("1", ""), "test: graph.nodes[0]: is an integer, expected an object"},
    {NULL, GRAPH("{\"id\":1}", ""), "test: graph.nodes[0].id: is an integer, expected a string"},
    {NULL, GRAPH("{\"metadata\":{}}", ""), "test: graph.nodes[0].id: is missing, expected a string"},
    {NULL, GRAPH("{\"id\":\"1\"}", ""), "test: graph.nodes[0].metadata: is missing, expected an object"},
    {NULL, GRAPH(V("1", ""), ""), "test: graph.nodes[0].metadata.type: is missing or empty"},
    {NULL, GRAPH(CORE "," V("b", "\"type\":7"), ""),
     "test: graph.nodes[1].metadata.type: is an integer, expected a string"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"size\":\"x\""), ""),
     "test: graph.nodes[0].metadata.size: is a string, expected an integer"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"size\":-1"), ""),
     "test: graph.nodes[0].metadata.size: is -1, it must be from 0 to 9223372036854775807"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"exclusive\":1"), ""),
     "test: graph.nodes[0].metadata.exclusive: is an integer, expected true or false"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"name\":\"x\\ny\""), ""),
     "test: graph.nodes[0].metadata.name: this text has a control character in it"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"properties\":{\"x\":[]}"), ""),
     "test: graph.nodes[0].metadata.properties.x: is an array, expected a string"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"state\":\"tired\""), ""),
     "test: graph.nodes[0].metadata.state: \"tired\" is no state"},
    {NULL, GRAPH("{\"id\":\"a\",\"id\":\"a\",\"metadata\":{\"type\":\"x\"}}", ""),
     "test: graph.nodes[0].id: is given twice"},
    {NULL, GRAPH("{\"id\":\"a\",\"metadata\":{\"type\":\"x\"},\"metadata\":{}}", ""),
     "test: graph.nodes[0].metadata: is given twice"},
    {NULL, GRAPH("{\"id\":\"a\",\"metadata\":[]}", ""),
     "test: graph.nodes[0].metadata: is an array, expected an object"},
    {NULL, GRAPH(V("a", "\"type\":\"core\",\"properties\":3"), ""),
     "test: graph.nodes[0].metadata.properties: is an integer, expected an object"},
    {NULL, GRAPH(CORE "," CORE, ""), "test: graph.nodes[1].id: \"a\" is taken by graph.nodes[0]"},
    {NULL,
     GRAPH(V("a", "\"type\":\"core\",\"size\":2305843009213693951") "," V("b", "\"type\":\"core\",\"size\":1"), ""),
     "test: graph.nodes[1]: the sizes of all pools add up to more than 2305843009213693951"},
    {NULL, GRAPH(V("r", "\"type\":\"cluster\"") "," TWO, E("a", "b", "") "," E("b", "a", "")),
     "test: graph.nodes[2]: vertex \"b\" is below itself: the edges make a cycle"},
    {NULL, GRAPH(CORE, E("a", "b", "")), "test: graph.edges[0].target: there is no vertex \"b\""},
    {NULL, GRAPH(CORE, "{\"target\":\"a\"}"), "test: graph.edges[0].source: is missing, expected the id of a vertex"},
    {NULL, GRAPH(TWO, E("a", "b", META("\"subsystem\":3"))),
     "test: graph.edges[0].metadata.subsystem: is an integer, expected a string"},
    {NULL, GRAPH(TWO, "7"), "test: graph.edges[0]: is an integer, expected an object"},
    {NULL, GRAPH(TWO, "{\"source\":\"a\",\"source\":\"a\"}"), "test: graph.edges[0]: \"source\" is given twice"},
    {NULL, GRAPH(TWO, "{\"source\":7}"), "test: graph.edges[0].source: is an integer, expected the id of a vertex"},
    {NULL, GRAPH(TWO, E("a", "b", ",\"metadata\":[]")),
     "test: graph.edges[0].metadata: is an array, expected an object"},
    {NULL, GRAPH(TWO, E("a", "b", META("\"subsystem\":\"\""))), "test: graph.edges[0].metadata.subsystem: is empty"},
    {NULL, GRAPH(TWO, E("a", "b", META("\"name\":{\"power\":\"\"}"))), "test: graph.edges[0].metadata.name: is empty"},
    {NULL, GRAPH(CORE, E("a", "a", "")), "test: graph.edges[0]: vertex \"a\" contains itself"},
    {NULL, GRAPH(TWO, E("a", "b", "") "," E("b", "a", "")),
     "test: graph.nodes[0]: vertex \"a\" is below itself: the edges make a cycle"},
    {NULL, GRAPH(TWO "," V("c", "\"type\":\"core\""), E("a", "c", "") "," E("b", "c", "")),
     "test: graph.edges[1]: vertex \"c\" has two parents, \"a\" and \"b\""},
    {"rv1", "{\"version\":1,\"scheduling\":" GRAPH(CORE, E("a", "b", "")) "}",
     "test: scheduling.graph.edges[0].target: there is no vertex \"b\""},
    /* R */
    {"rv1", "{\"version\":1,\"execution\":{},\"execution\":{}}", "test: execution: is given twice"},
    {"rv1", "{\"version\":1,\"scheduling\":{\"children\":[],\"children\":[]}}",
     "test: scheduling.children: is given twice"},
    {"rv1", "{\"version\":2,\"execution\":{}}", "test: version: expected 1"},
    {"rv1", "{\"execution\":{}}", "test: version: expected 1"},
    {"rv1", "{\"version\":1}", "test: neither execution nor scheduling.graph is there"},
    {NULL, "{\"version\":1,\"execution\":[]}", "test: execution: expected an object with R_lite and nodelist"},
    {NULL, R(""), "test: execution.R_lite: expected an array of {\"rank\": ..., \"children\": ...}"},
    {NULL, LIST("3"), "test: execution.R_lite[0]: expected an object with rank and children"},
    {NULL, LIST("{\"rank\":0}"), "test: execution.R_lite[0].rank: expected a string such as \"0-3,7\""},
    {NULL, LIST("{\"rank\":\"0\"}"),
     "test: execution.R_lite[0].children: expected an object such as {\"core\": \"0-3\"}"},
    {NULL, LIST(ENTRY("", "")), "test: execution.R_lite[0].rank: is empty, expected a rank"},
    {NULL, LIST(ENTRY("0", "\"core\":1")),
     "test: execution.R_lite[0].children.core: expected a string such as \"0-3,7\""},
    {NULL, LIST(ENTRY("0-3", "") "," ENTRY("3", "")),
     "test: execution.R_lite[1].rank: \"3\" has a rank that an earlier entry has"},
    {NULL, LIST(ENTRY("0-99999", "\"core\":\"0-99999\"")),
     "test: execution.R_lite: more than 10000000 vertices (WEIR_VERTICES=N in the environment allows more)"},
    {NULL, R("\"R_lite\":[" ENTRY("0-3", "") "],\"nodelist\":[\"a[0-2]\"]"),
     "test: execution.nodelist: names 3 hosts, but R_lite has 4 ranks"},
    {NULL, R("\"R_lite\":[" ENTRY("0", "") "],\"nodelist\":\"a\""),
     "test: execution.nodelist: expected an array of host lists"},
    {NULL, R("\"R_lite\":[" ENTRY("0", "") "],\"properties\":{\"a|b\":\"0\"}"),
     "test: execution.properties: the name \"a|b\" has a '|' in it; none of !&'\"^`|() may be"},
    {NULL, R("\"R_lite\":[" ENTRY("0", "") "],\"properties\":{\"a\":\"0-1\"}"),
     "test: execution.properties.a: \"0-1\" has a rank that R_lite does not have"},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_err err;
        char text[1024];
        weir_graph *g = parse(bad[i].format, bad[i].text, &err);
        const char *want = bad[i].error;
        size_t n;

        if (!CHECK(g == NULL, "%.200s is refused", bad[i].text)) {
            weir_graph_free(g);
            continue;
        }
        weir_err_format(&err, text, sizeof text);
        n = strlen(text);
        if (strncmp(want, "...", 3) == 0) {
            want += 3;
            CHECK(n >= strlen(want) && strcmp(text + n - strlen(want), want) == 0, "%s does not end in %s", text, want);
        } else {
            CHECK(strcmp(text, want) == 0, "%s is not %s", text, want);
        }
        CHECK(weir_graph_parse(bad[i].text, strlen(bad[i].text), NULL, bad[i].format, &g, NULL) < 0, "without err");
    }
}

/* Every beginning of a good text: no crash, no leak, an error with a text. */
static void test_truncated(void)
{
    static const char *const texts[] = {small_recipe, power_recipe, small_graph, small_r, small_topology};
    static const char *const formats[] = {"grug", "grug", "jgf", "rv1", "hwloc"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t n = 0; n + 1 < strlen(texts[i]); n += 7) {
            weir_graph *g = NULL;
            weir_err err = {0};
            char *copy = malloc(n ? n : 1); /* the reader must not look past the end */
            int rc;
            memcpy(copy, texts[i], n);
            rc = weir_graph_parse(copy, n, NULL, formats[i], &g, &err);
            CHECK(rc < 0 && err.code == rc && err.text[0], "%s: %zu bytes", formats[i], n);
            free(copy);
        }
}

static void test_long_names(void)
{
    static const struct {
        const char *format, *before, *after;
    } cases[] = {
        {"synthetic", "node:1(basename=", ")"},
        {"synthetic", "", ":1"},
        {"grug",
         "<graphml><key id='t' for='node' attr.name='type'/><key id='r' for='node' attr.name='root'/><graph><node "
         "id='a'>"
         "<data key='r'>1</data><data key='t'>",
         "</data></node></graph></graphml>"},
        {"jgf", "{\"graph\":{\"edges\":[],\"nodes\":[{\"id\":\"a\",\"metadata\":{\"type\":\"t\",\"name\":\"",
         "\"}}]}}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int n = 10000; n < 100000; n += 80000) {
            weir_buf b = {0};
            weir_err err;
            weir_graph *g;
            weir_buf_puts(&b, cases[i].before);
            for (int k = 0; k < n; k++)
                weir_buf_puts(&b, "x");
            weir_buf_puts(&b, cases[i].after);
            g = parse(cases[i].format, b.data, &err);
            CHECK((g != NULL) == (n == 10000), "%s: a name of %d: %s", cases[i].format, n, err.text);
            weir_graph_free(g);
            weir_buf_free(&b);
        }
}

static void test_nesting(void)
{
    static const struct {
        const char *format, *before, *each;
    } cases[] = {
        {"synthetic", "", "a["}, {"jgf", "{\"graph\":", "["},         {"grug", "<graphml>", "<graph><x>"},
        {"rv1", "", "{\"a\":"},  {"hwloc", "<topology>", "<object>"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_buf b = {0};
        weir_err err;
        weir_graph *g;
        weir_buf_puts(&b, cases[i].before);
        for (int k = 0; k < 30000; k++)
            weir_buf_puts(&b, cases[i].each);
        g = parse(cases[i].format, b.data, &err);
        CHECK(g == NULL && err.text[0], "%s is refused: %s", cases[i].format, err.text);
        weir_graph_free(g);
        weir_buf_free(&b);
    }
}

#define MACHINE "<topology><object type='Machine' cpuset='0x1' complete_cpuset='0x1'>"

/* Limits of counts; the text has one more of `each` than allowed, between `before` and `after`. */
static void test_counts(void)
{
    static const struct {
        const char *format, *before, *each, *after, *error;
        uint32_t most;
    } cases[] = {
        {"synthetic", "cluster ", "core ", "", "test:1:5119: more than 1024 words", 1023},
        {"grug", "<graphml><graph>", "<edge id='e' source='a' target='a'/>", "</graph></graphml>",
         "test:1: a recipe has at most 4096 edges", 4096},
        {"rv1", "{\"version\":1,\"scheduling\":{\"writer\":\"TreePool\",\"children\":[{\"ranks\":\"0\",\"topo\":{",
         "\"t%u\":[{}],", "\"z\":[{}]}}]},\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{\"core\":\"0\"}}]}}",
         "test: scheduling.children[0].topo.t31[0]: more than 65536 domains, or 32 types of them", 31},
        {"hwloc", MACHINE, "<object type='Misc'>", "", "test:1: more than 200 elements inside each other", 198},
        {"hwloc", "<topology><object type='Machine'", " a%u='1'", "/></topology>",
         "test:1: <object> has more than 256 attributes", 256},
        {"hwloc", "<topology", " a%u='1'", "/>", "test:1: <topology> has more than 256 attributes", 256},
        {"grug", "<graphml><graph", " a%u='1'", "/></graphml>", "test:1: <graph> has more than 256 attributes", 256},
        {"hwloc", MACHINE, "<object type='Misc'/>", "", "test:1: more than 65536 objects", 65535},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_buf b = {0};
        weir_err err;
        weir_graph *g;
        char text[1024];
        weir_buf_puts(&b, cases[i].before);
        for (uint32_t k = 0; k <= cases[i].most; k++)
            weir_buf_printf(&b, cases[i].each, k);
        weir_buf_puts(&b, cases[i].after);
        g = parse(cases[i].format, b.data, &err);
        weir_err_format(&err, text, sizeof text);
        CHECK(!g && err.code == WEIR_ELIMIT && check_same(text, cases[i].error), "%s: %s", cases[i].format, text);
        weir_graph_free(g);
        weir_buf_free(&b);
    }
}

/* A recipe that is n levels deep. */
static void test_depth(int n, int code)
{
    weir_buf b = {0};
    weir_err err;
    weir_graph *g;

    weir_buf_puts(&b, "<graphml>" KEYS "<graph>" NODE("0", D("root", "1")));
    for (int i = 1; i < n; i++)
        weir_buf_printf(&b, "<node id='%d'>" D("type", "t") "</node><edge id='e%d' source='%d' target='%d'/>", i, i,
                        i - 1, i);
    weir_buf_puts(&b, "</graph></graphml>");
    g = parse("grug", b.data, &err);
    CHECK(err.code == code && (code == WEIR_OK || strstr(err.text, "node \"200\" is more than 200 levels deep")), "%s",
          err.text);
    weir_graph_free(g);
    weir_buf_free(&b);
}

static int once(void *arg)
{
    const char *text = arg;
    weir_graph *g = NULL;
    int rc = weir_graph_parse(text, strlen(text), "test", NULL, &g, NULL);

    weir_graph_free(g);
    return rc;
}

static void test_nomem(void)
{
    check_nomem(once, (void *)(uintptr_t)small_recipe, "grug");
    check_nomem(once, (void *)(uintptr_t)power_recipe, "grug with power");
    check_nomem(once, (void *)(uintptr_t)small_graph, "jgf");
    check_nomem(once, (void *)(uintptr_t)small_r, "rv1");
    check_nomem(once, (void *)(uintptr_t)small_topology, "hwloc");
    check_nomem(once, (void *)(uintptr_t) "node:2(big,property=a=b,unit=x,basename=y) core:2 gpu", "synthetic");
}

static void test_load(void)
{
    weir_err err = {0};
    weir_graph *g = NULL;

    CHECK(weir_graph_load("/nonexistent/machine.json", NULL, &g, &err) == WEIR_EIO && strstr(err.text, "cannot open"),
          "%s", err.text);
    weir_err_clear(&err);
    CHECK(weir_graph_load("/", NULL, &g, &err) == WEIR_EIO && strstr(err.text, "directory"), "%s", err.text);
}

int main(void)
{
    test_bad();
    test_truncated();
    test_long_names();
    test_nesting();
    test_counts();
    test_depth(WEIR_PATH_DEPTH, WEIR_OK);
    test_depth(WEIR_PATH_DEPTH + 1, WEIR_ELIMIT);
    test_load();
    test_nomem();
    return check_report();
}
