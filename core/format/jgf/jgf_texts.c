/* jgf_texts.c - checks that a document can hold all texts of a graph: texts in JSON are UTF-8. The writers of further
 * formats replace malformed bytes, but a document has to be lossless. Invariant: a graph with a table of names all in
 * UTF-8, the common case, costs one pass over the names. */
#include <string.h>

#include "base/utf8.h"
#include "format/output.h"
#include "time/job_table.h"

static bool is_utf8(const weir_graph *g, weir_name name)
{
    const char *text = name == WEIR_NO_NAME ? "" : weir_strtab_text(&g->names, name);
    return weir_text_utf8(text, strlen(text));
}

/* Returns what of v is no UTF-8; NULL: nothing. */
static const char *fault_of(const weir_graph *g, weir_vertex v)
{
    static const char *const maps[] = {"property", "tag", "extended data"};
    const struct kind *k = kind_of(g, v);
    const struct pool *p = pool_of(g, v);

    if (!is_utf8(g, g->types[k->type].name))
        return "type";
    if (!is_utf8(g, k->basename) || !is_utf8(g, k->unit))
        return is_utf8(g, k->unit) ? "basename" : "unit";
    if (p && !is_utf8(g, p->name))
        return "name";
    for (int m = 0; p && m <= WEIR_EXTENDED; m++)
        for (uint32_t i = 0; i < p->maps[m].count; i++)
            if (!is_utf8(g, p->maps[m].entries[i].key) || !is_utf8(g, p->maps[m].entries[i].value))
                return maps[m];
    return NULL;
}

static int check_vertices(const weir_graph *g, weir_err *err)
{
    char path[256];

    for (weir_vertex v = 0; v < g->limit; v++) {
        const char *what = vertex_valid(g, v) ? fault_of(g, v) : NULL;
        if (!what)
            continue;
        weir_vertex_path(g, v, path, sizeof path);
        return weir_fail(err, WEIR_EINVAL, "%s: the text of the %s is no UTF-8, which a document cannot hold", path,
                         what);
    }
    return WEIR_OK;
}

/* Whether the texts of edges and jobs are UTF-8. */
static bool others_fit(const weir_graph *g)
{
    for (uint32_t i = 0; i < g->nsubsystems; i++)
        if (!is_utf8(g, g->subsystems[i]))
            return false;
    for (uint32_t i = 0; i < g->nedges; i++)
        if (g->edges[i].source != WEIR_NONE && (!is_utf8(g, g->edges[i].type) || !is_utf8(g, g->edges[i].back)))
            return false;
    for (uint32_t i = 0; i < weir_job_count(g); i++)
        if (!is_utf8(g, jobs_in(g)->list[jobs_in(g)->order[i]].policy))
            return false;
    return true;
}

int weir_jgf_check_texts(const weir_graph *g, weir_err *err)
{
    uint32_t i = 0;
    int rc;

    while (i < g->names.count && is_utf8(g, i))
        i++;
    if (i == g->names.count)
        return WEIR_OK;
    rc = check_vertices(g, err);
    if (rc == WEIR_OK && !others_fit(g))
        rc = weir_fail(err, WEIR_EINVAL, "%s is no UTF-8, which a document cannot hold",
                       "a subsystem, a relation of an edge or the policy of a job");
    return rc;
}
