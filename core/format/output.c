/* output.c - services for writers of machines and allocations: the tree of an allocation, escaped texts, the run of a
 * writer. See output.h.
 *
 * Main invariant: the parts above a part of a tree are in the tree, too, and a chain of parts is in the order of the
 * graph, whatever the order of the picks.
 */
#include "format/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* ---- the tree of an allocation -------------------------------------------------------------------------------- */

/* Appends part i to the chain of its parent, or to the roots. */
static void chain_part(const weir_graph *g, struct weir_parts *p, uint32_t i)
{
    struct weir_part *part = &p->list[i];
    uint32_t *first = part->above == WEIR_NONE ? &p->first : &p->list[part->above].first;
    uint32_t *last = part->above == WEIR_NONE ? &p->last : &p->list[part->above].last;

    part->next = WEIR_NONE;
    if (*last == WEIR_NONE) {
        *first = i;
    } else {
        p->list[*last].next = i;
        if (vertex_at(g, p->list[*last].v)->pos > vertex_at(g, part->v)->pos)
            p->unsorted = true;
    }
    *last = i;
}

/* Number of the part of v, made with all parts above where missing; WEIR_NONE: out of memory. */
static uint32_t get_part(const weir_graph *g, struct weir_parts *p, weir_vertex v)
{
    uint32_t i = weir_map32_get(&p->numbers, v), above = WEIR_NONE;

    if (i != WEIR_NONE)
        return i;
    if (vertex_at(g, v)->parent != WEIR_NONE) {
        above = get_part(g, p, vertex_at(g, v)->parent);
        if (above == WEIR_NONE)
            return WEIR_NONE;
    }
    i = p->count;
    if (weir_array_reserve(&p->list, &p->cap, (size_t)i + 1, sizeof *p->list) < 0 ||
        weir_map32_add(&p->numbers, v, i) < 0)
        return WEIR_NONE;
    p->list[i] = (struct weir_part){v, above, WEIR_NONE, WEIR_NONE, WEIR_NONE, 0, false, false};
    p->count++;
    chain_part(g, p, i);
    return i;
}

struct place {
    uint32_t above, pos, part;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    return x->pos < y->pos ? -1 : x->pos > y->pos;
}

/* Rebuilds all chains in the order of the graph. */
static int sort_parts(const weir_graph *g, struct weir_parts *p)
{
    struct place *places = weir_mem_alloc(p->count * sizeof *places);

    if (!places)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < p->count; i++) {
        places[i] = (struct place){p->list[i].above, vertex_at(g, p->list[i].v)->pos, i};
        p->list[i].first = p->list[i].last = WEIR_NONE;
    }
    p->first = p->last = WEIR_NONE;
    qsort(places, p->count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < p->count; i++)
        chain_part(g, p, places[i].part);
    weir_mem_free(places);
    return WEIR_OK;
}

static int add_pick(const weir_graph *g, struct weir_parts *p, const weir_pick *pick, weir_err *err)
{
    struct weir_part *part;
    uint32_t i;

    if (!vertex_valid(g, pick->vertex))
        return weir_fail(err, WEIR_EINVAL, "the allocation has vertex %u, which is not in the graph (any more)",
                         pick->vertex);
    i = get_part(g, p, pick->vertex);
    if (i == WEIR_NONE)
        return weir_fail_nomem(err);
    part = &p->list[i];
    part->picked = true;
    part->whole |= pick->exclusive;
    if (part->whole || pick->amount > kind_of(g, part->v)->size - part->amount)
        part->amount = kind_of(g, part->v)->size;
    else
        part->amount += pick->amount;
    return WEIR_OK;
}

int weir_parts_build(const weir_graph *g, const weir_allocation *a, struct weir_parts *out, weir_err *err)
{
    struct weir_parts p = {.first = WEIR_NONE, .last = WEIR_NONE};
    int rc = WEIR_OK;

    if (weir_array_reserve(&p.list, &p.cap, a->npicks, sizeof *p.list) < 0 ||
        weir_map32_reserve(&p.numbers, a->npicks) < 0)
        rc = weir_fail_nomem(err);
    for (uint32_t i = 0; rc == WEIR_OK && i < a->npicks; i++)
        rc = add_pick(g, &p, &a->picks[i], err);
    if (rc == WEIR_OK && p.unsorted && sort_parts(g, &p) < 0)
        rc = weir_fail_nomem(err);
    if (rc == WEIR_OK)
        *out = p;
    else
        weir_parts_free(&p);
    return rc;
}

void weir_parts_free(struct weir_parts *p)
{
    weir_mem_free(p->list);
    weir_map32_free(&p->numbers);
    memset(p, 0, sizeof *p);
}

/* ---- texts ---------------------------------------------------------------------------------------------------- */

void weir_write_int(weir_buf *b, int64_t n)
{
    char digits[WEIR_INT_MAX];
    weir_buf_add(b, digits, (size_t)(weir_put_int(digits, n) - digits));
}

/* Adds the own name of a pool, of any length, possibly with values of other pools inside. */
static void write_own_name(weir_buf *b, const weir_graph *g, weir_vertex v)
{
    char small[256], *large;
    size_t n = weir_vertex_name(g, v, small, sizeof small);

    if (n < sizeof small) {
        weir_buf_add(b, small, n);
        return;
    }
    large = weir_mem_alloc(n + 1);
    if (!large) {
        b->failed = true;
        return;
    }
    weir_vertex_name(g, v, large, n + 1);
    weir_buf_add(b, large, n);
    weir_mem_free(large);
}

void weir_write_name(weir_buf *b, const weir_graph *g, weir_vertex v)
{
    const struct pool *p = pool_of(g, v);

    if (p && p->name != WEIR_NO_NAME) {
        write_own_name(b, g, v);
        return;
    }
    weir_buf_puts(b, weir_strtab_text(&g->names, kind_of(g, v)->basename));
    if (vertex_at(g, v)->id != WEIR_NO_ID)
        weir_write_int(b, vertex_at(g, v)->id);
}

/* Bytes of the UTF-8 character at s, with *c set to the character; 0: no such character. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *c)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf8 ? 4 : 0;

    if (n == 0 || n > len)
        return 0;
    *c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (s[i] & 0x3f);
    }
    return *c < smallest[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : n;
}

/* Bytes at the start of s that need no escapes. */
static size_t count_safe(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

static void escape_char(weir_buf *b, const char *s, size_t n, uint32_t c)
{
    if (c == '"' || c == '\\') {
        WEIR_WRITE(b, "\\");
        weir_buf_add(b, s, 1);
    } else if (c == '\n') {
        WEIR_WRITE(b, "\\n");
    } else if (c == '\t') {
        WEIR_WRITE(b, "\\t");
    } else if (c < ' ' || c == 0x7f) {
        weir_buf_printf(b, "\\u%04x", (unsigned)c);
    } else {
        weir_buf_add(b, s, n);
    }
}

void weir_write_escaped(weir_buf *b, const char *s, size_t n)
{
    for (;;) {
        size_t k = count_safe(s, n);
        uint32_t c = 0;
        weir_buf_add(b, s, k);
        s += k;
        n -= k;
        if (n == 0)
            return;
        k = decode((const unsigned char *)s, n, &c);
        if (k == 0)
            WEIR_WRITE(b, "\xef\xbf\xbd");
        else
            escape_char(b, s, k, c);
        s += k ? k : 1;
        n -= k ? k : 1;
    }
}

void weir_write_string(weir_buf *b, const char *s)
{
    WEIR_WRITE(b, "\"");
    weir_write_escaped(b, s, strlen(s));
    WEIR_WRITE(b, "\"");
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

const weir_vertex *weir_write_tops(const weir_graph *g, const weir_format_options *o, uint32_t *n)
{
    *n = o->start == WEIR_NONE ? g->nroots : 1;
    return o->start == WEIR_NONE ? g->roots : &o->start;
}

int weir_write_flush(const struct weir_written *w, weir_buf *b, bool all, weir_err *err)
{
    if (!w->sink || b->failed || b->len == 0 || (b->len < WEIR_FLUSH && !all))
        return WEIR_OK;
    if (weir_interrupted())
        return weir_fail(err, WEIR_EINTERRUPTED, "interrupted");
    if (w->sink(w->sink_data, b->data, b->len) < 0)
        return weir_fail(err, WEIR_EIO, "the text cannot be written");
    b->len = 0;
    return WEIR_OK;
}

int weir_write_run(weir_writer *writer, const struct weir_written *w, weir_buf *b, weir_err *err)
{
    int rc;

    weir_buf_add(b, "", 0);
    rc = writer(w, b, err);
    if (rc == WEIR_OK && b->failed)
        rc = weir_fail_nomem(err);
    if (rc == WEIR_OK)
        rc = weir_write_flush(w, b, true, err);
    return rc;
}

char *weir_write_text(weir_writer *writer, const struct weir_written *w, weir_err *err)
{
    weir_buf b = {0};

    if (weir_write_run(writer, w, &b, err) == WEIR_OK)
        return b.data;
    weir_buf_free(&b);
    return NULL;
}

char *weir_write_allocation(weir_writer *writer, const weir_graph *g, const weir_allocation *a, weir_err *err)
{
    struct weir_parts parts = {0};
    char *text;

    if (weir_parts_build(g, a, &parts, err) < 0)
        return NULL;
    text = weir_write_text(writer, &(struct weir_written){.g = g, .parts = &parts, .a = a}, err);
    weir_parts_free(&parts);
    return text;
}
