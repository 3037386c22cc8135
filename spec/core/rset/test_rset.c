/* test_rset.c - resource sets (RFC 20): reading, writing, algebra, parts, remapped ranks, and every failing
 * allocation.
 */
#include "rsets.h"

/* ---- reading and writing ---------------------------------------------------------------------------------------- */

/* {R, its canonical form; NULL: R is canonical} */
static const char *const canonical[][2] = {
    {DOC(A_CORE, ",\"nodelist\":[\"n0\"]}"), NULL},
    {DOC(A_CORE, "}"), NULL},
    {DOC("", ",\"nodelist\":[\"\"]}"), DOC("", ",\"nodelist\":[]}")},
    {DOC("", "}"), DOC("", ",\"nodelist\":[]}")},
    /* ranks with equal children are one entry, in the order of the lowest rank */
    {DOC(ENTRY("5", "\"core\":\"0-1\"") "," ENTRY("2-3", "\"gpu\":\"0\",\"core\":\"[0-3]\"") "," ENTRY(
             "0-1,4", "\"core\":\"0,1\"") "," ENTRY("7", "\"core\":\"0-3\",\"gpu\":\"0\""),
         "}"),
     DOC(ENTRY("0-1,4-5", "\"core\":\"0-1\"") "," ENTRY("2-3,7", "\"core\":\"0-3\",\"gpu\":\"0\""), "}")},
    /* core first, then gpu, then further types; an empty type is dropped, but for cores */
    {DOC(ENTRY("0", "\"ssd\":\"1\",\"fpga\":\"0\",\"gpu\":\"0\",\"memory\":\"\",\"core\":\"\""), "}"),
     DOC(ENTRY("0", "\"core\":\"\",\"gpu\":\"0\",\"fpga\":\"0\",\"ssd\":\"1\""), "}")},
    {DOC(ENTRY("0", ""), "}"), DOC(ENTRY("0", "\"core\":\"\""), "}")},
    /* keys have one order, hosts are compact, properties go by name */
    {DOC(ENTRY("0-2", "\"core\":\"0\""),
         ",\"starttime\":5,\"x\":{\"b\":1,\"a\":2},\"expiration\":6.25,\"properties\":{\"b\":"
         "\"0\",\"a@gpu\":\"0-2\",\"none\":\"\"},\"a\":null,\"nslots\":4,\"nodelist\":"
         "[\"m1\",\"n[3-4]\"]}"),
     DOC(ENTRY("0-2", "\"core\":\"0\""),
         ",\"nodelist\":[\"m1,n[3-4]\"],\"nslots\":4,\"properties\":{\"a@gpu\":\"0-2\",\"b\":"
         "\"0\"},\"starttime\":5,\"expiration\":6.25,\"a\":null,\"x\":{\"b\":1,\"a\":2}}")},
    {DOC(A_CORE, ",\"starttime\":0,\"expiration\":0.0}"), DOC(A_CORE, ",\"starttime\":0,\"expiration\":0}")},
    {DOC(A_CORE, ",\"starttime\":9,\"expiration\":0}"), NULL},
    {DOC(A_CORE, ",\"starttime\":null,\"expiration\":null,\"nodelist\":null,\"nslots\":null,\"properties\":null}"),
     DOC(A_CORE, "}")},
    {DOC(A_CORE, ",\"starttime\":1676560542.123456,\"expiration\":1676562342.000001}"), NULL},
    {DOC(A_CORE, ",\"starttime\":-1.5}"), NULL},
};

static void test_canonical(void)
{
    for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
        char in[2048], out[2048];
        const char *want = canonical[i][1] ? canonical[i][1] : canonical[i][0];
        weir_rset *r;
        snprintf(in, sizeof in, "%s}", canonical[i][0]);
        snprintf(out, sizeof out, "%s}", want);
        r = must_read(in);
        expect_format(r, "rv1", out, "canonical");
        weir_rset_free(r);
        r = must_read(out);
        expect_format(r, "rv1", out, "canonical, again");
        weir_rset_free(r);
    }
}

static void test_kept(void)
{
    static const char text[] =
        "{\"other\":[1,{}],\"attributes\":{\"system\":{\"scheduler\":{\"z\":1,\"queue\":\"batch\"}}},"
        "\"version\":1,\"scheduling\":{\"writer\":\"fancy:v2\",\"deep\":{\"b\":[],\"a\":0}},"
        "\"execution\":{\"R_lite\":[]}}";
    weir_rset *r = must_read(text);
    weir_err err = {0};
    char *value;

    expect_format(
        r, "rv1",
        "{\"version\":1,\"execution\":{\"R_lite\":[],\"nodelist\":[]},\"scheduling\":{\"writer\":\"fancy:v2\",\"deep\":"
        "{\"b\":[],\"a\":0}},\"attributes\":{\"system\":{\"scheduler\":{\"z\":1,\"queue\":\"batch\"}}},\"other\":[1,{}]"
        "}",
        "kept");
    expect_format(
        r, "rv1_nosched",
        "{\"version\":1,\"execution\":{\"R_lite\":[],\"nodelist\":[]},\"attributes\":{\"system\":{\"scheduler\":"
        "{\"z\":1,\"queue\":\"batch\"}}},\"other\":[1,{}]}",
        "kept");
    expect_format(r, "rlite", "[]", "kept");
    expect_format(r, "rlist", "", "kept");
    expect_format(r, "xml", NULL, "no such format");
    CHECK(check_same(weir_rset_writer(r), "fancy:v2"), "writer");
    value = weir_rset_get(r, "attributes", &err);
    CHECK(check_same(value, "{\"system\":{\"scheduler\":{\"z\":1,\"queue\":\"batch\"}}}"), "%s",
          value ? value : err.text);
    weir_free(value);
    CHECK(!weir_rset_get(r, "execution.x", &err) && err.code == WEIR_ENOENT, "a key that is not there");
    weir_rset_free(r);
}

/* {R, the error} */
static const char *const bad[][2] = {
    {"[]", "test: expected an object, such as {\"graph\": ...}"},
    {"{\"version\":1,\"execution\":", "test:1:25: JSON: parse error: premature EOF"},
    {"{\"execution\":{\"R_lite\":[]}}", "test: version: expected 1"},
    {"{\"version\":1,\"execution\":{\"R_lite\":[]},\"version\":1}", "test: version: is given twice"},
    {"{\"version\":1,\"execution\":{\"R_lite\":[],\"R_lite\":[]}}", "test: execution: duplicate object key"},
    {"{\"version\":1,\"scheduling\":null,\"scheduling\":{}}", "test: scheduling: is given twice"},
    {"{\"version\":1,\"execution\":{\"R_lite\":[]},\"scheduling\":{\"a\":1,\"a\":2}}",
     "test: scheduling: duplicate object key"},
    {"{\"version\":1,\"execution\":{\"R_lite\":[]},\"k\":99999999999999999999}", "test: k: too big integer"},
    {"{\"version\":1,\"execution\":{\"R_lite\":[]}} x", "test:1:41: JSON: parse error: trailing garbage"},
    {"{\"version\":1.0,\"execution\":{\"R_lite\":[]}}", "test: version: expected 1"},
    {"{\"version\":1}", "test: neither execution nor scheduling.graph is there"},
    {"{\"version\":1,\"scheduling\":null}", "test: neither execution nor scheduling.graph is there"},
    {"{\"version\":1,\"execution\":null}", "test: execution: expected an object with R_lite and nodelist"},
    {"{\"version\":1,\"execution\":{}}",
     "test: execution.R_lite: expected an array of {\"rank\": ..., \"children\": ...}"},
    {DOC("", "},\"scheduling\":[]}"), "test: scheduling: expected an object such as {\"graph\": ...}"},
    {DOC("", "},\"scheduling\":{\"writer\":1}}"), "test: scheduling.writer: expected a string, such as \"fluxion\""},
    {DOC(ENTRY("-1", "\"core\":\"0\""), "}}"), "test: execution.R_lite[0].rank: \"-1\": "},
    {DOC(ENTRY("1-0", "\"core\":\"0\""), "}}"), "test: execution.R_lite[0].rank: \"1-0\": "},
    {DOC(A_CORE "," ENTRY("1-4", "\"core\":\"0\"") "," ENTRY("3", "\"core\":\"1\""), "}}"),
     "test: execution.R_lite[2].rank: \"3\" has a rank that an earlier entry has"},
    {DOC(A_CORE "," ENTRY("0-4194304", "\"core\":\"0\""), "}}"),
     "test: execution.R_lite[1].rank: \"0-4194304\" has a rank that an earlier entry has"},
    {DOC(ENTRY("0-4194304", "\"core\":\"0\""), "}}"), "test: R_lite: more than 4194304 ranks"},
    {DOC(A_CORE, ",\"nodelist\":[]}}"), "test: execution.nodelist: names 0 hosts, but R_lite has 1 ranks"},
    {DOC("", ",\"nodelist\":[\"a\"]}}"), "test: execution.nodelist: names 1 hosts, but R_lite has 0 ranks"},
    {DOC(A_CORE, ",\"nodelist\":[\"a[\"]}}"), "test: execution.nodelist[0]: \"a[\": "},
    {DOC(A_CORE, ",\"properties\":{\"a\":\"0,2\"}}}"),
     "test: execution.properties.a: \"0,2\" has a rank that R_lite does not have"},
    {DOC(A_CORE, ",\"properties\":[]}}"), "test: execution.properties: expected an object such as {\"big\": \"0-3\"}"},
    {DOC(A_CORE, ",\"properties\":{\"\":\"0\"}}}"), "test: execution.properties: the name \"\" is empty"},
    {DOC(A_CORE, ",\"nodelist\":[7]}}"), "test: execution.nodelist[0]: expected a string such as \"node[0-3]\""},
    {DOC(ENTRY("0", "\"\":\"0\""), "}}"), "test: execution.R_lite[0].children: the type \"\" is empty"},
    {DOC(A_CORE, ",\"nslots\":0}}"), "test: execution.nslots: expected a number of slots from 1 on"},
    {DOC(A_CORE, ",\"nslots\":\"1\"}}"), "test: execution.nslots: expected a number of slots from 1 on"},
    {DOC(A_CORE, ",\"starttime\":\"5\"}}"), "test: execution.starttime: expected a number of seconds"},
    {DOC(A_CORE, ",\"starttime\":1e300}}"), "test: execution.starttime: 1e+300 seconds are more than 9e12"},
    {DOC(A_CORE, ",\"starttime\":5,\"expiration\":5}}"),
     "test: execution.expiration: 5.000000 is not after the starttime, 5.000000"},
};

static void test_bad(void)
{
    static const char illegal[] = "!&'\"^`|()";

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        weir_err err = {0};
        weir_rset *r = read_set(bad[i][0], &err);
        char text[1024];
        weir_err_format(&err, text, sizeof text);
        CHECK(!r && strncmp(text, bad[i][1], strlen(bad[i][1])) == 0, "%s: \"%s\", not \"%s\"", bad[i][0], text,
              bad[i][1]);
        weir_rset_free(r);
    }
    for (const char *c = illegal; *c; c++) { /* [R4] */
        weir_err err = {0};
        weir_rset *r;
        char text[256];
        snprintf(text, sizeof text, DOC(A_CORE, ",\"properties\":{\"a%s%cb\":\"0\"}}}"), *c == '"' ? "\\" : "", *c);
        r = read_set(text, &err);
        CHECK(!r && strstr(err.text, "none of !&'\"^`|() may be"), "%s: %s", text, err.text);
        weir_rset_free(r);
    }
}

/* More types of children than a rank may have. */
static void test_types(void)
{
    weir_buf b = {0};
    weir_err err;
    weir_rset *r;

    for (int most = WEIR_RSET_TYPES; most <= WEIR_RSET_TYPES + 1; most++) {
        weir_buf_puts(&b, "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0\",\"children\":{");
        for (int i = 0; i < most; i++)
            weir_buf_printf(&b, "%s\"t%d\":\"0\"", i ? "," : "", i);
        weir_buf_puts(&b, "}}]}}");
        r = read_set(b.data, &err);
        CHECK(most == WEIR_RSET_TYPES
                  ? r != NULL
                  : !r && err.code == WEIR_ELIMIT && strstr(err.text, "children: more than 256 types"),
              "%d types: %s", most, err.text);
        weir_rset_free(r);
        weir_buf_free(&b);
    }
}

static void test_load(void)
{
    char path[] = "/tmp/rset-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    weir_rset *r = NULL;
    weir_err err = {0};

    CHECK(f && fputs(DOC(A_CORE, "}}"), f) >= 0 && fclose(f) == 0, "written");
    CHECK(weir_rset_load(path, &r, &err) == WEIR_OK && weir_rset_count(r, "core") == 1, "%s", err.text);
    weir_rset_free(r);
    r = NULL;
    CHECK((f = fopen(path, "w")) && fputs("[]", f) >= 0 && fclose(f) == 0, "written");
    CHECK(weir_rset_load(path, &r, &err) == WEIR_EPARSE && !r && strcmp(err.source, path) == 0, "%d %s: %s", err.code,
          err.source, err.text);
    remove(path);
    CHECK(weir_rset_load(path, &r, &err) == WEIR_EIO && !r, "%s", err.text);
}

static void test_asking(void)
{
    weir_rset *r =
        must_read(DOC(ENTRY("3", "\"core\":\"2-3\",\"gpu\":\"1\"") "," ENTRY("0,2", "\"core\":\"0\""),
                      ",\"nodelist\":[\"n[8-9]\",\"m007\"],\"properties\":{\"z\":\"0\",\"a\":\"3\"},\"nslots\":7,"
                      "\"starttime\":1.5,\"expiration\":2}}"));
    weir_hostlist *hosts = NULL;
    const weir_idset *ids = NULL;
    const char *name = NULL;
    char host[8];

    CHECK(weir_rset_count(r, NULL) == 3 && weir_rset_count(r, "core") == 4 && weir_rset_count(r, "gpu") == 1 &&
              weir_rset_count(r, "ssd") == 0,
          "counts");
    CHECK(weir_rset_start(r) == 1500000 && weir_rset_end(r) == 2000000 && weir_rset_nslots(r) == 7, "numbers");
    CHECK(weir_idset_count(weir_rset_children(r, 3, "core")) == 2 && !weir_rset_children(r, 1, "core") &&
              !weir_rset_children(r, -1, "core") && !weir_rset_children(r, 0, "gpu"),
          "children");
    CHECK(weir_rset_hosts(r, &hosts, NULL) == WEIR_OK && weir_hostlist_nth(hosts, 2, host, sizeof host) == 4 &&
              strcmp(host, "m007") == 0,
          "hosts");
    CHECK(weir_rset_property(r, 0, &name, &ids) && strcmp(name, "z") == 0 && weir_idset_test(ids, 0) &&
              weir_rset_property(r, 1, &name, &ids) && !weir_rset_property(r, 2, &name, &ids),
          "properties come in their order");
    CHECK(weir_rset_entry(r, 0, &ids) && weir_idset_first(ids) == 0 && weir_rset_entry_child(r, 1, 1, &name, &ids) &&
              strcmp(name, "gpu") == 0 && !weir_rset_entry_child(r, 1, 2, &name, &ids) && !weir_rset_entry(r, 2, &ids),
          "entries");
    CHECK(weir_rset_bytes(r) > 0, "bytes");
    weir_hostlist_free(hosts);
    weir_rset_free(r);
}

static void test_changing(void)
{
    weir_rset *r = from_rlist("rank[0-1]/core0");
    weir_idset *ranks = NULL;
    weir_err err = {0};

    CHECK(weir_rset_set_times(r, 0, 0, NULL) == WEIR_OK && weir_rset_end(r) == WEIR_FOREVER, "no times");
    CHECK(weir_rset_set_times(r, 10, 20, NULL) == WEIR_OK && weir_rset_set_times(r, 20, 20, NULL) == WEIR_EINVAL &&
              weir_rset_start(r) == 10,
          "times that make no sense change nothing");
    CHECK(weir_idset_parse("1-2", 3, &ranks, NULL) == WEIR_OK, "ranks");
    CHECK(weir_rset_set_property(r, "a", ranks, &err) == WEIR_ENOENT, "%s", err.text);
    CHECK(weir_idset_remove_id(ranks, 2) == WEIR_OK && weir_rset_set_property(r, "a", ranks, NULL) == WEIR_OK,
          "a property");
    CHECK(weir_rset_set_property(r, "a^", ranks, NULL) == WEIR_EINVAL, "a bad one");
    CHECK(weir_rset_set_property(r, "none", NULL, NULL) == WEIR_OK, "one that no rank has");
    weir_err_clear(&err);
    CHECK(weir_rset_set_times(r, WEIR_FOREVER, 0, &err) == WEIR_EINVAL &&
              strstr(err.text, "starttime: expected a finite time"),
          "%s", err.text);
    expect_format(r, "rv1",
                  "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0\"}}],"
                  "\"nodelist\":[\"n[0-"
                  "1]\"],\"properties\":{\"a\":\"1\"},\"starttime\":0.00001,\"expiration\":0.00002}}",
                  "changed");
    weir_idset_free(ranks);
    weir_rset_free(r);
}

/* ---- algebra ---------------------------------------------------------------------------------------------------- */

static const struct row {
    const char *a, *b, *both, *common, *rest; /* union, intersection, a - b */
} rows[] = {
    {"", "", "", "", ""},
    {"rank0/core0", "", "rank0/core0", "", "rank0/core0"},
    {"", "rank0/core0", "rank0/core0", "", ""},
    {"rank[0-3]/core[0-3]", "rank[0-3]/core[0-3]", "rank[0-3]/core[0-3]", "rank[0-3]/core[0-3]", ""},
    {"rank[0-3]/core[0-3]", "rank[2-5]/core[0-3]", "rank[0-5]/core[0-3]", "rank[2-3]/core[0-3]", "rank[0-1]/core[0-3]"},
    {"rank[0-3]/core[0-3],gpu0", "rank[1,3]/core[2-5]", "rank[0,2]/core[0-3],gpu0 rank[1,3]/core[0-5],gpu0",
     "rank[1,3]/core[2-3]", "rank[0,2]/core[0-3],gpu0 rank[1,3]/core[0-1],gpu0"},
    {"rank0/core[0-1] rank1/core[2-3]", "rank0/core[2-3] rank1/core[0-1]", "rank[0-1]/core[0-3]", "",
     "rank0/core[0-1] rank1/core[2-3]"},
    {"rank0/core[0-1] rank1/core[0-3]", "rank1/core[2-3]", "rank0/core[0-1] rank1/core[0-3]", "rank1/core[2-3]",
     "rank[0-1]/core[0-1]"},
    {"rank[0-4000000]/core[0-63]", "rank[1000000-2000000]/core[0-63] rank3999999/core1", "rank[0-4000000]/core[0-63]",
     "rank[1000000-2000000]/core[0-63] rank3999999/core1",
     "rank[0-999999,2000001-3999998,4000000]/core[0-63] rank3999999/core[0,2-63]"},
    {"rank0/core0,fpga[0-1],zeta1", "rank0/fpga1", "rank0/core0,fpga[0-1],zeta1", "rank0/fpga1",
     "rank0/core0,fpga0,zeta1"},
    {"rank[0-1]/core0", "rank4/core0", "rank[0-1,4]/core0", "", "rank[0-1]/core0"},
};

static void expect_op(enum weir_rset_op op, const weir_rset *a, const weir_rset *b, const char *expected,
                      const char *what)
{
    weir_rset *r = NULL;
    weir_err err = {0};

    CHECK(weir_rset_combine(op, a, b, &r, &err) == WEIR_OK, "%s: %s", what, err.text);
    expect_format(r, "rlist", expected, what);
    weir_rset_free(r);
}

static void test_algebra(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool large = strstr(rows[i].a, "4000000") != NULL; /* a nodelist of that length takes long to make */
        weir_rset *a = large ? must_read(DOC(ENTRY("0-4000000", "\"core\":\"0-63\""), "}}")) : from_rlist(rows[i].a);
        weir_rset *b =
            large ? must_read(
                        DOC(ENTRY("1000000-2000000", "\"core\":\"0-63\"") "," ENTRY("3999999", "\"core\":\"1\""), "}}"))
                  : from_rlist(rows[i].b);
        expect_op(WEIR_RSET_UNION, a, b, rows[i].both, "union");
        expect_op(WEIR_RSET_UNION, b, a, rows[i].both, "union the other way round");
        expect_op(WEIR_RSET_INTERSECT, a, b, rows[i].common, "intersection");
        expect_op(WEIR_RSET_INTERSECT, b, a, rows[i].common, "intersection the other way round");
        expect_op(WEIR_RSET_DIFF, a, b, rows[i].rest, "difference");
        CHECK(weir_rset_equal(a, a) && weir_rset_equal(a, b) == (strcmp(rows[i].a, rows[i].b) == 0), "equal");
        weir_rset_free(a);
        weir_rset_free(b);
    }
}

/* A rank without children is one unit, as long as the set gives it no children. */
static void test_bare(void)
{
    weir_rset *bare = from_rlist("rank[0-1]"), *full = from_rlist("rank0/core0 rank2");
    weir_rset *r = NULL;

    CHECK(weir_rset_combine(WEIR_RSET_DIFF, bare, full, &r, NULL) == WEIR_OK, "difference");
    expect_format(r, "rlite", "[{\"rank\":\"0-1\",\"children\":{\"core\":\"\"}}]", "bare - full");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, bare, full, &r, NULL) == WEIR_OK, "intersection");
    expect_format(r, "rlite", "[]", "bare & full");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_DIFF, bare, bare, &r, NULL) == WEIR_OK, "difference");
    expect_format(r, "rlite", "[]", "bare - bare");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, bare, bare, &r, NULL) == WEIR_OK, "intersection");
    CHECK(weir_rset_equal(r, bare), "bare & bare");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_UNION, bare, full, &r, NULL) == WEIR_OK, "union");
    expect_format(r, "rlite",
                  "[{\"rank\":\"0\",\"children\":{\"core\":\"0\"}},{\"rank\":\"1-2\",\"children\":{\"core\":\"\"}}]",
                  "bare | full");
    weir_rset_free(r);
    weir_rset_free(bare);
    weir_rset_free(full);
}

static void test_refusals(void)
{
    static const char a[] = DOC(ENTRY("0-1", "\"core\":\"0-1\""), ",\"nodelist\":[\"a[0-1]\"]}}");
    static const char b[] = DOC(ENTRY("1-2", "\"core\":\"0-1\""), ",\"nodelist\":[\"b[1-2]\"]}}");
    static const char c[] = DOC(ENTRY("2", "\"core\":\"0\""), "}}");
    static const char d[] = DOC(ENTRY("1-2", "\"core\":\"1-2\""), ",\"nodelist\":[\"a[1-2]\"]}}");

    for (int op = WEIR_RSET_UNION; op <= WEIR_RSET_APPEND; op++)
        expect_refusal((enum weir_rset_op)op, a, b, WEIR_EINVAL, "rank 1 is a1 in one set and b1 in the other");
    expect_refusal(WEIR_RSET_UNION, a, c, WEIR_EINVAL, "one set has a nodelist and the other has none");
    expect_refusal(WEIR_RSET_APPEND, a, d, WEIR_EEXIST, "rank 1: both sets have some core of the same number");
}

/* Keys beside the pools come from the first set. */
static void test_inherits(void)
{
    weir_rset *a = must_read(DOC(ENTRY("0-1", "\"core\":\"0-1\""),
                                 ",\"nodelist\":[\"n[0-1]\"],\"nslots\":4,\"properties\":{\"z\":\"1\",\"b\":\"0-1\"},"
                                 "\"starttime\":3,\"k\":1},\"attributes\":{}}"));
    weir_rset *b =
        must_read(DOC(ENTRY("1-2", "\"core\":\"1-2\""),
                      ",\"nodelist\":[\"n[1-2]\"],\"properties\":{\"a\":\"1\",\"b\":\"2\"},\"expiration\":5}}"));
    weir_rset *r = NULL;

    CHECK(weir_rset_combine(WEIR_RSET_UNION, a, b, &r, NULL) == WEIR_OK, "union");
    expect_format(
        r, "rv1",
        DOC(ENTRY("0", "\"core\":\"0-1\"") "," ENTRY("1", "\"core\":\"0-2\"") "," ENTRY("2", "\"core\":\"1-2\""),
            ",\"nodelist\":[\"n[0-2]\"],\"nslots\":4,\"properties\":{\"a\":\"1\",\"b\":\"0-2\",\"z\":\"1\"},"
            "\"starttime\":3,\"k\":1},\"attributes\":{}}"),
        "union");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, b, a, &r, NULL) == WEIR_OK, "intersection");
    expect_format(
        r, "rv1",
        DOC(ENTRY("1", "\"core\":\"1\""), ",\"nodelist\":[\"n1\"],\"properties\":{\"a\":\"1\"},\"expiration\":5}}"),
        "intersection");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_DIFF, a, b, &r, NULL) == WEIR_OK, "difference");
    expect_format(
        r, "rv1",
        DOC(ENTRY("0", "\"core\":\"0-1\"") "," ENTRY("1", "\"core\":\"0\""),
            ",\"nodelist\":[\"n[0-1]\"],\"nslots\":4,\"properties\":{\"b\":\"0-1\",\"z\":\"1\"},\"starttime\":3,"
            "\"k\":1},\"attributes\":{}}"),
        "difference");
    weir_rset_free(r);
    weir_rset_free(a);
    weir_rset_free(b);
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

static void expect_where(const weir_rset *r, const char *constraint, const char *expected)
{
    weir_constraint *c = NULL;
    weir_rset *part = NULL;
    weir_err err = {0};

    CHECK(weir_constraint_parse(constraint, strlen(constraint), &c, &err) == WEIR_OK, "%s: %s", constraint, err.text);
    CHECK(weir_rset_select(r, c, &part, &err) == WEIR_OK, "%s: %s", constraint, err.text);
    expect_format(part, "rlist", expected, constraint);
    weir_rset_free(part);
    weir_constraint_free(c);
}

static void test_where(void)
{
    static const char *const cases[][2] = {
        {"{}", "rank[0-3]/core0"},
        {"{\"properties\":[]}", "rank[0-3]/core0"},
        {"{\"properties\":[\"big\"]}", "rank[0-1]/core0"},
        {"{\"properties\":[\"big\",\"^old\"]}", "rank0/core0"},
        {"{\"properties\":[\"mi50\"]}", "rank3/core0"},
        {"{\"properties\":[\"mi50@gpu\"]}", "rank3/core0"},
        {"{\"properties\":[\"mi5\"]}", ""},
        {"{\"properties\":[\"n2\"]}", "rank2/core0"},
        {"{\"properties\":[\"^n2\"]}", "rank[0-1,3]/core0"},
        {"{\"hostlist\":[\"n[1-9]\",\"x\"]}", "rank[1-3]/core0"},
        {"{\"hostlist\":[]}", ""},
        {"{\"ranks\":[\"0\",\"2-7\"]}", "rank[0,2-3]/core0"},
        {"{\"not\":[{\"ranks\":[\"0\"]}]}", "rank[1-3]/core0"},
        {"{\"not\":[]}", ""},
        {"{\"or\":[]}", "rank[0-3]/core0"},
        {"{\"or\":[{\"ranks\":[\"0\"]},{\"properties\":[\"old\"]}]}", "rank[0-1]/core0"},
        {"{\"and\":[{\"ranks\":[\"0-1\"]},{\"properties\":[\"old\"]}]}", "rank1/core0"},
        {"{\"ranks\":[\"0-1\"],\"properties\":[\"old\"]}", "rank1/core0"},
    };
    weir_rset *r = must_read(DOC(ENTRY("0-3", "\"core\":\"0\""),
                                 ",\"nodelist\":[\"n[0-3]\"],\"properties\":{\"big\":\"0-1\",\"old\":"
                                 "\"1\",\"mi50@gpu\":\"3\"}}}"));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_where(r, cases[i][0], cases[i][1]);
    weir_rset_free(r);
    r = must_read(DOC(ENTRY("0-1", "\"core\":\"0\""), "}}"));
    expect_where(r, "{\"hostlist\":[\"n0\"]}", "");
    weir_rset_free(r);
}

static void test_hosts(void)
{
    weir_rset *r = must_read(DOC(ENTRY("0-5", "\"core\":\"0\""), ",\"nodelist\":[\"a,b,a,c[1-3]\"]}}")), *part = NULL;
    weir_hostlist *hosts = NULL;

    CHECK(weir_hostlist_parse("c2,a,nobody", 11, &hosts, NULL) == WEIR_OK, "hosts");
    CHECK(weir_rset_select_hosts(r, hosts, &part, NULL) == WEIR_OK, "part");
    expect_format(part, "rv1", DOC(ENTRY("0,2,4", "\"core\":\"0\""), ",\"nodelist\":[\"a,a,c2\"]}}"), "hosts");
    weir_rset_free(part);
    weir_hostlist_free(hosts);
    CHECK(weir_rset_select_hosts(r, NULL, &part, NULL) == WEIR_OK && weir_rset_count(part, NULL) == 0, "no hosts");
    weir_rset_free(part);
    CHECK(weir_rset_select_ranks(r, NULL, &part, NULL) == WEIR_OK && weir_rset_count(part, NULL) == 0, "no ranks");
    weir_rset_free(part);
    weir_rset_free(r);
}

static void expect_remap(const char *text, const char *hosts, bool ids, const char *expected)
{
    weir_rset *r = must_read(text), *out = NULL;
    weir_hostlist *list = NULL;
    weir_err err = {0};

    if (hosts)
        CHECK(weir_hostlist_parse(hosts, strlen(hosts), &list, NULL) == WEIR_OK, "%s", hosts);
    if (weir_rset_remap(r, list, ids, &out, &err) == WEIR_OK)
        expect_format(out, "rv1", expected, hosts ? hosts : "remap");
    else
        CHECK(strstr(err.text, expected), "%s: %s, not %s", hosts ? hosts : "remap", err.text, expected);
    weir_rset_free(out);
    weir_hostlist_free(list);
    weir_rset_free(r);
}

#define NO_GRAPH "},\"scheduling\":{\"graph\":{\"nodes\":[{\"id\":\"0\",\"metadata\":{\"rank\":4}}]}}}"

static void test_remap(void)
{
    static const char text[] = DOC(ENTRY("3", "\"core\":\"2-3\",\"gpu\":\"1\"") "," ENTRY("7,9", "\"core\":\"5\""),
                                   ",\"nodelist\":[\"c,b,a\"],\"properties\":{\"p\":\"3,9\"},\"starttime\":4}}");

    expect_remap(text, NULL, false,
                 DOC(ENTRY("0", "\"core\":\"2-3\",\"gpu\":\"1\"") "," ENTRY("1-2", "\"core\":\"5\""),
                     ",\"nodelist\":[\"c,b,a\"],\"properties\":{\"p\":\"0,2\"},\"starttime\":4}}"));
    expect_remap(text, NULL, true,
                 DOC(ENTRY("0", "\"core\":\"0-1\",\"gpu\":\"1\"") "," ENTRY("1-2", "\"core\":\"0\""),
                     ",\"nodelist\":[\"c,b,a\"],\"properties\":{\"p\":\"0,2\"},\"starttime\":4}}"));
    expect_remap(text, "a,b,c", false,
                 DOC(ENTRY("0-1", "\"core\":\"5\"") "," ENTRY("2", "\"core\":\"2-3\",\"gpu\":\"1\""),
                     ",\"nodelist\":[\"a,b,c\"],\"properties\":{\"p\":\"0,2\"},\"starttime\":4}}"));
    expect_remap(text, "a,b", false, "2 hosts are listed, and the set has 3 ranks");
    expect_remap(text, "a,b,d", false, "the set has no host d");
    expect_remap(text, "a,b,b", false, "host b occurs twice");
    expect_remap(DOC(A_CORE, "}}"), "a", false, "the set has no nodelist");
    expect_remap(DOC("", "}}"), NULL, false, DOC("", ",\"nodelist\":[]}}"));
    /* a key that is no graph is kept, and so is the key of an unknown writer */
    expect_remap(HOSTED("4", "a", "0") ",\"scheduling\":{\"writer\":\"fancy\",\"x\":4}}", NULL, false,
                 HOSTED("0", "a", "0") ",\"scheduling\":{\"writer\":\"fancy\",\"x\":4}}");
    expect_remap(DOC(ENTRY("4", "\"core\":\"0\""), NO_GRAPH), NULL, false, DOC(A_CORE, NO_GRAPH));
}
/* A scheduling is part of the memory of each set that keeps it, in equal parts. */
static void test_bytes_of_scheduling(void)
{
    char text[4096], filler[3000];
    weir_rset *alone, *r, *copy = NULL;
    size_t bare, with;
    weir_err err = {0};

    memset(filler, 'x', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    snprintf(text, sizeof text, "%s,\"scheduling\":{\"writer\":\"%s\"}}", HOSTED("0", "a", "0"), filler);
    alone = must_read(HOSTED("0", "a", "0") "}");
    r = must_read(text);
    bare = weir_rset_bytes(alone);
    with = weir_rset_bytes(r);
    CHECK(with >= bare + 3000, "%zu bytes, %zu without the scheduling", with, bare);
    CHECK(weir_rset_copy(r, &copy, &err) == WEIR_OK && weir_rset_bytes(r) + 1400 < with, "%zu bytes",
          weir_rset_bytes(r));
    weir_rset_free(alone);
    weir_rset_free(copy);
    weir_rset_free(r);
}

/* a set takes little memory however large it is */

static void test_large(void)
{
    weir_rset *r =
        must_read(DOC(ENTRY("0-4194303", "\"core\":\"0-4294967294\""), ",\"nodelist\":[\"n[0-4194303]\"]}}"));
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_rset_bytes(r) < 4096, "%zu bytes", weir_rset_bytes(r));
    CHECK(weir_rset_count(r, "core") == (uint64_t)4194304 * 4294967295u, "cores");
    CHECK(weir_rset_graph(r, &g, &err) == WEIR_ELIMIT && !g, "%s", err.text);
    weir_rset_free(r);
}

/* ---- failing allocations ------------------------------------------------------------------------------------------
 */

/* Operands: b has resources that a lacks, and a graph of its own; both have properties and hosts. */
struct given {
    weir_graph *g;
    const weir_allocation *job;
    weir_rset *a, *b, *flat[2];
    weir_idset *ranks;
    weir_hostlist *hosts;
};

struct attempt {
    const struct given *with;
    int (*make)(const struct given *with, int n, weir_rset **out, weir_err *err);
    int n;
};

static int make_read(const struct given *with, int n, weir_rset **out, weir_err *err)
{
    static const char *const texts[] = {
        DOC(ENTRY("3", "\"core\":\"2-3\",\"gpu\":\"1\",\"x\":\"0\"") "," ENTRY("0,2", "\"core\":\"0\""),
            ",\"nodelist\":[\"n[8-9]\",\"m007\"],\"properties\":{\"a\":\"0,3\"},\"k\":1},\"j\":2}"),
        "{\"version\":1" ONE("n7")};

    (void)with;
    return weir_rset_parse(texts[n], strlen(texts[n]), "test", out, err);
}

static int make_combined(const struct given *with, int op, weir_rset **out, weir_err *err)
{
    return weir_rset_combine((enum weir_rset_op)op, with->a, with->b, out, err);
}

/* Ranks of two nodelists. */
static int make_joined(const struct given *with, int n, weir_rset **out, weir_err *err)
{
    (void)n;
    return weir_rset_combine(WEIR_RSET_UNION, with->flat[0], with->flat[1], out, err);
}

static int make_selected(const struct given *with, int n, weir_rset **out, weir_err *err)
{
    static const char text[] =
        "{\"or\":[{\"properties\":[\"p\",\"^q\"]},{\"hostlist\":[\"node1\"]},{\"not\":[{\"ranks\":[\"0\"]}]}]}";
    weir_constraint *c = NULL;
    int rc;

    if (n == 0)
        return weir_rset_select_ranks(with->a, with->ranks, out, err);
    if (n == 1)
        return weir_rset_select_hosts(with->a, with->hosts, out, err);
    if (n == 2)
        return weir_rset_copy(with->a, out, err);
    rc = weir_constraint_parse(text, strlen(text), &c, err);
    rc = rc < 0 ? rc : weir_rset_select(with->a, c, out, err);
    weir_constraint_free(c);
    return rc;
}

static int make_remapped(const struct given *with, int n, weir_rset **out, weir_err *err)
{
    return n ? weir_rset_remap(with->b, NULL, n > 1, out, err) : weir_rset_remap(with->a, with->hosts, false, out, err);
}

static int make_of_graph(const struct given *with, int n, weir_rset **out, weir_err *err)
{
    if (n == 3)
        return weir_allocation_rset(with->g, with->job, true, out, err);
    return weir_graph_rset(with->g, (enum weir_rset_what)n, n == 0, out, err);
}

/* Sets a new property or an existing one: a copy changes, or stays equal. */
static int make_changed(const struct given *with, int n, weir_rset **out, weir_err *err)
{
    weir_rset *r = NULL;
    int rc = weir_rset_copy(with->a, &r, err);

    if (rc == WEIR_OK) {
        rc = weir_rset_set_property(r, n ? "p" : "new", with->ranks, err);
        CHECK(rc == WEIR_OK || weir_rset_equal(r, with->a), "what cannot be done changes nothing");
    }
    if (rc == WEIR_OK)
        *out = r;
    else
        weir_rset_free(r);
    return rc;
}

static int make_once(void *arg)
{
    const struct attempt *t = arg;
    weir_rset *out = NULL;
    weir_err err = {0};
    int rc = t->make(t->with, t->n, &out, &err);

    CHECK((rc == WEIR_OK) == (out != NULL), "a result, or a failure: %s", err.text);
    CHECK(rc == err.code, "the error has the status: %d, %s", rc, err.text);
    weir_rset_free(out);
    return rc;
}

/* Uses of a set that make no set. */
static int use_once(void *arg)
{
    static const char *const formats[] = {"rv1", "rv1_nosched", "rlite", "rlist"};
    const struct attempt *t = arg;
    weir_graph *g = NULL;
    weir_hostlist *hosts = NULL;
    weir_err err = {0};
    char *text;
    int rc;

    switch (t->n) {
    case 0: return weir_rset_validate(t->with->a, &err);
    case 1:
        rc = weir_rset_graph(t->with->a, &g, &err);
        weir_graph_free(g);
        return rc;
    case 2:
        rc = weir_rset_hosts(t->with->a, &hosts, &err);
        weir_hostlist_free(hosts);
        return rc;
    default:
        text = t->n == 3 ? weir_rset_get(t->with->a, "scheduling", &err)
                         : weir_rset_format(t->with->a, formats[t->n - 4], &err);
        rc = text ? WEIR_OK : err.code;
        weir_free(text);
        return rc;
    }
}

static void give(struct given *with)
{
    weir_rset *whole, *rest = NULL;
    weir_vertex core = WEIR_NONE;
    weir_idset *last = NULL;
    char *text;

    with->g = machine();
    CHECK(weir_vertex_set(with->g, 2, WEIR_PROPERTIES, "p", "", NULL) == WEIR_OK, "a property");
    CHECK(weir_vertex_set(with->g, 5, WEIR_PROPERTIES, "q", "", NULL) == WEIR_OK, "another");
    CHECK(weir_graph_lookup(with->g, "/cluster0/rack0/node0/socket0/core1", &core, NULL) == WEIR_OK &&
              weir_vertex_allocate(with->g, core, 1, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "a core is taken");
    with->job = weir_job_get(with->g, 1);
    whole = set_of(with->g);
    CHECK(weir_idset_parse("0-2", 3, &with->ranks, NULL) == WEIR_OK &&
              weir_idset_parse("3", 1, &last, NULL) == WEIR_OK &&
              weir_rset_select_ranks(whole, with->ranks, &with->a, NULL) == WEIR_OK &&
              weir_rset_select_ranks(whole, last, &rest, NULL) == WEIR_OK,
          "two parts");
    text = weir_rset_format(rest, "rv1", NULL);
    with->b = must_read(text);
    weir_free(text);
    weir_idset_free(last);
    weir_rset_free(rest);
    weir_rset_free(whole);
    CHECK(weir_rset_hosts(with->a, &with->hosts, NULL) == WEIR_OK, "hosts");
    with->flat[0] =
        must_read(DOC(ENTRY("0-1", "\"core\":\"0\""), ",\"nodelist\":[\"n[0-1]\"],\"properties\":{\"x\":\"0\"}}}"));
    with->flat[1] =
        must_read(DOC(ENTRY("1-2", "\"core\":\"1\""), ",\"nodelist\":[\"n[1-2]\"],\"properties\":{\"y\":\"1\"}}}"));
}

static void test_nomem(void)
{
    static const struct {
        int (*make)(const struct given *with, int n, weir_rset **out, weir_err *err);
        int count;
        const char *what;
    } attempts[] = {
        {make_read, 2, "reading"},       {make_combined, 4, "algebra"},     {make_joined, 1, "joined nodelists"},
        {make_selected, 4, "selecting"}, {make_remapped, 3, "other ranks"}, {make_of_graph, 4, "of a graph"},
        {make_changed, 2, "changing"},
    };
    struct given with = {0};

    give(&with);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        for (int n = 0; n < attempts[i].count; n++)
            check_nomem(make_once, &(struct attempt){&with, attempts[i].make, n}, attempts[i].what);
    for (int n = 0; n < 8; n++)
        check_nomem(use_once, &(struct attempt){&with, NULL, n}, "use of a set");
    weir_rset_free(with.a);
    weir_rset_free(with.b);
    weir_rset_free(with.flat[0]);
    weir_rset_free(with.flat[1]);
    weir_idset_free(with.ranks);
    weir_hostlist_free(with.hosts);
    weir_graph_free(with.g);
}

int main(void)
{
    test_canonical();
    test_kept();
    test_bad();
    test_types();
    test_load();
    test_asking();
    test_changing();
    test_algebra();
    test_bare();
    test_refusals();
    test_inherits();
    test_where();
    test_hosts();
    test_remap();
    test_bytes_of_scheduling();
    test_large();
    test_nomem();
    return check_report();
}
