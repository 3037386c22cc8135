/* rset_write.c - writes a resource set as R version 1 (RFC 20), as R_lite alone, or in a short form for people.
 *
 * The order of keys is fixed: version, execution, scheduling, then the rest by name; in execution R_lite, nodelist,
 * nslots, properties (by name), starttime, expiration, then the rest by name. Inside values that are kept unchanged,
 * the order of the input stays.
 *   rv1           all keys; scheduling is cut to the part of the set
 *   rv1_nosched   all keys but scheduling
 *   rlite         the array R_lite
 *   rlist         "rank[0-2]/core[0-3],gpu0 rank3/core[0-1]"; ranks without children are left out
 */
#include "rset/rset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "hostlist/hostlist.h"
#include "idset/idset.h"
#include "format/output.h"

/* ---- R_lite ----------------------------------------------------------------------------------------------------- */

static int write_ids(const weir_idset *ids, weir_buf *b)
{
    int rc = WEIR_OK;

    WEIR_WRITE(b, "\"");
    if (ids)
        rc = weir_idset_write(ids, WEIR_IDSET_RANGES, b);
    WEIR_WRITE(b, "\"");
    return rc;
}

/* Writes the children of a class. RFC 20 demands the key core, even if empty. */
static int write_class(const struct rset_class *c, weir_buf *b)
{
    int rc;

    WEIR_WRITE(b, "{\"rank\":");
    rc = write_ids(c->ranks, b);
    WEIR_WRITE(b, ",\"children\":{\"core\":");
    rc = rc ? rc : write_ids(weir_rset_child(c, "core"), b);
    for (uint32_t i = 0; rc == WEIR_OK && i < c->count; i++) {
        if (strcmp(c->children[i].type, "core") == 0)
            continue;
        WEIR_WRITE(b, ",");
        weir_write_string(b, c->children[i].type);
        WEIR_WRITE(b, ":");
        rc = write_ids(c->children[i].ids, b);
    }
    WEIR_WRITE(b, "}}");
    return rc;
}

int weir_rset_write_rlite(const weir_rset *r, weir_buf *b)
{
    int rc = WEIR_OK;

    WEIR_WRITE(b, "[");
    for (uint32_t i = 0; rc == WEIR_OK && i < r->classes.count; i++) {
        if (i > 0)
            WEIR_WRITE(b, ",");
        rc = write_class(&r->classes.list[i], b);
    }
    WEIR_WRITE(b, "]");
    return rc;
}

/* ---- execution -------------------------------------------------------------------------------------------------- */

static int write_nodelist(const weir_rset *r, weir_buf *b)
{
    weir_hostlist *hosts = NULL;
    weir_buf text = {0};
    int rc;

    if (weir_idset_count(r->ranks) == 0) {
        WEIR_WRITE(b, ",\"nodelist\":[]");
        return WEIR_OK;
    }
    if (!r->hosts)
        return WEIR_OK;
    rc = weir_rset_hosts(r, &hosts, NULL);
    rc = rc ? rc : weir_hostlist_write(hosts, &text);
    if (rc == WEIR_OK) {
        WEIR_WRITE(b, ",\"nodelist\":[");
        weir_write_string(b, text.data);
        WEIR_WRITE(b, "]");
    }
    weir_buf_free(&text);
    weir_hostlist_free(hosts);
    return rc;
}

static int compare_props(const void *a, const void *b)
{
    return strcmp((*(const struct weir_rank_property *const *)a)->name,
                  (*(const struct weir_rank_property *const *)b)->name);
}

static int write_properties(const weir_rset *r, weir_buf *b)
{
    const struct weir_rank_property **sorted;
    int rc = WEIR_OK;

    if (r->nprops == 0)
        return WEIR_OK;
    sorted = weir_mem_alloc(r->nprops * sizeof *sorted);
    if (!sorted)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < r->nprops; i++)
        sorted[i] = &r->props[i];
    qsort(sorted, r->nprops, sizeof *sorted, compare_props);
    WEIR_WRITE(b, ",\"properties\":{");
    for (uint32_t i = 0; rc == WEIR_OK && i < r->nprops; i++) {
        if (i > 0)
            WEIR_WRITE(b, ",");
        weir_write_string(b, sorted[i]->name);
        WEIR_WRITE(b, ":");
        rc = write_ids(sorted[i]->ranks, b);
    }
    WEIR_WRITE(b, "}");
    weir_mem_free(sorted);
    return rc;
}

/* Writes microseconds as seconds. */
static void write_time(weir_buf *b, int64_t t)
{
    uint64_t us = t < 0 ? 0 - (uint64_t)t : (uint64_t)t, part = us % 1000000;
    int digits = 6;

    if (t < 0)
        WEIR_WRITE(b, "-");
    weir_write_int(b, (int64_t)(us / 1000000));
    if (part == 0)
        return;
    for (; part % 10 == 0; digits--)
        part /= 10;
    weir_buf_printf(b, ".%0*" PRIu64, digits, part);
}

static void write_numbers(const weir_rset *r, weir_buf *b)
{
    if (r->has_start) {
        WEIR_WRITE(b, ",\"starttime\":");
        write_time(b, r->start);
    }
    if (r->has_end) {
        WEIR_WRITE(b, ",\"expiration\":");
        write_time(b, r->end);
    }
}

int weir_rset_write_head(const weir_rset *r, weir_buf *b, weir_err *err)
{
    int rc;

    WEIR_WRITE(b, "{\"version\":1,\"execution\":{\"R_lite\":");
    rc = weir_rset_write_rlite(r, b);
    rc = rc ? rc : write_nodelist(r, b);
    if (rc == WEIR_OK && r->nslots > 0) {
        WEIR_WRITE(b, ",\"nslots\":");
        weir_write_int(b, r->nslots);
    }
    rc = rc ? rc : write_properties(r, b);
    write_numbers(r, b);
    weir_json_write_members(r->execution, b);
    WEIR_WRITE(b, "}");
    return rc == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);
}

/* ---- the formats ------------------------------------------------------------------------------------------------ */

static int write_scheduling(const weir_rset *r, weir_buf *b, weir_err *err)
{
    size_t before = b->len, from;
    int rc;

    WEIR_WRITE(b, ",\"scheduling\":");
    from = b->len;
    rc = weir_rset_write_scheduling(r, NULL, b, err);
    if (b->len == from)
        b->len = before;
    return rc;
}

static int write_document(const weir_rset *r, bool scheduling, weir_buf *b, weir_err *err)
{
    int rc = weir_rset_write_head(r, b, err);

    if (rc == WEIR_OK && scheduling)
        rc = write_scheduling(r, b, err);
    weir_json_write_members(r->document, b);
    WEIR_WRITE(b, "}");
    return rc;
}

static int write_rlist(const weir_rset *r, weir_buf *b)
{
    const unsigned flags = WEIR_IDSET_RANGES | WEIR_IDSET_BRACKETS;
    int rc = WEIR_OK;

    for (uint32_t i = 0; i < r->classes.count; i++) {
        const struct rset_class *c = &r->classes.list[i];
        if (c->count == 0)
            continue;
        if (b->len > 0)
            WEIR_WRITE(b, " ");
        WEIR_WRITE(b, "rank");
        rc = weir_idset_write(c->ranks, flags, b);
        for (uint32_t k = 0; rc == WEIR_OK && k < c->count; k++) {
            weir_buf_puts(b, k > 0 ? "," : "/");
            weir_buf_puts(b, c->children[k].type);
            rc = weir_idset_write(c->children[k].ids, flags, b);
        }
        if (rc < 0)
            break;
    }
    return rc;
}

static int write_as(const weir_rset *r, const char *format, weir_buf *b, weir_err *err)
{
    int rc;

    if (format && strcmp(format, "rv1") == 0)
        return write_document(r, true, b, err);
    if (format && strcmp(format, "rv1_nosched") == 0)
        return write_document(r, false, b, err);
    if (format && strcmp(format, "rlite") == 0)
        rc = weir_rset_write_rlite(r, b);
    else if (format && strcmp(format, "rlist") == 0)
        rc = write_rlist(r, b);
    else
        return weir_fail(err, WEIR_EINVAL,
                         "a resource set cannot be written as \"%.64s\": expected one of rv1, rv1_nosched, rlite, "
                         "rlist",
                         format ? format : "");
    return rc == WEIR_OK ? WEIR_OK : weir_fail_nomem(err);
}

char *weir_rset_format(const weir_rset *r, const char *format, weir_err *err)
{
    weir_buf b = {0};

    weir_buf_add(&b, "", 0);
    return weir_buf_result(&b, write_as(r, format, &b, err), err);
}

static int write_key(const weir_rset *r, const char *key, weir_buf *b, weir_err *err)
{
    const json_t *value = strncmp(key, "execution.", 10) == 0 ? json_object_get(r->execution, key + 10)
                                                              : json_object_get(r->document, key);

    if (strcmp(key, "scheduling") == 0)
        return weir_rset_write_scheduling(r, NULL, b, err);
    if (value)
        weir_json_write(value, false, b);
    return WEIR_OK;
}

char *weir_rset_get(const weir_rset *r, const char *key, weir_err *err)
{
    weir_buf b = {0};
    int rc = write_key(r, key, &b, err);

    if (rc == WEIR_OK && !b.failed && b.len == 0)
        rc = weir_fail(err, WEIR_ENOENT, "the set has no \"%.64s\"", key);
    return weir_buf_result(&b, rc, err);
}
