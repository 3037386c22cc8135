/* test_number.c - a process whose locale has a decimal comma reads, compares, writes and prints numbers as under
 * any locale. */
#include "check.h"

#include <locale.h>
#include <unistd.h>

#include "weir.h"

/* Makes the locale in a temporary directory, and sets the locale. */
static bool take_german(void)
{
    char dir[] = "/tmp/weir-locale-XXXXXX", command[160];
    bool taken;

    CHECK(mkdtemp(dir) != NULL, "a directory");
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' 2>/dev/null", dir);
    CHECK(system(command) == 0, "localedef, of the Debian packages locales and libc-bin");
    setenv("LOCPATH", dir, 1);
    taken = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    CHECK(system(command) == 0, "the directory goes");
    return taken && CHECK(strcmp(localeconv()->decimal_point, ",") == 0, "the decimal point is a comma");
}

static void test_numbers(void)
{
    static const struct {
        double value;
        const char *text, *json;
    } rows[] = {
        {0, "0", "0.0"},
        {0.5, "0.5", "0.5"},
        {-1.75, "-1.75", "-1.75"},
        {0.1, "0.1", "0.1"},
        {0.79875, "0.79875", "0.79875"},
        {0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333", "0.3333333333333333"},
        {3, "3", "3.0"},
        {1e300, "1e+300", "1e300"},
        {1e-9, "1e-09", "1e-9"},
        {-2.5e-7, "-2.5e-07", "-2.5e-7"},
        {1234567.875, "1234567.875", "1234567.875"},
        {5e-324, "4.94065645841247e-324", "4.94065645841247e-324"},
    };
    char text[WEIR_NUMBER_MAX], *end;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int n = weir_number_write(text, sizeof text, rows[i].value);
        CHECK(n == (int)strlen(text) && strcmp(text, rows[i].text) == 0, "%s is \"%s\"", rows[i].text, text);
        n = weir_number_write_json(text, sizeof text, rows[i].value);
        CHECK(n == (int)strlen(text) && strcmp(text, rows[i].json) == 0, "%s is \"%s\"", rows[i].json, text);
        CHECK(weir_number_read(text, &end) == rows[i].value && !*end, "\"%s\" is read back", text);
    }
    CHECK(weir_number_read("1,5", &end) == 1 && strcmp(end, ",5") == 0, "a comma ends a number");
    CHECK(strcmp(localeconv()->decimal_point, ",") == 0, "the locale of the process stays");
}

/* Four nodes with the speeds 1.9, 1.8, 1.7, 1.6. */
static weir_graph *make_machine(void)
{
    static const char machine[] = "cluster:1 node:4 core:2";
    weir_graph *g = NULL;
    weir_vertex v;

    CHECK(weir_graph_parse(machine, sizeof machine - 1, "t", "synthetic", &g, NULL) == WEIR_OK, "a machine");
    for (int i = 0; i < 4; i++) {
        char path[40], speed[8];
        snprintf(path, sizeof path, "/cluster0/node%d", i);
        snprintf(speed, sizeof speed, "1.%d", 9 - i);
        CHECK(weir_graph_lookup(g, path, &v, NULL) == WEIR_OK, "%s", path);
        CHECK(weir_vertex_set(g, v, WEIR_PROPERTIES, "speed", speed, NULL) == WEIR_OK, "a speed");
    }
    return g;
}

static void test_order(weir_graph *g)
{
    const char *const order[] = {"properties.speed"};
    weir_policy policy = {.name = "slowest", .order = order, .norder = 1};
    weir_match_options o = {.policy = &policy, .duration = 1000000};
    const weir_allocation *a = NULL;
    weir_request *r = NULL;
    char path[80];

    CHECK(weir_request_parse("slot=1/node", 11, "t", &r, NULL) == WEIR_OK, "a request");
    for (int i = 3; i >= 0; i--) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "/cluster0/node%d", i);
        CHECK(weir_match(g, r, &o, &a, NULL) == WEIR_OK, "a match");
        weir_vertex_path(g, a->picks[0].vertex, path, sizeof path);
        CHECK(strcmp(path, wanted) == 0, "%s, not %s", wanted, path);
    }
    weir_request_free(r);
}

static void test_query(const weir_graph *g)
{
    static const char text[] = "property.speed<1.75";
    weir_query *q = NULL;
    weir_vertex *found = NULL;
    uint32_t n = 0;

    CHECK(weir_query_parse(text, sizeof text - 1, &q, NULL) == WEIR_OK, "a query");
    CHECK(weir_find(g, q, WEIR_NONE, &found, &n, NULL) == WEIR_OK && n == 2, "%u vertices", n);
    weir_free(found);
    weir_query_free(q);
}

#define YAML                                                                                                           \
    "version: 9999\nresources:\n  - {type: slot, count: 1, label: a, with: [{type: node, count: 1}]}\n"                \
    "tasks: [{command: [a], slot: a, count: {per_slot: 1}}]\nattributes:\n  system:\n    duration: %s\n"

/* Texts of requests with a duration of 1.5 seconds, and the reader's message about -1.5. */
static void test_requests(void)
{
    static const char *const formats[] = {"yaml", "json", "jobspec"};
    char text[400], *again;
    weir_request *r = NULL;
    weir_err err = {0};

    snprintf(text, sizeof text, YAML, "1.5");
    CHECK(weir_request_parse(text, strlen(text), "t", &r, NULL) == WEIR_OK, "a request");
    CHECK(weir_request_duration(r) == 1500000, "YAML: %lld us", (long long)weir_request_duration(r));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        weir_request *copy = NULL;
        again = weir_request_format(r, formats[i], NULL);
        CHECK(again && !strstr(again, "1,5") && weir_request_parse(again, strlen(again), "t", &copy, NULL) == WEIR_OK &&
                  weir_request_duration(copy) == 1500000,
              "%s: %s", formats[i], again ? again : "?");
        weir_request_free(copy);
        weir_free(again);
    }
    weir_request_free(r);
    snprintf(text, sizeof text, YAML, "-1.5");
    CHECK(weir_request_parse(text, strlen(text), "t", &r, &err) < 0 && strstr(err.text, "-1.5"), "\"%s\"", err.text);
}

int main(void)
{
    weir_graph *g;

    if (take_german()) {
        g = make_machine();
        test_numbers();
        test_query(g);
        test_order(g);
        test_requests();
        weir_graph_free(g);
    }
    return check_report();
}
