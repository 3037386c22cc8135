/* timeline.c - units of one pool in use over time. See timeline.h.
 *
 * A point is a time and the change of level at the time, never 0; the level at t is the sum of the changes up to t. So
 * an addition touches two points, and equal neighbours merge by themselves. Main invariant: times ascend, no sum of the
 * first k changes is negative, and two points are reserved for every addition not yet subtracted.
 *
 * The form follows from the capacity: up to FEW points inside the struct, up to MANY in an array, more in a tree. The
 * tree is weight-balanced; all nodes are in one array, node 0 is the empty tree. A node has the sum of the changes in
 * the subtree, and the lowest and highest level within the subtree, relative to the level before.
 */
#include "time/timeline.h"

#include <string.h>

#include "base/bisect.h"

#define FEW    4u
#define MANY   64u
#define WEIGHT 3u /* a subtree weighs at most this many times its sibling */
#define SINGLE 2u /* one rotation is enough below this ratio of the grandchildren */

struct point {
    int64_t time;
    int64_t change;
};

struct node {
    struct point at;
    int64_t sum;       /* of the changes in the subtree */
    int64_t low, high; /* of the running sum, the empty sum included */
    uint32_t kid[2];   /* earlier, later; kid[0] links free nodes */
    uint32_t size;     /* points in the subtree */
};

struct tree {
    struct node *nodes; /* cap + 1 nodes, node 0 is empty */
    uint32_t root;
    uint32_t unused; /* head of the chain of free nodes */
    uint32_t top;    /* first node never used */
};

struct weir_timeline {
    uint32_t n;    /* points */
    uint32_t cap;  /* capacity */
    uint32_t adds; /* additions not yet subtracted */
    union {
        struct point few[FEW];
        struct point *many;
        struct tree tree;
    } u;
};

/* Adds with wrap-around: sums may overflow within an addition, never at the end. */
static int64_t wrap(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static bool is_tree(const weir_timeline *p)
{
    return p->cap > MANY;
}

static struct point *points_of(weir_timeline *p)
{
    return p->cap <= FEW ? p->u.few : p->u.many;
}

static const struct point *points_in(const weir_timeline *p)
{
    return p->cap <= FEW ? p->u.few : p->u.many;
}

weir_timeline *weir_timeline_new(void)
{
    weir_timeline *p = weir_mem_zalloc(1, sizeof *p);
    if (p)
        p->cap = FEW;
    return p;
}

static void storage_free(weir_timeline *p)
{
    if (is_tree(p))
        weir_mem_free(p->u.tree.nodes);
    else if (p->cap > FEW)
        weir_mem_free(p->u.many);
}

void weir_timeline_free(weir_timeline *p)
{
    if (!p)
        return;
    storage_free(p);
    weir_mem_free(p);
}

weir_timeline *weir_timeline_copy(const weir_timeline *p)
{
    size_t size = weir_timeline_bytes(p) - sizeof *p;
    weir_timeline *copy = weir_mem_alloc(sizeof *copy);
    void *more = copy && size ? weir_mem_alloc(size) : NULL;

    if (!copy || (size && !more)) {
        weir_mem_free(copy);
        return NULL;
    }
    *copy = *p;
    if (is_tree(p)) {
        copy->u.tree.nodes = more;
        memcpy(more, p->u.tree.nodes, p->u.tree.top * sizeof(struct node));
    } else if (size) {
        copy->u.many = more;
        memcpy(more, p->u.many, p->n * sizeof(struct point));
    }
    return copy;
}

/* ---- the tree ---- */

static void node_update(struct node *nodes, uint32_t i)
{
    struct node *x = &nodes[i];
    const struct node *l = &nodes[x->kid[0]];
    const struct node *r = &nodes[x->kid[1]];
    int64_t here = wrap(l->sum, x->at.change);
    int64_t low = wrap(here, r->low);
    int64_t high = wrap(here, r->high);

    x->size = l->size + r->size + 1;
    x->sum = wrap(here, r->sum);
    x->low = low < l->low ? low : l->low;
    x->high = high > l->high ? high : l->high;
}

/* Rotates the child on `side` above node i; returns the child. */
static uint32_t rotate(struct node *nodes, uint32_t i, int side)
{
    uint32_t up = nodes[i].kid[side];

    nodes[i].kid[side] = nodes[up].kid[!side];
    nodes[up].kid[!side] = i;
    node_update(nodes, i);
    node_update(nodes, up);
    return up;
}

static uint64_t weight(const struct node *nodes, uint32_t i)
{
    return (uint64_t)nodes[i].size + 1;
}

/* Updates and balances node i after a change by one point on one side; returns the root of the subtree. */
static uint32_t balance(struct node *nodes, uint32_t i)
{
    for (int side = 0; side < 2; side++) {
        uint32_t heavy = nodes[i].kid[side];
        if (weight(nodes, heavy) <= WEIGHT * weight(nodes, nodes[i].kid[!side]))
            continue;
        if (weight(nodes, nodes[heavy].kid[!side]) >= SINGLE * weight(nodes, nodes[heavy].kid[side]))
            nodes[i].kid[side] = rotate(nodes, heavy, !side);
        return rotate(nodes, i, side);
    }
    node_update(nodes, i);
    return i;
}

static uint32_t node_new(struct tree *tree, struct point at)
{
    uint32_t i = tree->unused;

    if (i)
        tree->unused = tree->nodes[i].kid[0];
    else
        i = tree->top++;
    tree->nodes[i] = (struct node){.at = at};
    node_update(tree->nodes, i);
    return i;
}

static void node_free(struct tree *tree, uint32_t i)
{
    tree->nodes[i].kid[0] = tree->unused;
    tree->unused = i;
}

/* Unlinks the earliest node of subtree i into *first; returns the root of the rest. */
static uint32_t take_first(struct node *nodes, uint32_t i, uint32_t *first)
{
    if (!nodes[i].kid[0]) {
        *first = i;
        return nodes[i].kid[1];
    }
    nodes[i].kid[0] = take_first(nodes, nodes[i].kid[0], first);
    return balance(nodes, i);
}

static uint32_t node_remove(struct tree *tree, uint32_t i)
{
    struct node *nodes = tree->nodes;
    uint32_t earlier = nodes[i].kid[0];
    uint32_t later = nodes[i].kid[1];
    uint32_t next;

    node_free(tree, i);
    if (!earlier || !later)
        return earlier | later;
    later = take_first(nodes, later, &next);
    nodes[next].kid[0] = earlier;
    nodes[next].kid[1] = later;
    return balance(nodes, next);
}

/* Changes the level from at.time on, in subtree i; returns the new root. Takes a node for a new time. */
static uint32_t tree_change(struct tree *tree, uint32_t i, struct point at)
{
    struct node *nodes = tree->nodes;

    if (!i)
        return node_new(tree, at);
    if (at.time == nodes[i].at.time) {
        nodes[i].at.change = wrap(nodes[i].at.change, at.change);
        if (nodes[i].at.change == 0)
            return node_remove(tree, i);
    } else {
        int side = at.time > nodes[i].at.time;
        nodes[i].kid[side] = tree_change(tree, nodes[i].kid[side], at);
    }
    return balance(nodes, i);
}

/* Makes a balanced tree of n sorted points. */
static uint32_t tree_build(struct tree *tree, const struct point *points, uint32_t n)
{
    uint32_t half = n / 2;
    uint32_t i;

    if (n == 0)
        return 0;
    i = node_new(tree, points[half]);
    tree->nodes[i].kid[0] = tree_build(tree, points, half);
    tree->nodes[i].kid[1] = tree_build(tree, points + half + 1, n - half - 1);
    node_update(tree->nodes, i);
    return i;
}

static struct point *tree_flatten(const struct node *nodes, uint32_t i, struct point *to)
{
    if (!i)
        return to;
    to = tree_flatten(nodes, nodes[i].kid[0], to);
    *to++ = nodes[i].at;
    return tree_flatten(nodes, nodes[i].kid[1], to);
}

/* ---- changing form ---- */

static int tree_grow(weir_timeline *p, uint32_t cap)
{
    struct node *nodes = weir_mem_realloc(p->u.tree.nodes, ((size_t)cap + 1) * sizeof *nodes);

    if (!nodes)
        return WEIR_ENOMEM;
    p->u.tree.nodes = nodes;
    p->cap = cap;
    return WEIR_OK;
}

static int to_tree(weir_timeline *p, const struct point *points, uint32_t cap)
{
    struct tree tree = {.top = 1};

    tree.nodes = weir_mem_alloc(((size_t)cap + 1) * sizeof *tree.nodes);
    if (!tree.nodes)
        return WEIR_ENOMEM;
    tree.nodes[0] = (struct node){.size = 0};
    tree.root = tree_build(&tree, points, p->n);
    storage_free(p);
    p->u.tree = tree;
    p->cap = cap;
    return WEIR_OK;
}

static int to_array(weir_timeline *p, uint32_t cap)
{
    struct point *many = weir_mem_alloc(cap * sizeof *many);

    if (!many)
        return WEIR_ENOMEM;
    if (is_tree(p))
        tree_flatten(p->u.tree.nodes, p->u.tree.root, many);
    else
        memcpy(many, points_of(p), p->n * sizeof *many);
    storage_free(p);
    p->u.many = many;
    p->cap = cap;
    return WEIR_OK;
}

/* Moves the tree into a smaller array, or changes nothing where out of memory. */
static void to_smaller_tree(weir_timeline *p, uint32_t cap)
{
    struct point *points = weir_mem_alloc(p->n * sizeof *points);

    if (!points)
        return;
    tree_flatten(p->u.tree.nodes, p->u.tree.root, points);
    (void)!to_tree(p, points, cap);
    weir_mem_free(points);
}

static void to_few(weir_timeline *p)
{
    struct point few[FEW] = {{0, 0}};

    memcpy(few, points_of(p), p->n * sizeof *few);
    storage_free(p);
    memcpy(p->u.few, few, sizeof few);
    p->cap = FEW;
}

static int reserve(weir_timeline *p, uint64_t need)
{
    uint64_t cap = p->cap;

    if (need <= cap)
        return WEIR_OK;
    while (cap < need)
        cap *= 2;
    if (cap >= UINT32_MAX)
        return WEIR_ENOMEM;
    if (cap <= MANY)
        return to_array(p, (uint32_t)cap);
    return is_tree(p) ? tree_grow(p, (uint32_t)cap) : to_tree(p, points_of(p), (uint32_t)cap);
}

/* Shrinks the capacity where three quarters are unused. Failure is harmless. */
static void shrink(weir_timeline *p)
{
    uint64_t need = 2 * (uint64_t)p->adds;
    uint32_t half = p->cap / 2;

    if (need < p->n)
        need = p->n;
    if (need > p->cap / 4 || p->cap <= FEW)
        return;
    if (half > MANY)
        to_smaller_tree(p, half);
    else if (half > FEW)
        (void)!to_array(p, half);
    else
        to_few(p);
}

/* ---- adding ---- */

/* The first point that is later than t, in a sorted array. */
static uint32_t array_after(const struct point *points, uint32_t n, int64_t t)
{
    uint32_t at;

    WEIR_BISECT(at, 0, n, points[at].time <= t);
    return at;
}

static bool has_point(const weir_timeline *p, int64_t t)
{
    const struct node *nodes = p->u.tree.nodes;
    const struct point *points = points_in(p);
    uint32_t i;

    if (!is_tree(p)) {
        i = array_after(points, p->n, t);
        return i > 0 && points[i - 1].time == t;
    }
    for (i = p->u.tree.root; i && nodes[i].at.time != t;)
        i = nodes[i].kid[t > nodes[i].at.time];
    return i != 0;
}

static void array_change(weir_timeline *p, struct point at)
{
    struct point *points = points_of(p);
    uint32_t i = array_after(points, p->n, at.time);

    if (i == 0 || points[i - 1].time != at.time) {
        memmove(points + i + 1, points + i, (p->n - i) * sizeof *points);
        points[i] = at;
        p->n++;
        return;
    }
    i--;
    points[i].change = wrap(points[i].change, at.change);
    if (points[i].change == 0) {
        p->n--;
        memmove(points + i, points + i + 1, (p->n - i) * sizeof *points);
    }
}

static void change(weir_timeline *p, int64_t time, int64_t amount)
{
    struct point at = {time, amount};

    if (is_tree(p)) {
        p->u.tree.root = tree_change(&p->u.tree, p->u.tree.root, at);
        p->n = p->u.tree.nodes[p->u.tree.root].size;
    } else {
        array_change(p, at);
    }
}

static int64_t range_extreme(const weir_timeline *p, int64_t t0, int64_t t1, bool highest);

static bool amount_fits(const weir_timeline *p, int64_t start, int64_t end, int64_t amount)
{
    if (amount < 0)
        return range_extreme(p, start, end, false) + amount >= 0;
    return range_extreme(p, start, end, true) <= INT64_MAX - amount;
}

int weir_timeline_add(weir_timeline *p, int64_t start, int64_t end, int64_t amount)
{
    uint64_t need;

    if (start >= end || !amount_fits(p, start, end, amount))
        return WEIR_EINVAL;
    if (amount == 0)
        return WEIR_OK;
    need = (uint64_t)p->n + !has_point(p, start) + (end != WEIR_FOREVER && !has_point(p, end));
    if (amount > 0 && need < 2 * ((uint64_t)p->adds + 1))
        need = 2 * ((uint64_t)p->adds + 1);
    if (reserve(p, need) != WEIR_OK)
        return WEIR_ENOMEM;
    change(p, start, amount);
    if (end != WEIR_FOREVER)
        change(p, end, -amount);
    if (amount > 0) {
        p->adds++;
    } else {
        p->adds = p->n == 0 ? 0 : p->adds - (p->adds > 0);
        shrink(p);
    }
    return WEIR_OK;
}

/* ---- queries ---- */

int64_t weir_timeline_used_at(const weir_timeline *p, int64_t t)
{
    const struct node *nodes = p->u.tree.nodes;
    const struct point *points = points_in(p);
    int64_t level = 0;

    if (!is_tree(p)) {
        for (uint32_t i = 0; i < p->n && points[i].time <= t; i++)
            level += points[i].change;
        return level;
    }
    for (uint32_t i = p->u.tree.root; i;) {
        const struct node *x = &nodes[i];
        if (x->at.time <= t)
            level += nodes[x->kid[0]].sum + x->at.change;
        i = x->kid[x->at.time <= t];
    }
    return level;
}

/* A pass over the points in (t0, t1): the level reached, and the lowest and highest level seen. */
struct interval {
    int64_t t0, t1;
    int64_t level, low, high;
};

static void span_take(struct interval *s, int64_t sum, int64_t low, int64_t high)
{
    if (s->level + low < s->low)
        s->low = s->level + low;
    if (s->level + high > s->high)
        s->high = s->level + high;
    s->level += sum;
}

/* Passes over subtree i. `after`, `before`: the subtree may begin before t0, may end after t1. */
static void span_tree(struct interval *s, const struct node *nodes, uint32_t i, bool after, bool before)
{
    const struct node *x = &nodes[i];

    if (!i)
        return;
    if (!after && !before) {
        span_take(s, x->sum, x->low, x->high);
    } else if (after && x->at.time <= s->t0) {
        span_tree(s, nodes, x->kid[1], after, before);
    } else if (before && x->at.time >= s->t1) {
        span_tree(s, nodes, x->kid[0], after, before);
    } else {
        span_tree(s, nodes, x->kid[0], after, false);
        span_take(s, x->at.change, x->at.change, x->at.change);
        span_tree(s, nodes, x->kid[1], false, before);
    }
}

static int64_t range_extreme(const weir_timeline *p, int64_t t0, int64_t t1, bool highest)
{
    const struct point *points = points_in(p);
    int64_t level = weir_timeline_used_at(p, t0);
    struct interval s = {t0, t1, level, level, level};

    if (is_tree(p)) {
        span_tree(&s, p->u.tree.nodes, p->u.tree.root, true, true);
    } else {
        for (uint32_t i = array_after(points, p->n, t0); i < p->n && points[i].time < t1; i++)
            span_take(&s, points[i].change, points[i].change, points[i].change);
    }
    return highest ? s.high : s.low;
}

int64_t weir_timeline_max(const weir_timeline *p, int64_t t0, int64_t t1)
{
    return t0 < t1 ? range_extreme(p, t0, t1, true) : 0;
}

int64_t weir_timeline_next_change(const weir_timeline *p, int64_t t)
{
    const struct node *nodes = p->u.tree.nodes;
    int64_t found = WEIR_FOREVER;
    uint32_t i;

    if (!is_tree(p)) {
        i = array_after(points_in(p), p->n, t);
        return i < p->n ? points_in(p)[i].time : WEIR_FOREVER;
    }
    for (i = p->u.tree.root; i;) {
        bool later = nodes[i].at.time > t;
        if (later)
            found = nodes[i].at.time;
        i = nodes[i].kid[!later];
    }
    return found;
}

/* A search for the first point after `time` with a level above the limit, or not above the limit. */
struct sought {
    int64_t time;
    int64_t limit;
    bool above;
};

static bool is_sought(const struct sought *s, int64_t level)
{
    return (level > s->limit) == s->above;
}

/* Searches subtree i, with level `level` before the subtree. `whole`: the subtree is later than s->time. Then
 * `level` itself is not sought (the search would have ended), so low and high decide whether to descend. */
static bool seek_tree(const struct sought *s, const struct node *nodes, uint32_t i, int64_t level, bool whole,
                      int64_t *found)
{
    const struct node *x = &nodes[i];
    int64_t here = level + nodes[x->kid[0]].sum + x->at.change;

    if (!i || (whole && !is_sought(s, level + (s->above ? x->high : x->low))))
        return false;
    if (!whole && x->at.time <= s->time)
        return seek_tree(s, nodes, x->kid[1], here, false, found);
    if (seek_tree(s, nodes, x->kid[0], level, whole, found))
        return true;
    if (is_sought(s, here)) {
        *found = x->at.time;
        return true;
    }
    return seek_tree(s, nodes, x->kid[1], here, true, found);
}

static int64_t seek(const weir_timeline *p, const struct sought *s)
{
    const struct point *points = points_in(p);
    int64_t found = WEIR_FOREVER;
    int64_t level = 0;

    if (is_tree(p)) {
        seek_tree(s, p->u.tree.nodes, p->u.tree.root, 0, false, &found);
        return found;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        level += points[i].change;
        if (points[i].time > s->time && is_sought(s, level))
            return points[i].time;
    }
    return WEIR_FOREVER;
}

static int64_t saturating_add(int64_t a, int64_t b)
{
    return b > 0 && a > WEIR_FOREVER - b ? WEIR_FOREVER : a + b;
}

int64_t weir_timeline_first_fit(const weir_timeline *p, int64_t from, int64_t duration, int64_t limit)
{
    struct sought s = {from, limit, false};

    if (duration <= 0)
        return from;
    if (weir_timeline_used_at(p, from) > limit)
        s.time = seek(p, &s);
    while (s.time != WEIR_FOREVER) {
        int64_t start = s.time;
        s.above = true;
        s.time = seek(p, &s);
        if (s.time >= saturating_add(start, duration))
            return start;
        s.above = false;
        s.time = seek(p, &s);
    }
    return WEIR_FOREVER;
}

uint32_t weir_timeline_points(const weir_timeline *p)
{
    return p->n;
}

bool weir_timeline_point(const weir_timeline *p, uint32_t i, int64_t *time, int64_t *used)
{
    const struct node *nodes = p->u.tree.nodes;
    const struct point *points = points_in(p);
    uint32_t x = is_tree(p) ? p->u.tree.root : 0;

    if (i >= p->n)
        return false;
    *used = 0;
    if (!is_tree(p)) {
        *time = points[i].time;
        for (uint32_t k = 0; k <= i; k++)
            *used += points[k].change;
        return true;
    }
    while (i != nodes[nodes[x].kid[0]].size) {
        bool later = i > nodes[nodes[x].kid[0]].size;
        if (later) {
            i -= nodes[nodes[x].kid[0]].size + 1;
            *used += nodes[nodes[x].kid[0]].sum + nodes[x].at.change;
        }
        x = nodes[x].kid[later];
    }
    *time = nodes[x].at.time;
    *used += nodes[nodes[x].kid[0]].sum + nodes[x].at.change;
    return true;
}

size_t weir_timeline_bytes(const weir_timeline *p)
{
    if (is_tree(p))
        return sizeof *p + ((size_t)p->cap + 1) * sizeof(struct node);
    return sizeof *p + (p->cap > FEW ? p->cap * sizeof(struct point) : 0);
}

/* ---- checking ---- */

static bool node_is_right(const struct node *nodes, uint32_t i)
{
    struct node copy[4] = {{.size = 0}};
    const struct node *x = &nodes[i];
    uint64_t l = weight(nodes, x->kid[0]);
    uint64_t r = weight(nodes, x->kid[1]);

    copy[1] = *x;
    copy[1].kid[0] = 2;
    copy[1].kid[1] = 3;
    copy[2] = nodes[x->kid[0]];
    copy[3] = nodes[x->kid[1]];
    node_update(copy, 1);
    return copy[1].size == x->size && copy[1].sum == x->sum && copy[1].low == x->low && copy[1].high == x->high &&
           l <= WEIGHT * r && r <= WEIGHT * l;
}

static int tree_check(const weir_timeline *p, uint32_t i, weir_err *err)
{
    const struct tree *tree = &p->u.tree;

    if (!i)
        return WEIR_OK;
    if (i >= tree->top)
        return weir_fail(err, WEIR_EINVAL, "plan: node %u is linked but was never used", i);
    if (!node_is_right(tree->nodes, i))
        return weir_fail(err, WEIR_EINVAL, "plan: node %u has wrong sums or is out of balance", i);
    if (tree_check(p, tree->nodes[i].kid[0], err) != WEIR_OK)
        return WEIR_EINVAL;
    return tree_check(p, tree->nodes[i].kid[1], err);
}

static int form_check(const weir_timeline *p, weir_err *err)
{
    uint32_t spare = 0;

    if (p->n > p->cap || (uint64_t)p->adds * 2 > p->cap)
        return weir_fail(err, WEIR_EINVAL, "plan: %u points, %u additions, room for %u", p->n, p->adds, p->cap);
    if (!is_tree(p))
        return WEIR_OK;
    for (uint32_t i = p->u.tree.unused; i && spare <= p->cap; i = p->u.tree.nodes[i].kid[0])
        spare++;
    if (p->u.tree.top > p->cap + 1 || p->n + spare + 1 != p->u.tree.top)
        return weir_fail(err, WEIR_EINVAL, "plan: %u points and %u spare nodes do not make %u", p->n, spare,
                         p->u.tree.top);
    return tree_check(p, p->u.tree.root, err);
}

int weir_timeline_check(const weir_timeline *p, weir_err *err)
{
    int64_t before = INT64_MIN;
    int64_t level = 0;
    int64_t time, used;

    if (form_check(p, err) != WEIR_OK)
        return WEIR_EINVAL;
    for (uint32_t i = 0; weir_timeline_point(p, i, &time, &used); i++) {
        if (i > 0 && time <= before)
            return weir_fail(err, WEIR_EINVAL, "plan: point %u is not later than the one before", i);
        if (used < 0)
            return weir_fail(err, WEIR_EINVAL, "plan: the level at point %u is negative", i);
        if (used == level)
            return weir_fail(err, WEIR_EINVAL, "plan: the level at point %u does not change", i);
        before = time;
        level = used;
    }
    return WEIR_OK;
}
