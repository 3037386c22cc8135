/* rset_jgf_shares.c - the shares of the units of a vertex in the JSON graph of a set: which job has how many units, and
 * for the flow to which vertex. An amount alone does not show whether 10 units in one set and 7 in another are 17 units
 * or 10; equal keys of shares are the same units, different keys are different units.
 *
 * Jobs have ids that differ on one machine. Units for no flow stay in each part of a set.
 *
 * Main invariant: the sum of the shares is the size; shares with another sum are ignored.
 */
#include "request/request.h"
#include "rset/rset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/jgf/jgf.h"
#include "format/output.h"

/* A vertex with a text of its own. */
struct rset_rewritten {
    struct rset_rewritten *next;
    struct jgf_element element;
    char *text; /* owned */
};

void weir_rset_items_free(struct rset_items items[2])
{
    for (int i = 0; i < 2; i++) {
        struct rset_rewritten *x;
        while ((x = items[i].rewritten) != NULL) {
            items[i].rewritten = x->next;
            WEIR_FREE(x->text, x);
        }
        weir_mem_free(items[i].list);
    }
}

/* Returns the sum of shares; -1: some share is no number of units, or the sum is more than a pool can have. */
static int64_t sum_of(const json_t *shares)
{
    const char *key;
    json_t *value;
    int64_t sum = 0;

    json_object_foreach((json_t *)shares, key, value)
    {
        int64_t n = json_integer_value(value);
        if (!json_is_integer(value) || n < 0 || n > INT64_MAX - sum)
            return -1;
        sum += n;
    }
    return sum;
}

/* Reads the shares of a vertex; *len is the length of their text. */
static int read_shares(const struct rset_item *item, json_t **out, size_t *len)
{
    const struct jgf_element *e = item->element;
    json_error_t what;

    *out = NULL;
    if (!e->shares || !e->size)
        return WEIR_OK;
    *out = json_loadb(item->text + e->shares, e->to - e->shares, JSON_DISABLE_EOF_CHECK, &what);
    if (!*out)
        return weir_json_starved(&what) ? WEIR_ENOMEM : WEIR_OK;
    *len = (size_t)what.position;
    if (sum_of(*out) != strtoll(item->text + e->size, NULL, 10)) {
        json_decref(*out);
        *out = NULL;
    }
    return WEIR_OK;
}

int weir_rset_shares(const struct rset_item *item, json_t **out)
{
    size_t len;
    return read_shares(item, out, &len);
}

/* ---- new texts -------------------------------------------------------------------------------------------------- */

/* Copies the text of a vertex up to a value; notes where the rank is in the copy. */
static void copy_to(weir_buf *b, const struct rset_item *item, size_t *from, size_t to, size_t *rank)
{
    size_t at = item->element->rank;

    if (at >= *from && at < to)
        *rank = b->len + (at - *from);
    weir_buf_add(b, item->text + *from, to - *from);
    *from = to;
}

static void write_shares(const json_t *shares, weir_buf *b)
{
    const char *key;
    json_t *value;
    bool first = true;

    weir_buf_puts(b, "{");
    json_object_foreach((json_t *)shares, key, value)
    {
        weir_buf_puts(b, first ? "" : ",");
        weir_write_string(b, key);
        weir_buf_printf(b, ":%" PRId64, (int64_t)json_integer_value(value));
        first = false;
    }
    weir_buf_puts(b, "}");
}

/* Writes a vertex with a new size and new shares. The starts of both values are noted in *e. */
static int rewrite(const struct rset_item *item, size_t len, const json_t *shares, struct jgf_element *e, weir_buf *b)
{
    size_t from = item->element->from;
    bool size_first = item->element->size < item->element->shares;

    *e = *item->element;
    for (int k = 0; k < 2; k++)
        if (size_first == (k == 0)) {
            copy_to(b, item, &from, item->element->size, &e->rank);
            e->size = b->len;
            weir_buf_printf(b, "%" PRId64, sum_of(shares));
            from += strspn(item->text + from, "0123456789");
        } else {
            copy_to(b, item, &from, item->element->shares, &e->rank);
            e->shares = b->len;
            write_shares(shares, b);
            from += len;
        }
    copy_to(b, item, &from, item->element->to, &e->rank);
    e->from = 0;
    e->to = b->len;
    return b->failed ? WEIR_ENOMEM : WEIR_OK;
}

int weir_rset_shares_give(struct rset_items *items, struct rset_item *item, const json_t *shares)
{
    struct rset_rewritten *x = weir_mem_zalloc(1, sizeof *x);
    weir_buf b = {0};
    json_t *had = NULL;
    size_t len = 0;
    int rc = x ? read_shares(item, &had, &len) : WEIR_ENOMEM;

    rc = rc ? rc : rewrite(item, len, shares, &x->element, &b);
    json_decref(had);
    if (rc < 0) {
        weir_buf_free(&b);
        weir_mem_free(x);
        return rc;
    }
    x->text = b.data;
    x->next = items->rewritten;
    items->rewritten = x;
    item->text = x->text;
    item->element = &x->element;
    return WEIR_OK;
}

/* Adds the shares of b to a; the larger of two equal shares is kept. */
static int add_shares(json_t *a, json_t *b)
{
    const char *key;
    json_t *value;

    json_object_foreach(b, key, value) if (json_integer_value(json_object_get(a, key)) < json_integer_value(value) &&
                                           json_object_set(a, key, value) < 0) return WEIR_ENOMEM;
    return WEIR_OK;
}

int weir_rset_shares_join(struct rset_items *items, struct rset_item *x, const struct rset_item *y)
{
    json_t *a = NULL, *b = NULL;
    int rc = weir_rset_shares(x, &a);

    rc = rc ? rc : weir_rset_shares(y, &b);
    if (rc == WEIR_OK && a && b) {
        rc = add_shares(a, b);
        if (rc == WEIR_OK && sum_of(a) >= 0)
            rc = weir_rset_shares_give(items, x, a);
    } else if (rc == WEIR_OK &&
               strtoll(y->text + y->element->size, NULL, 10) > strtoll(x->text + x->element->size, NULL, 10)) {
        x->text = y->text;
        x->element = y->element;
    }
    json_decref(a);
    json_decref(b);
    return rc;
}
