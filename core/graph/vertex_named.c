/* vertex_named.c - finds a vertex by its name, or by the last steps of its path. */
#include "graph/graph.h"

#include <string.h>

enum { SHOWN = 3 }; /* paths that an error lists */

/* Returns whether the name of v is the step of `len` bytes. */
static bool is_step(const weir_graph *g, weir_vertex v, const char *step, size_t len)
{
    char name[WEIR_NAME_MAX + 32];

    return weir_vertex_name(g, v, name, sizeof name) == len && memcmp(name, step, len) == 0;
}

/* Returns the first byte of the last step of the first `len` bytes of a text. */
static size_t last_step(const char *text, size_t len)
{
    while (len > 0 && text[len - 1] != '/')
        len--;
    return len;
}

/* Returns whether v has the last of the steps, and vertices above v have the others, in this order. */
static bool has_steps(const weir_graph *g, weir_vertex v, const char *steps)
{
    size_t end = strlen(steps), from = last_step(steps, end);

    if (!is_step(g, v, steps + from, end - from))
        return false;
    while (from > 0) {
        end = from - 1;
        from = last_step(steps, end);
        do
            v = weir_vertex_parent(g, v);
        while (v != WEIR_NONE && !is_step(g, v, steps + from, end - from));
        if (v == WEIR_NONE)
            return false;
    }
    return true;
}

/* Fails for a name that several vertices have, of which the first SHOWN are given. */
static int several(const weir_graph *g, const char *name, const weir_vertex *first, size_t n, weir_err *err)
{
    char list[SHOWN * 128] = "", path[100];
    size_t used = 0;

    for (size_t i = 0; i < n && i < SHOWN; i++) {
        weir_vertex_path(g, first[i], path, sizeof path);
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i == 0       ? ""
                                 : i + 1 == n ? " and "
                                              : ", ",
                                 path);
    }
    return weir_fail(err, WEIR_EINVAL, "'%.200s' names %zu vertices, %s%s: a path says which", name, n, list,
                     n > SHOWN ? " and others" : "");
}

int weir_graph_named(const weir_graph *g, const char *name, weir_vertex *out, weir_err *err)
{
    size_t slash = strcspn(name, "/:"), n = 0;
    weir_vertex found[SHOWN];

    if (slash == 0 || name[slash] == ':')
        return weir_graph_lookup(g, name, out, err);
    for (weir_vertex v = 0; v < g->limit; v++) {
        if (!vertex_valid(g, v) || !has_steps(g, v, name))
            continue;
        if (n < SHOWN)
            found[n] = v;
        n++;
    }
    if (n == 0)
        return weir_fail(err, WEIR_ENOENT, "there is no vertex '%.200s' here", name);
    if (n > 1)
        return several(g, name, found, n, err);
    *out = found[0];
    return WEIR_OK;
}
