/* rset_scheduling.c - the key `scheduling` of a resource set: its writer, and the part of the key for the set. Main
 * invariant: a set keeps the full key and the classes of the original set; a set equal to the original set again has
 * the full key again, byte by byte.
 */
#include "rset/rset.h"

#include <string.h>

#include "rset/rack_table.h"

static int cut_treepool(const weir_rset *r, json_t **out, weir_err *err)
{
    return weir_rack_table_cut(r->scheduling->value, r->ranks, out, err);
}

/* The known writers, by scheme. */
static const struct rset_writer writers[] = {
    {"fluxion", weir_rset_jgf_build, weir_rset_jgf_cut, weir_rset_jgf_join, weir_rset_jgf_renumber},
    {WEIR_TREEPOOL, NULL, cut_treepool, weir_rack_table_join, weir_rack_table_renumber},
};

const char *weir_rset_writer(const weir_rset *r)
{
    const json_t *writer;

    if (!r->scheduling)
        return NULL;
    writer = json_object_get(r->scheduling->value, "writer");
    return json_is_string(writer) ? json_string_value(writer) : "fluxion";
}

const struct rset_writer *weir_rset_known_writer(const weir_rset *r)
{
    const char *writer = weir_rset_writer(r);
    size_t n = writer ? strcspn(writer, ":") : 0; /* length of the scheme of the URI */

    for (size_t i = 0; writer && i < sizeof writers / sizeof *writers; i++)
        if (strlen(writers[i].scheme) == n && memcmp(writers[i].scheme, writer, n) == 0)
            return &writers[i];
    return NULL;
}

/* Returns true if the set still has all resources of the set in its document. */
static bool is_whole(const weir_rset *r)
{
    const struct rset_classes *a = &r->classes, *b = &r->scheduling->whole;

    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!weir_idset_equal(a->list[i].ranks, b->list[i].ranks) ||
            !weir_rset_same_children(&a->list[i], &b->list[i]))
            return false;
    return true;
}

int weir_rset_scheduling_part(const weir_rset *r, json_t **out, weir_err *err)
{
    const struct rset_writer *writer = weir_rset_known_writer(r);

    *out = NULL;
    if (!r->scheduling)
        return WEIR_OK;
    if (is_whole(r)) {
        *out = json_incref(r->scheduling->value);
        return WEIR_OK;
    }
    if (weir_idset_count(r->ranks) == 0)
        return WEIR_OK;
    if (writer && writer->cut)
        return writer->cut(r, out, err);
    *out = json_incref(r->scheduling->value);
    return WEIR_OK;
}

/* Gives the result the joined scheduling parts of a and b, read from different documents. */
static int join_parts(weir_rset *result, const struct rset_writer *writer, const weir_rset *a, const weir_rset *b,
                      weir_err *err)
{
    json_t *x = NULL, *y = NULL, *both = NULL;
    int rc = weir_rset_scheduling_part(a, &x, err);

    if (rc == WEIR_OK)
        rc = weir_rset_scheduling_part(b, &y, err);
    if (rc == WEIR_OK && x && y)
        rc = writer->join(x, y, &both, err);
    else if (rc == WEIR_OK)
        both = json_incref(x ? x : y);
    if (rc == WEIR_OK && both) {
        result->scheduling = weir_rset_scheduling_new(json_incref(both), &result->classes);
        rc = result->scheduling ? WEIR_OK : weir_fail_nomem(err);
    }
    json_decref(x);
    json_decref(y);
    json_decref(both);
    return rc;
}

int weir_rset_scheduling_join(weir_rset *result, const weir_rset *a, const weir_rset *b, weir_err *err)
{
    const struct rset_writer *writer = weir_rset_known_writer(a);

    if (a->scheduling && b->scheduling && a->scheduling != b->scheduling && writer && writer->join &&
        writer == weir_rset_known_writer(b))
        return join_parts(result, writer, a, b, err);
    result->scheduling = weir_rset_scheduling_ref(a->scheduling ? a->scheduling : b->scheduling);
    return WEIR_OK;
}
