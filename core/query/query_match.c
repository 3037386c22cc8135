/* query_match.c - matches a query against vertices. Invariant: matching only reads the graph; the name and the path
 * of a vertex are formatted at most once, by the first test in need.
 */
#include "query/query.h"

#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "aggregate/rows.h"
#include "base/bisect.h"

/* ---- names and paths ----------------------------------------------------------------------------------------- */

void weir_query_move(struct query_subject *s, weir_vertex v)
{
    s->v = v;
    s->name = NULL;
    s->has_path = false;
}

void weir_query_subject_clear(struct query_subject *s)
{
    weir_buf_free(&s->name_text);
    weir_buf_free(&s->path);
}

/* Writes basename and id without printf, for speed. Returns the length; 0 if `room` is too small. */
static size_t write_usual(const char *basename, int64_t id, char *to, size_t cap)
{
    char digits[24];
    size_t n = strlen(basename), at = sizeof digits;
    uint64_t rest = id < 0 ? 0 - (uint64_t)id : (uint64_t)id;

    if (n + sizeof digits > cap)
        return 0;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (id < 0)
        digits[--at] = '-';
    memcpy(to, basename, n);
    memcpy(to + n, digits + at, sizeof digits - at);
    return n + sizeof digits - at;
}

/* Appends the name of any vertex to `b`, of any length, including names with attributes. */
static void add_name(struct query_subject *s, weir_vertex v, weir_buf *b)
{
    const struct pool *p = pool_of(s->g, v);
    int64_t id = vertex_at(s->g, v)->id;
    char name[256];
    size_t n = 0;

    if ((!p || p->name == WEIR_NO_NAME) && id != WEIR_NO_ID)
        n = write_usual(weir_vertex_basename(s->g, v), id, name, sizeof name);
    if (n == 0)
        n = weir_vertex_name(s->g, v, name, sizeof name);
    if (n < sizeof name) {
        weir_buf_add(b, name, n);
    } else {
        char *text = weir_mem_alloc(n + 1);
        if (text) {
            weir_vertex_name(s->g, v, text, n + 1);
            weir_buf_add(b, text, n);
        }
        b->failed |= !text;
        weir_mem_free(text);
    }
}

static bool fetch_name(struct query_subject *s)
{
    const struct pool *p = pool_of(s->g, s->v);
    const char *basename = weir_vertex_basename(s->g, s->v);
    int64_t id = vertex_at(s->g, s->v)->id;

    if (s->name)
        return true;
    if (!p || p->name == WEIR_NO_NAME) {
        s->name_len = id == WEIR_NO_ID ? 0 : write_usual(basename, id, s->small, sizeof s->small);
        s->name = s->name_len ? s->small : NULL;
        if (s->name)
            return true;
    }
    s->name_text.len = 0;
    add_name(s, s->v, &s->name_text);
    s->name = s->name_text.data;
    s->name_len = s->name_text.len;
    return s->name && !s->name_text.failed;
}

static void add_path(struct query_subject *s, weir_vertex v)
{
    weir_vertex way[WEIR_PATH_DEPTH + 2];
    size_t depth = 0;

    for (; v != WEIR_NONE && depth < WEIR_PATH_DEPTH + 2; v = vertex_at(s->g, v)->parent)
        way[depth++] = v;
    while (depth-- > 0) {
        weir_buf_add(&s->path, "/", 1);
        add_name(s, way[depth], &s->path);
    }
}

/* Keeps the parent's path, since siblings have all but the last name in common. */
bool weir_query_path(struct query_subject *s, const char **path, size_t *len)
{
    weir_vertex above = vertex_at(s->g, s->v)->parent;

    if (!s->has_path) {
        if (s->stem == 0 || s->above != above) {
            s->path.len = 0;
            add_path(s, above);
            s->above = above;
        } else {
            s->path.len = s->stem - 1;
        }
        s->stem = s->path.len + 1;
        weir_buf_add(&s->path, "/", 1);
        if (fetch_name(s))
            weir_buf_add(&s->path, s->name, s->name_len);
        s->has_path = true;
    }
    *path = s->path.data;
    *len = s->path.len;
    return s->path.data && !s->path.failed && !s->name_text.failed;
}

/* ---- patterns ------------------------------------------------------------------------------------------------ */

/* The words of a bit set of text positions, end included. A bit is set if the pieces so far can match up to the
 * position. */
#define PLACES (QUERY_PATTERN / 64 + 1)

struct places {
    const char *text;
    size_t len, words;
    uint64_t *at, *next;
};

static void mark(struct places *p, size_t i)
{
    p->next[i / 64] |= UINT64_C(1) << i % 64;
}

static bool in_runs(const struct query_run *runs, uint32_t n, uint32_t digits, uint64_t number)
{
    uint32_t lo;

    WEIR_BISECT(lo, 0, n, runs[lo].digits < digits || (runs[lo].digits == digits && runs[lo].hi < number));
    return lo < n && runs[lo].digits == digits && runs[lo].lo <= number;
}

static void step_set(const weir_query *q, const struct query_piece *piece, struct places *p, size_t from)
{
    uint64_t number = 0;

    for (uint32_t digits = 1; digits <= 18 && from + digits <= p->len; digits++) {
        char c = p->text[from + digits - 1];
        if (c < '0' || c > '9')
            return;
        number = number * 10 + (uint64_t)(c - '0');
        if (in_runs(q->runs + piece->first, piece->len, digits, number))
            mark(p, from + digits);
    }
}

static void step_any(struct places *p, size_t from)
{
    for (size_t i = from; i <= p->len; i++)
        mark(p, i);
}

static void step_one(struct places *p, size_t from)
{
    size_t to = from + 1;

    if (from >= p->len)
        return;
    while (to < p->len && ((unsigned char)p->text[to] & 0xC0) == 0x80) /* continuation bytes of UTF-8 */
        to++;
    mark(p, to);
}

static void step_from(const weir_query *q, const struct query_piece *piece, struct places *p, size_t from)
{
    if (piece->kind == PIECE_SET)
        step_set(q, piece, p, from);
    else if (piece->kind == PIECE_ONE)
        step_one(p, from);
    else if (p->len - from >= piece->len && memcmp(p->text + from, piece->text, piece->len) == 0)
        mark(p, from + piece->len);
}

/* Advances the set of positions by one piece. Returns false if the set becomes empty. */
static bool step(const weir_query *q, const struct query_piece *piece, struct places *p)
{
    uint64_t *was = p->at, some = 0;

    memset(p->next, 0, p->words * sizeof *p->next);
    for (size_t w = 0; w < p->words; w++)
        for (uint64_t bits = p->at[w]; bits; bits &= bits - 1) {
            size_t from = w * 64 + (size_t)__builtin_ctzll(bits);
            if (piece->kind == PIECE_ANY) { /* the lowest position reaches every end that higher positions reach */
                step_any(p, from);
                w = p->words - 1;
                break;
            }
            step_from(q, piece, p, from);
        }
    p->at = p->next;
    p->next = was;
    for (size_t w = 0; w < p->words; w++)
        some |= p->at[w];
    return some != 0;
}

/* Whether a pattern consists of texts and PIECE_ANY only, no two texts adjacent. Such a pattern is matched by a
 * search for each text in turn. */
static bool plain(const struct query_piece *piece, const struct query_piece *end)
{
    for (; piece < end; piece++)
        if (piece->kind > PIECE_ANY || piece->kind == PIECE_ONE ||
            (piece + 1 < end && piece->kind == PIECE_TEXT && piece[1].kind == PIECE_TEXT))
            return false;
    return true;
}

static bool match_plain(const struct query_piece *piece, const struct query_piece *end, const char *text, size_t len)
{
    bool any = false;

    for (; piece < end; any = piece->kind == PIECE_ANY, piece++) {
        const char *at = text;
        if (piece->kind == PIECE_ANY)
            continue;
        if (piece->len > len)
            return false;
        if (any && piece + 1 == end)
            at = text + len - piece->len;
        else if (any)
            at = memmem(text, len, piece->text, piece->len);
        if (!at || memcmp(at, piece->text, piece->len) != 0)
            return false;
        len -= (size_t)(at - text) + piece->len;
        text = at + piece->len;
    }
    return any || len == 0;
}

/* Matches a pattern as a nondeterministic automaton: the set of positions advances by one piece after another. */
static bool match_pieces(const weir_query *q, const struct query_piece *piece, const struct query_piece *end,
                         const char *text, size_t len)
{
    uint64_t a[PLACES], b[PLACES];
    struct places p = {text, len, len / 64 + 1, a, b};

    memset(p.at, 0, p.words * sizeof *p.at);
    p.at[0] = 1;
    for (; piece < end; piece++)
        if (!step(q, piece, &p))
            return false;
    return p.at[len / 64] >> len % 64 & 1;
}

/* Whether `text` as a whole matches a pattern of the list. O(pieces * length) */
static bool match_pattern(const weir_query *q, const struct query_test *t, const char *text, size_t len)
{
    const struct query_piece *piece = q->pieces + t->first_piece, *end = piece + t->npieces, *next;

    if (len >= QUERY_PATTERN)
        return false;
    for (; piece < end; piece = next + 1) {
        for (next = piece; next < end && next->kind != PIECE_OR;)
            next++;
        if (plain(piece, next) ? match_plain(piece, next, text, len) : match_pieces(q, piece, next, text, len))
            return true;
    }
    return false;
}

static bool match_text(const weir_query *q, const struct query_test *t, const char *text, size_t len)
{
    if (t->npieces)
        return match_pattern(q, t, text, len);
    return len == t->len && memcmp(text, t->text, len) == 0;
}

/* ---- amounts and jobs ---------------------------------------------------------------------------------------- */

static bool held_above(const weir_graph *g, weir_vertex v)
{
    for (; v != WEIR_NONE; v = vertex_at(g, v)->parent) {
        const struct schedule *b = schedule_of(g, v);
        if (b && b->held)
            return true;
    }
    return false;
}

static int64_t amount_of(const weir_graph *g, weir_vertex v, uint8_t field)
{
    const struct schedule *b = schedule_of(g, v);
    int64_t size = kind_of(g, v)->size;

    switch (field) {
    case QUERY_SIZE: return size;
    case QUERY_FREE: return weir_vertex_reachable(g, v) ? vertex_unallocated(g, v) : 0;
    case QUERY_IDLE: return weir_vertex_reachable(g, v) && vertex_unused(g, v) ? size : 0;
    default:
        if (held_above(g, v))
            return size;
        return !b ? 0 : schedule_used(g, b) < size ? schedule_used(g, b) : size;
    }
}

static bool in_numbers(const struct query_test *t, int64_t n)
{
    if (t->set)
        return n >= 0 && n <= WEIR_IDSET_MAX && weir_idset_test(t->set, (uint32_t)n);
    return n >= t->lo && n <= t->hi;
}

/* Whether a job of the test has or reserves units of v, or holds an ancestor of v exclusively. */
static bool match_job(const struct query_test *t, const weir_graph *g, weir_vertex v)
{
    weir_use use;

    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        for (uint32_t i = 0; schedule_of(g, u) && weir_vertex_use(g, u, i, &use); i++)
            if ((u == v || use.exclusive) && in_numbers(t, use.job))
                return true;
    return false;
}

/* Whether a stage has or reserves units of v, or holds an ancestor of v exclusively. */
static bool is_staged(const weir_graph *g, weir_vertex v)
{
    weir_use use;

    for (weir_vertex u = v; u != WEIR_NONE; u = vertex_at(g, u)->parent)
        for (uint32_t i = 0; schedule_of(g, u) && weir_vertex_use(g, u, i, &use); i++)
            if ((u == v || use.exclusive) && use.job < 0)
                return true;
    return false;
}

/* ---- properties, tags, extended data ------------------------------------------------------------------------- */

static const char *value_of(const struct query_subject *s, const struct query_test *t, uint32_t bound)
{
    const struct pool *p = pool_of(s->g, s->v);
    const struct map *m = p ? &p->maps[t->field - QUERY_PROPERTY] : NULL;

    if (!m || m->count == 0)
        return NULL;
    if (!s->bound)
        bound = weir_strtab_find(&s->g->names, t->key, strlen(t->key));
    for (uint32_t i = 0; i < m->count; i++)
        if (m->entries[i].key == bound)
            return weir_strtab_text(&s->g->names, m->entries[i].value);
    return NULL;
}

/* Compares a value of a map with the test's value. `ordered`: the value is a number or a text, for which < and > are
 * defined. */
static bool compare(const struct query_test *t, const char *text, size_t len, bool ordered)
{
    struct query_number have;
    size_t shorter = len < t->len ? len : t->len;
    int c;

    if (t->numeric && ordered && weir_query_number(text, len, &have)) {
        c = weir_query_number_compare(&have, &t->number);
    } else {
        if (t->op != QUERY_EQ && !(t->quoted && ordered))
            return false;
        c = memcmp(text, t->text, shorter);
        c = c ? c : len < t->len ? -1 : len > t->len;
    }
    switch (t->op) {
    case QUERY_EQ: return c == 0;
    case QUERY_LT: return c < 0;
    case QUERY_LE: return c <= 0;
    case QUERY_GT: return c > 0;
    default: return c >= 0;
    }
}

/* Compares a JSON value: strings and numbers by value; for further types, equality of the text. */
static bool compare_json(const struct query_test *t, const char *text)
{
    size_t len;
    json_t *value;
    bool holds = false;

    text += strspn(text, " \t\r\n");
    len = strlen(text);
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    if (len < 2 || text[0] != '"')
        return compare(t, text, len, len && strchr("-0123456789", text[0]));
    if (!memchr(text, '\\', len))
        return compare(t, text + 1, len - 2, true);
    value = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (json_is_string(value))
        holds = compare(t, json_string_value(value), json_string_length(value), true);
    json_decref(value);
    return holds;
}

static bool match_map(const struct query_subject *s, const struct query_test *t, uint32_t bound)
{
    const char *have = value_of(s, t, bound);

    if (!have || t->op == QUERY_HAS)
        return have != NULL;
    return t->field == QUERY_DATA ? compare_json(t, have) : compare(t, have, strlen(have), true);
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

static bool match_type(const weir_query *q, const struct query_subject *s, const struct query_test *t, uint32_t bound)
{
    const char *type;

    if (t->npieces == 0 && s->bound)
        return kind_of(s->g, s->v)->type == bound;
    type = weir_vertex_type(s->g, s->v);
    return match_text(q, t, type, strlen(type));
}

static bool match_basename(const weir_query *q, const struct query_subject *s, const struct query_test *t)
{
    const char *basename = weir_vertex_basename(s->g, s->v);
    return match_text(q, t, basename, strlen(basename));
}

static bool match_path(const weir_query *q, struct query_subject *s, const struct query_test *t)
{
    const char *path;
    size_t len;
    return weir_query_path(s, &path, &len) && match_text(q, t, path, len);
}

static bool match_uuid(const struct query_subject *s, const struct query_test *t)
{
    char uuid[37];

    if (t->len != 36)
        return false;
    weir_vertex_uuid(s->g, s->v, uuid);
    return strcasecmp(uuid, t->text) == 0;
}

/* Inlined by force: a call costs a tenth of a simple search. */
__attribute__((always_inline)) static inline bool match_test(const weir_query *q, struct query_subject *s, uint32_t i)
{
    const struct query_test *t = &q->tests[i];
    const weir_graph *g = s->g;
    uint32_t bound = s->bound ? s->bound[i] : 0;

    switch (t->field) {
    case QUERY_TYPE: return match_type(q, s, t, bound);
    case QUERY_STATE: return vertex_at(g, s->v)->state == t->lo;
    case QUERY_NAME: return fetch_name(s) && match_text(q, t, s->name, s->name_len);
    case QUERY_BASENAME: return match_basename(q, s, t);
    case QUERY_PATH: return match_path(q, s, t);
    case QUERY_UUID: return match_uuid(s, t);
    case QUERY_UNIT: return strcmp(weir_vertex_unit(g, s->v), t->text) == 0;
    case QUERY_ID: return in_numbers(t, vertex_at(g, s->v)->id);
    case QUERY_RANK: return in_numbers(t, weir_vertex_rank(g, s->v));
    case QUERY_JOB: return match_job(t, g, s->v);
    case QUERY_SIZE:
    case QUERY_FREE:
    case QUERY_IDLE:
    case QUERY_ALLOCATED: return in_numbers(t, amount_of(g, s->v, t->field));
    case QUERY_EXCLUSIVE: return kind_of(g, s->v)->exclusive;
    case QUERY_LEAF: return weir_vertex_children(g, s->v) == 0;
    case QUERY_STAGED: return is_staged(g, s->v);
    default: return match_map(s, t, bound);
    }
}

bool weir_query_holds(const weir_query *q, struct query_subject *s)
{
    uint32_t i = 0;

    while (i < QUERY_NO)
        i = match_test(q, s, i) ? q->tests[i].yes : q->tests[i].no;
    return i == QUERY_YES;
}

bool weir_query_match(const weir_query *q, const weir_graph *g, weir_vertex v)
{
    struct query_subject s;
    bool holds;

    if (!vertex_valid(g, v))
        return false;
    memset(&s, 0, offsetof(struct query_subject, small));
    s.g = g;
    s.v = v;
    holds = weir_query_holds(q, &s);
    if (s.name_text.failed || s.path.failed)
        holds = false;
    weir_query_subject_clear(&s);
    return holds;
}

void weir_query_bind(const weir_query *q, const weir_graph *g, uint32_t *bound)
{
    for (uint32_t i = 0; i < q->ntests; i++) {
        const struct query_test *t = &q->tests[i];
        bound[i] = 0;
        if (t->field == QUERY_TYPE && t->npieces == 0)
            bound[i] = weir_type_find(g, t->text);
        else if (t->key)
            bound[i] = weir_strtab_find(&g->names, t->key, strlen(t->key));
    }
}

/* ---- possible results ---------------------------------------------------------------------------------------- */

/* Whether a path with prefix `below` and a slash may match the test: the known parts of path and pattern must agree. */
static bool path_possible(const weir_query *q, const struct query_test *t, const char *below, size_t len)
{
    const struct query_piece *piece = t->npieces ? &q->pieces[t->first_piece] : NULL;
    const char *start = !piece ? t->text : piece->kind == PIECE_TEXT ? piece->text : "";
    size_t n = !piece ? t->len : piece->kind == PIECE_TEXT ? piece->len : 0;

    if (memcmp(start, below, n < len ? n : len) != 0)
        return false;
    return n > len ? start[len] == '/' : piece != NULL;
}

static unsigned test_results(const weir_query *q, const struct query_test *t, const struct query_facts *o)
{
    if (t->field == QUERY_TYPE && o->type)
        return match_text(q, t, o->type, strlen(o->type)) ? RESULT_YES : RESULT_NO;
    if (t->field == QUERY_PATH && o->below && !path_possible(q, t, o->below, o->below_len))
        return RESULT_NO;
    return RESULT_NO | RESULT_YES;
}

static void follow_exit(uint8_t *reach, uint32_t target, unsigned *outcome)
{
    if (target == QUERY_YES)
        *outcome |= RESULT_YES;
    else if (target == QUERY_NO)
        *outcome |= RESULT_NO;
    else
        reach[target] = 1;
}

unsigned weir_query_results(const weir_query *q, const struct query_facts *o, uint8_t *reach)
{
    unsigned outcome = 0;

    memset(reach, 0, q->ntests);
    reach[0] = 1;
    for (uint32_t i = 0; i < q->ntests; i++) {
        unsigned may = reach[i] ? test_results(q, &q->tests[i], o) : 0;
        if (may & RESULT_YES)
            follow_exit(reach, q->tests[i].yes, &outcome);
        if (may & RESULT_NO)
            follow_exit(reach, q->tests[i].no, &outcome);
    }
    return outcome;
}
