/* test_units.c - requests with amounts in different units than the pools: the amounts asked of the graph. */
#include "check.h"

#include "request/request.h"

static weir_graph *machine(const char *const *units)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_graph *g = weir_graph_new();
    weir_vertex node, pool;
    bool good;

    d.type = "node";
    good = g && weir_graph_add(g, WEIR_NONE, &d, &node, NULL) == WEIR_OK;
    d.type = "memory";
    d.size = 1 << 20;
    for (; good && *units; units++) {
        d.unit = *units;
        good = weir_graph_add(g, node, &d, &pool, NULL) == WEIR_OK;
    }
    CHECK(good, "a machine");
    return g;
}

static weir_request *request(const char *count, const char *unit)
{
    weir_request *r = NULL;
    char text[256];

    snprintf(text, sizeof text,
             "{\"resources\":[{\"type\":\"slot\",\"count\":2,\"with\":[{\"type\":\"memory\",\"count\":%s,"
             "\"unit\":\"%s\"},{\"type\":\"core\",\"count\":3}]}]}",
             count, unit);
    CHECK(weir_request_parse(text, strlen(text), NULL, &r, NULL) == WEIR_OK, "%s", text);
    return r;
}

struct row {
    const char *count, *unit, *pool, *wanted; /* wanted NULL: unchanged */
};

static const struct row rows[] = {
    {"4", "GB", "MB", "4000MB"},
    {"4", "GiB", "MiB", "4096MiB"},
    {"4", "GiB", "MB", "4295MB"},
    {"4", "GB", "MiB", "3815MiB"},
    {"1", "B", "GB", "1GB"},
    {"1001", "MB", "GB", "2GB"},
    {"2", "kB", "B", "2000B"},
    {"2", "KB", "B", "2000B"},
    {"3", "EiB", "PiB", "3072PiB"},
    {"1", "EB", "PiB", "889PiB"},
    {"9007199254740992", "PB", "B", "9223372036854775807+B"},
    {"{\"min\":2,\"max\":8}", "GB", "MB", "2000-8000:1000MB"},
    {"{\"min\":2}", "GB", "MB", "2000+:1000MB"},
    {"{\"min\":2,\"max\":9,\"operator\":\"+\",\"operand\":3}", "GB", "MB", "2000-8000:3000MB"},
    {"{\"min\":2,\"max\":4}", "GB", "MiB", "1908,2862,3815MiB"},
    {"{\"min\":2}", "GB", "MiB", "1908+MiB"},
    {"{\"min\":100,\"max\":4100}", "MB", "GB", "1-5GB"},
    {"{\"min\":1,\"max\":8}", "MB", "GB", "1GB"},
    {"{\"min\":500,\"max\":4000,\"operator\":\"*\",\"operand\":2}", "MB", "GB", "1-2,4GB"},
    {"{\"min\":2,\"max\":999,\"operator\":\"^\",\"operand\":2}", "GB", "MB", "2000,4000,16000,256000MB"},
    {"\"1,3,1500\"", "MB", "GB", "1-2GB"},
    {"4", "GB", "GB", NULL},
    {"4", "cards", "GB", NULL},
    {"4", "GB", "cards", NULL},
    {"4", "GB", "", NULL},
    {"4", "", "GB", NULL},
    {"4", "Gb", "MB", NULL},
    {"4", "GBs", "MB", NULL},
    {"4", "iB", "B", NULL},
};

static int64_t needed(const weir_request *r, const char *type)
{
    uint32_t n;
    const struct weir_need *needs = weir_request_needs(r, &n);

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(needs[i].type, type) == 0)
            return needs[i].amount;
    return 0;
}

static void check_row(const struct row *t)
{
    const char *units[] = {t->pool, NULL};
    weir_graph *g = machine(units);
    weir_request *r = request(t->count, t->unit);
    const weir_request *bound = NULL;
    const weir_resource *memory;
    weir_buf text = {0};
    uint32_t n;

    CHECK(weir_request_bind(r, g, &bound) == WEIR_OK && (bound == r) == !t->wanted, "%s %s to %s", t->count, t->unit,
          t->pool);
    memory = &weir_request_resources(bound, &n)->with[0];
    weir_count_write(&memory->count, &text);
    weir_buf_puts(&text, memory->unit);
    CHECK(!t->wanted || check_same(text.data, t->wanted), "%s %s:\n  got  %s\n  want %s", t->count, t->unit, text.data,
          t->wanted);
    CHECK(memory->parent == weir_request_resources(bound, &n) &&
              weir_request_resource(bound, memory->index) == memory && memory->parent->nwith == 2 &&
              strcmp(memory->parent->with[1].type, "core") == 0,
          "the rest is as it was");
    CHECK(memory->count.min == WEIR_FOREVER || needed(bound, "memory") == 2 * memory->count.min,
          "what is needed in all");
    weir_buf_free(&text);
    weir_request_unbind(r, bound);
    weir_request_free(r);
    weir_graph_free(g);
}

static void test_mixed(void)
{
    static const char *const units[] = {"MB", "GB", NULL};
    weir_graph *g = machine(units);
    weir_request *r = request("4", "TB");
    const weir_request *bound = NULL;

    CHECK(weir_request_bind(r, g, &bound) == WEIR_OK && bound == r, "pools of several units stay apart");
    weir_request_unbind(r, bound);
    weir_request_free(r);
    weir_graph_free(g);
}

struct pair {
    weir_graph *g;
    weir_request *r;
};

static int bind_once(void *data)
{
    const struct pair *p = data;
    const weir_request *bound = NULL;
    int rc = weir_request_bind(p->r, p->g, &bound);

    CHECK(rc == WEIR_OK || bound == p->r, "nothing was made");
    weir_request_unbind(p->r, bound);
    return rc;
}

int main(void)
{
    static const char *const units[] = {"MB", NULL};
    struct pair p = {machine(units), request("\"1,3,1500\"", "GB")};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
    test_mixed();
    check_nomem(bind_once, &p, "units");
    weir_request_free(p.r);
    weir_graph_free(p.g);
    return check_report();
}
