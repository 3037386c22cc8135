/* test_rset.c - resource sets (RFC 20): reading, writing, algebra, parts that add up, machines, and every failing
 * allocation.
 */
#include "formats.h"

#include "../../core/rset.h"

static weir_rset *read_set(const char *text, weir_err *err)
{
    weir_rset *r = NULL;

    weir_err_clear(err);
    if (weir_rset_parse(text, strlen(text), "test", &r, err) < 0)
        CHECK(r == NULL, "a failed reader leaves *out alone: %s", text);
    return r;
}

static weir_rset *must_read(const char *text)
{
    weir_err err = {0};
    weir_rset *r = read_set(text, &err);

    CHECK(r != NULL, "%s: %s", text, err.text);
    return r;
}

/* "rank[0-1]/core[0-3],gpu0 rank2/core0": a set with a nodelist n0, n1, ... by rank. */
static weir_rset *from_rlist(const char *rlist)
{
    weir_buf b = {0}, hosts = {0};
    weir_idset *all = weir_idset_new();
    char *copy = weir_mem_strdup(rlist), *save = NULL;
    weir_rset *r;
    int n = 0;

    weir_buf_puts(&b, "{\"version\":1,\"execution\":{\"R_lite\":[");
    for (char *entry = strtok_r(copy, " ", &save); entry; entry = strtok_r(NULL, " ", &save)) {
        char *slash = strchr(entry, '/'), *at = slash ? slash + 1 : NULL;
        weir_idset *ranks = NULL;
        int kids = 0;
        if (slash)
            *slash = '\0';
        weir_buf_printf(&b, "%s{\"rank\":\"%s\",\"children\":{", n++ ? "," : "", entry + 4);
        CHECK(weir_idset_parse(entry + 4, strlen(entry + 4), &ranks, NULL) == WEIR_OK, "ranks of %s", rlist);
        CHECK(weir_idset_add(all, ranks) == WEIR_OK, "ranks");
        weir_idset_free(ranks);
        while (at && *at) {
            size_t type = strspn(at, "abcdefghijklmnopqrstuvwxyz"), ids = at[type] == '[' ? strcspn(at + type, "]") + 1
                                                                                         : strcspn(at + type, ",");
            weir_buf_printf(&b, "%s\"%.*s\":\"%.*s\"", kids++ ? "," : "", (int)type, at, (int)ids, at + type);
            at += type + ids;
            at += *at == ',';
        }
        weir_buf_puts(&b, "}}");
    }
    for (int64_t rank = weir_idset_first(all); rank >= 0; rank = weir_idset_next(all, rank))
        weir_buf_printf(&hosts, "%s\"n%d\"", hosts.len ? "," : "", (int)rank);
    weir_buf_printf(&b, "],\"nodelist\":[%s]}}", hosts.len ? hosts.data : "");
    r = must_read(b.data);
    weir_buf_free(&b);
    weir_buf_free(&hosts);
    weir_idset_free(all);
    weir_mem_free(copy);
    return r;
}

static void expect_format(const weir_rset *r, const char *format, const char *expected, const char *what)
{
    weir_err err = {0};
    char *text = r ? weir_rset_format(r, format, &err) : NULL;

    CHECK(check_same(text, expected), "%s, %s: %s (%s), not %s", what, format, text ? text : "nothing", err.text, expected);
    weir_free(text);
}

/* ---- reading and writing ---------------------------------------------------------------------------------------- */

/* `rest` is what follows on R_lite, to the end of the document. */
#define DOC(rlite, rest) "{\"version\":1,\"execution\":{\"R_lite\":[" rlite "]" rest
#define A_CORE               ENTRY("0", "\"core\":\"0\"")

/* {R, the same in the canonical form; NULL: it is in that form} */
static const char *const canonical[][2] = {
    {DOC(A_CORE, ",\"nodelist\":[\"n0\"]}"), NULL},
    {DOC(A_CORE, "}"), NULL},
    {DOC("", ",\"nodelist\":[\"\"]}"), DOC("", ",\"nodelist\":[]}")},
    {DOC("", "}"), DOC("", ",\"nodelist\":[]}")},
    /* ranks with the same children are one entry, in the order of the lowest rank */
    {DOC(ENTRY("5", "\"core\":\"0-1\"") "," ENTRY("2-3", "\"gpu\":\"0\",\"core\":\"[0-3]\"") "," ENTRY(
             "0-1,4", "\"core\":\"0,1\"") "," ENTRY("7", "\"core\":\"0-3\",\"gpu\":\"0\""),
         "}"),
     DOC(ENTRY("0-1,4-5", "\"core\":\"0-1\"") "," ENTRY("2-3,7", "\"core\":\"0-3\",\"gpu\":\"0\""), "}")},
    /* core first, then gpu, then the others; nothing of a type is no type, but for cores */
    {DOC(ENTRY("0", "\"ssd\":\"1\",\"fpga\":\"0\",\"gpu\":\"0\",\"memory\":\"\",\"core\":\"\""), "}"),
     DOC(ENTRY("0", "\"core\":\"\",\"gpu\":\"0\",\"fpga\":\"0\",\"ssd\":\"1\""), "}")},
    {DOC(ENTRY("0", ""), "}"), DOC(ENTRY("0", "\"core\":\"\""), "}")},
    /* keys have one order, hosts are compact, properties go by name */
    {DOC(ENTRY("0-2", "\"core\":\"0\""), ",\"starttime\":5,\"x\":{\"b\":1,\"a\":2},\"expiration\":6.25,\"properties\":{\"b\":"
                                         "\"0\",\"a@gpu\":\"0-2\",\"none\":\"\"},\"a\":null,\"nslots\":4,\"nodelist\":"
                                         "[\"m1\",\"n[3-4]\"]}") ,
     DOC(ENTRY("0-2", "\"core\":\"0\""), ",\"nodelist\":[\"m1,n[3-4]\"],\"nslots\":4,\"properties\":{\"a@gpu\":\"0-2\",\"b\":"
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
    static const char text[] = "{\"other\":[1,{}],\"attributes\":{\"system\":{\"scheduler\":{\"z\":1,\"queue\":\"batch\"}}},"
                               "\"version\":1,\"scheduling\":{\"writer\":\"fancy:v2\",\"deep\":{\"b\":[],\"a\":0}},"
                               "\"execution\":{\"R_lite\":[]}}";
    weir_rset *r = must_read(text);
    weir_err err = {0};
    char *value;

    expect_format(r, "rv1",
                  "{\"version\":1,\"execution\":{\"R_lite\":[],\"nodelist\":[]},\"scheduling\":{\"writer\":\"fancy:v2\",\"deep\":"
                  "{\"b\":[],\"a\":0}},\"attributes\":{\"system\":{\"scheduler\":{\"z\":1,\"queue\":\"batch\"}}},\"other\":[1,{}]}",
                  "kept");
    expect_format(r, "rv1_nosched",
                  "{\"version\":1,\"execution\":{\"R_lite\":[],\"nodelist\":[]},\"attributes\":{\"system\":{\"scheduler\":"
                  "{\"z\":1,\"queue\":\"batch\"}}},\"other\":[1,{}]}",
                  "kept");
    expect_format(r, "rlite", "[]", "kept");
    expect_format(r, "rlist", "", "kept");
    expect_format(r, "xml", NULL, "no such format");
    CHECK(check_same(weir_rset_writer(r), "fancy:v2"), "writer");
    value = weir_rset_get(r, "attributes", &err);
    CHECK(check_same(value, "{\"system\":{\"scheduler\":{\"z\":1,\"queue\":\"batch\"}}}"), "%s", value ? value : err.text);
    weir_free(value);
    CHECK(!weir_rset_get(r, "execution.x", &err) && err.code == WEIR_ENOENT, "a key that is not there");
    weir_rset_free(r);
}

/* {R, the error} */
static const char *const bad[][2] = {
    {"[]", "test: an object is wanted, such as {\"graph\": ...}"},
    {"{\"version\":1,\"execution\":", "test:1:25: JSON: unexpected token near end of file"},
    {"{\"execution\":{\"R_lite\":[]}}", "test: version: 1 is wanted"},
    {"{\"version\":1.0,\"execution\":{\"R_lite\":[]}}", "test: version: 1 is wanted"},
    {"{\"version\":1}", "test: neither execution nor scheduling.graph is there"},
    {"{\"version\":1,\"scheduling\":null}", "test: neither execution nor scheduling.graph is there"},
    {"{\"version\":1,\"execution\":null}", "test: execution: an object with R_lite and nodelist is wanted"},
    {"{\"version\":1,\"execution\":{}}", "test: execution.R_lite: an array of {\"rank\": ..., \"children\": ...} is wanted"},
    {DOC("", "},\"scheduling\":[]}"), "test: scheduling: an object such as {\"graph\": ...} is wanted"},
    {DOC("", "},\"scheduling\":{\"writer\":1}}"), "test: scheduling.writer: a string is wanted, such as \"fluxion\""},
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
    {DOC(A_CORE, ",\"properties\":{\"\":\"0\"}}}"), "test: execution.properties: the name \"\" is empty"},
    {DOC(A_CORE, ",\"nslots\":0}}"), "test: execution.nslots: a number of slots from 1 on is wanted"},
    {DOC(A_CORE, ",\"nslots\":\"1\"}}"), "test: execution.nslots: a number of slots from 1 on is wanted"},
    {DOC(A_CORE, ",\"starttime\":\"5\"}}"), "test: execution.starttime: a number of seconds is wanted"},
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
        CHECK(!r && strncmp(text, bad[i][1], strlen(bad[i][1])) == 0, "%s: \"%s\", not \"%s\"", bad[i][0], text, bad[i][1]);
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

static void test_asking(void)
{
    weir_rset *r = must_read(DOC(ENTRY("3", "\"core\":\"2-3\",\"gpu\":\"1\"") "," ENTRY("0,2", "\"core\":\"0\""),
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
    CHECK(weir_idset_remove_id(ranks, 2) == WEIR_OK && weir_rset_set_property(r, "a", ranks, NULL) == WEIR_OK, "a property");
    CHECK(weir_rset_set_property(r, "a^", ranks, NULL) == WEIR_EINVAL, "a bad one");
    expect_format(r, "rv1",
                  "{\"version\":1,\"execution\":{\"R_lite\":[{\"rank\":\"0-1\",\"children\":{\"core\":\"0\"}}],\"nodelist\":[\"n[0-"
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
    {"rank0/core0,fpga[0-1],zeta1", "rank0/fpga1", "rank0/core0,fpga[0-1],zeta1", "rank0/fpga1", "rank0/core0,fpga0,zeta1"},
    {"rank[0-1]/core0", "rank4/core0", "rank[0-1,4]/core0", "", "rank[0-1]/core0"},
};

static void expect_op(enum weir_rset_op op, const weir_rset *a, const weir_rset *b, const char *expected, const char *what)
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
        bool large = strstr(rows[i].a, "4000000") != NULL; /* a nodelist of that would take long to make */
        weir_rset *a = large ? must_read(DOC(ENTRY("0-4000000", "\"core\":\"0-63\""), "}}")) : from_rlist(rows[i].a);
        weir_rset *b = large ? must_read(DOC(ENTRY("1000000-2000000", "\"core\":\"0-63\"") "," ENTRY("3999999", "\"core\":\"1\""),
                                             "}}"))
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

/* A rank without children is one thing, as long as it has no others. */
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
    expect_format(r, "rlite", "[{\"rank\":\"0\",\"children\":{\"core\":\"0\"}},{\"rank\":\"1-2\",\"children\":{\"core\":\"\"}}]",
                  "bare | full");
    weir_rset_free(r);
    weir_rset_free(bare);
    weir_rset_free(full);
}

static void expect_refusal(enum weir_rset_op op, const char *a, const char *b, int code, const char *part)
{
    weir_rset *x = must_read(a), *y = must_read(b), *r = NULL;
    weir_err err = {0};

    CHECK(weir_rset_combine(op, x, y, &r, &err) == code && !r && strstr(err.text, part), "%s, %s: %s", a, b, err.text);
    weir_rset_free(x);
    weir_rset_free(y);
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

/* What is no pool comes from the first set. */
static void test_inherits(void)
{
    weir_rset *a = must_read(DOC(ENTRY("0-1", "\"core\":\"0-1\""),
                                 ",\"nodelist\":[\"n[0-1]\"],\"nslots\":4,\"properties\":{\"z\":\"1\",\"b\":\"0-1\"},"
                                 "\"starttime\":3,\"k\":1},\"attributes\":{}}"));
    weir_rset *b = must_read(DOC(ENTRY("1-2", "\"core\":\"1-2\""),
                                 ",\"nodelist\":[\"n[1-2]\"],\"properties\":{\"a\":\"1\",\"b\":\"2\"},\"expiration\":5}}"));
    weir_rset *r = NULL;

    CHECK(weir_rset_combine(WEIR_RSET_UNION, a, b, &r, NULL) == WEIR_OK, "union");
    expect_format(r, "rv1",
                  DOC(ENTRY("0", "\"core\":\"0-1\"") "," ENTRY("1", "\"core\":\"0-2\"") "," ENTRY("2", "\"core\":\"1-2\""),
                      ",\"nodelist\":[\"n[0-2]\"],\"nslots\":4,\"properties\":{\"a\":\"1\",\"b\":\"0-2\",\"z\":\"1\"},"
                      "\"starttime\":3,\"k\":1},\"attributes\":{}}"),
                  "union");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, b, a, &r, NULL) == WEIR_OK, "intersection");
    expect_format(r, "rv1",
                  DOC(ENTRY("1", "\"core\":\"1\""), ",\"nodelist\":[\"n1\"],\"properties\":{\"a\":\"1\"},\"expiration\":5}}"),
                  "intersection");
    weir_rset_free(r);
    CHECK(weir_rset_combine(WEIR_RSET_DIFF, a, b, &r, NULL) == WEIR_OK, "difference");
    expect_format(r, "rv1",
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
    weir_rset *r = must_read(DOC(ENTRY("0-3", "\"core\":\"0\""), ",\"nodelist\":[\"n[0-3]\"],\"properties\":{\"big\":\"0-1\",\"old\":"
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
    expect_remap(text, "a,b,b", false, "host b is there twice");
    expect_remap(DOC(A_CORE, "}}"), "a", false, "the set has no nodelist");
    expect_remap(DOC("", "}}"), NULL, false, DOC("", ",\"nodelist\":[]}}"));
}

/* ---- graphs ----------------------------------------------------------------------------------------------------- */

static weir_graph *machine(void)
{
    weir_err err = {0};
    weir_graph *g = parse(NULL, "cluster:1 rack:2 node:2 socket:2 core:2 gpu:1 memory:1(size=8,unit=GB)", &err);

    CHECK(g != NULL, "%s", err.text);
    return g;
}

static weir_rset *set_of(const weir_graph *g)
{
    weir_rset *r = NULL;
    weir_err err = {0};

    CHECK(weir_graph_rset(g, WEIR_RSET_ALL, true, &r, &err) == WEIR_OK, "%s", err.text);
    return r;
}

/* [R8] The part that b is of a, and the rest: together they are a again, to the last byte. `texts`: as documents of their
 * own. */
static void add_up(const weir_rset *a, const weir_rset *b, bool texts)
{
    weir_rset *rest = NULL, *part = NULL, *sum = NULL;
    weir_err err = {0};
    char *whole = weir_rset_format(a, "rv1", NULL), *text;

    CHECK(weir_rset_combine(WEIR_RSET_DIFF, a, b, &rest, NULL) == WEIR_OK, "the rest");
    CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, a, b, &part, NULL) == WEIR_OK, "the part");
    for (int i = 0; texts && i < 2; i++) {
        weir_rset **r = i ? &rest : &part;
        text = weir_rset_format(*r, "rv1", NULL);
        weir_rset_free(*r);
        *r = must_read(text);
        weir_free(text);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(weir_rset_combine(WEIR_RSET_UNION, i ? rest : part, i ? part : rest, &sum, &err) == WEIR_OK, "%s", err.text);
        expect_format(sum, "rv1", whole, texts ? "parts as texts" : "parts");
        weir_rset_free(sum);
        sum = NULL;
    }
    weir_rset_free(rest);
    weir_rset_free(part);
    weir_free(whole);
}

static void test_parts(void)
{
    static const char *const parts[] = {"rank0/core[0-3],gpu[0-1]", "rank[1-2]/core[0-3],gpu[0-1]", "rank[0-3]/core[0-1]",
                                        "rank3/core[1,3],gpu1",     "rank[0-3]/core[0-3],gpu[0-1]", "",
                                        "rank0/core0 rank2/gpu0"};
    weir_graph *g = machine();
    weir_rset *r = set_of(g);

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        weir_rset *b = from_rlist(parts[i]), *named = NULL;
        char text[4096], *rlite = weir_rset_format(b, "rlite", NULL);
        snprintf(text, sizeof text, "{\"version\":1,\"execution\":{\"R_lite\":%s}}", rlite);
        named = must_read(text);
        add_up(r, named, false);
        add_up(r, named, true);
        weir_rset_free(named);
        weir_rset_free(b);
        weir_free(rlite);
    }
    weir_rset_free(r);
    weir_graph_free(g);
}

static int64_t total(const weir_graph *g, const char *type)
{
    weir_aggregate a;

    for (uint32_t i = 0; weir_graph_aggregate(g, WEIR_NONE, i, &a); i++)
        if (strcmp(a.type, type) == 0)
            return a.total;
    return 0;
}

static void expect_machine(const weir_rset *r, const char *expected, const char *what)
{
    static const char *const types[] = {"cluster", "rack", "node", "socket", "core", "gpu", "memory"};
    weir_graph *g = NULL;
    weir_err err = {0};
    char text[256] = "";

    CHECK(weir_rset_graph(r, &g, &err) == WEIR_OK, "%s: %s", what, err.text);
    for (size_t i = 0; g && i < sizeof types / sizeof *types; i++)
        if (total(g, types[i]))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%d", *text ? " " : "", types[i],
                     (int)total(g, types[i]));
    CHECK(strcmp(text, expected) == 0, "%s: %s, not %s", what, text, expected);
    CHECK(!g || weir_check(g, &err) == WEIR_OK, "%s", err.text);
    weir_graph_free(g);
}

/* A part of a set with a graph: as it is, as a document, and as an R whose graph is still that of the whole. */
static void test_cut(void)
{
    static const char *const cases[][2] = {
        {"rank[0-3]/core[0-3],gpu[0-1]", "cluster=1 rack=2 node=4 socket=8 core=16 gpu=8 memory=64"},
        {"rank1/core[0-3],gpu[0-1]", "cluster=1 rack=1 node=1 socket=2 core=4 gpu=2 memory=16"},
        {"rank[0,2]/core[0-3],gpu[0-1]", "cluster=1 rack=2 node=2 socket=4 core=8 gpu=4 memory=32"},
        {"rank0/core1", "cluster=1 rack=1 node=1 socket=2 core=1 memory=16"},
    };
    weir_graph *g = machine();
    weir_rset *r = set_of(g);
    json_t *doc = NULL;
    char *text = weir_rset_format(r, "rv1", NULL), *other;

    doc = json_loads(text, 0, NULL);
    weir_free(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_rset *b = from_rlist(cases[i][0]), *part = NULL, *again;
        json_t *rlite;
        weir_rset_hosts_drop(b->hosts);
        b->hosts = NULL;
        CHECK(weir_rset_combine(WEIR_RSET_INTERSECT, r, b, &part, NULL) == WEIR_OK, "part");
        expect_machine(part, cases[i][1], cases[i][0]);
        text = weir_rset_format(part, "rv1", NULL);
        again = must_read(text);
        expect_machine(again, cases[i][1], "as a document");
        CHECK(weir_rset_validate(again, NULL) == WEIR_OK, "a part is valid");
        weir_rset_free(again);
        weir_free(text);
        other = weir_rset_format(part, "rv1_nosched", NULL);
        rlite = json_loads(other, 0, NULL);
        json_object_set(doc, "execution", json_object_get(rlite, "execution"));
        weir_free(other);
        other = json_dumps(doc, 0);
        again = must_read(other);
        expect_machine(again, cases[i][1], "riding on the graph of the whole");
        weir_rset_free(again);
        free(other);
        json_decref(rlite);
        weir_rset_free(part);
        weir_rset_free(b);
    }
    json_decref(doc);
    weir_rset_free(r);
    weir_graph_free(g);
}

/* A child instance numbers its ranks anew; the graph goes by hosts then. */
static void test_reranked(void)
{
    weir_graph *g = machine(), *child = NULL;
    weir_rset *r = set_of(g), *part = NULL, *low = NULL;
    weir_idset *ranks = NULL;
    weir_vertex v;

    CHECK(weir_idset_parse("2-3", 3, &ranks, NULL) == WEIR_OK && weir_rset_select_ranks(r, ranks, &part, NULL) == WEIR_OK &&
              weir_rset_remap(part, NULL, false, &low, NULL) == WEIR_OK,
          "a part with other ranks");
    CHECK(weir_rset_graph(low, &child, NULL) == WEIR_OK, "its machine");
    CHECK(child && weir_graph_lookup(child, "/cluster0/rack1/node3", &v, NULL) == WEIR_OK &&
              weir_vertex_rank(child, v) == 1 && total(child, "node") == 2,
          "node3 has rank 1");
    CHECK(weir_rset_validate(low, NULL) == WEIR_OK, "valid");
    weir_graph_free(child);
    weir_rset_free(low);
    CHECK(weir_rset_remap(part, NULL, true, &low, NULL) == WEIR_OK && !weir_rset_writer(low), "new ids, no graph");
    weir_rset_free(low);
    weir_idset_free(ranks);
    weir_rset_free(part);
    weir_rset_free(r);
    weir_graph_free(g);
}

/* Graphs of unlike machines are not joined; what another writer wrote stays as it is. */
static void test_other_graphs(void)
{
#define HOSTED(rank, name, core) "{\"version\":1,\"execution\":{\"R_lite\":[" ENTRY(rank, "\"core\":\"" core "\"") "],\"nodelist\":[\"" name "\"]}"
#define ONE(name)                                                                                                      \
    ",\"scheduling\":" GRAPH(V("0", "\"type\":\"node\",\"name\":\"" name "\"") "," V("1", "\"type\":\"core\",\"id\":0"), E("0", "1", "")) "}"
    weir_rset *a = must_read(HOSTED("0", "a", "0") ",\"scheduling\":{\"writer\":\"fancy\",\"x\":1}}");
    weir_rset *b = must_read(HOSTED("1", "b", "0") ",\"scheduling\":{\"writer\":\"fancy\",\"x\":2}}"), *r = NULL;

    expect_refusal(WEIR_RSET_UNION, HOSTED("0", "a", "0") ONE("a"), HOSTED("1", "b", "0") ONE("b"), WEIR_EEXIST,
                   "vertex \"0\" is something else in the other set, its name differs");
    CHECK(weir_rset_combine(WEIR_RSET_UNION, a, b, &r, NULL) == WEIR_OK, "union");
    expect_format(r, "rv1",
                  "{\"version\":1,\"execution\":{\"R_lite\":[" ENTRY("0-1", "\"core\":\"0\"") "],\"nodelist\":[\"a,b\"]},"
                  "\"scheduling\":{\"writer\":\"fancy\",\"x\":1}}",
                  "another writer");
    expect_machine(r, "cluster=1 node=2 core=2", "R_lite tells");
    weir_rset_free(r);
    weir_rset_free(a);
    weir_rset_free(b);
    a = must_read("{\"version\":1" ONE("n7"));
    expect_format(a, "rlist", "rank0/core0", "only scheduling");
    weir_rset_free(a);
}

static void expect_invalid(const char *text, const char *part)
{
    weir_rset *r = must_read(text);
    weir_err err = {0};
    int rc = r ? weir_rset_validate(r, &err) : WEIR_OK;

    CHECK(part ? rc == WEIR_EINVAL && strstr(err.text, part) : rc == WEIR_OK, "%s: %s", text, err.text);
    weir_rset_free(r);
}

static void test_validate(void)
{
    expect_invalid(DOC("", "}}"), "execution.R_lite: is empty");
    expect_invalid(DOC(A_CORE, "}}"), "execution.nodelist: is missing");
    expect_invalid(DOC(A_CORE "," ENTRY("1-2", "\"gpu\":\"0\""), ",\"nodelist\":[\"n[0-2]\"]}}"), "rank 1 has no core");
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":[]}", "attributes: an object");
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":{\"system\":1}}", "attributes.system: an object");
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":{\"system\":{\"scheduler\":1}}}", "attributes.system.scheduler");
    expect_invalid(HOSTED("0", "a", "0") ",\"scheduling\":{\"graph\":{}}}", "scheduling.graph");
    expect_invalid(HOSTED("0", "a", "0-1") ONE("a"), "scheduling.graph: rank 0 has no core 1, which R_lite names");
    expect_invalid(HOSTED("0", "a", "0") ONE("a"), NULL);
    expect_invalid(HOSTED("0", "a", "0") ",\"attributes\":{\"system\":{\"scheduler\":{}}}}", NULL);
}

/* What is down, and what jobs have. */
static void test_states(void)
{
    weir_graph *g = machine();
    weir_vertex v = WEIR_NONE, core = WEIR_NONE;
    weir_rset *r = NULL;
    weir_err err = {0};

    CHECK(weir_graph_lookup(g, "/cluster0/rack1/node2", &v, NULL) == WEIR_OK &&
              weir_vertex_set_state(g, v, WEIR_DOWN, NULL) == WEIR_OK,
          "a node is down");
    CHECK(weir_graph_lookup(g, "/cluster0/rack0/node0/socket1/core3", &core, NULL) == WEIR_OK &&
              weir_vertex_set_state(g, core, WEIR_FAILING, NULL) == WEIR_OK,
          "so is a core");
    CHECK(weir_graph_rset(g, WEIR_RSET_DOWN, false, &r, NULL) == WEIR_OK, "down");
    expect_format(r, "rlist", "rank0/core3 rank2/core[0-3],gpu[0-1]", "down");
    weir_rset_free(r);
    CHECK(weir_graph_lookup(g, "/cluster0/rack0/node1", &v, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, v, 1, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "a node is taken");
    CHECK(weir_graph_lookup(g, "/cluster0/rack0/node0/socket0/core1", &core, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, core, 2, 1, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "so is a core");
    CHECK(weir_graph_lookup(g, "/cluster0/rack1/node3/socket0/memory0", &v, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, v, 3, 4, 0, WEIR_FOREVER, NULL) == WEIR_OK,
          "and some memory");
    CHECK(weir_graph_lookup(g, "/cluster0/rack1/node2/socket0/core0", &v, NULL) == WEIR_OK &&
              weir_vertex_allocate(g, v, 4, 1, 10, 20, NULL) == WEIR_OK,
          "and a core later");
    CHECK(weir_graph_rset(g, WEIR_RSET_ALLOCATED, false, &r, NULL) == WEIR_OK, "allocated");
    expect_format(r, "rlite",
                  "[" ENTRY("0", "\"core\":\"1\"") "," ENTRY("1", "\"core\":\"0-3\",\"gpu\":\"0-1\"") "," ENTRY("3", "\"core\":\"\"") "]",
                  "allocated");
    weir_rset_free(r);
    r = NULL;
    CHECK(weir_graph_rset(g, WEIR_RSET_DOWN, true, &r, &err) == WEIR_EINVAL && !r, "%s", err.text);
    weir_graph_free(g);
}

/* Cores in no node; two vertices with one rank. */
static void test_odd_machines(void)
{
    weir_err err = {0};
    weir_graph *g = parse(NULL, "core:4", &err);
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex v, w;
    weir_rset *r = NULL;

    CHECK(g && weir_graph_rset(g, WEIR_RSET_ALL, false, &r, &err) == WEIR_OK, "%s", err.text);
    expect_format(r, "rv1", DOC(ENTRY("0", "\"core\":\"0-3\""), ",\"nodelist\":[\"cluster0\"]}}"), "the root is the host");
    weir_rset_free(r);
    weir_graph_free(g);
    g = weir_graph_new();
    d.type = "node";
    d.id = 5;
    d.rank = 1;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &v, NULL) == WEIR_OK, "a node");
    d.id = 6;
    CHECK(weir_graph_add(g, WEIR_NONE, &d, &w, NULL) == WEIR_OK, "another of the same rank");
    d = (weir_pool_desc)WEIR_POOL_DESC_INIT;
    d.type = "core";
    d.id = 0;
    CHECK(weir_graph_add(g, v, &d, &v, NULL) == WEIR_OK, "a core");
    d.id = 3;
    CHECK(weir_graph_add(g, w, &d, &w, NULL) == WEIR_OK, "a core");
    CHECK(weir_graph_rset(g, WEIR_RSET_ALL, false, &r, &err) == WEIR_OK, "%s", err.text);
    expect_format(r, "rv1", DOC(ENTRY("1", "\"core\":\"0,3\""), ",\"nodelist\":[\"node5\"]}}"), "one rank is one host");
    weir_rset_free(r);
    weir_graph_free(g);
}

/* ---- a set takes little however large it is ---------------------------------------------------------------------- */

static void test_large(void)
{
    weir_rset *r = must_read(DOC(ENTRY("0-4194303", "\"core\":\"0-4294967294\""), ",\"nodelist\":[\"n[0-4194303]\"]}}"));
    weir_graph *g = NULL;
    weir_err err = {0};

    CHECK(weir_rset_bytes(r) < 4096, "%zu bytes", weir_rset_bytes(r));
    CHECK(weir_rset_count(r, "core") == (uint64_t)4194304 * 4294967295u, "cores");
    CHECK(weir_rset_graph(r, &g, &err) == WEIR_ELIMIT && !g, "%s", err.text);
    weir_rset_free(r);
}

/* ---- failing allocations ------------------------------------------------------------------------------------------ */

struct attempt {
    const weir_graph *g;
    weir_rset *a, *b;
    const char *text;
    int what;
};

static int make_result(const struct attempt *t, weir_rset **out, weir_err *err)
{
    static const char constraint[] = "{\"or\":[{\"properties\":[\"p\",\"^q\"]},{\"hostlist\":[\"node1\"]},{\"not\":[{\"ranks\":[\"0\"]}]}]}";
    weir_constraint *c = NULL;
    weir_hostlist *hosts = NULL;
    int rc;

    switch (t->what) {
    case 0:
    case 1:
    case 2:
    case 3: return weir_rset_combine((enum weir_rset_op)t->what, t->a, t->b, out, err);
    case 4: return weir_rset_parse(t->text, strlen(t->text), "test", out, err);
    case 5: return weir_rset_copy(t->a, out, err);
    case 6: return weir_graph_rset(t->g, WEIR_RSET_ALL, true, out, err);
    case 7: return weir_rset_remap(t->b, NULL, true, out, err);
    case 8: return weir_graph_rset(t->g, WEIR_RSET_ALLOCATED, false, out, err);
    case 9: return weir_rset_parse("{\"version\":1" ONE("n7"), strlen("{\"version\":1" ONE("n7")), "test", out, err);
    case 10:
        rc = weir_constraint_parse(constraint, strlen(constraint), &c, err);
        rc = rc < 0 ? rc : weir_rset_select(t->a, c, out, err);
        weir_constraint_free(c);
        return rc;
    default:
        rc = weir_rset_hosts(t->a, &hosts, err);
        rc = rc < 0 ? rc : weir_rset_remap(t->a, hosts, false, out, err);
        weir_hostlist_free(hosts);
        return rc;
    }
}

static int make_once(void *arg)
{
    weir_rset *out = NULL;
    weir_err err = {0};
    int rc = make_result(arg, &out, &err);

    CHECK((rc == WEIR_OK) == (out != NULL), "a result, or a failure: %s", err.text);
    weir_rset_free(out);
    return rc;
}

static int use_once(void *arg)
{
    const struct attempt *t = arg;
    weir_graph *g = NULL;
    weir_err err = {0};
    char *text;
    int rc;

    if (t->what == 0)
        return weir_rset_validate(t->a, &err);
    if (t->what == 1) {
        rc = weir_rset_graph(t->a, &g, &err);
        weir_graph_free(g);
        return rc;
    }
    text = t->what == 2 ? weir_rset_get(t->a, "scheduling", &err) : weir_rset_format(t->a, t->text, &err);
    rc = text ? WEIR_OK : err.code;
    weir_free(text);
    return rc;
}

static void test_nomem(void)
{
    static const char *const formats[] = {"rv1", "rv1_nosched", "rlite", "rlist"};
    static const char text[] = DOC(ENTRY("3", "\"core\":\"2-3\",\"gpu\":\"1\",\"x\":\"0\"") "," ENTRY("0,2", "\"core\":\"0\""),
                                   ",\"nodelist\":[\"n[8-9]\",\"m007\"],\"properties\":{\"a\":\"0,3\"},\"k\":1},\"j\":2}");
    weir_graph *g = machine();
    weir_idset *ranks = NULL;
    weir_rset *whole, *a = NULL, *b = NULL, *c = NULL;
    char *part;

    CHECK(weir_vertex_set(g, 2, WEIR_PROPERTIES, "p", "", NULL) == WEIR_OK, "a property");
    CHECK(weir_vertex_set(g, 5, WEIR_PROPERTIES, "q", "", NULL) == WEIR_OK, "a property");
    whole = set_of(g);
    CHECK(weir_idset_parse("0-2", 3, &ranks, NULL) == WEIR_OK && weir_rset_select_ranks(whole, ranks, &a, NULL) == WEIR_OK, "a");
    weir_idset_free(ranks);
    CHECK(weir_idset_parse("3", 1, &ranks, NULL) == WEIR_OK && weir_rset_select_ranks(whole, ranks, &c, NULL) == WEIR_OK, "c");
    part = weir_rset_format(c, "rv1", NULL);
    b = must_read(part);
    for (int what = 0; what < 12; what++)
        check_nomem(make_once, &(struct attempt){g, a, b, text, what}, "a set");
    for (int what = 0; what < 3; what++)
        check_nomem(use_once, &(struct attempt){g, a, b, NULL, what}, "use of a set");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        check_nomem(use_once, &(struct attempt){g, a, b, formats[i], 3}, formats[i]);
    weir_free(part);
    weir_idset_free(ranks);
    weir_rset_free(whole);
    weir_rset_free(a);
    weir_rset_free(b);
    weir_rset_free(c);
    weir_graph_free(g);
}

int main(void)
{
    test_canonical();
    test_kept();
    test_bad();
    test_asking();
    test_changing();
    test_algebra();
    test_bare();
    test_refusals();
    test_inherits();
    test_where();
    test_hosts();
    test_remap();
    test_parts();
    test_cut();
    test_reranked();
    test_other_graphs();
    test_validate();
    test_states();
    test_odd_machines();
    test_large();
    test_nomem();
    return check_report();
}
