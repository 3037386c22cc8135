/* test_query_random.c - random conditions on random machines, against an evaluator that uses the public functions only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "machines.h"
#include "weir.h"

#include "hostlist/hostlist.h"

enum made {
    MADE_TYPE,
    MADE_NAME,
    MADE_GLOB,
    MADE_PATH,
    MADE_ID,
    MADE_RANK,
    MADE_SIZE,
    MADE_FREE,
    MADE_IDLE,
    MADE_ALLOCATED,
    MADE_JOB,
    MADE_STATE,
    MADE_LEAF,
    MADE_HAS,
    MADE_VALUE,
    MADE_TESTS,
    MADE_NOT,
    MADE_AND,
    MADE_OR
};

struct made_expr {
    enum made kind;
    int op; /* into ops[] */
    int map;
    int64_t number;
    const char *key;
    char value[40];
    weir_hostlist *hosts;
    struct made_expr *a, *b;
};

static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">="};
static const char *const made_types[] = {"cluster", "rack", "node", "core", "gpu", "memory", "tape"};
static const char *const made_keys[] = {"a", "bb", "c c", "d.d"};
static const char *const made_values[] = {"", "1", "01", "2.5", "10", "1e1", "fast", "slow", "a b", "2.50"};
static const char *const maps[] = {"property", "tag"};

#define PICK(list) list[dice(sizeof list / sizeof *list)]

static void make_number(struct made_expr *e)
{
    e->op = (int)dice(e->kind == MADE_JOB ? 2 : 6);
    e->number = (int64_t)dice(9) - 1;
    if (e->kind == MADE_JOB)
        e->number = 1 + dice(8);
}

/* A hostlist; the evaluator asks core/hostlist/hostlist.h. */
static void make_hosts(struct made_expr *e)
{
    uint32_t lo = dice(12), hi = lo + dice(5);

    if (dice(3) == 0)
        snprintf(e->value, sizeof e->value, "core[%u-%u],node[%02u-%u,%u]", lo, hi, lo, hi, dice(5) + 20);
    else
        snprintf(e->value, sizeof e->value, "%s%s[%u-%u]", PICK(made_types), dice(4) ? "" : "1", lo, hi);
    e->op = (int)dice(2);
    CHECK(weir_hostlist_parse(e->value, strlen(e->value), &e->hosts, NULL) == WEIR_OK, "%s is a hostlist", e->value);
}

static void make_glob(struct made_expr *e)
{
    static const char *const names[] = {"*", "n*", "*1", "?o*", "*o*e*", "core?", "node1", "???", "*?1*", "**2"};
    static const char *const paths[] = {"*",        "/*/rack1/*", "/cluster0/rack0*",
                                        "*node?",   "/cluster0",  "/cluster0/rack1",
                                        "*/core*1", "/nowhere/*", "/cluster0/rack0/node1/*"};

    e->op = (int)dice(2);
    snprintf(e->value, sizeof e->value, "%s", e->kind == MADE_GLOB ? PICK(names) : PICK(paths));
}

static void make_value(struct made_expr *e)
{
    e->map = (int)dice(2);
    e->key = PICK(made_keys);
    snprintf(e->value, sizeof e->value, "%s", PICK(made_values));
    e->op = (int)dice(e->kind == MADE_HAS ? 2 : 6);
}

static struct made_expr *make_expr(uint32_t depth)
{
    struct made_expr *e = weir_mem_zalloc(1, sizeof *e);
    bool joined = depth > 0 && dice(3);

    e->kind = joined ? MADE_NOT + (enum made)dice(3) : (enum made)dice(MADE_TESTS);
    switch (e->kind) {
    case MADE_NOT: e->a = make_expr(depth - 1); break;
    case MADE_AND:
    case MADE_OR:
        e->a = make_expr(depth - 1);
        e->b = make_expr(depth - 1);
        break;
    case MADE_NAME: make_hosts(e); break;
    case MADE_GLOB:
    case MADE_PATH: make_glob(e); break;
    case MADE_HAS:
    case MADE_VALUE: make_value(e); break;
    case MADE_TYPE: snprintf(e->value, sizeof e->value, "%s", PICK(made_types)); /* fallthrough */
    case MADE_STATE:
    case MADE_LEAF:
        e->number = dice(WEIR_STATES);
        e->op = (int)dice(2);
        break;
    default: make_number(e); break;
    }
    return e;
}

static void free_expr(struct made_expr *e)
{
    if (!e)
        return;
    free_expr(e->a);
    free_expr(e->b);
    weir_hostlist_free(e->hosts);
    weir_mem_free(e);
}

/* ---- as text ------------------------------------------------------------------------------------------------- */

static const char *blank(void)
{
    static const char *const blanks[] = {"", " ", "  ", "\n"};
    return PICK(blanks);
}

static void write_test(const struct made_expr *e, weir_buf *b)
{
    static const char *const fields[] = {"type", "name", "name",      "path", "id",    "rank", "size",
                                         "free", "idle", "allocated", "job",  "state", "leaf"};
    const char *op = e->op == 0 && dice(2) ? "==" : ops[e->op];

    if (e->kind == MADE_VALUE)
        weir_buf_printf(b, "%s.\"%s\"%s%s%s\"%s\"", maps[e->map], e->key, blank(), op, blank(), e->value);
    else if (e->kind == MADE_HAS)
        weir_buf_printf(b, "%s%s%s%s'%s'", maps[e->map], blank(), op, blank(), e->key);
    else if (e->kind == MADE_STATE)
        weir_buf_printf(b, "state%s%s%s%s", blank(), op, blank(), weir_state_name((int)e->number));
    else if (e->kind == MADE_LEAF)
        weir_buf_puts(b, e->op ? "leaf != true" : "leaf");
    else if (e->kind <= MADE_PATH)
        weir_buf_printf(b, "%s%s%s%s%s", fields[e->kind], blank(), op, blank(), e->value);
    else
        weir_buf_printf(b, "%s%s%s%s%lld", fields[e->kind], blank(), op, blank(), (long long)e->number);
}

/* Writes an expression with the needed parentheses, and some more. */
static void write_expr(const struct made_expr *e, int level, weir_buf *b)
{
    int own = e->kind == MADE_OR ? 1 : e->kind == MADE_AND ? 2 : 3;
    bool parens = own < level || dice(8) == 0;

    weir_buf_puts(b, parens ? "(" : "");
    if (e->kind == MADE_NOT) {
        weir_buf_puts(b, dice(2) ? "not " : "!");
        write_expr(e->a, 3, b);
    } else if (own < 3) {
        write_expr(e->a, own, b);
        weir_buf_puts(b, own == 1 ? (dice(2) ? " or " : "||") : dice(2) ? " and " : " && ");
        write_expr(e->b, own, b);
    } else {
        write_test(e, b);
    }
    weir_buf_puts(b, parens ? ")" : "");
}

/* ---- the evaluator ------------------------------------------------------------------------------------------- */

static bool glob(const char *pattern, const char *text)
{
    if (*pattern == '*')
        return glob(pattern + 1, text) || (*text && glob(pattern, text + 1));
    if (!*pattern || !*text)
        return *pattern == *text;
    return (*pattern == '?' || *pattern == *text) && glob(pattern + 1, text + 1);
}

static bool in_order(int op, double c)
{
    switch (op) {
    case 0: return c == 0;
    case 1: return c != 0;
    case 2: return c < 0;
    case 3: return c <= 0;
    case 4: return c > 0;
    default: return c >= 0;
    }
}

/* As the values of made_values[] go. */
static bool is_number(const char *s)
{
    return s[0] >= '0' && s[0] <= '9';
}

static bool eval_value(const struct made_expr *e, const weir_graph *g, weir_vertex v)
{
    const char *have = weir_vertex_get(g, v, e->map, e->key);

    if (e->kind == MADE_HAS)
        return (have != NULL) == (e->op == 0);
    if (!have)
        return e->op == 1;
    if (is_number(have) && is_number(e->value))
        return in_order(e->op, strtod(have, NULL) - strtod(e->value, NULL));
    return in_order(e->op, strcmp(have, e->value));
}

/* Sums the units that jobs have on v itself now. -1: a job has all of v. */
static int64_t used_on(const weir_graph *g, weir_vertex v)
{
    weir_use use;
    int64_t sum = 0;

    for (uint32_t i = 0; weir_vertex_use(g, v, i, &use); i++) {
        if (use.start <= weir_graph_now(g) && use.exclusive)
            return -1;
        sum += use.start <= weir_graph_now(g) ? use.amount : 0;
    }
    return sum;
}

static int64_t eval_allocated(const weir_graph *g, weir_vertex v)
{
    for (weir_vertex u = v; u != WEIR_NONE; u = weir_vertex_parent(g, u))
        if (used_on(g, u) < 0)
            return weir_vertex_size(g, v);
    return used_on(g, v);
}

static bool unused_below(const weir_graph *g, weir_vertex v)
{
    weir_use use;

    for (uint32_t i = 0; weir_vertex_use(g, v, i, &use); i++)
        if (use.start <= weir_graph_now(g))
            return false;
    for (uint32_t i = 0; i < weir_vertex_children(g, v); i++)
        if (!unused_below(g, weir_vertex_child(g, v, i)))
            return false;
    return true;
}

static bool eval_job(const struct made_expr *e, const weir_graph *g, weir_vertex v)
{
    weir_use use;
    bool has = false;

    for (weir_vertex u = v; u != WEIR_NONE; u = weir_vertex_parent(g, u))
        for (uint32_t i = 0; weir_vertex_use(g, u, i, &use); i++)
            has |= use.job == e->number && (u == v || use.exclusive);
    return has == (e->op == 0);
}

static bool eval_number(const struct made_expr *e, const weir_graph *g, weir_vertex v)
{
    int64_t now = weir_graph_now(g), n;

    switch (e->kind) {
    case MADE_ID: n = weir_vertex_id(g, v); break;
    case MADE_RANK: n = weir_vertex_rank(g, v); break;
    case MADE_SIZE: n = weir_vertex_size(g, v); break;
    case MADE_FREE: n = weir_vertex_available(g, v, now, now + 1); break;
    case MADE_IDLE: n = weir_vertex_reachable(g, v) && unused_below(g, v) ? weir_vertex_size(g, v) : 0; break;
    default: n = eval_allocated(g, v); break;
    }
    if ((e->kind == MADE_ID && n == WEIR_NO_ID) || (e->kind == MADE_RANK && n == WEIR_NO_RANK))
        return e->op == 1;
    return in_order(e->op, (double)(n - e->number));
}

static bool eval(const struct made_expr *e, const weir_graph *g, weir_vertex v)
{
    char text[300];

    switch (e->kind) {
    case MADE_NOT: return !eval(e->a, g, v);
    case MADE_AND: return eval(e->a, g, v) && eval(e->b, g, v);
    case MADE_OR: return eval(e->a, g, v) || eval(e->b, g, v);
    case MADE_TYPE: return (strcmp(weir_vertex_type(g, v), e->value) == 0) == (e->op == 0);
    case MADE_NAME:
        weir_vertex_name(g, v, text, sizeof text);
        return (weir_hostlist_find(e->hosts, text, strlen(text)) >= 0) == (e->op == 0);
    case MADE_GLOB: weir_vertex_name(g, v, text, sizeof text); return glob(e->value, text) == (e->op == 0);
    case MADE_PATH: weir_vertex_path(g, v, text, sizeof text); return glob(e->value, text) == (e->op == 0);
    case MADE_STATE: return (weir_vertex_state(g, v) == e->number) == (e->op == 0);
    case MADE_LEAF: return (weir_vertex_children(g, v) == 0) == (e->op == 0);
    case MADE_JOB: return eval_job(e, g, v);
    case MADE_HAS:
    case MADE_VALUE: return eval_value(e, g, v);
    default: return eval_number(e, g, v);
    }
}

/* ---- machines ------------------------------------------------------------------------------------------------ */

/* Changes a vertex in a random way; many changes may be refused. */
static void disturb(weir_graph *g)
{
    weir_vertex v = some_vertex(g);
    int64_t start = dice(3) ? weir_graph_now(g) : weir_graph_now(g) + 1 + dice(20);

    switch (dice(10)) {
    case 0: (void)weir_vertex_set_state(g, v, (int)dice(WEIR_STATES), NULL); break;
    case 1:
    case 2: (void)weir_vertex_set(g, v, (int)dice(2), PICK(made_keys), PICK(made_values), NULL); break;
    case 3: (void)weir_vertex_set_rank(g, v, dice(8), NULL); break;
    case 4: (void)weir_graph_advance(g, weir_graph_now(g) + dice(5), NULL); break;
    case 5: (void)(dice(20) ? WEIR_OK : weir_graph_unlink(g, v, NULL)); break;
    case 6: (void)weir_release(g, 1 + dice(8), NULL); break;
    default: (void)weir_vertex_allocate(g, v, 1 + dice(8), 1 + dice(4), start, start + 30, NULL); break;
    }
}

static weir_graph *random_machine(void)
{
    weir_graph *g = weir_graph_new();
    weir_vertex root = add_pool(g, WEIR_NONE, pool("cluster", 0, 1));

    for (int r = 0; r < 3; r++) {
        weir_vertex rack = add_pool(g, root, pool("rack", r, 1));
        for (uint32_t n = 0; n < 2 + dice(3); n++) {
            weir_vertex node = add_pool(g, rack, pool("node", n, 1));
            for (uint32_t k = 0; k < 1 + dice(4); k++)
                add_pool(g, node, pool(made_types[3 + dice(3)], dice(14), 1 + dice(6)));
        }
    }
    add_pool(g, root, pool("gpu", WEIR_NO_ID, 1));
    add_pool(g, WEIR_NONE, pool("tape", 3, 4));
    for (int i = 0; i < 80; i++)
        disturb(g);
    return g;
}

/* Walks below v in preorder, and removes the vertices that the evaluator accepts from the list that weir_find
 * gave. */
static bool agree(const struct made_expr *e, const weir_graph *g, weir_vertex v, const weir_vertex **list)
{
    if (eval(e, g, v) && *(*list)++ != v)
        return false;
    for (uint32_t i = 0; i < weir_vertex_children(g, v); i++)
        if (!agree(e, g, weir_vertex_child(g, v, i), list))
            return false;
    return true;
}

static void check_random(const weir_graph *g)
{
    struct made_expr *e = make_expr(4);
    weir_buf text = {0};
    weir_query *q = NULL;
    weir_vertex *list = NULL, top = some_vertex(g), v = some_vertex(g);
    uint32_t n = 0;
    weir_err err = {0};

    write_expr(e, 1, &text);
    if (CHECK(weir_query_parse(text.data, text.len, &q, &err) == WEIR_OK, "[M10] %s: %d:%d: %s", text.data, err.line,
              err.column, err.text)) {
        const weir_vertex *rest;
        CHECK(weir_query_match(q, g, v) == eval(e, g, v), "[M10] vertex %u: %s", v, text.data);
        CHECK(weir_find(g, q, top, &list, &n, NULL) == WEIR_OK, "[M12] %s", text.data);
        list = n ? list : weir_mem_alloc(sizeof *list);
        list = weir_mem_realloc(list, (n + 1) * sizeof *list);
        list[n] = WEIR_NONE;
        rest = list;
        CHECK(agree(e, g, top, &rest) && rest == list + n, "[M12] below vertex %u: %s", top, text.data);
    }
    weir_free(list);
    weir_query_free(q);
    weir_buf_free(&text);
    free_expr(e);
}

int main(void)
{
    for (uint64_t s = 1; s <= 40; s++) {
        weir_graph *g;
        seed = s;
        g = random_machine();
        for (int i = 0; i < 150; i++) {
            disturb(g);
            check_random(g);
        }
        CHECK(weir_check(g, NULL) == WEIR_OK, "the machine of seed %d is whole", (int)s);
        weir_graph_free(g);
    }
    return check_report();
}
