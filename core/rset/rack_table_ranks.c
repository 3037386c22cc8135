/* rack_table_ranks.c - the key `scheduling` of RFC 49 with a changed set of ranks: for a part of a set, for a union,
 * for a child instance. The topology in an entry is never cut: the topology describes nodes, and not the share of a
 * job.
 *
 * Main invariant: input values are shared by the results, and never changed; an entry with unreadable ranks stays
 * unchanged.
 */
#include "rset/rack_table.h"

#include "idset/idset.h"

#include <string.h>

/* Reads the ranks of an entry; *out is NULL if the ranks are unreadable. */
static int ranks_of(const json_t *entry, weir_idset **out)
{
    const json_t *ranks = json_object_get(entry, "ranks");
    int rc;

    *out = NULL;
    if (!json_is_string(ranks))
        return WEIR_OK;
    rc = weir_idset_parse(json_string_value(ranks), json_string_length(ranks), out, NULL);
    return rc == WEIR_ENOMEM ? rc : WEIR_OK;
}

/* Copies an entry with new ranks, which are freed. Returns NULL if out of memory. */
static json_t *with_ranks(json_t *entry, weir_idset *ranks)
{
    weir_buf text = {0};
    json_t *copy = json_copy(entry);
    int rc = copy ? weir_idset_write(ranks, WEIR_IDSET_RANGES, &text) : WEIR_ENOMEM;

    if (rc == WEIR_OK && text.failed)
        rc = WEIR_ENOMEM;
    if (rc == WEIR_OK)
        rc = json_object_set_new(copy, "ranks", json_stringn(text.data ? text.data : "", text.len));
    weir_buf_free(&text);
    weir_idset_free(ranks);
    if (rc == 0)
        return copy;
    json_decref(copy);
    return NULL;
}

/* Copies the value of `scheduling` with new children, whose ownership is taken. Returns NULL if out of memory. */
static json_t *with_children(const json_t *scheduling, json_t *children)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)scheduling);

    if (copy && json_object_set_new(copy, "children", children) == 0)
        return copy;
    if (!copy)
        json_decref(children);
    json_decref(copy);
    return NULL;
}

/* A change of ranks: ranks outside of `keep` are dropped, and the rest may get new numbers. */
struct rank_change {
    const weir_idset *keep;
    const uint32_t *to; /* the i-th of `keep` becomes to[i]; NULL: numbers stay */
};

/* Applies a change to *ranks, which is replaced. */
static int changed_ranks(const struct rank_change *c, weir_idset **ranks)
{
    weir_idset *stay = NULL, *moved = NULL;
    int rc = weir_idset_intersect(*ranks, c->keep, &stay);

    if (rc == WEIR_OK && c->to)
        rc = weir_rset_map_ranks(c->keep, c->to, stay, &moved);
    weir_idset_free(*ranks);
    *ranks = c->to ? moved : stay;
    if (c->to)
        weir_idset_free(stay);
    return rc;
}

/* Appends an entry after a change, unless no rank is left. Returns 0, or a negative number. */
static int append_changed(json_t *list, json_t *entry, const struct rank_change *c)
{
    weir_idset *ranks;
    int rc = ranks_of(entry, &ranks);

    if (rc < 0 || !ranks)
        return rc < 0 ? rc : json_array_append(list, entry);
    rc = changed_ranks(c, &ranks);
    if (rc < 0 || weir_idset_count(ranks) == 0) {
        weir_idset_free(ranks);
        return rc;
    }
    return json_array_append_new(list, with_ranks(entry, ranks));
}

int weir_rack_table_cut(const json_t *scheduling, const weir_idset *ranks, const uint32_t *to, json_t **out,
                        weir_err *err)
{
    const json_t *children = json_object_get(scheduling, "children");
    const struct rank_change c = {ranks, to};
    json_t *list = json_array();
    int rc = list ? 0 : -1;

    *out = NULL;
    if (!json_is_array(children)) {
        json_decref(list);
        *out = json_incref((json_t *)(uintptr_t)scheduling);
        return WEIR_OK;
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(children); i++)
        rc = append_changed(list, json_array_get(children, i), &c);
    if (rc == 0)
        *out = with_children(scheduling, list);
    else
        json_decref(list);
    return *out ? WEIR_OK : weir_fail_nomem(err);
}

/* ---- joining -------------------------------------------------------------------------------------------------- */

/* Returns true if two entries differ in nothing but their ranks. */
static bool alike(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;

    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        const json_t *other = json_object_get(b, key);
        if (!other || (strcmp(key, "ranks") != 0 && !json_equal(value, other)))
            return false;
    }
    return true;
}

/* Adds the ranks of `entry` to the ranks of the i-th entry of the list. Returns 0, or a negative number. */
static int add_ranks(json_t *list, size_t i, const json_t *entry)
{
    weir_idset *ranks, *more;
    json_t *old = json_array_get(list, i);
    int rc = ranks_of(old, &ranks);

    if (rc == WEIR_OK)
        rc = ranks_of(entry, &more);
    else
        return rc;
    if (rc == WEIR_OK && ranks && more) {
        rc = weir_idset_add(ranks, more);
        weir_idset_free(more);
        if (rc == WEIR_OK)
            return json_array_set_new(list, i, with_ranks(old, ranks));
        weir_idset_free(ranks);
        return rc;
    }
    weir_idset_free(ranks);
    if (rc == WEIR_OK)
        weir_idset_free(more);
    return rc < 0 ? rc : json_array_append(list, (json_t *)(uintptr_t)entry);
}

int weir_rack_table_join(const json_t *a, const json_t *b, json_t **out, weir_err *err)
{
    const json_t *more = json_object_get(b, "children");
    json_t *list = json_copy(json_object_get(a, "children"));
    int rc = 0;

    *out = NULL;
    if (!json_is_array(list)) {
        json_decref(list);
        list = json_array();
    }
    for (size_t i = 0; rc == 0 && list && i < json_array_size(more); i++) {
        json_t *entry = json_array_get(more, i);
        size_t k = 0;
        while (k < json_array_size(list) && !alike(json_array_get(list, k), entry))
            k++;
        rc = k < json_array_size(list) ? add_ranks(list, k, entry) : json_array_append(list, entry);
    }
    if (rc == 0 && list)
        *out = with_children(a, list);
    else
        json_decref(list);
    return *out ? WEIR_OK : weir_fail_nomem(err);
}
