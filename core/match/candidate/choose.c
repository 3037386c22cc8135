/* choose.c - the choices that the engine makes for a policy (weir_choice), from a list of candidates. The list is cut
 * into blocks: the candidates of a group, or neighbours in a row. Blocks are put in the order of the choice, and
 * candidates are chosen block by block. Invariant: among equally good blocks the block with the first candidate in the
 * list comes first, and the candidates of a group keep the order of the list.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "index/group_index.h"
#include "base/compare.h"
#include "match/match.h"

struct member {
    struct group_key group;
    int64_t place; /* in runs, the position; for WEIR_CHOOSE_EACH, the number in the group; else 0 */
    double value;  /* for WEIR_CHOOSE_CLOSEST */
    uint32_t at;   /* number of the candidate */
};

struct block {
    uint32_t first, n; /* in the list of members */
    uint32_t at;       /* number of the first candidate of the block */
    bool none;         /* the candidates have no group */
};

struct choosing {
    struct match *m;
    struct group_rule rule;
    uint32_t n, min, max;
    struct member *members;
    struct block *blocks;
    uint32_t nblocks;
};

/* ---- order ---- */

static int by_place(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->group.space != y->group.space)
        return x->group.space < y->group.space ? -1 : 1;
    if (x->group.number != y->group.number && x->group.space != GROUP_NONE)
        return x->group.number < y->group.number ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

WEIR_COMPARE_BY2(by_round, struct member, place, at)

static int by_value(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Blocks with enough candidates first, in ascending size; then the blocks that are too small, in descending size.
 * For WEIR_CHOOSE_LONGEST all in descending size. */
static int by_use(const void *a, const void *b, void *data)
{
    const struct choosing *c = data;
    const struct block *x = a, *y = b;
    bool fits_x = c->rule.kind != WEIR_CHOOSE_LONGEST && x->n >= c->max;
    bool fits_y = c->rule.kind != WEIR_CHOOSE_LONGEST && y->n >= c->max;

    if (x->none != y->none)
        return x->none ? 1 : -1;
    if (fits_x != fits_y)
        return fits_x ? -1 : 1;
    if (x->n != y->n)
        return (x->n < y->n) == fits_x ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- members and blocks ---- */

/* Sorts the members by group and place. The order of a policy mostly is that already. */
static void sort_members(struct choosing *c)
{
    bool in_place = true;

    for (uint32_t i = 1; i < c->n && in_place; i++)
        in_place = by_place(&c->members[i - 1], &c->members[i]) < 0;
    if (!in_place)
        qsort(c->members, c->n, sizeof *c->members, by_place);
}

/* Reads the group of each candidate; an index remembers what the hook of the policy said. */
static int list_members(struct choosing *c, const weir_vertex *v)
{
    struct group_question q = {.policy = c->m->ask.policy, .type = kind_of(c->m->g, v[0])->type};
    struct group_index *known = NULL;
    weir_graph *g = c->m->g;
    int rc = c->rule.by == GROUP_BY_HOOK ? weir_groups_get(g, &q, &known, c->m->err) : WEIR_OK;

    for (uint32_t i = 0; !rc && i < c->n; i++) {
        struct member *x = &c->members[i];
        *x = (struct member){.at = i};
        if (c->rule.kind == WEIR_CHOOSE_CLOSEST)
            x->value = weir_group_value(g, &c->rule, v[i]);
        else if (known)
            x->group = group_known(known, v[i]);
        else
            rc = weir_group_of(g, &c->rule, v[i], &x->group, c->m->err);
        if (choice_of_runs(c->rule.kind))
            x->place = weir_group_position(g, &c->rule, v[i]);
    }
    return rc;
}

/* Cuts the sorted members into blocks. */
static void list_blocks(struct choosing *c)
{
    bool runs = choice_of_runs(c->rule.kind);

    for (uint32_t i = 0; i < c->n; i++) {
        const struct member *x = &c->members[i];
        bool joins = i > 0 && group_same(x[-1].group, x->group) && (!runs || x->place - 1 == x[-1].place);
        if (!joins)
            c->blocks[c->nblocks++] = (struct block){i, 0, x->at, !runs && x->group.space == GROUP_NONE};
        c->blocks[c->nblocks - 1].n++;
    }
}

/* ---- the choices ---- */

static uint32_t write_members(const struct choosing *c, uint32_t from, uint32_t n, uint32_t *chosen)
{
    for (uint32_t i = 0; i < n; i++)
        chosen[i] = c->members[from + i].at;
    return n;
}

static uint32_t choose_blocks(struct choosing *c, uint32_t *chosen)
{
    uint32_t count = 0;

    qsort_r(c->blocks, c->nblocks, sizeof *c->blocks, by_use, c);
    for (uint32_t i = 0; i < c->nblocks && count < c->max; i++) {
        const struct block *p = &c->blocks[i];
        count += write_members(c, p->first, p->n < c->max - count ? p->n : c->max - count, chosen + count);
    }
    return count;
}

static uint32_t choose_one(struct choosing *c, uint32_t *chosen)
{
    const struct block *p = c->blocks;

    qsort_r(c->blocks, c->nblocks, sizeof *c->blocks, by_use, c);
    if (p->none || p->n < c->min)
        return 0;
    return write_members(c, p->first, p->n < c->max ? p->n : c->max, chosen);
}

static uint32_t choose_each(struct choosing *c, uint32_t *chosen)
{
    for (uint32_t i = 0; i < c->nblocks; i++)
        for (uint32_t k = 0; k < c->blocks[i].n; k++)
            c->members[c->blocks[i].first + k].place = k;
    qsort(c->members, c->n, sizeof *c->members, by_round);
    return write_members(c, 0, c->max, chosen);
}

/* The difference of infinite values is no number, and never less. */
static uint32_t choose_closest(struct choosing *c, uint32_t *chosen)
{
    double smallest = HUGE_VAL;
    uint32_t from = 0;

    qsort(c->members, c->n, sizeof *c->members, by_value);
    for (uint32_t i = 0; i + c->max <= c->n; i++) {
        double difference = c->members[i + c->max - 1].value - c->members[i].value;
        if (difference < smallest) {
            smallest = difference;
            from = i;
        }
    }
    return write_members(c, from, c->max, chosen);
}

static uint32_t choose(struct choosing *c, uint32_t *chosen)
{
    if (c->rule.kind == WEIR_CHOOSE_CLOSEST)
        return choose_closest(c, chosen);
    sort_members(c);
    list_blocks(c);
    switch (c->rule.kind) {
    case WEIR_CHOOSE_EACH: return choose_each(c, chosen);
    case WEIR_CHOOSE_ONE: return choose_one(c, chosen);
    default: return choose_blocks(c, chosen);
    }
}

int64_t weir_choose_listed(struct match *m, const weir_resource *r, const weir_vertex *v, uint32_t n, uint32_t min,
                           uint32_t max, uint32_t *chosen)
{
    struct choosing c = {.m = m, .n = n, .min = min, .max = max};
    int64_t count;
    int rc = WEIR_OK;

    if (m->ask.policy->choice->kind == WEIR_CHOOSE_BESIDE)
        return weir_choose_beside(m, r, v, n, max, chosen);
    weir_group_rule_read(m->g, m->ask.policy, &c.rule);
    c.members = weir_mem_alloc((size_t)n * sizeof *c.members);
    c.blocks = weir_mem_alloc((size_t)n * sizeof *c.blocks);
    if (!c.members || !c.blocks)
        rc = weir_fail_nomem(m->err);
    rc = rc ? rc : list_members(&c, v);
    count = rc ? rc : (int64_t)choose(&c, chosen);
    WEIR_FREE(c.members, c.blocks);
    return count;
}

/* ---- when ---- */

bool weir_choice_matters(const struct match *m, weir_vertex under, const weir_resource *r, int64_t want)
{
    struct group_rule rule;

    if (m->ask.policy->select)
        return true;
    if (!m->ask.policy->choice || m->scope.probing || m->scope.view > VIEW_RESERVED)
        return false;
    if (m->ask.policy->choice->kind == WEIR_CHOOSE_BESIDE)
        return weir_choice_besides(r);
    if (want == 1 && m->ask.policy->choice->kind == WEIR_CHOOSE_LONGEST)
        return false;
    weir_group_rule_read(m->g, m->ask.policy, &rule);
    return m->ask.policy->choice->kind == WEIR_CHOOSE_ONE || !weir_group_encloses(m->g, &rule, under);
}
