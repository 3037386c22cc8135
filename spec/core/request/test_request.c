/* test_request.c - the request layer: jobspecs and shapes that are read, and how they are written.
 *
 * Rows in this file always run; the files below $WEIR_DATA (default ../shared/data) are read where available.
 */
#include "requests.h"

#include <ftw.h>

#include "request/request.h"

static const char *show(const weir_err *err)
{
    static char text[1024];
    weir_err_format(err, text, sizeof text);
    return text;
}

/* ---- results of reading ------------------------------------------------------------------------------------- */

/* Writes the resources in a line: "slot:default=4(node!=1)", with ! where a resource is granted to the job. */
static void outline(const weir_resource *r, uint32_t n, weir_buf *b)
{
    for (uint32_t i = 0; i < n; i++) {
        weir_buf_printf(b, "%s%s", i ? " " : "", r[i].type);
        if (*r[i].label)
            weir_buf_printf(b, ":%s", r[i].label);
        weir_buf_puts(b, r[i].takes ? "!=" : "=");
        weir_count_write(&r[i].count, b);
        weir_buf_puts(b, r[i].unit);
        if (r[i].nwith) {
            weir_buf_puts(b, "(");
            outline(r[i].with, r[i].nwith, b);
            weir_buf_puts(b, ")");
        }
    }
}

static void check_outline(const weir_request *r, const char *expected, const char *what)
{
    weir_buf b = {0};
    uint32_t n;
    const weir_resource *top = weir_request_resources(r, &n);

    outline(top, n, &b);
    CHECK(check_same(b.data, expected), "[J1] %s:\n  got  %s\n  want %s", what, b.data, expected);
    weir_buf_free(&b);
}

/* Checks that a request written in a format reads back as an equal request. */
static void check_again(const weir_request *r, const char *format, const char *what)
{
    const char *compare = strcmp(format, "resources") == 0 ? "resources" : "json";
    weir_err err = {0};
    char *text = weir_request_format(r, format, &err), *whole = weir_request_format(r, compare, NULL), *again = NULL;
    weir_request *copy = NULL;

    if (CHECK(text && weir_request_parse(text, strlen(text), NULL, &copy, &err) == WEIR_OK,
              "[J7] %s: %s reads back: %s", what, text, err.text))
        again = weir_request_format(copy, compare, NULL);
    CHECK(check_same(whole, again), "[J7] %s: written %s, again %s", what, whole, again);
    CHECK(!copy || strcmp(compare, "json") != 0 || weir_request_duration(copy) == weir_request_duration(r),
          "[J7] %s: duration reads back", what);
    weir_request_free(copy);
    weir_free(text);
    weir_free(whole);
    weir_free(again);
}

/* Checks parents, preorder numbers, and that a written request reads back as an equal request. */
static void check_sound(const weir_request *r, const char *what)
{
    bool good = true;

    for (uint32_t i = 0; i < weir_request_count(r); i++) {
        const weir_resource *v = weir_request_resource(r, i);
        good = good && v->index == i;
        for (uint32_t j = 0; j < v->nwith; j++)
            good = good && v->with[j].parent == v && v->with[j].index > i;
    }
    CHECK(good, "[J1] %s: numbers and parents", what);
    check_again(r, "json", what);
    check_again(r, "yaml", what);
    check_again(r, "resources", what);
}

/* RFC 46 use cases and more: shape, outline. */
static const char *const shapes[][2] = {
    {"slot=4/node", "slot:default=4(node!=1)"},
    {"slot=3-30/node", "slot:default=3-30(node!=1)"},
    {"slot=4{nodelevel}/node{-x}/socket=2+/core=4+", "slot:nodelevel=4(node=1(socket!=2+(core!=4+)))"},
    {"slot=4{nodelevel}/node/socket=2/core=4", "slot:nodelevel=4(node!=1(socket!=2(core!=4)))"},
    {"[cluster/slot=2{ib}/node/[memory=4{unit:GB};ib10g];switch/slot=2{bicore}/node/core=2]",
     "cluster=1(slot:ib=2(node!=1(memory!=4GB ib10g!=1))) switch=1(slot:bicore=2(node!=1(core!=2)))"},
    {"cluster=2/slot/node=1+{-x}/core=30", "cluster=2(slot:default=1(node=1+(core!=30)))"},
    {"switch=3/slot/node=1+{-x}/core", "switch=3(slot:default=1(node=1+(core!=1)))"},
    {"slot=4,9,16,25/node", "slot:default=4,9,16,25(node!=1)"},
    {"slot=10/core=2", "slot:default=10(core!=2)"},
    {"node/[slot=10{read-db}/[core;memory=4{unit:GB}];slot{db}/[core=6;memory=24{unit:GB}]]",
     "node=1(slot:read-db=10(core!=1 memory!=4GB) slot:db=1(core!=6 memory!=24GB))"},
    {"slot=10/[memory=2+{unit:GB};core]", "slot:default=10(memory!=2+GB core!=1)"},
    {"slot=2{4GB-node}/node/memory=4+{unit:GB}", "slot:4GB-node=2(node!=1(memory!=4+GB))"},
    {"slot/node", "slot:default=1(node!=1)"},
    {"slot=1/numa{x}", "slot:default=1(numa!=1)"},
    {"node{x}/socket", "node!=1(socket=1)"},
    {"node{+x}", "node!=1"},
    {"node{exclusive:true}", "node!=1"},
    {"node{x:false}", "node=1"},
    {"node{}", "node=1"},
    {"[node]", "node=1"},
    {"  slot/node \n", "slot:default=1(node!=1)"},
    {"\"my type\"=2{ unit : \"a,b\" }", "my type=2a,b"},
    {"slot=[2-8:2:*]{\"a b\",-x,unit:u}/[core]", "slot:a b=2-8:2:*u(core!=1)"},
    {"x=[1-3,7]{label:1x}", "x:1x=1-3,7"},
};

static void test_shapes(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        weir_request *r;
        weir_err err = {0};
        if (!CHECK(read_request(shapes[i][0], &r, &err) == WEIR_OK, "[J1] %s: %s", shapes[i][0], err.text))
            continue;
        check_outline(r, shapes[i][1], shapes[i][0]);
        check_sound(r, shapes[i][0]);
        CHECK(weir_request_duration(r) == WEIR_FOREVER, "[J1] %s: no duration", shapes[i][0]);
        weir_request_free(r);
    }
}

static void check_format_as(const char *text, const char *format, const char *expected, const char *error)
{
    weir_request *r;
    weir_err err = {0};
    char *out = NULL;

    if (CHECK(read_request(text, &r, &err) == WEIR_OK, "[J7] %s: %s", text, err.text))
        out = weir_request_format(r, format, &err);
    CHECK(check_same(out, expected), "[J7] %s:\n  got  %s\n  want %s", text, out, expected);
    CHECK(check_same(err.text, error), "[J7] %s:\n  got  %s\n  want %s", text, err.text, error);
    weir_free(out);
    weir_request_free(r);
}

static void check_format(const char *text, const char *expected)
{
    check_format_as(text, NULL, expected, "");
}

static void test_format(void)
{
    check_format(
        "slot=2+/[node=3;core=1,3,4]",
        "{\"attributes\":{\"system\":{}},\"resources\":[{\"count\":{\"min\":2},\"label\":\"default\",\"type\":"
        "\"slot\",\"with\":[{\"count\":3,\"type\":\"node\"},{\"count\":\"1,3-4\",\"type\":\"core\"}]}],"
        "\"tasks\":[{\"command\":[\"true\"],\"count\":{\"per_slot\":1},\"slot\":\"default\"}],\"version\":9999}");
    check_format(
        "node=2-4",
        "{\"attributes\":{\"system\":{}},\"resources\":[{\"count\":{\"max\":4,\"min\":2,\"operand\":1,"
        "\"operator\":\"+\"},\"type\":\"node\"}],\"tasks\":[{\"command\":[\"true\"],\"count\":{\"per_slot\":1},"
        "\"slot\":\"default\"}],\"version\":9999}");
    check_format(
        "resources: [{type: node, count: {min: 2, max: 2}}]\nversion: 9999\nattributes:\n"
        "tasks: [{command: [a], slot: x, count: {total: 2}, attributes: {a: ~}}]\n",
        "{\"attributes\":{\"system\":{}},\"resources\":[{\"count\":2,\"type\":\"node\"}],\"tasks\":[{\"attributes\":"
        "{\"a\":null},\"command\":[\"a\"],\"count\":{\"total\":2},\"slot\":\"x\"}],\"version\":9999}");
}

/* The YAML of an attribute: the lines behind "  system:". */
static const char *const scalars[][2] = {
    {"\"\"", "''"},
    {"\"plain text\"", "plain text"},
    {"\"4,9\"", "'4,9'"},
    {"\"1:30\"", "'1:30'"},
    {"\"0644\"", "'0644'"},
    {"\".inf\"", "'.inf'"},
    {"\"No\"", "'No'"},
    {"\"~\"", "'~'"},
    {"\"<<\"", "'<<'"},
    {"\"2020-01-01\"", "'2020-01-01'"},
    {"\"# no comment\"", "'# no comment'"},
    {"\" blank\"", "' blank'"},
    {"\"a: b\"", "'a: b'"},
    {"\"it's\"", "it's"},
    {"\"tab\\t\"", "\"tab\\t\""},
    {"\"\xc3\xa9\"", "\xc3\xa9"},
    {"1.5", "1.5"},
    {"3600.0", "3600.0"},
    {"1e22", "1.0e+22"},
    {"1e-9", "1.0e-09"},
    {"-7", "-7"},
    {"null", "null"},
    {"true", "true"},
    {"[]", "[]"},
    {"{}", "{}"},
    {"[1,\"a\",[]]", "\n    - 1\n    - a\n    - []"},
    {"[1,\"a, b\",null]", "[1, 'a, b', null]"},
    {"\"#!/bin/sh\\necho x\\n\"", "|\n      #!/bin/sh\n      echo x"},
    {"\"a\\n\\n  b\"", "|-\n      a\n\n        b"},
    {"\" a\\nb\"", "\" a\\nb\""},
    {"\"a\\n\\n\"", "\"a\\n\\n\""},
};

static void test_yaml(void)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        char text[256], expected[512];
        snprintf(text, sizeof text,
                 "{\"resources\":[{\"type\":\"node\",\"count\":1}],\"attributes\":{\"system\":{\"k\":%s}}}",
                 scalars[i][0]);
        snprintf(expected, sizeof expected,
                 "version: 9999\nresources:\n- type: node\n  count: 1\ntasks:\n- command: ['true']\n  slot: default\n"
                 "  count:\n    per_slot: 1\nattributes:\n  system:\n    k:%s%s\n",
                 scalars[i][1][0] == '\n' ? "" : " ", scalars[i][1]);
        check_format_as(text, "yaml", expected, "");
    }
}

/* A jobspec, its shape, and the reason for a missing shape. */
static void test_written_shapes(void)
{
    check_format_as("slot=4/node", "shape", "slot=4/node", "");
    check_format_as("slot{default}/node", "shape", "slot/node", "");
    check_format_as("[node{+x};core{-x}]", "shape", "[node{x};core{-x}]", "");
    check_format_as("[a{unit:\"1\"};b{unit:true1};c{unit:\"True\",label:\"\"};\"#d\"=2;9e]", "shape",
                    "[a{unit:\"1\"};b{unit:true1};c{unit:\"True\",label:\"\"};\"#d\"=2;9e]", "");
    check_format_as("slot=2+:3:*{\"-a\",unit:\"x y\"}/[core=1,3-4;gpu{id:\"0-3\"}]", "shape",
                    "slot=2+:3:*{\"-a\",unit:\"x y\"}/[core=1,3-4;gpu{id:\"0-3\"}]", "");
    check_format_as("\": ^\"", "shape", "\": ^\"", ""); /* a quoted name, no key of YAML */
    check_format_as("slot{default,-x}/node", "shape", "slot{default,-x}/node", "");
    check_format_as("slot=4{ duration : 1.5h }/node", "shape", "slot=4{duration:5400}/node", "");
    check_format_as("[slot{a,duration:250ms}/node;slot{b}/core]", "shape", "[slot{a,duration:0.25}/node;slot{b}/core]",
                    "");
    check_format_as("[node;core{x,duration:2d}]", "shape", "[node{duration:172800};core{x}]", "");
    check_format_as("[xor_slot=2{a,duration:0}/node;xor_slot{b}/core]", "shape",
                    "[xor_slot=2{a,duration:0}/node;xor_slot{b}/core]", "");
    check_format_as("slot{duration}/node", "shape", "slot{duration}/node", ""); /* a label */
    check_format_as("[node;core{x,duration:2}]", "resources", "[node;core{x}]", "");
    check_format_as(SYSTEM("\"duration\":5"), "shape", "node{duration:5}", "");
    check_format_as(SYSTEM("\"duration\":5,\"a\":1"), "shape", NULL,
                    "a shape says resources and a duration only, not attributes.system.a; format \"resources\" writes "
                    "the resources alone");
    check_format_as(SYSTEM("\"duration\":5"), "resources", "node", "");
    check_format_as(V1(SLOT_CORE), "shape", NULL,
                    "a shape says resources and a duration only, not version, tasks; format \"resources\" writes the "
                    "resources alone");
    check_format_as(V1(SLOT_CORE), "toml", NULL,
                    "a request has no format 'toml'; known: json (jobspec), yaml, shape, resources");
}

/* A plain or tagged YAML scalar as an attribute, and its value in canonical JSON. */
static const char *const resolved[][2] = {
    {".", "\".\""},       {"-.", "\"-.\""}, {"1e", "\"1e\""},   {"1e+", "\"1e+\""}, {"+.5e1", "5.0"},
    {"!!str 5", "\"5\""}, {"! 5", "\"5\""}, {"!!int 5", "5"},   {"!!float 5", "5"}, {"!!bool true", "true"},
    {"!!null ~", "null"}, {"'5'", "\"5\""}, {"!!int '5'", "5"}, {"5.", "5.0"},
};

static void test_resolved(void)
{
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved; i++) {
        char text[128], want[128];
        weir_request *r = NULL;
        weir_err err = {0};
        char *out = NULL;
        snprintf(text, sizeof text, "resources: [{type: a, count: 1}]\nattributes: {system: {k: %s}}\n",
                 resolved[i][0]);
        snprintf(want, sizeof want, "{\"attributes\":{\"system\":{\"k\":%s}},", resolved[i][1]);
        if (CHECK(read_request(text, &r, &err) == WEIR_OK, "[J1] %s: %s", resolved[i][0], err.text))
            out = weir_request_format(r, "json", &err);
        CHECK(out && strncmp(out, want, strlen(want)) == 0, "[J1] %s: %s", resolved[i][0], out ? out : err.text);
        weir_free(out);
        weir_request_free(r);
    }
}

static void test_attributes(void)
{
    weir_request *r;
    weir_err err = {0};

    if (!CHECK(
            read_request(
                "resources: [{type: node, count: 2}]\nattributes:\n  system: {duration: 0.5, queue: batch, n: 1, own: "
                "{a: yes}}\n",
                &r, &err) == WEIR_OK,
            "[J1] %s", err.text))
        return;
    CHECK(weir_request_duration(r) == 500000, "[J1] duration in microseconds");
    CHECK(check_same(weir_request_attribute(r, "queue"), "batch"), "[J1] a string attribute");
    CHECK(!weir_request_attribute(r, "n") && !weir_request_attribute(r, "none"), "[J1] not a string, not there");
    CHECK(!weir_request_constrained(r), "[C1] no constraint");
    CHECK(weir_request_set_duration(r, 0, &err) == WEIR_EINVAL && weir_request_duration(r) == 500000,
          "[J1] bad duration");
    CHECK(weir_request_set_duration(r, 1250000, NULL) == WEIR_OK && weir_request_duration(r) == 1250000, "[J1] set");
    check_sound(r, "a duration that was set");
    CHECK(weir_request_set_duration(r, WEIR_FOREVER, NULL) == WEIR_OK, "[J1] no end");
    check_sound(r, "no duration");
    weir_request_free(r);
    CHECK(read_request("\"resources\"  : [{type: node, count: 2}]\n", &r, &err) == WEIR_OK,
          "[J1] blanks before the colon: %s", err.text);
    weir_request_free(r);
    read_request("resources: [{type: node, count: 2}]\nattributes: {system: {duration: 1e-9}}", &r, &err);
    CHECK(r && weir_request_duration(r) == 1, "[J1] a tiny duration is not none");
    weir_request_free(r);
    read_request(
        V1("{\"type\":\"slot\",\"count\":1,\"label\":\"s\",\"with\":[{\"type\":\"core\",\"count\":2},{\"type\":\"gpu\","
           "\"count\":0}]}"),
        &r, &err);
    CHECK(r != NULL, "[J1] gpu 0: %s", err.text);
    if (r)
        check_outline(r, "slot:s=1(core!=2)", "a gpu count of 0 drops it");
    weir_request_free(r);
}

/* ---- needs -------------------------------------------------------------------------------------------------- */

/* Shape, needs of the request, needs below the first resource. */
static const char *const needs[][3] = {
    {"slot=4/node/core=8", "node=4 core=32", "node=1 core=8"},
    {"slot=4/node{-x}/core=8", "core=32 node=1", "core=8 node=1"},
    {"node=2/slot=3/[core=2+;gpu=1,3]", "node=2 core=12 gpu=6", "core=6 gpu=3"},
    {"rack=2/node=3/slot/core", "rack=2 core=6 node=3", "core=3 node=3"},
    {"[node=2/slot{a}/core;node=3/slot{b}/core=5]", "core=17 node=3", "core=1"},
    {"slot/[node;node{-x}/core]", "node=1 core=1", "node=1 core=1"},
    {"zone{x}/zone{x}/core", "zone=2 core=1", "zone=1 core=1"},
    {"a=9007199254740992{x}/b=9007199254740992{x}/c=4{x}",
     "a=9007199254740992 b=9223372036854775807 c=9223372036854775807", "b=9007199254740992 c=36028797018963968"},
    {"core", "core=1", ""},
};

static int compare_needs(const void *a, const void *b)
{
    const struct weir_need *x = a, *y = b;
    return strcmp(x->type, y->type);
}

static void check_needs(const struct weir_need *list, uint32_t n, const char *expected, const char *what)
{
    char want[256], *save, *word;
    uint32_t found = 0, words = 0;

    snprintf(want, sizeof want, "%s", expected);
    for (word = strtok_r(want, " ", &save); word; word = strtok_r(NULL, " ", &save), words++) {
        char *amount = strchr(word, '=');
        struct weir_need key = {word, 0};
        *amount++ = '\0';
        for (uint32_t i = 0; i < n; i++)
            found += compare_needs(&key, &list[i]) == 0 && list[i].amount == strtoll(amount, NULL, 10);
    }
    CHECK(found == words && n == words, "[J1] needs of %s: %s, %u of %u match, %u there", what, expected, found, words,
          n);
}

static void test_needs(void)
{
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const struct weir_need *list;
        weir_request *r;
        weir_err err = {0};
        uint32_t n;
        if (!CHECK(read_request(needs[i][0], &r, &err) == WEIR_OK, "[J1] %s: %s", needs[i][0], err.text))
            continue;
        list = weir_request_needs(r, &n);
        check_needs(list, n, needs[i][1], needs[i][0]);
        list = weir_resource_needs(r, 0, &n);
        check_needs(list, n, needs[i][2], needs[i][0]);
        weir_request_free(r);
    }
}

/* ---- limits ------------------------------------------------------------------------------------------------- */

static void repeat(weir_buf *b, const char *s, int n)
{
    while (n-- > 0)
        weir_buf_puts(b, s);
}

/* before, n times piece, last, after */
static void check_repeat(const char *before, const char *piece, int n, const char *last, int code, const char *error)
{
    weir_buf b = {0};
    weir_request *r;
    weir_err err = {0};
    int rc;

    weir_buf_puts(&b, before);
    repeat(&b, piece, n);
    weir_buf_puts(&b, last);
    rc = read_request(b.data, &r, &err);
    CHECK(rc == code && check_same(err.text, error), "[J1] %d times %s: %s, %s", n, piece, weir_status_name(rc),
          err.text);
    weir_request_free(r);
    weir_buf_free(&b);
}

/* A whole jobspec of n nested resources and a leaf. */
static void check_nested(int n, int code, const char *error)
{
    weir_buf b = {0};
    weir_request *r;
    weir_err err = {0};
    int rc;

    weir_buf_puts(&b, "{\"resources\":[");
    repeat(&b, "{\"type\":\"a\",\"count\":1,\"with\":[", n);
    weir_buf_puts(&b, "{\"type\":\"a\",\"count\":1}");
    repeat(&b, "]}", n);
    weir_buf_puts(&b, "]}");
    rc = read_request(b.data, &r, &err);
    CHECK(rc == code && check_same(err.text, error), "[J1] %d deep: %s, %s", n, weir_status_name(rc), err.text);
    weir_request_free(r);
    weir_buf_free(&b);
}

static void test_limits(void)
{
    char *text;

    check_repeat("", "a/", 31, "a", WEIR_OK, "");
    check_repeat("", "a/", 32, "a", WEIR_ELIMIT, "shape: resources are nested more than 32 deep");
    check_repeat("", "a/", 100000, "a", WEIR_ELIMIT, "shape: resources are nested more than 32 deep");
    check_repeat("[", "a;", 4095, "a]", WEIR_OK, "");
    check_repeat("[", "a;", 4096, "a]", WEIR_ELIMIT, "shape: more than 4096 resources");
    check_repeat("a{k:", "[", 100000, "", WEIR_ELIMIT, "shape: nested more than 256 deep");
    check_repeat("a{k:", "{b:", 100000, "", WEIR_ELIMIT, "shape: nested more than 256 deep");
    check_repeat("a: ", "[", 100000, "", WEIR_ELIMIT, "nested more than 256 deep");
    check_repeat("{\"a\":", "[", 100000, "", WEIR_ELIMIT, "not valid JSON: maximum parsing depth reached near '['");
    check_repeat("{\"resources\":[", "{\"type\":\"a\",\"count\":1,\"with\":[", 33, "", WEIR_EPARSE,
                 "not valid JSON: ']' expected near end of file");
    check_nested(31, WEIR_OK, "");
    check_nested(32, WEIR_ELIMIT, "resources are nested more than 32 deep");
    check_repeat("resources: [", "{type: a, count: 1},", 4096, "]", WEIR_OK, "");
    check_repeat("resources: [", "{type: a, count: 1},", 4097, "]", WEIR_ELIMIT, "more than 4096 resources");
    check_repeat("resources: [", "{type: a, count: 1, with: [", 32, "]", WEIR_EPARSE,
                 "not valid YAML: did not find expected ',' or '}' while parsing a flow mapping");
    check_repeat("a=1,3-", "9", 9, "", WEIR_ELIMIT,
                 "shape: count \"1,3-999999999\": a set of more than 65536 values; give a range");
    text = calloc(1, WEIR_JOBSPEC_MAX + 2);
    if (text) {
        weir_err err = {0};
        weir_request *r = NULL;
        memset(text, 'a', WEIR_JOBSPEC_MAX + 1);
        CHECK(weir_request_parse(text, WEIR_JOBSPEC_MAX + 1, NULL, &r, &err) == WEIR_ELIMIT, "[J1] size: %s", err.text);
        CHECK(weir_request_parse(text, WEIR_NAME_MAX + 1, NULL, &r, NULL) == WEIR_EINVAL, "[J1] long type");
        free(text);
    }
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static bool must_load;
static unsigned files_tried;

/* Whether a file of invalid_v1 is no jobspec of version 1 to RFC 25, but to Fluxion and weir. */
static bool is_beyond(const char *path)
{
    static const char *const names[] = {"res_type_unknown", "task_count_per_resource", "/with_toomany", "with_whatnow"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(path, names[i]))
            return true;
    return false;
}

static int try_file(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    const char *dot = strrchr(path, '.');
    weir_request *r = NULL;
    weir_err err = {0};
    int rc;

    (void)st;
    (void)ftw;
    if (kind != FTW_F || !dot || strcmp(dot, ".yaml") != 0)
        return 0;
    files_tried++;
    rc = weir_request_load(path, &r, &err);
    CHECK((rc == WEIR_OK) == (must_load || is_beyond(path)), "[J1] %s", rc == WEIR_OK ? path : show(&err));
    if (rc == WEIR_OK)
        check_sound(r, path);
    else
        CHECK(err.line > 0 && err.source[0] && err.text[0], "[J1] %s: says where and why: %s", path, show(&err));
    weir_request_free(r);
    return 0;
}

static void try_folder(const char *name, bool good, unsigned at_least)
{
    char path[512];

    must_load = good;
    files_tried = 0;
    if (nftw(check_data(name, path, sizeof path), try_file, 16, FTW_PHYS) != 0)
        printf("skipped: no %s\n", path);
    else
        CHECK(files_tried >= at_least, "[J1] %u files in %s", files_tried, path);
}

/* The examples of RFC 14. */
static void try_rfc14(void)
{
    char path[512];
    static const char *const cases[] = {"example1",     "example2",     "use_case_1.1", "use_case_1.2", "use_case_1.3",
                                        "use_case_1.4", "use_case_1.5", "use_case_1.6", "use_case_1.7", "use_case_1.8",
                                        "use_case_2.1", "use_case_2.2", "use_case_2.3", "use_case_2.4", "use_case_2.5",
                                        "use_case_2.6", "use_case_2.7", "use_case_2.8", "use_case_2.9"};

    must_load = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat st;
        char name[128];
        snprintf(name, sizeof name, "jobspec/rfc14/spec_14/%s.yaml", cases[i]);
        if (stat(check_data(name, path, sizeof path), &st) == 0)
            try_file(path, &st, FTW_F, NULL);
        else
            printf("skipped: no %s\n", path);
    }
}

static void test_files(void)
{
    weir_request *r = NULL;
    weir_err err = {0};

    try_folder("jobspec/valid_v1", true, 7);
    try_folder("jobspec/invalid_v1", false, 13);
    try_folder("jobspec/rfc14/spec_25", true, 6);
    try_folder("fluxion/data/resource/jobspecs", true, 80);
    try_rfc14();
    CHECK(weir_request_load("/nowhere/at/all", &r, &err) == WEIR_EIO && err.text[0], "[J1] no file: %s", err.text);
    weir_err_clear(&err);
    CHECK(weir_request_load("/", &r, &err) == WEIR_EIO, "[J1] a folder: %s", err.text);
    weir_err_clear(&err);
    CHECK(weir_request_load("/proc/self/mem", &r, &err) == WEIR_EIO && strstr(err.text, "cannot read"),
          "[J1] what cannot be read: %s", err.text);
}

/* ---- out of memory ------------------------------------------------------------------------------------------ */

static int parse_once(void *text)
{
    static const char *const formats[] = {"json", "yaml", "resources"};
    weir_request *r = NULL;
    weir_err err = {0};
    int rc = weir_request_parse(text, strlen(text), "x", &r, &err);

    for (size_t i = 0; rc == WEIR_OK && i < sizeof formats / sizeof *formats; i++) {
        char *out = weir_request_format(r, formats[i], &err);
        if (!out)
            rc = err.code;
        weir_free(out);
    }
    weir_request_free(r);
    return rc;
}

/* What a request with alternatives can do. */
static int parse_either(void *text)
{
    weir_request *r = NULL;
    weir_err err = {0};
    int rc = weir_request_parse(text, strlen(text), "x", &r, &err);
    char *out = rc == WEIR_OK ? weir_request_format(r, "yaml", &err) : NULL;

    rc = rc == WEIR_OK && !out ? err.code : rc;
    rc = rc == WEIR_OK ? weir_request_set_duration(r, 5000000, &err) : rc;
    weir_free(out);
    weir_request_free(r);
    return rc;
}

static void test_nomem(void)
{
    char nested[] = "slot{a}/[node{x}/slot=2{b}/[core=3;slot=2{c}/gpu];ssd=1-3]";
    char yaml[] =
        "version: 9999\nresources:\n- {type: slot, count: '1,3,7', label: s, with: [{type: core, count: 2-4},"
        " {type: gpu, count: 1}]}\ntasks: [{command: [a], slot: s, count: {total: 1}}]\nattributes:\n  system:\n"
        "    constraints: {and: [{properties: [a]}, {hostlist: ['a[1-2]']}, {ranks: ['1-2', '7']}]}\n";
    char either[] =
        "{version: 1, resources: [{type: node, count: 1, with: [{type: xor_slot, count: 1, label: a, with: "
        "[{type: core, count: 1-2}]}, {type: xor_slot, count: 1, label: a, with: [{type: gpu, count: 1}]}]}], "
        "tasks: [{command: [a], slot: a, count: {total: 1}}], attributes: {}}";
    char shape[] = "[slot=1,4{a,unit:x}/node/core=2+;slot{b}/gpu{k:[1,{a:b}]}]", good[] = "slot=1,4/node=2-7:2/core";
    weir_request *r;
    weir_err err = {0};

    check_nomem(parse_once, yaml, "[J1] YAML");
    check_nomem(parse_once, good, "[J1] shape");
    check_nomem(parse_once, nested, "[J4] slots within slots");
    check_nomem(parse_either, either, "[J1] alternatives");
    CHECK(read_request(shape, &r, &err) == WEIR_EINVAL, "[J1] an unknown key, after all was read: %s", err.text);
}

/* Cut and changed texts: none may do harm (run under the sanitizers). */
static void test_mangled(void)
{
    static const char *const texts[] = {"[slot=1,4{a,unit:\"x\\n\"}/node/core=2+;slot{b}/gpu{id:[1,{a:b}]}]",
                                        V1(SLOT_CORE),
                                        "resources: [{type: node, count: {min: 2, max: 4}}]\nversion: 9\n"};
    static const char bytes[] = "{}[]\":,;=/+-\n x0\\\xff";

    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        for (size_t i = 0; i < strlen(texts[t]); i++) {
            for (size_t b = 0; b < sizeof bytes; b++) {
                char *copy = strdup(texts[t]);
                weir_request *r = NULL;
                weir_err err = {0};
                int rc;
                copy[i] = bytes[b];
                rc = weir_request_parse(copy, b + 1 < sizeof bytes ? strlen(copy) : i, "x", &r, &err);
                if ((rc == WEIR_OK) != (r != NULL) || (rc != WEIR_OK && (!err.text[0] || strchr(err.text, '\n'))))
                    CHECK(false, "[J1] %s: %s", copy, err.text);
                weir_request_free(r);
                free(copy);
            }
        }
    }
}

int main(void)
{
    test_shapes();
    test_format();
    test_yaml();
    test_written_shapes();
    test_resolved();
    test_attributes();
    test_needs();
    test_limits();
    test_files();
    test_nomem();
    test_mangled();
    return check_report();
}
