/* example.c - a program that uses libweir as installed: allocates two nodes of a small machine to a job, and
 * releases the job.
 *
 * cc example.c $(pkg-config --cflags --libs weir) */
#include <stdio.h>
#include <string.h>
#include <weir.h>

static int run(weir_graph **g, weir_request **request, weir_err *err)
{
    static const char machine[] = "cluster:1 node:4 core:8", shape[] = "slot=2/node";
    const weir_match_options options = {.mode = WEIR_NOW};
    const weir_allocation *a;
    char path[256];
    int rc = weir_graph_parse(machine, strlen(machine), "machine", "synthetic", g, err);

    rc = rc ? rc : weir_request_parse(shape, strlen(shape), "request", request, err);
    rc = rc ? rc : weir_match(*g, *request, &options, &a, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < a->npicks; i++) {
        weir_vertex_path(*g, a->picks[i].vertex, path, sizeof path);
        printf("job %lld has %s\n", (long long)a->job, path);
    }
    return weir_release(*g, a->job, err);
}

int main(void)
{
    weir_graph *g = NULL;
    weir_request *request = NULL;
    weir_err err = {0};
    char text[1024];
    int rc = run(&g, &request, &err);

    if (rc) {
        weir_err_format(&err, text, sizeof text);
        fprintf(stderr, "%s (%s)\n", text, weir_status_name(rc));
    }
    weir_request_free(request);
    weir_graph_free(g);
    return rc ? 1 : 0;
}
