/* rsets.h - helpers of the tests of resource sets: reading, short texts, a machine. */
#ifndef RSETS_H
#define RSETS_H

#include "formats.h"

#include "rset/rset.h"

/* `rest` is the text after R_lite, to the end of the document. */
#define DOC(rlite, rest) "{\"version\":1,\"execution\":{\"R_lite\":[" rlite "]" rest
#define A_CORE           ENTRY("0", "\"core\":\"0\"")
#define HOSTED(rank, name, core)                                                                                       \
    "{\"version\":1,\"execution\":{\"R_lite\":[" ENTRY(rank, "\"core\":\"" core "\"") "],\"nodelist\":[\"" name "\"]}"
/* An R of one node and its core. */
#define ONE(name)                                                                                                      \
    ",\"scheduling\":" GRAPH(V("0", "\"type\":\"node\",\"name\":\"" name "\"") "," V("1", A_CORE_VERTEX),              \
                             E("0", "1", "")) "}"
#define A_CORE_VERTEX "\"type\":\"core\",\"id\":0"

static inline weir_rset *read_set(const char *text, weir_err *err)
{
    weir_rset *r = NULL;

    weir_err_clear(err);
    if (weir_rset_parse(text, strlen(text), "test", &r, err) < 0)
        CHECK(r == NULL, "a failed reader leaves *out alone: %s", text);
    return r;
}

static inline weir_rset *must_read(const char *text)
{
    weir_err err = {0};
    weir_rset *r = read_set(text, &err);

    CHECK(r != NULL, "%s: %s", text, err.text);
    return r;
}

/* "rank[0-1]/core[0-3],gpu0 rank2/core0": a set with a nodelist n0, n1, ... by rank. */
static inline weir_rset *from_rlist(const char *rlist)
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
            size_t type = strspn(at, "abcdefghijklmnopqrstuvwxyz"),
                   ids = at[type] == '[' ? strcspn(at + type, "]") + 1 : strcspn(at + type, ",");
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

static inline void expect_format(const weir_rset *r, const char *format, const char *expected, const char *what)
{
    weir_err err = {0};
    char *text = r ? weir_rset_format(r, format, &err) : NULL;

    CHECK(check_same(text, expected), "%s, %s: %s (%s), not %s", what, format, text ? text : "nothing", err.text,
          expected);
    weir_free(text);
}

static inline weir_graph *machine(void)
{
    weir_err err = {0};
    weir_graph *g = parse(NULL, "cluster:1 rack:2 node:2 socket:2 core:2 gpu:1 memory:1(size=8,unit=GB)", &err);

    CHECK(g != NULL, "%s", err.text);
    return g;
}

static inline weir_rset *set_of(const weir_graph *g)
{
    weir_rset *r = NULL;
    weir_err err = {0};

    CHECK(weir_graph_rset(g, WEIR_RSET_ALL, true, &r, &err) == WEIR_OK, "%s", err.text);
    return r;
}

static inline void expect_refusal(enum weir_rset_op op, const char *a, const char *b, int code, const char *part)
{
    weir_rset *x = must_read(a), *y = must_read(b), *r = NULL;
    weir_err err = {0};

    CHECK(weir_rset_combine(op, x, y, &r, &err) == code && !r && strstr(err.text, part), "%s, %s: %s", a, b, err.text);
    weir_rset_free(x);
    weir_rset_free(y);
}

#endif
