/* rv1_read.c - reads a machine from R version 1 (RFC 20). The graph is scheduling.graph, fitted to R_lite. If
 * scheduling.graph is missing, or the writer left vertices out (WEIR_JGF_SHORTHAND),
 * the graph is made of R_lite, with the topology of RFC 49 if the document has a topology. rset_read.c reads
 * `execution`, rset_graph.c makes the graph.
 */
#include "format/jgf/jgf.h"
#include "request/request.h"
#include "rset/rset.h"
#include "rset/rack_table.h"

#define BAD(r, ...) weir_fail_at((r)->err, WEIR_EINVAL, (r)->source, 0, 0, __VA_ARGS__)

static int read_execution(const struct jgf *r, weir_rset **out)
{
    json_error_t what;
    json_t *execution = json_loadb(r->execution_text.data, r->execution_text.len, JSON_REJECT_DUPLICATES, &what);
    int rc;

    if (!execution && weir_json_starved(&what))
        return weir_fail_nomem(r->err);
    if (!execution)
        return weir_fail_at(r->err, WEIR_EPARSE, r->source, 0, 0, "execution: %s", what.text);
    rc = weir_rset_from_execution(execution, r->source, out, r->err);
    json_decref(execution);
    return rc;
}

/* Gives the set the topology of the document, if there is a topology. */
static int read_topology(const struct jgf *r, weir_rset *set)
{
    weir_buf text = {0};

    if (!r->treepool || r->children_text.len == 0)
        return WEIR_OK;
    weir_buf_puts(&text, "{\"writer\":\"" WEIR_TREEPOOL "\",\"children\":");
    weir_buf_puts(&text, r->children_text.data);
    weir_buf_puts(&text, "}");
    if (text.failed)
        weir_buf_free(&text);
    set->scheduling = weir_rset_scheduling_new(
        &(struct rset_scheduling){.text = text.data, .writer = (char[]){WEIR_TREEPOOL}}, &set->classes);
    return set->scheduling ? WEIR_OK : weir_fail_nomem(r->err);
}

/* Makes the graph of the document; `set` is NULL if the document has no `execution`. */
static int build(struct jgf *r, const weir_rset *set, weir_graph **out)
{
    bool flat = !r->has_graph || (r->shorthand && set);
    int rc = flat ? weir_rset_build_flat(set, r->source, out, r->err) : weir_jgf_make(r, out);

    if (rc < 0 || !set)
        return rc;
    weir_rset_give_validity(set, *out);
    rc = flat ? WEIR_OK : weir_rset_fit(set, *out, r->err);
    if (rc < 0) {
        weir_graph_free(*out);
        *out = NULL;
    }
    return rc;
}

static int build_any(struct jgf *r, weir_graph **out)
{
    weir_rset *set = NULL;
    int rc = WEIR_OK;

    if (!r->version_1)
        return BAD(r, "version: expected 1");
    if (r->execution != WEIR_JSON_END && r->execution != WEIR_JSON_OBJECT)
        return BAD(r, "execution: expected an object with R_lite and nodelist");
    if (!r->has_graph && !r->execution)
        return BAD(r, "neither execution nor scheduling.graph is there");
    if (r->execution)
        rc = read_execution(r, &set);
    if (rc == WEIR_OK && set)
        rc = read_topology(r, set);
    rc = rc ? rc : build(r, set, out);
    weir_rset_free(set);
    return rc;
}

int weir_rv1_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err)
{
    struct jgf r = {.source = source, .err = err, .is_r = true};
    int rc = weir_jgf_document(&r, in);

    rc = rc ? rc : build_any(&r, out);
    weir_jgf_free(&r);
    return rc;
}
