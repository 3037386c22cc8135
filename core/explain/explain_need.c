/* explain_need.c - compares need and supply at the level where a request falls short. Invariant: `have` is the
 * largest count that a match could place; or, if slots want units and fewer units are free than needed, the sum of
 * the free units.
 */
#include "explain/explain.h"

#include <stdlib.h>
#include <string.h>

#include "match/match.h"
#include "aggregate/rows.h"
#include "aggregate/schema.h"

/* The subject of the numbers in a shortage. */
struct focus {
    json_t *counted;   /* the resource or slot with too few instances */
    const json_t *unit; /* the resource itself, or the first resource in a slot */
    int64_t each;      /* units of `unit` in one instance of `counted` */
    const char *level; /* type of the vertices compared; NULL: the whole graph */
    bool several;      /* slots hold several resources, so only the number of slots is meaningful */
};

static bool is_hosted(const struct explain *x, const json_t *slot)
{
    weir_type node = weir_type_find(x->g, "node");
    const json_t *with = json_object_get(slot, "with");

    for (size_t i = 0; i < json_array_size(with); i++) {
        weir_type t = weir_type_find(x->g, weir_part_type(json_array_get(with, i)));
        if (node == WEIR_NO_TYPE || t == WEIR_NO_TYPE || !weir_type_above(x->g, node, t))
            return false;
    }
    return true;
}

/* The nearest enclosing resource that is not a slot; NULL at the top. *hosted: an enclosing slot must lie within one
 * node. */
static const json_t *around(const struct explain *x, const struct part *p, bool *hosted)
{
    const json_t *parent = p->parent;
    struct part up;

    *hosted = false;
    while (parent && weir_part_is_slot(parent)) {
        *hosted = *hosted || is_hosted(x, parent);
        for (uint32_t n = 0; weir_part_at(x->resources, n, &up) && up.value != parent; n++)
            ;
        parent = up.parent;
    }
    return parent;
}

/* The type of the nearest enclosing level; NULL: none. */
static const char *level_of(const struct explain *x, const struct part *p)
{
    bool hosted;
    const json_t *outer = around(x, p, &hosted);
    weir_type node = weir_type_find(x->g, "node");
    weir_type t = outer ? weir_type_find(x->g, weir_part_type(outer)) : WEIR_NO_TYPE;

    if (hosted && (t == WEIR_NO_TYPE || (t != node && !weir_type_above(x->g, node, t))))
        return "node";
    return outer ? weir_part_type(outer) : NULL;
}

static bool branches(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (branches(json_object_get(json_array_get(list, i), "with")))
            return true;
    return json_array_size(list) > 1;
}

/* Sets the focus to the outermost resource with a count above 1, else to the last resource in preorder. */
static bool find_focus(const struct explain *x, struct focus *f)
{
    struct part p, chosen = {0};

    for (uint32_t n = 0; weir_part_at(x->resources, n, &p); n++) {
        chosen = p;
        if (weir_part_count(p.value) > 1)
            break;
    }
    if (!chosen.value)
        return false;
    *f = (struct focus){.counted = chosen.value, .unit = chosen.value, .each = 1, .level = level_of(x, &chosen)};
    while (weir_part_is_slot(f->unit)) {
        const json_t *with = json_object_get(f->unit, "with");
        f->several = f->several || json_array_size(with) != 1;
        f->unit = json_array_get(with, 0);
        f->each *= weir_part_count(f->unit);
    }
    f->several = f->several || json_array_size(json_object_get(f->unit, "with")) > 0;
    return true;
}

/* ---- how many fit ---- */

/* Whether a count of n fits. Returns 1, 0 or a negative status. Sets x->picks to the picks if so. */
static int fits(struct explain *x, const struct focus *f, int64_t n)
{
    int rc;

    if (json_object_set_new(f->counted, "count", json_integer(n)))
        return weir_fail_nomem(x->err);
    weir_explain_changed(x);
    rc = weir_explain_exhausted(x) ? 0 : weir_explain_try(x, TRY_KEEP);
    if (rc == WEIR_ELIMIT && x->err)
        weir_err_clear(x->err);
    return rc == WEIR_ELIMIT ? 0 : rc;
}

/* Finds the largest count below `need` that fits, by bisection, and leaves its picks in x->picks. O(log need)
 * matches. */
static int most_that_fit(struct explain *x, const struct focus *f, int64_t need, int64_t *most)
{
    int64_t lo = 0, hi = need - 1;
    int rc = WEIR_OK;

    while (rc >= 0 && lo < hi) {
        int64_t mid = lo + (hi - lo + 1) / 2;
        rc = fits(x, f, mid);
        if (rc == 1)
            lo = mid;
        else
            hi = mid - 1;
    }
    *most = lo;
    x->npicks = 0;
    if (rc >= 0 && lo > 0)
        rc = fits(x, f, lo);
    if (rc >= 0 && json_object_set_new(f->counted, "count", json_integer(need)))
        rc = weir_fail_nomem(x->err);
    weir_explain_changed(x);
    return rc < 0 ? rc : WEIR_OK;
}

/* ---- sums ---- */

static int64_t units_below(const weir_graph *g, weir_vertex v, weir_type t, uint32_t which)
{
    const struct inner *in = inner_of(g, v);
    uint32_t cell = in && in->cells ? type_cell(schema_at(g, in->schema), t) : 0;

    return cell ? in->cells[cell + which] : 0;
}

/* Units of type t below v, or in the whole graph if v is WEIR_NONE. `which`: TYPE_TOTAL or TYPE_FREE. */
static int64_t units_of(const weir_graph *g, weir_vertex v, weir_type t, uint32_t which)
{
    weir_aggregate a;

    if (t == WEIR_NO_TYPE)
        return 0;
    if (v != WEIR_NONE)
        return weir_vertex_reachable(g, v) || which == TYPE_TOTAL ? units_below(g, v, t, which) : 0;
    if (!weir_graph_aggregate(g, WEIR_NONE, t, &a))
        return 0;
    return which == TYPE_TOTAL ? a.total : a.free;
}

/* The vertex of type `level` with most units of type t; WEIR_NONE: the graph has no vertex of type `level`.
 * O(vertices) */
static weir_vertex best_below(const struct explain *x, weir_type level, weir_type t, uint32_t which)
{
    const weir_graph *g = x->g;
    weir_vertex best = WEIR_NONE;
    int64_t most = -1;

    for (weir_vertex v = 0; level != WEIR_NO_TYPE && v < g->limit; v++) {
        int64_t units;
        if (!vertex_valid(g, v) || kind_of(g, v)->type != level ||
            (x->only != WEIR_NONE && !weir_vertex_within(g, v, x->only) && !weir_vertex_within(g, x->only, v)))
            continue;
        units = units_of(g, v, t, which);
        if (units > most) {
            most = units;
            best = v;
        }
    }
    return best;
}

static weir_vertex level_of_picks(const struct explain *x, weir_type level)
{
    for (uint32_t i = 0; i < x->npicks; i++)
        for (weir_vertex v = x->picks[i].vertex; v != WEIR_NONE; v = vertex_at(x->g, v)->parent)
            if (kind_of(x->g, v)->type == level)
                return v;
    return WEIR_NONE;
}

/* ---- the shortage ---- */

static char *dump(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS), *copy = text ? weir_mem_strdup(text) : NULL;

    free(text);
    return copy;
}

/* The unit of a resource: as requested, or the unit common to all pools of the type, or "". */
static const char *unit_of(const struct explain *x, const json_t *resource)
{
    const char *own = json_string_value(json_object_get(resource, "unit"));
    weir_type t = weir_type_find(x->g, weir_part_type(resource));
    weir_name unit = WEIR_NO_NAME;

    if (own && own[0])
        return own;
    for (uint32_t i = 0; t != WEIR_NO_TYPE && i < x->g->nkinds; i++)
        if (x->g->kinds[i].type == t) {
            if (unit != WEIR_NO_NAME && unit != x->g->kinds[i].unit)
                return "";
            unit = x->g->kinds[i].unit;
        }
    return unit == WEIR_NO_NAME ? "" : weir_strtab_text(&x->g->names, unit);
}

/* The resources that fall short as JSON, units included. NULL: out of memory. */
static char *dump_part(struct explain *x)
{
    struct part p;

    for (uint32_t n = 0; weir_part_at(x->resources, n, &p); n++) {
        const char *unit = unit_of(x, p.value);
        if (unit[0] && json_object_set_new(p.value, "unit", json_string(unit)))
            return NULL;
    }
    return dump(x->resources);
}

/* Switches the shortage from slots to units if the best vertex has fewer free units than all slots together need. */
static void sum_up(struct explain *x, const struct focus *f, weir_shortage *s)
{
    weir_type t = weir_type_find(x->g, weir_part_type(f->unit));
    weir_type level = f->level ? weir_type_find(x->g, f->level) : WEIR_NO_TYPE;
    weir_vertex v = f->level ? best_below(x, level, t, TYPE_FREE) : x->only;
    int64_t have = f->level && v == WEIR_NONE ? 0 : units_of(x->g, v, t, TYPE_FREE);

    if (f->several || s->constrained || s->policy || have >= s->need * f->each)
        return;
    s->slots = s->need;
    s->fits = s->have;
    s->need *= f->each;
    s->have = have;
    s->best = v;
    s->total = units_of(x->g, v, t, TYPE_TOTAL);
}

static int describe(struct explain *x, const struct focus *f, weir_shortage *s)
{
    bool slot = weir_part_is_slot(f->counted) && (f->several || f->each != 1);
    bool alone = s->need <= 1 && branches(x->resources);
    weir_type t = weir_type_find(x->g, weir_part_type(f->unit));

    s->part = dump_part(x);
    s->type = alone ? NULL : weir_mem_strdup(weir_part_type(slot ? f->counted : f->unit));
    s->unit = weir_mem_strdup(slot ? "" : unit_of(x, f->unit));
    s->level = f->level ? weir_mem_strdup(f->level) : NULL;
    if (!s->part || !(s->type || alone) || !s->unit || (f->level && !s->level))
        return weir_fail_nomem(x->err);
    s->best = f->level ? level_of_picks(x, weir_type_find(x->g, f->level)) : x->only;
    if (f->level && s->best == WEIR_NONE)
        s->best = best_below(x, weir_type_find(x->g, f->level), t, TYPE_FREE);
    s->total = f->level && s->best == WEIR_NONE ? 0 : units_of(x->g, s->best, t, TYPE_TOTAL);
    if (x->only != WEIR_NONE && kind_of(x->g, x->only)->type == t && !f->level)
        s->total = kind_of(x->g, x->only)->size;
    if (!slot || alone)
        return WEIR_OK;
    sum_up(x, f, s);
    if (s->slots == 0)
        return WEIR_OK;
    weir_mem_free((void *)(uintptr_t)s->type);
    weir_mem_free((void *)(uintptr_t)s->unit);
    s->type = weir_mem_strdup(weir_part_type(f->unit));
    s->unit = weir_mem_strdup(unit_of(x, f->unit));
    return s->type && s->unit ? WEIR_OK : weir_fail_nomem(x->err);
}

/* Lifts all obstacles of a kind and leaves them lifted if the request still does not fit. *out: the kind matters,
 * and its obstacles are back. */
static int matters(struct explain *x, int kind, bool *out)
{
    int rc = WEIR_OK;

    *out = x->first[kind + 1] > x->first[kind];
    for (uint32_t i = x->first[kind]; !rc && i < x->first[kind + 1]; i++)
        rc = weir_explain_lift(x, &x->list[i], true);
    if (rc || !*out)
        return rc;
    rc = weir_explain_try(x, TRY_PLAIN);
    if (rc == 0)
        *out = false;
    for (uint32_t i = x->first[kind]; *out && rc >= 0 && i < x->first[kind + 1]; i++) {
        int back = weir_explain_lift(x, &x->list[i], false);
        rc = back ? back : rc;
    }
    if (rc == WEIR_ELIMIT && x->err)
        weir_err_clear(x->err);
    return rc < 0 && rc != WEIR_ELIMIT ? rc : WEIR_OK;
}

static int fill(struct explain *x, weir_shortage *s)
{
    struct focus f;
    int rc = matters(x, WEIR_BY_CONSTRAINT, &s->constrained);

    rc = rc ? rc : matters(x, WEIR_BY_POLICY, &s->policy);
    rc = rc ? rc : weir_explain_part(x);
    if (rc <= 0 || !find_focus(x, &f))
        return rc < 0 ? rc : 0;
    s->need = weir_part_count(f.counted);
    rc = most_that_fit(x, &f, s->need, &s->have);
    if (rc == WEIR_OK && x->out->cut && weir_explain_exhausted(x))
        return 0; /* the bisection ended early: `have` is unknown */
    rc = rc ? rc : describe(x, &f, s);
    return rc ? rc : 1;
}

/* Whether the request has alternatives (or_slots), for which no single number says what is short. */
static bool has_alternatives(const struct explain *x)
{
    struct part p;

    for (uint32_t n = 0; weir_part_at(x->resources, n, &p); n++)
        if (strcmp(weir_part_type(p.value), "or_slot") == 0)
            return true;
    return false;
}

int weir_explain_shortage(struct explain *x)
{
    weir_shortage *s = has_alternatives(x) ? NULL : weir_mem_zalloc(1, sizeof *s);
    json_t *whole = x->resources;
    int rc;

    if (!s && has_alternatives(x))
        return WEIR_OK;
    if (!s)
        return weir_fail_nomem(x->err);
    x->out->shortage = s;
    s->best = WEIR_NONE;
    s->ideal = x->out->verdict == WEIR_INFEASIBLE;
    x->resources = json_deep_copy(whole);
    weir_explain_changed(x);
    rc = x->resources ? WEIR_OK : weir_fail_nomem(x->err);
    rc = rc ? rc : weir_explain_lift_kinds(x, s->ideal ? 1u << WEIR_BY_JOB | 1u << WEIR_BY_STATE : 0);
    rc = rc ? rc : fill(x, s);
    json_decref(x->resources);
    x->resources = whole;
    weir_explain_changed(x);
    if (rc >= 0) {
        int back = weir_explain_lift_kinds(x, 0);
        rc = back ? back : rc;
    }
    if (rc == 0) {
        x->out->shortage = NULL;
        weir_mem_free(s);
    }
    return rc < 0 ? rc : WEIR_OK;
}
