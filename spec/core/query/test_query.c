/* test_query.c - conditions on pools: vertices found, refused conditions and their columns, noise, and failing
 * allocations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "machines.h"
#include "weir.h"

/* ---- a small machine ----------------------------------------------------------------------------------------- */

static weir_vertex at(const weir_graph *g, const char *path)
{
    weir_vertex v = WEIR_NONE;
    CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s is there", path);
    return v;
}

static void put(weir_graph *g, const char *path, int map, const char *key, const char *value)
{
    CHECK(weir_vertex_set(g, at(g, path), map, key, value, NULL) == WEIR_OK, "%s gets %s", path, key);
}

static void take(weir_graph *g, const char *path, int64_t job, int64_t amount, int64_t start)
{
    weir_err err = {0};
    CHECK(weir_vertex_allocate(g, at(g, path), job, amount, start, start + 100, &err) == WEIR_OK,
          "job %d gets %d of %s: %s", (int)job, (int)amount, path, err.text);
}

#define PICK(list) list[dice(sizeof list / sizeof *list)]

#define R0 "/cluster0/rack0"
#define R1 "/cluster0/rack1"

/* Job 7 has node2, job 8 has 24 GB of node0, job 12 will have a core of node3. */
static void add_data(weir_graph *g)
{
    put(g, R0 "/node0", WEIR_PROPERTIES, "model", "A 100");
    put(g, R0 "/node1", WEIR_PROPERTIES, "bigmem", "");
    put(g, R1 "/node2", WEIR_PROPERTIES, "perf", "12");
    put(g, R1 "/node3", WEIR_PROPERTIES, "perf", "3");
    put(g, R0 "/node0", WEIR_PROPERTIES, "perf", "unknown");
    put(g, R1 "/node3", WEIR_PROPERTIES, "a key", "x");
    put(g, R1 "/node3", WEIR_PROPERTIES, "a.b", "y");
    put(g, R0 "/node1", WEIR_TAGS, "maintenance", "disk");
    put(g, R1 "/node2", WEIR_TAGS, "speed", "3.0");
    put(g, R1 "/node3", WEIR_TAGS, "speed", "1e2");
    put(g, R0 "/node0", WEIR_EXTENDED, "site", "\"hall \\\"A\\\" \\u00e9\"");
    put(g, R0 "/node0", WEIR_EXTENDED, "cost", " 2.50 ");
    put(g, R0 "/node1", WEIR_EXTENDED, "cost", "10");
    put(g, R1 "/node2", WEIR_EXTENDED, "cost", "\"beta\"");
    put(g, R0 "/node1", WEIR_EXTENDED, "list", "[1,2]");
    put(g, R0 "/node1", WEIR_EXTENDED, "on", "true");
    (void)weir_vertex_set_state(g, at(g, R0 "/node1"), WEIR_DOWN, NULL);
    (void)weir_vertex_set_state(g, at(g, R1 "/node3"), WEIR_DEGRADED, NULL);
    take(g, R1 "/node2", 7, 1, 0);
    take(g, R0 "/node0/memory0", 8, 24, 0);
    take(g, R1 "/node3/core1", 12, 1, 50);
}

static weir_graph *small_machine(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex c = add_pool(g, WEIR_NONE, pool("cluster", 0, 1));
    weir_pool_desc memory = pool("memory", 0, 64), odd = pool("gpu", WEIR_NO_ID, 0), named = pool("gpu-b", -5, 1);

    memory.unit = "GB";
    for (int r = 0; r < 2; r++) {
        weir_vertex rack = add_pool(g, c, pool("rack", r, 1));
        for (int n = 2 * r; n < 2 * r + 2; n++) {
            weir_vertex node = add_pool(g, rack, pool("node", n, 1));
            (void)weir_vertex_set_rank(g, node, n, NULL);
            add_pool(g, node, pool("core", 0, 1));
            add_pool(g, node, pool("core", 1, 1));
            add_pool(g, node, memory);
        }
    }
    odd.name = "odd [x],y*";
    odd.exclusive = true;
    add_pool(g, at(g, R0), odd);
    named.basename = "gpu";
    named.name = "${basename}_${id}";
    named.uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    add_pool(g, at(g, R1), named);
    add_pool(g, c, pool("login", WEIR_NO_ID, 1));
    add_pool(g, WEIR_NONE, pool("pdu", 9, 1));
    add_data(g);
    return g;
}

/* found vertices */

static const struct {
    const char *expression, *names;
} finds[] = {
    {"type=rack", "rack0 rack1"},
    {"type==rack", "rack0 rack1"},
    {"type=rack,pdu", "rack0 rack1 pdu9"},
    {"type=gpu*", "odd_[x],y* gpu_-5"},
    {"type=?pu", "odd_[x],y*"},
    {"type=\"gpu*\"", ""},
    {"type=rack or type=pdu and id=9", "rack0 rack1 pdu9"},
    {"type=nosuch", ""},
    {"type!=core and type!=memory and not type=node", "cluster0 rack0 odd_[x],y* rack1 gpu_-5 login pdu9"},
    {"name=node0,rack1", "node0 rack1"},
    {"name=node[0-1,3]", "node0 node1 node3"},
    {"name=node[00-07]", ""},
    {"name='node3'", "node3"},
    {"name=\"node[2-3]\"", "node2 node3"},
    {"name=\"odd [x],y*\"", "odd_[x],y*"},
    {"name=\"odd [0-1\"", ""},
    {"name=o*", "odd_[x],y*"},
    {"name=*o*[2-3]", "node2 node3"},
    {"name=no*,??ck[1-9]", "node0 node1 rack1 node2 node3"},
    {"name=gpu_-5", "gpu_-5"},
    {"name=login", "login"},
    {"basename=gpu", "odd_[x],y* gpu_-5"},
    {"basename=r*", "rack0 rack1"},
    {"path=/cluster0/rack0/node1", "node1"},
    {"path=/cluster0/rack0/node1/*", "core0 core1 memory0"},
    {"path=*/node1/* or path='/pdu9'", "core0 core1 memory0 pdu9"},
    {"path=/cluster0/rack?/node1*0", "core0 memory0"},
    {"path!=/cluster0/* and not path=/cluster0", "pdu9"},
    {"uuid=6ba7b810-9dad-11d1-80b4-00c04fd430c8", "gpu_-5"},
    {"uuid=6BA7B810-9DAD-11D1-80B4-00C04FD430C8 and uuid!=x", "gpu_-5"},
    {"unit=GB and path=/cluster0/rack0/node0/*", "memory0"},
    {"unit=\"\" and type=memory", ""},
    {"id=-5", "gpu_-5"},
    {"id<0", "gpu_-5"},
    {"id>-5 and id<=-1", ""},
    {"type=login and id!=3", "login"},
    {"type=login and not id>=0 and not id<0", "login"},
    {"id=2-3,9", "node2 node3 pdu9"},
    {"id=1.5 or id=9.0", "pdu9"},
    {"id>=2.5 and id<3.5", "node3"},
    {"id>8.5 and id<1e30", "pdu9"},
    {"id=99999999999999999999", ""},
    {"type=node and rank=1-3", "node1 node2 node3"},
    {"rank=2", "node2 core0 core1 memory0"},
    {"rank>=-1 and type!=core,memory", "node0 node1 node2 node3"},
    {"rank!=0 and type=rack,node", "rack0 node1 rack1 node2 node3"},
    {"size>=64 and rank=0", "memory0"},
    {"size=0", "odd_[x],y*"},
    {"size>63.5 and size<64.5 and rank=3", "memory0"},
    {"type=node and state=up", "node0 node2"},
    {"type=node and state!=up", "node1 node3"},
    {"state=degraded", "node3"},
    {"allocated", "memory0 node2 core0 core1 memory0"},
    {"allocated=24", "memory0"},
    {"type=memory and allocated=64", "memory0"},
    {"type=memory and free", "memory0 memory0"},
    {"free=40", "memory0"},
    {"type=memory and free>0 and free<64", "memory0"},
    {"type=node and free", "node0 node3"},
    {"type=node and idle", "node3"},
    {"type=memory and idle=64", "memory0"},
    {"type=node and idle!=1", "node0 node1 node2"},
    {"job=7", "node2 core0 core1 memory0"},
    {"job=8", "memory0"},
    {"job=8,12", "memory0 core1"},
    {"job=1-7,9", "node2 core0 core1 memory0"},
    {"job!=7 and rank=2", ""},
    {"job=7 and type=node or job=12 and type=core", "node2 core1"},
    {"exclusive", "odd_[x],y*"},
    {"exclusive=true", "odd_[x],y*"},
    {"exclusive!=false", "odd_[x],y*"},
    {"exclusive=false and type=pdu", "pdu9"},
    {"leaf and type!=core and type!=memory", "odd_[x],y* gpu_-5 login pdu9"},
    {"leaf=false and not type=rack", "cluster0 node0 node1 node2 node3"},
    {"property=bigmem", "node1"},
    {"property.bigmem", "node1"},
    {"property.bigmem=\"\"", "node1"},
    {"type=node and property!=perf", "node1"},
    {"property.perf>=3", "node2 node3"},
    {"property.perf>=\"3\"", "node0 node2 node3"},
    {"property.perf=12.0", "node2"},
    {"property.perf=\"1.2e1\"", "node2"},
    {"property.perf!=12 and type=node", "node0 node1 node3"},
    {"property.model='A 100'", "node0"},
    {"property.model>\"A\" and property.model<\"B\"", "node0"},
    {"property.\"a key\"=x", "node3"},
    {"property=\"a key\"", "node3"},
    {"property.a.b=y", "node3"},
    {"tag=maintenance", "node1"},
    {"tag.maintenance=disk", "node1"},
    {"tag.speed=3 or tag.speed=100", "node2 node3"},
    {"tag.speed>3", "node3"},
    {"tag=perf", ""},
    {"data=cost", "node0 node1 node2"},
    {"data.cost", "node0 node1 node2"},
    {"data.cost=2.5", "node0"},
    {"data.cost>2.5", "node1"},
    {"data.cost=beta", "node2"},
    {"data.cost>=\"beta\"", "node2"},
    {"data.site=\"hall \\\"A\\\" \xc3\xa9\"", "node0"},
    {"data.list=[1,2] and data.on=true", "node1"},
    {"data.on>\"a\"", ""},
    {"type=node and (id=0 or id=3)", "node0 node3"},
    {"type=node and not (id>1 or id<1)", "node1"},
    {"type=node and !id<3", "node3"},
    {"type=node&&rank>=2||type=cluster", "cluster0 node2 node3"},
    {"not not not type!=pdu", "pdu9"},
    {"!(!(type=pdu)or(type=pdu&&id!=9))", "pdu9"},
    {" \t\n( ( type = pdu ) ) ", "pdu9"},
    {"type=node and state=up and not tag=maintenance and size>=1 and (property=bigmem or name=node[0-1])", "node0"},
    {"type=and or type=not", ""},
    {"type=rack and not type=rack", ""},
    {"type=pdu or not type=pdu and type=login", "login pdu9"},
};

/* Names in the order found; a blank in a name shows as "_". */
static char *names_of(const weir_graph *g, const weir_vertex *list, uint32_t n, char *buf, size_t size)
{
    size_t len = 0;

    buf[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        size_t start = len + (i > 0);
        if (i)
            snprintf(buf + len, size - len, " ");
        len = start + weir_vertex_name(g, list[i], buf + start, size - start);
        for (char *c = buf + start; *c; c++)
            *c = *c == ' ' ? '_' : *c;
    }
    return buf;
}

/* weir_query_match agrees with weir_find on each vertex. */
static void check_matches(const weir_graph *g, const weir_query *q, const weir_vertex *list, uint32_t n,
                          const char *expression)
{
    for (weir_vertex v = 0; v < weir_graph_limit(g); v++) {
        uint32_t i = 0;
        while (i < n && list[i] != v)
            i++;
        if (weir_vertex_live(g, v))
            CHECK(weir_query_match(q, g, v) == (i < n), "[M10] %s: match and find agree on vertex %u", expression, v);
    }
    CHECK(!weir_query_match(q, g, weir_graph_limit(g)), "[M10] %s: no match on a vertex that is not there", expression);
}

static void test_finds(void)
{
    weir_graph *g = small_machine();
    char names[2000];

    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++) {
        const char *text = finds[i].expression;
        weir_query *q = NULL;
        weir_vertex *list = NULL;
        uint32_t n = 0;
        weir_err err = {0};
        if (!CHECK(weir_query_parse(text, strlen(text), &q, &err) == WEIR_OK, "[M10] %s: %d: %s", text, err.column,
                   err.text))
            continue;
        CHECK(weir_find(g, q, WEIR_NONE, &list, &n, &err) == WEIR_OK, "[M12] %s is looked for", text);
        names_of(g, list, n, names, sizeof names);
        CHECK(strcmp(names, finds[i].names) == 0, "[M10][M12] %s finds \"%s\", not \"%s\"", text, finds[i].names,
              names);
        check_matches(g, q, list, n, text);
        weir_free(list);
        weir_query_free(q);
    }
    weir_graph_free(g);
}

static void check_start(const weir_graph *g, const char *text, const char *start, const char *expected)
{
    weir_query *q = NULL;
    weir_vertex *list = NULL;
    uint32_t n = 0;
    char names[2000];

    CHECK(weir_query_parse(text, strlen(text), &q, NULL) == WEIR_OK, "%s is read", text);
    CHECK(weir_find(g, q, at(g, start), &list, &n, NULL) == WEIR_OK, "%s below %s", text, start);
    CHECK(strcmp(names_of(g, list, n, names, sizeof names), expected) == 0, "[M12] %s below %s: \"%s\"", text, start,
          names);
    weir_free(list);
    weir_query_free(q);
}

/* Long names and paths; searches below a vertex, and between begin and end; removed vertices. */
static void test_places(void)
{
    weir_graph *g = small_machine();
    weir_pool_desc d = pool("t", 7, 1);
    weir_query *q = NULL;
    weir_vertex *list = NULL, v;
    uint32_t n = 0;
    weir_err err = {0};
    char *big = weir_mem_zalloc(20001, 1), text[] = "name=x*[7-8]";

    check_start(g, "size>=1", R0 "/node0", "node0 core0 core1 memory0");
    check_start(g, "path=" R0 "/*", R0 "/node1", "node1 core0 core1 memory0");
    check_start(g, "type=rack", R1, "rack1");
    CHECK(weir_graph_unlink(g, at(g, R0 "/node1"), NULL) == WEIR_OK, "node1 goes");
    check_start(g, "name=node*", "/cluster0", "node0 node2 node3");
    memset(big, 'x', 20000);
    d.basename = big;
    v = add_pool(g, at(g, R0), d);
    CHECK(weir_query_parse(text, strlen(text), &q, NULL) == WEIR_OK, "%s is read", text);
    CHECK(weir_query_match(q, g, v), "[M10] a name of 20,001 bytes matches");
    weir_graph_begin(g);
    d.basename = "x";
    d.id = 8;
    add_pool(g, v, d);
    CHECK(weir_find(g, q, WEIR_NONE, &list, &n, NULL) == WEIR_OK && n == 2, "[M12] find sees what begin has added");
    CHECK(weir_graph_end(g, NULL) == WEIR_OK, "end");
    CHECK(weir_find(g, q, 1000, &list, &n, &err) == WEIR_ENOENT && strstr(err.text, "vertex 1000"), "[M12] %s",
          err.text);
    weir_free(list);
    weir_query_free(q);
    weir_mem_free(big);
    weir_graph_free(g);
}

/* refused conditions */

static const struct {
    const char *expression;
    int line, column;
    const char *text;
} refusals[] = {
    {"", 1, 1, "the expression ends; expected a test such as type=node"},
    {"type=node and", 1, 14, "the expression ends; expected a test such as type=node"},
    {"type=node and\n  or", 2, 3, "expected a test such as type=node, not \"or\""},
    {"\"type\"=node", 1, 1, "expected a test such as type=node, not \"type\""},
    {"=node", 1, 1, "expected a test such as type=node, not \"=\""},
    {")", 1, 1, "expected a test such as type=node, not \")\""},
    {"()", 1, 2, "expected a test such as type=node, not \")\""},
    {"type", 1, 5, "expected a comparison such as = after \"type\""},
    {"size and id=3", 1, 6, "expected a comparison such as = after \"size\""},
    {"tag", 1, 4, "expected a comparison such as = after \"tag\""},
    {"type=", 1, 6, "expected a value after \"=\""},
    {"size>=)", 1, 7, "expected a value after \">=\""},
    {"typ=node", 1, 1, "unknown field \"typ\" (did you mean \"type\"?)"},
    {"leaf or Nane=x", 1, 9, "unknown field \"Nane\" (did you mean \"name\"?)"},
    {"propery.x=1", 1, 1, "unknown field \"propery.x\" (did you mean \"property\"?)"},
    {"alloc", 1, 1, "unknown field \"alloc\" (did you mean \"allocated\"?)"},
    {"zzzzzz=1", 1, 1,
     "unknown field \"zzzzzz\": expected one of allocated, basename, data, exclusive, free, id, idle, job, leaf, name, "
     "path, "
     "property, rank, size, staged, state, tag, type, unit, uuid"},
    {"type.x=1", 1, 1, "\"type\" has no keys; property.KEY, tag.KEY and data.KEY have"},
    {"type<node", 1, 5, "\"type\" cannot be put in order: expected = or !=, not <"},
    {"job>=3", 1, 4, "\"job\" cannot be put in order: expected = or !=, not >="},
    {"exclusive>true", 1, 10, "\"exclusive\" cannot be put in order: expected = or !=, not >"},
    {"exclusive=maybe", 1, 11, "exclusive: expected true or false, not \"maybe\""},
    {"leaf=", 1, 6, "leaf: expected true or false"},
    {"state=upp", 1, 7, "no state \"upp\": expected one of up, down, degraded, failing, unknown, null, draining"},
    {"size>=many", 1, 7, "size: expected a number, not \"many\""},
    {"size=1-3", 1, 6, "size: expected a number, not \"1-3\""},
    {"free=1e", 1, 6, "free: expected a number, not \"1e\""},
    {"id=1-x", 1, 6, "id: expected a number or a set such as 1-3,7, not \"1-x\""},
    {"rank=3,1", 1, 8, "rank: expected a number or a set such as 1-3,7, not \"3,1\""},
    {"rank>1-3", 1, 6, "rank: expected a number, not \"1-3\""},
    {"name=n[1-", 1, 7, "name: this \"[\" is not closed"},
    {"name=n[3-1]", 1, 8, "name: \"3-1\" is no range of numbers such as 1-16"},
    {"name=n[1,2x]", 1, 10, "name: \"2x\" is no range of numbers such as 1-16"},
    {"name=n[]", 1, 8, "name: \"\" is no range of numbers such as 1-16"},
    {"name=n[1-1234567890123456789]", 1, 8, "name: a number in brackets has more than 18 digits"},
    {"name=n1]", 1, 8, "name: a \"]\" without a \"[\""},
    {"name=a,", 1, 8, "name: a name is missing"},
    {"name=,a", 1, 6, "name: a name is missing"},
    {"type=a,,b", 1, 8, "type: a type is missing"},
    {"property>3", 1, 9, "property=KEY tests whether the key exists; to compare a value write property.KEY>..."},
    {"property.=3", 1, 1, "expected a key after property."},
    {"tag=\"\"", 1, 5, "expected a key after \"tag=\""},
    {"property.speed>fast", 1, 16, "expected a number after >, not \"fast\" (or a text in quotes)"},
    {"type='node", 1, 6, "this quote is not closed"},
    {"type=\"node\\", 1, 6, "this quote is not closed"},
    {"type=\"a\\qb\"", 1, 8, "expected one of \\ \" ' n t r after a backslash in quotes"},
    {"(type=node", 1, 1, "this \"(\" is not closed"},
    {"(type=node type=x)", 1, 12, "expected \"and\", \"or\" or \")\", not \"type\""},
    {"type=node)", 1, 10, "expected \"and\" or \"or\", not \")\""},
    {"type=node state=up", 1, 11, "expected \"and\" or \"or\", not \"state\""},
    {"type=node &\nstate=up", 1, 11, "expected \"and\" or \"or\", not \"&\""},
    {"leaf\n\nand  name=a=b", 3, 12, "expected \"and\" or \"or\", not \"=\""},
};

static void check_refused(const char *text, size_t len, int code, int line, int column, const char *expected)
{
    weir_query *q = NULL;
    weir_err err = {0};
    int rc = weir_query_parse(text, len, &q, &err);

    CHECK(rc == code && q == NULL, "[M10] %.60s is refused as %s, not %s", text, weir_status_name(code),
          weir_status_name(rc));
    CHECK(err.line == line && err.column == column, "[M10] %.60s: the error is at %d:%d, not %d:%d", text, line, column,
          err.line, err.column);
    CHECK(strcmp(err.text, expected) == 0, "[M10] %.60s: the error is \"%s\", not \"%s\"", text, expected, err.text);
    CHECK(weir_query_parse(text, len, &q, NULL) == code, "[M10] %.60s is refused without an err", text);
    if (rc == WEIR_OK)
        weir_query_free(q);
}

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refused(refusals[i].expression, strlen(refusals[i].expression), WEIR_EPARSE, refusals[i].line,
                      refusals[i].column, refusals[i].text);
    check_refused("type=a\0b", 8, WEIR_EPARSE, 1, 7, "a byte 0 in the expression");
    weir_query_free(NULL);
}

static void test_limits(void)
{
    size_t len = 65536;
    char *text = weir_mem_alloc(len + 1);
    weir_query *q = NULL;

    memset(text, '(', 65);
    check_refused(text, 65, WEIR_ELIMIT, 1, 65, "nested deeper than 64");
    check_refused(text, 64, WEIR_EPARSE, 1, 65, "the expression ends; expected a test such as type=node");
    for (size_t i = 0; i < 65; i++)
        memcpy(text + 4 * i, "not ", 4);
    check_refused(text, 260, WEIR_ELIMIT, 1, 257, "nested deeper than 64");
    memset(text, ' ', len + 1);
    memcpy(text, "leaf", 4);
    CHECK(weir_query_parse(text, len, &q, NULL) == WEIR_OK, "[M10] 65,536 bytes are read");
    weir_query_free(q);
    check_refused(text, len + 1, WEIR_ELIMIT, 0, 0, "the expression is longer than 65536 bytes");
    for (size_t i = 0; i + 8 <= len; i += 8)
        memcpy(text + i, i & 8 ? "leaf or " : "id>1 && ", 8);
    CHECK(weir_query_parse(text, len - 4, &q, NULL) == WEIR_OK, "[M10] 8,192 tests are read");
    weir_query_free(q);
    weir_mem_free(text);
}

/* failing allocations */

struct once {
    const weir_graph *g;
    const char *text;
};

static int parse_and_find(void *arg)
{
    const struct once *o = arg;
    weir_query *q = (weir_query *)1;
    weir_vertex *list = (weir_vertex *)1;
    uint32_t n;
    weir_err err = {0};
    int rc = weir_query_parse(o->text, strlen(o->text), &q, &err);

    if (rc == WEIR_OK) {
        rc = weir_find(o->g, q, WEIR_NONE, &list, &n, &err);
        weir_query_free(q);
        if (rc == WEIR_OK)
            weir_free(list);
        else
            CHECK(list == (weir_vertex *)1, "[M12] a find that fails leaves *out alone");
    } else {
        CHECK(q == (weir_query *)1, "[M10] a parse that fails leaves *out alone");
    }
    CHECK(err.code == rc, "the error has the code that was returned");
    return rc;
}

static void test_nomem(void)
{
    static const char *const texts[] = {
        "type=node",
        "name=node[0-3,7],x*,y",
        "name=\"node[0-1],a\"",
        "id=1-3,7 or rank=1,3 and job=2-4",
        "path=/cluster0/*/node?/core* and not name=core1",
        "(leaf or exclusive) and not (free or idle)",
        "property.a=1 or tag.b=2 or data.site=3 or tag=x or uuid=1 or unit=GB or size>1 or id=3 or leaf or allocated"};
    weir_graph *g = small_machine();

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct once o = {g, texts[i]};
        check_nomem(parse_and_find, &o, texts[i]);
    }
    weir_graph_free(g);
}

/* ---- noise --------------------------------------------------------------------------------------------------- */

/* Bytes at random: read or refused, never more. */
static void test_noise(void)
{
    static const char *const bits[] = {"type", "name", "=",   "!", "(", ")",    " and ", "or ",      "\"", "\\",
                                       "[",    "]",    "1-3", ",", "*", "?",    ".",     "property", "<",  "\n",
                                       "'",    "&&",   "|",   "-", "e", "size", "not ",  "9"};
    for (int i = 0; i < 20000; i++) {
        char text[400] = "";
        weir_query *q = NULL;
        weir_err err = {0};
        int rc;
        for (uint32_t k = 1 + dice(14); k > 0; k--)
            strcat(text, PICK(bits));
        rc = weir_query_parse(text, strlen(text), &q, &err);
        CHECK(rc == WEIR_OK || (rc == WEIR_EPARSE && err.line > 0 && err.column > 0 && err.text[0]), "%s", text);
        weir_query_free(q);
    }
}

int main(void)
{
    test_finds();
    test_places();
    test_refusals();
    test_limits();
    test_nomem();
    test_noise();
    return check_report();
}
