/* rset_scheduling.c - the key `scheduling` of a resource set: its writer, and the part of the key for the set. Main
 * invariant: a set keeps the full key and the classes of the original set; a set equal to the original set again has
 * the full key again, byte by byte.
 */
#include "rset/rset.h"

#include <string.h>

#include "rset/rack_table.h"

/* Returns true if the set still has all resources of the set in its document. */
static bool is_whole(const weir_rset *r)
{
    const struct rset_classes *a = &r->classes, *b = &r->scheduling->whole;

    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!weir_idset_equal(a->list[i].ranks, b->list[i].ranks) || !weir_rset_same_children(&a->list[i], &b->list[i]))
            return false;
    return true;
}

/* Returns true if a part of the scheduling belongs to the set. */
static bool has_scheduling(const weir_rset *r)
{
    return r->scheduling && (weir_idset_count(r->ranks) > 0 || is_whole(r));
}

static int treepool_cut(const weir_rset *r, const uint32_t *to, weir_buf *out, weir_err *err)
{
    json_t *all = NULL, *value = NULL;
    int rc = weir_rset_scheduling_json(r->scheduling, NULL, &all, err);

    rc = rc ? rc : weir_rack_table_cut(all, r->ranks, to, &value, err);
    if (rc == WEIR_OK)
        weir_json_write(value, false, out);
    json_decref(all);
    json_decref(value);
    return rc;
}

/* Sets parts[i] to the part of the scheduling that belongs to the i-th set. */
static int treepool_pair(const weir_rset *const sets[2], json_t *parts[2], weir_err *err)
{
    int rc = WEIR_OK;

    for (int i = 0; rc == WEIR_OK && i < 2; i++) {
        json_t *all = NULL;
        rc = weir_rset_scheduling_json(sets[i]->scheduling, NULL, &all, err);
        if (rc == WEIR_OK && is_whole(sets[i]))
            parts[i] = json_incref(all);
        else if (rc == WEIR_OK)
            rc = weir_rack_table_cut(all, sets[i]->ranks, NULL, &parts[i], err);
        json_decref(all);
    }
    return rc;
}

static int treepool_join(const weir_rset *a, const weir_rset *b, weir_buf *out, weir_err *err)
{
    json_t *parts[2] = {NULL, NULL}, *both = NULL;
    int rc = treepool_pair((const weir_rset *const[]){a, b}, parts, err);

    rc = rc ? rc : weir_rack_table_join(parts[0], parts[1], &both, err);
    if (rc == WEIR_OK)
        weir_json_write(both, false, out);
    json_decref(parts[0]);
    json_decref(parts[1]);
    json_decref(both);
    return rc;
}

/* The known writers, by scheme. */
static const struct rset_writer writers[] = {
    {"fluxion", weir_rset_jgf_cut, weir_rset_jgf_join},
    {WEIR_TREEPOOL, treepool_cut, treepool_join},
};

const char *weir_rset_writer(const weir_rset *r)
{
    if (!r->scheduling)
        return NULL;
    return r->scheduling->writer ? r->scheduling->writer : "fluxion";
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

bool weir_rset_has_graph(const weir_rset *r)
{
    return r->scheduling && r->scheduling->graph && weir_rset_known_writer(r) == &writers[0];
}

bool weir_rset_has_topology(const weir_rset *r)
{
    return r->scheduling && strcmp(weir_rset_writer(r), WEIR_TREEPOOL) == 0;
}

int weir_rset_write_scheduling(const weir_rset *r, const uint32_t *to, weir_buf *b, weir_err *err)
{
    const struct rset_writer *writer = weir_rset_known_writer(r);

    if (!has_scheduling(r))
        return WEIR_OK;
    if (writer && (to || !is_whole(r)))
        return writer->cut(r, to, b, err);
    weir_buf_puts(b, r->scheduling->text);
    return WEIR_OK;
}

int weir_rset_scheduling_give(weir_rset *r, const weir_rset *like, char *text, weir_err *err)
{
    struct rset_scheduling content = *like->scheduling;

    content.text = text;
    r->scheduling = weir_rset_scheduling_new(&content, &r->classes);
    return r->scheduling ? WEIR_OK : weir_fail_nomem(err);
}

/* Gives the result the join of the schedulings of a and b, read from different documents. */
static int join_schedulings(weir_rset *result, const struct rset_writer *writer, const weir_rset *a, const weir_rset *b,
                            weir_err *err)
{
    bool x = has_scheduling(a), y = has_scheduling(b);
    weir_buf text = {0};
    int rc = WEIR_OK;

    if (x && y)
        rc = writer->join(a, b, &text, err);
    else if (x || y)
        rc = weir_rset_write_scheduling(x ? a : b, NULL, &text, err);
    if (rc == WEIR_OK && text.failed)
        rc = weir_fail_nomem(err);
    if (rc == WEIR_OK && text.len > 0)
        return weir_rset_scheduling_give(result, x && (a->scheduling->graph || !y) ? a : b, text.data, err);
    weir_buf_free(&text);
    return rc;
}

int weir_rset_scheduling_join(weir_rset *result, const weir_rset *a, const weir_rset *b, weir_err *err)
{
    const struct rset_writer *writer = weir_rset_known_writer(a);

    if (a->scheduling && b->scheduling && a->scheduling != b->scheduling && writer &&
        writer == weir_rset_known_writer(b))
        return join_schedulings(result, writer, a, b, err);
    result->scheduling = weir_rset_scheduling_ref(a->scheduling ? a->scheduling : b->scheduling);
    return WEIR_OK;
}
