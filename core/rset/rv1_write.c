/* rv1_write.c - writes machines and allocations as R version 1 (RFC 20): rv1, rv1_nosched, and rlite, the array R_lite
 * alone. rset_collect.c makes the set, and rset_write.c writes the keys of the set. Invariant: the graph is written
 * directly to the buffer, and never held as JSON.
 */
#include "format/output.h"
#include "rset/rset.h"

int weir_rlite_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    weir_rset *r = NULL;
    int rc = weir_rset_collect(in, WEIR_RSET_ALL, false, &r, err);

    if (rc == WEIR_OK && weir_rset_write_rlite(r, b) < 0)
        rc = weir_fail_nomem(err);
    weir_rset_free(r);
    return rc;
}

static int write_r(const struct weir_written *in, enum weir_detail detail, weir_buf *b, weir_err *err)
{
    weir_rset *r = NULL;
    int rc = weir_rset_collect(in, WEIR_RSET_ALL, true, &r, err);

    rc = rc ? rc : weir_rset_write_head(r, b, err);
    if (rc == WEIR_OK)
        weir_json_write_members(r->document, b);
    weir_rset_free(r);
    if (rc == WEIR_OK && detail != WEIR_NO_GRAPH) {
        WEIR_WRITE(b, ",\"scheduling\":{");
        rc = weir_jgf_write(in, detail, b, err);
        WEIR_WRITE(b, "}");
    }
    WEIR_WRITE(b, "}");
    return rc;
}

int weir_rv1_write(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    return write_r(in, WEIR_FULL_GRAPH, b, err);
}

int weir_rv1_write_shorthand(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    return write_r(in, WEIR_SHORTHAND, b, err);
}

int weir_rv1_write_nosched(const struct weir_written *in, weir_buf *b, weir_err *err)
{
    return write_r(in, WEIR_NO_GRAPH, b, err);
}
