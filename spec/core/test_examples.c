/* test_examples.c - the examples in the comments of core/weir.h compile and do as their assertions say.
 * spec/tools/examples.lua makes examples.h from the comments. Each example runs in a directory of its own, on the
 * graph and the request described in weir.h.
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "weir.h"

struct example {
    const char *section;
    void (*run)(weir_graph *g, weir_vertex v, weir_request *r, weir_err err, int rc);
};

static const char *running;

#define assert(condition) CHECK(condition, "weir.h, section \"%s\": %s", running, err.text)
#include "examples.h"
#undef assert

static void run_example(const struct example *e)
{
    static const char machine[] = "cluster:1 rack:2 node:2 core:4", shape[] = "slot=1/node";
    weir_graph *g = NULL;
    weir_request *r = NULL;
    weir_vertex v = WEIR_NONE;
    weir_err err = {0};
    int rc = weir_graph_parse(machine, strlen(machine), "machine", "synthetic", &g, &err);

    rc = rc ? rc : weir_request_parse(shape, strlen(shape), "request", &r, &err);
    rc = rc ? rc : weir_graph_lookup(g, "/cluster0/rack0/node0", &v, &err);
    running = e->section;
    if (CHECK(rc == WEIR_OK, "the graph and the request of the examples: %s", err.text))
        e->run(g, v, r, err, rc);
    rc = g ? weir_check(g, &err) : WEIR_OK;
    CHECK(rc == WEIR_OK, "the graph after the example of \"%s\": %s", running, err.text);
    weir_request_free(r);
    weir_graph_free(g);
}

int main(void)
{
    char directory[] = "/tmp/weir-examples.XXXXXX", command[64];

    if (!mkdtemp(directory) || chdir(directory))
        return EXIT_FAILURE;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        run_example(&examples[i]);
    CHECK(chdir("/") == 0, "the directory of the examples is left");
    snprintf(command, sizeof command, "rm -rf %s", directory);
    CHECK(system(command) == 0, "the directory of the examples is removed");
    return check_report();
}
